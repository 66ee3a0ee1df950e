//! Pinned nodes: the worker that a node is pinned to sees each change, even if another worker searches.
//!
//! | part | in the model |
//! |---|---|
//! | `Sleep`, `Ready`, `Meter` | the real ones |
//! | the pinned node | a token in worker 0's queue of pinned nodes (the policy is notified), or an item (it scans) |
//! | `make_ready::deliver_pinned`, `make_ready::wake_for` | [`PinnedNode::wake_pinned`], after the change |
//!
//! Worker 1 cannot run the node, but may be the searching one. The run ends when the last active thread examines: work
//! for worker 0 that is left then is a lost wake-up.

use super::check;
use super::world::World;
use crate::channel::{Layout, Meter};
use crate::sched::ready::Ready;
use crate::sched::sleep::{Sleep, Sleeper};
use crate::sync::{Ordering, fence};
use loom::thread;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize as Count;
use thalweg_graph::NodeId;

const PINNED_TO: Sleeper = 0;
const OTHER: Sleeper = 1;

/// A node that is pinned to worker 0, in a run of two workers.
struct PinnedNode {
    sleep: Sleep,
    ready: Ready,
    /// The node's input, where the policy scans.
    items: Meter,
    /// The number of activations.
    done: Count,
}

impl PinnedNode {
    /// For `threads` threads, all of them active.
    fn new(threads: usize) -> Arc<PinnedNode> {
        let ready = Ready::new(2, false);
        Arc::new(PinnedNode {
            sleep: Sleep::new(threads),
            ready,
            items: Meter::new(2, Layout::Apart, false),
            done: Count::new(0),
        })
    }

    fn done(&self) -> usize {
        self.done.load(Ordering::Relaxed)
    }

    /// As the last step of `make_ready::deliver_pinned`. The caller has changed something and fenced.
    fn wake_pinned(&self) {
        if self.sleep.any_asleep() {
            self.sleep.wake_worker(PINNED_TO);
        }
    }
}

impl World for PinnedNode {
    fn sleep(&self) -> &Sleep {
        &self.sleep
    }

    /// As `make_ready::any_work`, for both kinds of policies at once.
    fn any_work(&self, worker: Sleeper) -> bool {
        self.ready.any_for(worker) || (worker == PINNED_TO && self.items.items() > 0)
    }

    fn work_once(&self, worker: Sleeper, searching: &mut bool) -> bool {
        if !self.any_work(worker) {
            return false;
        }
        self.found(worker, searching);
        if worker == PINNED_TO && self.items.items() > 0 {
            self.items.release(self.items.head() + 1);
        } else if self.ready.pop_pinned(worker).is_none() {
            return true;
        }
        self.done.fetch_add(1, Ordering::Relaxed);
        true
    }

    fn examine(&self) -> bool {
        fence(Ordering::SeqCst);
        assert!(!self.any_work(PINNED_TO) && !self.any_work(OTHER), "all threads sleep, and there is work");
        true
    }
}

/// The change is a token. The node's worker may be awake, about to sleep, or asleep.
///
/// Mutations that fail: no fence in `push_pinned` or `announce`; `any_for` without the queue of pinned
/// nodes; `wake_worker` without `active += 1`.
#[test]
fn loom_pinned_worker_is_woken_for_a_token() {
    check(|| woken(|world| world.ready.push_pinned(PINNED_TO, NodeId(0))));
}

/// The change is that of a counter, as where the policy scans. The node's worker may be awake, about to sleep, or
/// asleep.
///
/// Mutations that fail: no fence in `announce`, or after the change; and `wake_worker` as above.
#[test]
fn loom_pinned_worker_is_woken_for_a_change() {
    check(|| {
        woken(|world| {
            world.items.publish(1);
            fence(Ordering::SeqCst);
        });
    });
}

/// One worker, and a changer that makes one change and wakes the worker if it must.
fn woken(change: impl FnOnce(&PinnedNode)) {
    let world = PinnedNode::new(2);
    let worker = thread::spawn({
        let world = world.clone();
        move || world.work(PINNED_TO, false)
    });
    change(&world);
    world.wake_pinned();
    world.leave();
    worker.join().unwrap();
    assert_eq!(world.done(), 1);
}

/// The node's worker sleeps; another one that was woken searches, finds nothing and goes to sleep again.
///
/// Mutations that fail: `wake_worker` that relies on the searching worker as `wake_one` does, or that wakes the
/// latest asleep.
#[test]
fn loom_pinned_worker_is_woken_while_another_searches() {
    check(|| {
        let world = PinnedNode::new(3);
        world.sleep.announce(PINNED_TO, false);
        world.sleep.announce(OTHER, false);
        assert!(world.sleep.wake_one() && !world.sleep.wants_waking());
        let pinned_to = thread::spawn({
            let world = world.clone();
            move || world.wake_up(PINNED_TO)
        });
        let other = thread::spawn({
            let world = world.clone();
            move || {
                assert!(world.sleep.withdraw(OTHER));
                world.work(OTHER, true);
            }
        });
        world.ready.push_pinned(PINNED_TO, NodeId(0));
        world.wake_pinned();
        world.leave();
        pinned_to.join().unwrap();
        other.join().unwrap();
        assert_eq!(world.done(), 1);
    });
}
