//! One session of the benchmark: its options and results, and how a figure is run and shown.

use std::path::PathBuf;

use tempfile::TempDir;

use crate::heap;
use crate::line::{Entry, Line, Measure};
use crate::peers::external::{self, Program};
use crate::race::{Contestant, Record, Role, Rules, race};
use crate::results::Results;
use crate::row::Row;
use crate::targets;
use crate::work::Calibration;

/// The options of a session.
#[derive(Clone, Debug)]
pub struct Options {
    /// Only figures with a name that contains one of these; all if empty.
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

/// A cost of a whole program: its name in a figure's, its measure, and its value in seconds or bytes.
pub type Cost = (&'static str, Measure, fn(&Row) -> f64);

/// A figure of a race that has several.
pub struct View {
    /// The figure's name.
    pub name: String,
    /// The quantity measured.
    pub measure: Measure,
    /// What is measured of a run: a time in seconds, or bytes.
    pub of: fn(&Row) -> f64,
    /// The contestants of the figure, each with its role there.
    pub roles: Vec<(&'static str, Role)>,
}

/// One session.
pub struct Session {
    /// The options.
    pub options: Options,
    /// The time of a step of work on this machine.
    pub calibration: Calibration,
    /// The results so far.
    pub results: Results,
    /// The errors so far.
    pub errors: Vec<String>,
    /// Folders that are removed after the results are written, since that takes longer than some figures.
    pub folders: Vec<TempDir>,
}

impl Session {
    /// Calibrates the work, also that of the peers' programs. The results go to `path`.
    pub fn start(options: Options, path: Option<PathBuf>) -> Self {
        let calibration = Calibration::measure();
        let mut notes =
            vec![("step", format!("{:.4} ns", calibration.ns_per_step)), ("heap", heap::describe())];
        notes.extend(external::PROGRAMS.map(|(name, hint)| (name_of_step(name), peer_speed(name, hint))));
        notes.iter().for_each(|(name, value)| eprintln!("{name}: {value}"));
        let results = Results::new(path, &notes);
        println!("{}", Line::heading());
        Self { options, calibration, results, errors: Vec::new(), folders: Vec::new() }
    }

    /// Whether the filters select the figure `name`.
    pub fn selects(&self, name: &str) -> bool {
        let filters = &self.options.filters;
        filters.is_empty() || filters.iter().any(|filter| name.contains(filter.as_str()))
    }

    /// The time that one run of a perfect split should take, in seconds.
    pub fn row_seconds(&self) -> f64 {
        if self.options.quick { 0.04 } else { 0.3 }
    }

    /// The number of items of one run, if each costs `ns` nanoseconds of one thread.
    pub fn items(&self, ns: f64, threads: usize) -> u64 {
        (self.row_seconds() * 1e9 * threads as f64 / ns) as u64
    }

    /// The numbers of threads to measure with.
    pub fn thread_counts(&self) -> Vec<usize> {
        if self.options.threads > 1 { vec![1, self.options.threads] } else { vec![1] }
    }

    /// Runs the figure `name` and shows its line.
    pub fn figure(&mut self, name: &str, measure: Measure, threads: usize, contestants: Vec<Contestant>) {
        let (entries, records) = self.race(name, threads, contestants);
        self.show(&Line::new(name, measure, &entries, &records), &records);
    }

    /// Runs one race of whole programs, and shows a line for each of these costs: `name`, the cost, the threads.
    pub fn costs(&mut self, name: &str, costs: &[Cost], threads: usize, contestants: Vec<Contestant>) {
        let (entries, records) = self.race(name, threads, contestants);
        for (cost, measure, of) in costs {
            let records: Vec<Record> = records.iter().map(|record| valued(record, *of)).collect();
            let name = format!("{name}.{cost}.t{threads}");
            self.show(&Line::new(&name, *measure, &entries, &records), &records);
        }
    }

    /// Runs one race, and shows a line for each of these views of it.
    pub fn views(&mut self, name: &str, views: &[View], threads: usize, contestants: Vec<Contestant>) {
        let (entries, records) = self.race(name, threads, contestants);
        for View { name, measure, of, roles } in views {
            let role_of = |name: &str| roles.iter().find(|(known, _)| *known == name).map(|&(_, role)| role);
            let entries: Vec<Entry> =
                entries.iter().filter_map(|e| Some(Entry { role: role_of(e.name)?, ..*e })).collect();
            let seen = records.iter().filter(|record| role_of(record.contestant).is_some());
            let records: Vec<Record> = seen.map(|record| valued(record, *of)).collect();
            self.show(&Line::new(name, *measure, &entries, &records), &records);
        }
    }

    /// Runs the race of the figure `name`.
    pub fn race(
        &mut self,
        name: &str,
        threads: usize,
        contestants: Vec<Contestant>,
    ) -> (Vec<Entry>, Vec<Record>) {
        let rules = Rules { runs: self.options.runs, threads };
        let entries: Vec<Entry> = contestants.iter().map(entry).collect();
        let mut errors = Vec::new();
        let records = race(contestants, rules, &mut errors);
        for error in errors {
            eprintln!("error: {name}: {error}");
            self.errors.push(format!("{name}: {error}"));
        }
        (entries, records)
    }

    /// Shows the line of the figure `name`, whose values are counts of the virtual host: the first is ours.
    pub fn counted(&mut self, name: &str, measure: Measure, values: &[(&'static str, f64)]) {
        let roles = std::iter::once(Role::Ours).chain(std::iter::repeat(Role::Aside));
        let entry = |(&(name, value), role)| (Entry { name, role, items: 1, yardstick: "" }, value);
        let line = Line::of(name, measure, values.iter().zip(roles).map(entry).collect());
        self.show(&line, &[]);
    }

    /// Shows a line, and keeps it with these records in the file of the results.
    pub fn show(&mut self, line: &Line, records: &[Record]) {
        println!("{line}");
        if self.options.peers && !line.values.is_empty() {
            println!("{}", line.details());
        }
        self.results.add(line, records);
        self.save();
    }

    /// Writes the file of the results. The first error is kept.
    pub fn save(&mut self) {
        let Err(error) = self.results.save() else { return };
        if !self.errors.contains(&error) {
            eprintln!("error: {error}");
            self.errors.push(error);
        }
    }

    /// Shows a remark, and keeps it with the results.
    pub fn note(&mut self, remark: &str) {
        println!("    {remark}");
        self.results.note(remark);
    }
}

/// A record in which the time is this of its costs.
fn valued(record: &Record, of: fn(&Row) -> f64) -> Record {
    Record { row: Row { seconds: of(&record.row), ..record.row }, ..record.clone() }
}

fn entry(contestant: &Contestant) -> Entry {
    let &Contestant { name, role, items, yardstick, .. } = contestant;
    Entry { name, role, items, yardstick }
}

fn name_of_step(program: &str) -> &'static str {
    if program == "go" { "step in go" } else { "step in tbb" }
}

/// The time of a step of work as a peer's program measures it, or how to build the program.
fn peer_speed(name: &str, hint: &str) -> String {
    match external::program(name, "calibrate").as_ref().map(Program::calibrate) {
        None => format!("not built ({hint})"),
        Some(Ok(ns)) => format!("{ns:.4} ns"),
        Some(Err(error)) => error,
    }
}

/// Prints the figures that have targets.
pub fn list() {
    targets::names().for_each(|name| println!("{name:<26} {}", targets::target(&name)));
}
