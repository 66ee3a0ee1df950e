//! What is known of one worker, one node, one channel.

use std::time::Duration;
use thalweg_graph::ChannelId;

/// One worker thread over the whole run.
///
/// The five durations are the categories of DANBI's Figure 4 and do not overlap; together they are
/// the worker's life, [`WorkerReport::total`].
#[derive(Clone, Copy, Default, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct WorkerReport {
    /// Time in the code of nodes.
    pub app: Duration,
    /// Time moving items: claims and publications.
    pub queue: Duration,
    /// Time deciding what to do next.
    pub scheduler: Duration,
    /// Time with nothing to do, spinning or parked. (DANBI's stall is a wait for a turn to commit;
    /// no worker waits for its turn here, so what is left is having no work.)
    pub stall: Duration,
    /// Time the operating system kept the worker off its core though it wanted to run. (Time in
    /// the kernel on the worker's behalf counts where it was spent.)
    pub os: Duration,
    /// Activations of nodes, refused ones included.
    pub activations: u64,
    /// Activations that ended at once because another worker held the node.
    pub refused: u64,
    /// Nodes taken from the queues of other workers.
    pub steals: u64,
    /// Times the worker had nothing to do and looked for something for a while.
    pub spins: u64,
    /// Times it then went to sleep.
    pub parks: u64,
}

impl WorkerReport {
    /// All five categories in the order of DANBI's Figure 4: application, queue operations,
    /// scheduler, stall, operating system.
    pub fn categories(&self) -> [Duration; 5] {
        [self.app, self.queue, self.scheduler, self.stall, self.os]
    }

    /// The worker's whole life: the sum of the five categories.
    pub fn total(&self) -> Duration {
        self.categories().iter().sum()
    }
}

/// One node over the whole run.
#[derive(Clone, Copy, Default, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct NodeReport {
    /// Firings done.
    pub firings: u64,
    /// Activations, each of which did any number of firings.
    pub activations: u64,
    /// Time in the node's code, summed over all workers. For a `blocking` node this includes the
    /// time it waited for the outside world.
    pub busy: Duration,
    /// Activations by another worker than the one before, of a node that is one worker's at a time.
    /// Counted by policies that are told (`ws-cur`, `ws-last`, `partition`, and `auto` where there are processes).
    pub moves: u64,
}

/// One channel over the whole run.
#[derive(Clone, Copy, Default, Debug, PartialEq)]
#[non_exhaustive]
pub struct ChannelReport {
    /// Items put into the channel, initial items not included.
    pub items: u64,
    /// Bytes of these items: by the user's weight where there is one, else by the size of the type.
    pub bytes: u64,
    /// Capacity at the end, in items.
    pub capacity: usize,
    /// Highest occupancy seen, in items. Sampled, so a lower bound of the true peak.
    pub peak: f64,
    /// Mean occupancy over the samples, in items.
    pub mean: f64,
    /// Items still there at the end, never consumed.
    pub leftover: u64,
    /// Items sent by a process to a node that another worker had run last: traffic between cores.
    /// Counted as [`NodeReport::moves`] is.
    pub remote: u64,
}

/// A channel that was given more room because a waiting cycle went through it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Growth {
    /// The channel.
    pub channel: ChannelId,
    /// Which of its limits grew.
    pub limit: Limit,
    /// The limit before, in its own unit.
    pub from: usize,
    /// The limit after.
    pub to: usize,
}

/// What a channel holds only so much of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// Its capacity in items.
    Items,
    /// The bytes that its items weigh.
    Bytes,
}

impl std::fmt::Display for Limit {
    /// The unit: `items` or `bytes`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(match self {
            Limit::Items => "items",
            Limit::Bytes => "bytes",
        })
    }
}
