//! The measurements of one worker, one node and one channel.

use crate::{Counts, Distribution, NodeWaits};
use std::time::Duration;
use thalweg_graph::ChannelId;

/// The measurements of one worker over the whole run.
///
/// The five durations are the categories of its time ([`WorkerReport::CATEGORIES`]). They do not overlap, and their
/// sum ([`WorkerReport::total`]) is the worker's lifetime.
///
/// [`WorkerReport::with_kernel`] has the categories of DANBI's Figure 4, which differ.
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
    /// Time in which the worker had work but did not run: the operating system ran other threads, or the code of a node
    /// blocked, in a sleep or a read for example. (Processor time in system calls counts in the category that made the
    /// call.)
    pub preempted: Duration,
    /// Activations of nodes, including refused ones.
    pub activations: u64,
    /// Activations that ended at once because another worker held the node.
    pub refused: u64,
    /// The part of this time that the operating system spent in its kernel for the worker's thread, in system calls
    /// and interrupts: DANBI's category *OS kernel*. It overlaps the five categories. Zero where the operating system
    /// does not report it. The operating system counts it in ticks of up to 10 ms, so it is 0 in many short runs.
    pub kernel: Duration,
    /// Tries to steal a node from the queue of another worker.
    pub steal_attempts: u64,
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

    /// The names of the categories of [`WorkerReport::with_kernel`].
    pub const WITH_KERNEL: [&'static str; 5] = ["application", "queue", "scheduler", "stall", "OS kernel"];

    /// The time in the five categories of DANBI's Figure 4, in the order of [`WorkerReport::WITH_KERNEL`].
    ///
    /// Its *stall* is the time in which a thread waits for its turn to commit. It is 0 by construction here: a worker
    /// that cannot commit leaves its ticket in the reorder window. The kernel's time is also part of the others. What
    /// has no name there is missing: `idle` and `preempted`.
    pub fn with_kernel(&self) -> [Duration; 5] {
        [self.application, self.queue, self.scheduler, Duration::ZERO, self.kernel]
    }

    /// The worker's lifetime: the sum of the five categories.
    pub fn total(&self) -> Duration {
        self.categories().iter().sum()
    }
}

/// The measurements of one node over the whole run.
#[derive(Clone, Default, Debug, PartialEq)]
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
    /// The times for which the node waited for something other than one channel. [`Report::waits`](crate::Report::waits)
    /// has all its waits.
    pub other_waits: NodeWaits,
    /// How long its activations and firings took. `None` if none was measured; the runtime measures the first 16,384
    /// nodes of a graph.
    pub service: Option<Box<Service>>,
    /// What the parallel loops and task graphs of its firings counted, by member. `None` if it executed none.
    pub jobs: Option<Box<Counts>>,
}

/// The service times of a node.
#[derive(Clone, Default, Debug, PartialEq)]
#[non_exhaustive]
pub struct Service {
    /// The time of an activation. All long activations are measured, and a sample of the short ones.
    pub activation: Distribution,
    /// The time of a firing, of a sample of them. Of a sequential node single firings are measured; of a parallel
    /// node whole claims, and of a process whole activations, each of which counts as that many firings of its mean.
    pub firing: Distribution,
}

impl NodeReport {
    /// The mean time of a firing: the busy time by the number of firings, of all of them and not of a sample. `None` if
    /// there was none.
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
    /// Maximum number of bytes that the channel has held, by the user's weight function; 0 if the items are not weighed.
    pub peak_bytes: u64,
    /// Capacity at the end of the run, in items.
    pub capacity: usize,
    /// Highest occupancy sampled, in items: a lower bound of the true peak. Finite, and 0 without samples.
    pub peak: f64,
    /// Mean occupancy over the samples, in items. Finite, and 0 without samples.
    pub mean: f64,
    /// Items that were still in the channel at the end of the run.
    pub leftover: u64,
    /// Items that another worker consumed than the one that pushed them: traffic between cores. If an end of the channel is a
    /// process: items that were sent to a node that another worker had activated last, counted under the same policies as
    /// [`NodeReport::moves`].
    pub remote: u64,
    /// The time for which the consumer waited for items of this channel: its producer blocked it. See
    /// [`Report::waits`](crate::Report::waits).
    pub consumer_waited: Duration,
    /// The time for which the producer waited for room in this channel: its consumer blocked it.
    pub producer_waited: Duration,
}

impl ChannelReport {
    /// The share of the items that moved between workers: [`ChannelReport::remote`] by [`ChannelReport::items`], at most 1.
    /// `None` without items.
    ///
    /// ```
    /// use thalweg_trace::ChannelReport;
    ///
    /// let mut channel = ChannelReport::default();
    /// (channel.items, channel.bytes, channel.remote) = (400_000, 40_000_000, 300_000);
    /// assert_eq!(channel.remote_share(), Some(0.75));
    /// assert_eq!(channel.remote_bytes(), 30_000_000);
    /// ```
    pub fn remote_share(&self) -> Option<f64> {
        (self.items > 0).then(|| self.remote.min(self.items) as f64 / self.items as f64)
    }

    /// The bytes of the items that moved between workers, as if all items of the channel had the same size. Rounded down.
    pub fn remote_bytes(&self) -> u64 {
        let remote = u128::from(self.remote.min(self.items));
        let crossed = u128::from(self.bytes) * remote / u128::from(self.items.max(1));
        u64::try_from(crossed).unwrap_or(self.bytes)
    }
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
    /// The time since the start of the run.
    pub at: Duration,
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
