//! Growth of full channels (Parks; Geilen and Basten): doubling a full channel opens a cycle of waiting nodes that it
//! lies on.
//!
//! Growth replaces the storage of a channel, so the caller must have both ends to itself: it holds their claims
//! ([`search`](crate::liveness::search)), or is the last thread awake ([`quiesce`](crate::liveness::quiesce)). After
//! growth the producer is claimable: its wait word is ready, and its stuck publications are retried.
//!
//! Bytes are charged before a channel grows, by compare-and-swap, so two threads that grow different channels never
//! exceed the budget together. The counts guard no other data: all accesses are `Relaxed`.

use crate::error::Error;
use crate::liveness::waits::{Edge, WaitGraph, describe};
use crate::measure::clock::{Scale, ticks};
use crate::net::{Net, UNSTUCK};
use crate::sync::{AtomicUsize, Ordering, lock};
use std::time::Duration;
use thalweg_graph::{ChannelId, Kind, NodeId};
use thalweg_trace::{Growth, Limit};

/// The bytes that all channels together may take, growth included, if the options set no budget.
const GROWTH_BY_DEFAULT: usize = 1 << 30;

/// The bytes that are granted to channels in front of starved cycles, if the options set no budget. Limited, because an
/// endless source would fill any channel.
pub(crate) const GRANT_BY_DEFAULT: usize = 16 << 20;
/// One in this many bytes of a budget may be granted so; the other bytes are left for growth that opens a cycle.
const GRANT_PART: usize = 2;

/// Doubles the cheapest full channel in front of a starved cycle: its producer waits for room and, directly or through
/// other nodes, for the cycle. Returns false if there is no such channel, or no bytes are left. With unbounded channels
/// the producer would continue, so the verdict on the cycle must wait for it.
///
/// # Safety
/// As for [`grow`], of all full channels of `waits`.
pub(crate) unsafe fn grant(net: &Net<'_>, waits: &WaitGraph, cycle: &[(NodeId, Edge)]) -> bool {
    let most = net.topology.plan.budget().map_or(GRANT_BY_DEFAULT, |budget| budget / GRANT_PART);
    by_cost(net, waits.full_before(cycle)).into_iter().any(|channel| {
        let cost = cost(net, channel);
        if !charge(&net.liveness.granted, cost, most) {
            return false;
        }
        // SAFETY: by this function's contract: `channel` is a full channel of `waits`.
        let grown = unsafe { grow(net, channel) };
        if !grown {
            net.liveness.granted.fetch_sub(cost, Ordering::Relaxed);
        }
        grown
    })
}

/// Doubles the cheapest full channel that the byte budget allows, in the first cycle that has one. Returns false if no
/// cycle has a full channel.
///
/// # Errors
/// Cycles have full channels, and the budget allows none of them to grow: a deadlock that names the first cycle.
///
/// # Safety
/// As for [`grow`], of all full channels of `waits`.
pub(crate) unsafe fn open_full(net: &Net<'_>, waits: &WaitGraph) -> Result<bool, Error> {
    let cycles: Vec<_> = waits.cycles(true).collect();
    let Some(first) = cycles.first() else { return Ok(false) };
    for cycle in &cycles {
        let full = cycle.iter().map(|(_, edge)| edge).filter(|edge| edge.full).map(|edge| edge.channel);
        // SAFETY: by this function's contract: `channel` is a full channel of `waits`.
        if by_cost(net, full.collect()).into_iter().any(|channel| unsafe { grow(net, channel) }) {
            return Ok(true);
        }
    }
    Err(Error::Deadlock(describe(net, first, Some(net.topology.plan.budget().unwrap_or(GROWTH_BY_DEFAULT)))))
}

/// Sorts channels by the bytes that doubling costs. Channels whose capacity limits the items in flight come last.
fn by_cost(net: &Net<'_>, mut channels: Vec<ChannelId>) -> Vec<ChannelId> {
    let limits = |channel: &ChannelId| net.topology.graph.channel(*channel).link().limits();
    channels.sort_unstable_by_key(|channel| {
        (limits(channel), cost(net, *channel), net.meter(*channel).capacity(), channel.index())
    });
    channels
}

/// The capacity to which a channel of this capacity grows, and the bytes that this adds. A budget counts all the slots that
/// the channel may widen to from the start, so up to these it grows for nothing, however far it has widened.
fn larger(net: &Net<'_>, channel: ChannelId, capacity: usize) -> (usize, usize) {
    let (plan, item) = (&net.topology.plan, net.topology.graph.channel(channel).item().bytes().max(1));
    let slots = plan.slots_of(channel);
    match plan.budget().is_some() && capacity < slots {
        true => (capacity.saturating_mul(2).min(slots), 0),
        false => (capacity.saturating_mul(2), capacity.saturating_mul(item)),
    }
}

/// The bytes that growing a channel adds: its slots, or its byte limit if that is what stops the producer.
fn cost(net: &Net<'_>, channel: ChannelId) -> usize {
    let meter = net.meter(channel);
    match meter.is_below_byte_limit() {
        true => larger(net, channel, meter.capacity()).1,
        false => meter.byte_limit(),
    }
}

/// The time since the start of the run.
fn since_began(net: &Net<'_>) -> Duration {
    Scale::now().duration(ticks().saturating_sub(net.began()))
}

/// Adds `cost` to a count of bytes unless the sum would exceed `most`. True if added.
fn charge(count: &AtomicUsize, cost: usize, most: usize) -> bool {
    let more = |spent: usize| spent.checked_add(cost).filter(|spent| *spent <= most);
    count.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more).is_ok()
}

/// Doubles a channel's capacity, or its byte limit, if the byte budget allows it ([`GROWTH_BY_DEFAULT`] if the options
/// set none) and the system has the memory. True if it did. The producer is claimable afterwards; the caller makes it ready.
///
/// # Safety
/// Until another thread has synchronised with this one after the call, it neither accesses the channel's slots nor
/// activates the channel's producer; and neither end keeps slot pointers from before the call. A message lent to a
/// process is excepted, and so is its release on another thread (`Grow::grow`). This holds if neither node is active,
/// and the caller has the claims of both or is the last thread awake.
pub(crate) unsafe fn grow(net: &Net<'_>, channel: ChannelId) -> bool {
    let meter = net.meter(channel);
    // Another thread may widen the channel meanwhile, without a claim: the capacity is read once.
    let (from, over_bytes) = (meter.capacity(), !meter.is_below_byte_limit());
    let (to, slots) = larger(net, channel, from);
    let cost = if over_bytes { meter.byte_limit() } else { slots };
    if !charge(&net.liveness.spent, cost, net.topology.plan.budget().unwrap_or(GROWTH_BY_DEFAULT)) {
        return meter.capacity() > from;
    }
    let (producer, consumer) = net.ends(channel);
    if over_bytes {
        meter.set_byte_limit(cost * 2);
        lock(&net.liveness.growths).push(Growth::new(
            channel,
            Limit::Bytes,
            cost,
            cost * 2,
            since_began(net),
        ));
    } else {
        let keep = net.cells.nodes[consumer.index()].kind == Kind::Process;
        // SAFETY: by this function's contract no other thread accesses the slots, and slot pointers are read anew at
        // each claim. Only a process can have a lent message, and `keep` leaves that where it is.
        if !unsafe { net.cells.rings[channel.index()].grow(to, keep) } {
            net.liveness.spent.fetch_sub(cost, Ordering::Relaxed);
            return false;
        }
        lock(&net.liveness.growths).push(Growth::new(channel, Limit::Items, from, to, since_began(net)));
    }
    // The producer's wait word and `stuck` belong to the holder of its claims, which is this thread or no thread.
    let producer = &net.cells.nodes[producer.index()].state;
    producer.wait.ready();
    let stuck = producer.stuck().iter().filter(|stuck| stuck.load(Ordering::Relaxed) != UNSTUCK);
    stuck.for_each(|stuck| stuck.store(0, Ordering::Relaxed));
    true
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::{Graph, Options};

    /// Checks the growth of a channel of strings that begins with 4 of its 680 slots, and has since widened to this capacity.
    #[track_caller]
    fn grows(options: &Options, widened: usize, expected: (usize, usize)) {
        let graph = Graph::new();
        graph.source(["a", "b"].map(str::to_owned)).for_each(drop);
        let prepared = graph.prepare(&options.clone().threads(2)).unwrap();
        let (net, channel) = (&*prepared.ready.net, ChannelId(0));
        assert_eq!((net.meter(channel).capacity(), net.topology.plan.slots_of(channel)), (4, 680));
        net.meter(channel).raise_capacity(widened);
        assert_eq!(larger(net, channel, widened), expected);
    }

    #[test]
    fn within_a_budget_slots_that_it_counts_already_are_free() {
        let budget = Options::new().budget(1 << 20);
        grows(&budget, 4, (8, 0));
        grows(&budget, 340, (680, 0));
        grows(&budget, 400, (680, 0));
        grows(&budget, 679, (680, 0));
        grows(&budget, 680, (1360, 680 * size_of::<String>()));
    }

    #[test]
    fn without_a_budget_growth_counts_from_the_first_slot() {
        grows(&Options::new(), 4, (8, 4 * size_of::<String>()));
        grows(&Options::new(), 400, (800, 400 * size_of::<String>()));
    }
}
