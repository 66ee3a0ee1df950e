//! A roster with a fixed number of members, for tests and models.

use super::{Job, Roster, StackSize, ThreadPool};

/// Runs `own` on this thread, and `job` with the numbers 1 to `members` on threads of the pool.
pub(crate) fn lend<R>(pool: &ThreadPool, members: usize, job: &Job<'_>, own: impl FnOnce() -> R) -> R {
    let (roster, refused) = (Roster::default(), |error| panic!("the system refuses a thread: {error}"));
    let call = || {
        (1..=members).for_each(|member| roster.summon(member));
        own()
    };
    roster.with((pool, StackSize::default()), job, &refused, call)
}
