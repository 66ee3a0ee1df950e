//! What there is besides queues where nodes have homes ([`thalweg_policy::Policy::has_homes`]): the
//! homes, everybody's idle time, and the ledger.
//!
//! # Who wakes whom
//!
//! A worker takes from its own queue, and from that of `outside`, where here only nodes without a home
//! are. So the protocols of `ready` and `sleep` hold with the worker's own queue in the place of all:
//!
//! ```text
//!   sleeper                                   who pushes to its queue
//!   1. announce: sleeping += 1                1. push
//!   2. fence(SeqCst)                          2. fence(SeqCst)
//!   3. look at its queue and `outside`        3. read `word`: nobody announced, nobody to wake
//!   4. commit, or withdraw                    4. ring this worker's bell, if it is announced
//! ```
//!
//! Whether somebody is searching is nothing to the pusher: a searcher would not look there. A worker
//! rung so counts as searching to itself, and takes the mark off when it finds work or sleeps; if it
//! was another's mark, somebody may be woken for nothing. It is for tokens in `outside` that searchers
//! are relied on, and every searcher looks there.
//!
//! A home may change while it is read: the token goes to the old one, which is woken and runs the node.

use crate::clock::{Ticks, ticks, ticks_per_ns};
use crate::sync::{AtomicUsize, Mutex, Ordering, lock};
use crossbeam_utils::CachePadded;
use std::sync::atomic::AtomicU64;
use thalweg_graph::{GraphData, Kind, NodeId};
use thalweg_policy::partition::Ledger;
use thalweg_policy::{WorkerId, dealt};

const NONE: usize = usize::MAX;

/// A worker's idle time, in ticks: that before the present rest, and since when it rests, or 0.
#[derive(Debug, Default)]
struct Idle {
    before: AtomicU64,
    since: AtomicU64,
}

/// Homes, idle times and the ledger of a run.
#[derive(Debug)]
pub(crate) struct Homes {
    /// By node: its home, or none.
    of: Box<[AtomicUsize]>,
    idle: Box<[CachePadded<Idle>]>,
    ledger: Mutex<Option<Ledger>>,
    began: Ticks,
    ticks_per_ns: f64,
}

impl Homes {
    /// Runs of neighbours for each worker.
    pub(crate) fn new(graph: &GraphData, workers: usize) -> Homes {
        let nodes = graph.nodes().len();
        let home = |node: NodeId| match graph.node(node).kind {
            Kind::Parallel => NONE,
            _ => dealt(node, nodes, workers),
        };
        Homes {
            of: graph.node_ids().map(|node| AtomicUsize::new(home(node))).collect(),
            idle: (0..workers).map(|_| CachePadded::default()).collect(),
            ledger: Mutex::new(Some(Ledger::default())),
            began: ticks(),
            ticks_per_ns: ticks_per_ns(),
        }
    }

    #[inline]
    pub(crate) fn of(&self, node: NodeId) -> Option<WorkerId> {
        let home = self.of[node.index()].load(Ordering::Relaxed);
        (home != NONE).then_some(home)
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

    /// A worker has nothing to do.
    pub(crate) fn rests(&self, worker: WorkerId, at: Ticks) {
        self.idle[worker].since.store(at.max(1), Ordering::Relaxed);
    }

    /// It looks again.
    pub(crate) fn rises(&self, worker: WorkerId, at: Ticks) {
        let Idle { before, since } = &*self.idle[worker];
        let rested = at.saturating_sub(since.swap(0, Ordering::Relaxed));
        before.store(before.load(Ordering::Relaxed) + rested, Ordering::Release);
    }

    /// Nanoseconds that all workers have rested by now. One that rises between the looks at its two
    /// numbers seems to have rested less, never more.
    pub(crate) fn idle(&self) -> u64 {
        let now = ticks();
        let of = |idle: &CachePadded<Idle>| {
            let before = idle.before.load(Ordering::Acquire); // pairs with `rises`
            let since = idle.since.load(Ordering::Relaxed);
            before + if since == 0 { 0 } else { now.saturating_sub(since) }
        };
        self.ns(self.idle.iter().map(of).sum())
    }

    pub(crate) fn take_ledger(&self) -> Option<Ledger> {
        lock(&self.ledger).take()
    }

    pub(crate) fn put_ledger(&self, ledger: Ledger) {
        *lock(&self.ledger) = Some(ledger);
    }

    /// How often the graph was parted.
    pub(crate) fn partitions(&self) -> u64 {
        lock(&self.ledger).as_ref().map_or(0, Ledger::partitions)
    }
}
