//! Workers that take from their own queue and the shared one only: a push wakes the queue's worker, and no token is
//! left in a queue.
//!
//! | part | in the model |
//! |---|---|
//! | `Sleep`, `Ready`, `Affinity` | the real ones |
//! | `make_ready::enqueue_at`, `make_ready::enqueue_shared`, `Worker::activate` | functions of [`Queues`] |
//! | an activation | the pop of a token, and at most one push to another worker |
//!
//! As in the models of `sleep`, the last active thread examines, and fails on a token that is left in a queue: that is
//! a lost wake-up.

use super::check;
use super::world::World;
use crate::sched::affinity::Affinity;
use crate::sched::ready::Ready;
use crate::sched::sleep::{Sleep, Sleeper};
use crate::sync::Ordering;
use loom::thread;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize as Count;
use thalweg_graph::{GraphData, Node, NodeId};
use thalweg_plan::{Plan, Wishes};

const NODE: NodeId = NodeId(0);

/// The queues of two workers. A token stands for any work: no node is activated.
struct Queues {
    sleep: Sleep,
    ready: Ready,
    /// The number of examinations.
    examined: Count,
    /// The number of tokens popped.
    taken: Count,
    /// 1 if worker 0 pushes to worker 1 when it pops its first token.
    passes: Count,
}

impl Queues {
    /// For `threads` threads that may sleep or leave; nodes are assigned to two workers.
    fn new(threads: usize) -> Arc<Queues> {
        let mut graph = GraphData::new();
        graph.add(Node::sequential("node"));
        let ready = Ready::new(2, false);
        let plan = Plan::new(&graph, &Wishes::default().threads(2));
        ready.set_affinity(Affinity::new(&graph, &plan));
        Arc::new(Queues {
            sleep: Sleep::new(threads),
            ready,
            examined: Count::new(0),
            taken: Count::new(0),
            passes: Count::new(0),
        })
    }

    /// As `make_ready::enqueue_at`.
    fn enqueue_at(&self, worker: usize) {
        self.ready.push(worker, NODE);
        if self.sleep.any_asleep() {
            self.sleep.wake_worker(worker);
        }
    }

    /// As `make_ready::enqueue_shared`.
    fn push_shared(&self) {
        self.ready.push_shared(NODE);
        if self.sleep.wants_waking() {
            self.sleep.wake_one();
        }
    }

    /// The run has ended by one examination, and all tokens were popped.
    fn assert_over(&self, tokens: usize) {
        assert_eq!(self.examined.load(Ordering::Relaxed), 1, "examined once, by the last one awake");
        assert_eq!(self.taken.load(Ordering::Relaxed), tokens);
    }
}

impl World for Queues {
    fn sleep(&self) -> &Sleep {
        &self.sleep
    }

    fn any_work(&self, worker: Sleeper) -> bool {
        self.ready.any_for(worker)
    }

    /// The first token that worker 0 takes makes it push to worker 1, if `passes` says so.
    fn work_once(&self, worker: Sleeper, searching: &mut bool) -> bool {
        if self.ready.pop(worker).is_none() {
            return false;
        }
        self.found(worker, searching);
        if self.sleep.wants_waking() && self.ready.any() {
            self.sleep.wake_one();
        }
        self.taken.fetch_add(1, Ordering::Relaxed);
        if worker == 0 && self.passes.swap(0, Ordering::Relaxed) == 1 {
            self.enqueue_at(1);
        }
        true
    }

    fn examine(&self) -> bool {
        self.examined.fetch_add(1, Ordering::Relaxed);
        let left = (0..2).any(|worker| self.ready.any_for(worker));
        assert!(!left, "all threads sleep, and a queue has a token");
        true
    }
}

/// One worker, awake at first, and two pushes: one to its queue, one to the shared queue.
///
/// Mutations that fail: no fence in `announce`; `any_for` without the shared queue.
#[test]
fn loom_affinity_loses_no_wake_up() {
    check(|| {
        let world = Queues::new(2);
        let worker = thread::spawn({
            let world = world.clone();
            move || world.work(0, false)
        });
        world.enqueue_at(0);
        world.push_shared();
        world.leave();
        worker.join().unwrap();
        world.assert_over(2);
    });
}

/// One worker takes what the changer pushes and pushes to the other, which is asleep or about to be.
///
/// Mutations that fail: `wake_worker` without `active += 1`, or without `rung`; `any` of other workers'
/// queues too, `any_for` without the worker's own.
#[test]
fn loom_affinity_wakes_the_worker_of_the_queue() {
    check(|| {
        let world = Queues::new(3);
        world.passes.store(1, Ordering::Relaxed);
        world.sleep.announce(1, false);
        let first = thread::spawn({
            let world = world.clone();
            move || world.work(0, false)
        });
        let second = thread::spawn({
            let world = world.clone();
            move || world.wake_up(1)
        });
        world.enqueue_at(0);
        world.leave();
        first.join().unwrap();
        second.join().unwrap();
        world.assert_over(2);
    });
}

/// One worker sleeps, and the other was woken and searches: a push to the first must not rely on the second.
///
/// Mutations that fail: `wants_waking` in the place of `any_asleep` in `enqueue_at`, `wake_one` in that of
/// `wake_worker`; `wake_worker` that leaves the worker on the list; no fence in `Ready::push`.
#[test]
fn loom_affinity_does_not_rely_on_a_searching_worker() {
    check(|| {
        let world = Queues::new(3);
        world.sleep.announce(0, false);
        world.sleep.announce(1, false);
        assert!(world.sleep.wake_one() && !world.sleep.wants_waking());
        let sleeper = thread::spawn({
            let world = world.clone();
            move || world.wake_up(0)
        });
        let searcher = thread::spawn({
            let world = world.clone();
            move || {
                assert!(world.sleep.withdraw(1));
                world.work(1, true);
            }
        });
        world.enqueue_at(0);
        world.enqueue_at(0);
        world.leave();
        sleeper.join().unwrap();
        searcher.join().unwrap();
        world.assert_over(2);
    });
}
