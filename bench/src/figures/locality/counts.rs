//! Table 5.1, Figures 5.6 to 5.9, Tables 5.2 and 5.3 as counts of the virtual host, on the paper's machine of 8 domains of
//! 10 cores. A tick is a step of the virtual host, and no time: the ratios of ticks follow from its costs of steps.

use thalweg_policy::tasks::Transfer;
use thalweg_sim::loops::{LoopCosts, LoopSchedule, LoopSettings};
use thalweg_sim::tasks::{
    Benchmark, Colouring, Measures, TaskCosts, TaskGraph, TaskReport, TaskSettings, by_levels,
    run as simulate,
};

use crate::line::Measure;
use crate::session::Session;

/// The ways to run a graph of tasks: name, colours, whether workers prefer their domain too, entries of a steal.
const TASKS: [(&str, Colouring, bool, Transfer); 8] = [
    ("ours", Colouring::Good, true, Transfer::Half),
    ("own colour alone", Colouring::Good, false, Transfer::Half),
    ("one entry", Colouring::Good, true, Transfer::One),
    ("own colour, one entry", Colouring::Good, false, Transfer::One),
    ("random", Colouring::Uncoloured, true, Transfer::Half),
    ("random, one entry", Colouring::Uncoloured, true, Transfer::One),
    ("bad", Colouring::Bad, true, Transfer::Half),
    ("invalid", Colouring::Invalid, true, Transfer::Half),
];

/// The ways to run its levels as loops.
const LOOPS: [(&str, LoopSchedule); 2] =
    [("openmp-static", LoopSchedule::STATIC), ("openmp-guided", LoopSchedule::Guided)];

/// The ways that a figure shows.
const SHOWN: [&str; 8] = [
    "ours",
    "own colour alone",
    "one entry",
    "own colour, one entry",
    "random",
    "random, one entry",
    "openmp-static",
    "openmp-guided",
];

/// How many of these steal.
const STEALING: usize = 6;

/// Runs the selected figures.
pub fn run(session: &mut Session) {
    for benchmark in Benchmark::ALL {
        let name = format!("locality.5-1.{}", benchmark.name());
        if session.selects(&name) {
            let measures = Measures::of(&graph(session, benchmark, 1), &settings(1));
            let values =
                [("ours", nodes(&graph(session, benchmark, 1))), ("longest path", measures.longest as f64)];
            session.counted(&name, Measure::Counted("nodes"), &values);
        }
        for workers in [1, 10, 20, 40, 60, 80] {
            of_workers(session, benchmark, workers);
        }
    }
}

/// The nodes without a sink that the shape has added: it accesses nothing. A wavefront ends with a block, and has none.
fn nodes(graph: &TaskGraph) -> f64 {
    graph.nodes().iter().filter(|node| node.accesses > 0).count() as f64
}

fn graph(session: &Session, benchmark: Benchmark, workers: usize) -> TaskGraph {
    benchmark.graph(workers, if session.options.quick { 40 } else { 1 })
}

fn settings(workers: usize) -> TaskSettings {
    TaskSettings { workers, ..TaskSettings::default() }
}

/// The figures of a benchmark with a number of workers. Domains have 10 workers, so that fewer have no remote access.
fn of_workers(session: &mut Session, benchmark: Benchmark, workers: usize) {
    let name = |figure: &str| format!("locality.{figure}.{}.p{workers}", benchmark.name());
    let figures = ["5-6.ticks", "5-7", "5-8", "5-9", "table-5-2", "table-5-3"].map(name);
    if !figures.iter().any(|name| session.selects(name)) {
        return;
    }
    let graph = graph(session, benchmark, workers);
    let means = means(&graph, workers, session.options.runs as u64);
    let serial = by_levels(&self::graph(session, benchmark, 1), &loops(1, LoopSchedule::STATIC)).time as f64;
    let of = |name: &str, value: fn(&Mean) -> f64| {
        let found = means.iter().find(|mean| mean.name == name);
        value(found.unwrap_or_else(|| panic!("{name} was run")))
    };
    let shown = |names: &[&'static str], value: fn(&Mean) -> f64| -> Vec<_> {
        names.iter().map(|&name| (name, of(name, value))).collect()
    };
    let ticks = |mean: &Mean| mean.ticks;
    let speeds: Vec<_> =
        shown(&SHOWN, ticks).into_iter().map(|(name, ticks)| (name, serial / ticks)).collect();
    let over_random = |name| of("random", ticks) / of(name, ticks);
    let mut show = |at: usize, measure, values: &[(&'static str, f64)]| {
        if session.selects(&figures[at]) {
            session.counted(&figures[at], measure, values);
        }
    };
    show(0, Measure::Speed, &speeds);
    if workers < 20 {
        return;
    }
    show(1, Measure::Counted("%"), &shown(&SHOWN, |mean| mean.remote));
    show(2, Measure::Counted("steals"), &shown(&SHOWN[..STEALING], |mean| mean.steals));
    show(3, Measure::Counted("ticks"), &shown(&SHOWN[..STEALING], |mean| mean.wait));
    show(4, Measure::Speed, &[("ours", over_random("bad"))]);
    show(5, Measure::Speed, &[("ours", over_random("invalid"))]);
}

/// The means of some runs with different seeds.
struct Mean {
    name: &'static str,
    ticks: f64,
    /// In per cent of the accesses.
    remote: f64,
    steals: f64,
    /// Ticks of a worker before its first work.
    wait: f64,
}

fn means(graph: &TaskGraph, workers: usize, seeds: u64) -> Vec<Mean> {
    let tasks = TASKS.map(|(name, colouring, hierarchical, transfer)| {
        let settings = TaskSettings { colouring, hierarchical, transfer, ..settings(workers) };
        let reports = (1..=seeds).map(|seed| simulate(graph, &TaskSettings { seed, ..settings }));
        Mean::of(name, &reports.collect::<Vec<_>>())
    });
    let loops = LOOPS.map(|(name, schedule)| Mean::of(name, &[by_levels(graph, &loops(workers, schedule))]));
    tasks.into_iter().chain(loops).collect()
}

/// The costs of loops' steps on the scale of those of tasks. A tick is about 10 ns.
fn loops(workers: usize, schedule: LoopSchedule) -> LoopSettings {
    let TaskCosts { edge, attempt, steal, near, far, .. } = TaskSettings::default().costs;
    let base = LoopSettings { workers, domain: 10, schedule, grain: 1, ..LoopSettings::default() };
    let costs = LoopCosts { take: edge, attempt, steal, near, far };
    LoopSettings { costs, ..base }
}

impl Mean {
    fn of(name: &'static str, reports: &[TaskReport]) -> Mean {
        let mean = |of: fn(&TaskReport) -> f64| reports.iter().map(of).sum::<f64>() / reports.len() as f64;
        Mean {
            name,
            ticks: mean(|report| report.time as f64),
            remote: mean(|report| 100.0 * report.remote_share()),
            steals: mean(|report| report.steals() as f64),
            wait: mean(TaskReport::mean_wait),
        }
    }
}
