//! A region as numbers: its nodes from 0, and the channels inside it.

use super::net::Line;
use std::ops::Range;

/// A region.
pub(super) struct Part {
    /// Its nodes' places in the graph.
    pub nodes: Vec<usize>,
    /// How often each fires in a steady state.
    pub repetitions: Vec<u64>,
    /// For each node, whether its first firing is another than the others.
    pub prework: Vec<bool>,
    /// The channels inside; ends are places in `nodes`.
    pub lines: Vec<Line>,
    /// For each node the lines it takes from.
    pub into: Vec<Vec<usize>>,
    /// For each node the lines it gives to.
    pub out: Vec<Vec<usize>>,
    /// What is scheduled as one, in data-flow order: nodes alone, and all that a way back spans.
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

    /// Whether a unit is gone round, not just fired.
    pub fn is_loop(&self, unit: &Range<usize>) -> bool {
        unit.len() > 1
    }

    /// The lines that its nodes take from or give to.
    pub fn lines_of(&self, unit: &Range<usize>) -> Vec<usize> {
        let mut lines: Vec<usize> =
            unit.clone().flat_map(|node| self.into[node].iter().chain(&self.out[node])).copied().collect();
        lines.sort_unstable();
        lines.dedup();
        lines
    }

    /// The ways back in a unit, the shortest first.
    pub fn ways_back(&self, unit: &Range<usize>) -> Vec<usize> {
        let mut ways: Vec<usize> = (0..self.lines.len())
            .filter(|place| self.lines[*place].back && unit.contains(&self.lines[*place].to))
            .collect();
        ways.sort_by_key(|place| self.lines[*place].from - self.lines[*place].to);
        ways
    }
}

/// Nodes stand in data-flow order, so that a way back spans its loop.
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
