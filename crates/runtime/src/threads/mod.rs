//! The process's thread pool. Its threads live on from one job to the next.
//!
//! Workers, threads of blocking nodes, the runner of a started graph and the members of [teams](crate::team) that are in no
//! run all come from here. A caller takes an idle thread or starts a new one and never queues, so jobs that wait for each
//! other, nested runs included, cannot exhaust the pool.
//!
//! # States of a seat
//!
//! Each pool thread (*member*) has a [seat](seat::Seat), whose state is under its mutex. A seat is in the list of idle
//! threads, or in the hand of one caller (in a [`Roster`]).
//!
//! | state | meaning | entered by | left by |
//! |---|---|---|---|
//! | idle | waits for a call | member at its start; caller by `revoke` or `revoke_or_join`; member after an owned job | caller by `set(Called)`; pool by `set(Closed)` |
//! | called | has a job that its member has not seen | caller | member (running); caller by `revoke` or `revoke_or_join` (idle) |
//! | running | the member executes the job | member | member (done; idle after an owned job) |
//! | done | the job has returned or panicked; its panic is kept | member | caller by `revoke_or_join` (idle) |
//! | closed | the thread ends | pool, when it is dropped or has enough idle threads | never |
//!
//! Invariant: a seat in a caller's hand is never closed. Only `put_back` and the pool's drop close seats: the one takes
//! the seat out of the caller's hand, the other out of the list.
//!
//! # Why a job may borrow from its caller's stack
//!
//! A [`Roster`] holds a borrowed job and the seats called for it. Any thread may add a seat (`summon`) while the roster
//! is open.
//!
//! | roster is | `work` | entered by | left by |
//! |---|---|---|---|
//! | closed | none | creation; `close`, under the lock | `Open::new`, under the lock |
//! | open | the job, borrowed from a frame of the opening thread | `Open::new` | `close` |
//!
//! *The race.* A thread summons a member just as the caller returns, and the member runs a job whose borrow has ended.
//!
//! *Why it cannot happen.* `close` removes the job under the roster's lock, and `summon` reads the job and stores the
//! seat under that lock. So a summons either precedes the close, which then finds the seat, or finds no job. The close
//! then revokes or joins each seat: one still `called` goes back to idle, and its member, which reads the state under
//! the seat's lock, never sees the job; one that is `running` is waited for. The guard that closes is a local of
//! [`Roster::with`], so a panic closes too. A seat leaves the roster only after it has been joined, so a panic during
//! the close leaves the rest to the guard's drop.
//!
//! The mutexes order all data: the call's fields by the seat's lock, and a job's writes by the member's `set(Done)` and
//! the caller's lock that finds `Done`.
//!
//! # Waiting
//!
//! Each side of a seat has a condition variable: the member waits on `called` for a call, the caller on `done` for the
//! end. A side that waits sets a flag under the lock, and the other side notifies after its change only if the flag is
//! set: a notification costs a system call. Flag and state are under one lock, so no wake-up is lost.
//!
//! Before it waits, a side spins for a few microseconds (`seat::SPIN`), since waking a thread through the system takes
//! longer than the gap between two short jobs. It spins on `changes`, a counter that `set` increments `Relaxed`: a
//! stale value only prolongs the spin, for the state is read under the lock afterwards. One member fewer than there are
//! cores spins at a time, those that became idle last, since the next caller takes them first: a run of an adaptor that
//! follows another finds its runner awake. Then the thread sleeps, so an idle pool uses no processor
//! time. Beyond `idle::KEPT` idle members threads end.

mod affinity;
pub(crate) mod cores;
mod idle;
#[cfg(all(test, any(loom, not(miri))))]
mod lend;
mod name;
pub(crate) mod per_process;
mod pool;
mod roster;
mod seat;
mod shares;
// Not under Miri, where the first of them does not end within a minute: threads of a pool wait for each other for long.
#[cfg(all(test, not(loom), not(miri)))]
mod tests;

#[cfg(all(test, any(loom, not(miri))))]
pub(crate) use lend::lend;
pub(crate) use name::name_thread;
#[cfg(not(loom))]
pub(crate) use pool::PoolThread;
pub(crate) use pool::ThreadPool;
pub(crate) use roster::Roster;
pub use shares::Shares;

use std::any::Any;
use std::io;

/// The size of a thread's stack: at least that of the standard library, or at least some bytes. The first is less than any
/// other, since its number of bytes is not known.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct StackSize(Option<usize>);

impl StackSize {
    /// At least this many bytes, and no less than 2 MiB, as threads of the standard library have by default.
    pub(crate) fn at_least(bytes: usize) -> StackSize {
        // A size beyond half of the address space is refused, and does not wrap when it is rounded up to pages.
        StackSize(Some(bytes.clamp(2 << 20, isize::MAX as usize & !0xffff)))
    }

    /// The number of bytes, if it is not that of the standard library.
    pub(crate) fn bytes(self) -> Option<usize> {
        self.0
    }

    /// Sets the size for a thread that is about to be started.
    pub(crate) fn set(self, builder: std::thread::Builder) -> std::thread::Builder {
        match self.0 {
            Some(bytes) => builder.stack_size(bytes),
            None => builder,
        }
    }
}

/// A job of several members; each gets its number.
pub(crate) type Job<'j> = dyn Fn(usize) + Sync + 'j;

/// The handler of the error with which the system refuses to start a thread.
pub(crate) type Refused<'j> = dyn Fn(io::Error) + Sync + 'j;

/// The payload of a job's panic.
pub(crate) type Panic = Box<dyn Any + Send>;
