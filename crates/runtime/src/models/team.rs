//! [`Team`] and [`Roster`]: a borrowed job is seen only while its caller waits, whichever thread summons.

use super::check;
use crate::sync::UnsafeCell;
use crate::threads::{Roster, Team};
use loom::thread;
use std::sync::Arc;

/// Two jobs after one another, on one member at most. The member writes to a loom cell on the caller's stack, so the
/// model fails if the caller neither revokes the call nor waits for the member, or does not see the write, or if the
/// member sees a job whose call was revoked.
///
/// Mutations that fail: `dismiss` that does not wait for `Done`, or leaves a seat `Called`; no bell in `set`.
#[test]
fn loom_team_answers_each_call_or_none() {
    check(|| {
        let team = Team::default();
        for _ in 0..2 {
            let done = Done(UnsafeCell::new(0));
            team.beside(1, &|member| done.add(member), || {}, || {});
            done.0.with_mut(|done| {
                // SAFETY: the member has done its part, or never will; loom would see it if not.
                assert!(unsafe { *done } <= 1);
            });
        }
    });
}

/// Another thread summons a member while the caller closes its roster.
///
/// Mutation that fails: `close` that leaves the job where it is.
#[test]
fn loom_team_is_summoned_from_elsewhere() {
    check(|| {
        let (team, roster) = (Team::default(), Arc::new(Roster::default()));
        let other = thread::spawn({
            let roster = roster.clone();
            move || roster.summon(1)
        });
        let done = Done(UnsafeCell::new(0));
        roster.with(&team, &|member| done.add(member), &|_| {}, || {}, None::<fn()>);
        done.0.with_mut(|done| {
            // SAFETY: as above.
            assert!(unsafe { *done } <= 1);
        });
        other.join().unwrap();
    });
}

/// The caller does the part of a member that has not begun, and only then: it is done once.
#[test]
fn loom_team_takes_over_a_call() {
    check(|| {
        let (team, roster) = (Team::default(), Roster::default());
        let done = Done(UnsafeCell::new(0));
        let job = |member| done.add(member);
        let own = || {
            roster.summon(1);
            if let Some(member) = roster.take_over(|_| true) {
                job(member);
            }
        };
        roster.with(&team, &job, &|_| {}, own, None::<fn()>);
        done.0.with_mut(|done| {
            // SAFETY: as above.
            assert_eq!(unsafe { *done }, 1);
        });
    });
}

struct Done(UnsafeCell<usize>);

// SAFETY: this is what loom checks.
unsafe impl Sync for Done {}

impl Done {
    fn add(&self, member: usize) {
        // SAFETY: as above.
        self.0.with_mut(|done| unsafe { *done += member });
    }
}
