//! Lanes within a block: instances of a class that stand next to one another.
//!
//! Where each load of as many instances as there are lanes is of one cell, or of cells that follow one
//! another, and each store is to cells that follow one another, items need not be brought into lanes: they
//! are there.

use super::parts::{Class, Parts};
use crate::ir::Kind;

/// Whether all classes of a block can be done in this way.
pub(super) fn fits(parts: &Parts, lanes: usize) -> bool {
    parts.classes.iter().all(|class| {
        class.instances.is_multiple_of(lanes)
            && class.loads.iter().all(|load| load.kind != Kind::Bool && regular(&load.at, lanes))
            && class
                .stores
                .iter()
                .all(|(_, store)| store.kind != Kind::Bool && store.at.chunks(lanes).all(follows))
    })
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

/// Vectors of instances that are done side by side: what they load from one place is loaded once.
pub(crate) fn beside(class: &Class, lanes: usize) -> u32 {
    let vectors = (class.instances / lanes) as u32;
    let fits = |count: &u32| vectors.is_multiple_of(*count) && *count as usize * class.pressure.max(2) <= 26;
    [8, 4, 2].into_iter().find(fits).unwrap_or(1)
}
