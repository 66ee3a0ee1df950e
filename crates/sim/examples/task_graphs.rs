//! Counts of task graphs on the virtual machine of the paper, 8 domains of 10 cores: what Figures 5.7 to 5.9 and Tables
//! 5.2 and 5.3 of *Locality-Aware Concurrency Platforms* show. As tab-separated values, a line for each benchmark, number
//! of workers and way to run it; `speedup` is over random stealing (`random`) on as many workers. `static` and `guided`
//! are parallel loops with barriers, and `one` takes one entry a steal, as the paper does.
//!
//! `cargo run --release -p thalweg-sim --example task_graphs [SEEDS [PART [MACHINE]]]`
//!
//! MACHINE is a file with the description of another machine (see `thalweg machine`), which is then simulated with all of its
//! units.

use std::error::Error;
use thalweg_machine::Machine;
use thalweg_policy::tasks::Transfer;
use thalweg_sim::loops::{LoopCosts, LoopSchedule, LoopSettings};
use thalweg_sim::tasks::{Benchmark, Colouring, TaskGraph, TaskReport, TaskSettings, by_levels, run};

/// Names of ways to run a graph, with the colours and the number of entries of a steal.
const RUNS: [(&str, Colouring, Transfer); 6] = [
    ("good", Colouring::Good, Transfer::Half),
    ("bad", Colouring::Bad, Transfer::Half),
    ("invalid", Colouring::Invalid, Transfer::Half),
    ("random", Colouring::Uncoloured, Transfer::Half),
    ("good, one", Colouring::Good, Transfer::One),
    ("random, one", Colouring::Uncoloured, Transfer::One),
];

/// The settings on the machine that a file describes.
fn described(path: &str) -> Result<TaskSettings, String> {
    let text = std::fs::read_to_string(path).map_err(|error| format!("{path}: {error}"))?;
    let machine =
        Machine::read(&text).map_err(|error| format!("{path}, line {}: {}", error.line(), error.what()))?;
    let unequal =
        || format!("{path}: its domains differ\nhelp: describe domains with equal numbers of cores");
    TaskSettings::on(&machine).ok_or_else(unequal)
}

fn main() -> Result<(), Box<dyn Error>> {
    let number = |at| std::env::args().nth(at).and_then(|text| text.parse().ok());
    let (seeds, part) = (number(1).unwrap_or(3), number(2).unwrap_or(1));
    let on = std::env::args().nth(3).map(|path| described(&path)).transpose()?;
    let numbers = on.map_or(vec![20, 40, 60, 80], |on| vec![on.workers]);
    let base = on.unwrap_or_default();
    println!(
        "graph\tworkers\trun\ttime\tspeedup\tremote\tsteals\trandom_tries\tcoloured_tries\tforced_tries\twait"
    );
    for workers in numbers {
        for benchmark in Benchmark::ALL {
            let graph = benchmark.graph(workers, part as usize);
            let runs: Vec<(&str, Vec<TaskReport>)> = RUNS
                .map(|(name, colouring, transfer)| {
                    let settings = TaskSettings { workers, colouring, transfer, ..base };
                    (name, (1..=seeds).map(|seed| run(&graph, &TaskSettings { seed, ..settings })).collect())
                })
                .into();
            let random = mean(&runs[3].1, |report| report.time as f64);
            let loops = [("static", LoopSchedule::STATIC), ("guided", LoopSchedule::Guided)];
            let loops =
                loops.map(|(name, schedule)| (name, vec![looped(&graph, workers, base.domain, schedule)]));
            for (name, reports) in runs.iter().chain(&loops) {
                print(benchmark.name(), workers, name, reports, random);
            }
        }
    }
    Ok(())
}

fn looped(graph: &TaskGraph, workers: usize, domain: usize, schedule: LoopSchedule) -> TaskReport {
    let costs = LoopCosts { take: 2, attempt: 10, steal: 30, near: 100, far: 250 };
    by_levels(graph, &LoopSettings { workers, domain, schedule, grain: 1, costs, late: 0, seed: 1 })
}

fn print(benchmark: &str, workers: usize, name: &str, runs: &[TaskReport], random: f64) {
    let time = mean(runs, |report| report.time as f64);
    println!(
        "{benchmark}\t{workers}\t{name}\t{time:.0}\t{:.3}\t{:.3}\t{:.0}\t{:.0}\t{:.0}\t{:.0}\t{:.0}",
        random / time,
        mean(runs, TaskReport::remote_share),
        mean(runs, |report| report.steals() as f64),
        mean(runs, |report| report.total().random.tried as f64),
        mean(runs, |report| report.total().coloured.tried as f64),
        mean(runs, |report| report.total().forced.tried as f64),
        mean(runs, TaskReport::mean_wait),
    );
}

fn mean(runs: &[TaskReport], of: impl Fn(&TaskReport) -> f64) -> f64 {
    runs.iter().map(of).sum::<f64>() / runs.len() as f64
}
