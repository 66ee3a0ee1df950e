//! How long nodes stay claimable without being activated, in decisions of all workers.
//!
//! A node's claimability changes only where the node or one of its neighbours changes, so each decision looks at these alone.

use crate::world::neighbours;
use thalweg_graph::{GraphData, NodeId};

#[derive(Debug)]
pub(crate) struct Waits {
    /// By node: the node and its neighbours.
    near: Vec<Vec<NodeId>>,
    /// By node: whether it is in `changed`.
    is_changed: Vec<bool>,
    /// Nodes whose claimability may have changed since the latest decision.
    changed: Vec<NodeId>,
    /// By node: the decision since which it waits.
    since: Vec<Option<u64>>,
    decisions: u64,
    longest: u64,
}

impl Waits {
    pub(crate) fn new(graph: &GraphData) -> Waits {
        let near = |node| neighbours(graph, node).into_iter().chain([node]).collect();
        Waits {
            near: graph.node_ids().map(near).collect(),
            is_changed: vec![true; graph.nodes().len()],
            changed: graph.node_ids().collect(),
            since: vec![None; graph.nodes().len()],
            decisions: 0,
            longest: 0,
        }
    }

    /// The node and its neighbours.
    pub(crate) fn near(&self, node: NodeId) -> &[NodeId] {
        &self.near[node.index()]
    }

    /// The node has changed, and with it perhaps whether its neighbours are claimable.
    pub(crate) fn change(&mut self, node: NodeId) {
        for i in 0..self.near[node.index()].len() {
            self.look_at(self.near[node.index()][i]);
        }
    }

    fn look_at(&mut self, node: NodeId) {
        if !std::mem::replace(&mut self.is_changed[node.index()], true) {
            self.changed.push(node);
        }
    }

    /// Counts a decision, which activates this node, if any.
    pub(crate) fn count(&mut self, activated: Option<NodeId>, claimable: impl Fn(NodeId) -> bool) {
        self.decisions += 1;
        activated.into_iter().for_each(|node| self.look_at(node));
        for node in std::mem::take(&mut self.changed) {
            self.is_changed[node.index()] = false;
            let waits = activated != Some(node) && claimable(node);
            let since = &mut self.since[node.index()];
            match (waits, *since) {
                (true, None) => *since = Some(self.decisions),
                (false, Some(first)) => {
                    self.longest = self.longest.max(self.decisions - first);
                    *since = None;
                }
                _ => {}
            }
        }
        // It may still be claimable at the next decision.
        activated.into_iter().for_each(|node| self.look_at(node));
    }

    /// The longest wait so far.
    pub(crate) fn longest(&self) -> u64 {
        let open = self.since.iter().flatten().map(|first| self.decisions - first + 1);
        open.max().unwrap_or(0).max(self.longest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shapes;

    #[test]
    fn a_wait_ends_with_an_activation() {
        let [first, second] = [NodeId(0), NodeId(1)];
        let mut waits = Waits::new(&shapes::chain(3, 1).graph);
        waits.count(Some(first), |_| false);
        waits.change(first);
        waits.count(Some(first), |node| node == second);
        waits.count(None, |node| node == second);
        assert_eq!(waits.longest(), 2);
        waits.count(Some(second), |node| node == second);
        assert_eq!(waits.longest(), 2);
        (0..4).for_each(|_| waits.count(None, |node| node == second));
        assert_eq!(waits.longest(), 4);
    }
}
