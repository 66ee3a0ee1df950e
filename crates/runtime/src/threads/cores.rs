//! Cores: the set that a thread may use, the number that the process may use, and pinning.
//!
//! Pinning is best effort: where the system does not support it, or refuses, the workers run unpinned.
//!
//! A pool thread works for runs of different callers. At the start of each job it adopts the set of cores that the
//! caller may use ([`Cores`]), as a thread started by the caller would.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Pins the calling thread to one core until it is dropped; then restores the set that the thread might use before.
#[derive(Debug)]
pub(crate) struct Pinned {
    #[cfg(target_os = "linux")]
    before: Option<rustix::thread::CpuSet>,
}

#[cfg(target_os = "linux")]
mod linux {
    use super::Pinned;
    use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

    /// The cores that the calling thread may use; empty if the system does not report them.
    pub(crate) fn cores() -> Vec<usize> {
        match sched_getaffinity(None) {
            Ok(allowed) => (0..CpuSet::MAX_CPU).filter(|core| allowed.is_set(*core)).collect(),
            Err(_) => Vec::new(),
        }
    }

    /// The set of cores that a thread may use; `None` if the system does not report it.
    #[derive(Clone, Debug)]
    pub(crate) struct Cores(Option<CpuSet>);

    impl Cores {
        /// The set of the calling thread.
        pub(crate) fn here() -> Cores {
            Cores(sched_getaffinity(None).ok())
        }

        /// Restricts the calling thread to this set.
        pub(crate) fn adopt(&self) {
            if let (Some(cores), Ok(now)) = (&self.0, sched_getaffinity(None))
                && *cores != now
            {
                // Best effort: a refused thread runs all the same.
                let _ = sched_setaffinity(None, cores);
            }
        }

        /// The number of cores in the set; 0 if it is not known.
        pub(crate) fn count(&self) -> usize {
            self.0.as_ref().map_or(0, |cores| cores.count() as usize)
        }
    }

    impl Pinned {
        /// Pins the calling thread to `core`.
        pub(crate) fn to(core: usize) -> Pinned {
            let mut only = CpuSet::new();
            only.set(core);
            let before = sched_getaffinity(None).ok();
            Pinned { before: before.filter(|_| sched_setaffinity(None, &only).is_ok()) }
        }
    }

    impl Drop for Pinned {
        /// Restores the set. A pool thread must not carry a run's pin into its next job.
        fn drop(&mut self) {
            if let Some(before) = &self.before {
                // Best effort: a refused thread runs all the same.
                let _ = sched_setaffinity(None, before);
            }
        }
    }
}

#[cfg(target_os = "linux")]
pub(crate) use linux::{Cores, cores};

/// The set of cores that a thread may use: not known on this system.
#[cfg(not(target_os = "linux"))]
#[derive(Clone, Debug)]
pub(crate) struct Cores;

#[cfg(not(target_os = "linux"))]
impl Cores {
    pub(crate) fn here() -> Cores {
        Cores
    }

    pub(crate) fn adopt(&self) {}

    pub(crate) fn count(&self) -> usize {
        0
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
static LAST: Mutex<Option<(usize, Instant, usize)>> = Mutex::new(None);

/// The number of threads that the process may run at once on the cores of the calling thread
/// ([`thalweg_plan::threads`]). A result is reused for a second by threads with the same number of cores. Pool threads
/// call this before they sleep, so that a run finds a recent result.
pub(crate) fn parallelism() -> usize {
    let (count, now) = (Cores::here().count(), Instant::now());
    let mut last = LAST.lock().unwrap_or_else(PoisonError::into_inner);
    match *last {
        Some((cores, at, threads)) if cores == count && now.duration_since(at) < HOLDS => threads,
        _ => {
            let threads = thalweg_plan::threads();
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
    match *LAST.lock().unwrap_or_else(PoisonError::into_inner) {
        Some((cores, _, threads)) if cores == count => threads,
        _ => count,
    }
}

/// The cores that the calling thread may use; empty where the system does not report them.
#[cfg(not(target_os = "linux"))]
pub(crate) fn cores() -> Vec<usize> {
    Vec::new()
}

#[cfg(not(target_os = "linux"))]
impl Pinned {
    /// No effect on this system.
    pub(crate) fn to(_core: usize) -> Pinned {
        Pinned {}
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
            assert_eq!(rustix::thread::sched_getcpu(), *core);
            drop(pinned);
            assert_eq!(cores(), all);
        }
    }
}
