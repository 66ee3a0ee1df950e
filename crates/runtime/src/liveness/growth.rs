//! Growth of full channels (Parks; Geilen and Basten): a circle of waiting nodes with a full channel
//! in it is opened by more room there.

use crate::error::Error;
use crate::liveness::waits::{Edge, Waits, describe};
use crate::net::{Net, UNSTUCK};
use crate::sync::{AtomicUsize, Ordering, lock};
use thalweg_graph::{ChannelId, Kind, NodeId};
use thalweg_trace::{Growth, Limit};

/// Bytes that channels may take in all, grown ones included, where no budget was given: nothing is
/// unbounded by default.
const GROWTH_UNASKED: usize = 256 << 20;

/// The same, for growth before a circle that starves, where an endless source would fill any
/// channel; and the part of a budget for it, so that it leaves the rest to where room is sure to help.
pub(crate) const FEED_UNASKED: usize = 16 << 20;
const FEED_PART: usize = 2;

/// Doubles the smallest channel whose fullness keeps somebody from going on who waits for a circle
/// that starves; false where there is none, or no room for more. With channels of no bounds these
/// would have gone on, so whether the circle starves must not be decided before.
///
/// # Safety
/// As for [`grow`], of all full channels of `waits`.
pub(crate) unsafe fn feed(net: &Net<'_>, waits: &Waits, circle: &[(NodeId, Edge)]) -> bool {
    let most = net.topology.plan.budget.map_or(FEED_UNASKED, |budget| budget / FEED_PART);
    by_cost(net, waits.full_before(circle)).into_iter().any(|channel| {
        let cost = cost(net, channel);
        if !charge(&net.liveness.fed, cost, most) {
            return false;
        }
        // SAFETY: by this function's contract.
        let grown = unsafe { grow(net, channel) };
        if !grown {
            net.liveness.fed.fetch_sub(cost, Ordering::Relaxed);
        }
        grown
    })
}

/// Doubles the smallest full channel of some circle with full channels, of those that the byte
/// budget allows to. False where there is no such circle.
///
/// # Errors
/// The budget allows none: a deadlock that names the first circle.
///
/// # Safety
/// As for [`grow`], of all full channels of `waits`.
pub(crate) unsafe fn open_full(net: &Net<'_>, waits: &Waits) -> Result<bool, Error> {
    let circles: Vec<_> = waits.circles(true).collect();
    let Some(first) = circles.first() else { return Ok(false) };
    for circle in &circles {
        let full = circle.iter().map(|(_, edge)| edge).filter(|edge| edge.full).map(|edge| edge.channel);
        // SAFETY: by this function's contract.
        if by_cost(net, full.collect()).into_iter().any(|channel| unsafe { grow(net, channel) }) {
            return Ok(true);
        }
    }
    Err(Error::Deadlock(describe(net, first, Some(net.topology.plan.budget.unwrap_or(GROWTH_UNASKED)))))
}

/// The cheapest first, and those last whose capacity is a limit that the user wants.
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

/// Adds to a count unless it would exceed `most`.
fn charge(count: &AtomicUsize, cost: usize, most: usize) -> bool {
    let more = |spent: usize| spent.checked_add(cost).filter(|spent| *spent <= most);
    count.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more).is_ok()
}

/// Doubles a channel, if the byte budget allows, or [`GROWTH_UNASKED`] in all where none was given.
///
/// # Safety
/// No other thread accesses the channel's slots or activates its producer before it has
/// synchronised with this one, and neither end has slot pointers from before, but for a process's
/// message (see `Rx`): both nodes are at rest, and held by the caller or found so by the last thread
/// awake.
unsafe fn grow(net: &Net<'_>, channel: ChannelId) -> bool {
    let meter = net.meter(channel);
    let (from, heavy, cost) = (meter.capacity(), !meter.light(), cost(net, channel));
    if !charge(&net.liveness.spent, cost, net.topology.plan.budget.unwrap_or(GROWTH_UNASKED)) {
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
