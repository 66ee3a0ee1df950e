//! Segments: consecutive nodes for each worker, with balanced work.
//!
//! The nodes that workers run are cut, in the order of the data ([`order`]), into at most as many segments as there are
//! workers, so that the greatest work of a segment is as small as possible. These are the segments of AMPipe's
//! SEGRUNTIME (*Locality-Aware Concurrency Platforms*, chapter 4), which computes them by dynamic programming; we bisect
//! the greatest work, with one pass over the nodes for each probe. Parallel nodes weigh nothing, since any worker may run
//! them.

use super::Given;
use crate::Plan;
use std::collections::BTreeSet;
use thalweg_graph::{GraphData, Kind, NodeId};

/// The nodes that workers run, in the order of the data: every channel leads forward, except within a cycle.
pub(crate) fn order(graph: &GraphData, own_threads: &BTreeSet<NodeId>) -> Vec<NodeId> {
    let mut order = thalweg_analysis::topological_order(graph);
    order.retain(|node| !own_threads.contains(node));
    order
}

/// The segments of a run of several workers; none without a profile.
pub(super) fn decide(given: &Given<'_>, so_far: &Plan) -> Vec<Vec<NodeId>> {
    let Some(profile) = given.profile.filter(|_| so_far.threads > 1) else { return Vec::new() };
    let order = order(given.graph, &so_far.own_threads);
    let weight = |node: &NodeId| match given.graph.node(*node).kind {
        Kind::Parallel => 0,
        _ => u128::from(profile.busy_ns(node.index())),
    };
    let weights: Vec<u128> = order.iter().map(weight).collect();
    if weights.iter().sum::<u128>() == 0 {
        return Vec::new();
    }
    let most = least_maximum(&weights, so_far.threads);
    cut(&weights, most).map(|(from, to)| order[from..to].to_vec()).collect()
}

/// The least `most` for which [`cut`] makes at most `parts` segments.
fn least_maximum(weights: &[u128], parts: usize) -> u128 {
    let (mut low, mut high) = (weights.iter().copied().max().unwrap_or(0), weights.iter().sum());
    while low < high {
        let middle = low + (high - low) / 2;
        if cut(weights, middle).count() <= parts {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    low
}

/// Cuts the nodes into segments, from the front, each as long as its work is at most `most`. At least the work of any
/// node.
fn cut(weights: &[u128], most: u128) -> impl Iterator<Item = (usize, usize)> {
    let mut from = 0;
    std::iter::from_fn(move || {
        let start = from;
        let mut work = 0;
        while from < weights.len() && work + weights[from] <= most {
            work += weights[from];
            from += 1;
        }
        (from > start).then_some((start, from))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The least maximum by trying every cut.
    fn by_trial(weights: &[u128], parts: usize) -> u128 {
        let sum = weights.iter().sum();
        if parts <= 1 {
            return sum;
        }
        let first = |at: usize| weights[..at].iter().sum::<u128>().max(by_trial(&weights[at..], parts - 1));
        (0..=weights.len()).map(first).min().unwrap_or(sum)
    }

    proptest! {
        #[test]
        fn cuts_are_optimal_and_cover_all_nodes(
            weights in proptest::collection::vec(0u128..20, 0..9),
            parts in 1usize..5,
        ) {
            let most = least_maximum(&weights, parts);
            prop_assert_eq!(most, by_trial(&weights, parts));
            let cuts: Vec<(usize, usize)> = cut(&weights, most).collect();
            prop_assert!(cuts.len() <= parts);
            let mut ends = cuts.iter().map(|(_, to)| *to);
            let starts = cuts.iter().map(|(from, _)| *from);
            prop_assert!(starts.eq([0].into_iter().chain(ends.clone()).take(cuts.len())));
            prop_assert_eq!(ends.next_back().unwrap_or(0), weights.len());
        }
    }
}
