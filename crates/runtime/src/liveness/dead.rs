//! Dead nodes, in a graph with loops: nodes from which nothing can be reached any more that the run is for.
//!
//! Where no consumer reads a node's outputs any more, the node ends; but a loop reads its own outputs. So in a graph
//! with loops dead nodes are *cancelled*. The *live* nodes that keep others alive are: an end of the graph while its
//! consumer reads; a node that returns a value, until it has ended; and a node from which no end can be reached at
//! all, which is run for its side effects, until it ends.
//!
//! Each strongly connected component counts its live nodes and its channels to components that are alive. The thread
//! that takes a count to 0 cancels the members and takes one off the component at the other end of each incoming
//! channel: all cancellations together take time proportional to the graph.
//!
//! # What a cancelled node may observe
//!
//! Members are cancelled one after the other while workers activate them. A member in the middle of an
//! activation must not observe that another has ended, since by Kahn's semantics that one goes on.
//!
//! - *A cancelled node never ends its streams* (`Sequential::end`, `Parallel::end_when_retired`,
//!   `process::Cause::Cancelled`). Their consumers wait, as for any item that has not come.
//! - *No consumer waits for ever.* A component is cancelled only when no channel leads from it to a
//!   component that is not. So when a node is cancelled, every consumer of its outputs has been
//!   cancelled by the same call, or ends by itself, or has left. Each cancelled consumer has its alert set
//!   after its flag, and ends at its next activation, whatever it waits for.
//! - That a cancelled node *leaves* its inputs cannot be observed: a send to it succeeds and discards.

use crate::net::Net;
use crate::sched::make_ready::make_ready;
use crate::sync::{Ordering, fence};
use thalweg_graph::{ChannelId, NodeId};

/// The node has ended, or drops its inputs: if it kept others alive, it does so no longer.
pub(crate) fn no_longer_live(net: &Net<'_>, node: NodeId) {
    let live = net.liveness.live.has_side_effects(node) || net.is_end(node);
    let state = &net.cells.nodes[node.index()].state;
    if live && !net.liveness.live.reaching.is_empty() && !state.counted_dead.swap(true, Ordering::AcqRel) {
        cancel_dead_nodes(net, node);
    }
}

/// Takes one off the component of a node that was live, and cancels what dies by that.
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

/// True if the node was neither done nor cancelled.
fn cancel(net: &Net<'_>, node: NodeId) -> bool {
    let state = &net.cells.nodes[node.index()].state;
    let running = !state.is_done() && !state.cancelled.swap(true, Ordering::Relaxed);
    if running {
        state.alert.store(true, Ordering::Release);
    }
    running
}

fn notify_cancelled(net: &Net<'_>, nodes: &[NodeId]) {
    fence(Ordering::SeqCst); // pairs with `Sleep::announce` and `doze`
    nodes.iter().for_each(|node| make_ready(net, *node));
}
