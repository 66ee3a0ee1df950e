//! What comes of a virtual run.

use crate::Model;
use std::fmt;
use thalweg_graph::NodeId;
use thalweg_policy::record::Entry;

/// A run that came to its end.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Report {
    /// Ticks from the start to the last publication.
    pub makespan: u64,
    /// Ticks spent in firings, by worker.
    pub busy: Vec<u64>,
    /// Ticks spent on claims, by worker.
    pub overhead: Vec<u64>,
    /// Firings, by node.
    pub firings: Vec<u64>,
    /// Activations that fired at least once, by node.
    pub activations: Vec<u64>,
    /// Claims that fired nothing.
    pub fruitless: u64,
    /// Every question and answer, in order of time.
    pub decisions: Vec<Entry>,
    /// The most decisions made, by all workers, while a node was claimable all the time and not
    /// activated.
    pub longest_wait: u64,
}

impl Report {
    /// The shortest possible makespan over the real one. The bound is the larger of all work
    /// split evenly and the work of the busiest sequential node.
    pub fn efficiency(&self, model: &Model) -> f64 {
        let works = model.graph.node_ids().map(|n| (n, self.work(model, n)));
        let longest = works.filter(|(n, _)| !model.is_parallel(*n)).map(|(_, work)| work).max();
        let even = self.busy.iter().sum::<u64>().div_ceil(self.busy.len() as u64);
        even.max(longest.unwrap_or(0)) as f64 / self.makespan.max(1) as f64
    }

    fn work(&self, model: &Model, node: NodeId) -> u64 {
        let cost = model.nodes[node.index()].cost;
        (0..self.firings[node.index()]).map(|ticket| cost.at(ticket)).sum()
    }

    /// Mean firings of an activation.
    pub fn mean_activation(&self) -> f64 {
        let total = |counts: &[u64]| counts.iter().sum::<u64>() as f64;
        total(&self.firings) / total(&self.activations).max(1.0)
    }
}

/// A run that did not come to its end.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Failure {
    /// All workers are idle though these nodes are claimable: the policy broke its law.
    Stalled {
        /// The nodes.
        claimable: Vec<NodeId>,
    },
    /// Nothing is claimable, yet these nodes have not ended: the model's channels are too small,
    /// or it waits for itself.
    Deadlock {
        /// The nodes.
        waiting: Vec<NodeId>,
    },
    /// The policy named a node that is not in the graph.
    NoSuchNode {
        /// The name.
        node: NodeId,
    },
    /// The run did not end within [`Settings::steps`](crate::Settings::steps).
    TooLong,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Stalled { claimable } => write!(f, "all workers idle, but claimable: {claimable:?}"),
            Failure::Deadlock { waiting } => write!(f, "nothing claimable, not ended: {waiting:?}"),
            Failure::NoSuchNode { node } => write!(f, "there is no node {node:?}"),
            Failure::TooLong => write!(f, "the run did not end within its steps"),
        }
    }
}

impl std::error::Error for Failure {}
