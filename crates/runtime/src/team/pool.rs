//! The team of threads that are in no run: callers, and threads of the pool.
//!
//! A thread of the pool becomes a member when a job needs one, looks for jobs until none has come for [`SPIN`], and
//! then returns to the pool, where it sleeps. So a loop that follows soon after another finds its members awake, and an
//! idle process uses no processor time.
//!
//! | member is | counted in `serving` | entered by | left by |
//! |---|---|---|---|
//! | absent | no | its own thread | a thread that has opened a job, or joined one (`wake`) |
//! | called | yes, by the thread that calls | `wake` | its own thread, when it begins |
//! | serving | yes | its own thread | its own thread, after [`SPIN`] without a job |
//!
//! **Numbers.** A member has a number while it serves. It gives the number back before it subtracts itself from `serving`, so at
//! most as many numbers are taken as members serve, and the lowest free one is below the team's size.
//!
//! **No lost wake-up.** A thread opens a job, fences, and reads `serving`; if fewer serve than the team has, it calls one
//! more. A member that leaves subtracts itself from `serving`, fences, and checks the arena once more. So the thread sees
//! that a member is missing, or the member sees the job.

use super::{Crew, Team, help};
use crate::threads::cores::{Cores, parallelism};
use crate::threads::{ThreadPool, name_thread};
use std::sync::atomic::{AtomicUsize, Ordering, fence};
use std::sync::{LazyLock, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The time for which a member spins without a job.
pub(super) const SPIN: Duration = Duration::from_micros(50);

static TEAM: LazyLock<Team> = LazyLock::new(|| Team::new(parallelism()));

/// The members that have been called and have not left.
static SERVING: AtomicUsize = AtomicUsize::new(0);

/// By number: whether a member has it. Number 0 is that of callers.
static NUMBERS: Mutex<Vec<bool>> = Mutex::new(Vec::new());

pub(super) fn team() -> &'static Team {
    &TEAM
}

/// Calls one more member, if not all serve. The caller has fenced since it opened a job.
pub(super) fn wake() {
    if !count_one_more() {
        return;
    }
    let cores = Cores::here();
    let serve = move || {
        cores.adopt();
        serve();
    };
    if ThreadPool::process().detach(Box::new(serve)).is_err() {
        // The caller does the work without this member.
        SERVING.fetch_sub(1, Ordering::Relaxed);
    }
}

/// The part of a thread of the pool.
fn serve() {
    name_thread("thalweg team");
    loop {
        let number = take_number();
        look_for_jobs(number);
        put_number_back(number);
        SERVING.fetch_sub(1, Ordering::Release); // Release: a new member finds the number free
        fence(Ordering::SeqCst); // pairs with the fence after a job is opened
        if !TEAM.arena.any() || !count_one_more() {
            break;
        }
    }
}

/// Joins jobs until none has come for [`SPIN`].
fn look_for_jobs(number: usize) {
    let mut since = Instant::now();
    while since.elapsed() < SPIN {
        for _ in 0..16 {
            if TEAM.arena.any() && help(&Crew::Pool, number, 0) {
                since = Instant::now();
            }
            std::hint::spin_loop();
        }
    }
}

/// Counts a further member, if not all serve.
fn count_one_more() -> bool {
    let more = |serving| (serving + 1 < TEAM.size).then_some(serving + 1);
    SERVING.load(Ordering::Relaxed) + 1 < TEAM.size
        && SERVING.fetch_update(Ordering::Acquire, Ordering::Relaxed, more).is_ok()
}

/// The lowest free number.
fn take_number() -> usize {
    let mut numbers = NUMBERS.lock().unwrap_or_else(PoisonError::into_inner);
    let free = numbers.iter().position(|taken| !taken);
    let at = free.unwrap_or_else(|| {
        numbers.push(false);
        numbers.len() - 1
    });
    numbers[at] = true;
    at + 1
}

fn put_number_back(number: usize) {
    NUMBERS.lock().unwrap_or_else(PoisonError::into_inner)[number - 1] = false;
}
