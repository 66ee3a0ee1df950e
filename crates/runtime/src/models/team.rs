//! [`Team`]: every call is answered once, before the caller goes on, and threads end with the team.

use super::check;
use crate::sync::UnsafeCell;
use crate::team::Team;

/// Two jobs after one another on one member. What it does is done to a loom cell on the caller's stack, so a caller that
/// does not wait for its member, or does not see what it did, fails; so does a member that is never woken, since all
/// then wait for ever.
///
/// Mutations that fail: a caller that does not wait for `Done`, no bell, and a bell before the state changes.
#[test]
fn loom_team_answers_each_call() {
    check(|| {
        let team = Team::default();
        for _ in 0..2 {
            let done = Done(UnsafeCell::new(0));
            team.beside(1, &|member| done.add(member), || {}, || {});
            done.0.with_mut(|done| {
                // SAFETY: the member has done its part; loom would see it if not.
                assert_eq!(unsafe { *done }, 1);
            });
        }
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
