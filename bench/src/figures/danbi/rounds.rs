//! Rounds of runs on one input, each by other options, with what their reports say.

use std::cell::RefCell;

use thalweg::{Options, Report};
use thalweg_danbi::Problem;

use super::size::{claims, fewest};
use crate::line::{Entry, median};
use crate::machine;
use crate::race::{Contestant, Record, Role};
use crate::row::Row;
use crate::session::Session;

/// The parts of the time of the workers. What the operating system's kernel takes is also in the others.
pub const PARTS: [&str; 7] = ["application", "queue", "scheduler", "stall", "idle", "preempted", "OS kernel"];

/// The options of a run that takes part in the rounds.
pub struct Entrant {
    /// A name, unique in its figure.
    pub name: &'static str,
    /// Its role in the figure.
    pub role: Role,
    /// The entrant that its time is compared with.
    pub yardstick: &'static str,
    /// The options.
    pub options: Options,
}

/// What the report of a run says.
#[derive(Clone, Copy, Debug)]
pub struct Facts {
    /// Seconds from the start to the end.
    pub wall: f64,
    /// Seconds of all claims.
    pub claims: f64,
    /// By [`PARTS`], the share of the workers' time in per cent.
    pub parts: [f64; 7],
    /// The mean and the maximum of workers and suspended firings, if firings waited for their tickets.
    pub threads: Option<(f64, f64)>,
    /// The firings of the node with the fewest, and of all.
    pub firings: (f64, f64),
}

/// The runs of all rounds.
pub struct Rounds {
    /// The entrants.
    pub entries: Vec<Entry>,
    /// All runs.
    pub records: Vec<Record>,
    /// What their reports say.
    facts: Vec<Facts>,
}

impl Rounds {
    /// Runs the rounds of the figure `name`. An entrant that fails, or has another result than the sequential program, is left
    /// out.
    pub fn run(
        session: &mut Session,
        name: &str,
        problem: &Problem,
        workers: usize,
        entrants: Vec<Entrant>,
    ) -> Rounds {
        let (expected, all) = (u64::from(problem.sequential()), RefCell::new(Vec::new()));
        let contestant = |Entrant { name, role, yardstick, options }| {
            let all = &all;
            let run = move || {
                let (checksum, report) = problem.run(&options).map_err(|error| error.to_string())?;
                all.borrow_mut().push((name, Facts::of(&report)));
                Ok(Some(Row::new(report.wall().as_secs_f64(), u64::from(checksum))))
            };
            Contestant::new(name, role, 1, run).against(yardstick).expecting(expected)
        };
        let contestants = entrants.into_iter().map(contestant).collect();
        let (entries, records) = session.race(name, workers.min(machine::cores()), contestants);
        // Both are in the order of the runs; a race has no records of what it left out.
        let is_in = |name: &str| records.iter().any(|record| record.contestant == name);
        let facts: Vec<Facts> =
            all.into_inner().into_iter().filter(|(name, _)| is_in(name)).map(|(_, facts)| facts).collect();
        assert_eq!(facts.len(), records.len(), "each run of {name} has a report");
        Rounds { entries, records, facts }
    }

    /// The runs of an entrant that count, with their rounds.
    pub fn of(&self, name: &str) -> impl Iterator<Item = (usize, &Facts)> {
        let runs = self.records.iter().zip(&self.facts);
        let counts = move |(record, _): &(&Record, _)| record.kept && record.contestant == name;
        runs.filter(counts).map(|(record, facts)| (record.round, facts))
    }

    /// The median of a value over the rounds of an entrant; `None` if it has none.
    pub fn median(&self, name: &str, value: impl Fn(&Facts) -> Option<f64>) -> Option<f64> {
        median(self.of(name).filter_map(|(_, facts)| value(facts)).collect())
    }
}

impl Facts {
    fn of(report: &Report) -> Facts {
        let seconds = |of: fn(&thalweg::trace::WorkerReport) -> std::time::Duration| -> f64 {
            report.workers().iter().map(|worker| of(worker).as_secs_f64()).sum()
        };
        let total = seconds(|worker| worker.total());
        let parts = [
            seconds(|worker| worker.application()),
            seconds(|worker| worker.queue().saturating_sub(worker.stall())),
            seconds(|worker| worker.scheduler()),
            seconds(|worker| worker.stall()),
            seconds(|worker| worker.idle()),
            seconds(|worker| worker.preempted()),
            seconds(|worker| worker.kernel()),
        ];
        let tickets = report.tickets();
        Facts {
            wall: report.wall().as_secs_f64(),
            claims: claims(report),
            parts: parts.map(|part| 100.0 * part / total),
            threads: tickets.map(|tickets| (tickets.mean_under_way(), tickets.max_under_way() as f64)),
            firings: (
                fewest(report) as f64,
                report.nodes().iter().map(|node| node.firings()).sum::<u64>() as f64,
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use thalweg_danbi::Program;

    #[test]
    fn the_runs_that_count_have_their_reports() {
        let options =
            crate::session::Options { filters: Vec::new(), runs: 2, quick: true, threads: 2, peers: false };
        let mut session = Session::start(options, None);
        let entrant = |name, options: Options| Entrant { name, role: Role::Peer, yardstick: "", options };
        let one = entrant("one", Options::new().threads(1));
        let waits = entrant("waits", Options::new().threads(2).policy("prs").wait_for_tickets());
        let fails = entrant("fails", Options::new().policy("no such policy"));
        let problem = Program::MergeSort.problem(0.0001, 1);
        let rounds = Rounds::run(&mut session, "a race", &problem, 2, vec![one, fails, waits]);
        assert_eq!(session.errors.len(), 1, "{:?}", session.errors);
        for name in ["one", "waits"] {
            assert_eq!(rounds.of(name).map(|(round, _)| round).collect::<Vec<_>>(), [0, 1], "{name}");
        }
        assert_eq!(rounds.of("fails").count(), 0);
        let threads = |name| rounds.median(name, |facts| facts.threads.map(|(mean, _)| mean));
        assert!(threads("one").is_none() && threads("waits").is_some_and(|mean| mean >= 2.0));
        let without_kernel = |facts: &Facts| Some(facts.parts[..6].iter().sum());
        let sum = rounds.median("waits", without_kernel).unwrap();
        assert!((sum - 100.0).abs() < 0.1, "the parts are {sum} % of the time");
        for (record, facts) in rounds.records.iter().zip(&rounds.facts) {
            assert!((record.row.seconds - facts.wall).abs() < 1e-12 && facts.claims > 0.0);
        }
    }
}
