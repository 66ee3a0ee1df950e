//! Levels, which cut regions that would wait for each other.
//!
//! The level of a node is at least that of its producers, and greater across a dynamic channel. First each node gets
//! the lowest level; then, from the last to the first, the highest one, unless that cuts more channels.

use super::{Link, successors};
use crate::components::strong_of;
use crate::groups::Groups;

/// The level of each node. Only the nodes of `cyclic` regions have levels above 0.
pub(super) fn of(links: &[Link], cyclic: &[bool]) -> Vec<u32> {
    let count = cyclic.len();
    let closed = links.iter().filter(|link| !link.open);
    let unit = strong_of(&successors(count, closed.clone().map(|link| (link.from, link.to))));
    let affected = closed.filter(|link| cyclic[link.from] && cyclic[link.to]);
    let edges = affected.map(|link| (unit[link.from], unit[link.to], link.joins));
    let edges = edges.filter(|(from, to, _)| from != to);
    let units = Units {
        before: Groups::new(count, edges.clone().map(|(from, to, joins)| (to as usize, (from, joins)))),
        after: Groups::new(count, edges.map(|(from, to, joins)| (from as usize, (to, joins)))),
    };
    let levels = units.levels();
    unit.iter().map(|unit| levels[*unit as usize]).collect()
}

/// The channels between *units*: nodes, or loops that stay whole. Units are numbered in data-flow order.
struct Units {
    /// For each unit, the preceding units, and whether the channel should not be cut.
    before: Groups<(u32, bool)>,
    /// For each unit, the following units, likewise.
    after: Groups<(u32, bool)>,
}

impl Units {
    fn levels(&self) -> Vec<u32> {
        let mut levels = vec![0; self.before.len()];
        for unit in 0..levels.len() {
            levels[unit] = self.lowest(unit, &levels);
        }
        for unit in (0..levels.len()).rev() {
            levels[unit] = self.best(unit, &levels);
        }
        levels
    }

    fn lowest(&self, unit: usize, levels: &[u32]) -> u32 {
        let least = |(from, joins): &(u32, bool)| levels[*from as usize] + u32::from(!joins);
        self.before.of(unit).iter().map(least).max().unwrap_or(0)
    }

    /// The best level of a unit while the others stay: the highest possible, unless that cuts more channels.
    fn best(&self, unit: usize, levels: &[u32]) -> u32 {
        let most = |(to, joins): &(u32, bool)| levels[*to as usize] - u32::from(!joins);
        let Some(highest) = self.after.of(unit).iter().map(most).min() else { return levels[unit] };
        // Preceding units are not above this unit, and following units not below the highest level. So no level in
        // between cuts fewer channels than both ends of the range.
        let joins = self.before.of(unit).iter().chain(self.after.of(unit)).filter(|(_, joins)| *joins);
        let cuts = |level: u32| joins.clone().filter(|(other, _)| levels[*other as usize] != level).count();
        if cuts(highest) <= cuts(levels[unit]) { highest } else { levels[unit] }
    }
}
