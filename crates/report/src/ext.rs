//! The methods that this crate adds to reports and timelines.

use crate::advice::{self, Finding};
use crate::json::{self, ReadError};
use crate::page;
use crate::predict::{Grid, Prediction, Predictions, Unpredictable};
use std::io::{self, Write};
use std::path::Path;
use thalweg_files::OutFile;
use thalweg_graph::GraphData;
use thalweg_trace::{Report, Timeline};

mod sealed {
    pub trait Sealed {}
    impl Sealed for thalweg_trace::Report {}
    impl Sealed for thalweg_trace::Timeline {}
}

/// What can be done with a [`Report`] besides printing it.
pub trait ReportExt: Sized + sealed::Sealed {
    /// What bounded the run, first, and then what else the report shows that a change could improve. A healthy run has
    /// one finding.
    ///
    /// A report that breaks what its fields promise, with fewer nodes than its graph for example, counts as one without
    /// measurements.
    fn findings(&self) -> Vec<Finding>;

    /// [`ReportExt::findings`] as text: what bounded the run in the first line, and what would help.
    fn advice(&self) -> String {
        let findings: Vec<String> = self.findings().iter().map(Finding::to_string).collect();
        findings.join("\n")
    }

    /// What the queueing models say of the run with its own threads, capacities and tokens, beside what was measured; and
    /// what more of these would give.
    ///
    /// # Errors
    /// No time was measured, the graph has a loop or too many nodes, or a number is out of the models' range.
    fn prediction(&self) -> Result<Prediction, Unpredictable>;

    /// What the queueing models say of other threads, capacities and tokens.
    ///
    /// # Errors
    /// Those of [`ReportExt::prediction`], and settings out of range.
    fn predict(&self, grid: &Grid) -> Result<Predictions, Unpredictable>;

    /// The text of the plan that the run followed, with the names of nodes and channels as comments; empty if it followed
    /// none. For a compiled program it is the program's plan.
    fn plan_text(&self) -> String;

    /// The report as JSON, with a line for each worker, node and channel, and the fields always in the same order: two
    /// reports of one graph can be compared line by line.
    ///
    /// | field | what |
    /// |---|---|
    /// | `format`, `version` | `"thalweg-report"`, 4 |
    /// | `policy`, `threads`, `plan`, `wall_ns`, `searches`, `partitions` | the fields of [`Report`] |
    /// | `dilation`, `notes` | likewise, where they exist |
    /// | `tickets`, where firings waited for their tickets | the fields of [`TicketReport`](thalweg_trace::TicketReport) |
    /// | `graph.nodes` | `name`, `kind` (`"sequential"`, `"parallel"` or `"process"`), the settings of the node, `inputs` and `outputs` |
    /// | a port | `name`, the type of its items as `item` and `bytes`; `pop` and `peek`, or `push`: a number of items, or `"dynamic"` |
    /// | of a port, where they exist | `bounds` of a dynamic rate as `least`, `average` and `most`; `first`, the rates of a first firing |
    /// | of a node, where they exist | `split` or `join`, its weights as an array or `"duplicate"`; `span`, its place in a source text as file, first byte and end; `prework`, whether its first firing differs although no port says so |
    /// | `graph.messages` | `from` and `to` of nodes that send messages to another, by index; left out where there are none |
    /// | `graph.channels` | `from` and `to`, each `[node, port]` by index, and the settings of the channel |
    /// | `workers` | an entry for each worker: the fields of [`WorkerReport`](thalweg_trace::WorkerReport); `stall_ns` where it is not 0 |
    /// | `nodes` | an entry for each node of the graph: its name as `node`, and the fields of [`NodeReport`](thalweg_trace::NodeReport) |
    /// | of a node, where they exist | `waits`, the fields of [`NodeWaits`](thalweg_trace::NodeWaits); `service`, the distributions `activation` and `firing`, each with its samples, its sums in ns and ns² and its buckets |
    /// | of a node that executed loops or task graphs | `jobs`, an entry for each member: the fields of [`MemberCounts`](thalweg_trace::MemberCounts) |
    /// | `channels` | an entry for each channel of the graph: its name as `channel`, and the fields of [`ChannelReport`](thalweg_trace::ChannelReport) |
    /// | of a channel, where they were sampled | `peak` and `mean` |
    /// | `prediction`, where one is made | [`ReportExt::prediction`]: `model`, `threads`, `throughput` and `waiting_threads`, each predicted and measured, `bound`, `limited_by`, `papers`, and `stages` by node; a reader makes it anew |
    /// | `growths` | `channel` by index, `limit` (`"items"` or `"bytes"`), `from`, `to` and `at_ns` |
    /// | `program`, of a compiled program | the program's own `graph` and `plan`; its `units`, `whole`, `hand_overs`, `division`, `joins`, `pieces`, `least_copied` and `least_gain`, the fields of [`Units`](thalweg_plan::Units); and `bodies`, each a `node` of the run's graph with the range of its `units` |
    ///
    /// A time is an integer, in nanoseconds, and its field ends in `_ns`; a time above 584 years is written as
    /// `u64::MAX`. Settings with their default are left out, and so are waits of zero and the
    /// service times of nodes without any.
    ///
    /// The timeline is left out ([`Report::timeline`]): [`TimelineExt::to_json`] writes it in a form
    /// of its own.
    ///
    /// [`ReportExt::from_json`] reads the text back, to an equal report but for the timeline. It refuses the text of a report that breaks what
    /// its fields promise: with another number of nodes than its graph, for example. A mean that is not finite breaks
    /// its promise too. JSON has no such numbers, so it is written as null, which keeps the file readable for other
    /// programs, and the reader's error names the channel.
    ///
    /// ```
    /// use thalweg_graph::{GraphData, Node};
    /// use thalweg_report::ReportExt;
    /// use thalweg_trace::Report;
    ///
    /// let mut graph = GraphData::new();
    /// graph.add(Node::sequential("clock"));
    /// let mut report = Report::new(graph, "auto", 1);
    /// *report.nodes_mut()[0].firings_mut() = 7;
    /// let text = report.to_json();
    /// assert!(text.contains(r#"{"node": "clock", "firings": 7, "activations": 0, "busy_ns": 0, "moves": 0}"#));
    /// assert_eq!(Report::from_json(&text), Ok(report));
    /// ```
    fn to_json(&self) -> String;

    /// Reads a report that [`ReportExt::to_json`] wrote, possibly with later versions' fields, which are ignored.
    ///
    /// The names of the graph's types of items stay in memory until the process ends, once each
    /// ([`Item::named`](thalweg_graph::Item::named)): at most 10 MiB for a document.
    ///
    /// # Errors
    /// The text is not JSON, or not a report of this version; a field is missing, or has another type or a number out
    /// of range; a distribution contradicts itself; an index is that of no node, port or channel; the graph has two nodes of one name or two channels at
    /// one port; the entries are not as many as the workers, nodes and channels, or in another order than the graph's.
    /// The first error found, with its place.
    ///
    /// ```
    /// use thalweg_report::ReportExt;
    /// use thalweg_trace::Report;
    ///
    /// let newer = Report::default().to_json().replace("\"version\": 4", "\"version\": 5");
    /// let error = Report::from_json(&newer).unwrap_err().to_string();
    /// assert!(error.contains("the file has version 5, this thalweg reads version 4"));
    /// ```
    fn from_json(text: &str) -> Result<Self, ReadError>;

    /// Whether a text, or its first 200 bytes, has the mark of a report in JSON. [`ReportExt::from_json`] may refuse it
    /// nevertheless.
    ///
    /// ```
    /// use thalweg_report::{ReportExt, TimelineExt};
    /// use thalweg_trace::{Report, Timeline};
    ///
    /// let text = Report::default().to_json();
    /// assert!(Report::is_json(&text) && !Timeline::is_json(&text) && !Report::is_json("{}"));
    /// ```
    fn is_json(text: &str) -> bool;

    /// The report as a page: the run in words, the bottleneck and advice, the graph with its loads and fill levels, the
    /// times of workers and nodes, the loops and task graphs, the channels, the plan, and the timeline if the report has one.
    ///
    /// The page is one HTML document without references to others. It has the same content without scripts; a script
    /// zooms the timeline. In a large graph, nodes of one name and number share a box, and tables have their first 50
    /// rows, so the page stays below 5 MB.
    ///
    /// ```
    /// use thalweg_graph::{GraphData, Node};
    /// use thalweg_report::ReportExt;
    /// use thalweg_trace::Report;
    ///
    /// let mut graph = GraphData::new();
    /// graph.add(Node::sequential("clock"));
    /// let page = Report::new(graph, "auto", 1).to_html();
    /// assert!(page.starts_with("<!doctype html>") && page.contains("clock"));
    /// ```
    fn to_html(&self) -> String;

    /// The timeline as an SVG document, for papers and for runs with tens of threads; `None` if the report has none. A thread is a
    /// thin row, and each of its columns has the colour of one thing that the thread did then: a node, stall (black), nothing while it
    /// spun or was parked (grey). Each has as many columns as its share of the time. Below 200 kB for 40 threads.
    ///
    /// ```
    /// use thalweg_graph::{GraphData, Node, NodeId};
    /// use thalweg_report::ReportExt;
    /// use thalweg_trace::{Ended, Event, Report, Timeline, Track, What};
    ///
    /// let mut graph = GraphData::new();
    /// graph.add(Node::sequential("clock"));
    /// let mut report = Report::new(graph, "auto", 1);
    /// assert_eq!(report.timeline_svg(), None);
    ///
    /// let mut track = Track::new("worker 0");
    /// let what = What::Activation { node: NodeId(0), firings: 3, ns: 1500, ended: Ended::Done };
    /// track.events_mut().push(Event::new(250, what));
    /// *report.timeline_mut() = Some(Box::new(Timeline::new(vec![track])));
    /// assert!(report.timeline_svg().is_some_and(|svg| svg.contains("clock")));
    /// ```
    fn timeline_svg(&self) -> Option<String>;

    /// Writes [`ReportExt::to_html`] to a file, completely or not at all: the text is written beside `path` and renamed
    /// when it is complete and on the disk. Replaces a file that is there, and keeps its permissions.
    ///
    /// ```no_run
    /// use thalweg_report::ReportExt;
    /// use thalweg_trace::Report;
    ///
    /// Report::default().write_html("report.html")?;
    /// # Ok::<(), std::io::Error>(())
    /// ```
    ///
    /// # Errors
    /// `path` does not name a file, or the file system refuses to create, write or rename a file in its folder.
    fn write_html(&self, path: impl AsRef<Path>) -> io::Result<()> {
        let mut file = OutFile::create(path.as_ref(), true)?;
        file.write_all(self.to_html().as_bytes())?;
        Ok(file.commit()?)
    }
}

impl ReportExt for Report {
    fn findings(&self) -> Vec<Finding> {
        advice::findings(self)
    }

    fn prediction(&self) -> Result<Prediction, Unpredictable> {
        Prediction::of(self)
    }

    fn predict(&self, grid: &Grid) -> Result<Predictions, Unpredictable> {
        Predictions::of(self, grid)
    }

    fn plan_text(&self) -> String {
        if let Some(program) = self.program() {
            return program.plan().on(program.graph()).to_string();
        }
        self.plan().map_or_else(String::new, |plan| plan.on(self.graph()).to_string())
    }

    fn to_json(&self) -> String {
        json::write(self)
    }

    fn from_json(text: &str) -> Result<Report, ReadError> {
        json::read(text)
    }

    fn is_json(text: &str) -> bool {
        json::is_report(text)
    }

    fn to_html(&self) -> String {
        page::html(self)
    }

    fn timeline_svg(&self) -> Option<String> {
        page::timeline_svg(self)
    }
}

/// The file of a [`Timeline`].
pub trait TimelineExt: Sized + sealed::Sealed {
    /// The timeline in the trace event form of Chrome, one event a line. Perfetto (<https://ui.perfetto.dev>) and
    /// `chrome://tracing` open it. `graph` is the graph of the run, of which it has the names.
    ///
    /// | in the file | what |
    /// |---|---|
    /// | `otherData` | `format` and `version` (`"thalweg-timeline"`, 1); the numbers of threads, nodes and channels; `kept`, in words; the numbers of `events` and of those `lost`; `complete_from_ns`, from which on none is lost |
    /// | process `threads` | a track for each thread: activations with the node's name, its part in each loop and task graph of a node, its stalls in a node's activations, `spin` and `park` as complete events, steals and growths as instants |
    /// | `thread_name` | its arguments say also how many `events` the thread has, and how many it `lost` |
    /// | counters | the items in each channel, by the channel's name |
    /// | process `waits of nodes` | a track for each node that waits: what it waits for and the node that blocks it, from the end of an activation to the beginning of the next on any thread |
    ///
    /// Waits are tracks of their own, and no asynchronous events: the waits of a node do not overlap, so that one track
    /// shows all of them below each other, in the order of the graph. They follow from the activations, and a reader
    /// ignores them. As in the report, a wait for a channel ends, and one for a worker begins, at the last end of an
    /// activation of the node at the other end of the channel. They begin where no event is lost, since an activation that is lost may have ended a wait.
    ///
    /// [`TimelineExt::from_json`] reads the text back, to an equal timeline.
    ///
    /// ```
    /// use thalweg_graph::{GraphData, Node, NodeId};
    /// use thalweg_report::TimelineExt;
    /// use thalweg_trace::{Ended, Event, Timeline, Track, What};
    ///
    /// let mut graph = GraphData::new();
    /// graph.add(Node::sequential("clock"));
    /// let what = What::Activation { node: NodeId(0), firings: 3, ns: 1500, ended: Ended::Done };
    /// let mut track = Track::new("worker 0");
    /// track.events_mut().push(Event::new(250, what));
    /// let timeline = Timeline::new(vec![track]);
    ///
    /// let text = timeline.to_json(&graph);
    /// assert!(text.contains(r#""ts": 0.250, "dur": 1.500, "name": "clock", "cat": "activation""#));
    /// assert_eq!(Timeline::from_json(&text, &graph), Ok(timeline));
    /// ```
    fn to_json(&self, graph: &GraphData) -> String {
        let mut bytes = Vec::new();
        self.write_json(graph, &mut bytes).expect("writing to a Vec cannot fail");
        String::from_utf8(bytes).expect("JSON is text")
    }

    /// Writes the text of [`TimelineExt::to_json`] in pieces of about 64 KiB, so that no copy of it is in memory.
    ///
    /// # Errors
    /// Those of `out`.
    fn write_json(&self, graph: &GraphData, out: &mut dyn Write) -> io::Result<()>;

    /// Reads a timeline that [`TimelineExt::to_json`] wrote, of a run of this graph. Waits are ignored, since they follow
    /// from the rest, and so are events and fields of later versions.
    ///
    /// # Errors
    /// The text is not JSON, or no timeline of this version: another program's trace has no `format`. A field is
    /// missing, or has another type or a number out of range; the numbers of nodes and channels or the name of a node are
    /// not those of the graph; a thread has another number of events than its name says. The first error found, with its
    /// place.
    ///
    /// ```
    /// use thalweg_graph::GraphData;
    /// use thalweg_report::TimelineExt;
    /// use thalweg_trace::Timeline;
    ///
    /// let error = Timeline::from_json(r#"{"traceEvents": []}"#, &GraphData::new()).unwrap_err();
    /// assert_eq!(error.to_string(), "line 1, column 1: missing field `otherData`");
    /// ```
    fn from_json(text: &str, graph: &GraphData) -> Result<Self, ReadError>;

    /// Whether a text, or its first 200 bytes, has the mark of a timeline in JSON. [`TimelineExt::from_json`] may refuse it
    /// nevertheless.
    fn is_json(text: &str) -> bool;
}

impl TimelineExt for Timeline {
    fn write_json(&self, graph: &GraphData, out: &mut dyn Write) -> io::Result<()> {
        json::timeline::write(self, graph, out)
    }

    fn from_json(text: &str, graph: &GraphData) -> Result<Timeline, ReadError> {
        json::timeline::read(text, graph)
    }

    fn is_json(text: &str) -> bool {
        json::is_timeline(text)
    }
}
