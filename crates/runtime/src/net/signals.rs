//! How a run is asked to stop, and why it stopped: what needs no knowledge of the graph.

use super::{Injector, Owners};
use crate::error::Error;
use crate::sched::sleep::Sleep;
use crate::sync::{AtomicBool, Mutex, Ordering, lock};

/// The stop and drain flags of a run, its first failure, and its sleeping threads.
#[derive(Debug)]
pub(crate) struct Signals {
    pub(crate) sleep: Sleep,
    stop: AtomicBool,
    drain: AtomicBool,
    failure: Mutex<Option<Error>>,
    /// The numbers by which ends of channels know their processes.
    pub(crate) owners: Owners,
    /// Events from outside of all activations, which workers drain.
    pub(crate) injector: Injector,
}

impl Drop for Signals {
    fn drop(&mut self) {
        self.owners.leave();
    }
}

impl Signals {
    /// For `sleepers` threads and `nodes` nodes.
    pub(crate) fn new(sleepers: usize, nodes: usize) -> Signals {
        Signals {
            owners: Owners::new(nodes),
            sleep: Sleep::new(sleepers),
            stop: AtomicBool::new(false),
            drain: AtomicBool::new(false),
            failure: Mutex::new(None),
            injector: Injector::new(),
        }
    }

    /// The run is over.
    pub(crate) fn finish(&self) {
        self.stop.store(true, Ordering::Release);
        self.sleep.end();
    }

    /// No further firing starts.
    #[inline]
    pub(crate) fn stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Sources end at their next activation.
    #[inline]
    pub(crate) fn draining(&self) -> bool {
        self.drain.load(Ordering::Relaxed)
    }

    pub(crate) fn drain(&self) {
        self.drain.store(true, Ordering::Release);
    }

    /// Stops the run; the first cause stays.
    pub(crate) fn fail(&self, error: Error) {
        self.record(error);
        self.finish();
    }

    /// Notes the cause and stops, without waking a thread: for a caller that holds the sleep lock.
    pub(crate) fn record(&self, error: Error) {
        lock(&self.failure).get_or_insert(error);
        self.stop.store(true, Ordering::Release);
    }

    pub(crate) fn take_failure(&self) -> Option<Error> {
        lock(&self.failure).take()
    }
}
