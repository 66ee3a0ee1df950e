//! Contestants take turns: one run each, round after round, so that all see the same machine.

use crate::quiet::{Interval, LIMIT, Snapshot};
use crate::row::Row;

/// What a contestant is to the figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// This engine.
    Ours,
    /// Another system that does the same.
    Peer,
    /// Another system that reaches the same result by something we do not allow ourselves: shown, never best.
    Aside,
    /// No system: the time that others are measured against.
    Yardstick,
}

/// A run: its row, nothing if this contestant cannot do the job, or what went wrong.
pub type Outcome = Result<Option<Row>, String>;

/// Somebody who takes part.
pub struct Contestant<'a> {
    /// A name, unique in its figure.
    pub name: &'static str,
    /// What it is to the figure.
    pub role: Role,
    /// Items of one run, by which time is divided where the figure is a cost per item.
    pub items: u64,
    /// Whose time is divided by this one's, where the figure is a ratio of times.
    pub yardstick: &'static str,
    /// The right checksum, where known.
    pub expected: Option<u64>,
    /// One run.
    pub run: Box<dyn FnMut() -> Outcome + 'a>,
}

impl<'a> Contestant<'a> {
    /// A contestant that is measured against `split` and whose checksum nobody knows.
    pub fn new(name: &'static str, role: Role, items: u64, run: impl FnMut() -> Outcome + 'a) -> Self {
        Self { name, role, items, yardstick: "split", expected: None, run: Box::new(run) }
    }

    /// The same with the checksum that every run must give.
    pub fn expecting(mut self, checksum: u64) -> Self {
        self.expected = Some(checksum);
        self
    }

    /// The same, measured against another yardstick.
    pub fn against(mut self, yardstick: &'static str) -> Self {
        self.yardstick = yardstick;
        self
    }
}

/// A run as it was measured.
#[derive(Clone, Debug)]
pub struct Record {
    /// Who ran.
    pub contestant: &'static str,
    /// In which round.
    pub round: usize,
    /// Whether the run counts.
    pub kept: bool,
    /// The larger share of foreign or stolen time.
    pub disturbance: f64,
    /// Time and checksum.
    pub row: Row,
    /// All clocks.
    pub interval: Interval,
}

/// How a race is run.
#[derive(Clone, Copy, Debug)]
pub struct Rules {
    /// Rounds.
    pub runs: usize,
    /// Threads that a contestant uses: a disturbance is a share of their time.
    pub threads: usize,
}

/// Times one run may be repeated.
const RETRIES: usize = 3;

/// Seconds of discarded runs that a race can always afford.
const PATIENCE: f64 = 0.5;

/// Seconds spent on runs that count and on runs that do not: repeating stops when too much is lost.
#[derive(Default)]
struct Spent {
    kept: f64,
    lost: f64,
}

impl Spent {
    fn affords(&self, seconds: f64) -> bool {
        self.lost + seconds <= self.kept / 2.0 + PATIENCE
    }
}

/// Runs the race. Who cannot take part, or gives a wrong answer (then noted in `errors`), is left out.
pub fn race(mut contestants: Vec<Contestant>, rules: Rules, errors: &mut Vec<String>) -> Vec<Record> {
    let (mut records, mut spent) = (Vec::new(), Spent::default());
    for round in 0..rules.runs {
        contestants.retain_mut(|contestant| match quiet_run(contestant, round, rules, &mut spent) {
            Ok(rows) => {
                let takes_part = !rows.is_empty();
                records.extend(rows);
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

/// Repeats a run until the machine was quiet or patience is spent; the calmest of the runs is kept.
fn quiet_run(
    who: &mut Contestant,
    round: usize,
    rules: Rules,
    spent: &mut Spent,
) -> Result<Vec<Record>, String> {
    let mut records = Vec::new();
    for attempt in 0..=RETRIES {
        let Some(record) = one_run(who, round, rules.threads)? else { break };
        let (quiet, seconds) = (record.disturbance <= LIMIT, record.interval.wall);
        records.push(record);
        if quiet || attempt == RETRIES || !spent.affords(seconds) {
            spent.kept += seconds;
            break;
        }
        spent.lost += seconds;
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    if let Some(calmest) = records.iter_mut().min_by(|a, b| a.disturbance.total_cmp(&b.disturbance)) {
        calmest.kept = true;
    }
    Ok(records)
}

fn one_run(who: &mut Contestant, round: usize, threads: usize) -> Result<Option<Record>, String> {
    let before = Snapshot::take();
    let Some(row) = (who.run)()? else { return Ok(None) };
    let interval = before.elapsed();
    match who.expected {
        Some(right) if right != row.checksum => {
            Err(format!("wrong answer: checksum {:#x}, not {right:#x}", row.checksum))
        }
        _ => {
            let disturbance = interval.disturbance(threads);
            Ok(Some(Record { contestant: who.name, round, kept: false, disturbance, row, interval }))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULES: Rules = Rules { runs: 3, threads: 1 };

    #[test]
    fn contestants_take_turns() {
        let run = || Ok(Some(Row { seconds: 1.0, checksum: 7 }));
        let contestants = ["a", "b"].map(|name| Contestant::new(name, Role::Peer, 1, run).expecting(7));
        let order: Vec<_> =
            race(contestants.into(), RULES, &mut Vec::new()).iter().map(|r| r.contestant).collect();
        assert_eq!(order, ["a", "b", "a", "b", "a", "b"]);
    }

    #[test]
    fn a_wrong_answer_is_an_error_and_leaves_nothing() {
        let mut answers = [7, 8, 7].into_iter();
        let run = move || Ok(Some(Row { seconds: 1.0, checksum: answers.next().unwrap() }));
        let mut errors = Vec::new();
        let records = race(vec![Contestant::new("a", Role::Peer, 1, run).expecting(7)], RULES, &mut errors);
        assert!(records.is_empty());
        assert_eq!(errors.len(), 1);
    }
}
