//! Reports as JSON, version 2. [`ReportExt::to_json`](crate::ReportExt::to_json) describes the format. `timeline` has that of timelines.
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
pub(crate) mod timeline;
mod value;
mod worker;
mod write;

pub use error::{ReadError, ReadErrorKind};
pub(crate) use format::{is_report, is_timeline};

use misfit::Problem;
use std::sync::Arc;
use thalweg_graph::GraphData;
use thalweg_graph::without_mark;
use thalweg_plan::Plan;
use thalweg_trace::Report;
use value::{Read, Value};
use write::{Quoted, lines, nanos, put};

/// The mark of the format: it distinguishes a report from other JSON.
const FORMAT: &str = "thalweg-report";

/// The version of the format that this crate writes and reads.
const VERSION: u64 = 2;

/// The report as JSON.
pub(crate) fn write(report: &Report) -> String {
    let mut out = String::new();
    write_header(report, &mut out);
    out.push_str(",\n  \"graph\": ");
    graph::write(&report.graph, &mut out);
    out.push_str(",\n  \"workers\": ");
    lines(&mut out, 1, report.workers.iter(), worker::write);
    write_counts(report, &mut out);
    out.push_str(",\n  \"growths\": ");
    lines(&mut out, 1, report.growths.iter(), channel::write_growth);
    out.push_str("\n}\n");
    out
}

fn write_header(report: &Report, out: &mut String) {
    put(out, format_args!("{{\n  \"format\": {},\n  \"version\": {VERSION},\n", Quoted(FORMAT)));
    put(out, format_args!("  \"policy\": {},\n  \"threads\": {},\n", Quoted(&report.policy), report.threads));
    if let Some(plan) = &report.plan {
        put(out, format_args!("  \"plan\": {},\n", Quoted(&plan.to_string())));
    }
    if let Some(plan) = &report.program_plan {
        put(out, format_args!("  \"program_plan\": {},\n", Quoted(plan)));
    }
    if !report.notes.is_empty() {
        let notes: Vec<String> = report.notes.iter().map(|note| Quoted(note).to_string()).collect();
        put(out, format_args!("  \"notes\": [{}],\n", notes.join(", ")));
    }
    put(out, format_args!("  \"wall_ns\": {},\n", nanos(report.wall)));
    put(out, format_args!("  \"searches\": {},\n  \"partitions\": {}", report.searches, report.partitions));
}

/// Writes the entries of nodes and channels, with the names that the graph has for them.
fn write_counts(report: &Report, out: &mut String) {
    out.push_str(",\n  \"nodes\": ");
    lines(out, 1, report.nodes.iter().enumerate(), |(index, entry), to| {
        let name = report.graph.nodes().get(index).map(|node| &*node.name);
        node::write(name, entry, to);
    });
    let names = report.graph.channel_ids().map(|id| Some(report.graph.channel_name(id)));
    let names = names.chain(std::iter::repeat(None));
    out.push_str(",\n  \"channels\": ");
    lines(out, 1, report.channels.iter().zip(names), |(entry, name), to| {
        channel::write(name.as_deref(), entry, to);
    });
}

/// Reads a report.
pub(crate) fn read(text: &str) -> Result<Report, ReadError> {
    let text = without_mark(text);
    let root = parse::parse(text)?;
    read_report(&root).map_err(|misfit| misfit.located(text, &root))
}

fn read_report(root: &Value<'_>) -> Read<Report> {
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

fn read_nodes(value: &Value<'_>, graph: &GraphData) -> Read<Vec<thalweg_trace::NodeReport>> {
    let entries = value.entries(graph.nodes().len(), "each node of the graph")?;
    entries.iter().zip(graph.nodes()).map(|(entry, node)| node::read(&node.name, &entry)).collect()
}

fn read_channels(value: &Value<'_>, graph: &GraphData) -> Read<Vec<thalweg_trace::ChannelReport>> {
    let entries = value.entries(graph.channels().len(), "each channel of the graph")?;
    let names = graph.channel_ids().map(|id| graph.channel_name(id));
    entries.iter().zip(names).map(|(entry, name)| channel::read(&name, &entry)).collect()
}
