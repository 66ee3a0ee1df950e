//! The end of a node, by its own decision or by a failure: its effects on the neighbours and on the run.
//!
//! # Order of steps at an end
//!
//! 1. The activating thread, which holds the node's claim, ends the node's streams and leaves its inputs. The streams
//!    of a cancelled node ([`dead`]) and of a failed process stay open.
//! 2. `done`, then the wait word `never`. From now on no thread finds the node claimable. (A process sets `done` before
//!    step 1 too, for threads that drop its lent messages: see [`injector`](crate::sched::injector).)
//! 3. The neighbours' alerts, so that each checks its channels, whatever its wait word says.
//! 4. [`changed`], which fences: the alerts are changes in the sense of [`sleep`](crate::sched::sleep), so they precede
//!    it.
//! 5. `live` falls by one. The thread that brings it to 0 ends the run; since each node does this last, all ends are
//!    then complete.

use crate::contain::into_message;
use crate::error::Error;
use crate::liveness::dead;
use crate::net::Net;
use crate::process::{Cause, end_streams};
use crate::sched::make_ready::{changed, changed_outside};
use crate::sync::Ordering;
use thalweg_graph::NodeId;

/// Ends a node: steps 2 to 5. The caller holds the node's claim, has done step 1, and calls this once for the node.
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

/// Notes that an end outside of the run has left its channel: nodes that feed no other end are dead. The caller has
/// left the channel and alerted its producer.
pub(crate) fn left(net: &Net<'_>, node: NodeId) {
    dead::no_longer_live(net, node);
    changed_outside(net, node);
}

/// Fails the run for a panic in the node's code. On the thread that caught the panic, whose list of dropped ends still
/// has those of the poll that panicked.
pub(crate) fn fail_panic(net: &Net<'_>, node: NodeId, panic: Box<dyn std::any::Any + Send>) {
    let message = into_message(panic);
    net.fail(Error::Panic { node: net.topology.graph.node(node).name().to_string(), message });
    // These streams stay open: a consumer must not take the failure for the end of the data.
    end_streams(net.owners.of(node), Cause::Failed);
}
