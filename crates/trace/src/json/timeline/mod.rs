//! Timelines as JSON, version 1, in the trace event form of Chrome. [`Timeline::to_json`] describes the format.
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

use super::write::{Fields, object};
use crate::Timeline;
use std::io::{self, Write};
use thalweg_graph::GraphData;

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

impl Timeline {
    /// The timeline in the trace event form of Chrome, one event a line. Perfetto (<https://ui.perfetto.dev>) and
    /// `chrome://tracing` open it. `graph` is the graph of the run, of which it has the names.
    ///
    /// | in the file | what |
    /// |---|---|
    /// | `otherData` | `format` and `version` (`"thalweg-timeline"`, 1); the numbers of threads, nodes and channels; `kept`, in words; the numbers of `events` and of those `lost`; `complete_from_ns`, from which on none is lost |
    /// | process `threads` | a track for each thread: activations with the node's name, its part in each loop and task graph of a node, `spin` and `park` as complete events, steals and growths as instants |
    /// | `thread_name` | its arguments say also how many `events` the thread has, and how many it `lost` |
    /// | counters | the items in each channel, by the channel's name |
    /// | process `waits of nodes` | a track for each node that waits: what it waits for and the node that blocks it, from the end of an activation to the beginning of the next on any thread |
    ///
    /// Waits are tracks of their own, and no asynchronous events: the waits of a node do not overlap, so that one track
    /// shows all of them below each other, in the order of the graph. They follow from the activations, and a reader
    /// ignores them. As in the report, a wait for a channel ends, and one for a worker begins, at the last end of an
    /// activation of the node at the other end of the channel. They begin where no event is lost, since an activation that is lost may have ended a wait.
    ///
    /// [`Timeline::from_json`] reads the text back, to an equal timeline.
    ///
    /// ```
    /// use thalweg_graph::{GraphData, Node, NodeId};
    /// use thalweg_trace::{Ended, Event, Timeline, Track, What};
    ///
    /// let mut graph = GraphData::new();
    /// graph.add(Node::sequential("clock"));
    /// let what = What::Activation { node: NodeId(0), firings: 3, ns: 1500, ended: Ended::Done };
    /// let mut track = Track::new("worker 0");
    /// track.events.push(Event { at: 250, what });
    /// let timeline = Timeline::new(vec![track]);
    ///
    /// let text = timeline.to_json(&graph);
    /// assert!(text.contains(r#""ts": 0.250, "dur": 1.500, "name": "clock", "cat": "activation""#));
    /// assert_eq!(Timeline::from_json(&text, &graph), Ok(timeline));
    /// ```
    pub fn to_json(&self, graph: &GraphData) -> String {
        let mut bytes = Vec::new();
        self.write_json(graph, &mut bytes).expect("writing to a Vec cannot fail");
        String::from_utf8(bytes).expect("the pieces are text")
    }

    /// Writes the text of [`Timeline::to_json`] in pieces of about 64 KiB, so that no copy of it is in memory.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn write_json(&self, graph: &GraphData, out: &mut dyn Write) -> io::Result<()> {
        let mut lines = Lines { out, text: String::new(), separator: "" };
        lines.text.push_str("{\n\"displayTimeUnit\": \"ns\",\n\"otherData\": ");
        object(&mut lines.text, |to| self.write_header(graph, to));
        lines.text.push_str(",\n\"traceEvents\": [");
        self.write_names(&mut lines)?;
        for (thread, track) in self.tracks.iter().enumerate() {
            for event in &track.events {
                lines.line(|to| event::write(event, tid(thread), graph, to))?;
            }
        }
        wait::write(self, graph, &mut lines)?;
        lines.text.push_str("\n]\n}\n");
        lines.pass_on()
    }

    fn write_header(&self, graph: &GraphData, to: &mut Fields<'_>) {
        let sum = |of: fn(&crate::Track) -> u64| self.tracks.iter().map(of).fold(0, u64::saturating_add);
        to.string("format", FORMAT);
        to.count("version", VERSION);
        to.count("threads", self.tracks.len());
        to.count("nodes", graph.nodes().len());
        to.count("channels", graph.channels().len());
        to.string("kept", "the latest events of each thread");
        to.count("events", sum(|track| track.events.len() as u64));
        to.count("lost", sum(|track| track.lost));
        to.count("complete_from_ns", self.complete_from());
    }

    /// Writes the names of the threads, and what each of them has lost.
    fn write_names(&self, lines: &mut Lines<'_>) -> io::Result<()> {
        lines.name(THREADS, None, |to| to.string("name", "threads"))?;
        for (thread, track) in self.tracks.iter().enumerate() {
            lines.name(THREADS, Some(tid(thread)), |to| {
                to.string("name", &track.name);
                to.count("events", track.events.len());
                to.count("lost", track.lost);
            })?;
            lines.sort(THREADS, tid(thread), thread)?;
        }
        Ok(())
    }
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
