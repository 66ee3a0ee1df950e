//! The process's threads: one pool, whose threads stay from one job to the next.
//!
//! Workers, threads of blocking nodes, the runner of a started graph and the members of [`Team::beside`] all come
//! from here. A caller takes an idle thread or starts a new one and never queues, so jobs that wait for each other,
//! runs inside of runs included, cannot exhaust the pool.
//!
//! # States of a seat
//!
//! Each pool thread (*member*) has a seat, whose state is under its mutex.
//!
//! | state | meaning | entered by | left by |
//! |---|---|---|---|
//! | idle | in the team's list, or in the hand of one caller | member at its start; caller by `revoke` or `dismiss`; member after a job of its own | caller by `call`, team by `over` |
//! | called | has a job that no thread has seen | caller by `call` | member (running), caller by `revoke` or `dismiss` (idle) |
//! | running | the member executes the job | member | member |
//! | done | the job has returned or panicked | member | caller by `dismiss` |
//! | over | the thread ends | team | never |
//!
//! Each side has a bell: the member waits on `call` for a call, the caller waits on `end` for `done`. A side that
//! waits says so under the lock, and the other rings after its change only then: a ring costs a system call.
//!
//! # Why a job may borrow from its caller's stack
//!
//! A [`Roster`] holds a borrowed job and the seats called for it. Any thread may add a seat (`summon`) while the roster
//! is open. The race: a thread summons a member just as the caller returns. `close` takes the job out under the
//! roster's lock, and `summon` reads the job and notes the seat under that lock. So a summons either comes before the
//! close, which then finds the seat, or finds no job. The close then dismisses each seat: one still `called` goes back
//! to idle, and its member, which looks under the seat's lock, never sees the job; one that is `running` is waited
//! for. The guard that closes is a local of [`Roster::with`], so a panic closes too.
//!
//! # Waiting
//!
//! A member without a call, and a caller that waits, first look for a few microseconds (`seat::LOOK`): waking a thread through the system takes
//! longer than what lies between two short jobs. At most one member fewer than there are cores looks. Then they
//! sleep, so an idle pool uses no processor time. Beyond `pool::KEPT` idle members threads end.

pub(crate) mod cores;
mod name;
mod pool;
mod roster;
mod seat;
mod team;
#[cfg(all(test, not(loom)))]
mod tests;

pub(crate) use name::name_thread;
pub(crate) use roster::Roster;
pub use team::Team;

use std::any::Any;
use std::io;

/// A job of several members; each gets its number.
pub(crate) type Job<'j> = dyn Fn(usize) + Sync + 'j;

/// What is done where the system refuses a thread.
pub(crate) type Refused<'j> = dyn Fn(io::Error) + Sync + 'j;

/// What went wrong in a job.
pub(crate) type Panic = Box<dyn Any + Send>;
