//! Parallel loops in virtual time: one thread plays all workers of a machine with memory domains.
//!
//! Which iterations a worker takes and steals is decided by [`Stretches`](thalweg_policy::tasks::Stretches), as in the
//! engine. Beside it stands the loop of `cilk_for`, halved recursively and stolen at random, with which chapter 6 of
//! *Locality-Aware Concurrency Platforms* compares, and a guided loop, as with OpenMP, with which chapter 5 does.
//!
//! Data is initialised by the same partition: each iteration's is in the domain of the worker whose stretch has it.
//!
//! | file | what |
//! |---|---|
//! | `settings` | schedule, workers, costs |
//! | `stretches` | a loop by stretches |
//! | `split` | a loop by recursive halving |
//! | `guided` | a loop whose workers take parts of what is left |
//! | `report` | counts |
//!
//! # What is not modelled
//!
//! Caches, contention for the words of victims, workers that sleep.

mod guided;
mod report;
mod settings;
mod split;
mod stretches;

pub use report::{LoopCounts, LoopReport};
pub use settings::{LoopCosts, LoopSchedule, LoopSettings};

pub(crate) use report::{Body, Done};

use report::Record;
use thalweg_policy::tasks::stretch;

/// Runs one invocation of a loop, of which iteration `i` has `work[i]` ticks of work beside its access to memory. The
/// report is a function of work and settings.
///
/// ```
/// use thalweg_sim::loops::{LoopSchedule, LoopSettings, run};
///
/// let even = vec![100; 8_000];
/// let settings = LoopSettings { schedule: LoopSchedule::HYBRID, ..LoopSettings::default() };
/// let report = run(&even, &settings);
/// assert_eq!(report.total().remote, 0);
/// // Each worker does its own stretch in each invocation.
/// assert_eq!(report.by, run(&even, &LoopSettings { seed: 2, ..settings }).by);
/// ```
///
/// # Panics
/// There are no workers or no cores in a domain, or a step takes no time.
pub fn run(work: &[u64], settings: &LoopSettings) -> LoopReport {
    let of_worker = |worker| {
        let stretch = stretch(work.len() as u64, settings.workers, worker);
        stretch.map(move |_| worker / settings.domain)
    };
    let domains: Vec<usize> = (0..settings.workers).flat_map(of_worker).collect();
    run_body(work.len(), settings, &mut |worker, i| {
        let is_remote = domains[i] != worker / settings.domain;
        let access = if is_remote { settings.costs.far } else { settings.costs.near };
        Done { ticks: work[i] + access, is_remote }
    })
}

/// Runs one invocation of a loop with this body.
pub(crate) fn run_body<'a>(length: usize, settings: &LoopSettings, body: &'a mut Body<'a>) -> LoopReport {
    assert!(settings.workers > 0, "no workers");
    let costs = settings.costs;
    assert!(
        costs.take > 0 && costs.attempt > 0,
        "a step takes no time, so idle workers would stop the clock"
    );
    let mut record = Record::new(length, settings, body);
    match settings.schedule {
        LoopSchedule::Stretches(order) => stretches::run(order, settings, &mut record),
        LoopSchedule::Split => split::run(settings, &mut record),
        LoopSchedule::Guided => guided::run(settings, &mut record),
    }
    record.report()
}
