//! The worker of each node at the start of a run.

use crate::Plan;
use thalweg_graph::{GraphData, Kind, NodeId};

/// The entry of a node without a worker.
const NONE: u32 = u32::MAX;

/// The worker of each node at the start of a run, as far as a plan says: made by [`Plan::workers`].
#[derive(Clone, Default, Debug, PartialEq, Eq)]
pub struct Workers {
    /// By node; empty if no node has a worker.
    of: Vec<u32>,
}

impl Workers {
    /// The worker of a node; `None` if the plan does not say.
    pub fn of(&self, node: NodeId) -> Option<usize> {
        self.of.get(node.index()).filter(|worker| **worker != NONE).map(|worker| *worker as usize)
    }

    /// Whether no node has a worker.
    pub fn is_empty(&self) -> bool {
        self.of.is_empty()
    }
}

impl Plan {
    /// The workers that serve a node under the policy [`POOLS`](crate::POOLS), as far as the plan says: those of [`Plan::pools`], or
    /// the one of [`Plan::affinity`].
    pub fn servers(&self, node: NodeId) -> &[u32] {
        let one = || self.affinity.get(&node).map_or(&[][..], std::slice::from_ref);
        self.pools.get(&node).map_or_else(one, Vec::as_slice)
    }

    /// The worker of each node at the start: that of [`Plan::affinity`]. Where a segment or region has nodes without
    /// one, it is the worker of the first of its nodes that has one, or else the one whose number is that of the
    /// segment or region, in turn. A parallel node has none, and neither has one with a thread of its own. Takes time
    /// in proportion to the graph where the plan says anything, and else none.
    ///
    /// ```
    /// use thalweg_graph::{GraphData, Node};
    /// use thalweg_plan::{Plan, Wishes};
    ///
    /// let mut graph = GraphData::new();
    /// let (a, b) = (graph.add(Node::sequential("a")), graph.add(Node::sequential("b")));
    /// let mut plan = Plan::new(&graph, &Wishes::default().threads(2));
    /// assert!(plan.workers(&graph).is_empty());
    /// plan.affinity_mut().insert(b, 1);
    /// assert_eq!(plan.workers(&graph).of(b), Some(1));
    /// assert_eq!(plan.workers(&graph).of(a), None);
    /// ```
    pub fn workers(&self, graph: &GraphData) -> Workers {
        let mut workers = Workers::default();
        if self.affinity.is_empty() && self.segments.is_empty() && self.regions.is_empty() {
            return workers;
        }
        workers.of = vec![NONE; graph.nodes().len()];
        for (node, worker) in &self.affinity {
            workers.set(*node, *worker);
        }
        for sets in [&self.segments, &self.regions] {
            for (i, set) in sets.iter().enumerate() {
                let found = set.iter().find_map(|node| workers.of(*node));
                let worker = found.unwrap_or(i % self.threads.max(1));
                set.iter().for_each(|node| workers.set(*node, worker as u32));
            }
        }
        let free = |id: &NodeId| graph.node(*id).kind() == Kind::Parallel || self.own_threads.contains(id);
        graph.node_ids().filter(free).for_each(|id| workers.of[id.index()] = NONE);
        workers
    }
}

impl Workers {
    /// Sets the worker of a node that has none yet.
    fn set(&mut self, node: NodeId, worker: u32) {
        if let Some(entry) = self.of.get_mut(node.index()).filter(|entry| **entry == NONE) {
            *entry = worker;
        }
    }
}
