//! A graph in parts of about the same weight, with little weight on the edges between them.
//!
//! Multilevel (as METIS and its descendants are, and Zoltan, on which Nornir's is modelled: Çatalyürek
//! et al., IPDPS 2007): the graph is made coarser until it is small, parted there, and the partition is
//! refined on the way back. A repartition may move vertices at a price each, `stay`, in the unit of the
//! edges, so it weighs what it gains in cut against what it moves. Three ways are gone, and the best
//! result is taken:
//!
//! - the partition there was, refined on graphs that were coarsened inside its parts,
//! - a new one, grown part by part from several vertices; its parts are then called as those of the old
//!   one that they have most in common with,
//! - where neither is even enough, the heaviest vertex first to the lightest part (Graham's LPT),
//!   refined.
//!
//! *Even enough* is `1 + SLACK` times the mean, or as even as LPT gets it, where single vertices are too
//! heavy for that. So there always is such a partition, and the third way finds it.

use super::coarsen::Coarse;
use super::refine::{Rank, Wish, refine};
use super::weighted::Weighted;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// What a part may weigh above the mean.
pub const SLACK: f64 = 0.05;
/// Vertices for each part from which on a graph is not made coarser.
const COARSEST: usize = 12;
/// Vertices that a new partition is grown from, one after the other.
const SEEDS: usize = 6;
/// Ways to call parts that are looked at: beyond, a repartition from nothing may move more.
const OVERLAPS: usize = 1 << 16;

/// Parts the graph; `before` is by vertex the part it was in.
///
/// The result is even enough, and if `before` was so too, its cut is not larger than that one's.
///
/// # Panics
/// Without parts, or if `before` is not by vertex, or names a part that there is not.
pub fn split(graph: &Weighted, parts: usize, before: &[u32]) -> Vec<u32> {
    assert!(parts > 0 && before.len() == graph.len() && before.iter().all(|part| (*part as usize) < parts));
    if parts == 1 || graph.is_empty() {
        return before.to_vec();
    }
    let even = lightest_first(graph, parts);
    let limit = limit(graph, parts, &even);
    let wish = Wish { parts, limit, before: Some(before) };
    let old = vary(graph, wish);
    let new = refine(graph, wish, call(graph, before, grow_anew(graph, wish), parts));
    let best = if new.1 < old.1 { new } else { old };
    match best.1.0 {
        0 => best.0,
        _ => refine(graph, wish, call(graph, before, even, parts)).0,
    }
}

/// The most that a part may weigh, where `even` is a partition as LPT makes it.
pub(super) fn limit(graph: &Weighted, parts: usize, even: &[u32]) -> u64 {
    let heaviest = graph.loads(even, parts).into_iter().max().unwrap_or(0);
    heaviest.max((graph.total() as f64 / parts as f64 * (1.0 + SLACK)) as u64)
}

/// Longest processing time first: the heaviest vertex to the lightest part.
pub(super) fn lightest_first(graph: &Weighted, parts: usize) -> Vec<u32> {
    let mut order: Vec<u32> = (0..graph.len() as u32).collect();
    order.sort_unstable_by_key(|vertex| (Reverse(graph.weight(*vertex as usize)), *vertex));
    let mut lightest: BinaryHeap<Reverse<(u64, u32)>> =
        (0..parts as u32).map(|part| Reverse((0, part))).collect();
    let mut part = vec![0; graph.len()];
    for vertex in order {
        let Some(Reverse((load, to))) = lightest.pop() else { break };
        part[vertex as usize] = to;
        lightest.push(Reverse((load + graph.weight(vertex as usize), to)));
    }
    part
}

/// The partition there was, refined from the coarsest graph to the finest.
fn vary(graph: &Weighted, wish: Wish<'_>) -> (Vec<u32>, Rank) {
    let before = wish.before.unwrap_or(&[]);
    let (mut levels, mut parts): (Vec<Coarse>, Vec<Vec<u32>>) = (Vec::new(), vec![before.to_vec()]);
    while let Some(coarse) = coarser(levels.last().map_or(graph, |level| &level.graph), wish, parts.last()) {
        let mut part = vec![0; coarse.graph.len()];
        for (of, fine) in coarse.of.iter().zip(&parts[parts.len() - 1]) {
            part[*of as usize] = *fine;
        }
        levels.push(coarse);
        parts.push(part);
    }
    let mut part = parts[parts.len() - 1].clone();
    while let Some(level) = levels.pop() {
        let before = parts.pop();
        part = refine(&level.graph, Wish { before: before.as_deref(), ..wish }, part).0;
        part = level.of.iter().map(|of| part[*of as usize]).collect();
    }
    // What is good on a coarse graph is as good here: loads, cut and moves are the same.
    refine(graph, wish, part)
}

/// A new partition, that knows nothing of the one before.
fn grow_anew(graph: &Weighted, wish: Wish<'_>) -> Vec<u32> {
    let wish = Wish { before: None, ..wish };
    let mut levels: Vec<Coarse> = Vec::new();
    while let Some(coarse) = coarser(levels.last().map_or(graph, |level| &level.graph), wish, None) {
        levels.push(coarse);
    }
    let coarsest = levels.last().map_or(graph, |level| &level.graph);
    let seeds = SEEDS.min(coarsest.len());
    let grown = (0..seeds).map(|at| grow(coarsest, wish.parts, at * coarsest.len() / seeds));
    let tries = grown.chain([lightest_first(coarsest, wish.parts)]);
    let best = tries.map(|part| refine(coarsest, wish, part)).min_by_key(|(_, rank)| *rank);
    let mut part = best.map_or_else(Vec::new, |(part, _)| part);
    while let Some(level) = levels.pop() {
        part = level.of.iter().map(|of| part[*of as usize]).collect();
        let finer = levels.last().map_or(graph, |level| &level.graph);
        part = refine(finer, wish, part).0;
    }
    part
}

/// The next coarser graph, if this one is large and can be made smaller by more than a sliver.
fn coarser(graph: &Weighted, wish: Wish<'_>, within: Option<&Vec<u32>>) -> Option<Coarse> {
    let enough = COARSEST * wish.parts;
    if graph.len() <= enough {
        return None;
    }
    // No vertex so heavy that parts of the coarsest graph could not be even.
    let most = graph.total() / (enough / 3).max(1) as u64 + 1;
    let coarse = Coarse::new(graph, most.max(2), within.map(Vec::as_slice));
    (coarse.graph.len() <= graph.len() - graph.len() / 16).then_some(coarse)
}

/// Parts one after the other, each from one vertex on: the next is the one with the most ties to it.
fn grow(graph: &Weighted, parts: usize, seed: usize) -> Vec<u32> {
    let mut part = vec![parts as u32 - 1; graph.len()];
    let mut taken = vec![false; graph.len()];
    let (mut left, mut next) = (graph.total(), 0);
    // By vertex: its ties to the part that grows; those left over from the one before it come first.
    let mut ties = vec![0u64; graph.len()];
    let mut open: BinaryHeap<(u64, Reverse<usize>)> = BinaryHeap::from([(0, Reverse(seed))]);
    for now in 0..parts - 1 {
        let (aim, mut load) = (left / (parts - now) as u64, 0);
        while load < aim {
            let tied = std::iter::from_fn(|| open.pop())
                .find(|(tie, Reverse(vertex))| !taken[*vertex] && *tie == ties[*vertex])
                .map(|(_, Reverse(vertex))| vertex);
            let any = || (next..graph.len()).find(|vertex| !taken[*vertex]);
            let Some(vertex) = tied.or_else(any) else { break };
            if tied.is_none() {
                next = vertex + 1;
            }
            let weight = graph.weight(vertex);
            if load > 0 && load + weight / 2 > aim {
                open.push((ties[vertex], Reverse(vertex)));
                break;
            }
            (taken[vertex], part[vertex]) = (true, now as u32);
            load += weight;
            for (to, weight) in graph.neighbours(vertex).iter().filter(|(to, _)| !taken[*to as usize]) {
                ties[*to as usize] += weight;
                open.push((ties[*to as usize], Reverse(*to as usize)));
            }
        }
        left -= load;
    }
    part
}

/// The same parts under other numbers: those of the parts before that they have most in common with.
fn call(graph: &Weighted, before: &[u32], part: Vec<u32>, parts: usize) -> Vec<u32> {
    if parts * parts > OVERLAPS {
        return part;
    }
    let mut common = vec![0u64; parts * parts];
    for (vertex, (now, old)) in part.iter().zip(before).enumerate() {
        common[*now as usize * parts + *old as usize] += graph.stay(vertex).max(1);
    }
    let mut order: Vec<usize> = (0..common.len()).collect();
    order.sort_unstable_by_key(|at| (Reverse(common[*at]), *at));
    let (mut name, mut used) = (vec![None; parts], vec![false; parts]);
    for at in order {
        let (now, old) = (at / parts, at % parts);
        if name[now].is_none() && !used[old] {
            (name[now], used[old]) = (Some(old as u32), true);
        }
    }
    part.into_iter().map(|now| name[now as usize].unwrap_or(now)).collect()
}
