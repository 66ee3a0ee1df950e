//! Pools ([`sleep::pools`](crate::sched::sleep::pools)): a change of a node wakes a worker of its pool, whatever the workers of
//! other pools do.
//!
//! | part | in the model |
//! |---|---|
//! | a parallel node with its input | a [`Place`]: items, of which a claim takes one; a firing outside of the claim |
//! | `Sleep`, `Pools`, `Claim`, `Meter` | the real ones |
//! | `make_ready::wake_for`, `share_claim`, `share_common` and `any_work` | functions of [`Pooled`] |
//! | the examination of a resting graph | [`World::examine`]: it fails if a place still has an item |
//!
//! A lost wake-up fails as an item that is left when the last active thread examines, or, where a firing waits for another one,
//! as a deadlock.

use super::check;
use super::world::World;
use crate::channel::{Layout, Meter};
use crate::node::claim::Claim;
use crate::sched::sleep::pools::Pools;
use crate::sched::sleep::{Sleep, Sleeper};
use crate::sync::{Condvar, Mutex, Ordering, fence, lock};
use loom::thread;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize as Count;

/// A parallel node that takes items.
struct Place {
    items: Meter,
    /// The number of items taken.
    taken: Claim<usize>,
}

struct Pooled {
    sleep: Sleep,
    places: Vec<Place>,
    /// The number of examinations.
    examined: Count,
    /// Each firing of the first place waits until this number of firings have begun.
    together: usize,
    begun: Mutex<usize>,
    bell: Condvar,
}

impl Pooled {
    /// `N` workers of which these serve each place, and one thread that is no worker. All are active.
    fn new<const N: usize>(of: &[&[u32]], together: usize) -> Arc<Pooled> {
        let count = of.len();
        let place = |_| Place { items: Meter::new(2, Layout::Apart, false), taken: Claim::new(0) };
        let world = Pooled {
            sleep: Sleep::new(N + 1),
            places: (0..count).map(place).collect(),
            examined: Count::new(0),
            together,
            begun: Mutex::new(0),
            bell: Condvar::new(),
        };
        world.sleep.set_pools(Pools::new(N, of.iter().copied()));
        Arc::new(world)
    }

    /// As `Net::claimable`.
    fn claimable(&self, place: usize) -> bool {
        let Place { items, taken } = &self.places[place];
        !taken.is_held() && items.items() > 0
    }

    /// As `make_ready::wake_for`. The caller has fenced.
    fn wake_for(&self, place: usize) {
        if self.sleep.wants_waking_in(place) == Some(true) && self.claimable(place) {
            self.sleep.wake_in(place);
        }
    }

    /// Publishes an item, as the producer of the place does (`make_ready::changed`).
    fn give(&self, place: usize) {
        let items = &self.places[place].items;
        items.publish(items.tail() + 1);
        fence(Ordering::SeqCst);
        if self.sleep.any_asleep() {
            self.wake_for(place);
        }
    }

    /// An activation: a claim of one item, `make_ready::share_claim`, and the firing.
    fn activate(&self, place: usize) {
        let Place { items, taken } = &self.places[place];
        let claimed = taken.with(false, |taken| {
            let has_item = *taken < items.tail();
            if has_item {
                *taken += 1;
                items.release(*taken);
            }
            has_item
        });
        if claimed {
            fence(Ordering::SeqCst);
            self.wake_for(place);
            self.fire(place);
        }
    }

    /// The places that a worker serves.
    fn own(&self, worker: Sleeper) -> impl Iterator<Item = usize> {
        let nodes = self.sleep.pools().map_or(&[][..], |pools| pools.nodes_of(worker));
        nodes.iter().map(|place| *place as usize)
    }

    fn fire(&self, place: usize) {
        let mut begun = lock(&self.begun);
        *begun += 1;
        self.bell.notify_all();
        while place == 0 && *begun < self.together {
            begun = self.bell.wait(begun).unwrap();
        }
    }

    fn assert_over(&self, firings: usize) {
        assert_eq!(self.examined.load(Ordering::Relaxed), 1, "examined once, by the last one awake");
        assert_eq!(*lock(&self.begun), firings);
    }
}

impl World for Pooled {
    fn sleep(&self) -> &Sleep {
        &self.sleep
    }

    fn any_work(&self, worker: Sleeper) -> bool {
        self.own(worker).any(|place| self.claimable(place))
    }

    fn work_once(&self, worker: Sleeper, searching: &mut bool) -> bool {
        let place = self.own(worker).find(|place| self.claimable(*place));
        if let Some(place) = place {
            if *searching {
                self.found(worker, searching);
                self.share_common(worker, Some(place));
            }
            self.activate(place);
        }
        place.is_some()
    }

    fn share_common(&self, worker: Sleeper, found: Option<usize>) {
        let common = self.sleep.pools().map_or(&[][..], |pools| pools.common_nodes_of(worker));
        if !common.is_empty() {
            fence(Ordering::SeqCst);
            let others = common.iter().map(|place| *place as usize).filter(|place| Some(*place) != found);
            others.for_each(|place| self.wake_for(place));
        }
    }

    fn examine(&self) -> bool {
        fence(Ordering::SeqCst);
        self.examined.fetch_add(1, Ordering::Relaxed);
        let left = (0..self.places.len()).any(|place| self.claimable(place));
        assert!(!left, "all threads sleep, and a place has an item");
        true
    }
}

/// A pool of one worker, which is about to sleep, and a changer that gives it an item before or after.
///
/// Mutations that fail: no fence in `announce` or in `give`; `list` that does not count the worker in its pool.
#[test]
fn loom_pools_lose_no_wake_up() {
    check(|| {
        let world = Pooled::new::<1>(&[&[0]], 0);
        let worker = thread::spawn({
            let world = world.clone();
            move || world.work(0, false)
        });
        world.give(0);
        world.give(0);
        world.leave();
        worker.join().unwrap();
        world.assert_over(2);
    });
}

/// The workers of two pools sleep. One was woken and searches: a change of the other's node must not rely on it, and must not
/// wake it in the place of the other.
///
/// Mutations that fail: `wants_waking` and `wake_one` in the place of `wants_waking_in` and `wake_in`; `is_of` that accepts any
/// worker; `begin_search` that marks all pools.
#[test]
fn loom_pools_do_not_rely_on_another_pool() {
    check(|| {
        let world = Pooled::new::<2>(&[&[0], &[1]], 0);
        world.sleep.announce(0, false);
        world.sleep.announce(1, false);
        world.sleep.wake_in(1);
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
        world.give(0);
        world.leave();
        sleeper.join().unwrap();
        searcher.join().unwrap();
        world.assert_over(1);
    });
}

/// Two workers of one pool, of which one was woken and searches: a changer may rely on it, which is about to find an item, or to
/// sleep again.
///
/// Mutations that fail: `found`, which `list` calls too, that leaves `SEARCHING` of the pool set; `list` that does not count the
/// worker in its pool.
#[test]
fn loom_pools_rely_on_their_searcher() {
    check(|| {
        let world = Pooled::new::<2>(&[&[0, 1]], 0);
        world.sleep.announce(0, false);
        world.sleep.announce(1, false);
        world.sleep.wake_in(0);
        assert_eq!(world.sleep.wants_waking_in(0), Some(false));
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
        world.give(0);
        world.leave();
        sleeper.join().unwrap();
        searcher.join().unwrap();
        world.assert_over(1);
    });
}

/// Two workers of one pool sleep, and two items come. The firing of each item waits until both have begun, so each needs a worker
/// of its own: the second change, or the worker that has claimed the first item, wakes the second worker.
///
/// Mutations that fail: no wake-up in `activate`, or no fence before it; `found` that leaves `SEARCHING` of the pool set.
#[test]
fn loom_pools_wake_a_second_worker() {
    check(|| {
        let world = Pooled::new::<2>(&[&[0, 1]], 2);
        world.sleep.announce(0, false);
        world.sleep.announce(1, false);
        let workers = [0, 1].map(|worker| {
            let world = world.clone();
            thread::spawn(move || world.wake_up(worker))
        });
        world.give(0);
        world.give(0);
        world.leave();
        workers.into_iter().for_each(|worker| worker.join().unwrap());
        world.assert_over(2);
    });
}

/// Worker 0 runs the first place alone, and the second one with worker 1. It was woken for a change and searches; both places get an
/// item. The firing of the first one waits until both have begun, so the worker that finds it must not keep the other one's changer
/// relying on it.
///
/// Mutations that fail: no `share_common` where the worker has found work, or where it withdraws its announcement.
#[test]
fn loom_pools_share_what_they_have_in_common() {
    check(|| {
        let world = Pooled::new::<2>(&[&[0], &[0, 1]], 2);
        world.sleep.announce(0, false);
        world.sleep.announce(1, false);
        world.sleep.wake_in(0);
        assert_eq!(world.sleep.wants_waking_in(1), Some(false));
        let sleeper = thread::spawn({
            let world = world.clone();
            move || world.wake_up(1)
        });
        let searcher = thread::spawn({
            let world = world.clone();
            move || {
                assert!(world.sleep.withdraw(0));
                world.work(0, true);
            }
        });
        world.give(0);
        world.give(1);
        world.leave();
        sleeper.join().unwrap();
        searcher.join().unwrap();
        world.assert_over(2);
    });
}
