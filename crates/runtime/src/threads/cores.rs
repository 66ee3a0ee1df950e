//! Cores: the set that a thread may use, the number that the process may use, and pinning.
//!
//! Pinning is best effort: where the system does not support it, or refuses, the workers run unpinned.
//!
//! A pool thread works for runs of different callers. At the start of each job it adopts the set of cores that the
//! caller may use ([`Cores`]), as a thread started by the caller would.

use crate::threads::affinity::Affinity;
use crate::threads::per_process::PerProcess;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The set of cores that a thread may use.
#[derive(Clone, Debug)]
pub(crate) struct Cores(Affinity);

impl Cores {
    /// The set of the calling thread.
    pub(crate) fn here() -> Cores {
        Cores(Affinity::here())
    }

    /// Restricts the calling thread to this set.
    pub(crate) fn adopt(&self) {
        if self.0.is_known() && self.0 != Affinity::here() {
            // Best effort: a refused thread runs all the same.
            self.0.adopt();
        }
    }

    /// The number of cores in the set; 0 if it is not known.
    pub(crate) fn count(&self) -> usize {
        self.0.count()
    }
}

/// The cores that the calling thread may use; empty where the system does not report them.
pub(crate) fn cores() -> Vec<u32> {
    Affinity::here().cpus()
}

/// Pins the calling thread to one core until it is dropped; then restores the set that the thread might use before.
#[derive(Debug)]
pub struct Pinned {
    before: Option<Affinity>,
}

impl Pinned {
    /// Pins the calling thread to `core`, if the system does so.
    pub fn to(core: u32) -> Pinned {
        let before = Affinity::here();
        Pinned { before: Some(before).filter(|before| before.is_known() && Affinity::of(core).adopt()) }
    }
}

impl Drop for Pinned {
    /// Restores the set. A pool thread must not carry a run's pin into its next job.
    fn drop(&mut self) {
        if let Some(before) = &self.before {
            // Best effort: a refused thread runs all the same.
            before.adopt();
        }
    }
}

/// The latest result of [`parallelism`].
static KNOWN: AtomicUsize = AtomicUsize::new(1);

/// The latest result of [`parallelism`], without a system call.
#[cfg(not(loom))]
pub(crate) fn last_parallelism() -> usize {
    KNOWN.load(Ordering::Relaxed)
}

/// The time for which a result is reused. Computing it reads files of control groups, which takes 30 us.
const HOLDS: Duration = Duration::from_secs(1);

/// The latest result: the number of cores of the thread that it was computed for, the time, and the result.
static LAST: PerProcess<Mutex<Option<(usize, Instant, usize)>>> = PerProcess::new(|| Mutex::new(None));

/// The number of threads that the process may run at once on the cores of the calling thread
/// ([`thalweg_machine::threads`]). A result is reused for a second by threads with the same number of cores. Pool threads
/// call this before they sleep, so that a run finds a recent result.
pub(crate) fn parallelism() -> usize {
    let (count, now) = (Cores::here().count(), Instant::now());
    let mut last = LAST.get().lock().unwrap_or_else(PoisonError::into_inner);
    match *last {
        Some((cores, at, threads)) if cores == count && now.duration_since(at) < HOLDS => threads,
        _ => {
            let threads = thalweg_machine::threads();
            *last = Some((count, now, threads));
            KNOWN.store(threads, Ordering::Relaxed);
            threads
        }
    }
}

/// [`parallelism`] without reading files: the latest result, of any age; or, if there is none for this number of cores,
/// the number of cores that the calling thread may use, of which a control group's quota may allow fewer.
pub(crate) fn cached_parallelism() -> usize {
    let count = Cores::here().count();
    match *LAST.get().lock().unwrap_or_else(PoisonError::into_inner) {
        Some((cores, _, threads)) if cores == count => threads,
        _ => count,
    }
}

#[cfg(all(test, target_os = "linux", not(miri)))]
mod tests {
    use super::*;

    #[test]
    fn a_pinned_thread_runs_on_one_core_until_unpinned() {
        let all = cores();
        for core in &all {
            let pinned = Pinned::to(*core);
            assert_eq!(cores(), [*core]);
            assert_eq!(rustix::thread::sched_getcpu(), *core as usize);
            drop(pinned);
            assert_eq!(cores(), all);
        }
    }
}
