//! Why a region has no schedule, in the terms of its graph.

use super::part::Part;
use super::state::Stuck;
use super::{Unschedulable, phases};

/// The limit of initial items that an answer proposes.
const MAX_PROPOSED: u64 = 1 << 40;

/// The reason why a region is stuck.
pub(super) fn explain(part: &Part, stuck: Stuck) -> Unschedulable {
    match stuck {
        Stuck::Loop(back) => lacking(part, back),
        Stuck::TooLong(node) => Unschedulable::TooLong { node: part.nodes[node] },
    }
}

/// The feedback channel that more items would help: `back`, or else another one.
fn lacking(part: &Part, back: usize) -> Unschedulable {
    let mut feedback: Vec<usize> = part.units.iter().flat_map(|unit| part.feedback_lines(unit)).collect();
    feedback.sort_by_key(|other| *other != back);
    let found = feedback.iter().find_map(|back| Some((*back, needed(part, *back)?)));
    let (back, needed) = found.map_or((back, None), |(back, needed)| (back, Some(needed)));
    Unschedulable::Loop { channel: part.lines[back].id, needed }
}

/// The least number of initial items on a feedback line for which a schedule exists.
fn needed(part: &Part, back: usize) -> Option<u64> {
    let there = part.lines[back].initial;
    let mut trial =
        Part::new(part.nodes.clone(), part.repetitions.clone(), part.prework.clone(), part.lines.clone());
    let mut enough = |items: u64| {
        trial.lines[back].initial = items;
        phases(&trial).is_ok()
    };
    let mut more = 1;
    while !enough(there.checked_add(more)?) {
        more *= 2;
        if more > MAX_PROPOSED {
            return None;
        }
    }
    let (mut low, mut high) = (there + more / 2, there + more);
    while low + 1 < high {
        let middle = low + (high - low) / 2;
        if enough(middle) { high = middle } else { low = middle }
    }
    Some(high)
}
