//! Counts of task graphs on the virtual machine of the paper, 8 domains of 10 cores: what Figures 5.7 to 5.9 and Tables
//! 5.2 and 5.3 of *Locality-Aware Concurrency Platforms* show. As tab-separated values, a line for each graph, number
//! of workers and colouring; `speedup` is over random stealing (`none`) on as many workers, and `domain` stands for good
//! colours where workers prefer their domain after their own colour.
//!
//! `cargo run --release -p thalweg-sim --example task_graphs [SEEDS [MACHINE]]`
//!
//! MACHINE is a file with the description of another machine (see `thalweg machine`), which is then simulated with all of its
//! units.

use std::error::Error;
use thalweg_machine::Machine;
use thalweg_sim::tasks::{Colouring, TaskGraph, TaskReport, TaskSettings, run, shapes};

const NINE: [(isize, isize); 9] =
    [(0, 0), (-1, -1), (-1, 0), (-1, 1), (0, -1), (0, 1), (1, -1), (1, 0), (1, 1)];

const THREE: [(isize, isize); 3] = [(0, 0), (-1, 0), (0, -1)];

/// The graphs of Table 5.1 by name, with its numbers of nodes (but for `mg`, which has 11,000). The links of PageRank follow a
/// model of ours.
fn graphs(workers: usize) -> Vec<(&'static str, TaskGraph)> {
    vec![
        ("cg", shapes::layers(100, 3, 100, 50, workers, 1)),
        ("mg", shapes::multigrid(64, workers)),
        ("heat", shapes::stencil(128, 160, 5, workers)),
        ("fdtd", shapes::grid(128, 160, 5, workers, &THREE)),
        ("life", shapes::grid(128, 160, 5, workers, &NINE)),
        ("uk-2002", shapes::pages(180, 10, shapes::Links::CRAWL, workers, 1)),
        ("twitter", shapes::pages(410, 10, shapes::Links::SOCIAL, workers, 2)),
        ("uk-2007", shapes::pages(1050, 10, shapes::Links::CRAWL, workers, 3)),
        ("sw", shapes::wavefront(160, 160, true, workers)),
        ("swn2", shapes::wavefront(128, 128, false, workers)),
    ]
}

/// Names of colourings, and whether workers prefer their domain.
const RUNS: [(&str, Colouring, bool); 5] = [
    ("good", Colouring::Good, false),
    ("domain", Colouring::Good, true),
    ("bad", Colouring::Bad, false),
    ("invalid", Colouring::Invalid, false),
    ("none", Colouring::Uncoloured, false),
];

/// The settings on the machine that a file describes.
fn described(path: &str) -> Result<TaskSettings, String> {
    let text = std::fs::read_to_string(path).map_err(|error| format!("{path}: {error}"))?;
    let machine =
        Machine::read(&text).map_err(|error| format!("{path}, line {}: {}", error.line, error.what))?;
    let unequal =
        || format!("{path}: its domains differ\nhelp: describe domains with equal numbers of cores");
    TaskSettings::on(&machine).ok_or_else(unequal)
}

fn main() -> Result<(), Box<dyn Error>> {
    let seeds: u64 = std::env::args().nth(1).and_then(|seeds| seeds.parse().ok()).unwrap_or(3);
    let on = std::env::args().nth(2).map(|path| described(&path)).transpose()?;
    let numbers = on.map_or(vec![20, 40, 60, 80], |on| vec![on.workers]);
    let base = on.unwrap_or_default();
    println!(
        "graph\tworkers\tcolours\ttime\tspeedup\tremote\tsteals\trandom_tries\tcoloured_tries\tforced_tries\twait"
    );
    for workers in numbers {
        for (graph_name, graph) in graphs(workers) {
            let runs = |colouring, hierarchical| {
                let settings = TaskSettings { workers, colouring, hierarchical, ..base };
                (1..=seeds).map(|seed| run(&graph, &TaskSettings { seed, ..settings })).collect::<Vec<_>>()
            };
            let none = mean(&runs(Colouring::Uncoloured, false), |report| report.time as f64);
            for (name, colouring, hierarchical) in RUNS {
                let runs = runs(colouring, hierarchical);
                let time = mean(&runs, |report| report.time as f64);
                println!(
                    "{graph_name}\t{workers}\t{name}\t{time:.0}\t{:.3}\t{:.3}\t{:.0}\t{:.0}\t{:.0}\t{:.0}\t{:.0}",
                    none / time,
                    mean(&runs, TaskReport::remote_share),
                    mean(&runs, |report| report.steals() as f64),
                    mean(&runs, |report| report.total().random.tried as f64),
                    mean(&runs, |report| report.total().coloured.tried as f64),
                    mean(&runs, |report| report.total().forced.tried as f64),
                    mean(&runs, TaskReport::mean_wait),
                );
            }
        }
    }
    Ok(())
}

fn mean(runs: &[TaskReport], of: impl Fn(&TaskReport) -> f64) -> f64 {
    runs.iter().map(of).sum::<f64>() / runs.len() as f64
}
