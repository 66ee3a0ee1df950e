//! The worker of each node at the start of the run: that of its segment.

use super::Given;
use crate::{Division, Plan};
use std::collections::BTreeMap;
use thalweg_graph::{Kind, NodeId};

/// Each segment's number is that of its worker. A parallel node belongs to no worker.
pub(super) fn decide(given: &Given<'_>, so_far: &Plan) -> BTreeMap<NodeId, u32> {
    // Any worker may take a segment of a compiled graph, unless the division gives each worker one.
    if given.units.is_some_and(|units| units.division != Division::Pipeline) {
        return BTreeMap::new();
    }
    let bound = |node: &NodeId| given.graph.node(*node).kind() != Kind::Parallel;
    let segments = so_far.segments.iter().enumerate();
    segments.flat_map(|(i, nodes)| nodes.iter().copied().filter(bound).map(move |n| (n, i as u32))).collect()
}
