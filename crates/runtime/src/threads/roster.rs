//! A job lent to several threads of the pool: who was summoned, and who is waited for.

use super::pool::Pool;
use super::seat::{Call, Seat, State};
use super::team::Team;
use super::{Job, Panic, Refused};
use crate::sync::{Mutex, lock};
use std::fmt;
use std::panic::resume_unwind;
use std::sync::Arc;
use std::time::Duration;

/// How often a caller that waits does something else.
const ELSE: Duration = Duration::from_millis(50);

/// A job that members may be summoned to, and those that were.
#[derive(Default)]
pub(crate) struct Roster {
    inner: Mutex<Inner>,
}

impl fmt::Debug for Roster {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Roster").finish_non_exhaustive()
    }
}

#[derive(Default)]
struct Inner {
    work: Option<Work>,
    /// By the number each was summoned for.
    seats: Vec<(usize, Arc<Seat>)>,
}

/// What the roster has borrowed while it is open.
struct Work {
    pool: Arc<Pool>,
    job: &'static Job<'static>,
    refused: &'static Refused<'static>,
}

impl Roster {
    /// Opens the roster for the time of `own`, then closes it: see the module.
    ///
    /// # Panics
    /// Where a member does.
    pub(crate) fn with<R>(
        &self,
        team: &Team,
        job: &Job<'_>,
        refused: &Refused<'_>,
        own: impl FnOnce() -> R,
        else_do: Option<impl FnMut()>,
    ) -> R {
        // SAFETY: members see the job, and summoners `refused`, only between `Open::new` and the close, which is
        // over when `open` is gone: `end` and its drop close, and it is a local that is never forgotten.
        let (job, refused) = unsafe {
            (
                std::mem::transmute::<&Job<'_>, &'static Job<'static>>(job),
                std::mem::transmute::<&Refused<'_>, &'static Refused<'static>>(refused),
            )
        };
        let open = Open::new(self, Work { pool: team.pool.clone(), job, refused });
        let done = own();
        open.end(else_do);
        done
    }

    /// Calls a member to do its part, if the roster is open. From any thread.
    pub(crate) fn summon(&self, number: usize) {
        let mut inner = lock(&self.inner);
        let Inner { work: Some(work), seats } = &mut *inner else { return };
        match work.pool.take() {
            Ok(seat) => {
                seat.set(State::Called(Call::Part(work.job, number)));
                seats.push((number, seat));
            }
            // Under the lock, as the close waits for it.
            Err(error) => (work.refused)(error),
        }
    }
}

impl Roster {
    /// Revokes the call of a member that has not begun: its number, for the caller to do its part. From a thread
    /// that is inside of [`Roster::with`].
    pub(crate) fn take_over(&self, may: impl Fn(usize) -> bool) -> Option<usize> {
        let mut inner = lock(&self.inner);
        let Inner { work: Some(work), seats } = &mut *inner else { return None };
        let at = seats.iter().position(|(number, seat)| may(*number) && seat.revoke())?;
        let (number, seat) = seats.swap_remove(at);
        work.pool.put_back(seat);
        Some(number)
    }
}

/// A roster that is open, until this is dropped.
struct Open<'r> {
    roster: &'r Roster,
    pool: Arc<Pool>,
}

impl<'r> Open<'r> {
    fn new(roster: &'r Roster, work: Work) -> Open<'r> {
        let pool = work.pool.clone();
        lock(&roster.inner).work = Some(work);
        Open { roster, pool }
    }

    fn end(self, else_do: Option<impl FnMut()>) {
        let how = match else_do {
            Some(mut else_do) => self.close(&mut else_do, Some(ELSE)),
            None => self.close(&mut || {}, None),
        };
        if let Err(panic) = how {
            resume_unwind(panic);
        }
    }

    /// Revokes or waits for all that were summoned; how the first that panicked did.
    ///
    /// A seat stays in the roster until its member has left the job. So where `else_do` panics, the drop of
    /// `self` waits for the others.
    fn close(&self, else_do: &mut dyn FnMut(), timeout: Option<Duration>) -> Result<(), Panic> {
        lock(&self.roster.inner).work = None;
        let mut how = Ok(());
        loop {
            let last = lock(&self.roster.inner).seats.last().map(|(_, seat)| seat.clone());
            let Some(seat) = last else { return how };
            let ended = seat.dismiss(else_do, timeout);
            lock(&self.roster.inner).seats.pop();
            self.pool.put_back(seat);
            if how.is_ok() {
                how = ended;
            } else {
                // The drop of a payload may panic, and others are still to be waited for.
                std::mem::forget(ended);
            }
        }
    }
}

impl Drop for Open<'_> {
    fn drop(&mut self) {
        // After `end` there is nothing left to close.
        std::mem::forget(self.close(&mut || {}, None));
    }
}
