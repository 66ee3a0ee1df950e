//! Shares of the run's wall time, on which all thresholds are.

use crate::Report;
use std::time::Duration;
use thalweg_graph::{Kind, NodeId};

impl Report {
    /// A time as a share of the wall time: 0 if the wall time is 0.
    pub(crate) fn share(&self, time: Duration) -> f64 {
        if self.wall.is_zero() { 0.0 } else { time.as_secs_f64() / self.wall.as_secs_f64() }
    }

    /// The share of the wall time for which a node was busy. Above 1 where several workers were in a parallel node.
    pub(crate) fn load(&self, node: NodeId) -> f64 {
        self.share(self.nodes[node.index()].busy)
    }

    /// Whether a node does one firing at a time.
    pub(crate) fn is_serial(&self, node: NodeId) -> bool {
        let node = self.graph.node(node);
        node.kind != Kind::Parallel || node.workers == Some(1)
    }

    /// The busiest of the nodes on workers that do one firing at a time.
    pub(super) fn busiest_serial(&self) -> Option<NodeId> {
        self.busiest(|node| self.is_serial(node) && !self.graph.node(node).blocking)
    }
}
