//! How a node becomes ready: the one protocol by which a change reaches the thread that acts on it.
//!
//! A node waits for something that its neighbours change: items, room, bytes, the end of a stream, an alert. After
//! such a change the thread that made it fences and calls [`make_ready`] for each node next to it ([`changed`] does
//! both). `make_ready` is a hint with one promise: *if the node is claimable, a thread that may run it is awake or
//! woken.*
//!
//! # Three ways to learn of a ready node
//!
//! | the node or the policy | where a thread finds the node | what `make_ready` does |
//! |---|---|---|
//! | the node has a thread of its own | that thread looks at its node | rings the thread, once its wait or nap is over |
//! | the policy scans all nodes | in the channels' counters | wakes a worker; nothing is handed over, so there is no token that could be unused |
//! | the policy is notified | in a queue of [`ready`](crate::sched::ready) | acquires a token of the node, enqueues it, wakes a worker |
//!
//! # Which worker
//!
//! | the node is | queue | worker woken |
//! |---|---|---|
//! | pinned to a worker, since its stack is there | that worker's queue of pinned nodes | that worker, whichever others search |
//! | assigned to a worker by the policy ([`affinity`](crate::sched::affinity)) | that worker's queue | that worker, whichever others search |
//! | neither | the shared queue, or the queue of the worker that calls | one, unless a worker searches already |
//!
//! A node may be pinned while another thread reads that it is not. Then its token lies in a queue that some other
//! worker takes it from, which delivers it to the right one ([`deliver_pinned`]); and the worker that pinned it is
//! awake and looks again before it sleeps.
//!
//! # Why no wake-up is lost
//!
//! Both sides fence between their write and their read. The thread that changes something writes the change and reads
//! which threads are announced as asleep; a worker that goes to sleep announces itself and reads the counters and
//! queues ([`sleep`](crate::sched::sleep)). One of the two sees the other. With tokens there is a second pair of the
//! same shape: the thread that ends an activation gives back the token and looks at the node, and the thread that
//! changes something looks at the tokens ([`ready`](crate::sched::ready)).

use crate::channel::Meter;
use crate::net::{By, Cx, NO_NAP, Net, NodeCell};
use crate::sched::injector;
use crate::sched::sleep::Sleeper;
use crate::sync::{Ordering, fence};
use thalweg_graph::{Kind, NodeId};
use thalweg_policy::WorkerId;

/// After every change that a neighbour may wait for, made by a worker: items published or released, an end.
///
/// One fence and two loads when no thread sleeps: a policy that is notified learns of the neighbours when the
/// activation ends.
#[inline]
pub(crate) fn changed(net: &Net<'_>, node: NodeId) {
    fence(Ordering::SeqCst); // pairs with `Sleep::announce` and `doze`
    if net.sleep.any_asleep() {
        make_peers_ready(net, node);
    } else if net.node(node).dedicated_peers {
        ring_dedicated_peers(net, node);
    }
}

/// [`changed`] by a thread that is no worker, and so ends no activation by which a policy is notified.
pub(crate) fn changed_outside(net: &Net<'_>, node: NodeId) {
    fence(Ordering::SeqCst); // pairs with `Sleep::announce`, `doze`, and the protocol of `ready`
    if net.node(node).dedicated_peers || net.sleep.any_asleep() || net.sched.ready.notifies() {
        make_peers_ready(net, node);
    }
}

/// [`changed`] or [`changed_outside`], by the kind of thread that activates.
#[inline]
pub(crate) fn changed_by(cx: &Cx<'_>) {
    match cx.by {
        By::Worker(_) => changed(cx.net, cx.node),
        By::Dedicated => changed_outside(cx.net, cx.node),
    }
}

#[cold]
fn make_peers_ready(net: &Net<'_>, node: NodeId) {
    net.peers(node).for_each(|peer| make_ready(net, peer));
}

#[cold]
fn ring_dedicated_peers(net: &Net<'_>, node: NodeId) {
    net.peers(node).for_each(|peer| ring_dedicated(net, peer));
}

/// If the node is claimable, sees to it that a thread that may run it is awake. After the change and a fence, from any
/// thread.
pub(crate) fn make_ready(net: &Net<'_>, node: NodeId) {
    if net.node(node).dedicated.is_some() {
        ring_dedicated(net, node);
    } else if net.sched.ready.notifies() {
        if acquire_token(net, node) {
            enqueue(net, node);
        }
    } else {
        wake_for(net, node);
    }
}

/// [`make_ready`] for every node, after the resting graph was examined and changed.
pub(crate) fn make_all_ready(net: &Net<'_>) {
    fence(Ordering::SeqCst);
    if net.stopped() {
        return net.finish();
    }
    injector::drain(net);
    net.topology.graph.node_ids().for_each(|node| make_ready(net, node));
}

/// Wakes the thread of a dedicated node if its wait or its nap is over.
fn ring_dedicated(net: &Net<'_>, node: NodeId) {
    let cell = net.node(node);
    let Some(sleeper) = cell.dedicated else { return };
    let wakes = match cell.state.nap.load(Ordering::Relaxed) {
        NO_NAP => cell.state.dozing.load(Ordering::Relaxed) && cell.state.satisfied(net, node),
        until => cell.state.nap_is_over(net, until),
    };
    if wakes {
        net.sleep.wake_dedicated(sleeper as Sleeper);
    }
}

/// Wakes a worker that may run the node, if it is claimable and that worker sleeps: for policies that scan.
fn wake_for(net: &Net<'_>, node: NodeId) {
    match net.pinned_to(node) {
        Some(worker) => {
            if net.sleep.any_asleep() && net.claimable(node) {
                net.sleep.wake_worker(worker);
            }
        }
        None => {
            if net.sleep.wants_waking() && net.claimable(node) {
                net.sleep.wake_one();
            }
        }
    }
}

/// Puts a token where a worker that may run the node finds it, and wakes one. From any thread.
fn enqueue(net: &Net<'_>, node: NodeId) {
    if deliver_pinned(net, node, None) {
        return;
    }
    match net.sched.ready.affinity().and_then(|affinity| affinity.of(node)) {
        Some(worker) => enqueue_at(net, worker, node),
        None => enqueue_shared(net, node),
    }
}

/// Puts the token of a pinned node into its worker's queue; false for a node that is not pinned. `by` is the worker
/// that calls, if one does: it need not be woken.
pub(crate) fn deliver_pinned(net: &Net<'_>, node: NodeId, by: Option<WorkerId>) -> bool {
    let Some(worker) = net.pinned_to(node) else { return false };
    net.sched.ready.push_pinned(worker, node);
    if by != Some(worker) && net.sleep.any_asleep() {
        net.sleep.wake_worker(worker);
    }
    true
}

/// Gives a token to the one worker whose queue it belongs in.
pub(crate) fn enqueue_at(net: &Net<'_>, worker: WorkerId, node: NodeId) {
    net.sched.ready.push(worker, node);
    if net.sleep.any_asleep() {
        net.sleep.wake_worker(worker);
    }
}

fn enqueue_shared(net: &Net<'_>, node: NodeId) {
    net.sched.ready.push_shared(node);
    if net.sleep.wants_waking() {
        net.sleep.wake_one();
    }
}

/// After the claim of a parallel node was released, in the middle of its activation: another worker may claim there too.
#[inline]
pub(crate) fn share_claim(cx: &Cx<'_>) {
    let By::Worker(worker) = cx.by else { return };
    if cx.net.sched.ready.notifies() {
        enqueue_claim(cx.net, worker, cx.node);
    } else if cx.net.sleep.wants_waking() {
        wake_for_claim(cx.net, cx.node, cx.slice);
    }
}

fn enqueue_claim(net: &Net<'_>, worker: WorkerId, node: NodeId) {
    net.sched.ready.fence();
    if acquire_token(net, node) {
        if net.sched.ready.affinity().is_some() {
            return enqueue_shared(net, node); // no other worker takes from this one's queue
        }
        net.sched.ready.push(worker, node);
        if net.sleep.wants_waking() {
            net.sleep.wake_one();
        }
    }
}

/// `claimed` is the number of firings that the worker took at most.
fn wake_for_claim(net: &Net<'_>, node: NodeId, claimed: usize) {
    fence(Ordering::SeqCst);
    // Where all inputs have ended and are claimed, only the node's end is left, and this worker does that.
    let all_claimed = |meter: &Meter| meter.ended() && meter.items() <= claimed;
    let last = net.inputs(node).iter().any(|input| all_claimed(net.meter(*input)));
    if !last && net.claimable(node) {
        net.sleep.wake_one();
    }
}

/// A worker about to activate `node`, for a policy that scans, wakes another if there is work elsewhere.
#[inline]
pub(crate) fn share(net: &Net<'_>, node: NodeId) {
    if net.sleep.wants_waking() {
        share_slowly(net, node);
    }
}

#[cold]
fn share_slowly(net: &Net<'_>, node: NodeId) {
    /// Nodes looked at, the nearest first.
    const NEAR: usize = 64;
    fence(Ordering::SeqCst);
    let all = net.cells.nodes.len();
    let mut others = (1..all.min(NEAR)).map(|i| NodeId(((node.index() + i) % all) as u32));
    if others.any(|other| net.claimable(other) && net.pinned_to(other).is_none()) {
        net.sleep.wake_one();
    }
}

/// Whether there is something for a worker to do: what it looks at before it sleeps.
pub(crate) fn any_work(net: &Net<'_>, worker: WorkerId) -> bool {
    injector::drain(net);
    match net.sched.ready.notifies() {
        true => net.sched.ready.any_for(worker),
        false => find_claimable(net, worker).is_some(),
    }
}

/// Some node that the worker could claim, looked for from the one of its number on.
fn find_claimable(net: &Net<'_>, worker: WorkerId) -> Option<NodeId> {
    let count = net.cells.nodes.len();
    let mut nodes = (0..count).map(|i| NodeId(((worker + i) % count) as u32));
    nodes.find(|node| net.claimable(*node) && net.may_run(*node, worker))
}

/// Acquires a token of the node, if it is claimable and has one to spare.
#[inline]
pub(crate) fn acquire_token(net: &Net<'_>, node: NodeId) -> bool {
    let cell = net.node(node);
    match cell.kind {
        Kind::Process => cell.dedicated.is_none() && acquire_process(net, cell, node),
        _ => {
            cell.state.tokens.has_capacity()
                && net.claimable(node)
                && cell.state.tokens.acquire(net.sched.ready.is_alone())
        }
    }
}

/// The same for a process that workers run. While its one token is free no thread runs it, so its wait word alone
/// decides.
#[inline]
fn acquire_process(net: &Net<'_>, process: &NodeCell<'_>, node: NodeId) -> bool {
    let state = &process.state;
    state.tokens.has_capacity()
        && state.satisfied(net, node)
        && !state.is_done()
        && process.body.is_some()
        && state.tokens.acquire(net.sched.ready.is_alone())
}

/// Whether a token of the node is in use.
pub(crate) fn has_token(net: &Net<'_>, node: NodeId) -> bool {
    !net.node(node).state.tokens.is_empty()
}

/// From now on changes are reported to the policy, which has begun with the tokens there were. What became claimable
/// since those were acquired no thread has reported: ends and lent messages may be dropped on any thread.
pub(crate) fn begin_notifying(net: &Net<'_>) {
    net.sched.ready.notify();
    fence(Ordering::SeqCst); // pairs with those of changers, which look after it whether the policy is notified
    let others = net.topology.graph.node_ids().filter(|node| !has_token(net, *node));
    others.for_each(|node| make_ready(net, node));
}
