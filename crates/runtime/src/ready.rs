//! Nodes that have become claimable, for policies that are told of them.
//!
//! Policies of kernels look: a node is claimable if its wait word and its channels' counters say so,
//! and nothing need be handed over. That does not do for a million processes. A policy that is
//! *told* ([`thalweg_policy::Policy::is_told`]) gets a token of each node that becomes claimable,
//! and finds the others nowhere.
//!
//! # Protocol
//!
//! A node has a count of tokens: at most one for a node that is one thread's at a time, at most one
//! for each worker for a parallel node. A token is in one queue, in one worker's hand or with one
//! activation, and the count is their sum. Invariant: *a claimable node whose count is 0 is about
//! to be told of by somebody awake.* The two sides mirror each other:
//!
//! ```text
//!   who ends an activation of the node        who changes what it waits for
//!   1. its wait word is set                   1. publishes, releases, ends
//!   2. count -= 1                             2. fence(SeqCst)
//!   3. fence(SeqCst)                          3. count < most, and the node is claimable?
//!   4. count < most, and it is claimable?        count += 1, by compare-and-swap: told
//!      count += 1: told
//! ```
//!
//! If the changer reads (3) a count from before (2), its fence comes before the other's in the order
//! of fences, so the other's look (4) sees the change. Both may look with success: the swap lets one
//! of them tell.
//!
//! Changers are workers at the end of an activation, for all its changes together; a worker in the
//! middle of one, if somebody sleeps; and threads that are no workers, who have no policy to tell:
//! they push into the queue of `outside`, which workers look into as into their own.
//!
//! Nodes that stay on one worker have a queue there that nobody else looks into: see `coroutine`.
//!
//! A worker sleeps on empty queues: it announces itself, fences, and looks at their lengths, as
//! `sleep` has it; who pushes fences and then looks for sleepers.

use crate::homes::Homes;
use crate::sync::{AtomicBool, AtomicU32, AtomicUsize, Mutex, Ordering, fence, lock};
use std::collections::VecDeque;
use std::sync::OnceLock;
use thalweg_graph::NodeId;
use thalweg_policy::WorkerId;

/// Tokens in line: the oldest in front.
#[derive(Debug, Default)]
struct Queue {
    /// How many, for those who only want to know whether there are any.
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
    /// The run's policy is told.
    told: AtomicBool,
    /// One worker and nobody else can change anything: no fences.
    alone: bool,
    queues: Box<[Queue]>,
    /// By worker: nodes that stay there (`coroutine`). Nobody steals them.
    staying: Box<[Queue]>,
    outside: Queue,
    /// Where nodes have homes.
    homes: OnceLock<Homes>,
}

impl Ready {
    pub(crate) fn new(workers: usize, alone: bool) -> Ready {
        Ready {
            told: AtomicBool::new(false),
            alone,
            queues: (0..workers).map(|_| Queue::default()).collect(),
            staying: (0..workers).map(|_| Queue::default()).collect(),
            outside: Queue::default(),
            homes: OnceLock::new(),
        }
    }

    /// The policy is told. Before any thread starts.
    pub(crate) fn tell(&self) {
        self.told.store(true, Ordering::Relaxed);
    }

    #[inline]
    pub(crate) fn is_told(&self) -> bool {
        self.told.load(Ordering::Relaxed)
    }

    /// Nodes have homes. Before any thread starts.
    pub(crate) fn settle(&self, homes: Homes) {
        self.homes.get_or_init(|| homes);
    }

    /// Where nodes have homes.
    #[inline]
    pub(crate) fn homes(&self) -> Option<&Homes> {
        self.homes.get()
    }

    /// Whether one thread alone works on the graph.
    #[inline]
    pub(crate) fn is_alone(&self) -> bool {
        self.alone
    }

    /// Whether any queue holds a node that whoever looks may take.
    pub(crate) fn any(&self) -> bool {
        !self.outside.is_empty()
            || (self.homes().is_none() && self.queues.iter().any(|queue| !queue.is_empty()))
    }

    /// Whether any queue holds a node that this worker may take.
    pub(crate) fn any_for(&self, worker: WorkerId) -> bool {
        self.any() || !self.queues[worker].is_empty() || !self.staying[worker].is_empty()
    }

    pub(crate) fn push(&self, to: WorkerId, node: NodeId) {
        self.queues[to].push(node);
        self.fence();
    }

    /// For the node's home alone; from any thread.
    pub(crate) fn push_staying(&self, home: WorkerId, node: NodeId) {
        self.staying[home].push(node);
        self.fence();
    }

    /// The oldest of those that stay on the worker.
    pub(crate) fn pop_staying(&self, worker: WorkerId) -> Option<NodeId> {
        self.staying[worker].take(VecDeque::pop_front)
    }

    /// The newest.
    pub(crate) fn pop_newest_staying(&self, worker: WorkerId) -> Option<NodeId> {
        self.staying[worker].take(VecDeque::pop_back)
    }

    /// For threads that are no workers.
    pub(crate) fn push_outside(&self, node: NodeId) {
        self.outside.push(node);
        fence(Ordering::SeqCst); // pairs with `Sleep::announce`
    }

    /// The oldest, those from outside first: they come rarely.
    pub(crate) fn pop(&self, worker: WorkerId) -> Option<NodeId> {
        self.outside.take(VecDeque::pop_front).or_else(|| self.queues[worker].take(VecDeque::pop_front))
    }

    /// The newest; without any, one from outside.
    pub(crate) fn pop_newest(&self, worker: WorkerId) -> Option<NodeId> {
        self.queues[worker].take(VecDeque::pop_back).or_else(|| self.outside.take(VecDeque::pop_front))
    }

    pub(crate) fn steal(&self, from: WorkerId) -> Option<NodeId> {
        self.queues[from].take(VecDeque::pop_front)
    }

    /// Between a change and a look at who waits for it, or who sleeps.
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

    /// Whether one more may be made.
    #[inline]
    pub(crate) fn are_left(&self) -> bool {
        self.count.load(Ordering::Relaxed) < self.most
    }

    /// Makes one; false where others have made all.
    #[inline]
    pub(crate) fn make(&self, alone: bool) -> bool {
        let mut count = self.count.load(Ordering::Relaxed);
        if alone {
            // Who asked has just seen that it is not the most.
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

    /// Whether there is none.
    #[inline]
    pub(crate) fn is_there_none(&self) -> bool {
        self.count.load(Ordering::Relaxed) == 0
    }

    /// Makes the only one, where nobody else could.
    #[inline]
    pub(crate) fn make_only(&self) {
        self.count.store(1, Ordering::Relaxed);
    }

    /// Gives back the only one there may be.
    #[inline]
    pub(crate) fn drop_only(&self) {
        self.count.store(0, Ordering::Release);
    }

    /// Gives one back.
    #[inline]
    pub(crate) fn drop_one(&self, alone: bool) {
        if alone || self.most == 1 {
            let count = self.count.load(Ordering::Relaxed);
            self.count.store(count.saturating_sub(1), Ordering::Release);
        } else {
            self.count.fetch_sub(1, Ordering::Release);
        }
    }
}
