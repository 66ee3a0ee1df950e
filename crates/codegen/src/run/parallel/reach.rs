//! Overlap of batches: how far back a stateless step must begin so that the result equals that of a run from
//! the beginning.
//!
//! A batch begins at position 0 of each buffer. The items at the front, up to the buffer's `keep`, were pushed by
//! earlier firings; and peeking firings that are repeated read earlier items, at positions below 0. The
//! analysis goes from the last step to the first: if a buffer is needed from position `x` on, its producer
//! repeats the firings that wrote there, and these need their inputs from the first position that the first
//! of them reads. Only firings that were done before are repeated, so none fails that has not failed before.

use crate::plan::{Items, Plan, Port, Step};

/// The items and firings of earlier time that a batch needs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Reach {
    /// By buffer: the first position that is needed; never above 0.
    pub(super) from: Vec<i64>,
    /// By buffer: the first position that is written or needed. Repeated firings write all their items.
    pub(super) first: Vec<i64>,
    /// By step: the number of repeated firings.
    pub(super) again: Vec<u64>,
    /// The number of steady states that all of this lies within.
    pub(super) states: u64,
}

impl Reach {
    /// The analysis, where `repeats` tells for each step whether it is recomputed for each batch.
    pub(super) fn of(plan: &Plan, repeats: &[bool]) -> Reach {
        let mut reach = Reach {
            from: vec![0; plan.buffers.len()],
            first: vec![0; plan.buffers.len()],
            again: vec![0; plan.steps.len()],
            states: 0,
        };
        for (at, step) in plan.steps.iter().enumerate().rev() {
            if !repeats[at] || matches!(step, Step::Rounds(_)) {
                continue;
            }
            // A firing of a block or kernel is several of each of its actors; buffers inside it need no others.
            let times = step.times(plan).max(1);
            let ports = |outputs: bool| -> Vec<(&Port, u64)> {
                let actors = step.actors(plan).into_iter().map(|actor| &plan.actors[actor]);
                let around = actors.flat_map(|actor| {
                    let side = if outputs { &actor.outputs } else { &actor.inputs };
                    side.iter().map(|port| (port, actor.firings / times))
                });
                around.filter(|(port, _)| !plan.inner.contains(&port.buffer)).collect()
            };
            let back = |(port, each): (&Port, u64)| {
                firings_back(&port.items, reach.from[port.buffer]).div_ceil(each)
            };
            let again = ports(true).into_iter().map(back).max().unwrap_or(0);
            reach.again[at] = again;
            reach.states = reach.states.max(again.div_ceil(step.times(plan)));
            for (port, each) in ports(true) {
                let first = first_place(&port.items, again * each);
                reach.first[port.buffer] = reach.first[port.buffer].min(first);
            }
            for (port, each) in ports(false) {
                let first = first_place(&port.items, again * each);
                reach.from[port.buffer] = reach.from[port.buffer].min(first);
            }
        }
        for (buffer, from) in plan.buffers.iter().zip(&reach.from) {
            if buffer.advance > 0 {
                reach.states = reach.states.max(from.unsigned_abs().div_ceil(buffer.advance as u64));
            }
        }
        for (first, from) in reach.first.iter_mut().zip(&reach.from) {
            *first = (*first).min(*from);
        }
        reach
    }
}

/// Firings before the batch that reach position `from` or beyond: whole groups of them.
fn firings_back(items: &Items, from: i64) -> u64 {
    if items.group_stride <= 0 || items.window == 0 {
        return 0;
    }
    let highest = items.base + ((items.group - 1) * items.stride).max(0) + items.reach();
    let group = -(highest - from).div_euclid(items.group_stride);
    (-group).max(0) as u64 * items.group as u64
}

/// The first position that the firing `back` firings before the batch, or a later one, accesses.
fn first_place(items: &Items, back: u64) -> i64 {
    let groups = back.div_ceil(items.group as u64) as i64;
    items.base - groups * items.group_stride + ((items.group - 1) * items.stride).min(0)
}

/// Positions that a producer has filled before a batch and that the batch needs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Front {
    pub(super) buffer: usize,
    /// The first position of each run, and its length.
    pub(super) runs: Vec<(i64, i64)>,
}

impl Front {
    /// The positions that a producer's port has filled from `from` on.
    pub(super) fn of(port: &Port, from: i64) -> Front {
        let (items, back) = (&port.items, firings_back(&port.items, from) as i64);
        let mut places = Vec::new();
        for firing in -back..0 {
            let (row, rest) = (firing.div_euclid(items.group), firing.rem_euclid(items.group));
            let begin = items.base + row * items.group_stride + rest * items.stride;
            places.extend((0..items.window).map(|item| begin + items.offset(item)).filter(|at| *at >= from));
        }
        places.sort_unstable();
        let mut runs: Vec<(i64, i64)> = Vec::new();
        for place in places {
            match runs.last_mut() {
                Some((first, count)) if *first + *count == place => *count += 1,
                _ => runs.push((place, 1)),
            }
        }
        Front { buffer: port.buffer, runs }
    }
}
