//! What to tell of a dead part: one cycle of nodes that wait for each other.

use super::part::{Edge, Part};
use thalweg_graph::{Fault, GraphData};

/// Channels told of in one message; a cycle of a million nodes has as many.
const MOST_TOLD: usize = 8;

/// The fault of a part in which no node can fire.
pub(super) fn of(graph: &GraphData, part: &Part) -> Fault {
    let cycle = cycle(part);
    let name = |edge: &&Edge| graph.node(part.nodes[edge.from]).name.to_string();
    Fault::DeadCycle { nodes: cycle.iter().map(name).collect(), detail: detail(graph, part, &cycle) }
}

/// The channels of a cycle, each lacking items, in the order of the items' way.
fn cycle<'a>(part: &'a Part) -> Vec<&'a Edge> {
    let mut node = part.behind().expect("a dead part has a node that is behind");
    let mut seen_at = vec![None; part.nodes.len()];
    let mut walk: Vec<&Edge> = Vec::new();
    // Upstream from consumer to the producer it waits for: all wait, so some node comes again.
    while seen_at[node].is_none() {
        seen_at[node] = Some(walk.len());
        let edge = part.lacking(node).expect("in a dead part every node waits");
        walk.push(edge);
        node = edge.from;
    }
    let mut cycle = walk.split_off(seen_at[node].unwrap_or(0));
    cycle.reverse();
    cycle
}

fn detail(graph: &GraphData, part: &Part, cycle: &[&Edge]) -> String {
    let tell = |edge: &&Edge| {
        let (has, needs) = part.fill(edge);
        format!("`{}` has {has} of {needs} items needed", graph.channel_name(edge.id))
    };
    let mut told: Vec<String> = cycle.iter().take(MOST_TOLD).map(tell).collect();
    if cycle.len() > MOST_TOLD {
        told.push(format!("{} more lack items too", cycle.len() - MOST_TOLD));
    }
    let one = if cycle.len() == 1 { "it" } else { "one of them" };
    format!("{}; give {one} more initial items", told.join(", "))
}
