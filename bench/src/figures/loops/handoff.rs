//! `loop.handoff` and `loop.meeting`: a loop of as many iterations as threads, which do nothing, or of which each waits until
//! all have begun; one loop after the other, or some time after the last one.
//!
//! An empty loop may end before another thread has begun, if its contestant waits for no thread that has no iteration. Only
//! a meeting shows when the other threads begin.
//!
//! The times of one contestant have two modes. A host may run two processors of a virtual machine on one core for seconds,
//! where a cache line changes hands eight times as fast: `spin`, two threads that answer each other, takes 45 ns there and
//! 370 ns on two cores of an EPYC. So each contestant is measured in several processes, of which the fastest counts; a
//! process prints the median of its loops. Compare values with that of `spin`.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use thalweg::loops::{Schedule, count_jobs};

use super::{schedule, systems};
use crate::line::Measure;
use crate::peers::external::{Program, own_loops};
use crate::peers::loops::{Executor, Ours, Rayon};
use crate::race::{Contestant, Role};
use crate::row::{Row, median_of};
use crate::session::Session;

/// The processes of a value.
const PROCESSES: usize = 9;

/// The time between spaced loops.
const GAP: Duration = Duration::from_micros(20);

/// The loops of a process: batches if they follow one another, since reading the clock takes as long as a loop.
const BATCHES: u64 = 200;
const BATCH: u32 = 100;
const SPACED: u64 = 1000;

/// The time for which loops are executed before those that count.
const WARM_UP: Duration = Duration::from_millis(5);

/// The longest time for which an iteration waits for the others.
const PATIENCE: Duration = Duration::from_micros(100);

/// The contestant that shows what the machine allows: threads that spin on a word, and execute no loop.
const SPIN: &str = "spin";

/// Our default schedule, with loops that are counted, as in a run's report.
const COUNTED: &str = "ours(counted)";

/// The loop of a figure.
#[derive(Clone, Copy, Debug)]
pub(super) struct Handoff {
    gap: Duration,
    /// The iterations wait until all have begun.
    meets: bool,
    threads: usize,
}

/// Runs the selected figures of this family.
pub(super) fn run(session: &mut Session) {
    let threads = session.options.threads;
    for (name, gap, meets) in [
        ("loop.handoff", Duration::ZERO, false),
        ("loop.handoff.gap20", GAP, false),
        ("loop.meeting", Duration::ZERO, true),
        ("loop.meeting.gap20", GAP, true),
    ] {
        let name = format!("{name}.t{threads}");
        if session.selects(&name) {
            let all = contestants(Handoff { gap, meets, threads });
            session.figure(&name, Measure::NsPerItem, threads, all);
        }
    }
}

fn contestants(handoff: Handoff) -> Vec<Contestant<'static>> {
    let Handoff { gap, meets, threads } = handoff;
    let contestant = |(name, role, program): (_, _, Result<Program, String>)| {
        let process = move || program.as_ref()?.handoff(gap, meets, threads);
        Contestant::new(name, role, 1, move || best(&process))
    };
    let asides = [COUNTED, SPIN].map(|name| (name, Role::Aside, own_loops(name)));
    systems().chain(asides).map(contestant).collect()
}

/// The fastest of several processes.
fn best(process: impl Fn() -> Result<f64, String>) -> Result<Option<Row>, String> {
    let times: Result<Vec<f64>, String> = (0..PROCESSES).map(|_| process()).collect();
    Ok(times?.into_iter().min_by(f64::total_cmp).map(|seconds| Row::new(seconds, 0)))
}

impl Handoff {
    /// The loop of the arguments `GAP_NS MEETS THREADS`.
    pub(super) fn parse(arguments: &[String]) -> Option<Handoff> {
        let numbers: Option<Vec<usize>> = arguments.iter().map(|number| number.parse().ok()).collect();
        let &[gap, meets, threads] = &numbers?[..] else { return None };
        Some(Handoff { gap: Duration::from_nanos(gap as u64), meets: meets != 0, threads })
    }

    /// The time of a loop of a contestant of this program, in seconds.
    pub(super) fn run(&self, contestant: &str) -> Option<f64> {
        Some(match contestant {
            "rayon" => self.of(&Rayon::new(self.threads)),
            SPIN => self.of_spinning_threads(),
            COUNTED => count_jobs(|| self.of(&Ours { schedule: Schedule::Hybrid, threads: self.threads })).0,
            ours => self.of(&Ours { schedule: schedule(ours)?, threads: self.threads }),
        })
    }

    /// The median time of an executor's loops, in seconds.
    fn of(&self, executor: &impl Executor) -> f64 {
        let begun = AtomicUsize::new(0);
        executor.enter(|| self.median(|| self.one(executor, &begun)))
    }

    /// The median time in which the other threads, which never sleep, see a word and answer.
    fn of_spinning_threads(&self) -> f64 {
        const END: usize = usize::MAX;
        let (word, answers) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let others = self.threads - 1;
        let answer = || {
            let mut seen = 0;
            loop {
                match word.load(Ordering::Acquire) {
                    END => return,
                    new if new != seen => {
                        seen = new;
                        answers.fetch_add(1, Ordering::Release);
                    }
                    _ => std::hint::spin_loop(),
                }
            }
        };
        std::thread::scope(|scope| {
            (0..others).for_each(|_| _ = scope.spawn(answer));
            let mut loops = 0;
            let median = self.median(|| {
                loops += 1;
                word.store(loops, Ordering::Release);
                while answers.load(Ordering::Acquire) < loops * others {
                    std::hint::spin_loop();
                }
            });
            word.store(END, Ordering::Release);
            median
        })
    }

    fn median(&self, mut one: impl FnMut()) -> f64 {
        let warm = Instant::now();
        while warm.elapsed() < WARM_UP {
            one();
        }
        if self.gap.is_zero() {
            let batch = || {
                let start = Instant::now();
                (0..BATCH).for_each(|_| one());
                (start.elapsed(), 0)
            };
            return median_of(BATCHES, batch).seconds / f64::from(BATCH);
        }
        let spaced = || {
            let end = Instant::now();
            while end.elapsed() < self.gap {}
            let start = Instant::now();
            one();
            (start.elapsed(), 0)
        };
        median_of(SPACED, spaced).seconds
    }

    /// One loop. `begun` counts the iterations of all loops that have begun.
    fn one(&self, executor: &impl Executor, begun: &AtomicUsize) {
        if !self.meets {
            return executor.each(self.threads, |iteration| _ = std::hint::black_box(iteration));
        }
        let all = begun.load(Ordering::Relaxed) + self.threads;
        executor.each(self.threads, |_| {
            begun.fetch_add(1, Ordering::Relaxed);
            let since = Instant::now();
            while begun.load(Ordering::Relaxed) < all && since.elapsed() < PATIENCE {}
        });
    }
}
