//! Workers pinned to cores, where the system lets them be.
//!
//! Pinning is a wish: where the system has no such thing, or refuses, the workers run unpinned.

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
pub(crate) use linux::cores;

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
