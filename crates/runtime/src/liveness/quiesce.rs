//! The examination of a graph at rest, by the last thread awake before it sleeps: no other thread runs or can.
//!
//! From what each node waits for ([`waits`](crate::liveness::waits)) the thread does the first of these that applies:
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
//! 5. Where a process awaits a future that is no channel's, nothing: that future may make the rest claimable.
//! 6. Any other cycle is a deadlock, and the run fails, naming it.
//!
//! There may be several cycles, and what one lacks may come once another is opened: no cycle is
//! called a deadlock in step 6 before the others were tried on all. One through a merge is the last to
//! be: the merge waits for any of its inputs, and another may be the one that matters.

use crate::error::Error;
use crate::liveness::growth::{GRANT_BY_DEFAULT, grant, open_full};
use crate::liveness::starve::{Unread, close, is_firm, outside_has_ended, unread_at_rest, unread_now};
use crate::liveness::waits::{Cycle, Edge, Waits, describe, describe_unread, edges};
use crate::net::{Net, Waiting};
use crate::sync::{Ordering, fence};
use thalweg_graph::{ChannelId, NodeId};

/// Examines the resting graph, and opens cycles until a node can go on. Returns true if one can, or the run is over.
/// Called with the sleep lock held and every other thread asleep, so it must neither wake nor wait.
///
/// Opening one cycle may not be enough: a node that lacks room on two channels still lacks it when one has grown. And
/// a thread that leaves for good does not examine again.
pub(crate) fn examine(net: &Net<'_>) -> bool {
    fence(Ordering::SeqCst);
    while !net.stopped() {
        let waits = Waits::new(net.topology.graph.node_ids().map(|node| (node, edges(net, node))));
        // After the edges were read: ends outside of the run change channels while the workers sleep, and what has
        // changed since must not be judged.
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

/// Cycles without a full channel.
fn starved(waits: &Waits) -> Vec<Cycle> {
    waits.cycles(false).collect()
}

/// Opens one of the cycles, if one can be opened.
///
/// # Errors
/// As [`open_full`].
fn open(net: &Net<'_>, waits: &Waits) -> Result<bool, Error> {
    if net.liveness.closes_loops {
        let starved = starved(waits);
        let mut firm = starved.iter().filter(|cycle| is_firm(cycle));
        if firm.any(|cycle| close(net, cycle, true)) {
            return Ok(true);
        }
    }
    // SAFETY: this is the last thread awake of the run and it holds the sleep lock: no other thread accesses a ring
    // before it has taken that lock.
    if unsafe { open_full(net, waits) }? {
        return Ok(true);
    }
    let starved = starved(waits);
    if !net.liveness.closes_loops
        && let Some((cycle, unread)) = find_unread(&starved, |cycle| unread_now(net, waits, cycle))
    {
        return Err(Error::Deadlock(describe_unread(net, cycle, unread)));
    }
    // SAFETY: as above.
    if starved.iter().any(|cycle| unsafe { grant(net, waits, cycle) }) {
        return Ok(true);
    }
    if net.liveness.closes_loops {
        // A member that waits for any of its inputs may get an item after an event from outside.
        return Ok(!awaits_outside(net) && starved.iter().any(|cycle| close(net, cycle, true)));
    }
    let is_over = |cycle: &&Cycle| outside_has_ended(net, cycle) && unread_at_rest(net, cycle).is_none();
    Ok(starved.iter().filter(is_over).any(|cycle| close(net, cycle, false)))
}

/// The error for a graph that can never go on.
fn deadlock(net: &Net<'_>, waits: &Waits) -> Error {
    let starved = starved(waits);
    Error::Deadlock(match find_unread(&starved, |cycle| unread_at_rest(net, cycle)) {
        Some((cycle, unread)) => describe_unread(net, cycle, unread),
        None => {
            let worst = waits.worst(starved);
            let granted = waits.full_before(&worst).is_empty();
            describe(net, &worst, (!granted).then(|| net.topology.plan.budget.unwrap_or(GRANT_BY_DEFAULT)))
        }
    })
}

/// The first cycle with an outside input that it cannot read.
fn find_unread(
    cycles: &[Cycle],
    unread: impl Fn(&[(NodeId, Edge)]) -> Option<Unread>,
) -> Option<(&Cycle, Unread)> {
    cycles.iter().find_map(|cycle| unread(cycle).map(|unread| (cycle, unread)))
}

/// Whether an event outside of the run may make a node claimable: a future, or a lent message.
fn awaits_outside(net: &Net<'_>) -> bool {
    net.topology.graph.node_ids().any(|node| is_foreign(net, node) || has_lent(net, node))
}

/// Whether a process waits for a future of its own.
fn is_foreign(net: &Net<'_>, node: NodeId) -> bool {
    let state = &net.cells.nodes[node.index()].state;
    !state.is_done() && state.wait.read() == Waiting::Foreign
}

/// Whether a process has ended while a message that was lent to it is still held elsewhere.
fn has_lent(net: &Net<'_>, node: NodeId) -> bool {
    let lent =
        |channel: &ChannelId| net.cells.rings[channel.index()].is_lent() && !net.meter(*channel).gone();
    net.cells.nodes[node.index()].state.is_done() && net.inputs(node).iter().any(lent)
}
