//! A worker's loop over a minimal kind of work, which the models of `sleep`, `pools`, `narrow`, `affinity` and
//! `pinned` share.
//!
//! It mirrors `Worker::run`, `idle` and `park`; [`Sleep`] is the real one. A run ends as a real one does: the last
//! active thread examines, and finds nothing to do.

use crate::sched::look::UnderWay;
use crate::sched::sleep::{NextLook, ParkOutcome, Sleep, Sleeper};
use std::time::Duration;

/// Work for a few threads, and their parking place.
pub(super) trait World {
    /// The parking place of the threads.
    fn sleep(&self) -> &Sleep;

    /// Whether there is work that this worker may do.
    fn any_work(&self, worker: Sleeper) -> bool;

    /// Does some of the work; false if there was none. A worker that finds some calls [`World::found`] first.
    fn work_once(&self, worker: Sleeper, searching: &mut bool) -> bool;

    /// As `quiesce::examine`: called with the sleep lock held while no thread is active. It fails the model if there is
    /// work.
    fn examine(&self) -> bool;

    /// Whether an examination has left nothing to do.
    fn is_over(&self) -> bool {
        true
    }

    /// Whether the run may be narrow, so that workers stand down.
    fn adapts(&self) -> bool {
        false
    }

    /// As `Looker::look`. `seen` is what the worker has seen at its latest look since it sleeps.
    fn look(&self, _: Sleeper, _seen: &mut UnderWay) -> NextLook {
        NextLook { pause: Duration::ZERO, waiting: None }
    }

    /// As in `Worker::work`, before an activation: the worker is not searching any more.
    fn found(&self, worker: Sleeper, searching: &mut bool) {
        if std::mem::take(searching) {
            self.sleep().found(worker);
        }
    }

    /// As `make_ready::share_common`.
    fn share_common(&self, _: Sleeper, _found: Option<usize>) {}

    /// The worker's loop, until the examination finds nothing to do. `searching` says that the worker was woken.
    fn work(&self, worker: Sleeper, mut searching: bool) {
        loop {
            if !self.stands_down(worker, searching) {
                if self.work_once(worker, &mut searching) {
                    continue;
                }
                self.sleep().announce(worker, searching);
                if self.any_work(worker) {
                    let has_searched = std::mem::replace(&mut searching, self.sleep().withdraw(worker));
                    if has_searched && !searching {
                        self.share_common(worker, None);
                    }
                    continue;
                }
            }
            searching = false;
            match self.park(worker) {
                ParkOutcome::Rung => searching = true,
                ParkOutcome::Over => return,
                ParkOutcome::TimedOut | ParkOutcome::Resumed => {}
            }
        }
    }

    /// As in `Worker::work`, before a decision.
    fn stands_down(&self, worker: Sleeper, searching: bool) -> bool {
        let sleep = self.sleep();
        let is_beyond = self.adapts() && sleep.has_excess() && worker >= sleep.width();
        is_beyond && sleep.stand_down(worker, searching, false)
    }

    /// Commits to sleep. If this thread was the last active one and its examination has left nothing to do, it ends the
    /// run.
    fn park(&self, worker: Sleeper) -> ParkOutcome {
        let mut seen = UnderWay::default();
        let look = || self.look(worker, &mut seen);
        let woken = self.sleep().commit(worker, None, || self.examine(), look);
        if woken == ParkOutcome::Resumed && self.is_over() {
            self.sleep().end();
            return ParkOutcome::Over;
        }
        woken
    }

    /// The loop of a worker that has announced sleep before the model's threads start, and found no work.
    fn wake_up(&self, worker: Sleeper) {
        if self.park(worker) == ParkOutcome::Rung {
            self.work(worker, true);
        }
    }

    /// Leaves the run, for a thread that has made its last change. As the last active thread it ends the run.
    fn leave(&self) {
        if self.sleep().retire(|| self.examine()) {
            self.sleep().end();
        }
    }
}
