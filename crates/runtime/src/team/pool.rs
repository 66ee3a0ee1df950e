//! The team of threads that are in no run: callers, and threads of the pool.
//!
//! A thread of the pool becomes a member when a job needs one, looks for jobs until none has come for [`SPIN`], and
//! then returns to the pool, where it sleeps. So a loop that follows soon after another finds its members awake, and an
//! idle process uses no processor time.
//!
//! | member is | counted in `serving` | in `looking` | entered by | left by |
//! |---|---|---|---|---|
//! | absent | no | no | its own thread, after [`SPIN`] without a job | a thread that has opened a job, or joined one (`wake`) |
//! | called | yes, by the thread that calls | yes, by that thread | `wake` | its own thread, when it begins (looking) |
//! | looking | yes | yes | its own thread | its own thread: it joins a job (working), or leaves (absent) |
//! | working | yes | no | its own thread | its own thread, after the job (looking) |
//!
//! **Numbers.** A member has a number while it serves, which the thread that calls it takes for it. It gives the number back
//! before it subtracts itself from `serving`, so at most as many numbers are taken as members serve, and the lowest free one is
//! below the team's size. The thread that has had the number last is called, if it is idle: so a number stands for the same thread
//! from one loop to the next, and first touch and colours hold outside of runs too.
//!
//! **No lost wake-up.** A thread opens a job, fences, and reads `serving` and `looking`. If all serve, none can be called: each
//! member is in a job, looks for one, or checks the arena when it leaves. If a member looks for jobs, the thread relies on that one;
//! otherwise it calls a member. A member that joins a job or leaves subtracts itself from `looking`,
//! fences, and checks the arena: if a job is open, it wakes another member, or stays. So the thread sees that no member looks, or the
//! member sees the job. Only one member at a time is called for a job: the next one, by the member that joins.

use super::Team;
use super::lending::Recall;
use super::members::{Crew, join};
use super::numbers::Numbers;
use crate::threads::cores::{Cores, parallelism};
use crate::threads::per_process::PerProcess;
use crate::threads::{PoolThread, ThreadPool, name_thread};
use std::sync::atomic::{AtomicUsize, Ordering, fence};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The time for which a member spins without a job.
pub(super) const SPIN: Duration = Duration::from_micros(50);

/// The team, and its members.
struct Members {
    team: Team,
    /// The members that have been called and have not left.
    serving: AtomicUsize,
    /// The members among these that are in no job.
    looking: AtomicUsize,
    /// Number 0 is that of callers.
    numbers: Mutex<Numbers<PoolThread>>,
}

static MEMBERS: PerProcess<Members> = PerProcess::new(|| Members {
    team: Team::new(parallelism()),
    serving: AtomicUsize::new(0),
    looking: AtomicUsize::new(0),
    numbers: Mutex::new(Numbers::new()),
});

pub(super) fn team() -> &'static Team {
    &MEMBERS.get().team
}

/// Calls one more member, if none looks for jobs and not all serve. The caller has fenced since it opened a job.
pub(super) fn wake() {
    MEMBERS.get().wake();
}

impl Members {
    /// Calls one more member, if none looks for jobs and not all serve. The caller has fenced since it opened a job.
    fn wake(&'static self) {
        // `serving` first: it seldom changes, while members change `looking` with each job.
        if self.all_serve() || self.looking.load(Ordering::Relaxed) > 0 || !self.count_one_more() {
            return;
        }
        let (cores, (number, thread)) = (Cores::here(), self.numbers().take());
        let serve = move || {
            cores.adopt();
            self.serve(number);
        };
        match ThreadPool::process().detach_to(thread.as_ref(), Box::new(serve)) {
            Ok(called) if thread.as_ref() == Some(&called) => {}
            Ok(called) => self.numbers().set_thread(number, called),
            // The caller does the work without this member.
            Err(_) => {
                self.looking.fetch_sub(1, Ordering::Relaxed);
                self.numbers().put_back(number);
                self.serving.fetch_sub(1, Ordering::Release); // Release: a new member finds the number free
            }
        }
    }

    /// The part of a thread of the pool, which has this number.
    fn serve(&'static self, mut number: usize) {
        name_thread("thalweg team");
        loop {
            self.look_for_jobs(number);
            self.looking.fetch_sub(1, Ordering::Relaxed);
            self.numbers().put_back(number);
            self.serving.fetch_sub(1, Ordering::Release); // Release: a new member finds the number free
            fence(Ordering::SeqCst); // pairs with the fence after a job is opened
            if !self.team.arena.any() || !self.count_one_more() {
                break;
            }
            number = self.numbers().take_again(number);
        }
    }

    /// Joins jobs until none has come for [`SPIN`].
    fn look_for_jobs(&'static self, number: usize) {
        let mut since = Instant::now();
        while since.elapsed() < SPIN {
            for _ in 0..16 {
                if self.team.arena.any()
                    && join(&Crew::Pool, (number, 0, Recall::NEVER), || self.begin_work())
                {
                    self.looking.fetch_add(1, Ordering::Relaxed);
                    since = Instant::now();
                }
                std::hint::spin_loop();
            }
        }
    }

    /// A member has joined a job: threads that have relied on it need another one.
    fn begin_work(&'static self) {
        self.looking.fetch_sub(1, Ordering::Relaxed);
        fence(Ordering::SeqCst); // pairs with the fence after a job is opened
        if self.team.arena.any() {
            self.wake();
        }
    }

    /// Whether no further member can be called.
    fn all_serve(&self) -> bool {
        self.serving.load(Ordering::Relaxed) + 1 >= self.team.size
    }

    /// Counts a further member, which looks for jobs, if not all serve.
    fn count_one_more(&self) -> bool {
        let more = |serving| (serving + 1 < self.team.size).then_some(serving + 1);
        let counted = !self.all_serve()
            && self.serving.fetch_update(Ordering::Acquire, Ordering::Relaxed, more).is_ok();
        self.looking.fetch_add(usize::from(counted), Ordering::Relaxed);
        counted
    }

    fn numbers(&self) -> MutexGuard<'_, Numbers<PoolThread>> {
        self.numbers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
