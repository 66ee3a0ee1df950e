//! The message for a dead strongly connected component: one cycle of nodes that wait for each other.

use super::scc::{Edge, Scc};
use thalweg_graph::{Fault, GraphData};

/// Channels that a message names at most. A cycle can have millions.
const MAX_NAMED: usize = 8;

/// The fault of an SCC in which no node can fire.
pub(super) fn of(graph: &GraphData, scc: &Scc) -> Fault {
    let cycle = cycle(scc);
    let name = |edge: &&Edge| graph.node(scc.nodes[edge.from]).name().to_string();
    Fault::DeadCycle { nodes: cycle.iter().map(name).collect(), detail: detail(graph, scc, &cycle) }
}

/// The channels of a cycle, each of which lacks items, from producer to consumer.
fn cycle<'a>(scc: &'a Scc) -> Vec<&'a Edge> {
    let mut node = scc.unfinished().expect("some node of a dead SCC has not done its period");
    let mut seen_at = vec![None; scc.nodes.len()];
    let mut walk: Vec<&Edge> = Vec::new();
    // Walks upstream, from a consumer to the producer it waits for. Every node waits, so the walk must return
    // to a node that it has visited.
    while seen_at[node].is_none() {
        seen_at[node] = Some(walk.len());
        let edge = scc.starved_input(node).expect("every node of a dead SCC waits");
        walk.push(edge);
        node = edge.from;
    }
    let mut cycle = walk.split_off(seen_at[node].unwrap_or(0));
    cycle.reverse();
    cycle
}

fn detail(graph: &GraphData, scc: &Scc, cycle: &[&Edge]) -> String {
    let describe = |edge: &&Edge| {
        let (has, needs) = scc.fill(edge);
        format!("`{}` has {has} of {needs} items needed", graph.channel_name(edge.id))
    };
    let mut lines: Vec<String> = cycle.iter().take(MAX_NAMED).map(describe).collect();
    if cycle.len() > MAX_NAMED {
        lines.push(format!("{} more channels lack items", cycle.len() - MAX_NAMED));
    }
    let channel = if cycle.len() == 1 { "this channel" } else { "one of these channels" };
    format!("{}\n  help: give {channel} more initial items", lines.join(", "))
}
