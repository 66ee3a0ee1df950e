//! Reports as JSON, version 2. [`Report::to_json`] describes the format. `timeline` has that of timelines.
//!
//! Each of the modules `graph`, `port`, `worker`, `node` and `channel` writes and reads one kind of entry. Their
//! functions name the fields of the format, which need not be those of the types: the format is not the interface.
//! `details` has what few nodes have. `write` and `parse` know JSON alone; `value` is a parsed document, and `misfit`, `place` and `error` say where it
//! is not a report.

mod channel;
mod details;
mod error;
mod format;
mod graph;
mod jobs;
mod misfit;
mod node;
mod parse;
mod place;
mod port;
mod service;
mod string;
mod timeline;
mod value;
mod worker;
mod write;

pub use error::{ReadError, ReadErrorKind};

use crate::Report;
use misfit::Problem;
use std::sync::Arc;
use thalweg_graph::GraphData;
use thalweg_graph::without_mark;
use thalweg_plan::Plan;
use value::{Read, Value};
use write::{Quoted, lines, nanos, put};

/// The mark of the format: it distinguishes a report from other JSON.
const FORMAT: &str = "thalweg-report";

/// The version of the format that this crate writes and reads.
const VERSION: u64 = 2;

impl Report {
    /// The report as JSON, with a line for each worker, node and channel, and the fields always in the same order: two
    /// reports of one graph can be compared line by line.
    ///
    /// | field | what |
    /// |---|---|
    /// | `format`, `version` | `"thalweg-report"`, 2 |
    /// | `policy`, `threads`, `plan`, `wall_ns`, `searches`, `partitions` | the fields of [`Report`] |
    /// | `program_plan`, `notes` | likewise, where they exist |
    /// | `graph.nodes` | `name`, `kind` (`"sequential"`, `"parallel"` or `"process"`), the settings of the node, `inputs` and `outputs` |
    /// | a port | `name`, the type of its items as `item` and `bytes`; `pop` and `peek`, or `push`: a number of items, or `"dynamic"` |
    /// | of a port, where they exist | `bounds` of a dynamic rate as `least`, `average` and `most`; `first`, the rates of a first firing |
    /// | of a node, where they exist | `split` or `join`, its weights as an array or `"duplicate"`; `span`, its place in a source text as file, first byte and end; `prework`, whether its first firing differs although no port says so |
    /// | `graph.messages` | `from` and `to` of nodes that send messages to another, by index; left out where there are none |
    /// | `graph.channels` | `from` and `to`, each `[node, port]` by index, and the settings of the channel |
    /// | `workers` | an entry for each worker: the fields of [`WorkerReport`](crate::WorkerReport) |
    /// | `nodes` | an entry for each node of the graph: its name as `node`, and the fields of [`NodeReport`](crate::NodeReport) |
    /// | of a node that executed loops or task graphs | `jobs`, an entry for each member: the fields of [`MemberCounts`](crate::MemberCounts) |
    /// | `channels` | an entry for each channel of the graph: its name as `channel`, and the fields of [`ChannelReport`](crate::ChannelReport) |
    /// | `growths` | `channel` by index, `limit` (`"items"` or `"bytes"`), `from`, `to` and `at_ns` |
    ///
    /// A time is an integer, in nanoseconds, and its field ends in `_ns`; a time above 584 years is written as
    /// `u64::MAX`. Settings that are false, null or without initial items are left out, and so are waits of zero and the
    /// service times of nodes without any.
    ///
    /// The timeline is left out ([`Report::timeline`]): [`Timeline::to_json`](crate::Timeline::to_json) writes it in a form
    /// of its own.
    ///
    /// [`Report::from_json`] reads the text back, to an equal report but for the timeline. It refuses the text of a report that breaks what
    /// its fields promise: with another number of nodes than its graph, for example. A mean that is not finite breaks
    /// its promise too. JSON has no such numbers, so it is written as null, which keeps the file readable for other
    /// programs, and the reader's error names the channel.
    ///
    /// ```
    /// use thalweg_graph::{GraphData, Node};
    /// use thalweg_trace::Report;
    ///
    /// let mut graph = GraphData::new();
    /// graph.add(Node::sequential("clock"));
    /// let mut report = Report::new(graph, "auto", 1);
    /// report.nodes[0].firings = 7;
    /// let text = report.to_json();
    /// assert!(text.contains(r#"{"node": "clock", "firings": 7, "activations": 0, "busy_ns": 0, "moves": 0}"#));
    /// assert_eq!(Report::from_json(&text), Ok(report));
    /// ```
    pub fn to_json(&self) -> String {
        let mut out = String::new();
        self.write_header(&mut out);
        out.push_str(",\n  \"graph\": ");
        graph::write(&self.graph, &mut out);
        out.push_str(",\n  \"workers\": ");
        lines(&mut out, 1, self.workers.iter(), worker::write);
        self.write_counts(&mut out);
        out.push_str(",\n  \"growths\": ");
        lines(&mut out, 1, self.growths.iter(), channel::write_growth);
        out.push_str("\n}\n");
        out
    }

    fn write_header(&self, out: &mut String) {
        put(out, format_args!("{{\n  \"format\": {},\n  \"version\": {VERSION},\n", Quoted(FORMAT)));
        put(out, format_args!("  \"policy\": {},\n  \"threads\": {},\n", Quoted(&self.policy), self.threads));
        if let Some(plan) = &self.plan {
            put(out, format_args!("  \"plan\": {},\n", Quoted(&plan.to_string())));
        }
        if let Some(plan) = &self.program_plan {
            put(out, format_args!("  \"program_plan\": {},\n", Quoted(plan)));
        }
        if !self.notes.is_empty() {
            let notes: Vec<String> = self.notes.iter().map(|note| Quoted(note).to_string()).collect();
            put(out, format_args!("  \"notes\": [{}],\n", notes.join(", ")));
        }
        put(out, format_args!("  \"wall_ns\": {},\n", nanos(self.wall)));
        put(out, format_args!("  \"searches\": {},\n  \"partitions\": {}", self.searches, self.partitions));
    }

    /// Writes the entries of nodes and channels, with the names that the graph has for them.
    fn write_counts(&self, out: &mut String) {
        out.push_str(",\n  \"nodes\": ");
        lines(out, 1, self.nodes.iter().enumerate(), |(index, entry), to| {
            let name = self.graph.nodes().get(index).map(|node| &*node.name);
            node::write(name, entry, to);
        });
        let names = self.graph.channel_ids().map(|id| Some(self.graph.channel_name(id)));
        let names = names.chain(std::iter::repeat(None));
        out.push_str(",\n  \"channels\": ");
        lines(out, 1, self.channels.iter().zip(names), |(entry, name), to| {
            channel::write(name.as_deref(), entry, to);
        });
    }

    /// Reads a report that [`Report::to_json`] wrote, possibly with later versions' fields, which are ignored.
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
    /// use thalweg_trace::Report;
    ///
    /// let newer = Report::default().to_json().replace("\"version\": 2", "\"version\": 3");
    /// let error = Report::from_json(&newer).unwrap_err().to_string();
    /// assert!(error.contains("the file has version 3, this thalweg reads version 2"));
    /// ```
    pub fn from_json(text: &str) -> Result<Report, ReadError> {
        let text = without_mark(text);
        let root = parse::parse(text)?;
        read(&root).map_err(|misfit| misfit.located(text, &root))
    }
}

fn read(root: &Value<'_>) -> Read<Report> {
    check_version(root, FORMAT, VERSION)?;
    let graph = graph::read(root.field("graph")?)?;
    let threads = root.count("threads")?;
    let workers = root.field("workers")?.entries(threads, "each thread")?;
    let growths = root.field("growths")?.array()?.iter();
    Ok(Report {
        policy: root.field("policy")?.string()?.to_owned(),
        threads,
        plan: root.optional("plan")?.map(read_plan).transpose()?,
        program_plan: root.optional("program_plan")?.map(|plan| Ok(plan.string()?.to_owned())).transpose()?,
        notes: root.optional("notes")?.map(read_notes).transpose()?.unwrap_or_default(),
        wall: root.nanos("wall_ns")?,
        workers: workers.iter().map(|value| worker::read(&value)).collect::<Read<_>>()?,
        nodes: read_nodes(root.field("nodes")?, &graph)?,
        channels: read_channels(root.field("channels")?, &graph)?,
        growths: growths
            .map(|value| channel::read_growth(graph.channels().len(), &value))
            .collect::<Read<_>>()?,
        searches: root.count("searches")?,
        partitions: root.count("partitions")?,
        timeline: None,
        graph,
    })
}

/// Checks the mark and the version. All else may differ in other versions.
fn check_version(root: &Value<'_>, expected: &str, supported: u64) -> Read<()> {
    let format = root.field("format")?;
    if format.string()? != expected {
        return Err(format.misfit(format!("`{expected}`")));
    }
    let version = root.field("version")?;
    match version.integer()? {
        found if found == supported => Ok(()),
        found => Err(version.problem(Problem::Version { found, supported })),
    }
}

fn read_notes(value: &Value<'_>) -> Read<Vec<String>> {
    value.array()?.iter().map(|note| Ok(note.string()?.to_owned())).collect()
}

fn read_plan(value: &Value<'_>) -> Read<Arc<Plan>> {
    let text = value.string()?;
    text.parse()
        .map(Arc::new)
        .map_err(|error: thalweg_plan::ReadError| value.mismatch("the text of a plan", error.to_string()))
}

fn read_nodes(value: &Value<'_>, graph: &GraphData) -> Read<Vec<crate::NodeReport>> {
    let entries = value.entries(graph.nodes().len(), "each node of the graph")?;
    entries.iter().zip(graph.nodes()).map(|(entry, node)| node::read(&node.name, &entry)).collect()
}

fn read_channels(value: &Value<'_>, graph: &GraphData) -> Read<Vec<crate::ChannelReport>> {
    let entries = value.entries(graph.channels().len(), "each channel of the graph")?;
    let names = graph.channel_ids().map(|id| graph.channel_name(id));
    entries.iter().zip(names).map(|(entry, name)| channel::read(&name, &entry)).collect()
}
