//! Costs of the machine's mechanisms.

use thalweg_graph::data;

data! {
    /// What the machine's mechanisms cost, as far as it was measured. `None` is a cost that was not measured.
    ///
    /// [`Costs::measure`] measures all but [`queue`](Costs::queue) and [`steal`](Costs::steal), which are costs of an engine:
    /// `measure` of the module `machine` of the crate `thalweg` adds these.
    #[derive(Clone, Debug, Default, PartialEq)]
    pub struct Costs {
        /// Nanoseconds to push an item to a channel and to pop it, on one thread.
        copy queue: Option<f64>, queue_mut;
        /// Nanoseconds of a successful attempt to steal a task from another thread.
        copy steal: Option<f64>, steal_mut;
        /// Nanoseconds from a notification until a sleeping thread runs.
        copy wake: Option<f64>, wake_mut;
        /// Nanoseconds to transfer a cache line between two cores that share a cache.
        copy line_cache: Option<f64>, line_cache_mut;
        /// Nanoseconds to transfer a cache line between two cores of a domain that share no cache.
        copy line_domain: Option<f64>, line_domain_mut;
        /// Nanoseconds to transfer a cache line between two domains.
        copy line_across: Option<f64>, line_across_mut;
        /// Nanoseconds of a miss of the smallest cache of one core above the first level, in each of many blocks that are read
        /// in order.
        copy miss_in_order: Option<f64>, miss_in_order_mut;
        /// The same for blocks at random, each of which is known only when the one before has come.
        copy miss_at_random: Option<f64>, miss_at_random_mut;
        /// Bytes that one thread reads and writes per second in memory, both counted.
        copy bandwidth: Option<u64>, bandwidth_mut;
    }
}

/// The range of a cost in nanoseconds.
pub(crate) const NANOSECONDS: std::ops::RangeInclusive<f64> = 0.001..=1e12;

/// The words of the text form for costs in nanoseconds, in the order of [`Costs::times`].
pub(crate) const TIMES: [&str; 8] =
    ["queue", "steal", "wake", "line-cache", "line-domain", "line-across", "miss-in-order", "miss-at-random"];

impl Costs {
    /// The costs in nanoseconds, in the order of [`TIMES`].
    pub(crate) fn times(&self) -> [Option<f64>; 8] {
        [
            self.queue,
            self.steal,
            self.wake,
            self.line_cache,
            self.line_domain,
            self.line_across,
            self.miss_in_order,
            self.miss_at_random,
        ]
    }

    /// The costs in nanoseconds, to be changed, in the order of [`TIMES`].
    pub(crate) fn times_mut(&mut self) -> [&mut Option<f64>; 8] {
        [
            &mut self.queue,
            &mut self.steal,
            &mut self.wake,
            &mut self.line_cache,
            &mut self.line_domain,
            &mut self.line_across,
            &mut self.miss_in_order,
            &mut self.miss_at_random,
        ]
    }

    /// Removes the costs that the text form cannot hold: times outside of [`NANOSECONDS`], and no bandwidth at all.
    pub(crate) fn within_range(mut self) -> Costs {
        for time in self.times_mut() {
            *time = time.filter(|ns| NANOSECONDS.contains(ns));
        }
        self.bandwidth = self.bandwidth.filter(|bytes| *bytes > 0);
        self
    }
}
