//! How many threads this process may run at once.

/// Workers by default: the cores this process may use, at least 1.
///
/// The affinity mask and, on Linux, CPU quotas of control groups (both versions) are respected;
/// a quota of one core and a half counts as one. Called from a thread that is pinned, it sees
/// that thread's mask and so may give less than the process has. Where the system does not tell,
/// the answer is 1.
pub fn threads() -> usize {
    // std reads sched_getaffinity and the cgroup quota files, as its documentation says.
    std::thread::available_parallelism().map_or(1, |n| n.get())
}
