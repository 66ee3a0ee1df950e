//! A plan and what it is made from.

use crate::{size, threads};
use thalweg_graph::{ChannelId, GraphData};

/// What a user asks of a run. Whatever is `None` the plan chooses.
#[derive(Clone, Default, Debug, PartialEq, Eq)]
pub struct Wishes {
    /// Number of workers; 0 counts as 1.
    pub threads: Option<usize>,
    /// Name of the scheduling policy.
    pub policy: Option<String>,
    /// Bytes that all channels together may hold.
    pub budget: Option<usize>,
    /// Capacity, in items, of every channel that the graph gives none.
    pub capacity: Option<usize>,
    /// Firings in a claim at most, for all nodes; 0 counts as 1.
    pub run: Option<usize>,
}

/// A decision for everything a run needs to know beyond the graph.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Plan {
    /// Capacity of each channel at the start, in items, by id. The runtime may let it grow.
    pub capacities: Vec<usize>,
    /// Firings in a claim at most, for each node, by id; at least 1.
    pub run: Vec<usize>,
    /// Number of workers, at least 1.
    pub threads: usize,
    /// Name of the scheduling policy.
    pub policy: String,
    /// Bytes that all channels together may hold, where there is a limit.
    pub budget: Option<usize>,
    /// Capacities that were asked for but too small for a single firing.
    pub raised: Vec<Raised>,
}

/// A capacity the user gave that one firing would not fit into.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Raised {
    /// The channel.
    pub channel: ChannelId,
    /// The capacity asked for, in items.
    pub asked: usize,
    /// The capacity given instead, in items.
    pub given: usize,
}

impl Plan {
    /// Decides what `wishes` leaves open.
    pub fn new(graph: &GraphData, wishes: &Wishes) -> Plan {
        let threads = wishes.threads.unwrap_or_else(threads).max(1);
        let run: Vec<usize> = match wishes.run {
            Some(run) => vec![run.max(1); graph.nodes().len()],
            None => graph.nodes().iter().map(size::run).collect(),
        };
        let sizes = size::capacities(graph, wishes, &run, threads);
        Plan {
            capacities: sizes.capacities,
            run,
            threads,
            policy: wishes.policy.clone().unwrap_or_else(|| "auto".to_owned()),
            budget: wishes.budget,
            raised: sizes.raised,
        }
    }
}
