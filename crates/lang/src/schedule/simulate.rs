//! Firing by counts: who fires how often in one go, where the aim is a number of firings of each node.
//!
//! A node that is in no loop fires as often as it shall in one go. A loop is gone round: each of its nodes
//! fires as often as it can and shall, one after the other, until all have (class-S algorithms: Lee and
//! Messerschmitt, "Static scheduling of synchronous data flow programs", 1987). Such a round is repeated
//! in one step as often as its channels let it, and so are several rounds after which the loop is as it was
//! before them, so that long loops take few steps.

use super::Phase;
use super::net::Line;
use super::part::Part;
use crate::flat::NodeId;
use std::ops::Range;

/// Why a schedule does not exist, or is not found.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Stuck {
    /// Nodes round a loop wait for each other: the way back.
    Loop(usize),
    /// It would be too long: a node concerned.
    TooLong(usize),
}

/// How often nodes have fired, and what is where.
#[derive(Clone)]
pub(super) struct State<'a> {
    part: &'a Part,
    fired: Vec<u64>,
    held: Vec<u128>,
    /// The most there was at a time.
    most: Vec<u128>,
}

/// Rounds of one loop after which a schedule is too long to be of use.
const MOST_ROUNDS: usize = 1 << 14;

impl<'a> State<'a> {
    /// Before anything runs.
    pub fn new(part: &'a Part) -> State<'a> {
        let held: Vec<u128> = part.lines.iter().map(|line| line.initial.into()).collect();
        State { part, fired: vec![0; part.nodes.len()], most: held.clone(), held }
    }

    pub fn most(&self) -> &[u128] {
        &self.most
    }

    /// Items on a line beyond what must stay there.
    pub fn spare(&self, line: usize) -> u128 {
        self.held[line].saturating_sub(self.part.lines[line].extra().into())
    }

    /// Fires each node so many times more.
    ///
    /// # Errors
    /// A loop with too few items.
    pub fn fire_all(&mut self, counts: &[u64]) -> Result<Vec<Phase>, Stuck> {
        let mut left = counts.to_vec();
        let mut phases = Vec::new();
        for unit in &self.part.units {
            if self.part.is_loop(unit) {
                self.go_round(unit, &mut left, &mut phases)?;
            } else if left[unit.start] > 0 {
                let (node, count) = (unit.start, left[unit.start]);
                if self.able(node, count) < count {
                    return Err(self.blame(unit, &left));
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

    fn go_round(
        &mut self,
        unit: &Range<usize>,
        left: &mut [u64],
        phases: &mut Vec<Phase>,
    ) -> Result<(), Stuck> {
        let lines = self.part.lines_of(unit);
        let mut mark = self.mark(unit, &lines, phases.len());
        let mut patience = 1;
        for _ in 0..MOST_ROUNDS {
            let mut round = self.round(unit, &lines, left);
            if round.fires.is_empty() {
                let done = unit.clone().all(|node| left[node] == 0);
                return if done { Ok(()) } else { Err(self.blame(unit, left)) };
            }
            let more = self.repeat(&mut round, &lines, left);
            self.note(&round, more, phases);
            mark.rounds.add(&round);
            mark.count += 1;
            if self.is_back(unit, &lines, &mark) {
                mark.rounds.fires = self.fired_since(unit, &mark);
                let more = self.repeat(&mut mark.rounds, &lines, left);
                if more > 0 {
                    let several = phases.split_off(mark.phases);
                    phases.push(Phase::Repeat(more + 1, several));
                    mark = self.mark(unit, &lines, phases.len());
                }
            }
            // Marks twice as far apart each time find any period (Brent, 1980).
            if mark.count == patience {
                patience *= 2;
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

    /// Whether the loop is as it was at a mark; what is before and after it may not be.
    fn is_back(&self, unit: &Range<usize>, lines: &[usize], mark: &Mark) -> bool {
        mark.count > 1
            && lines.iter().zip(&mark.rounds.before).all(|(line, before)| {
                let Line { from, to, .. } = self.part.lines[*line];
                !(unit.contains(&from) && unit.contains(&to)) || self.held[*line] == *before
            })
    }

    fn fired_since(&self, unit: &Range<usize>, mark: &Mark) -> Vec<(usize, u64)> {
        let since = |(node, before): (usize, &u64)| (node, self.fired[node] - before);
        unit.clone().zip(&mark.fired).map(since).filter(|(_, count)| *count > 0).collect()
    }

    /// A round in which nothing has been fired yet.
    fn start(&self, lines: &[usize]) -> Round {
        let before: Vec<u128> = lines.iter().map(|line| self.held[*line]).collect();
        Round { slack: before.clone(), most: before.clone(), before, fires: Vec::new(), same: true }
    }

    /// Each node once, as often as it can.
    fn round(&mut self, unit: &Range<usize>, lines: &[usize], left: &mut [u64]) -> Round {
        let mut round = self.start(lines);
        for node in unit.clone() {
            let count = self.able(node, left[node]);
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

    /// Repeats rounds just gone as often as it can be done, and says how often.
    fn repeat(&mut self, round: &mut Round, lines: &[usize], left: &mut [u64]) -> u64 {
        let mut times = round.fires.iter().map(|(node, count)| left[*node] / count).min().unwrap_or(0);
        if !round.same {
            return 0;
        }
        for (place, line) in lines.iter().enumerate() {
            let lost = round.before[place].saturating_sub(self.held[*line]);
            // Each time there are fewer to spare by what is lost at one.
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
            self.fired[*node] += count * times;
            left[*node] -= count * times;
        }
        times
    }

    /// How often a node can fire now, up to a number.
    pub fn able(&self, node: usize, want: u64) -> u64 {
        let lines = self.part.into[node].iter();
        lines.map(|line| self.able_by(node, *line)).fold(want, u64::min)
    }

    fn able_by(&self, node: usize, line: usize) -> u64 {
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

    /// Items that must be there for so many firings.
    fn needed(&self, node: usize, line: usize, count: u64) -> u128 {
        let (fired, line) = (self.fired[node], &self.part.lines[line]);
        let taken = |firings: u64| line.pop.total(fired + firings) - line.pop.total(fired);
        let first = if fired == 0 { u128::from(line.peek.first) } else { 0 };
        let last = if fired == 0 && count == 1 { 0 } else { taken(count - 1) + u128::from(line.peek.later) };
        first.max(last)
    }

    /// Lets a node fire.
    pub fn fire(&mut self, node: usize, count: u64) {
        let (before, after) = (self.fired[node], self.fired[node] + count);
        for line in &self.part.into[node] {
            let pop = self.part.lines[*line].pop;
            self.held[*line] -= pop.total(after) - pop.total(before);
        }
        for line in &self.part.out[node] {
            let push = self.part.lines[*line].push;
            self.held[*line] += push.total(after) - push.total(before);
            self.most[*line] = self.most[*line].max(self.held[*line]);
        }
        self.fired[node] = after;
    }

    /// The way back on which nodes of a unit wait for each other: followed from one that waits to the
    /// one it waits for, until one comes again.
    fn blame(&self, unit: &Range<usize>, left: &[u64]) -> Stuck {
        let Some(mut node) = unit.clone().find(|node| left[*node] > 0) else {
            return Stuck::TooLong(unit.start);
        };
        let mut seen = vec![usize::MAX; unit.len()];
        let mut way = Vec::new();
        while seen[node - unit.start] == usize::MAX {
            seen[node - unit.start] = way.len();
            let lacking = self.part.into[node].iter().find(|line| self.able_by(node, **line) == 0);
            let Some(line) = lacking.filter(|line| unit.contains(&self.part.lines[**line].from)) else {
                break;
            };
            way.push(*line);
            node = self.part.lines[*line].from;
        }
        let round = seen[node - unit.start].min(way.len());
        let back = way[round..].iter().find(|line| self.part.lines[**line].back).copied();
        let back = back.or_else(|| self.part.ways_back(unit).first().copied());
        back.map_or(Stuck::TooLong(unit.start), Stuck::Loop)
    }
}

/// One or more rounds of a loop; what is said of lines is said in their order.
struct Round {
    fires: Vec<(usize, u64)>,
    before: Vec<u128>,
    /// Items that were not needed, where there were fewest.
    slack: Vec<u128>,
    most: Vec<u128>,
    /// No first firing was in it that is another than the others.
    same: bool,
}

impl Round {
    fn place(&self, lines: &[usize], line: usize) -> usize {
        lines.binary_search(&line).unwrap_or(0)
    }

    /// One more has been gone.
    fn add(&mut self, round: &Round) {
        self.same &= round.same;
        self.slack.iter_mut().zip(&round.slack).for_each(|(all, one)| *all = (*all).min(*one));
        self.most.iter_mut().zip(&round.most).for_each(|(all, one)| *all = (*all).max(*one));
    }
}

/// Where rounds began that may be repeated together.
struct Mark {
    /// How many phases there were.
    phases: usize,
    /// Rounds gone since.
    count: usize,
    fired: Vec<u64>,
    rounds: Round,
}
