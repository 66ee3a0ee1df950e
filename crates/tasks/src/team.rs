//! The threads that execute a graph.

use thalweg_runtime::ThreadPool;

/// The number of members of a run whose options do not say it.
pub(crate) fn team_size() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// Calls `part(member)` on the calling thread, and on other threads that may begin late or never; waits for those that have
/// begun. The numbers are below `members`, and no two threads have the same one at a time.
pub(crate) fn parallel(members: usize, part: &(dyn Fn(usize) + Sync)) {
    ThreadPool::process().fork_join(members - 1, part, || part(0), || {});
}
