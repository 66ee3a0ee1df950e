//! Balance equations (Lee and Messerschmitt, "Synchronous data flow", 1987): how often each node fires
//! for each firing of another, so that every channel gets as many items as it gives.
//!
//! They are solved before regions are cut, so that what is on both sides of a cut must balance too.

use super::complaint;
use super::net::{Line, Loose, Wire};
use super::ratio::{Ratio, whole};
use crate::Diagnostic;
use crate::flat::{Flat, NodeKind};
use std::collections::{HashSet, VecDeque};

/// How often nodes fire.
pub(super) struct Balance {
    /// For each node, by the class of those that fire in proportion to each other.
    class: Vec<usize>,
    /// For each node, firings for one of its class's first.
    ratio: Vec<Ratio>,
    /// For each class, whether its nodes never fire, since nothing gets to them.
    dead: Vec<bool>,
}

impl Balance {
    /// Firings of some nodes in the shortest time after which channels are as they were. None where a
    /// number would be 2^64 or more.
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
/// One for each set of nodes whose rates do not go together.
pub(super) fn balance(flat: &Flat, wires: &[Wire], lines: &[Line]) -> Result<Balance, Vec<Diagnostic>> {
    let mut solver = Solver::new(flat, lines);
    for node in 0..flat.nodes.len() {
        if solver.class[node] == NONE {
            solver.spread(node);
        }
    }
    solver.find_dead(wires);
    let Solver { class, ratio, dead, errors, .. } = solver;
    if errors.is_empty() { Ok(Balance { class, ratio, dead }) } else { Err(errors) }
}

const NONE: usize = usize::MAX;

struct Solver<'a> {
    flat: &'a Flat,
    lines: &'a [Line],
    /// For each node its lines on which items move.
    near: Vec<Vec<usize>>,
    class: Vec<usize>,
    ratio: Vec<Ratio>,
    /// For each node the one it got its ratio from.
    parent: Vec<usize>,
    dead: Vec<bool>,
    errors: Vec<Diagnostic>,
}

impl<'a> Solver<'a> {
    fn new(flat: &'a Flat, lines: &'a [Line]) -> Solver<'a> {
        let count = flat.nodes.len();
        let mut near = vec![Vec::new(); count];
        for (place, line) in lines.iter().enumerate().filter(|(_, line)| moves(line)) {
            near[line.from].push(place);
            near[line.to].push(place);
        }
        let (class, parent) = (vec![NONE; count], vec![NONE; count]);
        let ratio = vec![Ratio::ONE; count];
        Solver { flat, lines, near, class, ratio, parent, dead: Vec::new(), errors: Vec::new() }
    }

    /// Makes a class of all that a node is connected with.
    fn spread(&mut self, root: usize) {
        let number = self.dead.len();
        self.dead.push(false);
        self.class[root] = number;
        let (mut queue, mut first) = (VecDeque::from([root]), None);
        while let Some(node) = queue.pop_front() {
            for place in 0..self.near[node].len() {
                let line = self.lines[self.near[node][place]];
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
                        // One error is enough for all that it is connected with.
                        (self.class[next], self.parent[next]) = (number, node);
                        queue.push_back(next);
                        first = first.or(Some((line, true)));
                    }
                    None => first = first.or(Some((line, true))),
                }
            }
        }
        if let Some((line, too_large)) = first {
            let error = if too_large { too_often(self.flat, line.to) } else { self.unbalanced(&line) };
            self.errors.push(error);
        }
    }

    /// Two ways round that want different numbers of firings.
    fn unbalanced(&self, line: &Line) -> Diagnostic {
        let (a, b) = (self.name(line.from), self.name(line.to));
        let counts = whole(&[self.ratio[line.from], self.ratio[line.to]]);
        let (from, to) = counts.map_or((0, 0), |counts| (counts[0], counts[1]));
        let (push, pop) = (line.push.later, line.pop.later);
        let (given, taken) = (u128::from(from) * u128::from(push), u128::from(to) * u128::from(pop));
        let message = format!(
            "rates do not balance between `{a}` and `{b}`: while `{a}` fires {from} time{} and gives \
             {given} item{} ({push} each), `{b}` fires {to} time{} and takes {taken} ({pop} each)",
            plural(from.into()),
            plural(given),
            plural(to.into()),
        );
        let hint = format!(
            "the other way round says how often they fire: {}; change a rate or a weight on one of the two ways",
            self.way(line.from, line.to)
        );
        complaint(self.flat, line.from, message)
            .label(format!("`{a}`"))
            .other(self.flat.nodes[line.to].span, format!("`{b}`"))
            .hint(hint)
    }

    /// The nodes by which a ratio came from one node to another.
    fn way(&self, from: usize, to: usize) -> String {
        let up = |mut node: usize| {
            let mut way = vec![node];
            while self.parent[node] != NONE {
                node = self.parent[node];
                way.push(node);
            }
            way
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

    /// Channels on which only one end moves items: a stream that gets none never fires, which is as it
    /// should be behind a weight of 0, and before one.
    fn find_dead(&mut self, wires: &[Wire]) {
        let lines = self.lines;
        let one_sided = |line: &&Line| (line.push.later == 0) != (line.pop.later == 0);
        let (starving, flooding): (Vec<&Line>, Vec<&Line>) =
            lines.iter().filter(one_sided).partition(|line| line.push.later == 0);
        let loose = |wire: &Wire| if let Wire::Dynamic(loose) = wire { Some(*loose) } else { None };
        let loose: Vec<Loose> = wires.iter().filter_map(loose).collect();
        let starved = starving.iter().map(|line| (line.from, line.to));
        let starved = starved.chain(loose.iter().filter(|it| !it.gives).map(|it| (it.from, it.to)));
        self.bury(starved.collect(), &loose);
        for line in flooding {
            let joins = matches!(self.flat.nodes[line.to].kind, NodeKind::Join(_));
            if !(joins && self.dead[self.class[line.from]]) {
                self.errors.push(self.flooded(line));
            }
        }
    }

    /// Marks what takes where nothing is given, and what takes from that by dynamic rates.
    fn bury(&mut self, starved: Vec<(usize, usize)>, loose: &[Loose]) {
        let mut next: Vec<Vec<usize>> = vec![Vec::new(); self.dead.len()];
        for it in loose.iter().filter(|it| it.gives && it.takes) {
            next[self.class[it.from]].push(self.class[it.to]);
        }
        for (from, to) in starved {
            let (giver, taker) = (self.class[from], self.class[to]);
            let node = &self.flat.nodes[from];
            let by_weight = matches!(node.kind, NodeKind::Split(_)) && !node.inputs.is_empty();
            if !by_weight || leads(&next, taker, giver) {
                self.errors.push(self.starved(from, to));
            }
            self.dead[taker] = true;
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
        let message = format!("`{b}` never gets anything: it takes from `{a}`, which gives it nothing");
        complaint(self.flat, to, message).hint("give it a weight or a push rate above 0, or a type of `void`")
    }

    fn flooded(&self, line: &Line) -> Diagnostic {
        let (a, b, push) = (self.name(line.from), self.name(line.to), line.push.later);
        let message =
            format!("`{a}` gives {push} item{} at each firing, but `{b}` takes none", plural(push.into()));
        complaint(self.flat, line.from, message)
            .hint("take them, by a weight or a pop rate above 0, or give none")
    }

    fn name(&self, node: usize) -> &str {
        &self.flat.nodes[node].name
    }
}

/// Whether one class leads to another, or is it.
fn leads(next: &[Vec<usize>], from: usize, to: usize) -> bool {
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

/// Whether items go in and come out.
fn moves(line: &Line) -> bool {
    line.push.later > 0 && line.pop.later > 0
}

/// A node whose number of firings is too large.
pub(super) fn too_often(flat: &Flat, node: usize) -> Diagnostic {
    let name = &flat.nodes[node].name;
    let message = format!("`{name}` would have to fire 2^64 times or more in a steady state");
    complaint(flat, node, message).hint("choose rates and weights that have more in common")
}

pub(super) fn plural(count: u128) -> &'static str {
    if count == 1 { "" } else { "s" }
}
