//! What the last thread awake does before it sleeps: nothing runs, nothing can, and it alone looks
//! at the graph.
//!
//! It sees what each node waits for ([`waits`](crate::liveness::waits)), and does the first of these that it can:
//!
//! 1. In a cycle with a full channel, the smallest full channel doubles, within the byte budget
//!    (Parks; Geilen and Basten). This ends artificial deadlocks.
//! 2. A cycle that starves whatever the rest does, that an end of the graph waits for, and that has an
//!    outside input which holds what one of its nodes needs, is a deadlock ([`starve`](crate::liveness::starve)):
//!    the run fails and the error names both. (Where the options say so, such a loop ends instead,
//!    before step 1.)
//! 3. Where a node waits for a cycle in front of a full channel, that channel doubles, as in 1: with
//!    more room the node would have gone on, and might bring what the cycle lacks.
//! 4. A cycle whose outside inputs have all ended, there being some, ends: its feedback channels end
//!    in one step, and the loop drains.
//! 5. Where a process awaits a future that is no channel's, nothing: that future may set the rest going.
//! 6. Any other cycle is a deadlock, and the run fails, naming it.
//!
//! There may be several cycles, and what one lacks may come once another is opened: no cycle is
//! called a deadlock in step 6 before the others were tried on all. One through a merge is the last to
//! be: the merge waits for any of its inputs, and another may be the one that matters.

use crate::error::Error;
use crate::liveness::growth::{FEED_UNASKED, feed, open_full};
use crate::liveness::starve::{Unread, close, is_firm, outside_has_ended, unread_at_rest, unread_now};
use crate::liveness::waits::{Circle, Edge, Waits, describe, describe_unread, edges};
use crate::net::{Net, Waiting};
use crate::sync::{Ordering, fence};
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
        let waits = Waits::new(net.topology.graph.node_ids().map(|node| (node, edges(net, node))));
        // Looked at after the edges: outside ends come and go while the workers sleep, and nothing is
        // judged that has changed since.
        if net.topology.graph.node_ids().any(|node| net.actionable(node)) {
            return true;
        }
        match open(net, &waits) {
            Ok(true) => {}
            Ok(false) if awaits_outside(net) => return false,
            Ok(false) => net.record(deadlock(net, &waits)),
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
    if net.liveness.closes_loops {
        let starved = starved(waits);
        let mut firm = starved.iter().filter(|circle| is_firm(circle));
        if firm.any(|circle| close(net, circle, true)) {
            return Ok(true);
        }
    }
    // SAFETY: this is the last thread awake of the run and it holds the sleep lock: nobody else
    // accesses a ring before it has come back through that lock.
    if unsafe { open_full(net, waits) }? {
        return Ok(true);
    }
    let starved = starved(waits);
    if !net.liveness.closes_loops
        && let Some((circle, unread)) = find_unread(&starved, |circle| unread_now(net, waits, circle))
    {
        return Err(Error::Deadlock(describe_unread(net, circle, unread)));
    }
    // SAFETY: as above.
    if starved.iter().any(|circle| unsafe { feed(net, waits, circle) }) {
        return Ok(true);
    }
    if net.liveness.closes_loops {
        // A member that waits for any of its inputs may get an item from what the outside sets going.
        return Ok(!awaits_outside(net) && starved.iter().any(|circle| close(net, circle, true)));
    }
    let is_over = |circle: &&Circle| outside_has_ended(net, circle) && unread_at_rest(net, circle).is_none();
    Ok(starved.iter().filter(is_over).any(|circle| close(net, circle, false)))
}

/// Names what can never go on.
fn deadlock(net: &Net<'_>, waits: &Waits) -> Error {
    let starved = starved(waits);
    Error::Deadlock(match find_unread(&starved, |circle| unread_at_rest(net, circle)) {
        Some((circle, unread)) => describe_unread(net, circle, unread),
        None => {
            let worst = waits.worst(starved);
            let fed = waits.full_before(&worst).is_empty();
            describe(net, &worst, (!fed).then(|| net.topology.plan.budget.unwrap_or(FEED_UNASKED)))
        }
    })
}

/// The first cycle with an outside input that it cannot read.
fn find_unread(
    circles: &[Circle],
    unread: impl Fn(&[(NodeId, Edge)]) -> Option<Unread>,
) -> Option<(&Circle, Unread)> {
    circles.iter().find_map(|circle| unread(circle).map(|unread| (circle, unread)))
}

/// Whether something outside of the run may set a node going: a future, or a message that was lent.
fn awaits_outside(net: &Net<'_>) -> bool {
    net.topology.graph.node_ids().any(|node| is_foreign(net, node) || has_lent(net, node))
}

/// Whether a process waits for a future of its own.
fn is_foreign(net: &Net<'_>, node: NodeId) -> bool {
    let state = &net.cells.nodes[node.index()].state;
    !state.is_done() && state.wait.read() == Waiting::Foreign
}

/// Whether a process has ended while somebody elsewhere still has a message that was lent to it.
fn has_lent(net: &Net<'_>, node: NodeId) -> bool {
    let lent =
        |channel: &ChannelId| net.cells.rings[channel.index()].is_lent() && !net.meter(*channel).gone();
    net.cells.nodes[node.index()].state.is_done() && net.inputs(node).iter().any(lent)
}
