//! The counts from which [`dead`](crate::liveness::dead) finds that a component of the graph is dead.
//!
//! The counts describe the graph as it was at the start of the run. They are computed when the first node dies, from
//! the graph alone, so whichever thread computes them gets the same numbers; from then on threads only decrement them.

use crate::net::topology::{Topology, has_loops, is_end};
use crate::sync::Ordering;
use std::sync::OnceLock;
use std::sync::atomic::AtomicUsize;
use thalweg_graph::{GraphData, NodeId};

/// Which nodes keep others alive.
#[derive(Debug)]
pub(crate) struct Live {
    /// By node: whether an end can be reached from it. Empty in a graph without loops, or without ends.
    pub(super) reaching: Box<[bool]>,
    /// By component: live nodes and channels to components that are alive.
    counts: OnceLock<Box<[AtomicUsize]>>,
}

impl Live {
    /// For the start of a run.
    pub(crate) fn new(graph: &GraphData) -> Live {
        let loops = has_loops(graph);
        let ends = graph.node_ids().filter(|node| loops && is_end(graph.node(*node)));
        Live { reaching: upstream(graph, ends.collect()).into(), counts: OnceLock::new() }
    }

    /// Whether the node is run for its side effects: the graph has ends, and none can be reached from this node.
    pub(crate) fn has_side_effects(&self, node: NodeId) -> bool {
        self.reaching.get(node.index()) == Some(&false)
    }

    /// By component, the counts. The caller decrements them, and reads 0 as: the component is dead.
    pub(super) fn counts(&self, topology: &Topology) -> &[AtomicUsize] {
        self.counts.get_or_init(|| {
            let components = topology.components();
            let counts: Box<[AtomicUsize]> = (0..components.len()).map(|_| AtomicUsize::new(0)).collect();
            let add = |node: NodeId| counts[components.of(node)].fetch_add(1, Ordering::Relaxed);
            let live = |node: &NodeId| self.has_side_effects(*node) || is_end(topology.graph.node(*node));
            topology.graph.node_ids().filter(live).for_each(|node| _ = add(node));
            for (from, to) in topology.graph.channel_ids().map(|channel| topology.ends(channel)) {
                if components.of(from) != components.of(to) {
                    add(from);
                }
            }
            counts
        })
    }
}

/// By node, whether one of `ends` can be reached from it; empty if there are no ends.
fn upstream(graph: &GraphData, ends: Vec<NodeId>) -> Vec<bool> {
    if ends.is_empty() {
        return Vec::new();
    }
    let (mut reaching, mut open) = (vec![false; graph.nodes().len()], ends);
    while let Some(node) = open.pop() {
        if !std::mem::replace(&mut reaching[node.index()], true) {
            let inputs = graph.node(node).inputs().iter().filter_map(|port| port.channel());
            open.extend(inputs.map(|id| graph.channel(id).from().0));
        }
    }
    reaching
}
