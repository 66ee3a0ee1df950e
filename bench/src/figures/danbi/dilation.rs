//! Whether dilated time is right: the time of a dilated run over its scale, beside the time of a run of the same program on the
//! same input that computes, in per cent of the latter. With 1 worker and with 2, since a machine of two cores has no more that
//! compute.
//!
//! Both are wall times of `auto` with its claims. A dilated run leaves out what the engine does between claims, divided by the
//! scale, and the contention of workers for caches and memory, since most of the time at most one of them computes. Its claims begin
//! with colder caches, since their thread has slept. What a reader sees in place of these figures is speed-ups, which have the ratio of the
//! figures for 1 worker and 2.

use thalweg::Options;
use thalweg_danbi::Problem;

use super::PROGRAMS;
use crate::line::Measure;
use crate::race::{Contestant, Role};
use crate::row::Row;
use crate::session::Session;

/// The scale. A claim of `auto` lasts some 50 us, so its dilated claim is long enough for the system's timer.
const SCALE: u32 = 40;

/// Seconds for which one worker computes, in a measurement and in a quick look.
const COMPUTED: f64 = 0.1;
const QUICK: f64 = 0.01;

/// The computing runs.
const REAL: &str = "real";

/// Runs the selected figures.
pub(super) fn run(session: &mut Session) {
    for measured in &PROGRAMS {
        let name = format!("danbi.dilation.{}", measured.program.name());
        let counts = session.thread_counts();
        let selected: Vec<usize> =
            counts.into_iter().filter(|threads| session.selects(&format!("{name}.t{threads}"))).collect();
        if selected.is_empty() {
            continue;
        }
        let seconds = if session.options.quick { QUICK } else { COMPUTED };
        let problem = match lasting(seconds, |share| measured.program.problem(share, 1)) {
            Ok(problem) => problem,
            Err(error) => return session.errors.push(format!("{name}: {error}")),
        };
        for threads in selected {
            let options = Options::new().threads(threads);
            let contestants = vec![
                contestant(REAL, Role::Yardstick, &problem, options.clone(), 1),
                contestant("ours", Role::Ours, &problem, options.dilate(SCALE), SCALE),
            ];
            session.figure(&format!("{name}.t{threads}"), Measure::Overhead, threads, contestants);
        }
    }
}

/// The problem for which one worker takes about this long. Its time is proportional to its share.
pub(super) fn lasting(seconds: f64, problem: impl Fn(f64) -> Problem) -> Result<Problem, String> {
    let mut share = 1e-4;
    // The second trial is longer than what a run costs without firings.
    for _ in 0..2 {
        let took = row(&problem(share), &Options::new().threads(1))?.seconds;
        share *= seconds / took;
    }
    Ok(problem(share))
}

/// A contestant whose time is that of its runs over `scale`.
fn contestant<'a>(
    name: &'static str,
    role: Role,
    problem: &'a Problem,
    options: Options,
    scale: u32,
) -> Contestant<'a> {
    let run = move || {
        let row = row(problem, &options)?;
        Ok(Some(Row { seconds: row.seconds / f64::from(scale), ..row }))
    };
    Contestant::new(name, role, 1, run).against(REAL).expecting(problem.sequential().into())
}

/// The time of a run, and its checksum.
pub(super) fn row(problem: &Problem, options: &Options) -> Result<Row, String> {
    let (checksum, report) = problem.run(options).map_err(|error| error.to_string())?;
    Ok(Row::new(report.wall().as_secs_f64(), checksum.into()))
}
