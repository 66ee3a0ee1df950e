//! Figures 5a to 5d: what dynamic queues cost one thread, and what batches save.

use super::super::dynamic::Kind;
use super::figure;
use super::pipelines::Pipeline;
use crate::line::Measure;
use crate::native::{Compiler, Schedule, Scheduler};
use crate::race::Role;
use crate::session::Session;

/// The numbers of queues of Figures 5a and 5c, between 2 to 32 operators.
pub const QUEUES: [u64; 5] = [1, 3, 7, 15, 31];

/// The computations of Figure 5b for each item, in both operators together.
const WORKS: [u64; 7] = [2, 10, 40, 100, 200, 400, 1000];

/// The batches of Figure 5c. Those of one item are Figure 5a's.
const BATCHES: [u64; 3] = [10, 100, 1000];

/// The batches of Figure 5d, as powers of two. The queue of the largest has 256 MB.
const POWERS: [u32; 10] = [0, 4, 8, 12, 16, 18, 20, 22, 24, 26];

/// The largest batch of a quick look.
const QUICK: u32 = 20;

/// The batches of the largest size in a run.
const WHOLE: u64 = 8;

/// Runs the selected figures.
pub fn run(session: &mut Session, compiler: &Compiler) {
    for queues in QUEUES {
        let batches: &[(&'static str, _)] = &[("ours", Some(1))];
        figure(session, &format!("hybrid.5a.q{queues}"), |session, name| {
            against_static(session, compiler, name, (queues, 0), batches)
        });
    }
    for work in WORKS {
        let batches: &[(&'static str, _)] = &[("ours", Some(1)), ("default batches", None)];
        figure(session, &format!("hybrid.5b.w{work}"), |session, name| {
            against_static(session, compiler, name, (1, work), batches)
        });
    }
    for batch in BATCHES {
        for queues in QUEUES {
            let batches: &[(&'static str, _)] = &[("ours", Some(batch))];
            figure(session, &format!("hybrid.5c.batch{batch}.q{queues}"), |session, name| {
                against_static(session, compiler, name, (queues, 0), batches)
            });
        }
    }
    for power in POWERS {
        if session.options.quick && power > QUICK {
            continue;
        }
        let batch = 1 << power;
        figure(session, &format!("hybrid.5d.batch{batch}"), |session, name| {
            one_queue(session, compiler, name, batch)
        });
    }
}

/// Pipelines with these batches, in times of the one with static rates.
fn against_static(
    session: &mut Session,
    compiler: &Compiler,
    name: &str,
    size: (u64, u64),
    batches: &[(&'static str, Option<u64>)],
) -> Result<(), String> {
    let fused = Schedule::of(Scheduler::Hybrid);
    let mut all = vec![("static", Role::Yardstick, Kind::Static, fused)];
    for (contestant, batch) in batches {
        let role = if *contestant == "ours" { Role::Ours } else { Role::Aside };
        all.push((contestant, role, Kind::Fixed, Schedule { batch: *batch, ..fused }));
    }
    let mut contestants = Vec::new();
    for (contestant, role, rates, schedule) in all {
        let mut pipeline = Pipeline::even(compiler, size, rates, schedule)?;
        let items = pipeline.items_for(session.row_seconds(), 0)?;
        contestants.push(pipeline.contestant(contestant, role, items).against("static"));
    }
    session.figure(name, Measure::Slowdown, 1, contestants);
    Ok(())
}

/// Two operators without work: nanoseconds per item with batches of this size.
fn one_queue(session: &mut Session, compiler: &Compiler, name: &str, batch: u64) -> Result<(), String> {
    let schedule = Schedule { batch: Some(batch), ..Schedule::of(Scheduler::Hybrid) };
    let mut pipeline = Pipeline::even(compiler, (1, 0), Kind::Fixed, schedule)?;
    let items = pipeline.items_for(session.row_seconds(), WHOLE * batch)?;
    session.figure(name, Measure::NsPerItem, 1, vec![pipeline.contestant("ours", Role::Ours, items)]);
    Ok(())
}
