//! Balance equations (Lee and Messerschmitt, "Synchronous data flow", 1987): the relative numbers of firings for
//! which every channel receives as many items as it delivers.
//!
//! They are solved before regions are cut, so nodes on both sides of a cut must balance too.

use super::net::{ChannelRates, DynamicLine, Line};
use super::node_error;
use super::ratio::{Ratio, whole};
use crate::Diagnostic;
use crate::flat::{Flat, NodeId, NodeKind};
use std::collections::{HashSet, VecDeque};

/// The solution: relative numbers of firings.
pub(super) struct Balance {
    /// The class of each node. Nodes of one class fire in proportion to each other.
    class: Vec<usize>,
    /// For each node, firings per firing of the first node of its class.
    ratio: Vec<Ratio>,
    /// For each class, whether its nodes never fire because no items reach them.
    dead: Vec<bool>,
}

impl Balance {
    /// Firings of some nodes in the shortest steady state. `None` if a number is 2^64 or more.
    pub fn repetitions(&self, nodes: &[usize]) -> Option<Vec<u64>> {
        let mut by_class: Vec<usize> = (0..nodes.len()).collect();
        by_class.sort_by_key(|place| self.class[nodes[*place]]);
        let mut counts = vec![0; nodes.len()];
        for places in by_class.chunk_by(|a, b| self.class[nodes[*a]] == self.class[nodes[*b]]) {
            if self.dead[self.class[nodes[places[0]]]] {
                continue;
            }
            let ratios: Vec<Ratio> = places.iter().map(|place| self.ratio[nodes[*place]]).collect();
            places.iter().zip(whole(&ratios)?).for_each(|(place, count)| counts[*place] = count);
        }
        Some(counts)
    }
}

/// Solves the equations of all static channels.
///
/// # Errors
/// One for each set of nodes with inconsistent rates.
pub(super) fn balance(
    flat: &Flat,
    channel_rates: &[ChannelRates],
    lines: &[Line],
) -> Result<Balance, Vec<Diagnostic>> {
    let mut solver = Solver::new(flat, lines);
    for node in 0..flat.nodes().len() {
        if solver.class[node] == NONE {
            solver.visit_class(node);
        }
    }
    solver.find_dead(channel_rates);
    let Solver { class, ratio, dead, errors, .. } = solver;
    if errors.is_empty() { Ok(Balance { class, ratio, dead }) } else { Err(errors) }
}

const NONE: usize = usize::MAX;

struct Solver<'a> {
    flat: &'a Flat,
    lines: &'a [Line],
    /// For each node, its lines that carry items.
    adjacent: Vec<Vec<usize>>,
    class: Vec<usize>,
    ratio: Vec<Ratio>,
    /// For each node, the node from which its ratio was derived.
    parent: Vec<usize>,
    dead: Vec<bool>,
    errors: Vec<Diagnostic>,
}

impl<'a> Solver<'a> {
    fn new(flat: &'a Flat, lines: &'a [Line]) -> Solver<'a> {
        let count = flat.nodes().len();
        let mut adjacent = vec![Vec::new(); count];
        for (place, line) in lines.iter().enumerate().filter(|(_, line)| moves(line)) {
            adjacent[line.from].push(place);
            adjacent[line.to].push(place);
        }
        let (class, parent) = (vec![NONE; count], vec![NONE; count]);
        let ratio = vec![Ratio::ONE; count];
        Solver { flat, lines, adjacent, class, ratio, parent, dead: Vec::new(), errors: Vec::new() }
    }

    /// Assigns one class to all nodes connected with `root`.
    fn visit_class(&mut self, root: usize) {
        let number = self.dead.len();
        self.dead.push(false);
        self.class[root] = number;
        let (mut queue, mut first) = (VecDeque::from([root]), None);
        while let Some(node) = queue.pop_front() {
            for place in 0..self.adjacent[node].len() {
                let line = self.lines[self.adjacent[node][place]];
                let out = line.from == node;
                let next = if out { line.to } else { line.from };
                let (times, by) = if out { (line.push, line.pop) } else { (line.pop, line.push) };
                let there = self.ratio[node].scale(times.later, by.later);
                match there {
                    Some(there) if self.class[next] == NONE => {
                        (self.class[next], self.ratio[next], self.parent[next]) = (number, there, node);
                        queue.push_back(next);
                    }
                    Some(there) if self.ratio[next] == there => {}
                    Some(_) => first = first.or(Some((line, false))),
                    None if self.class[next] == NONE => {
                        // One error per connected set is enough.
                        (self.class[next], self.parent[next]) = (number, node);
                        queue.push_back(next);
                        first = first.or(Some((line, true)));
                    }
                    None => first = first.or(Some((line, true))),
                }
            }
        }
        if let Some((line, too_large)) = first {
            let error = if too_large { too_many_firings(self.flat, line.to) } else { self.unbalanced(&line) };
            self.errors.push(error);
        }
    }

    /// The error for two paths that require different numbers of firings.
    fn unbalanced(&self, line: &Line) -> Diagnostic {
        let (a, b) = (self.name(line.from), self.name(line.to));
        let counts = whole(&[self.ratio[line.from], self.ratio[line.to]]);
        let (from, to) = counts.map_or((0, 0), |counts| (counts[0], counts[1]));
        let (push, pop) = (line.push.later, line.pop.later);
        let (given, taken) = (u128::from(from) * u128::from(push), u128::from(to) * u128::from(pop));
        let message = format!(
            "rates do not balance between `{a}` and `{b}`: `{a}` fires {from} time{} and pushes \
             {given} item{} ({push} each), but `{b}` fires {to} time{} and pops {taken} ({pop} each)",
            plural(from.into()),
            plural(given),
            plural(to.into()),
        );
        let hint = format!(
            "the numbers of firings follow from the other path: {}; change a rate or a weight on one of the two paths",
            self.path(line.from, line.to)
        );
        node_error(self.flat, line.from, message)
            .label(format!("`{a}`"))
            .other(self.flat.span(NodeId(line.to as u32)), format!("`{b}`"))
            .hint(hint)
    }

    /// The path along which the ratio of one node was derived from that of another.
    fn path(&self, from: usize, to: usize) -> String {
        let up = |mut node: usize| {
            let mut path = vec![node];
            while self.parent[node] != NONE {
                node = self.parent[node];
                path.push(node);
            }
            path
        };
        let (mut left, mut right) = (up(from), up(to));
        while left.len() > 1 && right.len() > 1 && left[left.len() - 2] == right[right.len() - 2] {
            left.pop();
            right.pop();
        }
        right.pop();
        left.extend(right.into_iter().rev());
        let names: Vec<String> = left.iter().map(|node| format!("`{}`", self.name(*node))).collect();
        match names.len() {
            0..=9 => names.join(", "),
            more => format!(
                "{}, ... ({} more), {}",
                names[..4].join(", "),
                more - 8,
                names[more - 4..].join(", ")
            ),
        }
    }

    /// Handles channels on which only one end moves items. A stream without input never fires; this is intended
    /// after and before a weight of 0, and an error elsewhere.
    fn find_dead(&mut self, channel_rates: &[ChannelRates]) {
        let lines = self.lines;
        let one_sided = |line: &&Line| (line.push.later == 0) != (line.pop.later == 0);
        let (starving, flooding): (Vec<&Line>, Vec<&Line>) =
            lines.iter().filter(one_sided).partition(|line| line.push.later == 0);
        let dynamic = |channel: &ChannelRates| {
            if let ChannelRates::Dynamic(dynamic) = channel { Some(*dynamic) } else { None }
        };
        let dynamic: Vec<DynamicLine> = channel_rates.iter().filter_map(dynamic).collect();
        let starved = starving.iter().map(|line| (line.from, line.to));
        let starved = starved.chain(dynamic.iter().filter(|it| !it.may_push).map(|it| (it.from, it.to)));
        self.mark_dead(starved.collect(), &dynamic);
        for line in flooding {
            let joins = matches!(self.flat.kind(NodeId(line.to as u32)), NodeKind::Join(_));
            if !(joins && self.dead[self.class[line.from]]) {
                self.errors.push(self.flooded(line));
            }
        }
    }

    /// Marks starved consumers as dead, and those that depend on them through dynamic rates.
    fn mark_dead(&mut self, starved: Vec<(usize, usize)>, dynamic: &[DynamicLine]) {
        let mut next: Vec<Vec<usize>> = vec![Vec::new(); self.dead.len()];
        for it in dynamic.iter().filter(|it| it.may_push && it.may_pop) {
            next[self.class[it.from]].push(self.class[it.to]);
        }
        for (from, to) in starved {
            let (producer, consumer) = (self.class[from], self.class[to]);
            let node = NodeId(from as u32);
            let by_weight =
                matches!(self.flat.kind(node), NodeKind::Split(_)) && !self.flat.node(node).inputs.is_empty();
            if !by_weight || reaches(&next, consumer, producer) {
                self.errors.push(self.starved(from, to));
            }
            self.dead[consumer] = true;
        }
        let mut queue: Vec<usize> = (0..self.dead.len()).filter(|class| self.dead[*class]).collect();
        while let Some(class) = queue.pop() {
            for next in &next[class] {
                if !std::mem::replace(&mut self.dead[*next], true) {
                    queue.push(*next);
                }
            }
        }
    }

    fn starved(&self, from: usize, to: usize) -> Diagnostic {
        let (a, b) = (self.name(from), self.name(to));
        let message = format!("`{b}` never receives items: it pops from `{a}`, which pushes none");
        node_error(self.flat, to, message).hint("use a weight or a push rate above 0, or the type `void`")
    }

    fn flooded(&self, line: &Line) -> Diagnostic {
        let (a, b, push) = (self.name(line.from), self.name(line.to), line.push.later);
        let message =
            format!("`{a}` pushes {push} item{} per firing, but `{b}` pops none", plural(push.into()));
        node_error(self.flat, line.from, message).hint("use a weight or a pop rate above 0, or push no items")
    }

    fn name(&self, node: usize) -> &str {
        &self.flat.nodes()[node].name
    }
}

/// Whether one class reaches another, or is it.
fn reaches(next: &[Vec<usize>], from: usize, to: usize) -> bool {
    let (mut seen, mut queue) = (HashSet::new(), vec![from]);
    while let Some(class) = queue.pop() {
        if class == to {
            return true;
        }
        if seen.insert(class) {
            queue.extend(&next[class]);
        }
    }
    false
}

/// Whether a line carries items.
fn moves(line: &Line) -> bool {
    line.push.later > 0 && line.pop.later > 0
}

/// The error for a node with too many firings.
pub(super) fn too_many_firings(flat: &Flat, node: usize) -> Diagnostic {
    let name = &flat.nodes()[node].name;
    let message = format!("`{name}` must fire 2^64 times or more in a steady state");
    node_error(flat, node, message).hint("choose rates and weights with larger common factors")
}

pub(super) fn plural(count: u128) -> &'static str {
    if count == 1 { "" } else { "s" }
}
