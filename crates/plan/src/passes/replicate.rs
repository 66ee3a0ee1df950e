//! The most workers of a parallel node, from its share of the work.
//!
//! A run takes at least as long as the work of its workers divided by their number, and as the busiest of their nodes
//! that is not parallel. In that time a parallel node keeps `busy / time` workers busy on average: the workers that it
//! *needs*. Further workers find nothing to claim there, and only move its data between caches.
//!
//! The limit is the need, rounded up, and one worker more, because firings vary. A node that needs a quarter of a
//! worker at most gets one: its channels hold at least two claims for each thread, so the other workers rarely wait for
//! it.

use super::{Given, divide};
use crate::{Plan, Units};
use std::collections::BTreeMap;
use thalweg_graph::{Kind, NodeId};

/// The need up to which one worker suffices: one in this many.
const IDLE_SHARE: u128 = 4;

/// The limits of the parallel nodes that cannot use all workers. Nodes without a profile have none.
pub(super) fn decide(given: &Given<'_>, so_far: &Plan) -> BTreeMap<NodeId, u32> {
    if let Some(units) = given.units {
        return of_units(given, units, so_far.threads);
    }
    let Some(profile) = given.profile else { return BTreeMap::new() };
    let (graph, threads) = (given.graph, so_far.threads as u128);
    let busy = |id: NodeId| u128::from(profile.busy_ns(id.index()));
    let is_parallel = |id: &NodeId| graph.node(*id).kind() == Kind::Parallel;
    // The busy time of a node with a thread of its own includes the time in which it was blocked.
    let shared = || graph.node_ids().filter(|id| !so_far.own_threads.contains(id));
    let work: u128 = shared().map(busy).sum();
    let longest = shared().filter(|id| !is_parallel(id)).map(busy).max().unwrap_or(0);
    let time = work.div_ceil(threads).max(longest);
    let limit = |id: NodeId| {
        let most = limit(busy(id), time)?;
        (most < threads).then_some((id, most as u32))
    };
    graph.node_ids().filter(is_parallel).filter_map(limit).collect()
}

/// The parallel nodes of a compiled graph: all workers where their segment has copies, and one elsewhere.
fn of_units(given: &Given<'_>, units: &Units, threads: usize) -> BTreeMap<NodeId, u32> {
    let mut replicas = BTreeMap::new();
    for divide::Segment { units: range, copied } in divide::segments(units, threads) {
        let nodes = divide::nodes(&units.all[range]).into_iter();
        let parallel = nodes.filter(|node| given.graph.node(*node).kind() == Kind::Parallel);
        replicas.extend(parallel.map(|node| (node, if copied { threads as u32 } else { 1 })));
    }
    replicas
}

/// The most workers of a node that is busy for `busy` of the `time`; `None` if it was never busy.
fn limit(busy: u128, time: u128) -> Option<u128> {
    match busy {
        0 => None,
        _ if busy * IDLE_SHARE <= time => Some(1),
        _ => Some(busy.div_ceil(time) + 1),
    }
}
