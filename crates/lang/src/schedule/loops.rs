//! Errors of regions without a schedule.

use super::balance::plural;
use super::part::Part;
use super::simulate::Stuck;
use super::{node_error, phases};
use crate::Diagnostic;
use crate::flat::Flat;

/// The limit of items that a help line proposes.
const MAX_PROPOSED: u64 = 1 << 40;

/// The error for a region without a schedule.
pub(super) fn explain(flat: &Flat, part: &Part, stuck: Stuck) -> Box<Diagnostic> {
    match stuck {
        Stuck::Loop(back) => Box::new(too_few(flat, part, back)),
        Stuck::TooLong(node) => {
            let name = &flat.nodes()[part.nodes[node]].name;
            let message = format!("the schedule of the streams around `{name}` is too long");
            let hint = "choose rates and weights with larger common factors, or enqueue more items";
            Box::new(node_error(flat, part.nodes[node], message).hint(hint))
        }
    }
}

/// The error for a loop in which nodes wait for each other.
fn too_few(flat: &Flat, part: &Part, back: usize) -> Diagnostic {
    let mut feedback: Vec<usize> = part.units.iter().flat_map(|unit| part.feedback_lines(unit)).collect();
    feedback.sort_by_key(|other| *other != back);
    let found = feedback.iter().find_map(|back| Some((*back, needed(part, *back)?)));
    let (back, needed) = found.map_or((back, None), |(back, needed)| (back, Some(needed)));
    let line = &part.lines[back];
    let joiner = part.nodes[line.to];
    let name = flat.nodes()[joiner].name.trim_end_matches(".join");
    let there = line.initial;
    let are = if there == 1 { "is" } else { "are" };
    let count = if there == 0 {
        "no items are enqueued".to_owned()
    } else {
        format!("{there} item{} {are} enqueued", plural(there.into()))
    };
    let message = match needed {
        Some(needed) => {
            format!("the feedback loop `{name}` waits for itself: {count}, and it needs {needed}")
        }
        None => format!(
            "the feedback loop `{name}` waits for itself: {count}, and loops around or inside it lack items too"
        ),
    };
    let hint = match needed {
        Some(needed) => {
            let more = needed - there;
            format!("enqueue {more} {}item{}", if there > 0 { "more " } else { "" }, plural(more.into()))
        }
        None => "enqueue as many items as the joiner pops from the loop before the first item returns".into(),
    };
    node_error(flat, joiner, message).label("this loop").hint(hint)
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
