//! The signals of a run: stop, drain, the first failure, external events. They need no knowledge of the graph, so
//! handles, wakers and dropped ends may keep them after the run is over.
//!
//! | field | written by | ordering | read by |
//! |---|---|---|---|
//! | `stop` | any thread: `finish`, `record`; never cleared | `Release` / `Relaxed` | every thread, between two firings or decisions |
//! | `drain` | any thread: `drain`; never cleared | `Release` / `Relaxed` | each activation, once |
//! | `failure` | any thread, under the lock; the first cause is kept | the lock | the caller, after the run |
//!
//! `stop` and `drain` carry no data, so threads load them `Relaxed` and see them some time later. Sleeping threads must
//! not miss the stop: `finish` sets it and then ends the sleep under its mutex. (`record` cannot, since its caller
//! holds that mutex; the caller then calls `finish`, or `make_all_ready`, which does.)

use super::{Injector, Owners, Viewed};
use crate::channel::Marks;
use crate::contain::drop_quietly;
use crate::error::Error;
use crate::sched::sleep::Sleep;
use crate::set_once::SetOnce;
use crate::sync::{AtomicBool, Mutex, Ordering, lock};
use crate::team::Team;

/// The stop and drain flags of a run, its first failure, and its sleeping threads.
#[derive(Debug)]
pub(crate) struct Signals {
    pub(crate) sleep: Sleep,
    /// The workers, as threads that execute the jobs of firings together.
    pub(crate) team: Team,
    /// No further firing starts.
    stop: AtomicBool,
    /// Sources end at their next activation.
    drain: AtomicBool,
    /// The first cause of a stop that is a failure.
    failure: Mutex<Option<Error>>,
    /// The marks of the nodes whose firings have pieces, which the stop ends. Set before the run begins.
    pub(crate) pieces: SetOnce<Vec<Marks>>,
    /// The numbers by which ends of channels know their processes.
    pub(crate) owners: Owners,
    /// Events from outside of all activations, which workers drain.
    pub(crate) injector: Injector,
    /// The run's state, for snapshots.
    pub(crate) viewed: Viewed,
}

impl Drop for Signals {
    /// Removes the run from the table of runs. The table has a `Weak`, so a look-up that races with this fails to
    /// upgrade it.
    fn drop(&mut self) {
        self.owners.leave();
    }
}

impl Signals {
    /// The signals of a run with `nodes` nodes, `workers` workers and at most `sleepers` sleeping threads: workers,
    /// dedicated threads, ends outside of the run.
    pub(crate) fn new((workers, sleepers): (usize, usize), nodes: usize) -> Signals {
        Signals {
            team: Team::new(workers),
            owners: Owners::new(nodes),
            sleep: Sleep::new(sleepers),
            stop: AtomicBool::new(false),
            drain: AtomicBool::new(false),
            failure: Mutex::new(None),
            pieces: SetOnce::new(),
            injector: Injector::new(),
            viewed: Viewed::default(),
        }
    }

    /// Ends the run: no further firing starts, and all threads wake. From any thread that does not hold the sleep lock;
    /// more than once is harmless.
    pub(crate) fn finish(&self) {
        self.stop();
        self.sleep.end();
    }

    /// Sets the flag, and ends firings in pieces at their next item.
    fn stop(&self) {
        self.stop.store(true, Ordering::Release);
        self.pieces.get().into_iter().flatten().for_each(Marks::stop);
    }

    /// Whether no further firing starts.
    #[inline]
    pub(crate) fn stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Whether sources end at their next activation.
    #[inline]
    pub(crate) fn draining(&self) -> bool {
        self.drain.load(Ordering::Relaxed)
    }

    /// Makes sources end at their next activation. No thread is woken: a source that waits checks the flag when its
    /// wait is over.
    pub(crate) fn drain(&self) {
        self.drain.store(true, Ordering::Release);
    }

    /// Fails the run. If it has failed before, the first cause is kept.
    pub(crate) fn fail(&self, error: Error) {
        let later = self.record(error);
        self.finish();
        // An error of a node's code may panic in its drop.
        drop_quietly(later);
    }

    /// Fails the run without waking a thread, for a caller that holds the sleep lock. After it has released that lock,
    /// it must call [`Signals::finish`], and drop the error that is returned if the run has failed before: its drop is
    /// user code, which must not be called under a lock.
    pub(crate) fn record(&self, error: Error) -> Option<Error> {
        let mut failure = lock(&self.failure);
        // Before the unlock, and not before the lock: the caller of the run, which takes the failure once it has seen the stop,
        // must find it. Otherwise a run that was cancelled from another thread would return what it has as its whole result.
        self.stop();
        match *failure {
            Some(_) => Some(error),
            None => {
                *failure = Some(error);
                None
            }
        }
    }

    /// The failure, if there is one that no caller has taken.
    pub(crate) fn take_failure(&self) -> Option<Error> {
        lock(&self.failure).take()
    }
}
