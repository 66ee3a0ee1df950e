//! The examination of a graph at rest, by the last thread awake before it sleeps.
//!
//! # Why the thread has the graph to itself
//!
//! The thread holds the sleep lock and all other threads of the run sleep ([`sleep`](crate::sched::sleep)). A thread
//! that sleeps takes that lock before it continues, so the examination precedes its next access, and the lock orders
//! the two.
//!
//! Threads outside the run may change counters meanwhile, but never access slots: they drop an end or a lent message of
//! a process, or wake a foreign future ([`drops`](crate::process::drops)). Such a change is not missed. The outside
//! thread changes a counter, fences, and reads whether workers sleep (`Signals::inject`); the examining thread fences
//! and reads the counters. So one of the two sees the other, and a wake-up takes effect once the sleep lock is free.
//!
//! # Steps
//!
//! From the edges of all nodes ([`waits`](crate::liveness::waits)) the thread does the first of these that applies, and
//! repeats until a node is claimable:
//!
//! 1. A loop without outside inputs that is done: its feedback channels end in one step, and the loop drains
//!    ([`starve`](crate::liveness::starve)).
//! 2. A cycle with a full channel: the cheapest full channel doubles, within the byte budget (Parks; Geilen and
//!    Basten). This opens artificial deadlocks.
//! 3. A firm cycle without a full channel, for which a live end of the graph waits, and whose loop has an outside input
//!    that holds enough for one of its nodes: a deadlock. The run fails; the error names the cycle and the input.
//! 4. A full channel in front of a cycle: it doubles, as in 2. With more room its producer would have continued, and
//!    might bring what the cycle lacks.
//! 5. A cycle whose loop has outside inputs, all of them ended: its feedback channels end, as in 1.
//! 6. A process awaits a foreign future, a node has an alarm set, or a lent message is held outside the graph: nothing, as
//!    each may make a node claimable.
//! 7. Any other cycle: a deadlock. The run fails, and the error names the cycle.
//!
//! With `Options::close_starved_loops`, cycles without a full channel end in place of step 5, with their outside inputs:
//! first a firm one, and another one unless step 6 applies. Step 3 does not apply.
//!
//! A cycle may get what it lacks once another one is opened. So no cycle is called a deadlock in step 7 before the
//! other steps were tried on all of them. A cycle through a merge is reported last: the merge waits for any of its
//! inputs, and another of its inputs may be the cause.

use crate::error::Error;
use crate::liveness::growth::{GRANT_BY_DEFAULT, grant, open_full};
use crate::liveness::starve::{
    Unread, close_cycle, close_done, is_firm, outside_has_ended, unread_at_rest, unread_now,
};
use crate::liveness::waits::{Cycle, Edge, WaitGraph, describe, describe_unread, edges};
use crate::net::{Net, Waiting};
use crate::sync::{Ordering, fence};
use thalweg_graph::{ChannelId, NodeId};

/// Examines the graph, and opens cycles until a node is claimable. Returns true if one is, or the run is over; the
/// caller then stays awake. Called with the sleep lock held and every other thread asleep, so it must neither wake a
/// thread nor wait.
///
/// It repeats until a node is claimable, since a node that lacks room on two channels still lacks it when one has
/// grown, and since a caller that leaves for good does not examine the graph again.
pub(crate) fn examine(net: &Net<'_>) -> bool {
    fence(Ordering::SeqCst); // pairs with the fence in `Signals::inject`
    while !net.stopped() {
        let waits = WaitGraph::new(net.topology.graph.node_ids().map(|node| (node, edges(net, node))));
        // After the edges were read: a thread outside the run may have changed a counter since, and edges that are out
        // of date must not be judged.
        if net.topology.graph.node_ids().any(|node| net.actionable(node)) {
            return true;
        }
        match open(net, &waits) {
            Ok(true) => {}
            Ok(false) if awaits_outside(net) => return false,
            Ok(false) => drop(net.record(deadlock(net, &waits))),
            Err(error) => drop(net.record(error)),
        }
    }
    true
}

/// Cycles without a full channel.
fn starved(waits: &WaitGraph) -> Vec<Cycle> {
    waits.cycles(false).collect()
}

/// Opens one of the cycles: steps 1 to 5. False if none can be opened.
///
/// # Errors
/// The budget allows no growth ([`open_full`]), or step 3 finds a deadlock.
fn open(net: &Net<'_>, waits: &WaitGraph) -> Result<bool, Error> {
    if close_done(net) {
        return Ok(true);
    }
    // SAFETY: this is the last thread awake of the run and it holds the sleep lock, so no node is active, and a thread
    // of the run takes that lock before it activates one. Threads outside the run access no slots, except a lent
    // message, which growth leaves where it is.
    if unsafe { open_full(net, waits) }? {
        return Ok(true);
    }
    let starved = starved(waits);
    if !net.liveness.closes_loops
        && let Some((cycle, unread)) = find_unread(&starved, |cycle| unread_now(net, waits, cycle))
    {
        return Err(Error::Deadlock(describe_unread(net, cycle, unread)));
    }
    // SAFETY: as for `open_full` above.
    if starved.iter().any(|cycle| unsafe { grant(net, waits, cycle) }) {
        return Ok(true);
    }
    if net.liveness.closes_loops {
        let mut firm = starved.iter().filter(|cycle| is_firm(cycle) && !may_be_fed(net, cycle));
        // A node of another cycle waits for any of its inputs, and an event from outside the run may bring it an item.
        let end_any = || !awaits_outside(net) && starved.iter().any(|cycle| close_cycle(net, cycle, true));
        return Ok(firm.any(|cycle| close_cycle(net, cycle, true)) || end_any());
    }
    let is_over = |cycle: &&Cycle| {
        outside_has_ended(net, cycle) && unread_at_rest(net, cycle).is_none() && !may_be_fed(net, cycle)
    };
    Ok(starved.iter().filter(is_over).any(|cycle| close_cycle(net, cycle, false)))
}

/// The error of step 7.
fn deadlock(net: &Net<'_>, waits: &WaitGraph) -> Error {
    let starved = starved(waits);
    Error::Deadlock(match find_unread(&starved, |cycle| unread_at_rest(net, cycle)) {
        Some((cycle, unread)) => describe_unread(net, cycle, unread),
        None => {
            let worst = waits.worst(starved);
            let granted = waits.full_before(&worst).is_empty();
            describe(net, &worst, (!granted).then(|| net.topology.plan.budget().unwrap_or(GRANT_BY_DEFAULT)))
        }
    })
}

/// The first cycle for which `unread` finds an outside input, with that input.
fn find_unread(
    cycles: &[Cycle],
    unread: impl Fn(&[(NodeId, Edge)]) -> Option<Unread>,
) -> Option<(&Cycle, Unread)> {
    cycles.iter().find_map(|cycle| unread(cycle).map(|unread| (cycle, unread)))
}

/// Whether an event outside the run may make a node claimable: a foreign future, an alarm, or the drop of a lent message.
fn awaits_outside(net: &Net<'_>) -> bool {
    net.topology
        .graph
        .node_ids()
        .any(|node| is_foreign(net, node) || is_timed(net, node) || has_lent(net, node))
}

/// Whether a process waits for a foreign future.
fn is_foreign(net: &Net<'_>, node: NodeId) -> bool {
    let state = &net.cells.nodes[node.index()].state;
    !state.is_done() && state.wait.read() == Waiting::Foreign
}

/// Whether an alarm of the node is set: see [`alarm`](crate::net::alarm).
fn is_timed(net: &Net<'_>, node: NodeId) -> bool {
    let state = &net.node(node).state;
    !state.is_done() && matches!(state.wait.read(), Waiting::Timed { .. })
}

/// Whether a node of the loop that a cycle runs through has an alarm set, and may bring an item to a merge of the cycle, or
/// push into the loop what would be lost if it ended now.
fn may_be_fed(net: &Net<'_>, cycle: &Cycle) -> bool {
    let (components, of) = (net.components(), cycle.first().map(|(node, _)| *node));
    let members = of.map_or(&[][..], |node| components.members(components.of(node)));
    members.iter().any(|member| is_timed(net, *member))
}

/// Whether a process has ended while the guard of a message lent to it is alive outside it.
fn has_lent(net: &Net<'_>, node: NodeId) -> bool {
    let lent =
        |channel: &ChannelId| net.cells.rings[channel.index()].is_lent() && !net.meter(*channel).gone();
    net.cells.nodes[node.index()].state.is_done() && net.inputs(node).iter().any(lent)
}
