//! The measurements of one worker, one node and one channel.

use crate::{Counts, Distribution, NodeWaits};
use std::time::Duration;
use thalweg_graph::{ChannelId, data};

data! {
    /// The measurements of one worker over the whole run.
    ///
    /// The five durations are the categories of its time ([`WorkerReport::CATEGORIES`]). They do not overlap, and their
    /// sum ([`WorkerReport::total`]) is the worker's lifetime.
    ///
    /// [`WorkerReport::with_kernel`] has the categories of DANBI's Figure 4, which differ.
    #[derive(Clone, Copy, Default, Debug, PartialEq, Eq)]
    pub struct WorkerReport {
        /// Time in the code of nodes.
        copy application: Duration, application_mut;
        /// Time in claims and publications of items, with the waits of firings for their tickets ([`WorkerReport::stall`]).
        copy queue: Duration, queue_mut;
        /// Time in the policy, choosing the next node.
        copy scheduler: Duration, scheduler_mut;
        /// Time without work, spinning or parked.
        copy idle: Duration, idle_mut;
        /// Time in which the worker had work but did not run: the operating system ran other threads, or the code of a node
        /// blocked, in a sleep or a read for example. (Processor time in system calls counts in the category that made the
        /// call.)
        copy preempted: Duration, preempted_mut;
        /// Activations of nodes, including refused ones.
        copy activations: u64, activations_mut;
        /// Activations that ended at once because another worker held the node.
        copy refused: u64, refused_mut;
        /// The part of this time that the operating system spent in its kernel for the worker's thread, in system calls
        /// and interrupts: DANBI's category *OS kernel*. It overlaps the five categories. Zero where the operating system
        /// does not report it. The operating system counts it in ticks of up to 10 ms, so it is 0 in many short runs.
        copy kernel: Duration, kernel_mut;
        /// The part of `scheduler` in tries to steal from the queues of other workers. Those of a worker without work are a part
        /// of `idle`, and are not counted here.
        copy stealing: Duration, stealing_mut;
        /// The part of `queue` in which the worker had only firings whose turn to publish it was not: DANBI's category *stall*.
        /// Zero unless the run's options let firings wait for their tickets, since a worker then leaves a firing that cannot
        /// be published yet, and goes on.
        copy stall: Duration, stall_mut;
        /// Tries to steal a node from the queue of another worker.
        copy steal_attempts: u64, steal_attempts_mut;
        /// Nodes stolen from the queues of other workers.
        copy steals: u64, steals_mut;
        /// Times that the worker had no work and began to spin.
        copy spins: u64, spins_mut;
        /// Times that the worker found no work while spinning and parked.
        copy parks: u64, parks_mut;
    }
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
    /// Its *queue* is without the *stall*, the time in which a worker waits for its turn to publish ([`WorkerReport::stall`]).
    /// The kernel's time is also part of the others. What has no name there is missing: `idle` and `preempted`.
    pub fn with_kernel(&self) -> [Duration; 5] {
        [self.application, self.queue.saturating_sub(self.stall), self.scheduler, self.stall, self.kernel]
    }

    /// The worker's lifetime: the sum of the five categories.
    pub fn total(&self) -> Duration {
        self.categories().iter().sum()
    }
}

data! {
    /// How the firings of a run have waited for their tickets, where its options asked for that.
    #[derive(Clone, Copy, Default, Debug, PartialEq)]
    pub struct TicketReport {
        /// Waits: each is an exchange of a firing whose turn it is not for another one, or a second look at it. In a dilated run
        /// as many as the paper's runtime would have made in the time.
        copy waits: u64, waits_mut;
        /// Firings that were suspended, since an output was full.
        copy suspensions: u64, suspensions_mut;
        /// The mean number of workers and suspended firings together, whenever a firing was suspended: the user-level threads of
        /// DANBI's Figure 6. The number of workers if none was.
        copy mean_under_way: f64, mean_under_way_mut;
        /// The maximum number of workers and suspended firings together.
        copy max_under_way: u64, max_under_way_mut;
    }
}

data! {
    /// The measurements of one node over the whole run.
    #[derive(Clone, Default, Debug, PartialEq)]
    pub struct NodeReport {
        /// Firings done.
        copy firings: u64, firings_mut;
        /// Activations. One activation does any number of firings.
        copy activations: u64, activations_mut;
        /// Time in the node's code, summed over all workers. For a `blocking` node this includes the time in which it
        /// was blocked.
        copy busy: Duration, busy_mut;
        /// Migrations of a sequential node or process: activations by another worker than the previous one. Counted
        /// only under policies that use notifications (`ws-cur`, `ws-last`, `partition`, and `auto` for graphs with
        /// processes).
        copy moves: u64, moves_mut;
        /// The times for which the node waited for something other than one channel. [`Report::waits`](crate::Report::waits)
        /// has all its waits.
        copy other_waits: NodeWaits, other_waits_mut;
        /// How long its activations and firings took. `None` if none was measured; the runtime measures the first 16,384
        /// nodes of a graph.
        option service: Option<Box<Service>> => Option<&Service>, service_mut;
        /// What the parallel loops and task graphs of its firings counted, by member. `None` if it executed none.
        option jobs: Option<Box<Counts>> => Option<&Counts>, jobs_mut;
    }
}

data! {
    /// The service times of a node.
    #[derive(Clone, Default, Debug, PartialEq)]
    pub struct Service {
        /// The time of an activation. All long activations are measured, and a sample of the short ones.
        view activation: Distribution => &Distribution, activation_mut;
        /// The time of a firing, of a sample of them. Of a sequential node single firings are measured; of a parallel
        /// node whole claims, and of a process whole activations, each of which counts as that many firings of its mean.
        view firing: Distribution => &Distribution, firing_mut;
    }
}

impl NodeReport {
    /// The mean time of a firing: the busy time by the number of firings, of all of them and not of a sample. `None` if
    /// there was none.
    pub fn per_firing(&self) -> Option<Duration> {
        (self.firings > 0).then(|| self.busy.div_f64(self.firings as f64))
    }
}

data! {
    /// The measurements of one channel over the whole run.
    #[derive(Clone, Copy, Default, Debug, PartialEq)]
    pub struct ChannelReport {
        /// Items pushed to the channel, without initial items.
        copy items: u64, items_mut;
        /// Bytes of these items, by the user's weight function if there is one, otherwise by the size of the type.
        copy bytes: u64, bytes_mut;
        /// Maximum number of bytes that the channel has held, by the user's weight function; 0 if the items are not weighed.
        copy peak_bytes: u64, peak_bytes_mut;
        /// Capacity at the end of the run, in items.
        copy capacity: usize, capacity_mut;
        /// Highest occupancy seen by the sample, in items: a lower bound of the true peak. Finite; `None` without samples.
        copy peak: Option<f64>, peak_mut;
        /// Mean occupancy over time, in items, those of firings under way included: a sample of the channel's changes, each with
        /// the time to the next. Finite; `None` without samples, as in a run of a few activations.
        copy mean: Option<f64>, mean_mut;
        /// Items that were still in the channel at the end of the run.
        copy leftover: u64, leftover_mut;
        /// Items that another worker consumed than the one that pushed them: traffic between cores. If an end of the channel is a
        /// process: items that were sent to a node that another worker had activated last, counted under the same policies as
        /// [`NodeReport::moves`].
        copy remote: u64, remote_mut;
        /// The time for which the consumer waited for items of this channel: its producer blocked it. See
        /// [`Report::waits`](crate::Report::waits).
        copy consumer_waited: Duration, consumer_waited_mut;
        /// The time for which the producer waited for room in this channel: its consumer blocked it.
        copy producer_waited: Duration, producer_waited_mut;
    }
}

impl ChannelReport {
    /// The share of the items that moved between workers: [`ChannelReport::remote`] by [`ChannelReport::items`], at most 1.
    /// `None` without items.
    ///
    /// ```
    /// use thalweg_trace::ChannelReport;
    ///
    /// let mut channel = ChannelReport::default();
    /// (*channel.items_mut(), *channel.bytes_mut(), *channel.remote_mut()) = (400_000, 40_000_000, 300_000);
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

data! {
    /// A limit of a channel that the runtime raised to resolve a deadlock.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct Growth {
        /// The channel.
        copy channel: ChannelId;
        /// The limit that was raised.
        copy limit: Limit;
        /// The old limit, in its unit.
        copy from: usize;
        /// The new limit, in its unit.
        copy to: usize;
        /// The time since the start of the run.
        copy at: Duration;
    }
}

impl Growth {
    /// A limit of a channel that was raised from one number to another, this long after the start of the run.
    pub fn new(channel: ChannelId, limit: Limit, from: usize, to: usize, at: Duration) -> Growth {
        Growth { channel, limit, from, to, at }
    }
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
