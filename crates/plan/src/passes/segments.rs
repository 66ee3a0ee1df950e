//! Segments: consecutive nodes for each worker, with balanced work.
//!
//! The nodes that workers run are cut, in the order of the data ([`order`]), into at most as many segments as there are
//! workers, so that the greatest work of a segment is as small as possible ([`balance`](super::balance)). Parallel nodes
//! weigh nothing, since any worker may run them. In a compiled graph the segments are those of its units
//! ([`divide`](super::divide)).

use super::{Given, balance, divide};
use crate::Plan;
use std::collections::BTreeSet;
use thalweg_graph::{GraphData, Kind, NodeId};

/// The nodes that workers run, in the order of the data: every channel leads forward, except within a cycle.
fn order(graph: &GraphData, own_threads: &BTreeSet<NodeId>) -> Vec<NodeId> {
    let mut order = thalweg_analysis::topological_order(graph);
    order.retain(|node| !own_threads.contains(node));
    order
}

/// The segments of a run of several workers; none without a profile or units.
pub(super) fn decide(given: &Given<'_>, so_far: &Plan) -> Vec<Vec<NodeId>> {
    if let Some(units) = given.units {
        let segments = divide::segments(units, so_far.threads).into_iter();
        return segments.map(|segment| divide::nodes(&units.all[segment.units])).collect();
    }
    let Some(profile) = given.profile.filter(|_| so_far.threads > 1) else { return Vec::new() };
    let order = order(given.graph, &so_far.own_threads);
    let weight = |node: &NodeId| match given.graph.node(*node).kind() {
        Kind::Parallel => 0,
        _ => u128::from(profile.busy_ns(node.index())),
    };
    let weights: Vec<u128> = order.iter().map(weight).collect();
    if weights.iter().sum::<u128>() == 0 {
        return Vec::new();
    }
    balance::balanced(&weights, so_far.threads).map(|piece| order[piece].to_vec()).collect()
}
