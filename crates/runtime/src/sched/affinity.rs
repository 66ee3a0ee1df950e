//! The assignment of nodes to workers, for policies that make one: each node's worker, and all workers' idle time.
//!
//! # Which worker is woken
//!
//! Here a worker takes tokens from its own queue and from the shared queue, which holds only nodes that belong to no
//! worker. So the protocols of [`ready`](crate::sched::ready) and [`sleep`](crate::sched::sleep) hold with the worker's
//! own queue in the place of all queues:
//!
//! ```text
//!   sleeper                                   thread that pushes to its queue
//!   1. announce: sleeping += 1                1. push
//!   2. fence(SeqCst)                          2. fence(SeqCst)
//!   3. look at its queue and the shared one   3. read the sleep word: is any worker announced?
//!   4. commit, or withdraw                    4. wake this worker, if it is announced
//! ```
//!
//! A searching worker would not look in this queue, so the pusher ignores whether one searches. A worker woken so counts
//! as searching and clears the mark when it finds work or sleeps; if the mark was another worker's, one worker more may
//! be woken than needed. Only tokens in the shared queue rely on a searching worker, and every searching worker looks
//! there.
//!
//! A node may be assigned anew while another thread reads its worker: the token goes to the former worker, which is
//! woken and runs the node.

use crate::measure::clock::{Ticks, ticks, ticks_per_ns};
use crate::sync::{AtomicUsize, Ordering};
use crossbeam_utils::CachePadded;
use std::sync::atomic::AtomicU64;
use thalweg_graph::{GraphData, Kind, NodeId};
use thalweg_policy::{WorkerId, dealt};

const NONE: usize = usize::MAX;

/// A worker's idle time, in ticks: of all idle periods that have ended, and the start of the present one, or 0.
#[derive(Debug, Default)]
struct Idle {
    before: AtomicU64,
    since: AtomicU64,
}

/// The assignment of a run, and the idle times that the policy computes it from.
#[derive(Debug)]
pub(crate) struct Affinity {
    /// By node: its worker, or `NONE`.
    of: Box<[AtomicUsize]>,
    idle: Box<[CachePadded<Idle>]>,
    began: Ticks,
    ticks_per_ns: f64,
}

impl Affinity {
    /// Assigns to each worker a run of neighbouring nodes.
    pub(crate) fn new(graph: &GraphData, workers: usize) -> Affinity {
        let nodes = graph.nodes().len();
        let worker_of = |node: NodeId| match graph.node(node).kind {
            Kind::Parallel => NONE,
            _ => dealt(node, nodes, workers),
        };
        Affinity {
            of: graph.node_ids().map(|node| AtomicUsize::new(worker_of(node))).collect(),
            idle: (0..workers).map(|_| CachePadded::default()).collect(),
            began: ticks(),
            ticks_per_ns: ticks_per_ns(),
        }
    }

    #[inline]
    pub(crate) fn of(&self, node: NodeId) -> Option<WorkerId> {
        let worker = self.of[node.index()].load(Ordering::Relaxed);
        (worker != NONE).then_some(worker)
    }

    pub(crate) fn set(&self, node: NodeId, worker: WorkerId) {
        self.of[node.index()].store(worker, Ordering::Relaxed);
    }

    /// Nanoseconds from the run's start.
    #[inline]
    pub(crate) fn time(&self, at: Ticks) -> u64 {
        self.ns(at.saturating_sub(self.began))
    }

    pub(crate) fn ns(&self, ticks: Ticks) -> u64 {
        (ticks as f64 / self.ticks_per_ns) as u64
    }

    /// A worker has nothing to do from now on.
    pub(crate) fn idle_begin(&self, worker: WorkerId, at: Ticks) {
        self.idle[worker].since.store(at.max(1), Ordering::Relaxed);
    }

    /// The worker looks for work again.
    pub(crate) fn idle_end(&self, worker: WorkerId, at: Ticks) {
        let Idle { before, since } = &*self.idle[worker];
        let rested = at.saturating_sub(since.swap(0, Ordering::Relaxed));
        before.store(before.load(Ordering::Relaxed) + rested, Ordering::Release);
    }

    /// Nanoseconds that all workers together have been idle. For a worker that becomes busy between the two reads the
    /// result is too small, never too large.
    pub(crate) fn idle(&self) -> u64 {
        let now = ticks();
        let of = |idle: &CachePadded<Idle>| {
            let before = idle.before.load(Ordering::Acquire); // pairs with `idle_end`
            let since = idle.since.load(Ordering::Relaxed);
            before + if since == 0 { 0 } else { now.saturating_sub(since) }
        };
        self.ns(self.idle.iter().map(of).sum())
    }
}
