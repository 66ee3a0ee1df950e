//! Growth of full channels (Parks; Geilen and Basten): a circle of waiting nodes with a full channel
//! in it is opened by more room there.

use crate::error::Error;
use crate::net::Net;
use crate::node::UNSTUCK;
use crate::sync::{Ordering, lock};
use crate::waits::{Edge, Waits, describe};
use thalweg_graph::{ChannelId, NodeId};
use thalweg_trace::{Growth, Limit};

/// Bytes that channels may take in all, grown ones included, where no budget was given: nothing is
/// unbounded by default.
const GROWTH_UNASKED: usize = 1 << 30;

/// The same, for growth before a circle that starves: an endless source would fill any channel.
const FEED_UNASKED: usize = 16 << 20;

/// Doubles the smallest channel whose fullness keeps somebody from going on who waits for a circle
/// that starves; false where there is none, or no room for more. With channels of no bounds these
/// would have gone on, so whether the circle starves must not be decided before.
///
/// # Safety
/// As for [`grow`], of all full channels of `waits`.
pub(crate) unsafe fn feed(net: &Net<'_>, waits: &Waits, circle: &[(NodeId, Edge)]) -> bool {
    let least = waits.full_before(circle).into_iter().min_by_key(|id| net.meter(*id).capacity());
    // SAFETY: by this function's contract.
    least.is_some_and(|id| unsafe { grow(net, id, FEED_UNASKED) })
}

/// Doubles the smallest full channel of a circle.
///
/// # Errors
/// The byte budget allows no growth: a deadlock that names the circle.
///
/// # Safety
/// As for [`grow`], of all full channels of the circle.
pub(crate) unsafe fn open_full(net: &Net<'_>, circle: &[(NodeId, Edge)]) -> Result<(), Error> {
    let full = circle.iter().map(|(_, edge)| edge).filter(|edge| edge.full);
    let least = full.min_by_key(|edge| net.meter(edge.channel).capacity()).expect("a full channel");
    // SAFETY: by this function's contract.
    if unsafe { grow(net, least.channel, GROWTH_UNASKED) } {
        return Ok(());
    }
    let limit = net.plan.budget.unwrap_or(GROWTH_UNASKED);
    Err(Error::Deadlock(describe(net, circle, Some(limit))))
}

/// Doubles a channel, if the byte budget allows, or `unasked` bytes in all where none was given.
///
/// # Safety
/// No other thread accesses the channel's slots or activates its producer before it has
/// synchronised with this one, and neither end has slot pointers from before: both nodes are at
/// rest, and held by the caller or found so by the last thread awake.
unsafe fn grow(net: &Net<'_>, channel: ChannelId, unasked: usize) -> bool {
    let meter = net.meter(channel);
    let data = net.graph.channel(channel);
    let from = meter.capacity();
    let heavy = !meter.light();
    let cost = if heavy { meter.byte_limit() } else { from * data.item.bytes };
    let most = net.plan.budget.unwrap_or(unasked);
    let charge = |spent: usize| Some(spent + cost).filter(|spent| *spent <= most);
    if net.spent.fetch_update(Ordering::Relaxed, Ordering::Relaxed, charge).is_err() {
        return false;
    }
    if heavy {
        meter.set_byte_limit(cost * 2);
        lock(&net.growths).push(Growth { channel, limit: Limit::Bytes, from: cost, to: cost * 2 });
    } else {
        // SAFETY: by this function's contract; slot pointers are read anew at every claim.
        unsafe { net.rings[channel.index()].grow(from * 2) };
        lock(&net.growths).push(Growth { channel, limit: Limit::Items, from, to: from * 2 });
    }
    let producer = &net.nodes[data.from.0.index()].state;
    producer.wait.ready();
    let stuck = producer.stuck.iter().filter(|stuck| stuck.load(Ordering::Relaxed) != UNSTUCK);
    stuck.for_each(|stuck| stuck.store(0, Ordering::Relaxed));
    true
}
