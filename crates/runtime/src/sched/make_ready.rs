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
//! | the node has a thread of its own | that thread checks its own node | wakes the thread, once its wait or nap is over |
//! | the policy scans all nodes | in the wait words and the channels' counters | wakes a worker; there is no token that could be left unused |
//! | the policy is notified | in a queue of [`ready`](crate::sched::ready) | acquires a token of the node, enqueues it, wakes a worker |
//!
//! # Which worker
//!
//! | the node is | queue | worker woken |
//! |---|---|---|
//! | pinned to a worker, since its stack is there | that worker's queue of pinned nodes | that worker, even if others search |
//! | assigned to a worker by the policy ([`affinity`](crate::sched::affinity)) | that worker's queue | that worker, even if others search |
//! | run by a pool ([`pools`](crate::sched::sleep::pools)) | none: the policy scans | one of the pool, unless one of it searches already |
//! | neither | the shared queue, or the queue of the worker that calls | one, unless a worker searches already |
//!
//! A node may be pinned while another thread reads that it is not. Then its token lies in a queue from which another
//! worker takes it, and that worker delivers it to the right one ([`deliver_pinned`]). The worker that pinned the node
//! is awake, and checks its queues before it sleeps.
//!
//! # Why no wake-up is lost
//!
//! Both sides fence between their write and their read, so at least one of them sees the other's write.
//!
//! | protocol | one side writes, fences, reads | the other side writes, fences, reads |
//! |---|---|---|
//! | [`sleep`](crate::sched::sleep) | a change; which workers are announced | an announcement; counters and queues |
//! | [`dedicated`](crate::sched::dedicated) | a change; `dozing` and `nap` of the neighbour | `dozing` or `nap`; the counter waited for |
//! | [`ready`](crate::sched::ready) | a change; the token count of the neighbour | a released token; the node's wait word and counters |

use crate::channel::Meter;
use crate::measure::clock::ticks;
use crate::measure::occupancy::Occupancies;
use crate::net::{ActivationContext, By, NO_NAP, Net, NodeCell};
use crate::sched::injector;
use crate::sched::sleep::Sleeper;
use crate::sync::{Ordering, fence};
use thalweg_graph::{Kind, NodeId};
use thalweg_policy::WorkerId;

/// Makes the neighbours of a node ready, after a change that they may wait for: items published or released, an end.
/// Called by a worker, which has made the change.
///
/// While no thread sleeps this costs one fence and two loads. It then acquires no tokens: a policy that is notified
/// learns of the neighbours when the activation ends ([`notify`](crate::sched::notify)).
#[inline]
pub(crate) fn changed(net: &Net<'_>, node: NodeId) {
    fence(Ordering::SeqCst); // pairs with `Sleep::announce` and `doze`
    end_observation(net, node);
    if net.sleep.any_asleep() {
        make_peers_ready(net, node);
    } else if net.node(node).dedicated_peers {
        ring_dedicated_peers(net, node);
    }
}

/// [`changed`], called by a thread that is no worker, or by a worker in the middle of an activation that may last. It
/// acquires tokens at once: no end of a worker's activation follows soon at which they would be acquired.
pub(crate) fn changed_outside(net: &Net<'_>, node: NodeId) {
    fence(Ordering::SeqCst); // pairs with `Sleep::announce`, `doze`, and the protocol of `ready`
    end_observation(net, node);
    if net.node(node).dedicated_peers || net.sleep.any_asleep() || net.sched.ready.notifies() {
        make_peers_ready(net, node);
    }
}

/// [`changed`] if a worker activates the node, [`changed_outside`] if a dedicated thread does.
#[inline]
pub(crate) fn changed_by(cx: &mut ActivationContext<'_>) {
    match cx.by {
        By::Worker(_) => changed(cx.net, cx.node),
        By::Dedicated => changed_outside(cx.net, cx.node),
    }
    let (net, node) = (cx.net, cx.node);
    if let Some(laps) = &mut cx.laps {
        let weight = laps.weight;
        laps.leave_out(|now| Occupancies::begin(net, node, now, weight));
    }
}

/// Ends the measurement of what the node's channels hold: a change has ended it.
#[inline]
fn end_observation(net: &Net<'_>, node: NodeId) {
    if net.node(node).state.observed.load(Ordering::Relaxed) {
        Occupancies::end(net, node, ticks());
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

/// If the node is claimable, ensures that a thread that may run it is awake or woken. From any thread. The caller has
/// fenced since the change.
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

/// [`make_ready`] for every node. The caller was the last thread awake, and its examination has changed the graph
/// ([`quiesce`](crate::liveness::quiesce)) or ended the run. It no longer holds the sleep lock.
pub(crate) fn make_all_ready(net: &Net<'_>) {
    fence(Ordering::SeqCst);
    if net.stopped() {
        return net.finish();
    }
    injector::drain(net);
    net.topology.graph.node_ids().for_each(|node| make_ready(net, node));
}

/// Wakes the thread of a dedicated node if its wait or its nap is over. The caller has fenced since its change, so it
/// either reads `nap` or `dozing` as set, or the thread sees the change.
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

/// Wakes a worker that may run the node, if the node is claimable and such a worker sleeps. For policies that scan. The
/// cheap condition comes first, since a check of the node reads other threads' cache lines.
fn wake_for(net: &Net<'_>, node: NodeId) {
    match net.pinned_to(node) {
        Some(worker) => {
            if net.sleep.any_asleep() && net.claimable(node) {
                net.sleep.wake_worker(worker);
            }
        }
        None => {
            if wants_waking_for(net, node) && net.claimable(node) {
                wake_one_for(net, node);
            }
        }
    }
}

/// Whether [`wake_one_for`] would wake a worker. For policies that scan; the caller has fenced since its change.
#[inline]
fn wants_waking_for(net: &Net<'_>, node: NodeId) -> bool {
    net.sleep.wants_waking_in(node.index()).unwrap_or_else(|| net.sleep.wants_waking())
}

/// Wakes one of the workers that may run the node: of its pool, or any.
fn wake_one_for(net: &Net<'_>, node: NodeId) {
    match net.sleep.pools() {
        Some(_) => net.sleep.wake_in(node.index()),
        None => _ = net.sleep.wake_one(),
    }
}

/// Queues an acquired token where a worker that may run the node takes it, and wakes such a worker. From any thread.
fn enqueue(net: &Net<'_>, node: NodeId) {
    if deliver_pinned(net, node, None) {
        return;
    }
    match net.sched.ready.affinity().and_then(|affinity| affinity.of(node)) {
        Some(worker) => enqueue_at(net, worker, node),
        None => enqueue_shared(net, node),
    }
}

/// Queues an acquired token for the worker that the node is pinned to, and wakes that worker. False, without an effect,
/// if the node is not pinned. `by` is the calling worker, if the caller is one: it is awake.
pub(crate) fn deliver_pinned(net: &Net<'_>, node: NodeId, by: Option<WorkerId>) -> bool {
    let Some(worker) = net.pinned_to(node) else { return false };
    net.sched.ready.push_pinned(worker, node);
    if by != Some(worker) && net.sleep.any_asleep() {
        net.sleep.wake_worker(worker);
    }
    true
}

/// Queues an acquired token for a worker to which the node is assigned, and wakes that worker: with affinity no other
/// one takes from its queue.
pub(crate) fn enqueue_at(net: &Net<'_>, worker: WorkerId, node: NodeId) {
    net.sched.ready.push(worker, node);
    if net.sleep.any_asleep() {
        net.sleep.wake_worker(worker);
    }
}

/// Queues an acquired token for any worker, and wakes one, unless one searches: every searching worker checks the
/// shared queue.
fn enqueue_shared(net: &Net<'_>, node: NodeId) {
    net.sched.ready.push_shared(node);
    if net.sleep.wants_waking() {
        net.sleep.wake_one();
    }
}

/// Moves the tokens of a worker's queue to the shared queue, for a worker beyond the run's width: no other worker takes from its
/// queue while it has work of its own.
pub(crate) fn share_queue(net: &Net<'_>, worker: WorkerId) {
    while let Some(node) = net.sched.ready.steal(worker) {
        enqueue_shared(net, node);
    }
}

/// Lets another worker claim firings of a parallel node. Called in the middle of an activation, when the worker has
/// issued its ticket and released the claim.
#[inline]
pub(crate) fn share_claim(cx: &ActivationContext<'_>) {
    let By::Worker(worker) = cx.by else { return };
    if cx.net.sched.ready.notifies() {
        return enqueue_claim(cx.net, worker, cx.node);
    }
    if cx.net.sleep.pools().is_some() {
        // A worker of the pool that found the node held may have just announced sleep, and no other pool can run the node.
        fence(Ordering::SeqCst); // pairs with `Sleep::announce`
    }
    if wants_waking_for(cx.net, cx.node) {
        wake_for_claim(cx.net, cx.node, cx.slice);
    }
}

/// [`share_claim`] where the policy is notified: queues another token of the node, if it is claimable and one is free.
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

/// [`share_claim`] where the policy scans. `claimed` is the most firings that this worker's ticket can have.
fn wake_for_claim(net: &Net<'_>, node: NodeId, claimed: usize) {
    fence(Ordering::SeqCst);
    // If an input has ended and this worker has claimed its items, only the node's end is left, which is this worker's.
    let all_claimed = |meter: &Meter| meter.ended() && meter.items() <= claimed;
    let last = net.inputs(node).iter().any(|input| all_claimed(net.meter(*input)));
    if !last && net.claimable(node) {
        wake_one_for(net, node);
    }
}

/// Wakes another worker if a node near `node` is claimable or a job is open. Called by a worker that is about to activate
/// `node`, where the policy scans. A searching worker owes this: changers relied on it, and it may find only one of
/// several changes. A worker of pools owes it for jobs, and with [`found`] for the nodes that other workers run too.
#[inline]
pub(crate) fn share(net: &Net<'_>, node: NodeId) {
    if net.sleep.wants_waking() {
        share_slowly(net, node);
    }
}

/// A searching worker has found work: `node`, or something else than a node.
pub(crate) fn found(net: &Net<'_>, worker: WorkerId, node: Option<NodeId>) {
    net.sleep.found(worker);
    share_common(net, worker, node);
}

/// Wakes a worker for each claimable node that this worker has in common with others, but for `node`, of which [`share_claim`] wakes
/// the next one. Called when the worker's search has ended and it is about to work: changers of these nodes relied on the search, and
/// it may come to them late.
pub(crate) fn share_common(net: &Net<'_>, worker: WorkerId, node: Option<NodeId>) {
    let common = net.sleep.pools().map_or(&[][..], |pools| pools.common_nodes_of(worker));
    if !common.is_empty() {
        fence(Ordering::SeqCst); // the mark is cleared before the nodes are checked
        let others = common.iter().map(|other| NodeId(*other)).filter(|other| Some(*other) != node);
        others.for_each(|other| wake_for(net, other));
    }
}

#[cold]
fn share_slowly(net: &Net<'_>, node: NodeId) {
    /// The number of nodes examined, in order of their ids after `node`.
    const NEAR: usize = 64;
    fence(Ordering::SeqCst);
    let all = if net.sleep.pools().is_some() { 0 } else { net.cells.nodes.len() };
    let mut others = (1..all.min(NEAR)).map(|i| NodeId(((node.index() + i) % all) as u32));
    if net.team.arena.any() || others.any(|other| net.claimable(other) && net.pinned_to(other).is_none()) {
        net.sleep.wake_one();
    }
}

/// Whether the worker has work: what it checks between `Sleep::announce` and its commitment. So everything for which a
/// thread wakes this worker must be visible here.
pub(crate) fn any_work(net: &Net<'_>, worker: WorkerId) -> bool {
    any_node(net, worker) || net.team.arena.any()
}

/// Whether a node has work for the worker.
pub(crate) fn any_node(net: &Net<'_>, worker: WorkerId) -> bool {
    injector::drain(net);
    match net.sched.ready.notifies() {
        true => net.sched.ready.any_for(worker),
        false => find_claimable(net, worker).is_some(),
    }
}

/// A node that the worker may claim: one of its own, or any. Each worker begins at another node, so that several workers find
/// different ones.
fn find_claimable(net: &Net<'_>, worker: WorkerId) -> Option<NodeId> {
    if let Some(pools) = net.sleep.pools() {
        let mut own = pools.nodes_of(worker).iter().map(|node| NodeId(*node));
        return own.find(|node| net.claimable(*node) && net.may_run(*node, worker));
    }
    let count = net.cells.nodes.len();
    let mut nodes = (0..count).map(|i| NodeId(((worker + i) % count) as u32));
    nodes.find(|node| net.claimable(*node) && net.may_run(*node, worker))
}

/// Acquires a token of the node, if the node is claimable and a token is free. After a true result the caller must
/// queue the token or pass it to a policy.
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

/// [`acquire_token`] for a process that workers run. While its only token is free no worker runs it, so its wait word
/// decides: the claim need not be checked.
#[inline]
fn acquire_process(net: &Net<'_>, process: &NodeCell<'_>, node: NodeId) -> bool {
    let state = &process.state;
    state.tokens.has_capacity()
        && state.satisfied(net, node)
        && !state.is_done()
        && process.body.is_some()
        && state.tokens.acquire(net.sched.ready.is_alone())
}

/// Whether a token of the node is queued, held, or with an activation.
pub(crate) fn has_token(net: &Net<'_>, node: NodeId) -> bool {
    !net.node(node).state.tokens.is_empty()
}

/// From now on the policy is notified. The caller has acquired the initial tokens and has called `Policy::start`.
///
/// Nodes that became claimable after those tokens were acquired have not been reported, since ends and lent messages
/// may be dropped on any thread at any time. So all nodes without a token are checked once more.
pub(crate) fn begin_notifying(net: &Net<'_>) {
    net.sched.ready.enable_notifications();
    // Pairs with the fence of a changer, which then reads `notifies`: it reads true, or this thread sees the change.
    fence(Ordering::SeqCst);
    let others = net.topology.graph.node_ids().filter(|node| !has_token(net, *node));
    others.for_each(|node| make_ready(net, node));
}
