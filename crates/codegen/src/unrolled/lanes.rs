//! Lanes within one block: isomorphic components (instances of a class) at adjacent positions.
//!
//! If each load of as many instances as there are lanes reads one cell or consecutive cells, and each store
//! writes consecutive cells, items need no transposition: they are in lanes already. Vectors of half the
//! length are tried where whole ones do not fit.

use super::dag::Op;
use super::parts::{Class, Parts};
use crate::ir::Kind;

/// Orders the instances so that all classes of a block fit; returns the number of lanes.
pub(super) fn arrange(parts: &mut Parts, lanes: usize) -> Option<usize> {
    let looks =
        parts.classes.iter().flat_map(|class| &class.steps).any(|step| matches!(step.op, Op::Look(_)));
    let widths = if looks { vec![lanes] } else { vec![lanes, lanes / 2] };
    let width = widths.into_iter().filter(|width| *width >= 8).find(|width| {
        parts.classes.iter().all(|class| fits(class, *width) || fits(&sorted(class), *width))
    })?;
    for class in &mut parts.classes {
        if !fits(class, width) {
            *class = sorted(class);
        }
    }
    Some(width)
}

/// Sorts instances by the position of their first store.
fn sorted(class: &Class) -> Class {
    let mut order: Vec<usize> = (0..class.instances).collect();
    if let Some((_, store)) = class.stores.first() {
        order.sort_by_key(|instance| store.at[*instance]);
    }
    let mut sorted = class.clone();
    let sort = |all: &mut Vec<u32>| *all = order.iter().map(|instance| all[*instance]).collect();
    sorted.loads.iter_mut().for_each(|load| sort(&mut load.at));
    sorted.consts.iter_mut().for_each(|(_, bits)| sort(bits));
    sorted.stores.iter_mut().for_each(|(_, store)| sort(&mut store.at));
    sorted
}

/// Whether all accesses of a class fit.
fn fits(class: &Class, lanes: usize) -> bool {
    class.instances.is_multiple_of(lanes)
        && class.loads.iter().all(|load| load.kind != Kind::Bool && regular(&load.at, lanes))
        && class
            .stores
            .iter()
            .all(|(_, store)| store.kind != Kind::Bool && store.at.chunks(lanes).all(follows))
}

fn follows(chunk: &[u32]) -> bool {
    chunk.iter().enumerate().all(|(at, place)| *place == chunk[0] + at as u32)
}

fn is_one(chunk: &[u32]) -> bool {
    chunk.iter().all(|place| *place == chunk[0])
}

fn regular(at: &[u32], lanes: usize) -> bool {
    at.chunks(lanes).all(follows) || at.chunks(lanes).all(is_one)
}

/// The number of vectors of instances done side by side; what they load from one position is loaded once.
pub(crate) fn beside(class: &Class, lanes: usize) -> u32 {
    let vectors = (class.instances / lanes) as u32;
    let fits = |count: &u32| vectors.is_multiple_of(*count) && *count as usize * class.pressure.max(2) <= 26;
    [8, 4, 2].into_iter().find(fits).unwrap_or(1)
}
