//! Regions to fuse: sets of kernels inside a segment that channels of static rates join.
//!
//! A back end that generates code runs a region as one loop. The engine cannot fuse closures: it keeps the nodes of a
//! region on one worker. A parallel node with more than one replica is in no region, since fusion would take its
//! parallelism away.

use super::Given;
use super::divide::parts;
use crate::Plan;
use thalweg_analysis::regions_through;
use thalweg_graph::{ChannelId, Kind, NodeId};

/// The regions of at least two nodes inside the segments, in order of their first nodes.
pub(super) fn decide(given: &Given<'_>, so_far: &Plan) -> Vec<Vec<NodeId>> {
    // The units of a compiled graph say what is fused.
    if so_far.segments.is_empty() || given.units.is_some() {
        return Vec::new();
    }
    let mut part = parts(given.graph.nodes().len(), &so_far.segments);
    let is_replicated = |id: &NodeId| {
        given.graph.node(*id).kind() == Kind::Parallel && so_far.replicas.get(id).is_none_or(|most| *most > 1)
    };
    given.graph.node_ids().filter(is_replicated).for_each(|id| part[id.index()] = None);
    let inside = |id: ChannelId| {
        let channel = given.graph.channel(id);
        let (from, to) = (part[channel.from().0.index()], part[channel.to().0.index()]);
        from.is_some() && from == to
    };
    let regions = regions_through(given.graph, inside).into_iter().map(|region| region.nodes);
    let mut regions: Vec<Vec<NodeId>> = regions.filter(|nodes| nodes.len() > 1).collect();
    regions.sort_unstable_by_key(|nodes| nodes[0]);
    regions
}
