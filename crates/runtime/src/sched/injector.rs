//! The draining of external events ([`ExternalEvent`]): a worker acts on what happened to processes outside of their
//! activations.
//!
//! | event | injected by | effect |
//! |---|---|---|
//! | `Woken` | a clone of a process's waker, on any thread | the node's alert is set, and the node made ready |
//! | `Dropped` | a thread that dropped an end of the process, or a message lent to it, outside of its poll | neighbours are alerted and made ready; if the process has ended, its remaining streams end |
//! | `Poisoned` | such a thread, while it unwinds outside of all polls | the run fails |
//!
//! Workers drain before each decision and at each check for work (`make_ready::any_work`), so an injected event is one
//! of the changes that the protocol of [`sleep`](crate::sched::sleep) covers: `Signals::inject` is its changer.
//!
//! Several workers may drain at once; each event is taken by one of them. Two of them may act on events of one process
//! at the same time, so every effect is a flag that is set once, or an alert: repeating it is harmless.

use crate::error::Error;
use crate::liveness::dead;
use crate::net::{ExternalEvent, Net};
use crate::sched::make_ready::{changed_outside, make_ready};
use crate::sync::{Ordering, fence};
use thalweg_graph::NodeId;

/// Acts on all injected events. One load if there are none.
#[inline]
pub(crate) fn drain(net: &Net<'_>) {
    if net.injector.any() {
        drain_events(net);
    }
}

#[cold]
fn drain_events(net: &Net<'_>) {
    for word in net.injector.take() {
        match word {
            ExternalEvent::Woken(node) => woken(net, node),
            ExternalEvent::Dropped(node) => dropped(net, node),
            ExternalEvent::Poisoned(node, operation) => fail_poisoned(net, node, operation),
        }
    }
}

/// Alerts a process that a foreign future has woken. Only an activation clears the alert, so a wake-up during one leads
/// to another.
fn woken(net: &Net<'_>, node: NodeId) {
    net.cells.nodes[node.index()].state.alert.store(true, Ordering::Release);
    // Pairs with the fence of the worker that has just released the node's token: see `ready`.
    fence(Ordering::SeqCst);
    make_ready(net, node);
}

/// Acts on an end of the process, or a message lent to it, that was dropped outside of its poll.
fn dropped(net: &Net<'_>, node: NodeId) {
    // In this order: the streams of a node that fails must not end, and it is marked done only after the run is
    // stopped. So a thread that sees it done also sees the stop.
    if net.cells.nodes[node.index()].state.is_done() && !net.stopped() {
        end_ends(net, node);
    }
    ends_were_dropped(net, node);
    changed_outside(net, node);
}

/// Alerts the neighbours of a process that has dropped ends, as where a node ends: they must check their channels,
/// whatever they wait for. The caller makes them ready afterwards.
pub(crate) fn ends_were_dropped(net: &Net<'_>, node: NodeId) {
    net.alert_peers(node);
    if net.is_end(node) && !net.is_live_end(node) {
        dead::no_longer_live(net, node);
    }
}

/// Ends the streams of a process that has ended, and leaves its inputs, although other code may still have its ends. An
/// input is not left while a message of its channel is lent, since the slot is still in use.
///
/// A cancelled node's streams stay open: see [`dead`].
pub(crate) fn end_ends(net: &Net<'_>, node: NodeId) {
    if !net.cells.nodes[node.index()].state.is_cancelled() {
        net.outputs(node).iter().for_each(|channel| net.meter(*channel).end());
    }
    let inputs = net.inputs(node).iter().filter(|channel| !net.meter(**channel).gone());
    let unused = inputs.filter(|channel| !net.cells.rings[channel.index()].is_lent());
    unused.for_each(|channel| net.meter(*channel).leave());
}

/// Fails the run for an end that an unwinding thread has dropped: its consumer must not take the failure for the end of
/// the stream.
#[cold]
fn fail_poisoned(net: &Net<'_>, node: NodeId, operation: u64) {
    let end = net.end_name(operation);
    let message = format!(
        "a panic outside this process dropped {end}\nhelp: keep an end in the process that it was given to"
    );
    net.fail(Error::Panic { node: net.topology.graph.node(node).name().to_string(), message });
}
