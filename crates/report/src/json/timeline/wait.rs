//! Waits of nodes, as tracks of their own.

use super::{Lines, WAITS, event, micros, write_place};
use crate::waits::{Wait, waits};
use std::io;
use thalweg_graph::GraphData;
use thalweg_trace::{Cause, Timeline};

pub(super) fn write(timeline: &Timeline, graph: &GraphData, lines: &mut Lines<'_>) -> io::Result<()> {
    let waits = waits(timeline, graph);
    // Behind the ids of the threads: no two tracks of the file have the same one.
    let tid = |wait: &Wait| timeline.tracks.len() + 1 + wait.node.index();
    if !waits.is_empty() {
        lines.name(WAITS, None, |to| to.string("name", "waits of nodes"))?;
    }
    for of_node in waits.chunk_by(|a, b| a.node == b.node) {
        let first = &of_node[0];
        let name = event::node_name(graph, first.node);
        lines.name(WAITS, Some(tid(first)), |to| to.string("name", &name))?;
        lines.sort(WAITS, tid(first), first.node.index())?;
        for wait in of_node {
            lines.line(|to| {
                write_place("X", WAITS, tid(wait), wait.at[0], to);
                micros("dur", wait.at[1] - wait.at[0], to);
                write_cause(wait.cause, graph, to);
            })?;
        }
    }
    Ok(())
}

/// Writes what the node waited for, and the node that blocked it.
fn write_cause(cause: Cause, graph: &GraphData, to: &mut super::Fields<'_>) {
    // The writer of JSON escapes the names.
    to.string("name", &cause.describe_with(graph, str::to_owned));
    to.string("cat", "wait");
    to.object("args", |to| {
        if let Some(node) = cause.other_end(graph) {
            to.string("blocked by", &event::node_name(graph, node));
        }
    });
}
