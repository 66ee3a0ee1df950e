//! A region as numbers: its nodes, numbered from 0, and the channels inside it.

use super::net::Line;
use std::ops::Range;

/// A region.
pub(super) struct Part {
    /// Indices of its nodes in the graph.
    pub nodes: Vec<usize>,
    /// Firings of each node in a steady state.
    pub repetitions: Vec<u64>,
    /// For each node, whether its first firing differs from the others.
    pub prework: Vec<bool>,
    /// The channels inside; ends are indices into `nodes`.
    pub lines: Vec<Line>,
    /// For each node, its input lines.
    pub into: Vec<Vec<usize>>,
    /// For each node, its output lines.
    pub out: Vec<Vec<usize>>,
    /// Units of scheduling in data-flow order: single nodes, and ranges spanned by feedback lines.
    pub units: Vec<Range<usize>>,
}

impl Part {
    pub fn new(nodes: Vec<usize>, repetitions: Vec<u64>, prework: Vec<bool>, lines: Vec<Line>) -> Part {
        let (mut into, mut out) = (vec![Vec::new(); nodes.len()], vec![Vec::new(); nodes.len()]);
        for (place, line) in lines.iter().enumerate() {
            into[line.to].push(place);
            out[line.from].push(place);
        }
        let units = units(nodes.len(), &lines);
        Part { nodes, repetitions, prework, lines, into, out, units }
    }

    /// Whether a unit is a loop.
    pub fn is_loop(&self, unit: &Range<usize>) -> bool {
        unit.len() > 1
    }

    /// The input and output lines of a unit's nodes.
    pub fn lines_of(&self, unit: &Range<usize>) -> Vec<usize> {
        let mut lines: Vec<usize> =
            unit.clone().flat_map(|node| self.into[node].iter().chain(&self.out[node])).copied().collect();
        lines.sort_unstable();
        lines.dedup();
        lines
    }

    /// The feedback lines in a unit, shortest first.
    pub fn feedback_lines(&self, unit: &Range<usize>) -> Vec<usize> {
        let mut feedback: Vec<usize> = (0..self.lines.len())
            .filter(|place| self.lines[*place].back && unit.contains(&self.lines[*place].to))
            .collect();
        feedback.sort_by_key(|place| self.lines[*place].from - self.lines[*place].to);
        feedback
    }
}

/// Units of scheduling. Nodes are in data-flow order, so a feedback line spans its loop.
fn units(count: usize, lines: &[Line]) -> Vec<Range<usize>> {
    let mut last: Vec<usize> = (0..count).collect();
    for line in lines.iter().filter(|line| line.back) {
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
