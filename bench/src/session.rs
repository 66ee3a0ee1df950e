//! One session of the benchmark: what was asked for, what was found, and how a figure is run and shown.

use crate::line::{Entry, Line, Measure};
use crate::peers::external::{self, Program};
use crate::race::{Contestant, Rules, race};
use crate::results::Results;
use crate::targets;
use crate::work::Calibration;

/// What was asked for.
#[derive(Clone, Debug)]
pub struct Options {
    /// Only figures whose names contain one of these; all if empty.
    pub filters: Vec<String>,
    /// Rounds of every race.
    pub runs: usize,
    /// Small jobs, so that one run lasts a few hundredths of a second.
    pub quick: bool,
    /// Threads of the parallel figures.
    pub threads: usize,
    /// Show all contestants, not only the best.
    pub peers: bool,
}

/// One session.
pub struct Session {
    /// What was asked for.
    pub options: Options,
    /// How long a step of work takes here.
    pub calibration: Calibration,
    /// What was measured.
    pub results: Results,
    /// What went wrong.
    pub errors: Vec<String>,
}

impl Session {
    /// Calibrates the work and compares the peers' programs with it.
    pub fn start(options: Options) -> Self {
        let calibration = Calibration::measure();
        let mut notes = vec![("step", format!("{:.4} ns", calibration.ns_per_step))];
        notes.extend(external::PROGRAMS.map(|(name, hint)| (name_of_step(name), peer_speed(name, hint))));
        notes.iter().for_each(|(name, value)| eprintln!("{name}: {value}"));
        let results = Results::new(&notes);
        println!("{}", Line::heading());
        Self { options, calibration, results, errors: Vec::new() }
    }

    /// Whether the figure `name` was asked for.
    pub fn wants(&self, name: &str) -> bool {
        let filters = &self.options.filters;
        filters.is_empty() || filters.iter().any(|filter| name.contains(filter.as_str()))
    }

    /// The seconds that a perfect run of a row should last.
    pub fn row_seconds(&self) -> f64 {
        if self.options.quick { 0.04 } else { 0.3 }
    }

    /// How many items make a row, if each costs `ns` nanoseconds of one thread.
    pub fn items(&self, ns: f64, threads: usize) -> u64 {
        (self.row_seconds() * 1e9 * threads as f64 / ns) as u64
    }

    /// The numbers of threads to show figures for.
    pub fn thread_counts(&self) -> Vec<usize> {
        if self.options.threads > 1 { vec![1, self.options.threads] } else { vec![1] }
    }

    /// Runs the figure `name` and shows its line.
    pub fn figure(&mut self, name: &str, measure: Measure, threads: usize, contestants: Vec<Contestant>) {
        let rules = Rules { runs: self.options.runs, threads };
        let entries: Vec<Entry> = contestants.iter().map(entry).collect();
        let mut errors = Vec::new();
        let records = race(contestants, rules, &mut errors);
        for error in errors {
            eprintln!("error: {name}: {error}");
            self.errors.push(format!("{name}: {error}"));
        }
        let line = Line::new(name, measure, &entries, &records);
        println!("{line}");
        if self.options.peers && !line.values.is_empty() {
            println!("{}", line.details());
        }
        self.results.add(&line, &records);
    }

    /// Shows a remark, and keeps it with the results.
    pub fn note(&mut self, remark: &str) {
        println!("    {remark}");
        self.results.note(remark);
    }
}

fn entry(contestant: &Contestant) -> Entry {
    let &Contestant { name, role, items, yardstick, .. } = contestant;
    Entry { name, role, items, yardstick }
}

fn name_of_step(program: &str) -> &'static str {
    if program == "go" { "step in go" } else { "step in tbb" }
}

/// What a peer's program says of its own speed, or how to get it.
fn peer_speed(name: &str, hint: &str) -> String {
    match external::program(name, "calibrate").as_ref().map(Program::calibrate) {
        None => format!("not built ({hint})"),
        Some(Ok(ns)) => format!("{ns:.4} ns"),
        Some(Err(error)) => error,
    }
}

/// Prints the figures that have targets.
pub fn list() {
    targets::names().for_each(|name| println!("{name:<26} {}", targets::target(name)));
}
