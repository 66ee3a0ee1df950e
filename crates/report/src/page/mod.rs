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
mod prediction;
mod table;
mod timeline;
mod words;
mod workers;

use crate::ReportExt;
use crate::advice::{findings, is_complete};
use escape::Text;
use graph::Picture;
use std::borrow::Cow;
use thalweg_trace::{ChannelReport, NodeReport, Report};

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

/// The report as a page.
pub(crate) fn html(report: &Report) -> String {
    let report = completed(report);
    let (picture, findings) = (Picture::new(&report), findings(&report));
    let colours = colours(&picture);
    let mut out = String::new();
    put!(
        out,
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <meta name=\"generator\" content=\"thalweg\">\n<title>Thalweg: {}</title>\n<style>\n{}{}</style>\n</head>\n\
         <body>\n<main>\n",
        Text(&words::title(&report)),
        include_str!("colours.css"),
        include_str!("style.css")
    );
    words::head(&mut out, &report, &findings);
    graph_section(&mut out, &report, &picture, &colours, &findings);
    workers::section(&mut out, &report);
    if let Some(timeline) = report.timeline() {
        timeline::section(&mut out, &report, timeline, &picture, &colours);
    }
    nodes::section(&mut out, &report);
    jobs::section(&mut out, &report);
    channels::section(&mut out, &report);
    prediction::section(&mut out, &report);
    plan::section(&mut out, &report.plan_text());
    out.push_str("</main>\n</body>\n</html>\n");
    out
}

/// The report's timeline as an SVG document.
pub(crate) fn timeline_svg(report: &Report) -> Option<String> {
    let report = completed(report);
    let picture = Picture::new(&report);
    Some(timeline::svg(&report, report.timeline()?, &picture, &colours(&picture)))
}

/// The report with an entry for each node and channel of its graph, whatever it has.
fn completed(report: &Report) -> Cow<'_, Report> {
    if is_complete(report) {
        return Cow::Borrowed(report);
    }
    let mut whole = report.clone();
    whole.nodes_mut().resize(report.graph().nodes().len(), NodeReport::default());
    whole.channels_mut().resize(report.graph().channels().len(), ChannelReport::default());
    whole.growths_mut().retain(|growth| growth.channel().index() < report.graph().channels().len());
    Cow::Owned(whole)
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
    let nodes = report.graph().nodes().len();
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
