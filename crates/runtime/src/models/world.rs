//! A worker's loop over a minimal kind of work, which the models of `sleep` share.
//!
//! It mirrors `Worker::run`, `idle` and `park`; [`Sleep`] is the real one. A run ends the way a real one
//! does: the last thread awake looks, and finds nothing.

use crate::sched::sleep::{ParkOutcome, Sleep, Sleeper};

/// Work for a few threads, and their parking place.
pub(super) trait World {
    fn sleep(&self) -> &Sleep;

    /// Whether there is work that this worker may do.
    fn any_work(&self, worker: Sleeper) -> bool;

    /// Does some of the work; false if there was none. A worker that finds some calls [`World::found`] first.
    fn work_once(&self, worker: Sleeper, searching: &mut bool) -> bool;

    /// As `quiesce::examine`: called with the sleep lock held and all threads asleep.
    fn examine(&self) -> bool;

    /// Whether an examination has left nothing to do.
    fn is_over(&self) -> bool {
        true
    }

    fn found(&self, searching: &mut bool) {
        if std::mem::take(searching) {
            self.sleep().found();
        }
    }

    /// Until the examination finds nothing to do.
    fn work(&self, worker: Sleeper, mut searching: bool) {
        loop {
            if self.work_once(worker, &mut searching) {
                continue;
            }
            self.sleep().announce(worker, searching);
            searching = false;
            if self.any_work(worker) {
                searching = self.sleep().withdraw(worker);
                continue;
            }
            match self.park(worker) {
                ParkOutcome::Rung => searching = true,
                ParkOutcome::Over => return,
                ParkOutcome::TimedOut | ParkOutcome::Resumed => {}
            }
        }
    }

    /// Commits. The end of the run is its too, if it was the last one and has found nothing.
    fn park(&self, worker: Sleeper) -> ParkOutcome {
        let woken = self.sleep().commit(worker, None, || self.examine());
        if woken == ParkOutcome::Resumed && self.is_over() {
            self.sleep().end();
            return ParkOutcome::Over;
        }
        woken
    }

    /// The loop of a worker that begins asleep.
    fn wake_up(&self, worker: Sleeper) {
        if self.park(worker) == ParkOutcome::Rung {
            self.work(worker, true);
        }
    }

    /// A thread that has made its last change leaves.
    fn leave(&self) {
        if self.sleep().retire(|| self.examine()) {
            self.sleep().end();
        }
    }
}
