//! Timelines as JSON, version 1, in the trace event form of Chrome.
//! [`TimelineExt::to_json`](crate::TimelineExt::to_json) describes the format.
//!
//! `line` is an event as the file has it. `event` makes the lines of the events of threads, `wait` those that follow from
//! them, and `read` reads a document.
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
mod line;
mod read;
mod wait;

pub(crate) use read::read;

use super::forms::Each;
use super::lines;
use crate::waits::{complete_from, waits};
use line::{Arguments, Line};
use serde::Serialize;
use std::io::{self, BufWriter, Write};
use thalweg_graph::GraphData;
use thalweg_trace::{Timeline, Track};

/// The mark of the format.
pub(super) const FORMAT: &str = "thalweg-timeline";

/// The version of the format that this crate writes and reads.
pub(super) const VERSION: u64 = 1;

/// The process whose threads are those of the run.
const THREADS: u32 = 1;

/// The process whose threads are the nodes, with their waits.
const WAITS: u32 = 2;

/// Bytes of text that the writer collects before it passes them on.
const PIECE: usize = 64 << 10;

/// A timeline as it is written.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Written<Events> {
    display_time_unit: &'static str,
    other_data: Header,
    trace_events: Events,
}

#[derive(Serialize)]
struct Header {
    format: &'static str,
    version: u64,
    threads: usize,
    nodes: usize,
    channels: usize,
    kept: &'static str,
    events: u64,
    lost: u64,
    complete_from_ns: u64,
}

/// Writes a timeline.
pub(crate) fn write(timeline: &Timeline, graph: &GraphData, out: &mut dyn Write) -> io::Result<()> {
    let waits = waits(timeline, graph);
    let lines = || {
        let names = timeline.tracks().iter().enumerate().flat_map(|(thread, track)| names(thread, track));
        let events = timeline.tracks().iter().enumerate().flat_map(|(thread, track)| {
            track.events().iter().map(move |event| event::line(event, tid(thread), graph))
        });
        let process = Line::process(THREADS, "threads");
        [process].into_iter().chain(names).chain(events).chain(wait::lines(&waits, timeline, graph))
    };
    let written =
        Written { display_time_unit: "ns", other_data: header(timeline, graph), trace_events: Each(lines) };
    let mut pieces = BufWriter::with_capacity(PIECE, out);
    lines::write(&written, &mut pieces)?;
    pieces.flush()
}

fn header(timeline: &Timeline, graph: &GraphData) -> Header {
    let sum = |of: fn(&Track) -> u64| timeline.tracks().iter().map(of).fold(0, u64::saturating_add);
    Header {
        format: FORMAT,
        version: VERSION,
        threads: timeline.tracks().len(),
        nodes: graph.nodes().len(),
        channels: graph.channels().len(),
        kept: "the latest events of each thread",
        events: sum(|track| track.events().len() as u64),
        lost: sum(|track| track.lost()),
        complete_from_ns: complete_from(timeline),
    }
}

/// The name of a thread, with what it has lost, and its place among the others.
fn names(thread: usize, track: &Track) -> [Line<'_>; 2] {
    let arguments = Arguments {
        name: Some(track.name().into()),
        events: Some(track.events().len()),
        lost: Some(track.lost()),
        ..Arguments::default()
    };
    let tid = tid(thread);
    [Line::metadata(THREADS, Some(tid), "thread_name", arguments), Line::sort_index(THREADS, tid, thread)]
}

/// The id of the thread with this index.
fn tid(thread: usize) -> usize {
    thread + 1
}
