//! Waits of nodes, as tracks of their own.

use super::{Lines, WAITS, event, micros, write_place};
use crate::timeline::waits::Wait;
use crate::{Ended, Timeline};
use std::io;
use thalweg_graph::GraphData;

pub(super) fn write(timeline: &Timeline, graph: &GraphData, lines: &mut Lines<'_>) -> io::Result<()> {
    let waits = timeline.waits();
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
                write_cause(wait.ended, graph, to);
            })?;
        }
    }
    Ok(())
}

/// Writes what the node waited for, and the node that blocked it.
fn write_cause(ended: Ended, graph: &GraphData, to: &mut super::Fields<'_>) {
    let (name, blocked) = match ended {
        Ended::Empty(channel) => {
            let producer = graph.channels().get(channel.index()).map(|channel| channel.from.0);
            (format!("items of {}", event::channel_name(graph, channel)), producer)
        }
        Ended::Full(channel) => {
            let consumer = graph.channels().get(channel.index()).map(|channel| channel.to.0);
            (format!("room in {}", event::channel_name(graph, channel)), consumer)
        }
        _ => ("not for one channel".to_owned(), None),
    };
    to.string("name", &name);
    to.string("cat", "wait");
    to.object("args", |to| {
        if let Some(node) = blocked {
            to.string("blocked by", &event::node_name(graph, node));
        }
    });
}
