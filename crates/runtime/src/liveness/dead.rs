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
use std::sync::OnceLock;
use std::sync::atomic::AtomicUsize;
use thalweg_graph::{ChannelId, GraphData, Node, NodeId};

/// What is needed to find the dead nodes of a run.
#[derive(Debug)]
pub(crate) struct Dead {
    /// By node: whether an end can be reached from it. Empty in a graph without loops, or without ends.
    reaching: Box<[bool]>,
    /// By component: live nodes and channels to components that are alive. Computed when the first node dies.
    counts: OnceLock<Box<[AtomicUsize]>>,
}

impl Dead {
    pub(crate) fn new(graph: &GraphData) -> Dead {
        let loops = has_loops(graph);
        let ends = graph.node_ids().filter(|node| loops && is_end(graph.node(*node)));
        Dead { reaching: upstream(graph, ends.collect()).into(), counts: OnceLock::new() }
    }

    /// Whether the node is run for its side effects: no end can be reached from it, where from others one can.
    pub(crate) fn has_side_effects(&self, node: NodeId) -> bool {
        self.reaching.get(node.index()) == Some(&false)
    }

    fn counts(&self, net: &Net<'_>) -> &[AtomicUsize] {
        self.counts.get_or_init(|| {
            let components = net.components();
            let counts: Box<[AtomicUsize]> = (0..components.len()).map(|_| AtomicUsize::new(0)).collect();
            let add = |node: NodeId| counts[components.of(node)].fetch_add(1, Ordering::Relaxed);
            let live = |node: &NodeId| self.has_side_effects(*node) || net.is_end(*node);
            net.topology.graph.node_ids().filter(live).for_each(|node| _ = add(node));
            for (from, to) in net.topology.graph.channel_ids().map(|channel| net.ends(channel)) {
                if components.of(from) != components.of(to) {
                    add(from);
                }
            }
            counts
        })
    }
}

/// Whether the graph is run for the node: it has no outputs, or returns a value.
pub(crate) fn is_end(node: &Node) -> bool {
    node.outputs.is_empty() || node.returns
}

/// Whether the graph has feedback channels.
pub(crate) fn has_loops(graph: &GraphData) -> bool {
    graph.channels().iter().any(|channel| channel.link.feedback)
}

/// The node has ended, or drops its inputs: if it kept others alive, it does so no longer.
pub(crate) fn no_longer_live(net: &Net<'_>, node: NodeId) {
    let live = net.liveness.dead.has_side_effects(node) || net.is_end(node);
    let state = &net.cells.nodes[node.index()].state;
    if live && !net.liveness.dead.reaching.is_empty() && !state.counted_dead.swap(true, Ordering::AcqRel) {
        cancel_dead_nodes(net, node);
    }
}

/// Takes one off the component of a node that was live, and cancels what dies by that.
#[cold]
fn cancel_dead_nodes(net: &Net<'_>, node: NodeId) {
    let (components, counts) = (net.components(), net.liveness.dead.counts(net));
    let (mut open, mut cancelled) = (vec![components.of(node)], Vec::new());
    while let Some(component) = open.pop() {
        if counts[component].fetch_sub(1, Ordering::AcqRel) > 1 {
            continue;
        }
        for member in components.members(component) {
            if net.liveness.dead.reaching[member.index()] && cancel(net, *member) {
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

/// The nodes from which one of `ends` can be reached, by node; empty for no ends.
fn upstream(graph: &GraphData, ends: Vec<NodeId>) -> Vec<bool> {
    if ends.is_empty() {
        return Vec::new();
    }
    let (mut reaching, mut open) = (vec![false; graph.nodes().len()], ends);
    while let Some(node) = open.pop() {
        if !std::mem::replace(&mut reaching[node.index()], true) {
            let inputs = graph.node(node).inputs.iter().filter_map(|port| port.channel);
            open.extend(inputs.map(|id| graph.channel(id).from.0));
        }
    }
    reaching
}
