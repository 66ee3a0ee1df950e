//! The threads that execute a graph: those of the runtime's team, with numbers below the most members of the run.

use thalweg_runtime::MemberCounts;
#[cfg(not(loom))]
pub(crate) use thalweg_runtime::{call_members, team_domains, team_size};

#[cfg(not(loom))]
use std::sync::atomic::{AtomicBool, Ordering};
#[cfg(not(loom))]
use thalweg_runtime::Job;

/// The models have threads of their own, and no team.
#[cfg(loom)]
pub(crate) fn team_size() -> usize {
    1
}

#[cfg(loom)]
pub(crate) fn team_domains() -> Option<std::sync::Arc<[usize]>> {
    None
}

/// The calling thread alone.
#[cfg(loom)]
pub(crate) fn parallel(
    _members: usize,
    part: &(dyn Fn(usize, &mut MemberCounts) + Sync),
    _more: &(dyn Fn() -> bool + Sync),
) {
    part(0, &mut MemberCounts::default());
}

/// No member sleeps.
#[cfg(loom)]
pub(crate) fn call_members() {}

/// Calls `part(member)` on the calling thread, and on other threads that may begin late or never, each several times
/// ([`parallel_counted`](thalweg_runtime::parallel_counted)); waits for those that have begun. The numbers are below `members`,
/// and no two threads have the same one at a time. A thread keeps its number in the team if that is below `members`, so it
/// gets the same colours each time.
#[cfg(not(loom))]
pub(crate) fn parallel(
    members: usize,
    part: &(dyn Fn(usize, &mut MemberCounts) + Sync),
    more: &(dyn Fn() -> bool + Sync),
) {
    let taken: Vec<AtomicBool> = (0..members).map(|_| AtomicBool::new(false)).collect();
    // Acquire and Release: a thread sees what the one before it did under the number.
    let claims = |number: &usize| !taken[*number].swap(true, Ordering::Acquire);
    let call = |thread: usize, counts: &mut MemberCounts| {
        let own = Some(thread).filter(|thread| *thread < members);
        let Some(number) = own.into_iter().chain((0..members).rev()).find(claims) else { return };
        let _release = Release(&taken[number]);
        part(number, counts);
    };
    thalweg_runtime::parallel_counted(Job::TaskGraph, members, &call, more);
}

/// Gives a number back, after a panic too.
#[cfg(not(loom))]
struct Release<'a>(&'a AtomicBool);

#[cfg(not(loom))]
impl Drop for Release<'_> {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Release);
    }
}
