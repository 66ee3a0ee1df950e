//! Growth of full channels (Parks; Geilen and Basten): a cycle of waiting nodes with a full channel in it is opened by
//! doubling that channel.

use crate::error::Error;
use crate::liveness::waits::{Edge, Waits, describe};
use crate::net::{Net, UNSTUCK};
use crate::sync::{AtomicUsize, Ordering, lock};
use thalweg_graph::{ChannelId, Kind, NodeId};
use thalweg_trace::{Growth, Limit};

/// Bytes that all channels together may take, growth included, where the options give no budget.
const GROWTH_BY_DEFAULT: usize = 256 << 20;

/// Bytes granted to channels in front of starved cycles, where the options give no budget: an endless source would fill
/// any channel.
pub(crate) const GRANT_BY_DEFAULT: usize = 16 << 20;
/// One in this many bytes of a budget may be granted so; the rest is left for growth that is sure to help.
const GRANT_PART: usize = 2;

/// Doubles the cheapest full channel in front of a starved cycle: its producer waits for room and, directly or through
/// others, for the cycle. Returns false if there is none, or no bytes left. With unbounded channels the producer would
/// go on, so the verdict on the cycle must wait for that.
///
/// # Safety
/// As for [`grow`], of all full channels of `waits`.
pub(crate) unsafe fn grant(net: &Net<'_>, waits: &Waits, cycle: &[(NodeId, Edge)]) -> bool {
    let most = net.topology.plan.budget.map_or(GRANT_BY_DEFAULT, |budget| budget / GRANT_PART);
    by_cost(net, waits.full_before(cycle)).into_iter().any(|channel| {
        let cost = cost(net, channel);
        if !charge(&net.liveness.granted, cost, most) {
            return false;
        }
        // SAFETY: by this function's contract.
        let grown = unsafe { grow(net, channel) };
        if !grown {
            net.liveness.granted.fetch_sub(cost, Ordering::Relaxed);
        }
        grown
    })
}

/// Doubles the cheapest full channel, within the byte budget, of a cycle that has one. Returns false if there is no such
/// cycle.
///
/// # Errors
/// The budget allows no growth: a deadlock that names the first cycle.
///
/// # Safety
/// As for [`grow`], of all full channels of `waits`.
pub(crate) unsafe fn open_full(net: &Net<'_>, waits: &Waits) -> Result<bool, Error> {
    let cycles: Vec<_> = waits.cycles(true).collect();
    let Some(first) = cycles.first() else { return Ok(false) };
    for cycle in &cycles {
        let full = cycle.iter().map(|(_, edge)| edge).filter(|edge| edge.full).map(|edge| edge.channel);
        // SAFETY: by this function's contract.
        if by_cost(net, full.collect()).into_iter().any(|channel| unsafe { grow(net, channel) }) {
            return Ok(true);
        }
    }
    Err(Error::Deadlock(describe(net, first, Some(net.topology.plan.budget.unwrap_or(GROWTH_BY_DEFAULT)))))
}

/// Sorts channels by the bytes that doubling costs; channels whose capacity is a limit set by the user come last.
fn by_cost(net: &Net<'_>, mut channels: Vec<ChannelId>) -> Vec<ChannelId> {
    let limits = |channel: &ChannelId| net.topology.graph.channel(*channel).link.limits;
    channels.sort_by_key(|channel| (limits(channel), cost(net, *channel), net.meter(*channel).capacity()));
    channels
}

/// Bytes that doubling a channel adds.
fn cost(net: &Net<'_>, channel: ChannelId) -> usize {
    let meter = net.meter(channel);
    match meter.light() {
        true => meter.capacity() * net.topology.graph.channel(channel).item.bytes.max(1),
        false => meter.byte_limit(),
    }
}

/// Adds `cost` to a count unless the sum would exceed `most`.
fn charge(count: &AtomicUsize, cost: usize, most: usize) -> bool {
    let more = |spent: usize| spent.checked_add(cost).filter(|spent| *spent <= most);
    count.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more).is_ok()
}

/// Doubles a channel, if the byte budget allows, or [`GROWTH_BY_DEFAULT`] in all where none was given.
///
/// # Safety
/// No other thread accesses the channel's slots or activates its producer before it has
/// synchronised with this one, and neither end has slot pointers from before, but for a process's
/// message (see `Rx`): both nodes are at rest, and held by the caller or found so by the last thread
/// awake.
unsafe fn grow(net: &Net<'_>, channel: ChannelId) -> bool {
    let meter = net.meter(channel);
    let (from, heavy, cost) = (meter.capacity(), !meter.light(), cost(net, channel));
    if !charge(&net.liveness.spent, cost, net.topology.plan.budget.unwrap_or(GROWTH_BY_DEFAULT)) {
        return false;
    }
    let (producer, consumer) = net.ends(channel);
    if heavy {
        meter.set_byte_limit(cost * 2);
        lock(&net.liveness.growths).push(Growth { channel, limit: Limit::Bytes, from: cost, to: cost * 2 });
    } else {
        let keep = net.cells.nodes[consumer.index()].kind == Kind::Process;
        // SAFETY: by this function's contract; slot pointers are read anew at every claim, and what a
        // process may still point to is kept.
        unsafe { net.cells.rings[channel.index()].grow(from * 2, keep) };
        lock(&net.liveness.growths).push(Growth { channel, limit: Limit::Items, from, to: from * 2 });
    }
    let producer = &net.cells.nodes[producer.index()].state;
    producer.wait.ready();
    let stuck = producer.stuck().iter().filter(|stuck| stuck.load(Ordering::Relaxed) != UNSTUCK);
    stuck.for_each(|stuck| stuck.store(0, Ordering::Relaxed));
    true
}
