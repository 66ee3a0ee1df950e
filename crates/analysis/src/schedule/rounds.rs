//! The phases of a loop.
//!
//! A node outside loops fires all its firings in one phase. A loop runs in rounds: each of its nodes fires as
//! often as it can and must, in order, until all are done (class-S algorithms: Lee and Messerschmitt, "Static
//! scheduling of synchronous data flow programs", 1987). A round is repeated in one step as often as its channels
//! permit, and so is a sequence of rounds that restores the state of the loop; so long loops take few steps.

use super::Phase;
use super::state::{State, Stuck};
use std::ops::Range;

/// The limit of rounds of one loop; a longer schedule is useless.
const MAX_ROUNDS: usize = 1 << 14;

impl State<'_> {
    pub(super) fn run_loop(
        &mut self,
        unit: &Range<usize>,
        left: &mut [u64],
        phases: &mut Vec<Phase>,
    ) -> Result<(), Stuck> {
        let lines = self.part.lines_of(unit);
        let mut mark = self.mark(unit, &lines, phases.len());
        let mut distance = 1;
        for _ in 0..MAX_ROUNDS {
            let mut round = self.round(unit, &lines, left);
            if round.fires.is_empty() {
                let done = unit.clone().all(|node| left[node] == 0);
                return if done { Ok(()) } else { Err(self.blocking_feedback(unit, left)) };
            }
            let more = self.repeat(&mut round, &lines, left);
            self.note(&round, more, phases);
            mark.rounds.add(&round);
            mark.count += 1;
            if self.is_state_of(unit, &lines, &mark) {
                mark.rounds.fires = self.fired_since(unit, &mark);
                let more = self.repeat(&mut mark.rounds, &lines, left);
                if more > 0 {
                    let several = phases.split_off(mark.phases);
                    phases.push(Phase::Repeat(more + 1, several));
                    mark = self.mark(unit, &lines, phases.len());
                }
            }
            // Doubling the distance between marks finds any period (Brent, 1980).
            if mark.count == distance {
                distance *= 2;
                mark = self.mark(unit, &lines, phases.len());
            }
        }
        Err(Stuck::TooLong(unit.start))
    }

    fn note(&self, round: &Round, more: u64, phases: &mut Vec<Phase>) {
        let fires = round.fires.iter().map(|(node, count)| self.phase(*node, *count));
        if more == 0 {
            phases.extend(fires);
        } else {
            phases.push(Phase::Repeat(more + 1, fires.collect()));
        }
    }

    fn mark(&self, unit: &Range<usize>, lines: &[usize], phases: usize) -> Mark {
        Mark { phases, count: 0, fired: self.fired[unit.clone()].to_vec(), rounds: self.start(lines) }
    }

    /// Whether the loop is in the state of a mark; its inputs and outputs may differ.
    fn is_state_of(&self, unit: &Range<usize>, lines: &[usize], mark: &Mark) -> bool {
        mark.count > 1
            && lines.iter().zip(&mark.rounds.before).all(|(line, before)| {
                let (from, to) = (self.part.lines[*line].from, self.part.lines[*line].to);
                !(unit.contains(&from) && unit.contains(&to)) || self.held[*line] == *before
            })
    }

    fn fired_since(&self, unit: &Range<usize>, mark: &Mark) -> Vec<(usize, u64)> {
        // The difference is at most the number of firings that were left.
        let since = |(node, before): (usize, &u128)| (node, (self.fired[node] - before) as u64);
        unit.clone().zip(&mark.fired).map(since).filter(|(_, count)| *count > 0).collect()
    }

    /// A round without firings yet.
    fn start(&self, lines: &[usize]) -> Round {
        let before: Vec<u128> = lines.iter().map(|line| self.held[*line]).collect();
        Round { slack: before.clone(), most: before.clone(), before, fires: Vec::new(), same: true }
    }

    /// Fires each node once, as often as it can.
    fn round(&mut self, unit: &Range<usize>, lines: &[usize], left: &mut [u64]) -> Round {
        let mut round = self.start(lines);
        for node in unit.clone() {
            let count = self.possible_firings(node, left[node]);
            if count == 0 {
                continue;
            }
            round.same &= self.fired[node] > 0 || !self.part.prework[node];
            for line in self.part.into(node) {
                let place = round.place(lines, line);
                round.slack[place] = self.held[line] - self.needed(node, line, count);
            }
            self.fire(node, count);
            for line in self.part.out(node) {
                let place = round.place(lines, line);
                round.most[place] = round.most[place].max(self.held[line]);
            }
            left[node] -= count;
            round.fires.push((node, count));
        }
        round
    }

    /// Repeats the rounds just executed as often as possible; returns the number of repetitions.
    fn repeat(&mut self, round: &mut Round, lines: &[usize], left: &mut [u64]) -> u64 {
        let mut times = round.fires.iter().map(|(node, count)| left[*node] / count).min().unwrap_or(0);
        if !round.same {
            return 0;
        }
        for (place, line) in lines.iter().enumerate() {
            let lost = round.before[place].saturating_sub(self.held[*line]);
            // Each repetition reduces the slack by the loss of one round.
            let rounds = round.slack[place].checked_div(lost).map(u64::try_from);
            if let Some(Ok(rounds)) = rounds {
                times = times.min(rounds);
            }
        }
        for (place, line) in lines.iter().enumerate() {
            let (before, after) = (round.before[place], self.held[*line]);
            let gained = after.saturating_sub(before).saturating_mul(times.into());
            let lost = before.saturating_sub(after) * u128::from(times);
            round.most[place] = round.most[place].saturating_add(gained);
            round.slack[place] -= lost;
            self.most[*line] = self.most[*line].max(round.most[place]);
            self.held[*line] = after.saturating_add(gained) - lost;
        }
        for (node, count) in &round.fires {
            self.fired[*node] += u128::from(count * times);
            left[*node] -= count * times;
        }
        times
    }
}

/// One or more rounds of a loop; vectors are in the order of its lines.
struct Round {
    fires: Vec<(usize, u64)>,
    before: Vec<u128>,
    /// The minimum of unneeded items.
    slack: Vec<u128>,
    most: Vec<u128>,
    /// Whether it contains no first firing with its own rates.
    same: bool,
}

impl Round {
    fn place(&self, lines: &[usize], line: usize) -> usize {
        lines.binary_search(&line).unwrap_or(0)
    }

    /// Appends another round.
    fn add(&mut self, round: &Round) {
        self.same &= round.same;
        self.slack.iter_mut().zip(&round.slack).for_each(|(all, one)| *all = (*all).min(*one));
        self.most.iter_mut().zip(&round.most).for_each(|(all, one)| *all = (*all).max(*one));
    }
}

/// The start of rounds that may be repeated together.
struct Mark {
    /// The number of phases at the start.
    phases: usize,
    /// Rounds since the start.
    count: usize,
    fired: Vec<u128>,
    rounds: Round,
}
