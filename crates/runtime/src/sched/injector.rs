//! What workers do about external events ([`ExternalEvent`]).

use crate::error::Error;
use crate::liveness::dead;
use crate::net::{ExternalEvent, Net};
use crate::sched::make_ready::{changed_outside, make_ready};
use crate::sync::{Ordering, fence};
use thalweg_graph::NodeId;

/// Acts on all injected events: makes the processes concerned claimable.
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

fn woken(net: &Net<'_>, node: NodeId) {
    net.cells.nodes[node.index()].state.alert.store(true, Ordering::Release);
    fence(Ordering::SeqCst); // pairs with that of the worker that has just run the node: see `ready`
    make_ready(net, node);
}

fn dropped(net: &Net<'_>, node: NodeId) {
    // In this order: a node that fails is marked done only after the run is stopped.
    if net.cells.nodes[node.index()].state.is_done() && !net.stopped() {
        end_ends(net, node);
    }
    ends_were_dropped(net, node);
    changed_outside(net, node);
}

/// Ends of the process were dropped. As where a node ends, the nodes at the other ends must look,
/// whatever they wait for.
pub(crate) fn ends_were_dropped(net: &Net<'_>, node: NodeId) {
    net.alert_peers(node);
    if net.is_end(node) && !net.is_live_end(node) {
        dead::no_longer_live(net, node);
    }
}

/// Ends the streams of a process that has ended, and leaves its inputs, wherever its ends are. An input stays while a
/// message of its channel is still lent.
///
/// A cancelled node's streams stay open: see [`dead`](crate::liveness::dead).
pub(crate) fn end_ends(net: &Net<'_>, node: NodeId) {
    if !net.cells.nodes[node.index()].state.is_cancelled() {
        net.outputs(node).iter().for_each(|channel| net.meter(*channel).end());
    }
    let inputs = net.inputs(node).iter().filter(|channel| !net.meter(**channel).gone());
    let unused = inputs.filter(|channel| !net.cells.rings[channel.index()].is_lent());
    unused.for_each(|channel| net.meter(*channel).leave());
}

#[cold]
fn fail_poisoned(net: &Net<'_>, node: NodeId, operation: u64) {
    let end = net.end_name(operation);
    let message = format!("a panic outside of it dropped {end}: an end is for its own process alone");
    net.fail(Error::Panic { node: net.topology.graph.node(node).name.to_string(), message });
}
