//! The end of a node, by its own doing or by a failure: what its neighbours and the run must learn of it.

use crate::error::Error;
use crate::liveness::dead;
use crate::net::Net;
use crate::process::{Cause, end_streams};
use crate::sched::make_ready::{changed, changed_outside};
use crate::sync::Ordering;
use thalweg_graph::NodeId;

/// Notes that a node has ended, and alerts its neighbours, whatever they wait for. The last node ends the run.
pub(crate) fn ended(net: &Net<'_>, node: NodeId) {
    let state = &net.node(node).state;
    state.done.store(true, Ordering::Release);
    state.wait.never();
    net.alert_peers(node);
    dead::no_longer_live(net, node);
    changed(net, node);
    if net.sched.live.fetch_sub(1, Ordering::AcqRel) == 1 {
        net.finish();
    }
}

/// An end outside of the run has left: nodes that feed it alone are dead.
pub(crate) fn left(net: &Net<'_>, node: NodeId) {
    dead::no_longer_live(net, node);
    changed_outside(net, node);
}

/// Fails the run for a panic in the node's code.
pub(crate) fn fail_panic(net: &Net<'_>, node: NodeId, panic: Box<dyn std::any::Any + Send>) {
    let message = crate::panic_message(&*panic);
    net.fail(Error::Panic { node: net.topology.graph.node(node).name.to_string(), message });
    // The streams whose ends the poll that panicked has dropped.
    end_streams(net.owners.of(node), Cause::Failed);
}
