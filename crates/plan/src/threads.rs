//! The default number of workers.

/// The default number of workers: the cores that this process may use, at least 1.
///
/// Respects the affinity mask and, on Linux, the CPU quotas of control groups (v1 and v2). A quota of 1.5 cores
/// counts as 1. In a pinned thread this function sees that thread's mask, so it may return fewer cores than the
/// process has. It returns 1 where the system does not report the number.
pub fn threads() -> usize {
    // std documents that it reads sched_getaffinity and the cgroup quota files.
    std::thread::available_parallelism().map_or(1, |n| n.get())
}
