//! A job lent to several threads of the pool: the calls that were made for it, and their end. The race between a
//! summons and the close is argued in [`super`].
//!
//! The roster's lock is the outermost; the locks of the idle list and of a seat are taken under it, one at a time.
//! [`Open::close`] joins a seat without the roster's lock, which other members may need for a summons.

use super::idle::IdleThreads;
use super::pool::ThreadPool;
use super::seat::{Call, Seat, State};
use super::{Job, Panic, Refused, StackSize};
use crate::sync::{Mutex, lock};
use std::fmt;
use std::panic::resume_unwind;
use std::sync::Arc;

/// A borrowed job, while it is open for summons, and the seats called for it. Several threads may summon; one opens and
/// closes.
#[derive(Default)]
pub(crate) struct Roster {
    inner: Mutex<Inner>,
}

impl fmt::Debug for Roster {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Roster").finish_non_exhaustive()
    }
}

/// Invariant: every seat whose call holds the job is in `seats`, and leaves only after it was revoked or joined.
#[derive(Default)]
struct Inner {
    /// Present while the roster is open.
    work: Option<Work>,
    /// The seats called, each with its member's number.
    seats: Vec<(usize, Arc<Seat>)>,
}

/// The borrows of an open roster. Their lifetimes are erased: see [`Roster::with`]. They are used only under the
/// roster's lock, or by a member whose seat the roster holds.
struct Work {
    idle: Arc<IdleThreads>,
    /// The minimum stack size of a member, in bytes.
    stack: StackSize,
    job: &'static Job<'static>,
    /// Called under the roster's lock, so it must not summon.
    refused: &'static Refused<'static>,
}

impl Roster {
    /// Runs `own` while the roster is open for `job`, then closes it: revokes the calls of members that have not begun,
    /// and waits for the others. Members are threads of the pool with stacks of this size or more. `refused` gets the error if the system refuses a thread.
    ///
    /// # Panics
    /// If a member panics, after all have ended.
    pub(crate) fn with<R>(
        &self,
        (pool, stack): (&ThreadPool, StackSize),
        job: &Job<'_>,
        refused: &Refused<'_>,
        own: impl FnOnce() -> R,
    ) -> R {
        // SAFETY: the erased borrows outlive their uses. They are reachable through `work`, which the close removes
        // under the lock that every reader holds (`summon`, which also calls `refused` under it), and through seats of
        // the roster, which the close revokes or joins, so that no member has the job any more. The close is over when
        // `open` is gone, by `end` or by its drop, also in a panic; `open` is a local that is never forgotten.
        let (job, refused) = unsafe {
            (
                std::mem::transmute::<&Job<'_>, &'static Job<'static>>(job),
                std::mem::transmute::<&Refused<'_>, &'static Refused<'static>>(refused),
            )
        };
        let open = Open::new(self, Work { idle: pool.idle.clone(), stack, job, refused });
        let done = own();
        open.end();
        done
    }

    /// Calls a member for its part of the job, if the roster is open; no effect otherwise. On any thread.
    pub(crate) fn summon(&self, number: usize) {
        let mut inner = lock(&self.inner);
        let Inner { work: Some(work), seats } = &mut *inner else { return };
        match work.idle.acquire(work.stack) {
            Ok(seat) => {
                seat.set(State::Called(Call::Lent(work.job, number)));
                seats.push((number, seat));
            }
            // Under the lock, which the close takes: `refused` is borrowed like the job.
            Err(error) => (work.refused)(error),
        }
    }
}

impl Roster {
    /// Revokes the call of a member that has not begun and whose number satisfies `may`. Returns the number: the caller
    /// does that part itself. Only inside [`Roster::with`], whose close must not run at the same time.
    pub(crate) fn take_over(&self, may: impl Fn(usize) -> bool) -> Option<usize> {
        let mut inner = lock(&self.inner);
        let Inner { work: Some(work), seats } = &mut *inner else { return None };
        let at = seats.iter().position(|(number, seat)| may(*number) && seat.revoke())?;
        let (number, seat) = seats.swap_remove(at);
        work.idle.put_back(seat);
        Some(number)
    }
}

/// The guard of an open roster: closes it when dropped.
struct Open<'r> {
    roster: &'r Roster,
    idle: Arc<IdleThreads>,
}

impl<'r> Open<'r> {
    /// Opens the roster, which is closed.
    fn new(roster: &'r Roster, work: Work) -> Open<'r> {
        let idle = work.idle.clone();
        lock(&roster.inner).work = Some(work);
        Open { roster, idle }
    }

    /// Closes the roster, and continues the first panic of a member.
    fn end(self) {
        if let Err(panic) = self.close() {
            resume_unwind(panic);
        }
    }

    /// Closes the roster, and revokes or joins all seats; returns the first panic of a member.
    ///
    /// After `work` is gone no seat is added, so the list only shrinks. A seat stays in it until its member has left
    /// the job.
    fn close(&self) -> Result<(), Panic> {
        lock(&self.roster.inner).work = None;
        let mut outcome = Ok(());
        loop {
            let last = lock(&self.roster.inner).seats.last().map(|(_, seat)| seat.clone());
            let Some(seat) = last else { return outcome };
            let ended = seat.revoke_or_join();
            lock(&self.roster.inner).seats.pop();
            self.idle.put_back(seat);
            if outcome.is_ok() {
                outcome = ended;
            } else {
                // The drop of a payload may panic, and other seats are still to be joined.
                std::mem::forget(ended);
            }
        }
    }
}

impl Drop for Open<'_> {
    fn drop(&mut self) {
        // After a completed `end` no seat is left. The payload of a second panic is forgotten: its drop may panic.
        std::mem::forget(self.close());
    }
}
