//! Threads that stay from one job to the next.
//!
//! # Protocol
//!
//! Each member has a seat, whose state is under its mutex:
//!
//! ```text
//!   idle ──caller: call──▶ called ──member: has done it──▶ done ──caller: dismiss──▶ idle
//!     └─────────────────────caller: drop────────────────▶ over
//! ```
//!
//! Who waits for a state sleeps on the seat's bell, and whoever changes it rings after that, so no call and no end is
//! missed; there is one at each side of a seat, and only one of them waits at a time. A job is seen by its member
//! between `called` and `done`, and a caller does not go on, whatever happens, before it has seen `done`. So a job may
//! borrow from the caller's stack.
//!
//! Members that nobody has called sit in `idle`. A caller takes them out of there, so several may call at once and
//! never wait for one another.
//!
//! Who waits looks for a while before it sleeps: a thread that sleeps is woken by way of the system, which takes longer
//! than what is done between two short jobs.

use crate::sync::{AtomicUsize, Condvar, Mutex, MutexGuard, Ordering, lock, thread};
use std::any::Any;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::time::Duration;

/// What members do; they are told which one they are.
type Job<'j> = dyn Fn(usize) + Sync + 'j;

/// What went wrong in a job.
type Panic = Box<dyn Any + Send>;

/// How often a caller that waits does something else.
const LOOK: Duration = Duration::from_millis(50);

/// How often a state is looked at before a thread sleeps: for some ten microseconds.
const LOOKS: usize = if cfg!(loom) { 1 } else { 2000 };

enum State {
    Idle,
    /// The job, which is there until the state is another, and the member's number.
    Called(&'static Job<'static>, usize),
    Done(Result<(), Panic>),
    Over,
}

struct Seat {
    state: Mutex<State>,
    bell: Condvar,
    /// How often the state has changed: what is looked at without the lock.
    changes: AtomicUsize,
}

impl Seat {
    fn set(&self, state: State) {
        *lock(&self.state) = state;
        // What is done is ordered by the lock.
        self.changes.fetch_add(1, Ordering::Relaxed);
        self.bell.notify_one();
    }

    /// The state, once it is one that is waited for. Now and then, while it is not, something else is done.
    fn when(
        &self,
        is: impl Fn(&State) -> bool,
        mut else_do: Option<&mut dyn FnMut()>,
    ) -> MutexGuard<'_, State> {
        let before = self.changes.load(Ordering::Relaxed);
        let mut state = lock(&self.state);
        if !is(&state) {
            drop(state);
            let mut looks = 0..LOOKS;
            while looks.next().is_some() && self.changes.load(Ordering::Relaxed) == before {
                std::hint::spin_loop();
            }
            state = lock(&self.state);
        }
        while !is(&state) {
            let Some(else_do) = &mut else_do else {
                state = self.bell.wait(state).unwrap_or_else(|poison| poison.into_inner());
                continue;
            };
            let (woken, time) =
                self.bell.wait_timeout(state, LOOK).unwrap_or_else(|poison| poison.into_inner());
            state = woken;
            if time.timed_out() && !is(&state) {
                drop(state);
                else_do();
                state = lock(&self.state);
            }
        }
        state
    }

    /// What a member does for as long as it lives.
    fn serve(&self) {
        loop {
            let state = self.when(|state| matches!(state, State::Called(..) | State::Over), None);
            let State::Called(job, member) = *state else { return };
            drop(state);
            self.set(State::Done(catch_unwind(AssertUnwindSafe(|| job(member)))));
        }
    }
}

/// A thread, and where it sits.
struct Member {
    seat: Arc<Seat>,
    thread: Option<thread::JoinHandle<()>>,
}

impl Member {
    /// A new one, if the system gives another thread.
    fn start() -> Option<Member> {
        let seat = Arc::new(Seat {
            state: Mutex::new(State::Idle),
            bell: Condvar::new(),
            changes: AtomicUsize::new(0),
        });
        let own = seat.clone();
        let thread = thread::Builder::new().name("thalweg-team".into()).spawn(move || own.serve());
        Some(Member { seat, thread: Some(thread.ok()?) })
    }
}

impl Drop for Member {
    fn drop(&mut self) {
        self.seat.set(State::Over);
        if let Some(thread) = self.thread.take() {
            // It does nothing that could panic.
            _ = thread.join();
        }
    }
}

/// Threads that stay from one job to the next, and sleep between. They are started when they are first needed, and end
/// with the team.
///
/// ```
/// use std::sync::atomic::{AtomicU64, Ordering};
///
/// let (team, sum) = (thalweg_runtime::Team::default(), AtomicU64::new(0));
/// let add = |member: usize| _ = sum.fetch_add(1 << member, Ordering::Relaxed);
/// for _ in 0..2 {
///     team.beside(2, &add, || add(0), || {});
/// }
/// assert_eq!(sum.into_inner(), 2 * 0b111);
/// ```
#[derive(Default)]
pub struct Team {
    idle: Mutex<Vec<Member>>,
}

impl fmt::Debug for Team {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Team").finish_non_exhaustive()
    }
}

impl Team {
    /// Does something on this thread while so many members, from number 1 on, do a job; fewer, if the system
    /// gives no more threads. Returns when all have done it. While this thread waits for them it does something else
    /// now and then.
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
        let called = Called::new(self, members, job);
        let done = own();
        called.end(else_do);
        done
    }
}

/// Members at work on a job.
struct Called<'t, 'j> {
    team: &'t Team,
    members: Vec<Member>,
    /// What they have borrowed.
    _job: &'j Job<'j>,
}

impl<'t, 'j> Called<'t, 'j> {
    fn new(team: &'t Team, count: usize, job: &'j Job<'j>) -> Called<'t, 'j> {
        let mut called = Called { team, members: Vec::with_capacity(count), _job: job };
        // SAFETY: a member uses the job between `Called` and `Done` only, and whoever has called it waits for `Done`
        // before `called` is gone, which does not outlive the job. (It is never forgotten: it stays in `beside`.)
        let job = unsafe { std::mem::transmute::<&'j Job<'j>, &'static Job<'static>>(job) };
        for number in 1..=count {
            let idle = lock(&team.idle).pop();
            let Some(member) = idle.or_else(Member::start) else { break };
            member.seat.set(State::Called(job, number));
            called.members.push(member);
        }
        called
    }

    /// Waits for all of them.
    fn end(mut self, mut else_do: impl FnMut()) {
        if let Some(panic) = self.dismiss(&mut else_do) {
            resume_unwind(panic);
        }
    }

    /// The same; how the first that panicked did.
    fn dismiss(&mut self, else_do: &mut dyn FnMut()) -> Option<Panic> {
        let mut panic = None;
        while let Some(member) = self.members.last() {
            let mut state = member.seat.when(|state| matches!(state, State::Done(_)), Some(&mut *else_do));
            if let State::Done(Err(how)) = std::mem::replace(&mut *state, State::Idle) {
                panic = Some(how);
            }
            drop(state);
            lock(&self.team.idle).extend(self.members.pop());
        }
        panic
    }
}

impl Drop for Called<'_, '_> {
    fn drop(&mut self) {
        self.dismiss(&mut || {});
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicBool, AtomicU64};

    /// Which members have been called, as bits.
    fn seen(team: &Team, members: usize) -> u64 {
        let seen = AtomicU64::new(0);
        team.beside(members, &|member| _ = seen.fetch_or(1 << member, Ordering::Relaxed), || {}, || {});
        seen.into_inner()
    }

    #[test]
    fn each_member_does_the_job_and_stays() {
        let team = Team::default();
        for members in [0, 3, 1, 5, 2, 5] {
            assert_eq!(seen(&team, members), (1 << (members + 1)) - 2);
        }
        assert_eq!(lock(&team.idle).len(), 5, "threads are used again");
    }

    #[test]
    fn several_call_at_once() {
        let team = Team::default();
        std::thread::scope(|scope| {
            for members in 1..5 {
                let team = &team;
                scope.spawn(move || {
                    (0..500).for_each(|_| assert_eq!(seen(team, members), (1 << (members + 1)) - 2))
                });
            }
        });
        assert!(lock(&team.idle).len() <= 1 + 2 + 3 + 4);
    }

    #[test]
    fn a_panic_is_the_callers_once_all_have_ended() {
        let (team, ended) = (Team::default(), AtomicBool::new(false));
        let job = |member: usize| {
            assert!(member != 1, "member {member}");
            std::thread::sleep(Duration::from_millis(20));
            ended.store(true, Ordering::Relaxed);
        };
        let panic = catch_unwind(AssertUnwindSafe(|| team.beside(2, &job, || {}, || {}))).unwrap_err();
        assert_eq!(panic.downcast_ref::<String>().unwrap(), "member 1");
        assert!(ended.swap(false, Ordering::Relaxed));
        // The caller's own is told after all have ended too, and the team goes on.
        let own = || team.beside(1, &|_| job(2), || panic!("own"), || {});
        let panic = catch_unwind(AssertUnwindSafe(own)).unwrap_err();
        assert_eq!(*panic.downcast_ref::<&str>().unwrap(), "own");
        assert!(ended.into_inner());
        assert_eq!(seen(&team, 2), 0b110);
    }

    #[test]
    fn a_caller_that_waits_does_something_else() {
        let over = AtomicBool::new(false);
        let until_over = |_| {
            while !over.load(Ordering::Relaxed) {
                std::thread::yield_now();
            }
        };
        Team::default().beside(1, &until_over, || {}, || over.store(true, Ordering::Relaxed));
    }
}
