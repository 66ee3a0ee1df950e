//! A thread of the pool: its state, its call, and how it waits for one.

use super::pool::Pool;
use super::{Job, Panic, name_thread};
use crate::sync::{AtomicUsize, Condvar, Mutex, MutexGuard, Ordering, lock};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

/// How long a thread looks for a change before it sleeps.
#[cfg(not(loom))]
const LOOK: Duration = Duration::from_micros(20);

/// The name of a thread that waits for a job.
const IDLE: &str = "thalweg idle";

/// What a member is called for.
pub(super) enum Call {
    /// Its part of a job, which is there until the seat is dismissed.
    Part(&'static Job<'static>, usize),
    /// A job of its own, that no caller waits for.
    Own(Box<dyn FnOnce() + Send>),
}

pub(super) enum State {
    Idle,
    Called(Call),
    Running,
    Done(Result<(), Panic>),
    Over,
}

struct Shared {
    state: State,
    member_waits: bool,
    caller_waits: bool,
}

pub(super) struct Seat {
    shared: Mutex<Shared>,
    call: Condvar,
    end: Condvar,
    /// How often the state has changed: what a thread looks at without the lock.
    changes: AtomicUsize,
}

impl Seat {
    pub(super) fn new() -> Arc<Seat> {
        Arc::new(Seat {
            shared: Mutex::new(Shared { state: State::Idle, member_waits: false, caller_waits: false }),
            call: Condvar::new(),
            end: Condvar::new(),
            changes: AtomicUsize::new(0),
        })
    }

    /// Changes the state, and rings the other side.
    pub(super) fn set(&self, state: State) {
        let mut shared = lock(&self.shared);
        let (bell, waits) = match state {
            State::Done(_) => (&self.end, shared.caller_waits),
            _ => (&self.call, shared.member_waits),
        };
        shared.state = state;
        // The lock orders what is done; this only ends a look.
        self.changes.store(self.changes.load(Ordering::Relaxed).wrapping_add(1), Ordering::Relaxed);
        drop(shared);
        if waits {
            bell.notify_one();
        }
    }

    /// Looks for a change for a while, without the lock.
    #[cfg(not(loom))]
    fn look<'s>(&'s self, shared: MutexGuard<'s, Shared>) -> MutexGuard<'s, Shared> {
        let before = self.changes.load(Ordering::Relaxed);
        drop(shared);
        let start = std::time::Instant::now();
        while self.changes.load(Ordering::Relaxed) == before && start.elapsed() < LOOK {
            (0..16).for_each(|_| std::hint::spin_loop());
        }
        lock(&self.shared)
    }

    #[cfg(loom)]
    fn look<'s>(&'s self, shared: MutexGuard<'s, Shared>) -> MutexGuard<'s, Shared> {
        shared // a model has no clock
    }

    /// The caller waits for the end, or, where there is a timeout, for so long: then false.
    fn wait_end<'s>(
        &'s self,
        mut shared: MutexGuard<'s, Shared>,
        timeout: Option<Duration>,
    ) -> (MutexGuard<'s, Shared>, bool) {
        shared.caller_waits = true;
        let (mut shared, rung) = match timeout {
            #[cfg(not(loom))]
            Some(timeout) => {
                let waited = self.end.wait_timeout(shared, timeout);
                let (shared, time) = waited.unwrap_or_else(|poison| poison.into_inner());
                (shared, !time.timed_out())
            }
            _ => (self.end.wait(shared).unwrap_or_else(|poison| poison.into_inner()), true),
        };
        shared.caller_waits = false;
        (shared, rung)
    }

    /// The member's next call; none when the thread is to end.
    pub(super) fn next_call(&self, team: &Pool) -> Option<Call> {
        let mut shared = lock(&self.shared);
        let mut looked = false;
        loop {
            match std::mem::replace(&mut shared.state, State::Running) {
                State::Called(call) => return Some(call),
                State::Over => return None,
                // Done stays until the caller has seen it, and idle is what this waits to change.
                state => shared.state = state,
            }
            if !looked && team.may_look() {
                shared = self.look(shared);
                team.has_looked();
                looked = true;
            } else {
                looked = true;
                drop(shared);
                name_thread(IDLE);
                if cfg!(not(loom)) {
                    crate::threads::cores::parallelism();
                }
                shared = lock(&self.shared);
                if matches!(shared.state, State::Idle | State::Done(_)) {
                    shared.member_waits = true;
                    shared = self.call.wait(shared).unwrap_or_else(|poison| poison.into_inner());
                    shared.member_waits = false;
                }
            }
        }
    }

    /// Revokes the call, if the member has not begun.
    pub(super) fn revoke(&self) -> bool {
        let mut shared = lock(&self.shared);
        let called = matches!(shared.state, State::Called(_));
        if called {
            shared.state = State::Idle;
        }
        called
    }

    /// Revokes the call, or waits until the job is done; how it panicked. The seat is idle then.
    pub(super) fn dismiss(&self, else_do: &mut dyn FnMut(), timeout: Option<Duration>) -> Result<(), Panic> {
        let mut shared = lock(&self.shared);
        let mut looked = false;
        loop {
            match std::mem::replace(&mut shared.state, State::Idle) {
                State::Done(how) => return how,
                State::Running => shared.state = State::Running,
                State::Called(_) | State::Idle => return Ok(()),
                State::Over => unreachable!("the team ends no seat in a caller's hand"),
            }
            if !std::mem::replace(&mut looked, true) {
                shared = self.look(shared);
                continue;
            }
            let (after, rung) = self.wait_end(shared, timeout);
            shared = after;
            if !rung {
                drop(shared);
                else_do();
                shared = lock(&self.shared);
            }
        }
    }

    /// What a member does for as long as it lives.
    pub(super) fn serve(self: &Arc<Self>, team: &Arc<Pool>) {
        while let Some(call) = self.next_call(team) {
            match call {
                Call::Part(job, number) => {
                    let how = catch_unwind(AssertUnwindSafe(|| job(number)));
                    self.set(State::Done(how));
                }
                Call::Own(job) => {
                    // Its caller has its own way to hear of a panic.
                    _ = catch_unwind(AssertUnwindSafe(job));
                    lock(&self.shared).state = State::Idle;
                    team.put_back(self.clone());
                }
            }
        }
    }
}
