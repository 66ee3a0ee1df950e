//! Fork-join: two halves of a computation, of which another member may execute the second one.
//!
//! **Actors.** The first [`join`] of a thread opens a job in its team, a *session*; joins in its halves belong to it. A
//! thread in a session is a *member*, with a deque ([`deque`](super::deque)). `join(a, b)` pushes `b` as a [`Half`], executes
//! `a`, and then takes `b` back, or waits for the member that has stolen it. Other threads of the team join the session's
//! job as helpers, steal, and leave when they find nothing for some time, or when their own run wants them.
//!
//! # States of a half
//!
//! | half is | where | entered by | left by |
//! |---|---|---|---|
//! | private | `Owned` of its owner | the owner, `Member::fork` | the owner: it has executed `a` (begun), or offers (offered) |
//! | offered | `Seat` of its owner | the owner, `offer` | the owner, which takes it back (private); a thief (begun) |
//! | begun | in no deque; its [`Fork`] in the owner's frame | the owner or one thief, by removal from the deque | that thread, when the half has returned or panicked (done) |
//! | done | | the owner; a thief, which stores `is_done` | |
//!
//! The private half of a deque needs no atomic operation. A member offers at a fork when its seat has few entries for those
//! that are private (`offers` of the policy), so thieves seldom wait for a member, and calls members then. In a tree that no
//! thief comes to this is rare: an entry moves a constant number of times in the mean, and those near the leaves not at all.
//!
//! # The owner's half is the newest
//!
//! A member steals one half at a time and executes it at once, so its deque has halves of frames on its own stack alone, in the
//! order of these frames. When `a` has returned, all newer halves are done. So if the private end has an entry, it is the
//! half of this frame. Otherwise this frame's half was offered, and with it all older ones. Thieves take the oldest first; so
//! if the seat has an entry its newest one is the half of this frame, and if it has none the half was stolen.
//!
//! # Why a half's memory outlives its use
//!
//! A [`Half`] points to a [`Fork`] in the frame of a `join`. The frame does not end before the half is done: `a`'s panic is
//! caught, and a panic of the code between aborts the process ([`Abort`](member)). A thief's last access is the store of `is_done`
//! (`Release`), which pairs with the owner's load (`Acquire`): the owner reads the result after it was written, and the
//! thief accesses nothing of the frame afterwards. What the half itself reads was written before it was offered, under the
//! seat's lock.
//!
//! A thief then wakes the owner by a condition variable of the session. The session outlives it: the thief is a helper of the
//! session's job, and the session's caller waits for these ([`arena`](super::arena)).
//!
//! # No lost wake-up
//!
//! An owner whose half was stolen executes other stolen halves, and loops and jobs that were opened inside of the session.
//! When it finds none for some time it sleeps:
//!
//! ```text
//!   sleeper                                  thread that offers, or has executed a stolen half
//!   1. lock; sleepers += 1                   1. store the seat's length, or `is_done`
//!   2. fence(SeqCst)                         2. fence(SeqCst)
//!   3. check `is_done` and all seats         3. read `sleepers`
//!   4. wait, and check again                 4. if it is not 0: lock, unlock, notify all
//! ```
//!
//! If the read (3) of the other thread misses the sleeper, its fence comes first, and the sleeper's check sees the change.
//! Otherwise the lock orders the notification after the sleeper's check, so it waits, or before, so it sees the change.
//!
//! A helper that leaves closes the job, fences, and checks the seats; a member that offers fences and opens the job
//! (`call_members`): see "No lost wake-up" in [`arena`](super::arena).
//!
//! # Why no thread waits for ever
//!
//! A thread waits for a half that a thief executes. Whatever that thief waits for in turn was stolen or joined after it has
//! begun the half: the topmost frame of its stack is the half's or a later one, and has forked only since. So along a chain of
//! waits the times of the steals increase, and no chain is a cycle. A half that waits for another half by other means, as by a
//! channel, may wait for ever: that one may not begin.
//!
//! # Coroutines
//!
//! A session is a job, so a coroutine uses no channel inside ([`depth`](super::depth)). A job inside of a session,
//! as a loop's, hides it from its thread: a `join` in its body opens a session in turn.
//!
//! | file | what |
//! |---|---|
//! | `fork` | a half in the frame of its owner |
//! | `member` | a thread in a session: fork, join, steal |
//! | `session` | what members share: seats and sleepers |
//! | `open` | the first join of a thread |

mod fork;
pub(crate) mod member;
#[cfg(not(loom))]
mod open;
pub(crate) mod session;
#[cfg(all(test, not(loom), not(miri)))]
mod tests;

#[cfg(not(loom))]
pub(super) use open::Hidden;
#[cfg(not(loom))]
pub use open::join;

pub(crate) use fork::{Fork, Half};
