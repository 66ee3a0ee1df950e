//! The number of threads to use by default. The engine needs it without a description of the machine.

/// The number of threads to use by default: the units that the calling thread may use, at least 1.
///
/// Respects the affinity mask and, on Linux, the CPU quotas of control groups (v1 and v2). A quota of 1.5 cores
/// counts as 1. In a pinned thread this function sees that thread's mask, so it may return fewer units than the
/// process has. It returns 1 where the system does not report the number.
///
/// The same as `threads` of the machine that `Machine::here` reads, in less time: about 30 us, for the files of control groups.
///
/// ```
/// use thalweg_machine::{Machine, threads};
///
/// assert!(threads() >= 1);
/// # #[cfg(target_os = "linux")]
/// assert_eq!(threads(), Machine::here().threads());
/// ```
pub fn threads() -> usize {
    // std documents that it reads sched_getaffinity and the cgroup quota files.
    std::thread::available_parallelism().map_or(1, |n| n.get())
}
