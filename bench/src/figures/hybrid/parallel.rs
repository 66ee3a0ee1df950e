//! Figures 6a and 6b: static and dynamic rates on several threads.

use super::super::dynamic::Kind;
use super::pipelines::Pipeline;
use super::{figure, thread_counts};
use crate::line::Measure;
use crate::native::{Compiler, Schedule, Scheduler};
use crate::race::Role;
use crate::session::Session;

/// The figures: the name, and the computations of the first and of the third operator for each item.
const FIGURES: [(&str, [u64; 2]); 2] = [("6a", [100, 900]), ("6b", [1000, 9000])];

/// Runs the selected figures.
pub fn run(session: &mut Session, compiler: &Compiler) {
    for (number, works) in FIGURES {
        for threads in thread_counts() {
            figure(session, &format!("hybrid.{number}.t{threads}"), |session, name| {
                speed(session, compiler, name, works, threads)
            });
        }
    }
}

/// The speed in times of the static program on one thread.
fn speed(
    session: &mut Session,
    compiler: &Compiler,
    name: &str,
    works: [u64; 2],
    threads: usize,
) -> Result<(), String> {
    let program = |rates, threads| {
        let schedule = Schedule { threads, ..Schedule::of(Scheduler::Hybrid) };
        Pipeline::three(compiler, works, rates, schedule)
    };
    let mut alone = program(Kind::Static, 1)?;
    let items = alone.items_for(session.row_seconds() * threads as f64, 0)?;
    let mut contestants = vec![alone.contestant("one thread", Role::Yardstick, items)];
    for (contestant, role, rates) in
        [("ours", Role::Ours, Kind::Fixed), ("static", Role::Aside, Kind::Static)]
    {
        let contestant = program(rates, threads)?.contestant(contestant, role, items);
        contestants.push(contestant.against("one thread"));
    }
    session.figure(name, Measure::Speed, threads, contestants);
    Ok(())
}
