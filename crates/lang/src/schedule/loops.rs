//! What to say of a region without a schedule.

use super::balance::plural;
use super::part::Part;
use super::simulate::Stuck;
use super::{complaint, phases};
use crate::Diagnostic;
use crate::flat::Flat;

/// The most items that are proposed.
const MOST: u64 = 1 << 40;

/// Why a region cannot go on.
pub(super) fn explain(flat: &Flat, part: &Part, stuck: Stuck) -> Box<Diagnostic> {
    match stuck {
        Stuck::Loop(way) => Box::new(too_few(flat, part, way)),
        Stuck::TooLong(node) => {
            let name = &flat.nodes[part.nodes[node]].name;
            let message = format!("the schedule of the streams around `{name}` is too long");
            let hint = "rates and weights with more in common, or more items enqueued, make it shorter";
            Box::new(complaint(flat, part.nodes[node], message).hint(hint))
        }
    }
}

/// A loop in which nodes wait for each other.
fn too_few(flat: &Flat, part: &Part, way: usize) -> Diagnostic {
    let mut ways: Vec<usize> = part.units.iter().flat_map(|unit| part.ways_back(unit)).collect();
    ways.sort_by_key(|other| *other != way);
    let found = ways.iter().find_map(|way| Some((*way, needed(part, *way)?)));
    let (way, needed) = found.map_or((way, None), |(way, needed)| (way, Some(needed)));
    let line = &part.lines[way];
    let joiner = part.nodes[line.to];
    let name = flat.nodes[joiner].name.trim_end_matches(".join");
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
        None => {
            "enqueue as many items as the joiner takes from its way back before the first comes round".into()
        }
    };
    complaint(flat, joiner, message).label("this loop").hint(hint)
}

/// The least items on a way back with which all goes on.
fn needed(part: &Part, way: usize) -> Option<u64> {
    let there = part.lines[way].initial;
    let mut trial =
        Part::new(part.nodes.clone(), part.repetitions.clone(), part.prework.clone(), part.lines.clone());
    let mut enough = |items: u64| {
        trial.lines[way].initial = items;
        phases(&trial).is_ok()
    };
    let mut more = 1;
    while !enough(there.checked_add(more)?) {
        more *= 2;
        if more > MOST {
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
