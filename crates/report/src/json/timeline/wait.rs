//! Waits of nodes, as tracks of their own.

use super::line::{Arguments, Line, Micros};
use super::{WAITS, event};
use crate::waits::Wait;
use thalweg_graph::GraphData;
use thalweg_trace::Timeline;

/// The lines of the waits of a timeline, in the order of their nodes.
pub(super) fn lines<'g>(
    waits: &'g [Wait],
    timeline: &Timeline,
    graph: &'g GraphData,
) -> impl Iterator<Item = Line<'g>> {
    // Behind the ids of the threads: no two tracks of the file have the same one.
    let before = timeline.tracks().len() + 1;
    let process = (!waits.is_empty()).then(|| Line::process(WAITS, "waits of nodes"));
    let of_nodes = waits.chunk_by(|a, b| a.node == b.node).flat_map(move |of_node| {
        let node = of_node[0].node;
        let tid = before + node.index();
        let names = [
            Line::thread(WAITS, tid, event::node_name(graph, node)),
            Line::sort_index(WAITS, tid, node.index()),
        ];
        names.into_iter().chain(of_node.iter().map(move |wait| line(wait, tid, graph)))
    });
    process.into_iter().chain(of_nodes)
}

/// What a node waited for, and the node that blocked it.
fn line<'g>(wait: &Wait, tid: usize, graph: &'g GraphData) -> Line<'g> {
    let blocked_by = wait.cause.other_end(graph).map(|node| event::node_name(graph, node));
    Line {
        ph: "X".into(),
        pid: WAITS,
        tid: Some(tid),
        ts: Some(Micros(wait.at[0])),
        dur: Some(Micros(wait.at[1] - wait.at[0])),
        // The writer of JSON escapes the names.
        name: wait.cause.describe_with(graph, str::to_owned).into(),
        cat: "wait".into(),
        args: Arguments { blocked_by, ..Arguments::default() },
        ..Line::default()
    }
}
