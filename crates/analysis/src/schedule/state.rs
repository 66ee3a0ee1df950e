//! Simulation by item counts: finds phases that reach a given number of firings of each node.
//!
//! Counts of items saturate. A channel that reaches 2^64 items is refused, since its buffer would be too large.

use super::Phase;
use super::part::Part;
use crate::rates::Rates;
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
    pub(super) part: &'a Part,
    pub(super) fired: Vec<u128>,
    pub(super) held: Vec<u128>,
    /// The maximum of items on each line.
    pub(super) most: Vec<u128>,
}

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
        self.held[line].saturating_sub(self.part.lines[line].rates.extra().into())
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

    pub(super) fn phase(&self, node: usize, count: u64) -> Phase {
        Phase::Fire(self.part.nodes[node], count)
    }

    /// The number of firings that a node can execute now, up to `want`.
    pub fn possible_firings(&self, node: usize, want: u64) -> u64 {
        self.part.into(node).map(|line| self.possible_firings_by(node, line)).fold(want, u64::min)
    }

    fn possible_firings_by(&self, node: usize, line: usize) -> u64 {
        let (held, rates) = (self.held[line], &self.part.lines[line].rates);
        let (pop, peek) = (u128::from(rates.pop.later), u128::from(rates.peek.later));
        let later = |held: u128| match held.checked_sub(peek) {
            None => 0,
            Some(_) if pop == 0 => u64::MAX,
            Some(spare) => u64::try_from(spare / pop + 1).unwrap_or(u64::MAX),
        };
        if self.fired[node] > 0 {
            later(held)
        } else if held < u128::from(rates.peek.first) {
            0
        } else {
            later(held - u128::from(rates.pop.first)).saturating_add(1)
        }
    }

    /// Items required for `count` firings.
    pub(super) fn needed(&self, node: usize, line: usize, count: u64) -> u128 {
        let (begun, Rates { pop, peek, .. }) = (self.fired[node] > 0, self.part.lines[line].rates);
        let first = if begun { 0 } else { u128::from(peek.first) };
        let last =
            if !begun && count == 1 { 0 } else { pop.moved(begun, count - 1) + u128::from(peek.later) };
        first.max(last)
    }

    /// Fires a node.
    pub fn fire(&mut self, node: usize, count: u64) {
        let begun = self.fired[node] > 0;
        for line in self.part.into(node) {
            self.held[line] -= self.part.lines[line].rates.pop.moved(begun, count);
        }
        for line in self.part.out(node) {
            let pushed = self.part.lines[line].rates.push.moved(begun, count);
            self.held[line] = self.held[line].saturating_add(pushed);
            self.most[line] = self.most[line].max(self.held[line]);
        }
        self.fired[node] += u128::from(count);
    }

    /// The feedback line on which nodes of a unit wait for each other: follows each waiting node to the node that
    /// it waits for, until one repeats.
    pub(super) fn blocking_feedback(&self, unit: &Range<usize>, left: &[u64]) -> Stuck {
        let Some(mut node) = unit.clone().find(|node| left[*node] > 0) else {
            return Stuck::TooLong(unit.start);
        };
        let mut seen = vec![usize::MAX; unit.len()];
        let mut path = Vec::new();
        while seen[node - unit.start] == usize::MAX {
            seen[node - unit.start] = path.len();
            let lacking = self.part.into(node).find(|line| self.possible_firings_by(node, *line) == 0);
            let Some(line) = lacking.filter(|line| unit.contains(&self.part.lines[*line].from)) else {
                break;
            };
            path.push(line);
            node = self.part.lines[line].from;
        }
        let round = seen[node - unit.start].min(path.len());
        let back = path[round..].iter().find(|line| self.part.lines[**line].is_back()).copied();
        let back = back.or_else(|| self.part.feedback_lines(unit).first().copied());
        back.map_or(Stuck::TooLong(unit.start), Stuck::Loop)
    }
}
