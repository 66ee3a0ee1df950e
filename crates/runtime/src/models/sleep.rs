//! [`Sleep`]: no wake-up is lost, the last active thread is found, and no other thread is active while it examines.
//!
//! | part | in the model |
//! |---|---|
//! | a node with its inputs | a [`Place`]: items under a claim |
//! | `make_ready`, `Worker`, `dedicated` | functions of [`Places`] with the same names |
//! | `Sleep`, `Claim`, `Meter`, `ThreadPool` | the real ones |
//! | the examination of a resting graph | [`World::examine`]: it fails if a place still has an item |
//!
//! So a lost wake-up fails as an item that is left behind when the last active thread examines. `ground` is a loom cell
//! that working threads read and the examiner writes: an examination while another thread works fails, and so does work
//! that does not see what an examination changed.

use super::check;
use super::world::World;
use crate::channel::{Layout, Meter};
use crate::node::claim::Claim;
use crate::sched::sleep::{ParkOutcome, Sleep, Sleeper};
use crate::sync::{AtomicBool, Ordering, UnsafeCell, fence};
use crate::threads::{StackSize, ThreadPool};
use loom::thread;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize as Count;

/// A node that does nothing but take items.
struct Place {
    items: Meter,
    /// The number of items taken. Its claim stands for the node's.
    taken: Claim<usize>,
}

pub(super) struct Places {
    pub(super) sleep: Sleep,
    places: Vec<Place>,
    /// Read by working threads, written by the examiner.
    ground: UnsafeCell<()>,
    /// Items that the first examination adds to the first place, as growth would.
    grows: Count,
    /// The number of examinations.
    examined: Count,
    /// The flag of the one dedicated thread.
    dozing: AtomicBool,
}

// SAFETY: all fields but `ground` are `Send`. loom reports an access to `ground` that is not ordered after the previous
// conflicting one, so a model that passes has no data race on it.
unsafe impl Send for Places {}
// SAFETY: as above; all fields but `ground` are `Sync`.
unsafe impl Sync for Places {}

impl Places {
    /// `places` empty places, for `threads` threads, all of them active.
    pub(super) fn new(threads: usize, places: usize, grows: usize) -> Arc<Places> {
        let place = |_| Place { items: Meter::new(2, Layout::Apart, false), taken: Claim::new(0) };
        Arc::new(Places {
            sleep: Sleep::new(threads),
            places: (0..places).map(place).collect(),
            ground: UnsafeCell::new(()),
            grows: Count::new(grows),
            examined: Count::new(0),
            dozing: AtomicBool::new(false),
        })
    }

    fn examined(&self) -> usize {
        self.examined.load(Ordering::Relaxed)
    }

    /// As `Net::claimable`.
    fn claimable(&self, place: usize) -> bool {
        let Place { items, taken } = &self.places[place];
        !taken.is_held() && items.items() > 0
    }

    pub(super) fn find_claimable(&self) -> Option<usize> {
        (0..self.places.len()).find(|place| self.claimable(*place))
    }

    /// As `make_ready::changed`, the place being the only neighbour.
    fn changed(&self, place: usize) {
        fence(Ordering::SeqCst);
        if self.sleep.any_asleep() && self.sleep.wants_waking() && self.claimable(place) {
            self.sleep.wake_one();
        }
    }

    /// Publishes an item and makes the place ready.
    pub(super) fn give(&self, place: usize) {
        let items = &self.places[place].items;
        items.publish(items.tail() + 1);
        self.changed(place);
    }

    /// As `make_ready::share`, for any place but the one that is taken next.
    pub(super) fn share(&self, place: usize) {
        if self.sleep.wants_waking() {
            fence(Ordering::SeqCst);
            if (0..self.places.len()).any(|other| other != place && self.claimable(other)) {
                self.sleep.wake_one();
            }
        }
    }

    /// An activation with nothing to execute.
    fn take(&self, place: usize) {
        self.fire(place, || ());
    }

    /// As an activation: takes one item, if there is one and the claim is not refused, and executes `body` with it.
    pub(super) fn fire(&self, place: usize, body: impl FnOnce()) {
        let Place { items, taken } = &self.places[place];
        taken.with((), |taken| {
            self.ground.with(|_| ());
            if *taken < items.tail() {
                *taken += 1;
                body();
                items.release(*taken);
            }
        });
    }

    fn assert_over(&self) {
        assert_eq!(self.examined(), 1, "examined once, by the last one awake");
        assert_eq!(self.find_claimable(), None);
    }
}

impl World for Places {
    fn sleep(&self) -> &Sleep {
        &self.sleep
    }

    fn any_work(&self, _: Sleeper) -> bool {
        self.find_claimable().is_some()
    }

    fn work_once(&self, worker: Sleeper, searching: &mut bool) -> bool {
        let Some(place) = self.find_claimable() else { return false };
        self.found(worker, searching);
        self.share(place);
        self.take(place);
        true
    }

    fn examine(&self) -> bool {
        fence(Ordering::SeqCst);
        self.ground.with_mut(|_| ());
        self.examined.fetch_add(1, Ordering::Relaxed);
        for place in 0..self.places.len() {
            assert!(!self.claimable(place), "all threads sleep, and a place has an item");
        }
        let items = &self.places[0].items;
        items.publish(items.tail() + self.grows.swap(0, Ordering::Relaxed));
        true
    }

    fn is_over(&self) -> bool {
        self.find_claimable().is_none()
    }
}

/// One worker, and a changer that fills two places, one after the other. A change may come before the worker announces,
/// between its announcement and its check, between its check and its commitment, and after that.
///
/// Mutations that fail: no fence in `announce` or in `changed`; `announce` after the check, or no check;
/// `commit` waiting although rung; `withdraw` without `active -= 1`; `wake_one` without
/// `active += 1`; no `found`.
#[test]
fn loom_sleep_loses_no_wake_up() {
    check(|| {
        let world = Places::new(2, 2, 0);
        let worker = thread::spawn({
            let world = world.clone();
            move || world.work(0, false)
        });
        world.give(0);
        world.give(1);
        world.leave();
        worker.join().unwrap();
        world.assert_over();
    });
}

/// A worker stands down, without a check, while the other one may be about to sleep and a thread that is no worker fills a
/// place.
///
/// Mutations that fail: `list` that leaves `FULL` set; `stand_down` without the comparison of the workers awake with the width.
#[test]
fn loom_sleep_stands_down() {
    check(|| {
        let world = Places::new(3, 1, 0);
        world.sleep.begin_unseated(2..2);
        world.sleep.set_width(1);
        let work = |worker: Sleeper| {
            let world = world.clone();
            move || match world.sleep.stand_down(worker, false, false) {
                true => world.wake_up(worker),
                false => world.work(worker, false),
            }
        };
        let workers = [thread::spawn(work(0)), thread::spawn(work(1))];
        world.give(0);
        world.leave();
        workers.into_iter().for_each(|worker| worker.join().unwrap());
        world.assert_over();
    });
}

/// Two workers asleep, one of which is woken: the changer may rely on the searching worker, which has found nothing so
/// far and may be about to sleep again, or has just found the first item.
///
/// All steps before the wake-up are done before the threads start, so the model takes a second instead of minutes: the
/// first worker begins with its wait, the second with its wake-up.
///
/// Mutations that fail: `announce` that leaves `SEARCHING` set, and most of those above.
#[test]
fn loom_sleep_relies_on_the_searcher() {
    check(|| {
        let world = Places::new(3, 2, 0);
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
        world.give(0);
        world.leave();
        sleeper.join().unwrap();
        searcher.join().unwrap();
        world.assert_over();
    });
}

/// A worker that withdraws while it is rung counts as active once, and answers the ring.
///
/// Mutations that fail: `withdraw` that ignores `rung`, or takes it and leaves `active` as it is.
#[test]
fn loom_sleep_withdraws_while_rung() {
    check(|| {
        let world = Places::new(2, 1, 0);
        let worker = thread::spawn({
            let world = world.clone();
            move || {
                world.sleep.announce(0, false);
                if world.sleep.withdraw(0) {
                    world.sleep.found(0);
                }
                assert!(!world.sleep.any_asleep(), "no other worker was announced");
                world.sleep.retire(|| world.examine());
            }
        });
        fence(Ordering::SeqCst);
        if world.sleep.wants_waking() {
            world.sleep.wake_one();
        }
        world.sleep.retire(|| world.examine());
        worker.join().unwrap();
        world.assert_over();
    });
}

/// Two workers and no changer: the last one that would sleep examines, while no other thread is active, and adds an
/// item, as growth does; one of the two takes it; the next examination ends the run.
///
/// Mutations that fail: `last` called while one thread is active; `commit` that forgets to count the
/// examiner active again.
#[test]
fn loom_sleep_examines_when_no_thread_is_active() {
    check(|| {
        let world = Places::new(2, 1, 1);
        let other = thread::spawn({
            let world = world.clone();
            move || world.work(1, false)
        });
        world.work(0, false);
        other.join().unwrap();
        assert_eq!(world.examined(), 2);
        assert_eq!(world.places[0].items.head(), 1);
    });
}

/// A dedicated thread waits for two items in turn, as `doze` does; the changer reads its flag and rings it.
///
/// Mutations that fail: no fence in `doze` or in the change; `dozing` set after the check;
/// `wake_dedicated` that rings only a thread that is waiting already, or that counts one active
/// that is not waiting yet.
#[test]
fn loom_sleep_dozes_until_changed() {
    check(|| {
        let world = Places::new(2, 1, 0);
        let dedicated = thread::spawn({
            let world = world.clone();
            move || {
                let items = &world.places[0].items;
                for wanted in 1..=2 {
                    while items.tail() < wanted {
                        world.dozing.store(true, Ordering::Relaxed);
                        fence(Ordering::SeqCst);
                        if items.tail() < wanted {
                            let woken = world.sleep.wait_dedicated(0, None, || world.examine());
                            assert_eq!(woken, ParkOutcome::Rung);
                        }
                        world.dozing.store(false, Ordering::Relaxed);
                    }
                    world.take(0);
                }
                world.leave();
            }
        });
        for tail in 1..=2 {
            world.places[0].items.publish(tail);
            fence(Ordering::SeqCst);
            if world.dozing.load(Ordering::Relaxed) {
                world.sleep.wake_dedicated(0);
            }
        }
        world.leave();
        dedicated.join().unwrap();
        world.assert_over();
    });
}

/// A worker that begins without a thread: the caller's changes summon one, which arrives searching, and one of the two
/// takes the items. The caller may be done before the thread arrives.
///
/// Mutations that fail: `begin_unseated` that leaves the workers active; `ring` that does not summon; `arrive`
/// that leaves `rung` set.
#[test]
fn loom_sleep_summons_a_thread() {
    check(|| {
        let (world, pool) = (Places::new(2, 2, 0), ThreadPool::default());
        let job = |worker| {
            world.sleep.arrive(worker);
            world.work(worker, true);
        };
        let own = || {
            world.sleep.begin_unseated(1..2);
            world.give(0);
            world.give(1);
            world.work(0, false);
        };
        world.sleep.roster.with((&pool, StackSize::default()), &job, &|_| {}, own);
        world.assert_over();
    });
}
