//! Runs the contestants of a figure in turn: one run each in every round, so that all run under the same conditions.

use crate::line::SPLIT;
use crate::noise::{Interval, LIMIT, Snapshot};
use crate::row::Row;

/// The role of a contestant in a figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// This engine.
    Ours,
    /// Another system that does the same job.
    Peer,
    /// Shown for comparison and never the best peer: a variant of this engine, or a system that does not do quite the
    /// same job.
    Aside,
    /// The reference that other contestants' times are compared with.
    Yardstick,
}

/// The outcome of a run: its row, `None` if this contestant cannot do the job, or an error.
pub type Outcome = Result<Option<Row>, String>;

/// A system, or a variant of one, that runs the job of a figure.
pub struct Contestant<'a> {
    /// A name, unique in its figure.
    pub name: &'static str,
    /// Its role in the figure.
    pub role: Role,
    /// Items of one run: the divisor of the time if the figure is a cost per item.
    pub items: u64,
    /// The contestant that this one's time is compared with, if the figure is a ratio of times.
    pub yardstick: &'static str,
    /// The expected checksum, if known.
    pub expected: Option<u64>,
    /// Executes one run.
    pub run: Box<dyn FnMut() -> Outcome + 'a>,
}

impl<'a> Contestant<'a> {
    /// A contestant that is compared with `split`, without an expected checksum.
    pub fn new(name: &'static str, role: Role, items: u64, run: impl FnMut() -> Outcome + 'a) -> Self {
        Self { name, role, items, yardstick: SPLIT, expected: None, run: Box::new(run) }
    }

    /// Sets the checksum that every run must return.
    pub fn expecting(mut self, checksum: u64) -> Self {
        self.expected = Some(checksum);
        self
    }

    /// Sets the yardstick.
    pub fn against(mut self, yardstick: &'static str) -> Self {
        self.yardstick = yardstick;
        self
    }
}

/// A measured run.
#[derive(Clone, Debug)]
pub struct Record {
    /// The contestant.
    pub contestant: &'static str,
    /// The round.
    pub round: usize,
    /// Whether the run counts.
    pub kept: bool,
    /// The larger of the shares of foreign and of stolen processor time.
    pub disturbance: f64,
    /// Time and checksum.
    pub row: Row,
    /// The readings of all clocks.
    pub interval: Interval,
}

/// The settings of a race.
#[derive(Clone, Copy, Debug)]
pub struct Rules {
    /// The number of rounds.
    pub runs: usize,
    /// Threads that a contestant uses: a disturbance is a share of their time.
    pub threads: usize,
}

/// The maximum number of repetitions of one run.
const RETRIES: usize = 3;

/// Seconds of discarded runs that a race may always spend.
const RETRY_ALLOWANCE: f64 = 0.5;

/// Seconds spent on runs that count and on discarded runs. Repeating stops when the discarded ones cost too much.
#[derive(Default)]
struct Spent {
    kept: f64,
    lost: f64,
}

impl Spent {
    fn affords(&self, seconds: f64) -> bool {
        self.lost + seconds <= self.kept / 2.0 + RETRY_ALLOWANCE
    }
}

/// Runs the race. A contestant that cannot do the job is left out, as is one that fails or returns a wrong checksum,
/// which is added to `errors`.
pub fn race(mut contestants: Vec<Contestant>, rules: Rules, errors: &mut Vec<String>) -> Vec<Record> {
    let (mut records, mut spent) = (Vec::new(), Spent::default());
    for round in 0..rules.runs {
        contestants.retain_mut(|contestant| match undisturbed_run(contestant, round, rules, &mut spent) {
            Ok(runs) => {
                let takes_part = !runs.is_empty();
                records.extend(runs);
                takes_part
            }
            Err(error) => {
                errors.push(format!("{}: {error}", contestant.name));
                false
            }
        });
    }
    records.retain(|record| contestants.iter().any(|c| c.name == record.contestant));
    records
}

/// Repeats a run until it is undisturbed or no repetition is left; the least disturbed of the runs counts.
fn undisturbed_run(
    contestant: &mut Contestant,
    round: usize,
    rules: Rules,
    spent: &mut Spent,
) -> Result<Vec<Record>, String> {
    let mut records = Vec::new();
    for attempt in 0..=RETRIES {
        let Some(record) = one_run(contestant, round, rules.threads)? else { break };
        let (undisturbed, seconds) = (record.disturbance <= LIMIT, record.interval.wall);
        records.push(record);
        if undisturbed || attempt == RETRIES || !spent.affords(seconds) {
            spent.kept += seconds;
            break;
        }
        spent.lost += seconds;
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    if let Some(best) = records.iter_mut().min_by(|a, b| a.disturbance.total_cmp(&b.disturbance)) {
        best.kept = true;
    }
    Ok(records)
}

fn one_run(contestant: &mut Contestant, round: usize, threads: usize) -> Result<Option<Record>, String> {
    let before = Snapshot::take();
    let Some(row) = (contestant.run)()? else { return Ok(None) };
    let interval = before.elapsed();
    match contestant.expected {
        Some(expected) if expected != row.checksum => {
            Err(format!("wrong result: expected checksum {expected:#x}, got {:#x}", row.checksum))
        }
        _ => {
            let disturbance = interval.disturbance(threads);
            Ok(Some(Record { contestant: contestant.name, round, kept: false, disturbance, row, interval }))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULES: Rules = Rules { runs: 3, threads: 1 };

    #[test]
    fn contestants_take_turns() {
        let run = || Ok(Some(Row::new(1.0, 7)));
        let contestants = ["a", "b"].map(|name| Contestant::new(name, Role::Peer, 1, run).expecting(7));
        let order: Vec<_> =
            race(contestants.into(), RULES, &mut Vec::new()).iter().map(|r| r.contestant).collect();
        assert_eq!(order, ["a", "b", "a", "b", "a", "b"]);
    }

    #[test]
    fn a_wrong_result_is_an_error_and_excludes_the_contestant() {
        let mut checksums = [7, 8, 7].into_iter();
        let run = move || Ok(Some(Row::new(1.0, checksums.next().unwrap())));
        let mut errors = Vec::new();
        let records = race(vec![Contestant::new("a", Role::Peer, 1, run).expecting(7)], RULES, &mut errors);
        assert!(records.is_empty());
        assert_eq!(errors.len(), 1);
    }
}
