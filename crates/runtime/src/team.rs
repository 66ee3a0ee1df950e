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
//! A member without a call, and a caller that waits, first look for [`LOOK`]: waking a thread through the system takes
//! longer than what lies between two short jobs. At most one member fewer than there are cores looks. Then they
//! sleep, so an idle pool uses no processor time. Beyond [`KEPT`] idle members threads end.

use crate::affinity::Cores;
use crate::sync::{AtomicUsize, Condvar, Mutex, MutexGuard, Ordering, lock, thread};
use std::any::Any;
use std::fmt;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::time::Duration;

/// A job of several members; each gets its number.
pub(crate) type Job<'j> = dyn Fn(usize) + Sync + 'j;

/// What is done where the system refuses a thread.
pub(crate) type Refused<'j> = dyn Fn(io::Error) + Sync + 'j;

/// What went wrong in a job.
pub(crate) type Panic = Box<dyn Any + Send>;

/// How long a thread looks for a change before it sleeps.
const LOOK: Duration = Duration::from_micros(20);

/// How often a caller that waits does something else.
const ELSE: Duration = Duration::from_millis(50);

/// Idle threads that are kept.
const KEPT: usize = if cfg!(miri) { 0 } else { 64 };

/// The name of a thread that waits for a job.
const IDLE: &str = "thalweg idle";

/// What a member is called for.
enum Call {
    /// Its part of a job, which is there until the seat is dismissed.
    Part(&'static Job<'static>, usize),
    /// A job of its own, that no caller waits for.
    Own(Box<dyn FnOnce() + Send>),
}

enum State {
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

struct Seat {
    shared: Mutex<Shared>,
    call: Condvar,
    end: Condvar,
    /// How often the state has changed: what a thread looks at without the lock.
    changes: AtomicUsize,
}

impl Seat {
    fn new() -> Arc<Seat> {
        Arc::new(Seat {
            shared: Mutex::new(Shared { state: State::Idle, member_waits: false, caller_waits: false }),
            call: Condvar::new(),
            end: Condvar::new(),
            changes: AtomicUsize::new(0),
        })
    }

    /// Changes the state, and rings the other side.
    fn set(&self, state: State) {
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
    fn next_call(&self, team: &Pool) -> Option<Call> {
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
                    crate::affinity::parallelism();
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
    fn revoke(&self) -> bool {
        let mut shared = lock(&self.shared);
        let called = matches!(shared.state, State::Called(_));
        if called {
            shared.state = State::Idle;
        }
        called
    }

    /// Revokes the call, or waits until the job is done; how it panicked. The seat is idle then.
    fn dismiss(&self, else_do: &mut dyn FnMut(), timeout: Option<Duration>) -> Result<(), Panic> {
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
    fn serve(self: &Arc<Self>, team: &Arc<Pool>) {
        while let Some(call) = self.next_call(team) {
            match call {
                Call::Part(job, number) => {
                    let how = catch_unwind(AssertUnwindSafe(|| crate::process::apart(|| job(number))));
                    self.set(State::Done(how));
                }
                Call::Own(job) => {
                    // Its caller has its own way to hear of a panic.
                    _ = catch_unwind(AssertUnwindSafe(|| crate::process::apart(job)));
                    lock(&self.shared).state = State::Idle;
                    team.put_back(self.clone());
                }
            }
        }
    }
}

/// The idle members of a team.
#[derive(Default)]
struct Pool {
    idle: Mutex<Idle>,
    /// Idle members that look for a call.
    looking: AtomicUsize,
}

#[derive(Default)]
struct Idle {
    /// The latest last: it has the warmest cache.
    seats: Vec<Arc<Seat>>,
    /// The team is gone.
    over: bool,
}

impl Pool {
    /// An idle member, or a new one.
    fn take(self: &Arc<Self>) -> io::Result<Arc<Seat>> {
        if let Some(seat) = lock(&self.idle).seats.pop() {
            return Ok(seat);
        }
        let (seat, pool) = (Seat::new(), self.clone());
        let own = seat.clone();
        thread::Builder::new().name("thalweg".into()).spawn(move || own.serve(&pool))?;
        Ok(seat)
    }

    /// A seat that is idle goes back.
    fn put_back(&self, seat: Arc<Seat>) {
        let mut idle = lock(&self.idle);
        if idle.over || idle.seats.len() >= KEPT {
            drop(idle);
            seat.set(State::Over);
        } else {
            idle.seats.push(seat);
        }
    }

    #[cfg(not(loom))]
    fn may_look(&self) -> bool {
        let may = self.looking.fetch_add(1, Ordering::Relaxed) + 1 < crate::affinity::known_parallelism();
        if !may {
            self.has_looked();
        }
        may
    }

    #[cfg(loom)]
    fn may_look(&self) -> bool {
        false
    }

    fn has_looked(&self) {
        self.looking.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Names this thread for the system's tools, if that is not its name already.
#[cfg(all(target_os = "linux", not(miri)))]
pub(crate) fn name_thread(name: &str) {
    use std::cell::Cell;
    const BYTES: usize = 15; // what the system keeps
    thread_local!(static NAME: Cell<([u8; BYTES], usize)> = const { Cell::new(([0; BYTES], 0)) });
    let (mut bytes, length) = ([0; BYTES], name.len().min(BYTES));
    bytes[..length].copy_from_slice(&name.as_bytes()[..length]);
    if NAME.try_with(|now| now.replace((bytes, length)) != (bytes, length)) != Ok(false)
        && let Ok(name) = std::ffi::CString::new(&bytes[..length])
    {
        // A thread without a name works too.
        _ = rustix::thread::set_name(&name);
    }
}

/// Does nothing here.
#[cfg(not(all(target_os = "linux", not(miri))))]
pub(crate) fn name_thread(_name: &str) {}

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
    pool: Arc<Pool>,
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

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicBool, AtomicU64};

    #[test]
    fn a_member_is_waited_for_though_the_caller_panics_while_it_waits() {
        let (team, begun, ended) = (Team::default(), AtomicBool::new(false), AtomicBool::new(false));
        let job = |_: usize| {
            begun.store(true, Ordering::Relaxed);
            std::thread::sleep(Duration::from_millis(150));
            ended.store(true, Ordering::Relaxed);
        };
        let own = || {
            while !begun.load(Ordering::Relaxed) {
                std::thread::yield_now();
            }
        };
        let call = || team.beside(1, &job, own, || panic!("while it waits"));
        assert!(catch_unwind(AssertUnwindSafe(call)).is_err());
        assert!(ended.load(Ordering::Relaxed), "the job may be gone once `beside` has returned");
    }

    /// Which members have been called, as bits; the caller waits for all of them.
    fn seen(team: &Team, members: usize) -> u64 {
        let (seen, all) = (AtomicU64::new(0), (1 << (members + 1)) - 2);
        let own = || {
            while seen.load(Ordering::Relaxed) != all {
                std::thread::yield_now();
            }
        };
        team.beside(members, &|member| _ = seen.fetch_or(1 << member, Ordering::Relaxed), own, || {});
        seen.into_inner()
    }

    #[test]
    fn a_member_that_has_not_begun_is_not_waited_for() {
        // The only thread is at work elsewhere, or has only just been started: the caller goes on at once, and what
        // it lent is never touched after that.
        let team = Team::default();
        for i in 0..2000u64 {
            let begun = AtomicU64::new(i);
            team.beside(3, &|_| assert_eq!(begun.load(Ordering::Relaxed), i), || {}, || {});
            begun.store(u64::MAX, Ordering::Relaxed);
        }
        assert!(lock(&team.pool.idle).seats.len() <= 3);
    }

    #[test]
    fn a_detached_job_gives_its_thread_back_and_may_panic() {
        let team = Team::default();
        let (to, from) = std::sync::mpsc::channel();
        for i in 0..20 {
            let to = to.clone();
            let job = move || {
                to.send(i).unwrap();
                assert!(i % 2 == 0, "odd");
            };
            team.detach(Box::new(job)).unwrap();
            assert_eq!(from.recv(), Ok(i));
        }
        while lock(&team.pool.idle).seats.is_empty() {
            std::thread::yield_now();
        }
    }

    #[test]
    fn members_may_call_members() {
        fn nested(team: &Team, depth: usize) {
            if depth > 0 {
                let done = AtomicBool::new(false);
                let job = |_| {
                    nested(team, depth - 1);
                    done.store(true, Ordering::Relaxed);
                };
                let own = || {
                    while !done.load(Ordering::Relaxed) {
                        std::thread::yield_now();
                    }
                };
                team.beside(1, &job, own, || {});
            }
        }
        let team = Team::default();
        nested(&team, 20);
        assert_eq!(lock(&team.pool.idle).seats.len(), 20, "it grows, and nothing waits in line");
    }

    #[test]
    fn each_member_does_the_job_and_stays() {
        let team = Team::default();
        for members in [0, 3, 1, 5, 2, 5] {
            assert_eq!(seen(&team, members), (1 << (members + 1)) - 2);
        }
        assert_eq!(lock(&team.pool.idle).seats.len(), 5, "threads are used again");
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
        assert!(lock(&team.pool.idle).seats.len() <= 1 + 2 + 3 + 4);
    }

    #[test]
    fn a_panic_is_the_callers_once_all_have_ended() {
        let (team, ended) = (Team::default(), AtomicBool::new(false));
        let job = |member: usize| {
            assert!(member != 1, "member {member}");
            std::thread::sleep(Duration::from_millis(20));
            ended.store(true, Ordering::Relaxed);
        };
        let begun = AtomicU64::new(0);
        let job = |member: usize| {
            begun.fetch_add(1, Ordering::Relaxed);
            job(member);
        };
        let all_begin = |members: u64| {
            while begun.load(Ordering::Relaxed) < members {
                std::thread::yield_now();
            }
        };
        let panic =
            catch_unwind(AssertUnwindSafe(|| team.beside(2, &job, || all_begin(2), || {}))).unwrap_err();
        assert_eq!(panic.downcast_ref::<String>().unwrap(), "member 1");
        assert!(ended.swap(false, Ordering::Relaxed));
        // The caller's own is raised after all have ended too, and the team goes on.
        let own = || {
            let own = || {
                all_begin(3);
                panic!("own");
            };
            team.beside(1, &|_| job(2), own, || {});
        };
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
        let begun = AtomicBool::new(false);
        let job = |member| {
            begun.store(true, Ordering::Relaxed);
            until_over(member);
        };
        let own = || {
            while !begun.load(Ordering::Relaxed) {
                std::thread::yield_now();
            }
        };
        Team::default().beside(1, &job, own, || over.store(true, Ordering::Relaxed));
    }
}
