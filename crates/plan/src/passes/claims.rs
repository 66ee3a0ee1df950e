//! Claim lengths: the most firings in a claim of each node.

use super::Given;
use super::capacities::items_per_firing;
use thalweg_graph::{Item, Node};

/// The most items that a claim moves through a port by default. A claim costs tens of nanoseconds, so this amortises
/// the cost even for items that take a nanosecond each.
const CLAIM_ITEMS: usize = 512;
/// The most bytes that a claim moves through a port by default: a part of the first-level cache.
const CLAIM_BYTES: usize = 4 << 10;

/// The wish for all nodes, or else what each node's ports suggest. 1 in a compiled graph, where code makes no claims.
pub(super) fn decide(given: &Given<'_>) -> Vec<usize> {
    match given.wishes.claim_length.or(given.units.map(|_| 1)) {
        Some(firings) => vec![firings.max(1); given.graph.nodes().len()],
        None => given.graph.nodes().iter().map(claim_length).collect(),
    }
}

/// The most firings in a claim of `node`, by default.
fn claim_length(node: &Node) -> usize {
    let inputs = node.inputs.iter().map(|p| (p.item, items_per_firing(p.pop)));
    let outputs = node.outputs.iter().map(|p| (p.item, items_per_firing(p.push)));
    let ports = inputs.chain(outputs).filter(|(_, rate)| *rate > 0);
    ports.map(|(item, rate)| claim_items(item) / rate).min().unwrap_or(1).max(1)
}

fn claim_items(item: Item) -> usize {
    (CLAIM_BYTES / item.bytes.max(1)).clamp(1, CLAIM_ITEMS)
}
