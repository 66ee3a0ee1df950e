//! Shares of the run's wall time, on which all thresholds are.

use super::Evidence;
use std::time::Duration;
use thalweg_graph::{Kind, NodeId};

/// The share of the workers' time that the operating system gave to other threads.
const PREEMPTED: f64 = 0.1;

impl Evidence<'_> {
    /// A time as a share of the wall time: 0 if the wall time is 0.
    pub(crate) fn share(&self, time: Duration) -> f64 {
        if self.wall().is_zero() { 0.0 } else { time.as_secs_f64() / self.wall().as_secs_f64() }
    }

    /// The share of the wall time for which a node was busy. Above 1 where several workers were in a parallel node.
    pub(crate) fn load(&self, node: NodeId) -> f64 {
        self.share(self.nodes()[node.index()].busy())
    }

    /// The maximum number of workers that fire a node at the same time, by the graph and by the plan. `None` if none limits it.
    pub(crate) fn worker_limit(&self, node: NodeId) -> Option<u32> {
        let of_graph = self.graph().node(node).workers();
        of_graph.into_iter().chain(self.replicas(node)).min()
    }

    /// The plan's limit on the workers of a node.
    pub(super) fn replicas(&self, node: NodeId) -> Option<u32> {
        self.plan()?.replicas().get(&node).copied()
    }

    /// Whether a node has a thread of its own: it is blocking, or the plan says so, as in a run of one to one.
    pub(crate) fn has_own_thread(&self, node: NodeId) -> bool {
        self.graph().node(node).blocking()
            || self.plan().is_some_and(|plan| plan.own_threads().contains(&node))
    }

    /// Whether a node does one firing at a time.
    pub(crate) fn is_serial(&self, node: NodeId) -> bool {
        self.graph().node(node).kind() != Kind::Parallel || self.worker_limit(node) == Some(1)
    }

    /// The busiest of the nodes that do one firing at a time. Not a blocking one: its busy time includes the time in which
    /// it was blocked.
    pub(super) fn busiest_serial(&self) -> Option<NodeId> {
        self.busiest(|node| self.is_serial(node) && !self.graph().node(node).blocking())
    }

    /// Whether the workers were preempted for a notable share of their time. The busy times of nodes include the
    /// preemption of their workers. So the node that is busy all the time is still what the run waits for, but its busy
    /// time is no limit of a run on a machine without other load.
    pub(super) fn is_preempted(&self) -> bool {
        self.breakdown()[4] >= PREEMPTED
    }
}
