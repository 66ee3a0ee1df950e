//! The measurements of one worker, one node and one channel.

use std::time::Duration;
use thalweg_graph::ChannelId;

/// The measurements of one worker over the whole run.
///
/// The five durations are the categories of its time ([`WorkerReport::CATEGORIES`]). They do not overlap, and their
/// sum ([`WorkerReport::total`]) is the worker's lifetime.
///
/// DANBI's Figure 4 has the category *stall* where this has `idle`. Its stall is the time in which a worker waits for
/// its ticket before it may commit. Here that time is 0 by construction, because no worker waits for a ticket; so
/// only the time without work remains.
#[derive(Clone, Copy, Default, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct WorkerReport {
    /// Time in the code of nodes.
    pub application: Duration,
    /// Time in claims and publications of items.
    pub queue: Duration,
    /// Time in the policy, choosing the next node.
    pub scheduler: Duration,
    /// Time without work, spinning or parked.
    pub idle: Duration,
    /// Time in which the worker was runnable but the operating system did not run it. (Time in system calls counts
    /// in the category that made the call.)
    pub preempted: Duration,
    /// Activations of nodes, including refused ones.
    pub activations: u64,
    /// Activations that ended at once because another worker held the node.
    pub refused: u64,
    /// Nodes stolen from the queues of other workers.
    pub steals: u64,
    /// Times that the worker had no work and began to spin.
    pub spins: u64,
    /// Times that the worker found no work while spinning and parked.
    pub parks: u64,
}

impl WorkerReport {
    /// The names of the categories of time, in the order of [`WorkerReport::categories`] and
    /// [`Report::breakdown`](crate::Report::breakdown).
    pub const CATEGORIES: [&'static str; 5] = ["application", "queue", "scheduler", "idle", "preempted"];

    /// The five categories in the order of [`WorkerReport::CATEGORIES`].
    pub fn categories(&self) -> [Duration; 5] {
        [self.application, self.queue, self.scheduler, self.idle, self.preempted]
    }

    /// The worker's lifetime: the sum of the five categories.
    pub fn total(&self) -> Duration {
        self.categories().iter().sum()
    }
}

/// The measurements of one node over the whole run.
#[derive(Clone, Copy, Default, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct NodeReport {
    /// Firings done.
    pub firings: u64,
    /// Activations. One activation does any number of firings.
    pub activations: u64,
    /// Time in the node's code, summed over all workers. For a `blocking` node this includes the time in which it
    /// was blocked.
    pub busy: Duration,
    /// Migrations of a sequential node or process: activations by another worker than the previous one. Counted
    /// only under policies that use notifications (`ws-cur`, `ws-last`, `partition`, and `auto` for graphs with
    /// processes).
    pub moves: u64,
}

impl NodeReport {
    /// The mean time of a firing. `None` if there was none.
    pub fn per_firing(&self) -> Option<Duration> {
        (self.firings > 0).then(|| self.busy.div_f64(self.firings as f64))
    }
}

/// The measurements of one channel over the whole run.
#[derive(Clone, Copy, Default, Debug, PartialEq)]
#[non_exhaustive]
pub struct ChannelReport {
    /// Items pushed to the channel, without initial items.
    pub items: u64,
    /// Bytes of these items, by the user's weight function if there is one, otherwise by the size of the type.
    pub bytes: u64,
    /// Capacity at the end of the run, in items.
    pub capacity: usize,
    /// Highest occupancy sampled, in items: a lower bound of the true peak. Finite, and 0 without samples.
    pub peak: f64,
    /// Mean occupancy over the samples, in items. Finite, and 0 without samples.
    pub mean: f64,
    /// Items that were still in the channel at the end of the run.
    pub leftover: u64,
    /// Items that a process sent to a node that another worker had activated last: traffic between cores.
    /// Counted under the same policies as [`NodeReport::moves`].
    pub remote: u64,
}

/// A limit of a channel that the runtime raised to resolve a deadlock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Growth {
    /// The channel.
    pub channel: ChannelId,
    /// The limit that was raised.
    pub limit: Limit,
    /// The old limit, in its unit.
    pub from: usize,
    /// The new limit, in its unit.
    pub to: usize,
}

/// A limit on the contents of a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// The capacity in items.
    Items,
    /// The limit on the bytes of the items, by the user's weight function.
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
