//! Better partitions from worse ones, a vertex at a time (Fiduccia and Mattheyses, for several parts).
//!
//! In a pass the best move there is is made, even if it is for the worse, and each vertex moves once;
//! then all moves after the best moment are taken back. On the way a part may be too heavy by one
//! vertex, else nothing could ever move between full parts; the best moment is one at which none is,
//! if there is such.

use super::weighted::Weighted;
use std::collections::BinaryHeap;

/// Passes over one graph at most.
const PASSES: usize = 8;
/// Moves in a pass without a better moment, after which it ends.
const PATIENCE: usize = 200;
/// Entries of the table of ties at most: 128 MiB. Larger graphs are refined where they are coarser.
const TABLE: usize = 1 << 24;

/// How good a partition is: how much too heavy its parts are, what it costs, its heaviest part. Less
/// is better.
pub(super) type Rank = (u64, i64, u64);

/// What is wanted of a partition.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wish<'a> {
    pub(super) parts: usize,
    /// The most that a part may weigh.
    pub(super) limit: u64,
    /// The parts before, which vertices would rather not leave.
    pub(super) before: Option<&'a [u32]>,
}

/// A move: its gain, the vertex, where to.
type Move = (i64, std::cmp::Reverse<u32>, u32);

/// A partition of a graph under refinement.
pub(super) struct Refine<'a> {
    graph: &'a Weighted,
    wish: Wish<'a>,
    part: Vec<u32>,
    loads: Vec<u64>,
    /// By vertex and part: the weight of the edges between them.
    ties: Vec<u64>,
    /// Cut, and what the moves from `before` cost.
    cost: i64,
    /// How much the parts are too heavy, all of them together.
    excess: u64,
    /// The most that a part may weigh on the way.
    room: u64,
    /// By vertex: it has moved in this pass.
    locked: Vec<bool>,
    /// By part: the moves of its vertices, and some that are no longer right.
    moves: Vec<BinaryHeap<Move>>,
}

/// The best that comes of `part`, and how good it is.
pub(super) fn refine(graph: &Weighted, wish: Wish<'_>, part: Vec<u32>) -> (Vec<u32>, Rank) {
    let mut refine = Refine::new(graph, wish, part);
    if !refine.ties.is_empty() {
        for _ in 0..PASSES {
            if !refine.pass() {
                break;
            }
        }
    }
    let rank = refine.rank();
    (refine.part, rank)
}

impl<'a> Refine<'a> {
    fn new(graph: &'a Weighted, wish: Wish<'a>, part: Vec<u32>) -> Refine<'a> {
        let loads = graph.loads(&part, wish.parts);
        let moved = |vertex: &usize| wish.before.is_some_and(|before| before[*vertex] != part[*vertex]);
        let moving: u64 = (0..graph.len()).filter(moved).map(|vertex| graph.stay(vertex)).sum();
        let small = graph.len().saturating_mul(wish.parts) <= TABLE;
        let mut ties = vec![0; if small { graph.len() * wish.parts } else { 0 }];
        if small {
            for (from, to, weight) in graph.edges() {
                ties[from as usize * wish.parts + part[to as usize] as usize] += weight;
                ties[to as usize * wish.parts + part[from as usize] as usize] += weight;
            }
        }
        Refine {
            cost: (graph.cut(&part) + moving) as i64,
            excess: loads.iter().map(|load| load.saturating_sub(wish.limit)).sum(),
            room: wish.limit + graph.heaviest(),
            locked: vec![false; graph.len()],
            moves: vec![BinaryHeap::new(); wish.parts],
            graph,
            wish,
            part,
            loads,
            ties,
        }
    }

    fn rank(&self) -> Rank {
        (self.excess, self.cost, self.loads.iter().copied().max().unwrap_or(0))
    }

    /// True if it has found something better.
    fn pass(&mut self) -> bool {
        self.locked.fill(false);
        self.moves.iter_mut().for_each(BinaryHeap::clear);
        let before = self.rank();
        for vertex in 0..self.graph.len() {
            self.offer(vertex);
        }
        let (mut made, mut best) = (Vec::new(), (before, 0));
        while made.len() < best.1 + PATIENCE {
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

    /// The best move of all: from the heaviest part, if it is too heavy.
    fn best(&mut self) -> Option<(usize, u32)> {
        let heaviest = (0..self.wish.parts).max_by_key(|part| self.loads[*part])?;
        if self.loads[heaviest] > self.wish.limit {
            // From it or not at all: whatever else moved could only make room for it.
            return self.top(heaviest).map(|(_, vertex, to)| (vertex.0 as usize, to));
        }
        let tops = (0..self.wish.parts).filter_map(|part| self.top(part)).max();
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

    /// The best move of a vertex, if there is any that it could make: to where it has ties, where it was
    /// before, or, out of a part that is too heavy, to the lightest.
    fn move_of(&self, vertex: usize) -> Option<Move> {
        let (parts, own) = (self.wish.parts, self.part[vertex] as usize);
        let ties = &self.ties[vertex * parts..(vertex + 1) * parts];
        let before = self.wish.before.map(|before| before[vertex] as usize);
        let (weight, stay) = (self.graph.weight(vertex), self.graph.stay(vertex) as i64);
        let overfull = self.loads[own] > self.wish.limit;
        let room = if overfull { self.wish.limit } else { self.room };
        let leaving = ties[own] as i64 + if before == Some(own) { stay } else { 0 };
        let to = |part: usize| {
            let gain = ties[part] as i64 + if before == Some(part) { stay } else { 0 } - leaving;
            let wanted = overfull || ties[part] > 0 || before == Some(part);
            let lighter = self.loads[part] + weight < self.loads[own];
            let fits = self.loads[part] + weight <= room || (overfull && lighter);
            let target = (gain, std::cmp::Reverse(self.loads[part]), std::cmp::Reverse(part));
            (part != own && wanted && fits).then_some(target)
        };
        let (gain, _, part) = (0..parts).filter_map(to).max()?;
        Some((gain, std::cmp::Reverse(vertex as u32), part.0 as u32))
    }

    fn offer(&mut self, vertex: usize) {
        if let Some(found) = self.move_of(vertex) {
            self.moves[self.part[vertex] as usize].push(found);
        }
    }

    /// Moves a vertex, and tells its neighbours if that matters to them.
    fn shift(&mut self, vertex: usize, to: u32, offering: bool) {
        let (graph, parts, from) = (self.graph, self.wish.parts, self.part[vertex]);
        let (own, other) = (vertex * parts + from as usize, vertex * parts + to as usize);
        self.cost += self.ties[own] as i64 - self.ties[other] as i64;
        if let Some(before) = self.wish.before {
            let away = |part: u32| if part == before[vertex] { 0 } else { graph.stay(vertex) as i64 };
            self.cost += away(to) - away(from);
        }
        self.part[vertex] = to;
        self.weigh(from, |load| load - graph.weight(vertex));
        self.weigh(to, |load| load + graph.weight(vertex));
        for (neighbour, weight) in graph.neighbours(vertex) {
            let at = *neighbour as usize * parts;
            self.ties[at + from as usize] -= weight;
            self.ties[at + to as usize] += weight;
            if offering && !self.locked[*neighbour as usize] {
                self.offer(*neighbour as usize);
            }
        }
    }

    fn weigh(&mut self, part: u32, change: impl Fn(u64) -> u64) {
        let load = &mut self.loads[part as usize];
        self.excess -= load.saturating_sub(self.wish.limit);
        *load = change(*load);
        self.excess += load.saturating_sub(self.wish.limit);
    }
}
