//! The initialisation schedule: the least numbers of firings after which every window is filled.
//!
//! Every filter with `prework` fires at least once. Then each channel holds the items that its consumer peeks
//! beyond those it pops, so that in a steady state every node finds its window after all nodes upstream have fired.
//! Demands propagate upstream: the firings of a consumer determine those of its producer.
//!
//! Nodes downstream of a filter with `prework` fire further, as far as items reach the end of the graph: the first
//! firing replaces one of `work`, and its items are not kept for a later steady state.

use super::Phase;
use super::part::{Line, Part};
use super::state::{State, Stuck};
use crate::rates::Rates;
use std::ops::Range;

/// The limit of demands examined in one loop; beyond it the schedule counts as too long.
const MAX_STEPS: usize = 1 << 22;

/// Computes and simulates the initialisation.
///
/// # Errors
/// A loop with too few items.
pub(super) fn initialise(part: &Part, state: &mut State) -> Result<Vec<Phase>, Stuck> {
    let mut counts = least(part)?;
    if part.prework.contains(&true) {
        let mut trial = state.clone();
        trial.fire_all(&counts)?;
        let further = extra_firings(part, &mut trial);
        add_extra_firings(part, &mut counts, &further);
    }
    state.fire_all(&counts)
}

/// The least numbers of firings.
fn least(part: &Part) -> Result<Vec<u64>, Stuck> {
    let live = |node: usize| part.repetitions[node] > 0;
    let mut counts: Vec<u64> =
        (0..part.nodes.len()).map(|node| u64::from(part.prework[node] && live(node))).collect();
    for unit in part.units.iter().rev() {
        if part.is_loop(unit) {
            stabilise(part, unit, &mut counts)?;
        } else if live(unit.start) {
            let count = demand(part, unit.start, &counts).max(counts[unit.start].into());
            counts[unit.start] = u64::try_from(count).map_err(|_| Stuck::TooLong(unit.start))?;
        }
    }
    Ok(counts)
}

/// Propagates demands around a loop until they are stable.
fn stabilise(part: &Part, unit: &Range<usize>, counts: &mut [u64]) -> Result<(), Stuck> {
    let most = bound(part, unit, counts);
    let (mut steps, mut changed) = (0, true);
    while changed {
        changed = false;
        for node in unit.clone().rev().filter(|node| part.repetitions[*node] > 0) {
            let count = demand(part, node, counts);
            if count > u128::from(counts[node]) {
                let most = most.saturating_mul(part.repetitions[node].into());
                let count = u64::try_from(count).ok().filter(|_| count <= most);
                counts[node] = count.ok_or_else(|| innermost_loop(part, unit, node))?;
                changed = true;
            }
            steps += 1 + part.out(node).count();
        }
        if changed && steps > MAX_STEPS {
            return Err(Stuck::TooLong(unit.start));
        }
    }
    Ok(())
}

/// Firings of a node that its consumers require.
fn demand(part: &Part, node: usize, counts: &[u64]) -> u128 {
    let of = |line: usize| {
        let line = &part.lines[line];
        if part.repetitions[line.to] == 0 { 0 } else { firings(line, counts[line.to]) }
    };
    part.out(node).map(of).max().unwrap_or(0)
}

/// Firings of a line's producer that `taken` firings of its consumer require.
fn firings(line: &Line, taken: u64) -> u128 {
    let Rates { push, pop, peek } = line.rates;
    let first = if taken == 0 { 0 } else { u128::from(peek.first) };
    let needed = first.max(pop.moved(false, taken).saturating_add(line.rates.extra().into()));
    let lacking = needed.saturating_sub(line.initial.into());
    match lacking.saturating_sub(push.first.into()) {
        _ if lacking == 0 => 0,
        0 => 1,
        _ if push.later == 0 => u128::MAX,
        more => more.div_ceil(push.later.into()).saturating_add(1),
    }
}

/// A bound on steady states: demands that exceed it diverge. No chain of demands that starts outside the loop and
/// visits each node at most once exceeds it, and a chain that returns to a node with a greater demand does so
/// forever.
fn bound(part: &Part, unit: &Range<usize>, counts: &[u64]) -> u128 {
    let begin = |node: usize| {
        let firings = demand(part, node, counts).max(counts[node].into());
        firings / u128::from(part.repetitions[node].max(1))
    };
    let step = |line: usize| {
        let rates = &part.lines[line].rates;
        let items =
            [rates.pop.first, rates.extra(), rates.peek.first].into_iter().map(u128::from).sum::<u128>();
        3 + items / u128::from(rates.push.later.max(1))
    };
    let inside = |line: &usize| unit.contains(&part.lines[*line].to);
    let lines = unit.clone().flat_map(|node| part.out(node)).filter(inside);
    let begin = unit.clone().map(begin).max().unwrap_or(0);
    lines.map(step).fold(begin.saturating_add(2), u128::saturating_add)
}

/// The innermost loop around a node.
fn innermost_loop(part: &Part, unit: &Range<usize>, node: usize) -> Stuck {
    let feedback = part.feedback_lines(unit);
    let spans = |line: &&usize| part.lines[**line].to <= node && node <= part.lines[**line].from;
    feedback.iter().find(spans).or(feedback.first()).map_or(Stuck::TooLong(node), |line| Stuck::Loop(*line))
}

/// For each node, additional firings that are possible downstream of filters with `prework`.
fn extra_firings(part: &Part, state: &mut State) -> Vec<u64> {
    let mut follows = vec![false; part.nodes.len()];
    let mut further = vec![0; part.nodes.len()];
    for unit in part.units.iter().filter(|unit| !part.is_loop(unit)) {
        let node = unit.start;
        let mut before = part.into(node).map(|line| part.lines[line].from);
        follows[node] = before.any(|from| follows[from] || part.prework[from]);
        if follows[node] && part.repetitions[node] > 0 {
            let count = part.into(node).map(|line| spare_firings(part, state, line)).min().unwrap_or(0);
            further[node] = state.possible_firings(node, count);
            state.fire(node, further[node]);
        }
    }
    further
}

/// Adds possible firings, but no more than the consumers use in the same way.
fn add_extra_firings(part: &Part, counts: &mut [u64], further: &[u64]) {
    for node in (0..counts.len()).rev().filter(|node| further[*node] > 0) {
        let all = counts[node].saturating_add(further[node]);
        let used = if part.out(node).next().is_none() { all.into() } else { demand(part, node, counts) };
        counts[node] = counts[node].max(u64::try_from(used).map_or(all, |used| used.min(all)));
    }
}

/// Firings of a line's consumer that leave its window filled.
fn spare_firings(part: &Part, state: &State, line: usize) -> u64 {
    let pop = part.lines[line].rates.pop.later;
    if pop == 0 { 0 } else { u64::try_from(state.spare(line) / u128::from(pop)).unwrap_or(u64::MAX) }
}
