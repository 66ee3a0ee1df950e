//! What the last thread awake does before it sleeps: nothing runs, nothing can, and it alone looks
//! at the graph.
//!
//! What it sees is who waits for whom ([`waits`](crate::waits)). Then, in this order:
//!
//! 1. A circle with a full channel: the smallest full one doubles, within the byte budget (Parks;
//!    Geilen and Basten). Artificial deadlocks end here.
//! 2. A circle that somebody waits for in front of a full channel: that channel doubles, as in 1, for
//!    with room enough he would have gone on, and might bring what the circle lacks.
//! 3. A circle whose outside inputs have all ended, there being some: its feedback channels end in
//!    one step, and the loop drains.
//! 4. Where a process awaits a future that is no channel's, nothing: it may set the rest going.
//! 5. Otherwise a circle is a true deadlock, and the run fails, naming it.
//!
//! There may be several circles, and what one lacks may come once another is opened: no circle is
//! called a deadlock before 2 and 3 were tried on all. One through a merge is the last to be: the
//! merge waits for any of its inputs, and another may be the one that matters.

use crate::error::Error;
use crate::growth::{feed, open_full};
use crate::net::Net;
use crate::node::Waiting;
use crate::sync::{Ordering, fence};
use crate::waits::{Circle, Edge, Waits, describe, edges};
use thalweg_graph::{ChannelId, NodeId};

/// Looks at the resting graph, and opens circles until something can go on; true if that is so or the
/// run is over. Called with the sleep lock held and every other thread asleep, so it must neither wake
/// nor wait.
///
/// One circle may not be enough: who lacks room on two channels lacks it still when one has grown. And
/// a thread that leaves for good does not come by here again.
pub(crate) fn examine(net: &Net<'_>) -> bool {
    fence(Ordering::SeqCst);
    while !net.stopped() {
        let waits = Waits::new(net.graph.node_ids().map(|node| (node, edges(net, node))));
        // Looked at after the edges: outside ends come and go while the workers sleep, and nothing is
        // judged that has changed since.
        if net.graph.node_ids().any(|node| net.actionable(node)) {
            return true;
        }
        match open(net, &waits) {
            Ok(true) => {}
            // Somebody outside may set all of it going.
            Ok(false) if net.graph.node_ids().any(|node| is_foreign(net, node) || has_lent(net, node)) => {
                return false;
            }
            Ok(false) => net.record(Error::Deadlock(describe(net, &waits.worst(starved(&waits)), None))),
            Err(error) => net.record(error),
        }
    }
    true
}

/// Circles without a full channel.
fn starved(waits: &Waits) -> Vec<Circle> {
    waits.circles(false).collect()
}

/// Opens one of the circles, if one can be.
///
/// # Errors
/// As [`open_full`].
fn open(net: &Net<'_>, waits: &Waits) -> Result<bool, Error> {
    // SAFETY: this is the last thread awake of the run and it holds the sleep lock: nobody else
    // accesses a ring before it has come back through that lock.
    if unsafe { open_full(net, waits) }? {
        return Ok(true);
    }
    let starved = starved(waits);
    // SAFETY: as above.
    let fed = starved.iter().any(|circle| unsafe { feed(net, waits, circle) });
    Ok(fed || starved.iter().any(|circle| end_feedback(net, circle)))
}

/// Whether a process waits for a future of its own.
fn is_foreign(net: &Net<'_>, node: NodeId) -> bool {
    let state = &net.nodes[node.index()].state;
    !state.is_done() && state.wait.read() == Waiting::Foreign
}

/// Whether a process has ended while somebody elsewhere still has a message that was lent to it.
fn has_lent(net: &Net<'_>, node: NodeId) -> bool {
    let lent = |channel: &ChannelId| net.rings[channel.index()].is_lent() && !net.meter(*channel).gone();
    net.nodes[node.index()].state.is_done() && net.inputs(node).iter().any(lent)
}

/// Ends the feedback channels of the loop that a circle runs through, if its outside inputs have
/// ended and there are some.
fn end_feedback(net: &Net<'_>, circle: &[(NodeId, Edge)]) -> bool {
    let components = net.components();
    let inside = |node: NodeId| components.of(node) == components.of(circle[0].0);
    let entering = |id: &ChannelId| {
        let channel = net.graph.channel(*id);
        inside(channel.to.0) && !inside(channel.from.0)
    };
    let mut outside = net.graph.channel_ids().filter(entering).peekable();
    if outside.peek().is_none() || !outside.all(|id| net.meter(id).ended()) {
        return false;
    }
    let mut closed = false;
    for id in net.graph.channel_ids() {
        let channel = net.graph.channel(id);
        let feedback = channel.link.feedback && inside(channel.to.0) && inside(channel.from.0);
        if feedback && !net.meter(id).ended() {
            net.meter(id).end();
            net.nodes[channel.to.0.index()].state.alert.store(true, Ordering::Relaxed);
            closed = true;
        }
    }
    closed
}
