//! What a steal costs: two threads of a team, one of which shares entries that the other one steals.
//!
//! `round` counts turns. In an even one the owner shares an entry in each of several executors; in an odd one the thief
//! makes an attempt at each. So an attempt finds the seat's lines in the cache of the other thread's core, as it does in a
//! run, and the clock is read once for all of a turn. Both threads end at the deadline by themselves.

use super::{Executor, Owned, Stop, Thief, Work};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};
use thalweg_policy::random::XorShift;
use thalweg_policy::tasks::{ColourSet, Place, Search, SearchSettings};
use thalweg_runtime::{MemberCounts, Pinned};

/// The steals in a turn.
const STEALS: usize = 64;

/// The most turns of the thief: enough for a median.
const MOST: usize = 2000;

/// Entries from which nothing follows.
struct Numbers;

impl Work for Numbers {
    type Entry = u64;
    type Local = ();

    fn execute(&self, _: u64, _: &mut (), _: &mut Owned<u64>) -> Result<Option<u64>, Stop> {
        Ok(None)
    }

    fn counts(_: &()) -> MemberCounts {
        MemberCounts::default()
    }

    fn fits(&self, _: &u64, _: &ColourSet) -> bool {
        true
    }
}

/// The nanoseconds of a successful attempt to steal, made on one thread of the calling thread's team from another one:
/// the median of turns that take `limit` at most together. `None` if no other thread takes part in this time.
///
/// The two threads are pinned to these CPUs meanwhile, as far as the system does so; or else they run where the system
/// chooses, and where it moves them the figure varies.
///
/// ```
/// let near = thalweg_machine::Machine::here().near_cpus();
/// let ns = thalweg_tasks::time_per_steal(near, std::time::Duration::from_millis(20));
/// println!("a steal takes {ns:?} ns");
/// ```
pub fn time_per_steal(cpus: Option<(u32, u32)>, limit: Duration) -> Option<f64> {
    let game = Game {
        executors: (0..STEALS).map(|_| Executor::new(2, Vec::new())).collect(),
        round: AtomicUsize::new(0),
        deadline: Instant::now() + limit,
    };
    let (threads, times) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    thalweg_runtime::parallel(2, &|_| match threads.fetch_add(1, Ordering::Relaxed) {
        0 => {
            let _pinned = cpus.map(|(cpu, _)| Pinned::to(cpu));
            game.own();
        }
        1 => {
            let _pinned = cpus.map(|(_, cpu)| Pinned::to(cpu));
            *times.lock().unwrap_or_else(PoisonError::into_inner) = game.steal();
        }
        _ => {}
    });
    let mut times = times.into_inner().unwrap_or_else(PoisonError::into_inner);
    times.sort_unstable_by(f64::total_cmp);
    times.get(times.len() / 2).copied()
}

struct Game {
    executors: Vec<Executor<u64>>,
    round: AtomicUsize,
    deadline: Instant,
}

impl Game {
    /// Waits for a turn: 0 of the owner, 1 of the thief. `false` at the end.
    fn wait(&self, turn: usize) -> bool {
        while self.round.load(Ordering::Acquire) % 2 != turn {
            if Instant::now() >= self.deadline {
                return false;
            }
            std::hint::spin_loop();
        }
        Instant::now() < self.deadline
    }

    /// Passes the turn to the other thread.
    fn pass(&self) {
        self.round.fetch_add(1, Ordering::Release);
    }

    /// The part of the thread that shares entries.
    fn own(&self) {
        let mut owned = Owned::new(Vec::new(), false);
        while self.wait(0) {
            for (number, executor) in self.executors.iter().enumerate() {
                owned.push(number as u64);
                executor.seats[0].share(&mut owned);
            }
            self.pass();
        }
    }

    /// The part of the thread that steals. Returns the nanoseconds of a steal, by turn.
    fn steal(&self) -> Vec<f64> {
        let search = Search::new(Place::default(), 2, 1, SearchSettings::RANDOM);
        let mut thief = Thief::new(1, search, XorShift::new(1, 1));
        let (mut owned, mut times) = (Owned::new(Vec::new(), false), Vec::with_capacity(MOST));
        while times.len() < MOST && self.wait(1) {
            let start = Instant::now();
            let attempt = |executor: &Executor<u64>| executor.attempt(&Numbers, &mut thief, &mut owned);
            let stolen = self.executors.iter().filter_map(attempt).count();
            times.push(start.elapsed().as_nanos() as f64 / stolen.max(1) as f64);
            self.pass();
        }
        times
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_attempt_of_a_turn_takes_the_entry_that_was_shared_for_it() {
        let game = Game {
            executors: (0..STEALS).map(|_| Executor::new(2, Vec::new())).collect(),
            round: AtomicUsize::new(0),
            deadline: Instant::now() + Duration::from_millis(if cfg!(miri) { 3000 } else { 50 }),
        };
        let times = std::thread::scope(|threads| {
            threads.spawn(|| game.own());
            threads.spawn(|| game.steal()).join().unwrap()
        });
        assert!(!times.is_empty() && times.iter().all(|ns| (1.0..1e8).contains(ns)), "{times:?}");
        // Each executor has one more busy member for each turn of the thief.
        let steals = |executor: &Executor<u64>| executor.busy.load(Ordering::Relaxed) - 1;
        assert!(game.executors.iter().all(|executor| steals(executor) == times.len()));
    }

    #[test]
    fn without_time_nothing_is_measured() {
        assert_eq!(time_per_steal(None, Duration::ZERO), None);
    }

    #[test]
    fn threads_are_pinned_only_while_they_measure() {
        let before = thalweg_machine::threads();
        let near = thalweg_machine::Machine::here().near_cpus();
        _ = time_per_steal(near, Duration::from_millis(5));
        assert_eq!(thalweg_machine::threads(), before);
        thalweg_runtime::par_for(0..100, |_| assert_eq!(thalweg_machine::threads(), before));
    }
}
