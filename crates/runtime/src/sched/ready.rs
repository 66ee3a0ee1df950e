//! Tokens and queues of ready nodes, for policies that are notified.
//!
//! A policy may scan: a node is claimable if its wait word and its channels' counters say so. Scanning does not scale
//! to a million processes. A policy that asks for notifications ([`thalweg_policy::Policy`]) gets a *token* of each
//! node that becomes claimable, and never scans.
//!
//! # States of a token
//!
//! | the token is | entered by | left by |
//! |---|---|---|
//! | free | the end of the activation ([`Tokens::release`]) | [`Tokens::acquire`], if the node is claimable |
//! | queued, in one queue | the thread that acquired it, or a policy that pushes it | a worker that pops or steals it |
//! | held by a worker's policy | [`Policy::ready`](thalweg_policy::Policy::ready), or a pop | a push, or an activation |
//! | with an activation | the worker that activates the node | the end of the activation |
//!
//! A node has one token, a parallel node one for each worker. [`Tokens`] counts those that are not free.
//!
//! # The race, and why it loses nothing
//!
//! Invariant: *if a node is claimable and all its tokens are free, a thread that is awake is about to acquire one.* Two
//! threads may acquire it: the one that ends an activation of the node, and the one that changes what the node waits
//! for. A wake-up would be lost if each read the state from before the other's write.
//!
//! ```text
//!   ends an activation of the node            changes what the node waits for
//!   1. the node's wait word is set            1. publishes, releases, ends
//!   2. count -= 1                             2. fence(SeqCst)
//!   3. fence(SeqCst)                          3. count < most and the node is claimable?
//!   4. count < most and it is claimable?         then count += 1, by compare-and-swap
//!      then count += 1
//! ```
//!
//! If the right side reads (3) a count from before (2), its fence comes before the left side's in the order of fences,
//! so the left side's check (4) sees the change. Both checks may succeed; then the compare-and-swap lets one thread
//! acquire. A token that is queued or held suppresses the notification of a later change, and may: the activation that
//! the token leads to reads the counters after that change.
//!
//! The right side is a worker at the end of an activation, for all changes of the activation together; a worker in
//! the middle of one, if a thread sleeps; or a thread that is no worker and has no policy to notify, which pushes into
//! the shared queue.
//!
//! # Sleep
//!
//! A worker sleeps if its queues are empty: it announces itself, fences, and reads their lengths. A thread that pushes
//! fences and then reads which workers are announced ([`sleep`](crate::sched::sleep)). So the queue's `length`, which
//! is the counter of this race, needs no ordering of its own.
//!
//! # Fields
//!
//! | field | written by | ordering | pairs with |
//! |---|---|---|---|
//! | `Queue::length` | the thread that pushes or takes, under the queue's lock | `Relaxed` | the fences in `push` and in `Sleep::announce` |
//! | `Queue::nodes` | the same, under the lock | the lock | the lock: what the pusher wrote before is seen by the taker |
//! | `Ready::notifies` | the caller of the run, before its workers start | `Relaxed` | the fence in `make_ready::begin_notifying` |
//! | `Tokens::count` | the thread that acquires or releases | `Acquire` to acquire, `Release` to release | each other: an activation sees what the previous one left |

use crate::sched::affinity::Affinity;
use crate::sync::{AtomicBool, AtomicU32, AtomicUsize, Mutex, Ordering, fence, lock};
use std::collections::VecDeque;
use std::sync::OnceLock;
use thalweg_graph::NodeId;
use thalweg_policy::WorkerId;

/// Queued tokens, the oldest in front.
#[derive(Debug, Default)]
struct Queue {
    /// The number of tokens, which threads read without the lock. A stale value is a hint that is wrong for a moment,
    /// except after a fence, as the documentation of the module says.
    length: AtomicUsize,
    nodes: Mutex<VecDeque<NodeId>>,
}

impl Queue {
    /// Appends a token. The caller fences afterwards.
    fn push(&self, node: NodeId) {
        let mut nodes = lock(&self.nodes);
        nodes.push_back(node);
        self.length.store(nodes.len(), Ordering::Relaxed);
    }

    /// Removes a token with `take`; `None`, without the lock, if the queue seems empty.
    fn take(&self, take: impl FnOnce(&mut VecDeque<NodeId>) -> Option<NodeId>) -> Option<NodeId> {
        if self.is_empty() {
            return None;
        }
        let mut nodes = lock(&self.nodes);
        let node = take(&mut nodes);
        self.length.store(nodes.len(), Ordering::Relaxed);
        node
    }

    fn is_empty(&self) -> bool {
        self.length.load(Ordering::Relaxed) == 0
    }
}

/// Removes the first token that `test` accepts, and moves those before it to the back.
fn take_first(nodes: &mut VecDeque<NodeId>, test: impl Fn(NodeId) -> bool) -> Option<NodeId> {
    let found = nodes.iter().position(|node| test(*node))?;
    nodes.rotate_left(found);
    nodes.pop_front()
}

/// The queues of a run.
#[derive(Debug)]
pub(crate) struct Ready {
    /// The policy is notified; otherwise it scans, and the queues hold only what the policy pushes.
    notifies: AtomicBool,
    /// One worker is the only thread of the run, so no fence is needed.
    alone: bool,
    /// By worker: its queue. Any worker may push to it; without affinity any worker may take from it.
    queues: Box<[Queue]>,
    /// By worker: tokens of nodes that are pinned to it. No other worker takes them.
    pinned: Box<[Queue]>,
    /// Tokens that any worker may take, from threads that have no queue of their own.
    shared: Queue,
    /// Present if the policy assigns nodes to workers.
    affinity: OnceLock<Affinity>,
}

impl Ready {
    /// Empty queues for `workers` workers. `alone` says that one worker is the only thread of the run.
    pub(crate) fn new(workers: usize, alone: bool) -> Ready {
        Ready {
            notifies: AtomicBool::new(false),
            alone,
            queues: (0..workers).map(|_| Queue::default()).collect(),
            pinned: (0..workers).map(|_| Queue::default()).collect(),
            shared: Queue::default(),
            affinity: OnceLock::new(),
        }
    }

    /// From now on the policy is notified. The caller calls this before any worker starts, and fences afterwards.
    pub(crate) fn enable_notifications(&self) {
        self.notifies.store(true, Ordering::Relaxed);
    }

    /// Whether the policy is notified.
    #[inline]
    pub(crate) fn notifies(&self) -> bool {
        self.notifies.load(Ordering::Relaxed)
    }

    /// From now on the policy assigns nodes to workers. Before any worker starts.
    pub(crate) fn set_affinity(&self, affinity: Affinity) {
        self.affinity.get_or_init(|| affinity);
    }

    /// The assignment of nodes to workers; `None` if the policy makes none.
    #[inline]
    pub(crate) fn affinity(&self) -> Option<&Affinity> {
        self.affinity.get()
    }

    /// Whether one worker is the only thread of the run.
    #[inline]
    pub(crate) fn is_alone(&self) -> bool {
        self.alone
    }

    /// Whether any queue holds a node that every worker may take.
    pub(crate) fn any(&self) -> bool {
        !self.shared.is_empty()
            || (self.affinity().is_none() && self.queues.iter().any(|queue| !queue.is_empty()))
    }

    /// Whether any queue holds a node that this worker may take.
    pub(crate) fn any_for(&self, worker: WorkerId) -> bool {
        self.any() || !self.queues[worker].is_empty() || self.any_pinned(worker)
    }

    /// Whether the worker's queue of pinned nodes holds a token.
    #[inline]
    pub(crate) fn any_pinned(&self, worker: WorkerId) -> bool {
        !self.pinned[worker].is_empty()
    }

    /// Queues a token for a worker, and fences, so that the caller may read afterwards which workers sleep.
    pub(crate) fn push(&self, to: WorkerId, node: NodeId) {
        self.queues[to].push(node);
        self.fence();
    }

    /// Queues the token of a pinned node for its worker, and fences. From any thread.
    pub(crate) fn push_pinned(&self, worker: WorkerId, node: NodeId) {
        self.pinned[worker].push(node);
        self.fence();
    }

    /// The oldest of the nodes pinned to the worker.
    pub(crate) fn pop_pinned(&self, worker: WorkerId) -> Option<NodeId> {
        self.pinned[worker].take(VecDeque::pop_front)
    }

    /// The newest of the nodes pinned to the worker.
    pub(crate) fn pop_newest_pinned(&self, worker: WorkerId) -> Option<NodeId> {
        self.pinned[worker].take(VecDeque::pop_back)
    }

    /// Queues a token for any worker, and fences. From any thread.
    pub(crate) fn push_shared(&self, node: NodeId) {
        self.shared.push(node);
        fence(Ordering::SeqCst); // pairs with `Sleep::announce`
    }

    /// The oldest token of the shared queue, whose tokens are rare, or if that is empty of the worker's own queue.
    pub(crate) fn pop(&self, worker: WorkerId) -> Option<NodeId> {
        self.shared.take(VecDeque::pop_front).or_else(|| self.queues[worker].take(VecDeque::pop_front))
    }

    /// The newest token of the worker's own queue, or if that is empty the oldest of the shared queue.
    pub(crate) fn pop_newest(&self, worker: WorkerId) -> Option<NodeId> {
        self.queues[worker].take(VecDeque::pop_back).or_else(|| self.shared.take(VecDeque::pop_front))
    }

    /// The oldest token of another worker's queue.
    pub(crate) fn steal(&self, from: WorkerId) -> Option<NodeId> {
        self.queues[from].take(VecDeque::pop_front)
    }

    /// The first token of a worker's queue whose node `test` accepts; those before it go to the back. Under the lock, so
    /// that no other thread finds the queue without a token that this one only examines.
    pub(crate) fn take_accepted(&self, from: WorkerId, test: impl Fn(NodeId) -> bool) -> Option<NodeId> {
        self.queues[from].take(|nodes| take_first(nodes, test))
    }

    /// [`Ready::take_accepted`] of the worker's queue of pinned nodes.
    pub(crate) fn take_accepted_pinned(
        &self,
        worker: WorkerId,
        test: impl Fn(NodeId) -> bool,
    ) -> Option<NodeId> {
        self.pinned[worker].take(|nodes| take_first(nodes, test))
    }

    /// The fence between a write (a push, a released token) and the reads that follow it (token counts, wait words,
    /// announcements of sleep). No effect in a run of one thread.
    #[inline]
    pub(crate) fn fence(&self) {
        if !self.alone {
            fence(Ordering::SeqCst); // pairs with the same fence of another thread, and with `Sleep::announce`
        }
    }
}

/// A node's tokens. Invariant: `count <= most`, and `count` tokens are queued, held or with an activation.
#[derive(Debug)]
pub(crate) struct Tokens {
    /// Tokens that are not free.
    count: AtomicU32,
    /// 1, or for a parallel node the number of workers.
    most: u32,
}

impl Tokens {
    /// `most` free tokens.
    pub(crate) fn new(most: usize) -> Tokens {
        Tokens { count: AtomicU32::new(0), most: most as u32 }
    }

    /// Whether a token is free.
    #[inline]
    pub(crate) fn has_capacity(&self) -> bool {
        self.count.load(Ordering::Relaxed) < self.most
    }

    /// Acquires a token; false if none is free. With `alone` the caller is the run's only thread and has checked
    /// [`Tokens::has_capacity`].
    #[inline]
    pub(crate) fn acquire(&self, alone: bool) -> bool {
        let mut count = self.count.load(Ordering::Relaxed);
        if alone {
            // No compare-and-swap: `has_capacity` has just returned true, and no other thread writes the count.
            self.count.store(count + 1, Ordering::Relaxed);
            return true;
        }
        while count < self.most {
            let next = count + 1;
            // `Acquire` pairs with `release`: the next activation sees what the previous one left.
            match self.count.compare_exchange_weak(count, next, Ordering::Acquire, Ordering::Relaxed) {
                Ok(_) => return true,
                Err(now) => count = now,
            }
        }
        false
    }

    /// Whether all tokens are free.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.count.load(Ordering::Relaxed) == 0
    }

    /// Acquires the only token. The caller is the run's only thread and has found the token free.
    #[inline]
    pub(crate) fn acquire_unique(&self) {
        self.count.store(1, Ordering::Relaxed);
    }

    /// Releases the only token, which the caller has. `Release` pairs with [`Tokens::acquire`].
    #[inline]
    pub(crate) fn release_unique(&self) {
        self.count.store(0, Ordering::Release);
    }

    /// Releases a token, which the caller has. `Release` pairs with [`Tokens::acquire`]. The caller fences afterwards
    /// and checks the node, as the documentation of the module says.
    #[inline]
    pub(crate) fn release(&self, alone: bool) {
        // With one token no other thread writes the count while the caller has it, so a store suffices.
        if alone || self.most == 1 {
            let count = self.count.load(Ordering::Relaxed);
            self.count.store(count.saturating_sub(1), Ordering::Release);
        } else {
            self.count.fetch_sub(1, Ordering::Release);
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_taken_from_between_others_which_keep_their_queue() {
        let ready = Ready::new(2, false);
        (0..5).for_each(|node| ready.push(1, NodeId(node)));
        assert_eq!(ready.take_accepted(1, |_| false), None);
        assert_eq!(ready.take_accepted(1, |node| node.0 >= 2), Some(NodeId(2)));
        assert_eq!(ready.take_accepted(0, |_| true), None);
        let left: Vec<u32> = std::iter::from_fn(|| ready.pop(1)).map(|node| node.0).collect();
        assert_eq!(left, [3, 4, 0, 1]);
    }
}
