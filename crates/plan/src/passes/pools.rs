//! The workers that serve one node each, under the policy [`POOLS`].
//!
//! A node that is not parallel gets one worker and a parallel node a *pool* of several, at most as many as may fire it at a time
//! (`Node::workers`). Nodes with a thread of their own get none. Workers are numbered in the order of the nodes, so the
//! number of workers of the run is their sum.
//!
//! Without a wish each parallel node gets an equal part of the threads that the other nodes leave, and at least one worker.

use super::Given;
use super::threads::MOST_THREADS;
use crate::Plan;
use std::collections::BTreeMap;
use thalweg_graph::{GraphData, Kind, NodeId};

/// The name of the policy under which each worker serves one node. The plan of such a run has a worker, or several, for each
/// node that workers run.
pub const POOLS: &str = "pools";

/// The workers of a run, those of parallel nodes, and the worker of each other node.
pub(super) type Decided = (usize, BTreeMap<NodeId, Vec<u32>>, BTreeMap<NodeId, u32>);

/// Decides by the wish for a number of workers, or by the threads that the plan has so far. Under another policy all stays as it is,
/// and in a compiled graph, whose nodes are not those of the engine.
pub(super) fn decide(given: &Given<'_>, so_far: &Plan) -> Decided {
    let (mut pools, mut affinity) = (BTreeMap::new(), BTreeMap::new());
    if !so_far.has_pools() || given.units.is_some() {
        return (so_far.threads, pools, affinity);
    }
    let wish = given.wishes.pools.map(|size| size.clamp(1, MOST_THREADS + 1));
    let size = wish.unwrap_or_else(|| share(given.graph, so_far).max(1)) as u32;
    let size_of = |node: NodeId| match given.graph.node(node) {
        data if data.kind() == Kind::Parallel => data.workers().map_or(size, |limit| size.min(limit.max(1))),
        _ => 1,
    };
    let threads = served(given.graph, so_far).map(|node| size_of(node) as usize).sum::<usize>().max(1);
    if threads > MOST_THREADS {
        return (threads, pools, affinity); // refused by `Plan::check_pools`
    }
    let mut next = 0;
    for node in served(given.graph, so_far) {
        let workers = next..next + size_of(node);
        next = workers.end;
        if given.graph.node(node).kind() == Kind::Parallel {
            pools.insert(node, workers.collect());
        } else {
            affinity.insert(node, workers.start);
        }
    }
    (threads, pools, affinity)
}

/// The workers for each parallel node: an equal part of the threads that one worker for each other node leaves.
fn share(graph: &GraphData, so_far: &Plan) -> usize {
    let is_parallel = |node: &NodeId| graph.node(*node).kind() == Kind::Parallel;
    let (parallel, others): (Vec<_>, Vec<_>) = served(graph, so_far).partition(is_parallel);
    so_far.threads.saturating_sub(others.len()) / parallel.len().max(1)
}

/// The nodes that workers run.
pub(crate) fn served<'a>(graph: &'a GraphData, plan: &'a Plan) -> impl Iterator<Item = NodeId> + 'a {
    graph.node_ids().filter(|node| !plan.own_threads.contains(node))
}
