//! The initialisation schedule: the least numbers of firings after which every window is there.
//!
//! Every filter with `prework` fires at least once. A channel shall then hold what its consumer looks at
//! beyond what it takes, so that in a steady state each node finds its windows after all before it have
//! fired. The demand goes up the stream: from each consumer's firings follow its producer's.
//!
//! What follows a filter with `prework` fires on, as far as that leaves all windows: its first firing
//! replaces one of `work`, and is not kept back for a steady state to come.

use super::Phase;
use super::net::Line;
use super::part::Part;
use super::simulate::{State, Stuck};
use crate::flat::NodeId;
use std::ops::Range;

/// How often demands are looked at round one loop before the schedule is taken to be too long.
const MOST_STEPS: usize = 1 << 22;

/// Fires what has to be fired first.
///
/// # Errors
/// A loop with too few items.
pub(super) fn initialise(part: &Part, state: &mut State) -> Result<Vec<Phase>, Stuck> {
    let counts = least(part)?;
    let mut phases = state.fire_all(&counts)?;
    for (node, count) in drained(part, state) {
        phases.push(Phase::Fire(NodeId(part.nodes[node] as u32), count));
    }
    Ok(phases)
}

/// The least firings.
fn least(part: &Part) -> Result<Vec<u64>, Stuck> {
    let live = |node: usize| part.repetitions[node] > 0;
    let mut counts: Vec<u64> =
        (0..part.nodes.len()).map(|node| u64::from(part.prework[node] && live(node))).collect();
    for unit in part.units.iter().rev() {
        if part.is_loop(unit) {
            settle(part, unit, &mut counts)?;
        } else if live(unit.start) {
            let count = demand(part, unit.start, &counts).max(counts[unit.start].into());
            counts[unit.start] = u64::try_from(count).map_err(|_| Stuck::TooLong(unit.start))?;
        }
    }
    Ok(counts)
}

/// Lets demands go round a loop until they come to rest.
fn settle(part: &Part, unit: &Range<usize>, counts: &mut [u64]) -> Result<(), Stuck> {
    let most = bound(part, unit, counts);
    let (mut steps, mut changed) = (0, true);
    while changed {
        changed = false;
        for node in unit.clone().rev().filter(|node| part.repetitions[*node] > 0) {
            let count = demand(part, node, counts);
            if count > u128::from(counts[node]) {
                let most = most.saturating_mul(part.repetitions[node].into());
                let count = u64::try_from(count).ok().filter(|_| count <= most);
                counts[node] = count.ok_or_else(|| diverges(part, unit, node))?;
                changed = true;
            }
            steps += 1 + part.out[node].len();
        }
        if changed && steps > MOST_STEPS {
            return Err(Stuck::TooLong(unit.start));
        }
    }
    Ok(())
}

/// Firings that a node's consumers want of it.
fn demand(part: &Part, node: usize, counts: &[u64]) -> u128 {
    let of = |line: &usize| {
        let line = &part.lines[*line];
        if part.repetitions[line.to] == 0 { 0 } else { firings(line, counts[line.to]) }
    };
    part.out[node].iter().map(of).max().unwrap_or(0)
}

/// Firings of a line's producer for so many of its consumer.
fn firings(line: &Line, taken: u64) -> u128 {
    let first = if taken == 0 { 0 } else { u128::from(line.peek.first) };
    let needed = first.max(line.pop.total(taken) + u128::from(line.extra()));
    let lacking = needed.saturating_sub(line.initial.into());
    match lacking.saturating_sub(line.push.first.into()) {
        _ if lacking == 0 => 0,
        0 => 1,
        _ if line.push.later == 0 => u128::MAX,
        more => 1 + more.div_ceil(line.push.later.into()),
    }
}

/// Steady states beyond which demands go round a loop for ever: no chain of demands that comes to no node
/// twice asks for more, beginning with those from outside; and one that comes to a node with more than it
/// brought there the last time will do so again.
fn bound(part: &Part, unit: &Range<usize>, counts: &[u64]) -> u128 {
    let begin = |node: usize| {
        let firings = demand(part, node, counts).max(counts[node].into());
        firings / u128::from(part.repetitions[node].max(1))
    };
    let step = |line: &usize| {
        let line = &part.lines[*line];
        let items = u128::from(line.pop.first) + u128::from(line.extra()) + u128::from(line.peek.first);
        3 + items / u128::from(line.push.later.max(1))
    };
    let inside = |line: &&usize| unit.contains(&part.lines[**line].to);
    let lines = unit.clone().flat_map(|node| part.out[node].iter().filter(inside));
    let begin = unit.clone().map(begin).max().unwrap_or(0);
    lines.map(step).fold(begin.saturating_add(2), u128::saturating_add)
}

/// The innermost loop that a node is in.
fn diverges(part: &Part, unit: &Range<usize>, node: usize) -> Stuck {
    let ways = part.ways_back(unit);
    let spans = |way: &&usize| part.lines[**way].to <= node && node <= part.lines[**way].from;
    ways.iter().find(spans).or(ways.first()).map_or(Stuck::TooLong(node), |way| Stuck::Loop(*way))
}

/// Lets what follows filters with `prework` fire on.
fn drained(part: &Part, state: &mut State) -> Vec<(usize, u64)> {
    let mut follows = vec![false; part.nodes.len()];
    let mut fired = Vec::new();
    for unit in part.units.iter().filter(|unit| !part.is_loop(unit)) {
        let node = unit.start;
        let lines = &part.into[node];
        let before = |line: &usize| part.lines[*line].from;
        follows[node] = lines.iter().map(before).any(|from| follows[from] || part.prework[from]);
        if !follows[node] || part.repetitions[node] == 0 {
            continue;
        }
        let count = lines.iter().map(|line| spare_firings(part, state, *line)).min().unwrap_or(0);
        let count = state.able(node, count);
        if count > 0 {
            state.fire(node, count);
            fired.push((node, count));
        }
    }
    fired
}

/// Firings of a line's consumer that leave its windows.
fn spare_firings(part: &Part, state: &State, line: usize) -> u64 {
    let pop = part.lines[line].pop.later;
    if pop == 0 { 0 } else { u64::try_from(state.spare(line) / u128::from(pop)).unwrap_or(u64::MAX) }
}
