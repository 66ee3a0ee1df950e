//! [`ThreadPool`] and [`Roster`]: a borrowed job runs only while its caller is in `with`, whichever thread summons.
//!
//! Pool, roster and seats are the real ones. The job adds to a loom cell on the caller's stack, and the caller reads
//! the cell after `with`. So a member that is neither revoked nor joined, or whose write the caller does not see, is a
//! data race, which loom reports.

use super::check;
use crate::sync::UnsafeCell;
use crate::threads::{Roster, StackSize, ThreadPool, lend};
use loom::thread;
use std::sync::Arc;

/// Two jobs one after the other, on one member at most. The model also fails if the member sees a job whose call was
/// revoked: that job's cell is gone.
///
/// Mutations that fail: `revoke_or_join` that does not wait for `Done`, or leaves a seat `Called`; no notification in
/// `set`.
#[test]
fn loom_team_answers_each_call_or_none() {
    check(|| {
        let pool = ThreadPool::default();
        for _ in 0..2 {
            let done = Done(UnsafeCell::new(0));
            lend(&pool, 1, &|member| done.add(member), || {});
            done.0.with_mut(|done| {
                // SAFETY: `lend` has returned, so the member has done its part or never will, and no other thread
                // has a reference to the cell. loom reports the contrary.
                assert!(unsafe { *done } <= 1);
            });
        }
    });
}

/// Another thread summons a member while the caller closes its roster: the summons finds the job, and the close the
/// seat; or the summons finds no job.
///
/// Mutation that fails: `close` that leaves the job where it is.
#[test]
fn loom_team_is_summoned_from_elsewhere() {
    check(|| {
        let (pool, roster) = (ThreadPool::default(), Arc::new(Roster::default()));
        let other = thread::spawn({
            let roster = roster.clone();
            move || roster.summon(1)
        });
        let done = Done(UnsafeCell::new(0));
        roster.with((&pool, StackSize::default()), &|member| done.add(member), &|_| {}, || {});
        done.0.with_mut(|done| {
            // SAFETY: as above.
            assert!(unsafe { *done } <= 1);
        });
        other.join().unwrap();
    });
}

/// The caller does the part of a member that has not begun: the part is done once, by the caller or by the member.
#[test]
fn loom_team_takes_over_a_call() {
    check(|| {
        let (pool, roster) = (ThreadPool::default(), Roster::default());
        let done = Done(UnsafeCell::new(0));
        let job = |member| done.add(member);
        let own = || {
            roster.summon(1);
            if let Some(member) = roster.take_over(|_| true) {
                job(member);
            }
        };
        roster.with((&pool, StackSize::default()), &job, &|_| {}, own);
        done.0.with_mut(|done| {
            // SAFETY: as above.
            assert_eq!(unsafe { *done }, 1);
        });
    });
}

/// The sum of the numbers of the members that have done their part.
struct Done(UnsafeCell<usize>);

// SAFETY: the one part of a job is done by its member, or by the caller that has taken it over; the caller reads the cell
// after its roster is closed. So one thread accesses the cell at a time. loom reports the contrary: this is what the
// models check.
unsafe impl Sync for Done {}

impl Done {
    fn add(&self, member: usize) {
        // SAFETY: exclusive, as argued at `Sync`.
        self.0.with_mut(|done| unsafe { *done += member });
    }
}
