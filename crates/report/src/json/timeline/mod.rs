//! Timelines as JSON, version 1, in the trace event form of Chrome. [`TimelineExt::to_json`](crate::TimelineExt::to_json) describes the format.
//!
//! `event` writes and reads the events of threads, `wait` writes what follows from them, and `read` reads a document.
//!
//! The form is that of the *Trace Event Format* of the Chromium project (Google Docs, 2016). What the files rely on, and
//! what Perfetto's importer (`src/trace_processor/importers/json`) demands beyond it:
//!
//! - Complete events of a thread nest, or follow each other. Of two that overlap the importer drops or moves one.
//! - `ts` and `dur` are microseconds, with decimals. `displayTimeUnit` changes what is shown, not what is meant.
//! - A thread is named by its `tid` alone, so no two tracks have the same one, and 0 means the idle task of a processor.
//! - Every argument of a counter is a series of its own, and a counter's `id` becomes part of its name. So the channel
//!   of a counter is a field of the event, which importers ignore.
//! - The importer ends at a field of the document that it does not know, so there are only three; `otherData` must be
//!   short, since some versions read it in one piece, so what each thread lost stands in its own event.
//! - Some versions look for `ts` before they parse an event, and give up at an escape before it, so `ts` comes before
//!   names. An event has no array as a field for the same reason.

mod event;
mod read;
mod wait;

pub(crate) use read::read;

use super::write::{Fields, object};
use crate::waits::complete_from;
use std::io::{self, Write};
use thalweg_graph::GraphData;
use thalweg_trace::Timeline;

/// The mark of the format.
pub(super) const FORMAT: &str = "thalweg-timeline";

/// The version of the format that this crate writes and reads.
const VERSION: u64 = 1;

/// The process whose threads are those of the run.
const THREADS: u32 = 1;

/// The process whose threads are the nodes, with their waits.
const WAITS: u32 = 2;

/// Bytes of text that the writer collects before it passes them on.
const PIECE: usize = 64 << 10;

/// Writes a timeline.
pub(crate) fn write(timeline: &Timeline, graph: &GraphData, out: &mut dyn Write) -> io::Result<()> {
    let mut lines = Lines { out, text: String::new(), separator: "" };
    lines.text.push_str("{\n\"displayTimeUnit\": \"ns\",\n\"otherData\": ");
    object(&mut lines.text, |to| write_header(timeline, graph, to));
    lines.text.push_str(",\n\"traceEvents\": [");
    write_names(timeline, &mut lines)?;
    for (thread, track) in timeline.tracks.iter().enumerate() {
        for event in &track.events {
            lines.line(|to| event::write(event, tid(thread), graph, to))?;
        }
    }
    wait::write(timeline, graph, &mut lines)?;
    lines.text.push_str("\n]\n}\n");
    lines.pass_on()
}

fn write_header(timeline: &Timeline, graph: &GraphData, to: &mut Fields<'_>) {
    let sum =
        |of: fn(&thalweg_trace::Track) -> u64| timeline.tracks.iter().map(of).fold(0, u64::saturating_add);
    to.string("format", FORMAT);
    to.count("version", VERSION);
    to.count("threads", timeline.tracks.len());
    to.count("nodes", graph.nodes().len());
    to.count("channels", graph.channels().len());
    to.string("kept", "the latest events of each thread");
    to.count("events", sum(|track| track.events.len() as u64));
    to.count("lost", sum(|track| track.lost));
    to.count("complete_from_ns", complete_from(timeline));
}

/// Writes the names of the threads, and what each of them has lost.
fn write_names(timeline: &Timeline, lines: &mut Lines<'_>) -> io::Result<()> {
    lines.name(THREADS, None, |to| to.string("name", "threads"))?;
    for (thread, track) in timeline.tracks.iter().enumerate() {
        lines.name(THREADS, Some(tid(thread)), |to| {
            to.string("name", &track.name);
            to.count("events", track.events.len());
            to.count("lost", track.lost);
        })?;
        lines.sort(THREADS, tid(thread), thread)?;
    }
    Ok(())
}

/// The id of the thread with this index.
fn tid(thread: usize) -> usize {
    thread + 1
}

/// Events on a line each.
struct Lines<'o> {
    out: &'o mut dyn Write,
    text: String,
    separator: &'static str,
}

impl Lines<'_> {
    fn line(&mut self, fields: impl FnOnce(&mut Fields<'_>)) -> io::Result<()> {
        self.text.push_str(self.separator);
        self.text.push('\n');
        self.separator = ",";
        object(&mut self.text, fields);
        if self.text.len() < PIECE { Ok(()) } else { self.pass_on() }
    }

    fn pass_on(&mut self) -> io::Result<()> {
        self.out.write_all(self.text.as_bytes())?;
        self.text.clear();
        Ok(())
    }

    /// A metadata event that names a process, or a thread of it.
    fn name(&mut self, pid: u32, tid: Option<usize>, name: impl FnOnce(&mut Fields<'_>)) -> io::Result<()> {
        let what = if tid.is_some() { "thread_name" } else { "process_name" };
        self.metadata(pid, tid, what, name)
    }

    /// A metadata event that orders the threads of a process.
    fn sort(&mut self, pid: u32, tid: usize, index: usize) -> io::Result<()> {
        self.metadata(pid, Some(tid), "thread_sort_index", |to| to.count("sort_index", index))
    }

    fn metadata(
        &mut self,
        pid: u32,
        tid: Option<usize>,
        what: &str,
        arguments: impl FnOnce(&mut Fields<'_>),
    ) -> io::Result<()> {
        self.line(|to| {
            to.string("ph", "M");
            to.count("pid", pid);
            to.limit("tid", tid);
            to.string("name", what);
            to.object("args", arguments);
        })
    }
}

/// Writes what all events of a thread have in common.
fn write_place(phase: &str, pid: u32, tid: usize, at: u64, to: &mut Fields<'_>) {
    to.string("ph", phase);
    to.count("pid", pid);
    to.count("tid", tid);
    micros("ts", at, to);
}

/// A time, given in nanoseconds, in microseconds with three decimals: exact.
fn micros(name: &str, ns: u64, to: &mut Fields<'_>) {
    to.count(name, format_args!("{}.{:03}", ns / 1000, ns % 1000));
}
