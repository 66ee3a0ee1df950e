//! What a run has measured, as far as a plan uses it.

use std::time::Duration;

/// The measurements of a run from which [`Plan::with_profile`](crate::Plan::with_profile) makes the next plan: plain
/// data, by node and channel. A report makes one (`Report::profile`).
///
/// Entries that are missing count as zero, so the profile of another graph leads to a bad plan and never to a wrong
/// one.
#[derive(Clone, Default, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Profile {
    /// Wall time of the run.
    pub wall: Duration,
    /// The nodes, by id.
    pub nodes: Vec<NodeProfile>,
    /// The channels, by id.
    pub channels: Vec<ChannelProfile>,
}

/// The measurements of a node.
#[derive(Clone, Copy, Default, Debug, PartialEq, Eq)]
pub struct NodeProfile {
    /// Firings done.
    pub firings: u64,
    /// Time in the node's code, summed over all workers.
    pub busy: Duration,
}

/// The measurements of a channel.
#[derive(Clone, Copy, Default, Debug, PartialEq, Eq)]
pub struct ChannelProfile {
    /// Items published.
    pub items: u64,
}

impl Profile {
    /// The profile of a run that took `wall`.
    pub fn new(wall: Duration, nodes: Vec<NodeProfile>, channels: Vec<ChannelProfile>) -> Profile {
        Profile { wall, nodes, channels }
    }

    /// The busy time of a node, in nanoseconds; 0 if the profile lacks the node.
    pub(crate) fn busy_ns(&self, node: usize) -> u64 {
        let busy = self.nodes.get(node).map_or(Duration::ZERO, |node| node.busy);
        u64::try_from(busy.as_nanos()).unwrap_or(u64::MAX)
    }
}
