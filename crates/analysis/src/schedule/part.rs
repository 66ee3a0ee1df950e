//! A region as numbers: its nodes, numbered from 0 in data-flow order, and the channels inside it.

use crate::groups::Groups;
use crate::rates::Rates;
use std::ops::Range;
use thalweg_graph::{ChannelId, NodeId};

/// A channel inside a region.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Line {
    pub id: ChannelId,
    /// The places of its ends in the region.
    pub from: usize,
    pub to: usize,
    pub rates: Rates,
    pub initial: u64,
}

impl Line {
    /// Whether it is a feedback channel.
    pub fn is_back(&self) -> bool {
        self.from >= self.to
    }
}

/// A region.
pub(super) struct Part {
    pub nodes: Vec<NodeId>,
    /// Firings of each node in a steady state.
    pub repetitions: Vec<u64>,
    /// For each node, whether its first firing differs from the others.
    pub prework: Vec<bool>,
    /// The channels inside; ends are indices into `nodes`.
    pub lines: Vec<Line>,
    /// The input lines of each node.
    into: Groups<u32>,
    /// The output lines of each node.
    out: Groups<u32>,
    /// Units of scheduling in data-flow order: single nodes, and ranges spanned by feedback lines.
    pub units: Vec<Range<usize>>,
}

impl Part {
    pub fn new(nodes: Vec<NodeId>, repetitions: Vec<u64>, prework: Vec<bool>, lines: Vec<Line>) -> Part {
        let places = lines.iter().zip(0..);
        let into = Groups::new(nodes.len(), places.clone().map(|(line, place)| (line.to, place)));
        let out = Groups::new(nodes.len(), places.map(|(line, place)| (line.from, place)));
        let units = units(nodes.len(), &lines);
        Part { nodes, repetitions, prework, lines, into, out, units }
    }

    /// The input lines of a node, as indices.
    pub fn into(&self, node: usize) -> impl Iterator<Item = usize> + Clone {
        self.into.of(node).iter().map(|line| *line as usize)
    }

    /// The output lines of a node, as indices.
    pub fn out(&self, node: usize) -> impl Iterator<Item = usize> + Clone {
        self.out.of(node).iter().map(|line| *line as usize)
    }

    /// Whether a unit is a loop.
    pub fn is_loop(&self, unit: &Range<usize>) -> bool {
        unit.len() > 1 || self.out(unit.start).any(|line| self.lines[line].is_back())
    }

    /// The input and output lines of a unit's nodes.
    pub fn lines_of(&self, unit: &Range<usize>) -> Vec<usize> {
        let mut lines: Vec<usize> =
            unit.clone().flat_map(|node| self.into(node).chain(self.out(node))).collect();
        lines.sort_unstable();
        lines.dedup();
        lines
    }

    /// The feedback lines in a unit, shortest first.
    pub fn feedback_lines(&self, unit: &Range<usize>) -> Vec<usize> {
        let mut feedback: Vec<usize> = (0..self.lines.len())
            .filter(|place| self.lines[*place].is_back() && unit.contains(&self.lines[*place].to))
            .collect();
        feedback.sort_by_key(|place| self.lines[*place].from - self.lines[*place].to);
        feedback
    }
}

/// Units of scheduling. Nodes are in data-flow order, so a feedback line spans its loop.
fn units(count: usize, lines: &[Line]) -> Vec<Range<usize>> {
    let mut last: Vec<usize> = (0..count).collect();
    for line in lines.iter().filter(|line| line.is_back()) {
        last[line.to] = last[line.to].max(line.from);
    }
    let mut units = Vec::new();
    let mut start = 0;
    while start < count {
        let (mut end, mut node) = (last[start], start);
        while node < end {
            node += 1;
            end = end.max(last[node]);
        }
        units.push(start..end + 1);
        start = end + 1;
    }
    units
}
