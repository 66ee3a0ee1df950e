//! Figures 6.5 and 6.6 as counts of the virtual host, on the paper's machine of 4 domains of 8 cores: Smith-Waterman in n³
//! over 2048² cells in blocks of 16 by 16, and 5 steps of life over 16384² cells in blocks of 16 by 256.

use thalweg_policy::tasks::StealOrder;
use thalweg_sim::loops::{LoopSchedule, LoopSettings};
use thalweg_sim::tasks::{TaskGraph, by_levels, shapes};

use crate::line::Measure;
use crate::session::Session;

/// The contestants: name, schedule, and the most ticks by which a worker begins late, for each worker. The paper's workers
/// find a loop by random attempts to steal, which cost 100 ticks each.
const SCHEDULES: [(&str, LoopSchedule, u64); 5] = [
    ("ours", LoopSchedule::HYBRID, 0),
    ("parfor-hybrid", LoopSchedule::Stretches(StealOrder::Paper), 200),
    ("parfor-static", LoopSchedule::STATIC, 200),
    ("cilk_for", LoopSchedule::Split, 0),
    ("openmp-static", LoopSchedule::STATIC, 0),
];

/// A block and its eight neighbours.
const NINE: [(isize, isize); 9] =
    [(0, 0), (-1, -1), (-1, 0), (-1, 1), (0, -1), (0, 1), (1, -1), (1, 0), (1, 1)];

/// Runs the selected figures.
pub fn run(session: &mut Session) {
    let blocks: usize = if session.options.quick { 16 } else { 128 };
    for workers in [1, 2, 4, 8, 16, 24, 32] {
        points(session, "6-5", workers, |workers| shapes::wavefront(blocks, blocks, true, workers));
        points(session, "6-6", workers, |workers| shapes::grid(8 * blocks, blocks / 2, 5, workers, &NINE));
    }
}

/// The speed-up in ticks and the remote accesses of all contestants.
fn points(session: &mut Session, figure: &str, workers: usize, graph: impl Fn(usize) -> TaskGraph) {
    let names = ["ticks", "remote"].map(|what| format!("locality.{figure}.{what}.p{workers}"));
    if !names.iter().any(|name| session.selects(name)) {
        return;
    }
    let settings = |workers| LoopSettings { workers, grain: 1, ..LoopSettings::default() };
    let serial = by_levels(&graph(1), &LoopSettings { schedule: LoopSchedule::STATIC, ..settings(1) }).time;
    let graph = graph(workers);
    let reports = SCHEDULES.map(|(name, schedule, late)| {
        let settings = LoopSettings { schedule, late: late * workers as u64, ..settings(workers) };
        (name, by_levels(&graph, &settings))
    });
    let speeds = reports.each_ref().map(|(name, report)| (*name, serial as f64 / report.time as f64));
    let remote = reports.each_ref().map(|(name, report)| (*name, 100.0 * report.remote_share()));
    if session.selects(&names[0]) {
        session.counted(&names[0], Measure::Speed, &speeds);
    }
    if workers > 8 && session.selects(&names[1]) {
        session.counted(&names[1], Measure::Counted("%"), &remote);
    }
}
