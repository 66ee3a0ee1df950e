//! Results of a run: a report, or a failure.

use crate::Model;
use crate::caches::Misses;
use std::fmt;
use thalweg_graph::NodeId;
use thalweg_policy::record::Entry;

/// The report of a run in which every node ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Report {
    /// Ticks from the start to the last publication.
    pub makespan: u64,
    /// By worker: ticks spent in firings, and in their misses.
    pub busy: Vec<u64>,
    /// By worker: misses, if the settings have caches.
    pub misses: Vec<Misses>,
    /// By worker: ticks spent on claims.
    pub overhead: Vec<u64>,
    /// By worker: ticks in which the worker had only firings whose turn to publish it was not.
    pub stall: Vec<u64>,
    /// By node: firings.
    pub firings: Vec<u64>,
    /// By node: activations that fired at least once.
    pub activations: Vec<u64>,
    /// Claims that fired nothing.
    pub fruitless: u64,
    /// By channel: items that another worker consumed than the one that pushed them. Items that no worker pushed count.
    pub remote: Vec<u64>,
    /// Every decision, in order of time.
    pub decisions: Vec<Entry>,
    /// The maximum number of decisions, of all workers, during which a node stayed claimable without being activated.
    pub longest_wait: u64,
}

impl Report {
    /// The ratio of the shortest possible makespan to the actual one. The shortest possible makespan is the maximum
    /// of the evenly divided work and the work of the busiest sequential node.
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

    /// The mean number of firings of an activation.
    pub fn mean_activation(&self) -> f64 {
        let total = |counts: &[u64]| counts.iter().sum::<u64>() as f64;
        total(&self.firings) / total(&self.activations).max(1.0)
    }
}

/// Why a run did not end.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Failure {
    /// All workers are idle although these nodes are claimable: the policy violates the liveness law.
    Stalled {
        /// The nodes.
        claimable: Vec<NodeId>,
    },
    /// No node is claimable, and these nodes have not ended: the channels of the model are too small, or it
    /// deadlocks.
    Deadlock {
        /// The nodes.
        waiting: Vec<NodeId>,
    },
    /// The policy named a node that is not in the graph.
    NoSuchNode {
        /// The node.
        node: NodeId,
    },
    /// The run did not end within [`Settings::steps`](crate::Settings::steps).
    TooLong,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Stalled { claimable } => {
                write!(f, "all workers are idle, but these nodes are claimable: {claimable:?}")
            }
            Failure::Deadlock { waiting } => {
                write!(f, "no node is claimable, and these have not ended: {waiting:?}")
            }
            Failure::NoSuchNode { node } => {
                write!(f, "the policy activated {node:?}, which is not in the graph")
            }
            Failure::TooLong => write!(f, "the run did not end within its maximum number of events"),
        }
    }
}

impl std::error::Error for Failure {}
