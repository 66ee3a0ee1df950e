//! A plan and the settings it is made from.

use crate::{size, threads};
use thalweg_graph::{ChannelId, GraphData};

/// The settings of a run that a user can make. The plan chooses those that are `None`.
#[derive(Clone, Default, Debug, PartialEq, Eq)]
pub struct Wishes {
    /// Number of workers. 0 counts as 1.
    pub threads: Option<usize>,
    /// Name of the scheduling policy.
    pub policy: Option<String>,
    /// The most bytes that all channels together may hold.
    pub budget: Option<usize>,
    /// Capacity, in items, of every channel that has none in the graph.
    pub capacity: Option<usize>,
    /// The most firings in a claim, for all nodes. 0 counts as 1.
    pub run: Option<usize>,
}

/// All decisions that a run needs in addition to the graph.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Plan {
    /// Capacity of each channel at the start, in items, by id. The runtime may raise it.
    pub capacities: Vec<usize>,
    /// The most firings in a claim of each node, by id. At least 1.
    pub run: Vec<usize>,
    /// Number of workers, at least 1.
    pub threads: usize,
    /// Name of the scheduling policy.
    pub policy: String,
    /// The most bytes that all channels together may hold. `None` is no limit.
    pub budget: Option<usize>,
    /// The user's capacities that were too small for a single firing, and were raised.
    pub raised: Vec<Raised>,
}

/// A capacity set by the user that was too small for a single firing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Raised {
    /// The channel.
    pub channel: ChannelId,
    /// The capacity that the user set, in items.
    pub asked: usize,
    /// The capacity in the plan, in items.
    pub given: usize,
}

impl Plan {
    /// Makes a plan that follows `wishes` and chooses everything that they leave open.
    pub fn new(graph: &GraphData, wishes: &Wishes) -> Plan {
        let threads = wishes.threads.unwrap_or_else(threads).max(1);
        let run: Vec<usize> = match wishes.run {
            Some(run) => vec![run.max(1); graph.nodes().len()],
            None => graph.nodes().iter().map(size::claim_length).collect(),
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
