//! Partitioning of a graph into parts of about the same weight, with little weight on the edges between them.
//!
//! The algorithm is multilevel, like METIS and its descendants, and like Zoltan, on which Nornir's is modelled
//! (Çatalyürek et al., IPDPS 2007): the graph is coarsened until it is small, partitioned there, and the partition
//! is refined at each level on the way back. A repartition may move vertices at a cost each, in the unit of the
//! edges, so it weighs the gain in cut against the moves. The best of these results is returned:
//!
//! - the previous partition, refined on graphs that were coarsened inside its parts,
//! - a new partition, grown part by part from several vertices; its parts are then renumbered to overlap most with
//!   the previous ones,
//! - if neither is balanced, the heaviest vertex first to the lightest part (Graham's LPT), refined.
//!
//! A partition is *balanced* if no part weighs more than `1 + SLACK` times the mean, or more than the heaviest part
//! of LPT, where single vertices are too heavy for that. So a balanced partition always exists, and the third way
//! finds one.

use super::coarsen::Coarse;
use super::refine::{Goal, Rank, refine};
use super::weighted::Weighted;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The weight of a part above the mean, as a fraction of the mean, up to which a partition is balanced.
pub const SLACK: f64 = 0.05;
/// Vertices for each part at which coarsening ends.
const COARSEST: usize = 12;
/// The number of vertices from which a new partition is grown; the best result counts.
const SEEDS: usize = 6;
/// The maximum number of pairs of parts that renumbering compares. Beyond it the new numbers stay as they are, and a
/// repartition may move more vertices.
const MAX_OVERLAPS: usize = 1 << 16;

/// Partitions the graph; `before` holds the previous part of each vertex.
///
/// The result is balanced. If `before` is balanced too, the cut of the result is not larger than that of `before`.
///
/// # Panics
/// If `parts` is 0, or if `before` does not have one entry below `parts` for each vertex.
pub fn split(graph: &Weighted, parts: usize, before: &[u32]) -> Vec<u32> {
    assert!(parts > 0 && before.len() == graph.len() && before.iter().all(|part| (*part as usize) < parts));
    if parts == 1 || graph.is_empty() {
        return before.to_vec();
    }
    let balanced = lpt(graph, parts);
    let limit = limit(graph, parts, &balanced);
    let goal = Goal { parts, limit, before: Some(before) };
    let old = refine_previous(graph, goal);
    let new = refine(graph, goal, renumber(graph, before, partition_anew(graph, goal), parts));
    let best = if new.1 < old.1 { new } else { old };
    match best.1.0 {
        0 => best.0,
        _ => refine(graph, goal, renumber(graph, before, balanced, parts)).0,
    }
}

/// The maximum weight of a part of a balanced partition; `lpt` is the partition of [`lpt`].
pub(super) fn limit(graph: &Weighted, parts: usize, lpt: &[u32]) -> u64 {
    let heaviest = graph.loads(lpt, parts).into_iter().max().unwrap_or(0);
    heaviest.max((graph.total() as f64 / parts as f64 * (1.0 + SLACK)) as u64)
}

/// Longest processing time first: assigns the vertices, heaviest first, to the lightest part.
pub(super) fn lpt(graph: &Weighted, parts: usize) -> Vec<u32> {
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

/// The previous partition, refined from the coarsest graph to the finest.
fn refine_previous(graph: &Weighted, goal: Goal<'_>) -> (Vec<u32>, Rank) {
    let before = goal.before.unwrap_or(&[]);
    let (mut levels, mut parts): (Vec<Coarse>, Vec<Vec<u32>>) = (Vec::new(), vec![before.to_vec()]);
    while let Some(coarse) = coarser(levels.last().map_or(graph, |level| &level.graph), goal, parts.last()) {
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
        part = refine(&level.graph, Goal { before: before.as_deref(), ..goal }, part).0;
        part = level.of.iter().map(|of| part[*of as usize]).collect();
    }
    // The quality on the coarse graph carries over: loads, cut and moves are the same on the finer one.
    refine(graph, goal, part)
}

/// A new partition, independent of the previous one.
fn partition_anew(graph: &Weighted, goal: Goal<'_>) -> Vec<u32> {
    let goal = Goal { before: None, ..goal };
    let mut levels: Vec<Coarse> = Vec::new();
    while let Some(coarse) = coarser(levels.last().map_or(graph, |level| &level.graph), goal, None) {
        levels.push(coarse);
    }
    let coarsest = levels.last().map_or(graph, |level| &level.graph);
    let seeds = SEEDS.min(coarsest.len());
    let grown = (0..seeds).map(|at| grow(coarsest, goal.parts, at * coarsest.len() / seeds));
    let tries = grown.chain([lpt(coarsest, goal.parts)]);
    let best = tries.map(|part| refine(coarsest, goal, part)).min_by_key(|(_, rank)| *rank);
    let mut part = best.map_or_else(Vec::new, |(part, _)| part);
    while let Some(level) = levels.pop() {
        part = level.of.iter().map(|of| part[*of as usize]).collect();
        let finer = levels.last().map_or(graph, |level| &level.graph);
        part = refine(finer, goal, part).0;
    }
    part
}

/// The next coarser graph, if this one is large and coarsening removes at least a sixteenth of its vertices.
fn coarser(graph: &Weighted, goal: Goal<'_>, within: Option<&Vec<u32>>) -> Option<Coarse> {
    let enough = COARSEST * goal.parts;
    if graph.len() <= enough {
        return None;
    }
    // A heavier vertex could prevent balanced parts of the coarsest graph.
    let max_weight = graph.total() / (enough / 3).max(1) as u64 + 1;
    let coarse = Coarse::new(graph, max_weight.max(2), within.map(Vec::as_slice));
    (coarse.graph.len() <= graph.len() - graph.len() / 16).then_some(coarse)
}

/// Grows the parts one after the other, the first from `seed`; the vertex with the highest connectivity joins next.
fn grow(graph: &Weighted, parts: usize, seed: usize) -> Vec<u32> {
    let mut part = vec![parts as u32 - 1; graph.len()];
    let mut taken = vec![false; graph.len()];
    let (mut left, mut next) = (graph.total(), 0);
    // By vertex: its connectivity to the parts grown so far. It is kept from part to part, so a part begins next to
    // the one before.
    let mut connectivity = vec![0u64; graph.len()];
    let mut open: BinaryHeap<(u64, Reverse<usize>)> = BinaryHeap::from([(0, Reverse(seed))]);
    for now in 0..parts - 1 {
        let (aim, mut load) = (left / (parts - now) as u64, 0);
        while load < aim {
            let joined = std::iter::from_fn(|| open.pop())
                .find(|(value, Reverse(vertex))| !taken[*vertex] && *value == connectivity[*vertex])
                .map(|(_, Reverse(vertex))| vertex);
            let any = || (next..graph.len()).find(|vertex| !taken[*vertex]);
            let Some(vertex) = joined.or_else(any) else { break };
            if joined.is_none() {
                next = vertex + 1;
            }
            let weight = graph.weight(vertex);
            if load > 0 && load + weight / 2 > aim {
                open.push((connectivity[vertex], Reverse(vertex)));
                break;
            }
            (taken[vertex], part[vertex]) = (true, now as u32);
            load += weight;
            for (to, weight) in graph.neighbours(vertex).iter().filter(|(to, _)| !taken[*to as usize]) {
                connectivity[*to as usize] += weight;
                open.push((connectivity[*to as usize], Reverse(*to as usize)));
            }
        }
        left -= load;
    }
    part
}

/// Renumbers the parts so that each gets the number of the previous part with which it overlaps most.
fn renumber(graph: &Weighted, before: &[u32], part: Vec<u32>, parts: usize) -> Vec<u32> {
    if parts * parts > MAX_OVERLAPS {
        return part;
    }
    let mut overlap = vec![0u64; parts * parts];
    for (vertex, (now, old)) in part.iter().zip(before).enumerate() {
        overlap[*now as usize * parts + *old as usize] += graph.move_cost(vertex).max(1);
    }
    let mut order: Vec<usize> = (0..overlap.len()).collect();
    order.sort_unstable_by_key(|at| (Reverse(overlap[*at]), *at));
    let (mut number, mut used) = (vec![None; parts], vec![false; parts]);
    for at in order {
        let (now, old) = (at / parts, at % parts);
        if number[now].is_none() && !used[old] {
            (number[now], used[old]) = (Some(old as u32), true);
        }
    }
    part.into_iter().map(|now| number[now as usize].unwrap_or(now)).collect()
}
