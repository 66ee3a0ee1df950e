//! The occupancy of channels over time, from a sample of their changes.
//!
//! Between two changes of a channel, which are publications and releases, its occupancy is constant. After a sampled change
//! a thread notes the time and the occupancy, and the thread that changes the channel next, at either end, adds the
//! *interval* between the two. The mean over time is the sum of occupancies times intervals by the sum of intervals. Which
//! changes are sampled does not depend on what the channel holds, so this quotient tends to the mean that an observer at
//! any time sees. A mean over the samples alone is another one: a consumer looks just after items have come.
//!
//! # What is sampled
//!
//! | change | share | weight of its interval |
//! |---|---|---|
//! | in, and at the end of, a sampled activation | one in [`SAMPLE`], of a thread of its own one in `FREQUENT` | as many |
//! | at the end of an activation above [`ALWAYS_SAMPLED`], of a node with few channels | all | 1 |
//! | by a looker, for a firing that lasts | all | 1 |
//! | by an outlet | one in [`SAMPLE`] by its number | as many |
//!
//! A process may send and receive several items in an activation; its changes count at the end of it.
//!
//! # Cost
//!
//! Where no interval is open, a change costs the load of a flag of the node that changes it (`NodeState::observed`). The
//! flag is set when an interval of one of the node's channels begins, and cleared at the node's next change.
//!
//! # States of `since`
//!
//! | value | meaning | entered by | left by |
//! |---|---|---|---|
//! | [`NONE`] | no interval is open | creation; a thread that has added one | a thread that begins one |
//! | [`BUSY`] | one thread accesses the other fields | a compare-and-swap from another state | that thread's store |
//! | a time | an interval has begun then | a thread that begins one | a thread that ends it |
//!
//! The compare-and-swap acquires and the store releases, so the other fields need no order of their own. A thread that
//! finds `BUSY` gives up its interval: this is a statistic.

use super::clock::Ticks;
use super::sampler::SAMPLE;
use crate::net::Net;
use std::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering};
use thalweg_graph::{ChannelId, NodeId};

/// The ticks of an activation from which on its end is always sampled: 0.1 to 0.3 ms, as processors go. The stamps and
/// accesses to the channels cost less than a hundredth of that.
pub(crate) const ALWAYS_SAMPLED: Ticks = 1 << 19;

/// The maximum number of channels of a node whose long activations are always sampled.
const FEW_CHANNELS: usize = 8;

const NONE: Ticks = 0;
const BUSY: Ticks = 1;

/// The intervals of one channel.
#[derive(Debug, Default)]
struct Occupancy {
    /// See the module.
    since: AtomicU64,
    /// The items that the channel held then.
    items: AtomicUsize,
    /// The number of changes for which the interval counts.
    weight: AtomicU32,
    /// The largest number of items that any interval began with.
    peak: AtomicUsize,
    /// Items times ticks of all intervals, and ticks of all, each times its weight: the bits of an `f64`.
    area: AtomicU64,
    time: AtomicU64,
}

impl Occupancy {
    /// Acquires the other fields, if `since` is what the caller has read.
    fn acquire(&self, since: Ticks) -> bool {
        self.since.compare_exchange(since, BUSY, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }

    /// Begins an interval with `items` items at `now`. False if another thread accesses the fields.
    fn begin(&self, items: usize, now: Ticks, weight: u32) -> bool {
        self.end(now);
        if !self.acquire(NONE) {
            return false;
        }
        self.items.store(items, Ordering::Relaxed);
        self.weight.store(weight, Ordering::Relaxed);
        self.peak.fetch_max(items, Ordering::Relaxed);
        self.since.store(now.max(BUSY + 1), Ordering::Release);
        true
    }

    /// Ends the interval at `now`, if one is open.
    fn end(&self, now: Ticks) {
        let since = self.since.load(Ordering::Relaxed);
        if since <= BUSY || !self.acquire(since) {
            return;
        }
        let items = self.items.load(Ordering::Relaxed) as f64;
        let time = now.saturating_sub(since) as f64 * f64::from(self.weight.load(Ordering::Relaxed));
        add(&self.area, items * time);
        add(&self.time, time);
        self.since.store(NONE, Ordering::Release);
    }

    /// The mean over all intervals; `None` if they have no length.
    fn mean(&self) -> Option<f64> {
        let [area, time] = [&self.area, &self.time].map(|bits| f64::from_bits(bits.load(Ordering::Relaxed)));
        (time > 0.0).then(|| area / time)
    }
}

/// Adds to a number that this thread alone accesses.
fn add(bits: &AtomicU64, more: f64) {
    bits.store((f64::from_bits(bits.load(Ordering::Relaxed)) + more).to_bits(), Ordering::Relaxed);
}

/// The intervals of all channels of a run; of none if the run does not measure itself.
#[derive(Debug, Default)]
pub(crate) struct Occupancies(Box<[Occupancy]>);

impl Occupancies {
    /// Without an interval, of this number of channels.
    pub(crate) fn new(channels: usize) -> Occupancies {
        Occupancies((0..channels).map(|_| Occupancy::default()).collect())
    }

    /// Begins an interval at `now` for each channel of a node that has just changed them.
    #[cold]
    pub(crate) fn begin(net: &Net<'_>, node: NodeId, now: Ticks, weight: u32) {
        let Occupancies(all) = &net.sched.occupancies;
        for channel in channels(net, node) {
            let Some(occupancy) = all.get(channel.index()) else { return };
            if occupancy.begin(net.meter(channel).items(), now, weight) {
                let (from, to) = net.ends(channel);
                [from, to]
                    .iter()
                    .for_each(|end| net.node(*end).state.observed.store(true, Ordering::Relaxed));
            }
        }
    }

    /// [`Occupancies::begin`] at the end of an activation that lasted for `spent` ticks, if it is sampled: for `weight`
    /// activations, or because it is long.
    #[inline]
    pub(crate) fn begin_after(net: &Net<'_>, node: NodeId, now: Ticks, spent: Ticks, weight: Option<u32>) {
        let is_long =
            spent > ALWAYS_SAMPLED && net.inputs(node).len() + net.outputs(node).len() <= FEW_CHANNELS;
        if let Some(weight) = if is_long { Some(1) } else { weight } {
            Occupancies::begin(net, node, now, weight);
        }
    }

    /// [`Occupancies::begin`] for an outlet that has popped `popped` items so far, if the change is sampled.
    pub(crate) fn begin_outside(net: &Net<'_>, node: NodeId, popped: usize) {
        // Multiples of the golden ratio, modulo 1, as in `sampler`.
        if (popped as u32).wrapping_mul(0x9E37_79B9) < u32::MAX / SAMPLE {
            Occupancies::begin(net, node, super::clock::ticks(), SAMPLE);
        }
    }

    /// Ends the intervals of a node's channels at `now`, which is the time of a change. The node was found to be observed.
    #[cold]
    pub(crate) fn end(net: &Net<'_>, node: NodeId, now: Ticks) {
        net.node(node).state.observed.store(false, Ordering::Relaxed);
        let Occupancies(all) = &net.sched.occupancies;
        channels(net, node).filter_map(|channel| all.get(channel.index())).for_each(|one| one.end(now));
    }

    /// The mean over time of the items in a channel, and the largest number seen; `None` without intervals. The run has ended
    /// at `now`.
    pub(crate) fn result(&self, channel: ChannelId, now: Ticks) -> Option<(f64, usize)> {
        let occupancy = self.0.get(channel.index())?;
        occupancy.end(now);
        Some((occupancy.mean()?, occupancy.peak.load(Ordering::Relaxed)))
    }
}

/// The channels of a node.
fn channels(net: &Net<'_>, node: NodeId) -> impl Iterator<Item = ChannelId> {
    net.inputs(node).iter().chain(net.outputs(node)).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_count_by_their_lengths_and_weights() {
        let channel = Occupancy::default();
        assert!(channel.begin(4, 100, 1));
        channel.end(110);
        channel.end(150); // none is open
        assert!(channel.begin(1, 200, 64));
        assert!(channel.begin(0, 210, 1), "which ends the one before");
        channel.end(230);
        let (area, time) = (4.0 * 10.0 + 64.0 * 10.0, 10.0 + 640.0 + 20.0);
        assert_eq!((channel.mean(), channel.peak.into_inner()), (Some(area / time), 4));
    }

    /// 0 would be the occupancy of a channel that was empty.
    #[test]
    fn without_a_sample_there_is_no_result() {
        let channels = Occupancies::new(2);
        assert!(channels.0[1].begin(0, 100, 1));
        assert_eq!(
            (channels.result(ChannelId(0), 150), channels.result(ChannelId(1), 150)),
            (None, Some((0.0, 0)))
        );
        assert_eq!(
            Occupancies::default().result(ChannelId(0), 150),
            None,
            "a run that does not measure itself"
        );
    }

    #[test]
    fn a_thread_gives_up_where_another_one_accesses_the_fields() {
        let channel = Occupancy::default();
        assert!(channel.begin(4, 100, 1) && channel.acquire(100));
        channel.end(110);
        assert!(!channel.begin(9, 120, 1) && channel.mean().is_none());
    }
}
