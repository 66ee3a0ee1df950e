//! Widening: a channel that begins with less capacity than it has slots gets more of them during the run.
//!
//! The room that a channel needs depends on the time that its items take. Items of a hundred nanoseconds need thousands of
//! slots, or its nodes change places too often; of items that take milliseconds a few suffice, and more would only hold
//! memory. Two measurements raise the capacity, up to the slots that the plan gives the channel:
//!
//! | measured | by | when | capacity |
//! |---|---|---|---|
//! | the time that half of the channel lasts | a thread that naps ([`WaitStrategy`](crate::sched::dedicated::WaitStrategy)) | it was woken early | doubles until half of the channel lasts for the thread's least time |
//! | the busy time of both ends for an item | each end ([`note_node`], [`note_full`], [`note_consumer`]) | an activation finds no room, or updates the node's pace | the items that the slower end takes [`AHEAD_NS`] for |
//!
//! The slower end counts: it is the one that the items would wait for. A measurement also limits the capacity to twice the
//! items that it is based on, so a first item that is short by chance raises it little.
//!
//! The capacity only rises, and no storage moves: both ends may be active. A wait word was computed from a smaller capacity,
//! so a counter that meets it meets it with the greater one. Other conditions read the capacity itself: a suspended ticket
//! resumes where its channel has room ([`Meter::has_room`](crate::channel::Meter)), and a static rate needs that much of it.
//! So the thread that raises a capacity fences and makes the producer ready, as after any other change that a node may wait
//! for.
//!
//! # Fields
//!
//! | field | written by | ordering | why |
//! |---|---|---|---|
//! | all of [`Side`] | a thread that has ended an activation of the node at that end | `Relaxed` | estimates: an update may be lost or torn, and any value is a valid one |

use crate::measure::clock::{Scale, Ticks};
use crate::net::{Net, NodeCell};
use crate::sched::make_ready::make_ready;
use crate::sync::{Ordering, fence};
use std::sync::atomic::{AtomicU64, AtomicUsize};
use thalweg_graph::{ChannelId, Kind, NodeId};

/// The time for whose items a channel has room, in nanoseconds.
const AHEAD_NS: f64 = 1_000_000.0;
/// The same for each worker, where a parallel node is at an end: two claims.
const AHEAD_OF_WORKER_NS: f64 = 120_000.0;
/// The busy time that a measurement covers at least, in nanoseconds, but for the first ones, which begin with the run.
const MIN_SPAN_NS: f64 = 1_000_000.0;
/// The busy time after which a measurement begins anew, in nanoseconds: a node may be fast after it has waited long for the
/// outside world.
const MAX_SPAN_NS: f64 = 100_000_000.0;

/// Maximum number of inputs, and of outputs, of a node that one update notes.
const MAX_NOTED: usize = 64;

/// A channel that may widen.
#[derive(Debug, Default)]
pub(crate) struct Wide {
    /// The capacity up to which it may widen.
    slots: usize,
    producer: Side,
    consumer: Side,
}

/// What is known of the time that an end of a channel takes for an item.
#[derive(Debug, Default)]
struct Side {
    /// The busy time of the node, and the items that it had moved, when the current measurement began.
    since_busy: AtomicU64,
    since_items: AtomicUsize,
    /// The time for an item, in ticks; 0 if it is not known.
    each: AtomicU64,
    /// The items that the node has moved in all.
    items: AtomicUsize,
}

impl Side {
    /// Notes that the node has been busy for this time since the start of the run, and has moved this number of items.
    fn note(&self, busy: Ticks, items: usize) {
        let (since, before) =
            (self.since_busy.load(Ordering::Relaxed), self.since_items.load(Ordering::Relaxed));
        let (spent, moved) = (busy.saturating_sub(since), items.saturating_sub(before));
        let scale = Scale::now();
        if moved == 0 || spent == 0 || (before > 0 && spent < scale.ticks(MIN_SPAN_NS)) {
            return;
        }
        self.each.store((spent / moved as u64).max(1), Ordering::Relaxed);
        self.items.store(items, Ordering::Relaxed);
        if spent > scale.ticks(MAX_SPAN_NS) {
            self.since_busy.store(busy, Ordering::Relaxed);
            self.since_items.store(items, Ordering::Relaxed);
        }
    }
}

impl Wide {
    /// A channel that may widen up to this capacity.
    pub(crate) fn new(slots: usize) -> Wide {
        Wide { slots, ..Wide::default() }
    }

    /// The items for which there is room in `ahead` ticks, as far as both ends have been measured.
    fn wanted(&self, ahead: Ticks) -> usize {
        let each = [&self.producer, &self.consumer].map(|side| side.each.load(Ordering::Relaxed));
        if each.contains(&0) {
            return 0;
        }
        let seen = [&self.producer, &self.consumer].map(|side| side.items.load(Ordering::Relaxed));
        let wanted = ahead / each[0].max(each[1]);
        usize::try_from(wanted)
            .unwrap_or(usize::MAX)
            .min(seen[0].min(seen[1]).saturating_mul(2))
            .min(self.slots)
    }
}

impl Net<'_> {
    /// The entry of a channel that may widen and has not widened to all its slots.
    #[inline]
    fn narrow(&self, channel: ChannelId) -> Option<&Wide> {
        let wide = self.cells.wide.get(channel.index())?.as_deref()?;
        (self.meter(channel).capacity() < wide.slots).then_some(wide)
    }

    /// Whether a node at an end of the channel is parallel.
    fn is_shared(&self, channel: ChannelId) -> bool {
        let (from, to) = self.ends(channel);
        [from, to].into_iter().any(|node| self.node(node).kind == Kind::Parallel)
    }
}

/// Widens the channels of a node by the time that it has been busy. After an activation of it.
#[inline]
pub(crate) fn note_node(net: &Net<'_>, node: NodeId, cell: &NodeCell<'_>) {
    if !net.cells.wide.is_empty() {
        note_channels(net, node, cell);
    }
}

#[cold]
#[inline(never)]
fn note_channels(net: &Net<'_>, node: NodeId, cell: &NodeCell<'_>) {
    let (busy, turn) =
        (cell.state.busy.load(Ordering::Relaxed), cell.state.activations.load(Ordering::Relaxed));
    some(net.inputs(node), turn).for_each(|channel| note_consumer(net, channel, busy));
    some(net.outputs(node), turn).for_each(|channel| note_producer(net, channel, busy));
}

/// At most [`MAX_NOTED`] channels, others in each turn.
fn some(channels: &[ChannelId], turn: u64) -> impl Iterator<Item = ChannelId> + '_ {
    let first = turn.checked_rem(channels.len() as u64).unwrap_or(0) as usize;
    let (before, after) = channels.split_at(first);
    after.iter().chain(before).copied().take(MAX_NOTED)
}

/// Widens a channel that has no room by the time that its producer has been busy. After an activation of it.
#[inline]
pub(crate) fn note_full(net: &Net<'_>, channel: ChannelId, cell: &NodeCell<'_>) {
    if !net.cells.wide.is_empty() {
        note_producer(net, channel, cell.state.busy.load(Ordering::Relaxed));
    }
}

fn note_producer(net: &Net<'_>, channel: ChannelId, busy: Ticks) {
    if let Some(wide) = net.narrow(channel) {
        wide.producer.note(undilated(net, busy), net.meter(channel).tail());
        raise(net, channel, wide);
    }
}

/// Widens a channel by the time that its consumer has been busy.
pub(crate) fn note_consumer(net: &Net<'_>, channel: ChannelId, busy: Ticks) {
    if let Some(wide) = net.narrow(channel) {
        wide.consumer.note(undilated(net, busy), net.meter(channel).head());
        raise(net, channel, wide);
    }
}

/// The time that firings would have taken in a run that is not dilated: a channel has as much room in both.
fn undilated(net: &Net<'_>, busy: Ticks) -> Ticks {
    busy / Ticks::from(net.sched.dilation.unwrap_or(1))
}

/// Raises the capacity of a channel to what its measurements ask for.
fn raise(net: &Net<'_>, channel: ChannelId, wide: &Wide) {
    let workers = if net.is_shared(channel) { net.threads() as f64 } else { 0.0 };
    let wanted = wide.wanted(Scale::now().ticks(AHEAD_NS.max(AHEAD_OF_WORKER_NS * workers)));
    raise_to(net, channel, wanted);
}

/// Raises the capacity of a channel, and makes its producer ready, which may be claimable by that.
fn raise_to(net: &Net<'_>, channel: ChannelId, capacity: usize) {
    if net.meter(channel).raise_capacity(capacity) {
        fence(Ordering::SeqCst);
        make_ready(net, net.ends(channel).0);
    }
}

/// Doubles a channel's capacity, if it may widen.
pub(crate) fn double(net: &Net<'_>, channel: ChannelId) {
    if let Some(wide) = net.narrow(channel) {
        raise_to(net, channel, net.meter(channel).capacity().saturating_mul(2).min(wide.slots));
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::sched::make_ready::has_token;
    use crate::{Graph, Options};

    /// A run that has not begun: no thread but the caller's acquires tokens.
    #[test]
    fn a_raised_capacity_makes_the_producer_ready() {
        let graph = Graph::new();
        graph.source(["a", "b"].map(str::to_owned)).for_each(drop);
        let prepared = graph.prepare(&Options::new().threads(2)).unwrap();
        let (net, channel) = (&*prepared.ready.net, ChannelId(0));
        let (producer, consumer) = net.ends(channel);
        net.sched.ready.enable_notifications();

        raise_to(net, channel, net.meter(channel).capacity());
        assert!(!has_token(net, producer), "nothing was raised");
        double(net, channel);
        assert!(has_token(net, producer) && !has_token(net, consumer));
    }

    #[test]
    #[cfg_attr(miri, ignore = "Miri has no clock of a thread's processor time")]
    fn dilated_firings_count_as_others() {
        let busy = |options: Options| {
            let graph = Graph::new();
            graph.source(["a", "b"].map(str::to_owned)).for_each(drop);
            undilated(&graph.prepare(&options.threads(2)).unwrap().ready.net, 1_000_000)
        };
        assert_eq!([busy(Options::new()), busy(Options::new().dilate(100))], [1_000_000, 10_000]);
    }

    /// A channel of 1000 slots whose ends have taken this time in all for this number of items.
    fn measured(producer: (Ticks, usize), consumer: (Ticks, usize)) -> Wide {
        let wide = Wide::new(1000);
        wide.producer.note(producer.0, producer.1);
        wide.consumer.note(consumer.0, consumer.1);
        wide
    }

    #[test]
    fn the_slower_end_decides() {
        assert_eq!(measured((100, 100), (5000, 100)).wanted(5000), 100);
        assert_eq!(measured((5000, 100), (100, 100)).wanted(5000), 100);
        assert_eq!(measured((5000, 100), (5000, 100)).wanted(49), 0);
    }

    #[test]
    fn both_ends_must_be_measured() {
        assert_eq!(measured((100, 100), (0, 0)).wanted(5000), 0);
        assert_eq!(measured((100, 0), (100, 100)).wanted(5000), 0);
    }

    #[test]
    fn few_items_widen_little() {
        assert_eq!(measured((8, 8), (3, 3)).wanted(1_000_000), 6);
        assert_eq!(measured((9999, 9999), (9999, 9999)).wanted(1_000_000), 1000, "no more than the slots");
    }

    #[test]
    fn an_end_that_has_waited_long_is_measured_anew() {
        let side = Side::default();
        let (long, short) = (Scale::now().ticks(2.0 * MAX_SPAN_NS), Scale::now().ticks(2.0 * MIN_SPAN_NS));
        side.note(long, 1);
        assert_eq!(side.each.load(Ordering::Relaxed), long);
        side.note(long + 1, 2);
        assert_eq!(side.each.load(Ordering::Relaxed), long, "too short a span");
        side.note(long + short, 1001);
        assert_eq!(side.each.load(Ordering::Relaxed), short / 1000);
    }
}
