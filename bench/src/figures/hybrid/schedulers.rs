//! Figures 7a and 7b: other schedulers of the same pipelines.

use super::super::dynamic::Kind;
use super::fused::QUEUES;
use super::pipelines::Pipeline;
use super::{figure, thread_counts};
use crate::line::Measure;
use crate::native::{Compiler, Schedule, Scheduler};
use crate::race::Role;
use crate::session::Session;

/// The batches of Figure 7b.
const BATCHES: [u64; 5] = [1, 10, 100, 1000, 10_000];

/// The computations of the first and of the third operator of Figure 7b for each item.
const WORKS: [u64; 2] = [1000, 1000];

/// Runs the selected figures.
pub fn run(session: &mut Session, compiler: &Compiler) {
    for queues in QUEUES {
        figure(session, &format!("hybrid.7a.o{}", queues + 1), |session, name| {
            os_threads(session, compiler, name, queues)
        });
    }
    for batch in BATCHES {
        for threads in thread_counts() {
            figure(session, &format!("hybrid.7b.batch{batch}.t{threads}"), |session, name| {
                demand(session, compiler, name, batch, threads)
            });
        }
    }
}

/// Operators without work on one processor: nanoseconds per item.
fn os_threads(session: &mut Session, compiler: &Compiler, name: &str, queues: u64) -> Result<(), String> {
    let hybrid = Schedule::of(Scheduler::Hybrid);
    let mut contestants = Vec::new();
    for (contestant, role, schedule) in [
        ("ours", Role::Ours, hybrid),
        ("batches of 1", Role::Aside, Schedule { batch: Some(1), ..hybrid }),
        ("os-thread", Role::Peer, Schedule::of(Scheduler::OsThread)),
    ] {
        let mut pipeline = Pipeline::even(compiler, (queues, 0), Kind::Fixed, schedule)?.confined();
        let items = pipeline.items_for(session.row_seconds(), 0)?;
        contestants.push(pipeline.contestant(contestant, role, items));
    }
    session.figure(name, Measure::NsPerItem, 1, contestants);
    Ok(())
}

/// Three operators: nanoseconds per item.
fn demand(
    session: &mut Session,
    compiler: &Compiler,
    name: &str,
    batch: u64,
    threads: usize,
) -> Result<(), String> {
    let mut contestants = Vec::new();
    for (contestant, role, scheduler) in
        [("ours", Role::Ours, Scheduler::Hybrid), ("demand", Role::Peer, Scheduler::Demand)]
    {
        let schedule = Schedule { scheduler, threads, batch: Some(batch) };
        let mut pipeline = Pipeline::three(compiler, WORKS, Kind::Fixed, schedule)?;
        let items = pipeline.items_for(session.row_seconds(), 0)?;
        contestants.push(pipeline.contestant(contestant, role, items));
    }
    session.figure(name, Measure::NsPerItem, threads, contestants);
    Ok(())
}
