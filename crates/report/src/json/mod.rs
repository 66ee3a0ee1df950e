//! Files of reports (JSON, version 4) and of timelines (`timeline`). [`ReportExt::to_json`](crate::ReportExt::to_json)
//! describes the format of reports.
//!
//! | module | has |
//! |---|---|
//! | `prediction` | the entry that is written alone, since it follows from the rest |
//! | `graph`, `port`, `measures`, `program` | the entries of the format as types of serde; its fields need not be those of the report |
//! | `forms` | numbers and times as the format has them |
//! | `lines` | the layout: an entry of an array is a line |
//! | `mark` | the mark and the version of a file |
//! | `parse` | reading by serde_json, with the path of what it refuses |
//! | `strict` | the refusal of other forms of a value that serde knows |
//! | `problem`, `place`, `error` | what else is wrong with a document, and where |
//!
//! A document is read into these types first, and what they promise one by one is checked by serde: types, ranges, missing
//! and repeated fields. What they promise each other is checked when the report is made of them: a [`Problem`] has the path
//! of the value that contradicts another one.

mod error;
mod forms;
mod graph;
mod lines;
mod mark;
mod measures;
mod parse;
mod place;
mod port;
mod prediction;
mod problem;
mod program;
mod strict;
pub(crate) mod timeline;

pub use error::{ReadError, ReadErrorKind};
pub(crate) use mark::{is_report, is_timeline};

use crate::predict::Prediction;
use forms::{Each, nanos};
use graph::{GraphEntries, GraphLines};
use measures::{ChannelEntry, GrowthEntry, NodeEntry, TicketEntry, WorkerEntry};
use prediction::PredictionEntry;
use problem::{Check, Problem};
use program::{ProgramEntry, ProgramLines};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;
use thalweg_graph::{GraphData, without_mark};
use thalweg_plan::Plan;
use thalweg_trace::{ChannelReport, Growth, NodeReport, Report, TicketReport};

/// The mark of the format: it distinguishes a report from other JSON.
const FORMAT: &str = "thalweg-report";

/// The version of the format that this crate writes and reads.
const VERSION: u64 = 4;

/// A report as it is written.
#[derive(Serialize)]
struct Written<'r, Workers, Nodes, Channels, Growths> {
    format: &'static str,
    version: u64,
    policy: &'r str,
    threads: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    plan: Option<String>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    notes: &'r [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    dilation: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tickets: Option<TicketEntry>,
    #[serde(rename = "wall_ns", with = "nanos")]
    wall: Duration,
    searches: u64,
    partitions: u64,
    graph: GraphLines<'r>,
    workers: Workers,
    nodes: Nodes,
    channels: Channels,
    growths: Growths,
    #[serde(skip_serializing_if = "Option::is_none")]
    program: Option<ProgramLines<'r>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    prediction: Option<PredictionEntry<'r>>,
}

/// A report as it is read.
#[derive(Deserialize)]
#[serde(expecting = "the object of a report")]
struct File<'d> {
    policy: String,
    threads: usize,
    plan: Option<String>,
    program: Option<ProgramEntry>,
    #[serde(default)]
    notes: Vec<String>,
    dilation: Option<u32>,
    tickets: Option<TicketEntry>,
    #[serde(rename = "wall_ns", with = "nanos")]
    wall: Duration,
    searches: u64,
    partitions: u64,
    graph: GraphEntries,
    workers: Vec<WorkerEntry>,
    #[serde(borrow)]
    nodes: Vec<NodeEntry<'d>>,
    #[serde(borrow)]
    channels: Vec<ChannelEntry<'d>>,
    growths: Vec<GrowthEntry>,
}

/// The report as JSON.
pub(crate) fn write(report: &Report) -> String {
    let graph = report.graph();
    let node_names = || graph.nodes().iter().map(|node| Some(Cow::from(node.name())));
    let channel_names = || graph.channel_ids().map(|id| Some(Cow::from(graph.channel_name(id))));
    // A report that lacks nodes or channels of its graph, or has more, is written as it is. The reader refuses it.
    let nodes = || report.nodes().iter().zip(node_names().chain(std::iter::repeat(None)));
    let channels = || report.channels().iter().zip(channel_names().chain(std::iter::repeat(None)));
    let prediction = Prediction::of(report).ok();
    let written = Written {
        format: FORMAT,
        version: VERSION,
        policy: report.policy(),
        threads: report.threads(),
        plan: report.plan().map(|plan| plan.to_string()),
        notes: report.notes(),
        dilation: report.dilation(),
        tickets: report.tickets().as_ref().map(TicketEntry::from),
        wall: report.wall(),
        searches: report.searches(),
        partitions: report.partitions(),
        graph: GraphLines(graph),
        workers: Each(|| report.workers().iter().map(WorkerEntry::from)),
        nodes: Each(|| nodes().map(|(entry, name)| NodeEntry::new(name.unwrap_or_default(), entry))),
        channels: Each(|| channels().map(|(entry, name)| ChannelEntry::new(name.unwrap_or_default(), entry))),
        growths: Each(|| report.growths().iter().map(|growth| GrowthEntry(*growth))),
        program: report.program().map(ProgramLines::new),
        prediction: prediction.as_ref().map(PredictionEntry::new),
    };
    let mut bytes = Vec::new();
    lines::write(&written, &mut bytes).expect("writing to a Vec cannot fail");
    String::from_utf8(bytes).expect("JSON is text")
}

/// Reads a report.
pub(crate) fn read(text: &str) -> Result<Report, ReadError> {
    let text = without_mark(text);
    let file: File<'_> = parse::parse_marked(text, mark::check_report(text))?;
    file.report().map_err(|problem| problem.located(text))
}

impl File<'_> {
    /// The report, if the parts of the file agree.
    fn report(self) -> Check<Report> {
        let graph = self.graph.build().map_err(|problem| problem.within("graph"))?;
        count(self.workers.len(), self.threads, "each thread")
            .map_err(|problem| problem.within("workers"))?;
        let mut report = Report::new(GraphData::new(), self.policy, self.threads);
        *report.plan_mut() = self.plan.as_deref().map(read_plan).transpose()?;
        *report.workers_mut() = self.workers.into_iter().map(Into::into).collect();
        *report.nodes_mut() = node_reports(self.nodes, &graph).map_err(|problem| problem.within("nodes"))?;
        *report.channels_mut() =
            channel_reports(self.channels, &graph).map_err(|problem| problem.within("channels"))?;
        *report.growths_mut() = growths(self.growths, &graph).map_err(|problem| problem.within("growths"))?;
        let program = self.program.map(|program| program.build(&graph)).transpose();
        *report.program_mut() = program.map_err(|problem| problem.within("program"))?;
        *report.notes_mut() = self.notes;
        *report.dilation_mut() = self.dilation;
        *report.tickets_mut() = self.tickets.map(TicketReport::from);
        *report.wall_mut() = self.wall;
        *report.searches_mut() = self.searches;
        *report.partitions_mut() = self.partitions;
        *report.graph_mut() = graph;
        Ok(report)
    }
}

fn read_plan(text: &str) -> Check<Arc<Plan>> {
    text.parse().map(Arc::new).map_err(|error: thalweg_plan::ReadError| {
        Problem::found("the text of a plan", error.to_string()).within("plan")
    })
}

/// Checks the number of entries, of which there must be one for each of `count` others.
fn count(found: usize, count: usize, one_for: &str) -> Check<()> {
    if found == count {
        return Ok(());
    }
    Err(Problem::found(format!("{count} entries, one for {one_for}"), format!("{found} entries")))
}

fn node_reports(entries: Vec<NodeEntry<'_>>, graph: &GraphData) -> Check<Vec<NodeReport>> {
    count(entries.len(), graph.nodes().len(), "each node of the graph")?;
    let pairs = entries.into_iter().zip(graph.nodes()).enumerate();
    pairs
        .map(|(i, (entry, node))| {
            check_name("node", &entry.node, node.name()).map_err(|problem| problem.within(i))?;
            Ok(entry.into())
        })
        .collect()
}

fn channel_reports(entries: Vec<ChannelEntry<'_>>, graph: &GraphData) -> Check<Vec<ChannelReport>> {
    count(entries.len(), graph.channels().len(), "each channel of the graph")?;
    let pairs = entries.into_iter().zip(graph.channel_ids()).enumerate();
    pairs
        .map(|(i, (entry, id))| {
            check_name("channel", &entry.channel, &graph.channel_name(id))
                .map_err(|problem| problem.within(i))?;
            Ok(entry.into())
        })
        .collect()
}

/// Checks the name of the node or channel that an entry belongs to: the order of the entries is that of the graph.
fn check_name(of: &'static str, found: &str, name: &str) -> Check<()> {
    if found == name {
        return Ok(());
    }
    let name = place::excerpt(name);
    Err(Problem::new(format!("`{name}`, the {of} of the graph with this index")).within(of))
}

fn growths(entries: Vec<GrowthEntry>, graph: &GraphData) -> Check<Vec<Growth>> {
    let known = |(i, GrowthEntry(growth)): (usize, GrowthEntry)| {
        problem::index(growth.channel().index(), graph.channels().len(), "channels")
            .map_err(|problem| problem.within("channel").within(i))?;
        Ok(growth)
    };
    entries.into_iter().enumerate().map(known).collect()
}
