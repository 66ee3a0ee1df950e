//! Dead nodes, in a graph with loops: nodes from which no live node can be reached any more.
//!
//! A node ends when no consumer reads its outputs any more; but a loop reads its own outputs. So in a graph with loops
//! dead nodes are *cancelled*. These nodes are *live*, and keep others alive:
//!
//! | node | live until |
//! |---|---|
//! | an end of the graph without outputs | it reads no input any more |
//! | a node that returns a value | it has ended |
//! | a node from which no end can be reached, in a graph that has ends: it is run for its side effects | it has ended |
//!
//! # Counts
//!
//! Each strongly connected component counts its live nodes and its channels to components that are alive ([`Live`]).
//! The thread that decrements a count to 0 cancels the members, and decrements the count of the component at the other
//! end of each incoming channel. All cancellations together take time proportional to the graph.
//!
//! [`Live`]: crate::liveness::live::Live
//!
//! # Flags
//!
//! | flag of a node | set by | ordering | so that |
//! |---|---|---|---|
//! | `counted_dead` | the first thread that finds a live node to be no longer live, by `swap` | `AcqRel` | each live node is subtracted once |
//! | `cancelled` | the thread that decrements its component's count to 0, by `swap` | `Relaxed`, before `alert` | the node ends at its next activation, unless it drains |
//! | `alert` | that thread, after `cancelled` | `Release`; `take_alert` acquires | an activation that takes the alert sees `cancelled` |
//!
//! The counts are decremented with `AcqRel`. After all flags are set, the thread fences and makes the cancelled nodes
//! ready, as after any change ([`make_ready`]).
//!
//! # What a cancelled node may observe
//!
//! Members are cancelled one after the other while workers activate them. A member in the middle of an
//! activation must not observe that another has ended, since by Kahn's semantics that one continues.
//!
//! - *A cancelled node never ends its streams* (`Sequential::end`, `Parallel::end_when_retired`,
//!   `process::Cause::Cancelled`). Their consumers wait, as for any item that has not come.
//! - *No consumer waits for ever.* A component is cancelled only when no channel leads from it to a
//!   component that is not. So when a node is cancelled, every consumer of its outputs has been
//!   cancelled by the same call, or ends by itself, or has left. Each cancelled consumer has its alert set
//!   after its flag, and ends at its next activation, whatever it waits for.
//! - *A loop that drains is not cancelled*, all of it or none ([`starve`](crate::liveness::starve)): its nodes ignore the flag.
//! - That a cancelled node *leaves* its inputs cannot be observed: a send to it succeeds and discards.

use crate::net::Net;
use crate::sched::make_ready::make_ready;
use crate::sync::{Ordering, fence};
use thalweg_graph::{ChannelId, NodeId};

/// Called when a node has ended or reads no input any more. If the node was live, it keeps no other node alive from now
/// on, and the nodes that are dead by that are cancelled. From any thread.
pub(crate) fn no_longer_live(net: &Net<'_>, node: NodeId) {
    let live = net.liveness.live.has_side_effects(node) || net.is_end(node);
    let state = &net.cells.nodes[node.index()].state;
    if live && !net.liveness.live.reaching.is_empty() && !state.counted_dead.swap(true, Ordering::AcqRel) {
        cancel_dead_nodes(net, node);
    }
}

/// Decrements the count of the component of a node that was live, and cancels the components that are dead by that.
#[cold]
fn cancel_dead_nodes(net: &Net<'_>, node: NodeId) {
    let (components, counts) = (net.components(), net.liveness.live.counts(&net.topology));
    let (mut open, mut cancelled) = (vec![components.of(node)], Vec::new());
    while let Some(component) = open.pop() {
        if counts[component].fetch_sub(1, Ordering::AcqRel) > 1 {
            continue;
        }
        for member in components.members(component) {
            if net.liveness.live.reaching[member.index()] && cancel(net, *member) {
                cancelled.push(*member);
            }
            let from = |channel: &ChannelId| components.of(net.ends(*channel).0);
            open.extend(net.inputs(*member).iter().map(from).filter(|from| *from != component));
        }
    }
    if !cancelled.is_empty() {
        notify_cancelled(net, &cancelled);
    }
}

/// Cancels a node. True if it was neither done nor cancelled.
fn cancel(net: &Net<'_>, node: NodeId) -> bool {
    let state = &net.cells.nodes[node.index()].state;
    let running = !state.is_done() && !state.cancelled.swap(true, Ordering::Relaxed);
    if running {
        // After `cancelled`: see the flags.
        state.alert.store(true, Ordering::Release);
    }
    running
}

/// Makes cancelled nodes ready, after the flags of all of them are set.
fn notify_cancelled(net: &Net<'_>, nodes: &[NodeId]) {
    fence(Ordering::SeqCst); // pairs with `Sleep::announce` and `doze`
    nodes.iter().for_each(|node| make_ready(net, *node));
}
