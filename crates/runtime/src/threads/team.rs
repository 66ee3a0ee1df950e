//! The pool as its users see it.

use super::pool::Pool;
use super::seat::{Call, State};
use super::{Roster, name_thread};
use crate::sync::lock;
use crate::threads::cores::Cores;
use std::fmt;
use std::io;
use std::sync::Arc;

/// Threads that stay from one job to the next, and sleep between. They are started when they are first needed.
/// [`Team::process`] is the team that all runs of the process share.
///
/// ```
/// use std::sync::atomic::{AtomicU64, Ordering};
///
/// // Each thread takes the next item, so nothing is missing if a member comes late, or not at all.
/// let (items, sum) = (AtomicU64::new(0), AtomicU64::new(0));
/// let work = |_member: usize| loop {
///     let item = items.fetch_add(1, Ordering::Relaxed);
///     if item >= 100 {
///         break;
///     }
///     sum.fetch_add(item, Ordering::Relaxed);
/// };
/// thalweg_runtime::Team::process().beside(2, &work, || work(0), || {});
/// assert_eq!(sum.into_inner(), 4950);
/// ```
#[derive(Default)]
pub struct Team {
    pub(super) pool: Arc<Pool>,
}

impl fmt::Debug for Team {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Team").finish_non_exhaustive()
    }
}

impl Drop for Team {
    fn drop(&mut self) {
        let mut idle = lock(&self.pool.idle);
        idle.over = true;
        let seats = std::mem::take(&mut idle.seats);
        drop(idle);
        seats.iter().for_each(|seat| seat.set(State::Over));
    }
}

impl Team {
    /// The threads of this process.
    #[cfg(not(loom))]
    pub fn process() -> &'static Team {
        static TEAM: std::sync::LazyLock<Team> = std::sync::LazyLock::new(Team::default);
        &TEAM
    }

    /// A model has no statics; none starts a whole run.
    #[cfg(loom)]
    pub fn process() -> &'static Team {
        Box::leak(Box::default())
    }

    /// Does `own` on this thread while members 1 to `members` do a job; fewer, if the system gives no more
    /// threads. Returns when all that have begun have done it: a member that has not begun by the end of `own` is
    /// not waited for. While this thread waits it calls `else_do` now and then.
    ///
    /// # Panics
    /// Where one of the members does, after all others have done the job.
    pub fn beside<R>(
        &self,
        members: usize,
        job: &(dyn Fn(usize) + Sync),
        own: impl FnOnce() -> R,
        else_do: impl FnMut(),
    ) -> R {
        let (roster, refused) = (Roster::default(), std::sync::atomic::AtomicBool::new(false));
        let note = |_| refused.store(true, std::sync::atomic::Ordering::Relaxed);
        let call = || {
            for member in 1..=members {
                roster.summon(member);
                if refused.load(std::sync::atomic::Ordering::Relaxed) {
                    break;
                }
            }
            own()
        };
        let cores = Cores::here();
        let part = |member| {
            cores.take_over();
            name_thread("thalweg team");
            job(member);
        };
        roster.with(self, &part, &note, call, Some(else_do))
    }

    /// Does a job on a thread of the team; no caller waits for it.
    pub(crate) fn detach(&self, job: Box<dyn FnOnce() + Send>) -> io::Result<()> {
        self.pool.take()?.set(State::Called(Call::Own(job)));
        Ok(())
    }
}
