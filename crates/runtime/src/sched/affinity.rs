//! The assignment of nodes to workers, for policies that make one: each node's worker, and all workers' idle time.
//!
//! # Which worker is woken
//!
//! With affinity a worker takes tokens only from its own queue and from the shared queue, which holds nodes that belong
//! to no worker. So the protocols of [`ready`](crate::sched::ready) and [`sleep`](crate::sched::sleep) hold with the
//! worker's own queue in the place of all queues:
//!
//! ```text
//!   sleeper                                   thread that pushes to its queue
//!   1. announce: sleeping += 1                1. push
//!   2. fence(SeqCst)                          2. fence(SeqCst)
//!   3. check its queue and the shared one     3. read the sleep word: is any worker announced?
//!   4. commit, or withdraw                    4. wake this worker, if it is announced
//! ```
//!
//! A searching worker does not check this queue, so the pusher ignores whether one searches. The woken worker counts as
//! searching, and clears the mark when it finds work or sleeps. If the mark was another worker's, one worker more than
//! needed may be woken. Only tokens in the shared queue rely on a searching worker, and every searching worker checks
//! that queue.
//!
//! A node may be assigned anew while another thread reads its worker. Then the token goes to the former worker, which
//! is woken and runs the node.
//!
//! # Fields
//!
//! | field | written by | ordering | why |
//! |---|---|---|---|
//! | `of` | a worker, when its policy assigns the node | `Relaxed` | a stale value sends a token to the former worker |
//! | `Idle::since` | its worker | `Relaxed` | see [`Affinity::idle`] |
//! | `Idle::before` | its worker, after `since` | `Release` | pairs with the `Acquire` in [`Affinity::idle`] |

use crate::measure::clock::{Ticks, ticks, ticks_per_ns};
use crate::sync::{AtomicUsize, CachePadded, Ordering};
use std::sync::atomic::AtomicU64;
use thalweg_graph::{GraphData, Kind, NodeId};
use thalweg_plan::Plan;
use thalweg_policy::{WorkerId, dealt};

/// The entry of a node that belongs to no worker.
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
    /// By worker. Padded, since each worker writes its own around every idle period.
    idle: Box<[CachePadded<Idle>]>,
    /// The start of the run.
    began: Ticks,
    ticks_per_ns: f64,
}

impl Affinity {
    /// Assigns each node to the worker that the plan says. The other nodes are dealt to the workers in runs of
    /// consecutive nodes, as [`dealt`] does; parallel nodes belong to no worker.
    pub(crate) fn new(graph: &GraphData, plan: &Plan) -> Affinity {
        let (nodes, workers, planned) = (graph.nodes().len(), plan.threads(), plan.workers(graph));
        let worker_of = |node: NodeId| match graph.node(node).kind() {
            Kind::Parallel => NONE,
            _ => planned.of(node).unwrap_or_else(|| dealt(node, nodes, workers)),
        };
        Affinity {
            of: graph.node_ids().map(|node| AtomicUsize::new(worker_of(node))).collect(),
            idle: (0..workers).map(|_| CachePadded::default()).collect(),
            began: ticks(),
            ticks_per_ns: ticks_per_ns(),
        }
    }

    /// The worker that the node belongs to; `None` if it belongs to none.
    #[inline]
    pub(crate) fn of(&self, node: NodeId) -> Option<WorkerId> {
        let worker = self.of[node.index()].load(Ordering::Relaxed);
        (worker != NONE).then_some(worker)
    }

    /// Assigns the node to a worker. A token that is queued already is not moved.
    pub(crate) fn set(&self, node: NodeId, worker: WorkerId) {
        self.of[node.index()].store(worker, Ordering::Relaxed);
    }

    /// Nanoseconds from the start of the run to `at`.
    #[inline]
    pub(crate) fn time(&self, at: Ticks) -> u64 {
        self.ns(at.saturating_sub(self.began))
    }

    /// Ticks as nanoseconds.
    pub(crate) fn ns(&self, ticks: Ticks) -> u64 {
        (ticks as f64 / self.ticks_per_ns) as u64
    }

    /// The worker's idle period begins at `at`. Called by this worker.
    pub(crate) fn idle_begin(&self, worker: WorkerId, at: Ticks) {
        self.idle[worker].since.store(at.max(1), Ordering::Relaxed);
    }

    /// The worker's idle period ends at `at`. Called by this worker. `since` is cleared before `before` is stored, so
    /// that no reader counts the period twice.
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
