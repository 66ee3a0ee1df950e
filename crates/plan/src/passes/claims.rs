//! Claim lengths: the most firings in a claim of each node.

use super::Given;
use super::cache::first_level;
use super::capacities::items_per_firing;
use thalweg_graph::{Item, Node};

/// The most items that a claim moves through a port by default. A claim costs tens of nanoseconds, so this amortises
/// the cost even for items that take a nanosecond each.
const CLAIM_ITEMS: usize = 512;
/// The part of the first-level cache that a claim moves through a port by default, as a divisor: 4 KiB of 32.
const CACHE_PARTS: usize = 8;

/// The wish for all nodes, or else what each node's ports suggest. 1 in a compiled graph, where code makes no claims.
pub(super) fn decide(given: &Given<'_>) -> Vec<usize> {
    match given.wishes.claim_length.or(given.units.map(|_| 1)) {
        Some(firings) => vec![firings.max(1); given.graph.nodes().len()],
        None => {
            let bytes = first_level(given.wishes) / CACHE_PARTS;
            given.graph.nodes().iter().map(|node| claim_length(node, bytes)).collect()
        }
    }
}

/// The most firings in a claim of `node`, by default: those that move at most `bytes` through a port.
fn claim_length(node: &Node, bytes: usize) -> usize {
    let inputs = node.inputs().iter().map(|p| (p.item(), items_per_firing(p.pop())));
    let outputs = node.outputs().iter().map(|p| (p.item(), items_per_firing(p.push())));
    let ports = inputs.chain(outputs).filter(|(_, rate)| *rate > 0);
    ports.map(|(item, rate)| claim_items(item, bytes) / rate).min().unwrap_or(1).max(1)
}

fn claim_items(item: Item, bytes: usize) -> usize {
    (bytes / item.bytes().max(1)).clamp(1, CLAIM_ITEMS)
}
