//! How far back a step without state must begin so that what it leaves is what it would have left had it
//! run from the beginning.
//!
//! A batch begins at place 0 of each root. What stands at the front, up to the root's `keep`, was made by
//! firings before; so was what peeking firings that are repeated look at, at places below 0. From the last
//! step to the first: where the places of a root are needed from place `x` on, its producer repeats the
//! firings that wrote there, and these need their inputs from the first place that the first one looks at.
//! No item is made that was not made before, so nothing fails that did not fail before.

use crate::emit::items::Items;
use crate::plan::{Plan, Port, Step};

/// What batches need of the time before.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Reach {
    /// By root: from which place on its items are needed; never above 0.
    pub(super) from: Vec<i64>,
    /// By root: the first place that is written or needed. Firings that are repeated write all their items.
    pub(super) first: Vec<i64>,
    /// By step: firings that are repeated.
    pub(super) again: Vec<u64>,
    /// Steady states that all of this lies within.
    pub(super) states: u64,
}

impl Reach {
    /// Where `repeats` says of each step whether it begins anew with each batch.
    pub(super) fn of(plan: &Plan, repeats: &[bool]) -> Reach {
        let mut reach = Reach {
            from: vec![0; plan.roots.len()],
            first: vec![0; plan.roots.len()],
            again: vec![0; plan.steps.len()],
            states: 0,
        };
        for (at, step) in plan.steps.iter().enumerate().rev() {
            if !repeats[at] || matches!(step, Step::Rounds(_)) {
                continue;
            }
            // A firing of a block or bundle is several of each of its actors, of which its insides need no others.
            let times = step.times(plan).max(1);
            let ports = |outputs: bool| -> Vec<(&Port, u64)> {
                let actors = step.actors(plan).into_iter().map(|actor| &plan.actors[actor]);
                let around = actors.flat_map(|actor| {
                    let side = if outputs { &actor.outputs } else { &actor.inputs };
                    side.iter().map(|port| (port, actor.firings / times))
                });
                around.filter(|(port, _)| !plan.inner.contains(&port.root)).collect()
            };
            let back =
                |(port, each): (&Port, u64)| firings_back(&port.items, reach.from[port.root]).div_ceil(each);
            let again = ports(true).into_iter().map(back).max().unwrap_or(0);
            reach.again[at] = again;
            reach.states = reach.states.max(again.div_ceil(step.times(plan)));
            for (port, each) in ports(true) {
                let first = first_place(&port.items, again * each);
                reach.first[port.root] = reach.first[port.root].min(first);
            }
            for (port, each) in ports(false) {
                let first = first_place(&port.items, again * each);
                reach.from[port.root] = reach.from[port.root].min(first);
            }
        }
        for (root, from) in plan.roots.iter().zip(&reach.from) {
            if root.advance > 0 {
                reach.states = reach.states.max(from.unsigned_abs().div_ceil(root.advance as u64));
            }
        }
        for (first, from) in reach.first.iter_mut().zip(&reach.from) {
            *first = (*first).min(*from);
        }
        reach
    }
}

/// Firings before the batch that reach place `from` or beyond it: whole groups of them.
fn firings_back(items: &Items, from: i64) -> u64 {
    if items.group_stride <= 0 || items.window == 0 {
        return 0;
    }
    let highest = items.base + ((items.group - 1) * items.stride).max(0) + items.reach();
    let group = -(highest - from).div_euclid(items.group_stride);
    (-group).max(0) as u64 * items.group as u64
}

/// The first place that a firing so many before the batch, or one after it, comes to.
fn first_place(items: &Items, back: u64) -> i64 {
    let groups = back.div_ceil(items.group as u64) as i64;
    items.base - groups * items.group_stride + ((items.group - 1) * items.stride).min(0)
}

/// Places that a producer has filled before a batch, and that the batch needs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Front {
    pub(super) root: usize,
    /// The first of a run, and how many.
    pub(super) runs: Vec<(i64, i64)>,
}

impl Front {
    /// What a producer's port has filled from place `from` on.
    pub(super) fn of(port: &Port, from: i64) -> Front {
        let (items, back) = (&port.items, firings_back(&port.items, from) as i64);
        let mut places = Vec::new();
        for firing in -back..0 {
            let (turn, rest) = (firing.div_euclid(items.group), firing.rem_euclid(items.group));
            let begin = items.base + turn * items.group_stride + rest * items.stride;
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
        Front { root: port.root, runs }
    }
}
