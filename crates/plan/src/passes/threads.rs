//! The number of workers.

use super::Given;

/// The most workers of a run.
pub const MOST_THREADS: usize = 4096;

/// The wish, or else the default, within the limits.
pub(super) fn decide(given: &Given<'_>) -> usize {
    given.wishes.threads.unwrap_or_else(threads).clamp(1, MOST_THREADS)
}

/// The default number of workers: the cores that this process may use, at least 1.
///
/// Respects the affinity mask and, on Linux, the CPU quotas of control groups (v1 and v2). A quota of 1.5 cores
/// counts as 1. In a pinned thread this function sees that thread's mask, so it may return fewer cores than the
/// process has. It returns 1 where the system does not report the number.
pub fn threads() -> usize {
    // std documents that it reads sched_getaffinity and the cgroup quota files.
    std::thread::available_parallelism().map_or(1, |n| n.get())
}
