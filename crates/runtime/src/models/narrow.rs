//! A narrow run ([`width`](crate::sched::width)): while a node is claimable, and each worker that is awake is in a firing that
//! cannot end before that node has fired, a sleeping worker is woken.
//!
//! | part | in the model |
//! |---|---|
//! | two nodes, `make_ready` | places of [`Places`]: the firing of the first one *waits* until the second one has fired |
//! | `Sleep`, `Running`, `UnderWay` | the real ones |
//! | `Worker::work`, `Looker::look` | [`World::work`], [`World::look`]; a look publishes nothing |
//! | time | [`LOOKS`] timeouts of the looker when the firing begins to wait, and as many after the last change from outside |
//! | the end of the run | the end of the firing that waits |
//!
//! The firing waits on a condition variable, so loom reports a worker that is not woken as a deadlock. No thread is the last
//! active one: one more is counted than there are workers.
//!
//! The fence of [`Sleep::announce`] is left to the models of [`sleep`](super::sleep): here the looker finds what a wake-up has
//! missed.

use super::check;
use super::sleep::Places;
use super::world::World;
use crate::sched::look::UnderWay;
use crate::sched::sleep::{NextLook, Sleep, Sleeper};
use crate::sync::{Condvar, Mutex, lock};
use crate::team::Running;
use loom::thread;
use std::sync::Arc;
use std::time::Duration;
use thalweg_graph::NodeId;

/// The place with the firing that waits. Node 0 in its first activation: a look must tell it from no activation.
const WAITING: usize = 0;
/// The place whose firing it waits for.
const OTHER: usize = 1;
/// The looker widens the run at its second look at the firing. With more looks the model would not notice one that comes to
/// nothing.
const LOOKS: usize = 2;

struct Narrow {
    places: Arc<Places>,
    /// By worker.
    running: Vec<Running>,
    /// What the firing that waits fills before it waits.
    gives: Option<usize>,
    /// The other place has fired.
    fired: Mutex<bool>,
    bell: Condvar,
}

impl Narrow {
    /// All workers have announced sleep and found no work: these steps are done before the threads start, so that the model ends
    /// within seconds. Worker 0 is woken first.
    fn new(workers: usize, gives: Option<usize>) -> Arc<Narrow> {
        let places = Places::new(workers + 1, 2, 0);
        places.sleep.begin_unseated(workers..workers);
        (0..workers).rev().for_each(|worker| places.sleep.announce(worker, false));
        Arc::new(Narrow {
            places,
            running: (0..workers).map(|_| Running::default()).collect(),
            gives,
            fired: Mutex::new(false),
            bell: Condvar::new(),
        })
    }

    /// Worker 0, which is woken before it commits. Its thread also fills the place of the firing that waits, as one from outside
    /// would, and so wakes it. The other workers may be asleep by then, without a looker, since no worker was awake.
    fn begin(&self) {
        self.places.give(WAITING);
        assert!(self.places.sleep.withdraw(0));
        self.work(0, true);
    }

    /// The workers but worker 0, each in a thread.
    fn sleepers(self: &Arc<Narrow>) -> Vec<thread::JoinHandle<()>> {
        let sleeper = |worker| {
            let world = self.clone();
            thread::spawn(move || world.wake_up(worker))
        };
        (1..self.running.len()).map(sleeper).collect()
    }

    /// The firing that waits. Its end is that of the run.
    fn wait_for_other(&self) {
        self.gives.into_iter().for_each(|place| self.places.give(place));
        self.places.sleep.pass_time(LOOKS);
        let mut fired = lock(&self.fired);
        while !*fired {
            fired = self.bell.wait(fired).unwrap();
        }
        drop(fired);
        self.places.sleep.end();
    }

    fn fire_other(&self) {
        *lock(&self.fired) = true;
        self.bell.notify_one();
    }
}

impl World for Narrow {
    fn sleep(&self) -> &Sleep {
        &self.places.sleep
    }

    fn any_work(&self, worker: Sleeper) -> bool {
        self.places.any_work(worker)
    }

    fn work_once(&self, worker: Sleeper, searching: &mut bool) -> bool {
        let Some(place) = self.places.find_claimable() else { return false };
        self.found(worker, searching);
        self.places.share(place);
        self.running[worker].begin(NodeId(place as u32), false);
        self.places.fire(place, || if place == WAITING { self.wait_for_other() } else { self.fire_other() });
        self.running[worker].end();
        true
    }

    fn examine(&self) -> bool {
        unreachable!("one thread is always active")
    }

    fn adapts(&self) -> bool {
        true
    }

    fn look(&self, worker: Sleeper, seen: &mut UnderWay) -> NextLook {
        let mut now = UnderWay::default();
        let others = (0..self.running.len()).filter(|other| *other != worker);
        others.filter_map(|other| self.running[other].node()).for_each(|node| now.add(node, 0));
        now.widen_if_unchanged(*seen, self.sleep());
        *seen = now;
        NextLook { pause: Duration::ZERO, waiting: None }
    }
}

/// A worker asleep, and a thread that is no worker, which narrows the run, as a trial of another width does, and then fills the
/// place that the firing waits for. It does so before the worker sleeps, while that one is the looker, or while it looks.
///
/// Mutations that fail: `is_enough` without `WATCHED`; `widen` without its wake-up, or without `compare`; `UnderWay` that adds
/// nothing for node 0 in its first activation; `commit` without `fill_role`; `stand_down` or `found` that leaves `SEARCHING`
/// set; `wake_one` that never wakes the looker.
#[test]
fn loom_narrow_run_wakes_a_worker_past_a_firing_that_waits() {
    check(|| {
        let world = Narrow::new(2, None);
        let sleepers = world.sleepers();
        let woken = thread::spawn({
            let world = world.clone();
            move || world.begin()
        });
        world.places.sleep.set_width(1);
        world.places.give(OTHER);
        world.places.sleep.pass_time(LOOKS);
        woken.join().unwrap();
        sleepers.into_iter().for_each(|worker| worker.join().unwrap());
    });
}

/// Two workers about to sleep, of which one becomes the looker, and the other is woken for what the firing gives before it
/// waits.
///
/// Mutations that fail: those above.
#[test]
fn loom_narrow_run_wakes_a_worker_for_what_a_firing_gives() {
    check(|| {
        let world = Narrow::new(3, Some(OTHER));
        world.places.sleep.set_width(1);
        let sleepers = world.sleepers();
        world.begin();
        sleepers.into_iter().for_each(|worker| worker.join().unwrap());
    });
}
