//! A report as a page: one HTML file with everything in it.
//!
//! The page needs no network, and no script but to zoom the timeline. Each section has a file here; `graph` draws the
//! graph, `timeline` the threads, and `bars` the small pictures in tables. All text from the report goes through
//! `escape`. The sizes of tables, drawing and timeline are bounded, so the page of a large graph stays small.

mod bars;
mod channels;
mod escape;
mod graph;
mod jobs;
mod nodes;
mod plan;
mod table;
mod timeline;
mod words;
mod workers;

use crate::{ChannelReport, NodeReport, Report};
use escape::Text;
use graph::Picture;
use std::borrow::Cow;
use std::io::{self, Write};
use std::path::Path;
use thalweg_files::OutFile;

/// Appends formatted text to a string.
macro_rules! put {
    ($out:expr, $($arguments:tt)*) => {{
        use std::fmt::Write as _;
        $out.write_fmt(format_args!($($arguments)*)).expect("writing to a String cannot fail");
    }};
}
use put;

/// Boxes that have a colour of their own: the busiest.
const COLOURS: usize = 8;

impl Report {
    /// The report as a page: the run in words, the bottleneck and advice, the graph with its loads and fill levels, the
    /// times of workers and nodes, the loops and task graphs, the channels, the plan, and the timeline if the report has one.
    ///
    /// The page is one HTML document without references to others. It has the same content without scripts; a script
    /// zooms the timeline. In a large graph, nodes of one name and number share a box, and tables have their first 50
    /// rows, so the page stays below 5 MB.
    ///
    /// ```
    /// use thalweg_graph::{GraphData, Node};
    /// use thalweg_trace::Report;
    ///
    /// let mut graph = GraphData::new();
    /// graph.add(Node::sequential("clock"));
    /// let page = Report::new(graph, "auto", 1).to_html();
    /// assert!(page.starts_with("<!doctype html>") && page.contains("clock"));
    /// ```
    pub fn to_html(&self) -> String {
        let report = self.completed();
        let (picture, findings) = (Picture::new(&report), report.findings());
        let colours = colours(&picture);
        let mut out = String::new();
        put!(
            out,
            "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <meta name=\"color-scheme\" content=\"light dark\">\n\
             <meta name=\"generator\" content=\"thalweg\">\n<title>Thalweg: {}</title>\n<style>\n{}</style>\n</head>\n\
             <body>\n<main>\n",
            Text(&words::title(&report)),
            include_str!("style.css")
        );
        words::head(&mut out, &report, &findings);
        graph_section(&mut out, &report, &picture, &colours, &findings);
        workers::section(&mut out, &report);
        if let Some(timeline) = &report.timeline {
            timeline::section(&mut out, &report, timeline, &picture, &colours);
        }
        nodes::section(&mut out, &report);
        jobs::section(&mut out, &report);
        channels::section(&mut out, &report);
        plan::section(&mut out, &report.plan_text());
        out.push_str("</main>\n</body>\n</html>\n");
        out
    }

    /// Writes [`Report::to_html`] to a file, completely or not at all: the text is written beside `path` and renamed
    /// when it is complete and on the disk. Replaces a file that is there, and keeps its permissions.
    ///
    /// ```no_run
    /// use thalweg_trace::Report;
    ///
    /// Report::default().write_html("report.html")?;
    /// # Ok::<(), std::io::Error>(())
    /// ```
    ///
    /// # Errors
    /// `path` does not name a file, or the file system refuses to create, write or rename a file in its folder.
    pub fn write_html(&self, path: impl AsRef<Path>) -> io::Result<()> {
        let mut file = OutFile::create(path.as_ref(), true)?;
        file.write_all(self.to_html().as_bytes())?;
        Ok(file.commit()?)
    }

    /// The report with an entry for each node and channel of its graph, whatever it has.
    fn completed(&self) -> Cow<'_, Report> {
        if self.is_complete() {
            return Cow::Borrowed(self);
        }
        let mut report = self.clone();
        report.nodes.resize(self.graph.nodes().len(), NodeReport::default());
        report.channels.resize(self.graph.channels().len(), ChannelReport::default());
        report.growths.retain(|growth| growth.channel.index() < self.graph.channels().len());
        Cow::Owned(report)
    }
}

/// The colour of each box: numbers from 0 for the busiest, and none for the others.
fn colours(picture: &Picture) -> Vec<Option<usize>> {
    let mut colours = vec![None; picture.shapes.len()];
    for (colour, shape) in picture.busiest().into_iter().take(COLOURS).enumerate() {
        colours[shape] = Some(colour);
    }
    colours
}

fn graph_section(
    out: &mut String,
    report: &Report,
    picture: &Picture,
    colours: &[Option<usize>],
    findings: &[crate::Finding],
) {
    out.push_str("<section aria-labelledby=\"graph\">\n<h2 id=\"graph\">The graph</h2>\n");
    if picture.shapes.is_empty() {
        out.push_str("<p>The graph has no nodes.</p>\n</section>\n");
        return;
    }
    bars::legend(
        out,
        &[
            ("load", "busy, as a share of the run"),
            ("key-room", "the producer waits for room"),
            ("key-items", "the consumer waits for items"),
            ("fill", "items in the channel, of its capacity"),
        ],
    );
    let bounds: Vec<_> = findings.iter().filter(|finding| finding.kind.is_bound()).collect();
    let bounds: Vec<_> = bounds.iter().flat_map(|finding| finding.nodes.iter().copied()).take(1).collect();
    put!(out, "<div class=\"scroll\">\n{}</div>\n", graph::draw(report, picture, colours, &bounds));
    let nodes = report.graph.nodes().len();
    if picture.shapes.len() < nodes {
        put!(
            out,
            "<p class=\"quiet\">{nodes} nodes in {} boxes: nodes of one name share a box. A box of several has the \
             lowest, highest and mean load of its nodes; the mark on its bar is the highest.</p>\n",
            picture.shapes.len()
        );
    }
    if picture.left_out > 0 {
        put!(out, "<p class=\"quiet\">{} edges with fewer items are not drawn.</p>\n", picture.left_out);
    }
    out.push_str("</section>\n");
}
