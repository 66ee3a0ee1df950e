//! A thread in a session.

use super::session::Session;
use super::{Fork, Half};
use crate::contain::drop_quietly;
use crate::measure::clock::ticks;
use crate::team::deque::{Owned, Seat};
use crate::team::lending::{Recall, RecallCheck};
use crate::team::spin_budget::SpinBudget;
use std::cell::{RefCell, UnsafeCell};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::thread;
use thalweg_policy::random::XorShift;

/// How a member addresses the rest of its team.
#[derive(Clone, Copy)]
pub(crate) struct Crew {
    /// Lets members join the session's job.
    pub(crate) call: fn(),
    /// Joins a job that was opened inside of the session; false if there is none.
    pub(crate) help: fn() -> bool,
}

/// A thread's part in a session.
pub(crate) struct Member<'s> {
    session: &'s Session,
    seat: &'s Seat<Half>,
    me: usize,
    crew: Crew,
    /// The private half of the deque. Invariant: borrowed by the functions of this file, which call no code of others meanwhile.
    owned: UnsafeCell<Owned<Half>>,
    random: RefCell<XorShift>,
}

/// Aborts the process if code of this module panics while a deque may refer to a frame.
struct Abort;

impl Drop for Abort {
    fn drop(&mut self) {
        std::process::abort();
    }
}

impl<'s> Member<'s> {
    /// The member with this number, without halves.
    pub(crate) fn new(session: &'s Session, me: usize, crew: Crew) -> Member<'s> {
        let alone = session.seats.len() == 1;
        Member {
            session,
            seat: &session.seats[me],
            me,
            crew,
            owned: UnsafeCell::new(Owned::new(Vec::new(), alone)),
            random: RefCell::new(XorShift::new(0, me)),
        }
    }

    /// What `access` returns for the private half of the deque. `access` is code of this file that calls none of others.
    #[inline]
    fn with_owned<R>(&self, access: impl FnOnce(&mut Owned<Half>) -> R) -> R {
        // SAFETY: the member is not `Sync`, so this thread alone accesses it, and by the invariant no access is inside of
        // another one.
        access(unsafe { &mut *self.owned.get() })
    }

    /// See [`join`](super::join).
    #[inline]
    pub(crate) fn join<A, B, RA, RB>(&self, a: A, b: B) -> (RA, RB)
    where
        A: FnOnce() -> RA,
        B: FnOnce() -> RB + Send,
        RB: Send,
    {
        let fork = Fork::new(b);
        let abort = Abort;
        self.fork(fork.half());
        let first = catch_unwind(AssertUnwindSafe(a));
        if self.take_newest() {
            std::mem::forget(abort);
            // SAFETY: the half is taken back.
            let b = unsafe { fork.take_work() };
            return match first {
                Ok(first) => (first, b()),
                Err(panic) => both(Err(panic), catch_unwind(AssertUnwindSafe(b))),
            };
        }
        let second = match self.settle(fork.half(), &|| fork.is_done()) {
            // SAFETY: the half is taken back.
            Settled::Own => catch_unwind(AssertUnwindSafe(unsafe { fork.take_work() })),
            // SAFETY: the half is done.
            Settled::Done => unsafe { fork.take_result() },
        };
        std::mem::forget(abort);
        both(first, second)
    }

    /// Pushes a half, and offers it and the other ones if few are offered.
    #[inline]
    fn fork(&self, half: Half) {
        let offers = self.with_owned(|owned| {
            owned.push(half);
            !owned.alone && self.seat.wants(owned)
        });
        if offers {
            self.offer();
        }
    }

    /// Takes the newest private half: that of this frame, if there is one.
    #[inline]
    fn take_newest(&self) -> bool {
        self.with_owned(|owned| owned.pop().is_some())
    }

    #[cold]
    #[inline(never)]
    fn offer(&self) {
        self.with_owned(|owned| self.seat.share(owned));
        self.session.wake();
        (self.crew.call)();
    }

    /// Takes an offered half back, or waits until its thief is done.
    #[cold]
    #[inline(never)]
    fn settle(&self, half: Half, is_done: &dyn Fn() -> bool) -> Settled {
        let newest = self.with_owned(|owned| {
            self.seat.take_back(owned);
            owned.pop()
        });
        if let Some(newest) = newest {
            // In place of undefined behaviour, if the order of the deque were wrong: see the module.
            assert!(newest.is(half), "the newest half is that of the innermost frame");
            return Settled::Own;
        }
        let mut budget = SpinBudget::default();
        while !is_done() {
            if self.execute_stolen() || (self.crew.help)() {
                budget = SpinBudget::default();
            } else if budget.is_spent() {
                self.session.sleep(is_done);
                budget = SpinBudget::default();
            }
        }
        Settled::Done
    }

    /// The part of a helper: executes stolen halves until it finds none for some time, the session is over, or the helper's
    /// run has a node for its thread.
    pub(crate) fn help(&self, recall: Recall<'_>) {
        let (mut check, mut budget) = (RecallCheck::new(recall), SpinBudget::default());
        while !self.session.is_over() && !check.recalls(ticks) {
            if self.execute_stolen() {
                budget = SpinBudget::default();
            } else if budget.is_spent() {
                return;
            }
        }
    }

    /// Steals a half and executes it; false if none was found.
    pub(crate) fn execute_stolen(&self) -> bool {
        let Some(half) = self.steal() else { return false };
        let abort = Abort;
        // SAFETY: the half is out of its deque, and executed here alone.
        unsafe { half.execute() };
        std::mem::forget(abort);
        self.session.wake();
        true
    }

    /// Takes the oldest half that some member offers.
    fn steal(&self) -> Option<Half> {
        let count = self.session.seats.len();
        let first = self.random.borrow_mut().number() as usize % count;
        let victims = (0..count).map(|at| (first + at) % count).filter(|victim| *victim != self.me);
        let steal = |victim: usize| {
            let seat = &self.session.seats[victim];
            self.with_owned(|owned| seat.steal(owned, 1, |_| true, || {}))
        };
        let (half, are_left) = victims.into_iter().find_map(steal)?;
        if are_left {
            (self.crew.call)();
        }
        Some(half)
    }
}

/// What has become of a half that was offered.
enum Settled {
    /// The owner has taken it back.
    Own,
    /// A thief has executed it.
    Done,
}

/// The results of both halves.
///
/// # Panics
/// With the panic of the first half, or else that of the second one.
#[cold]
fn both<A, B>(first: thread::Result<A>, second: thread::Result<B>) -> (A, B) {
    match (first, second) {
        (Ok(first), Ok(second)) => (first, second),
        (Err(panic), second) => {
            drop_quietly(second); // another panic goes on already
            resume_unwind(panic)
        }
        (first, Err(panic)) => {
            drop_quietly(first);
            resume_unwind(panic)
        }
    }
}
