//! Workers pinned to cores, where the system lets them be.
//!
//! Pinning is a wish: where the system has no such thing, or refuses, the workers run unpinned.
//!
//! A pool thread works for runs of different callers. At the start of each job it takes over the cores that the
//! caller may use ([`Cores`]), as a thread that the caller had started would.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The calling thread kept on one core; dropped, it may run again where it might before.
#[derive(Debug)]
pub(crate) struct Pinned {
    #[cfg(target_os = "linux")]
    before: Option<rustix::thread::CpuSet>,
}

#[cfg(target_os = "linux")]
mod linux {
    use super::Pinned;
    use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

    /// Cores that the calling thread may use.
    pub(crate) fn cores() -> Vec<usize> {
        match sched_getaffinity(None) {
            Ok(allowed) => (0..CpuSet::MAX_CPU).filter(|core| allowed.is_set(*core)).collect(),
            Err(_) => Vec::new(),
        }
    }

    /// The cores that a thread may use.
    #[derive(Clone, Debug)]
    pub(crate) struct Cores(Option<CpuSet>);

    impl Cores {
        /// Of the calling thread.
        pub(crate) fn here() -> Cores {
            Cores(sched_getaffinity(None).ok())
        }

        /// The calling thread may use them, and no others.
        pub(crate) fn take_over(&self) {
            if let (Some(cores), Ok(now)) = (&self.0, sched_getaffinity(None))
                && *cores != now
            {
                // A thread that stays where it is still runs.
                let _ = sched_setaffinity(None, cores);
            }
        }

        pub(crate) fn count(&self) -> usize {
            self.0.as_ref().map_or(0, |cores| cores.count() as usize)
        }
    }

    impl Pinned {
        /// Keeps the calling thread on `core`.
        pub(crate) fn to(core: usize) -> Pinned {
            let mut only = CpuSet::new();
            only.set(core);
            let before = sched_getaffinity(None).ok();
            Pinned { before: before.filter(|_| sched_setaffinity(None, &only).is_ok()) }
        }
    }

    impl Drop for Pinned {
        fn drop(&mut self) {
            if let Some(before) = &self.before {
                // A thread that stays where it is still runs.
                let _ = sched_setaffinity(None, before);
            }
        }
    }
}

#[cfg(target_os = "linux")]
pub(crate) use linux::{Cores, cores};

/// The cores that a thread may use: nothing is known of them here.
#[cfg(not(target_os = "linux"))]
#[derive(Clone, Debug)]
pub(crate) struct Cores;

#[cfg(not(target_os = "linux"))]
impl Cores {
    pub(crate) fn here() -> Cores {
        Cores
    }

    pub(crate) fn take_over(&self) {}

    pub(crate) fn count(&self) -> usize {
        0
    }
}

/// The latest answer.
static KNOWN: AtomicUsize = AtomicUsize::new(1);

/// The latest answer of [`parallelism`], without asking the system.
#[cfg(not(loom))]
pub(crate) fn known_parallelism() -> usize {
    KNOWN.load(Ordering::Relaxed)
}

/// How long an answer of the system holds: it reads files of control groups, which takes 30 us.
const HOLDS: Duration = Duration::from_secs(1);

/// The latest answer: cores of the thread that it was for, when it was given, threads.
static LAST: Mutex<Option<(usize, Instant, usize)>> = Mutex::new(None);

/// Threads that the process may run at once on the cores of the calling thread: [`thalweg_plan::threads`]. An answer
/// holds for a second, and for threads with as many cores. Threads of the pool ask before they sleep, so that a
/// run need not.
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

/// [`parallelism`] as far as it is known without reading files: before the first answer, the cores that the calling thread
/// may use, though a control group's quota may allow less.
pub(crate) fn parallelism_at_hand() -> usize {
    let count = Cores::here().count();
    match *LAST.lock().unwrap_or_else(PoisonError::into_inner) {
        Some((cores, _, threads)) if cores == count => threads,
        _ => count,
    }
}

/// Cores that the calling thread may use; none where the system does not tell.
#[cfg(not(target_os = "linux"))]
pub(crate) fn cores() -> Vec<usize> {
    Vec::new()
}

#[cfg(not(target_os = "linux"))]
impl Pinned {
    /// Does nothing here.
    pub(crate) fn to(_core: usize) -> Pinned {
        Pinned {}
    }
}

#[cfg(all(test, target_os = "linux", not(miri)))]
mod tests {
    use super::*;

    #[test]
    fn a_pinned_thread_runs_on_one_core_and_is_let_go() {
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
