//! Tokens and queues of ready nodes, for policies that are notified.
//!
//! A policy of kernels can scan: a node is claimable if its wait word and its channels' counters say so. That does not
//! scale to a million processes. A policy that asks for notifications ([`thalweg_policy::Policy`]) gets a *token* of
//! each node that becomes claimable, and never scans.
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
//! Invariant: *if a node is claimable and all its tokens are free, a thread that is awake is about to acquire one.*
//! Two threads may be the last to see the node: the one that ends an activation of it, and the one that changes what
//! it waits for.
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
//! If the right side reads (3) a count from before (2), its fence comes before the left side's in the order of
//! fences, so the left side's look (4) sees the change. Both looks may succeed; the compare-and-swap lets one of them
//! acquire. A token that is queued or held does not suppress the notification of a later change: the activation that
//! the token leads to looks at the counters, after that change.
//!
//! The right side is a worker at the end of an activation, for all changes of the activation together; a worker in
//! the middle of one, if a thread sleeps; or a thread that is no worker and has no policy to notify, which pushes into
//! the shared queue.
//!
//! # Sleep
//!
//! A worker sleeps on empty queues: it announces itself, fences, and looks at their lengths; a thread that pushes fences
//! and then looks for sleepers ([`sleep`](crate::sched::sleep)).

use crate::sched::affinity::Affinity;
use crate::sync::{AtomicBool, AtomicU32, AtomicUsize, Mutex, Ordering, fence, lock};
use std::collections::VecDeque;
use std::sync::OnceLock;
use thalweg_graph::NodeId;
use thalweg_policy::WorkerId;

/// Queued tokens, the oldest in front.
#[derive(Debug, Default)]
struct Queue {
    /// The number of tokens, which threads read without the lock.
    length: AtomicUsize,
    nodes: Mutex<VecDeque<NodeId>>,
}

impl Queue {
    fn push(&self, node: NodeId) {
        let mut nodes = lock(&self.nodes);
        nodes.push_back(node);
        self.length.store(nodes.len(), Ordering::Relaxed);
    }

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

/// The queues of a run.
#[derive(Debug)]
pub(crate) struct Ready {
    /// The policy is notified.
    notifies: AtomicBool,
    /// One worker is the only thread of the run, so no fence is needed.
    alone: bool,
    queues: Box<[Queue]>,
    /// By worker: nodes that are pinned to it, which no other worker takes.
    pinned: Box<[Queue]>,
    shared: Queue,
    /// Set where the policy assigns nodes to workers.
    affinity: OnceLock<Affinity>,
}

impl Ready {
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

    /// Notifies the policy from now on. Before any thread starts.
    pub(crate) fn notify(&self) {
        self.notifies.store(true, Ordering::Relaxed);
    }

    #[inline]
    pub(crate) fn notifies(&self) -> bool {
        self.notifies.load(Ordering::Relaxed)
    }

    /// The policy assigns nodes to workers. Before any thread starts.
    pub(crate) fn set_affinity(&self, affinity: Affinity) {
        self.affinity.get_or_init(|| affinity);
    }

    /// The assignment of nodes to workers, where the policy makes one.
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
        self.any() || !self.queues[worker].is_empty() || !self.pinned[worker].is_empty()
    }

    pub(crate) fn push(&self, to: WorkerId, node: NodeId) {
        self.queues[to].push(node);
        self.fence();
    }

    /// Queues a pinned node for its worker. From any thread.
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

    /// Queues a node for whichever worker looks next. From any thread.
    pub(crate) fn push_shared(&self, node: NodeId) {
        self.shared.push(node);
        fence(Ordering::SeqCst); // pairs with `Sleep::announce`
    }

    /// The oldest, those of the shared queue first, which are rare.
    pub(crate) fn pop(&self, worker: WorkerId) -> Option<NodeId> {
        self.shared.take(VecDeque::pop_front).or_else(|| self.queues[worker].take(VecDeque::pop_front))
    }

    /// The newest of the worker's queue, or else the oldest of the shared one.
    pub(crate) fn pop_newest(&self, worker: WorkerId) -> Option<NodeId> {
        self.queues[worker].take(VecDeque::pop_back).or_else(|| self.shared.take(VecDeque::pop_front))
    }

    pub(crate) fn steal(&self, from: WorkerId) -> Option<NodeId> {
        self.queues[from].take(VecDeque::pop_front)
    }

    /// Separates a change from the look at waiting nodes and at sleeping threads.
    #[inline]
    pub(crate) fn fence(&self) {
        if !self.alone {
            fence(Ordering::SeqCst); // pairs with itself on the other side, and `Sleep::announce`
        }
    }
}

/// A node's tokens.
#[derive(Debug)]
pub(crate) struct Tokens {
    count: AtomicU32,
    most: u32,
}

impl Tokens {
    pub(crate) fn new(most: usize) -> Tokens {
        Tokens { count: AtomicU32::new(0), most: most as u32 }
    }

    /// Whether a token is free.
    #[inline]
    pub(crate) fn has_capacity(&self) -> bool {
        self.count.load(Ordering::Relaxed) < self.most
    }

    /// Acquires a token; false where none is free any more.
    #[inline]
    pub(crate) fn acquire(&self, alone: bool) -> bool {
        let mut count = self.count.load(Ordering::Relaxed);
        if alone {
            // `has_capacity` has just returned true, and no other thread acquires.
            self.count.store(count + 1, Ordering::Relaxed);
            return true;
        }
        while count < self.most {
            let next = count + 1;
            // Acquire: what the last activation left is the next one's.
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

    /// Acquires the only token, where no other thread could.
    #[inline]
    pub(crate) fn acquire_unique(&self) {
        self.count.store(1, Ordering::Relaxed);
    }

    /// Releases the only token.
    #[inline]
    pub(crate) fn release_unique(&self) {
        self.count.store(0, Ordering::Release);
    }

    /// Releases a token.
    #[inline]
    pub(crate) fn release(&self, alone: bool) {
        if alone || self.most == 1 {
            let count = self.count.load(Ordering::Relaxed);
            self.count.store(count.saturating_sub(1), Ordering::Release);
        } else {
            self.count.fetch_sub(1, Ordering::Release);
        }
    }
}
