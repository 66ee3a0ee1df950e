//! A thread of the pool: its state, its call, and the waiting of both sides. The states are in [`super`].
//!
//! | field | accessed by | ordering |
//! |---|---|---|
//! | `state` | both sides, under the lock | the lock: the member sees what the caller wrote before `Called`, and the caller what the member wrote before `Done` |
//! | `member_waits`, `caller_waits` | each side sets its own, the other side reads it, under the lock | the lock |
//! | `changes` | written by `set`, under the lock; read without it by a side that spins | `Relaxed`: a stale value prolongs a spin, and the state is read under the lock afterwards |
//!
//! Invariant: a side that waits has set its flag under the lock under which it last read the state, and the condition
//! variable releases that lock. So a change finds the flag set, or the side finds the change.

use super::idle::IdleThreads;
use super::{Job, Panic, StackSize, name_thread};
use crate::contain::{contain, drop_payload};
use crate::sync::{AtomicUsize, Condvar, Mutex, MutexGuard, Ordering, lock};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
#[cfg(not(loom))]
use std::time::Duration;

/// The time for which a thread spins before it sleeps.
#[cfg(not(loom))]
const SPIN: Duration = Duration::from_micros(20);

/// The name of a thread that sleeps until a call.
const IDLE: &str = "thalweg idle";

/// A job for one member.
pub(super) enum Call {
    /// A borrowed job and the member's number. Invariant: the borrow lives until the caller has revoked or joined the
    /// seat; the lifetime is erased by [`Roster::with`](super::Roster::with) alone.
    Lent(&'static Job<'static>, usize),
    /// A job for which no caller waits.
    Owned(Box<dyn FnOnce() + Send>),
}

/// The state of a seat. The table of transitions is in [`super`].
pub(super) enum State {
    /// The member waits for a call.
    Idle,
    /// The member has not seen the call yet.
    Called(Call),
    /// The member executes a job.
    Running,
    /// A lent job has ended, with this panic if it is an error. The caller has not read it yet.
    Done(Result<(), Panic>),
    /// The thread ends.
    Closed,
}

/// Under the seat's lock.
struct Shared {
    state: State,
    /// The member waits on `called`: the next `set` must notify it.
    member_waits: bool,
    /// The caller waits on `done`.
    caller_waits: bool,
}

/// A pool thread's place. Shared by the thread and by the list or the caller whose hand it is in.
pub(super) struct Seat {
    pub(super) stack: StackSize,
    shared: Mutex<Shared>,
    /// The member waits for a call, or for the close.
    called: Condvar,
    /// The caller waits for `Done`.
    done: Condvar,
    /// Incremented with each change of the state, for threads that spin without the lock.
    changes: AtomicUsize,
}

impl Seat {
    /// An idle seat, in the hand of the caller, which starts its thread.
    pub(super) fn new(stack: StackSize) -> Arc<Seat> {
        Arc::new(Seat {
            stack,
            shared: Mutex::new(Shared { state: State::Idle, member_waits: false, caller_waits: false }),
            called: Condvar::new(),
            done: Condvar::new(),
            changes: AtomicUsize::new(0),
        })
    }

    /// Changes the state, and notifies the other side if it waits: the caller of `Done`, the member of anything else.
    ///
    /// The flag is read under the lock under which the other side sets it and begins to wait. So it either finds the
    /// new state before it waits, or is notified. The notification follows the unlock, or the woken thread would wait
    /// for it.
    pub(super) fn set(&self, state: State) {
        let mut shared = lock(&self.shared);
        let (side, waits) = match state {
            State::Done(_) => (&self.done, shared.caller_waits),
            _ => (&self.called, shared.member_waits),
        };
        shared.state = state;
        // `Relaxed`: the lock orders the state's data, and this store only ends a spin. Writers hold the lock.
        self.changes.store(self.changes.load(Ordering::Relaxed).wrapping_add(1), Ordering::Relaxed);
        drop(shared);
        if waits {
            side.notify_one();
        }
    }

    /// Releases the lock, spins until the state changes, [`SPIN`] has passed or it `may` not go on, and takes the lock
    /// again. `changes` is read under the lock first, so a change after the release ends the spin.
    #[cfg(not(loom))]
    fn spin<'s>(&'s self, shared: MutexGuard<'s, Shared>, may: impl Fn() -> bool) -> MutexGuard<'s, Shared> {
        let before = self.changes.load(Ordering::Relaxed);
        drop(shared);
        let start = std::time::Instant::now();
        while self.changes.load(Ordering::Relaxed) == before && start.elapsed() < SPIN && may() {
            (0..16).for_each(|_| std::hint::spin_loop());
        }
        lock(&self.shared)
    }

    /// A model has no clock, so this returns at once.
    #[cfg(loom)]
    fn spin<'s>(&'s self, shared: MutexGuard<'s, Shared>, _may: impl Fn() -> bool) -> MutexGuard<'s, Shared> {
        shared
    }

    /// Waits for the member's next call; `None` once the seat is closed. With the call the state becomes `Running`.
    pub(super) fn next_call(&self, idle: &IdleThreads) -> Option<Call> {
        let mut shared = lock(&self.shared);
        let mut spun = false;
        loop {
            match std::mem::replace(&mut shared.state, State::Running) {
                State::Called(call) => return Some(call),
                State::Closed => return None,
                // Only the caller leaves `Done`, and only the next caller leaves `Idle`: both are restored.
                state => shared.state = state,
            }
            if !std::mem::replace(&mut spun, true) {
                let spin = idle.begin_spin();
                shared = self.spin(shared, || idle.may_spin(spin));
            } else {
                // Two system calls outside the lock: a name, and the answer that the next run then need not compute.
                drop(shared);
                name_thread(IDLE);
                if cfg!(not(loom)) {
                    crate::threads::cores::parallelism();
                }
                shared = lock(&self.shared);
                // The state may have changed without the lock, and then no notification would follow.
                if matches!(shared.state, State::Idle | State::Done(_)) {
                    shared.member_waits = true;
                    shared = self.called.wait(shared).unwrap_or_else(|poison| poison.into_inner());
                    shared.member_waits = false;
                }
            }
        }
    }

    /// Revokes the call if the member has not begun; true if so. The seat is idle then, and its member never sees the
    /// job, since it reads the state under the same lock. The member is not notified: an idle seat is what it waits on.
    pub(super) fn revoke(&self) -> bool {
        let mut shared = lock(&self.shared);
        let called = matches!(shared.state, State::Called(_));
        if called {
            shared.state = State::Idle;
        }
        called
    }

    /// Revokes the call, or waits until the job is done and returns its panic. The seat is idle afterwards, and no
    /// thread uses the job any more.
    pub(super) fn revoke_or_join(&self) -> Result<(), Panic> {
        let mut shared = lock(&self.shared);
        let mut spun = false;
        loop {
            match std::mem::replace(&mut shared.state, State::Idle) {
                State::Done(outcome) => return outcome,
                State::Running => shared.state = State::Running,
                State::Called(_) | State::Idle => return Ok(()),
                State::Closed => unreachable!("a seat in a caller's hand is never closed"),
            }
            if !std::mem::replace(&mut spun, true) {
                shared = self.spin(shared, || true);
                continue;
            }
            shared.caller_waits = true;
            shared = self.done.wait(shared).unwrap_or_else(|poison| poison.into_inner());
            shared.caller_waits = false;
        }
    }

    /// The member's loop, until its seat is closed. A job may panic; the thread survives.
    pub(super) fn serve(self: &Arc<Self>, idle: &Arc<IdleThreads>) {
        while let Some(call) = self.next_call(idle) {
            match call {
                Call::Lent(job, number) => {
                    let outcome = catch_unwind(AssertUnwindSafe(|| job(number)));
                    // The last use of the job: from here on its caller may return.
                    self.set(State::Done(outcome));
                }
                Call::Owned(job) => {
                    // The job reports its own panic, if a thread needs to know of it.
                    if let Some(panic) = contain(job) {
                        drop_payload(panic);
                    }
                    // No caller has this seat in its hand, so the member lists it itself.
                    lock(&self.shared).state = State::Idle;
                    idle.put_back(self.clone());
                }
            }
        }
    }
}
