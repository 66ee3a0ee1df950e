//! Refinement of a partition by moves of single vertices (Fiduccia and Mattheyses, for several parts).
//!
//! A pass makes the best possible move again and again, even if it makes the partition worse, and moves each vertex
//! at most once. Then it undoes all moves after the best state. During a pass a part may exceed the limit by the
//! weight of one vertex, because otherwise no vertex could move between full parts. A state in which no part
//! exceeds the limit is better than any in which one does.

use super::weighted::Weighted;
use std::collections::BinaryHeap;

/// The maximum number of passes over one graph.
const MAX_PASSES: usize = 8;
/// A pass ends after this many moves without a better state.
const MAX_FRUITLESS: usize = 200;
/// The maximum number of entries of the connectivity table: 128 MiB. Larger graphs are refined only at coarser
/// levels.
const MAX_TABLE: usize = 1 << 24;

/// The quality of a partition, less is better: the weight of its parts above the limit, its cost, the weight of its
/// heaviest part.
pub(super) type Rank = (u64, i64, u64);

/// The constraints on a partition.
#[derive(Clone, Copy, Debug)]
pub(super) struct Goal<'a> {
    pub(super) parts: usize,
    /// The maximum weight of a part.
    pub(super) limit: u64,
    /// By vertex: its previous part, which it leaves at its move cost.
    pub(super) before: Option<&'a [u32]>,
}

/// A move: its gain, the vertex, the part it moves to.
type Move = (i64, std::cmp::Reverse<u32>, u32);

/// A partition of a graph under refinement.
pub(super) struct Refine<'a> {
    graph: &'a Weighted,
    goal: Goal<'a>,
    part: Vec<u32>,
    loads: Vec<u64>,
    /// By vertex and part: the weight of the edges between them. Empty if it would exceed [`MAX_TABLE`].
    connectivity: Vec<u64>,
    /// The cut, plus the costs of the moves from `before`.
    cost: i64,
    /// The weight of the parts above the limit, summed.
    excess: u64,
    /// The maximum weight of a part during a pass.
    pass_limit: u64,
    /// By vertex: whether it has moved in this pass.
    locked: Vec<bool>,
    /// By part: the moves of its vertices. Some entries are stale.
    moves: Vec<BinaryHeap<Move>>,
}

/// Refines `part`. Returns the result and its quality.
pub(super) fn refine(graph: &Weighted, goal: Goal<'_>, part: Vec<u32>) -> (Vec<u32>, Rank) {
    let mut refine = Refine::new(graph, goal, part);
    if !refine.connectivity.is_empty() {
        for _ in 0..MAX_PASSES {
            if !refine.pass() {
                break;
            }
        }
    }
    let rank = refine.rank();
    (refine.part, rank)
}

impl<'a> Refine<'a> {
    fn new(graph: &'a Weighted, goal: Goal<'a>, part: Vec<u32>) -> Refine<'a> {
        let loads = graph.loads(&part, goal.parts);
        let moved = |vertex: &usize| goal.before.is_some_and(|before| before[*vertex] != part[*vertex]);
        let moving: u64 = (0..graph.len()).filter(moved).map(|vertex| graph.move_cost(vertex)).sum();
        let small = graph.len().saturating_mul(goal.parts) <= MAX_TABLE;
        let mut connectivity = vec![0; if small { graph.len() * goal.parts } else { 0 }];
        if small {
            for (from, to, weight) in graph.edges() {
                connectivity[from as usize * goal.parts + part[to as usize] as usize] += weight;
                connectivity[to as usize * goal.parts + part[from as usize] as usize] += weight;
            }
        }
        Refine {
            cost: (graph.cut(&part) + moving) as i64,
            excess: loads.iter().map(|load| load.saturating_sub(goal.limit)).sum(),
            pass_limit: goal.limit + graph.heaviest(),
            locked: vec![false; graph.len()],
            moves: vec![BinaryHeap::new(); goal.parts],
            graph,
            goal,
            part,
            loads,
            connectivity,
        }
    }

    fn rank(&self) -> Rank {
        (self.excess, self.cost, self.loads.iter().copied().max().unwrap_or(0))
    }

    /// Makes one pass. Returns whether it found a better partition.
    fn pass(&mut self) -> bool {
        self.locked.fill(false);
        self.moves.iter_mut().for_each(BinaryHeap::clear);
        let before = self.rank();
        for vertex in 0..self.graph.len() {
            self.offer(vertex);
        }
        let (mut made, mut best) = (Vec::new(), (before, 0));
        while made.len() < best.1 + MAX_FRUITLESS {
            let Some((vertex, to)) = self.best() else { break };
            made.push((vertex, self.part[vertex]));
            self.locked[vertex] = true;
            self.shift(vertex, to, true);
            if self.rank() < best.0 {
                best = (self.rank(), made.len());
            }
        }
        for (vertex, from) in made.drain(best.1..).rev() {
            self.shift(vertex, from, false);
        }
        best.0 < before
    }

    /// The best move: out of the heaviest part if that exceeds the limit, else out of any part.
    fn best(&mut self) -> Option<(usize, u32)> {
        let heaviest = (0..self.goal.parts).max_by_key(|part| self.loads[*part])?;
        if self.loads[heaviest] > self.goal.limit {
            // No move out of another part reduces the excess of this one.
            return self.top(heaviest).map(|(_, vertex, to)| (vertex.0 as usize, to));
        }
        let tops = (0..self.goal.parts).filter_map(|part| self.top(part)).max();
        tops.map(|(_, vertex, to)| (vertex.0 as usize, to))
    }

    /// The best move out of a part.
    fn top(&mut self, part: usize) -> Option<Move> {
        while let Some(top) = self.moves[part].peek().copied() {
            let vertex = top.1.0 as usize;
            let known = !self.locked[vertex] && self.part[vertex] as usize == part;
            match if known { self.move_of(vertex) } else { None } {
                Some(now) if now == top => return Some(top),
                now => {
                    self.moves[part].pop();
                    self.moves[part].extend(now);
                }
            }
        }
        None
    }

    /// The best move of a vertex, if it has one: to a part with a neighbour, to its previous part, or, out of a
    /// part that exceeds the limit, to any part. The target must stay within the limit; if the source exceeds it, a
    /// target that stays lighter than the source is enough.
    fn move_of(&self, vertex: usize) -> Option<Move> {
        let (parts, own) = (self.goal.parts, self.part[vertex] as usize);
        let connectivity = &self.connectivity[vertex * parts..(vertex + 1) * parts];
        let before = self.goal.before.map(|before| before[vertex] as usize);
        let (weight, move_cost) = (self.graph.weight(vertex), self.graph.move_cost(vertex) as i64);
        let overfull = self.loads[own] > self.goal.limit;
        let limit = if overfull { self.goal.limit } else { self.pass_limit };
        let leaving = connectivity[own] as i64 + if before == Some(own) { move_cost } else { 0 };
        let to = |part: usize| {
            let gain = connectivity[part] as i64 + if before == Some(part) { move_cost } else { 0 } - leaving;
            let useful = overfull || connectivity[part] > 0 || before == Some(part);
            let lighter = self.loads[part] + weight < self.loads[own];
            let fits = self.loads[part] + weight <= limit || (overfull && lighter);
            let target = (gain, std::cmp::Reverse(self.loads[part]), std::cmp::Reverse(part));
            (part != own && useful && fits).then_some(target)
        };
        let (gain, _, part) = (0..parts).filter_map(to).max()?;
        Some((gain, std::cmp::Reverse(vertex as u32), part.0 as u32))
    }

    /// Adds the best move of a vertex to those of its part.
    fn offer(&mut self, vertex: usize) {
        if let Some(found) = self.move_of(vertex) {
            self.moves[self.part[vertex] as usize].push(found);
        }
    }

    /// Moves a vertex, and with `offering` updates the moves of its neighbours.
    fn shift(&mut self, vertex: usize, to: u32, offering: bool) {
        let (graph, parts, from) = (self.graph, self.goal.parts, self.part[vertex]);
        let (own, other) = (vertex * parts + from as usize, vertex * parts + to as usize);
        self.cost += self.connectivity[own] as i64 - self.connectivity[other] as i64;
        if let Some(before) = self.goal.before {
            let away = |part: u32| if part == before[vertex] { 0 } else { graph.move_cost(vertex) as i64 };
            self.cost += away(to) - away(from);
        }
        self.part[vertex] = to;
        self.change_load(from, |load| load - graph.weight(vertex));
        self.change_load(to, |load| load + graph.weight(vertex));
        for (neighbour, weight) in graph.neighbours(vertex) {
            let at = *neighbour as usize * parts;
            self.connectivity[at + from as usize] -= weight;
            self.connectivity[at + to as usize] += weight;
            if offering && !self.locked[*neighbour as usize] {
                self.offer(*neighbour as usize);
            }
        }
    }

    /// Changes the load of a part.
    fn change_load(&mut self, part: u32, change: impl Fn(u64) -> u64) {
        let load = &mut self.loads[part as usize];
        self.excess -= load.saturating_sub(self.goal.limit);
        *load = change(*load);
        self.excess += load.saturating_sub(self.goal.limit);
    }
}
