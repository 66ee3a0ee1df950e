//! Simulation by item counts: finds phases that reach a given number of firings of each node.
//!
//! A node outside loops fires all its firings in one phase. A loop runs in rounds: each of its nodes fires as
//! often as it can and must, in order, until all are done (class-S algorithms: Lee and Messerschmitt, "Static
//! scheduling of synchronous data flow programs", 1987). A round is repeated in one step as often as its channels
//! permit, and so is a sequence of rounds that restores the state of the loop; so long loops take few steps.

use super::Phase;
use super::net::Line;
use super::part::Part;
use crate::flat::NodeId;
use std::ops::Range;

/// Why no schedule exists or was found.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Stuck {
    /// Nodes around a loop wait for each other; the feedback line.
    Loop(usize),
    /// The schedule is too long; a node in it.
    TooLong(usize),
}

/// Firings and item counts during the simulation.
#[derive(Clone)]
pub(super) struct State<'a> {
    part: &'a Part,
    fired: Vec<u128>,
    held: Vec<u128>,
    /// The maximum of items on each line.
    most: Vec<u128>,
}

/// The limit of rounds of one loop; a longer schedule is useless.
const MAX_ROUNDS: usize = 1 << 14;

impl<'a> State<'a> {
    /// The initial state.
    pub fn new(part: &'a Part) -> State<'a> {
        let held: Vec<u128> = part.lines.iter().map(|line| line.initial.into()).collect();
        State { part, fired: vec![0; part.nodes.len()], most: held.clone(), held }
    }

    pub fn most(&self) -> &[u128] {
        &self.most
    }

    /// Items on a line beyond those that must remain.
    pub fn spare(&self, line: usize) -> u128 {
        self.held[line].saturating_sub(self.part.lines[line].extra().into())
    }

    /// Fires each node `counts` more times.
    ///
    /// # Errors
    /// A loop with too few items.
    pub fn fire_all(&mut self, counts: &[u64]) -> Result<Vec<Phase>, Stuck> {
        let mut left = counts.to_vec();
        let mut phases = Vec::new();
        for unit in &self.part.units {
            if self.part.is_loop(unit) {
                self.run_loop(unit, &mut left, &mut phases)?;
            } else if left[unit.start] > 0 {
                let (node, count) = (unit.start, left[unit.start]);
                if self.possible_firings(node, count) < count {
                    return Err(self.blocking_feedback(unit, &left));
                }
                self.fire(node, count);
                phases.push(self.phase(node, count));
            }
        }
        Ok(phases)
    }

    fn phase(&self, node: usize, count: u64) -> Phase {
        Phase::Fire(NodeId(self.part.nodes[node] as u32), count)
    }

    fn run_loop(
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
                let Line { from, to, .. } = self.part.lines[*line];
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
            for line in &self.part.into[node] {
                let place = round.place(lines, *line);
                round.slack[place] = self.held[*line] - self.needed(node, *line, count);
            }
            self.fire(node, count);
            for line in &self.part.out[node] {
                let place = round.place(lines, *line);
                round.most[place] = round.most[place].max(self.held[*line]);
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
            let gained = after.saturating_sub(before) * u128::from(times);
            let lost = before.saturating_sub(after) * u128::from(times);
            round.most[place] += gained;
            round.slack[place] -= lost;
            self.most[*line] = self.most[*line].max(round.most[place]);
            self.held[*line] = after + gained - lost;
        }
        for (node, count) in &round.fires {
            self.fired[*node] += u128::from(count * times);
            left[*node] -= count * times;
        }
        times
    }

    /// The number of firings that a node can execute now, up to `want`.
    pub fn possible_firings(&self, node: usize, want: u64) -> u64 {
        let lines = self.part.into[node].iter();
        lines.map(|line| self.possible_firings_by(node, *line)).fold(want, u64::min)
    }

    fn possible_firings_by(&self, node: usize, line: usize) -> u64 {
        let (held, line) = (self.held[line], &self.part.lines[line]);
        let (pop, peek) = (u128::from(line.pop.later), u128::from(line.peek.later));
        let later = |held: u128| match held.checked_sub(peek) {
            None => 0,
            Some(_) if pop == 0 => u64::MAX,
            Some(spare) => u64::try_from(spare / pop + 1).unwrap_or(u64::MAX),
        };
        if self.fired[node] > 0 {
            later(held)
        } else if held < u128::from(line.peek.first) {
            0
        } else {
            later(held - u128::from(line.pop.first)).saturating_add(1)
        }
    }

    /// Items required for `count` firings.
    fn needed(&self, node: usize, line: usize, count: u64) -> u128 {
        let (begun, line) = (self.fired[node] > 0, &self.part.lines[line]);
        let first = if begun { 0 } else { u128::from(line.peek.first) };
        let last = if !begun && count == 1 {
            0
        } else {
            line.pop.moved(begun, count - 1) + u128::from(line.peek.later)
        };
        first.max(last)
    }

    /// Fires a node.
    pub fn fire(&mut self, node: usize, count: u64) {
        let begun = self.fired[node] > 0;
        for line in &self.part.into[node] {
            self.held[*line] -= self.part.lines[*line].pop.moved(begun, count);
        }
        for line in &self.part.out[node] {
            self.held[*line] += self.part.lines[*line].push.moved(begun, count);
            self.most[*line] = self.most[*line].max(self.held[*line]);
        }
        self.fired[node] += u128::from(count);
    }

    /// The feedback line on which nodes of a unit wait for each other: follows each waiting node to the node that
    /// it waits for, until one repeats.
    fn blocking_feedback(&self, unit: &Range<usize>, left: &[u64]) -> Stuck {
        let Some(mut node) = unit.clone().find(|node| left[*node] > 0) else {
            return Stuck::TooLong(unit.start);
        };
        let mut seen = vec![usize::MAX; unit.len()];
        let mut path = Vec::new();
        while seen[node - unit.start] == usize::MAX {
            seen[node - unit.start] = path.len();
            let lacking =
                self.part.into[node].iter().find(|line| self.possible_firings_by(node, **line) == 0);
            let Some(line) = lacking.filter(|line| unit.contains(&self.part.lines[**line].from)) else {
                break;
            };
            path.push(*line);
            node = self.part.lines[*line].from;
        }
        let round = seen[node - unit.start].min(path.len());
        let back = path[round..].iter().find(|line| self.part.lines[**line].back).copied();
        let back = back.or_else(|| self.part.feedback_lines(unit).first().copied());
        back.map_or(Stuck::TooLong(unit.start), Stuck::Loop)
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
