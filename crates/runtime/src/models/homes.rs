//! Workers that take from their own queue only: who pushes to it wakes its owner, and nothing is left
//! behind, nor is what any of them may take.
//!
//! [`World`] mirrors `Net::push_home`, `Net::push_outside`, `Worker::activate` and `idle`; `Sleep`, `Ready`
//! and `Homes` are the real ones. As in the models of `sleep`, the last one awake looks, and a token
//! left in a queue is a lost wake-up.

use super::check;
use crate::homes::Homes;
use crate::ready::Ready;
use crate::sleep::{Sleep, Sleeper, Woken};
use crate::sync::Ordering;
use loom::thread;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize as Count;
use thalweg_graph::{Graph, Node, NodeId};

const NODE: NodeId = NodeId(0);

struct World {
    sleep: Sleep,
    ready: Ready,
    examined: Count,
    taken: Count,
}

impl World {
    /// So many threads that may sleep or leave; homes are those of two workers.
    fn new(threads: usize) -> Arc<World> {
        let mut graph = Graph::new();
        graph.add(Node::sequential("node"));
        let ready = Ready::new(2, false);
        ready.settle(Homes::new(&graph, 2));
        Arc::new(World { sleep: Sleep::new(threads), ready, examined: Count::new(0), taken: Count::new(0) })
    }

    fn push_home(&self, home: usize) {
        self.ready.push(home, NODE);
        if self.sleep.any_asleep() {
            self.sleep.wake_worker(home);
        }
    }

    fn push_outside(&self) {
        self.ready.push_outside(NODE);
        if self.sleep.wants_waking() {
            self.sleep.wake_one();
        }
    }

    /// As `Worker::run`; what it takes first makes it push to the `other`, if there is one.
    fn work(&self, worker: Sleeper, mut other: Option<Sleeper>, mut searching: bool) {
        loop {
            if self.ready.pop(worker).is_some() {
                if std::mem::take(&mut searching) {
                    self.sleep.found();
                }
                if self.sleep.wants_waking() && self.ready.any() {
                    self.sleep.wake_one();
                }
                self.taken.fetch_add(1, Ordering::Relaxed);
                if let Some(other) = other.take() {
                    self.push_home(other);
                }
                continue;
            }
            self.sleep.announce(worker, searching);
            searching = false;
            if self.ready.any_for(worker) {
                searching = self.sleep.withdraw(worker);
                continue;
            }
            match self.park(worker) {
                Woken::Rung => searching = true,
                Woken::Over => return,
                Woken::TimedOut | Woken::Resumed => {}
            }
        }
    }

    fn park(&self, worker: Sleeper) -> Woken {
        let woken = self.sleep.commit(worker, None, || self.examine());
        if woken == Woken::Resumed {
            self.sleep.end();
            return Woken::Over;
        }
        woken
    }

    fn examine(&self) -> bool {
        self.examined.fetch_add(1, Ordering::Relaxed);
        let left = (0..2).any(|worker| self.ready.any_for(worker));
        assert!(!left, "asleep, and a token was left behind");
        true
    }

    fn leave(&self) {
        if self.sleep.retire(|| self.examine()) {
            self.sleep.end();
        }
    }

    fn assert_over(&self, tokens: usize) {
        assert_eq!(self.examined.load(Ordering::Relaxed), 1, "examined once, by the last one awake");
        assert_eq!(self.taken.load(Ordering::Relaxed), tokens);
    }
}

/// One worker, awake at first, and two pushes, one for it and one for any.
///
/// Mutations that fail: no fence in `announce`; `any_for` without `outside`.
#[test]
fn loom_homes_lose_no_wake_up() {
    check(|| {
        let world = World::new(2);
        let worker = thread::spawn({
            let world = world.clone();
            move || world.work(0, None, false)
        });
        world.push_home(0);
        world.push_outside();
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
fn loom_homes_wake_who_is_pushed_to() {
    check(|| {
        let world = World::new(3);
        world.sleep.announce(1, false);
        let first = thread::spawn({
            let world = world.clone();
            move || world.work(0, Some(1), false)
        });
        let second = thread::spawn({
            let world = world.clone();
            move || {
                if world.park(1) == Woken::Rung {
                    world.work(1, None, true);
                }
            }
        });
        world.push_home(0);
        world.leave();
        first.join().unwrap();
        second.join().unwrap();
        world.assert_over(2);
    });
}

/// One worker sleeps, and the other was rung and searches: whoever pushes to the first must not rely
/// on the second.
///
/// Mutations that fail: `wants_waking` in the place of `any_asleep` in `push_home`, `wake_one` in that of
/// `wake_worker`; `wake_worker` that leaves the worker on the list; no fence in `Ready::push`.
#[test]
fn loom_homes_do_not_rely_on_searchers() {
    check(|| {
        let world = World::new(3);
        world.sleep.announce(0, false);
        world.sleep.announce(1, false);
        assert!(world.sleep.wake_one() && !world.sleep.wants_waking());
        let sleeper = thread::spawn({
            let world = world.clone();
            move || {
                if world.park(0) == Woken::Rung {
                    world.work(0, None, true);
                }
            }
        });
        let searcher = thread::spawn({
            let world = world.clone();
            move || {
                assert!(world.sleep.withdraw(1));
                world.work(1, None, true);
            }
        });
        world.push_home(0);
        world.push_home(0);
        world.leave();
        sleeper.join().unwrap();
        searcher.join().unwrap();
        world.assert_over(2);
    });
}
