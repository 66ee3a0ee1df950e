//! The hierarchy of a machine as groups of units.

use crate::{Machine, UnitId};

/// A level of the hierarchy: a partition of the units.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Level {
    kind: LevelKind,
    groups: Vec<Vec<UnitId>>,
    /// The index of each unit's group.
    group_of: Vec<u32>,
}

/// What the units of a level's groups share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LevelKind {
    /// A core.
    Core,
    /// A cache of this level.
    Cache(u8),
    /// A memory domain.
    Domain,
}

impl Level {
    /// What the units of a group share.
    pub fn kind(&self) -> LevelKind {
        self.kind
    }

    /// The groups, by their first unit. Each unit is in one of them.
    pub fn groups(&self) -> &[Vec<UnitId>] {
        &self.groups
    }

    /// The index in [`Level::groups`] of the group that has this unit.
    ///
    /// # Panics
    /// If the machine has no such unit.
    pub fn group_of(&self, unit: UnitId) -> usize {
        self.group_of[unit.index()] as usize
    }

    /// The level whose groups are given by the units' representatives.
    fn new(kind: LevelKind, representatives: &[UnitId]) -> Level {
        let (mut groups, mut group_of): (Vec<Vec<UnitId>>, Vec<u32>) = (Vec::new(), Vec::new());
        for (i, first) in representatives.iter().enumerate() {
            let unit = UnitId(i as u32);
            if *first == unit {
                group_of.push(groups.len() as u32);
                groups.push(vec![unit]);
            } else {
                let group = group_of[first.index()];
                group_of.push(group);
                groups[group as usize].push(unit);
            }
        }
        Level { kind, groups, group_of }
    }
}

impl Machine {
    /// The hierarchy, from the cores outwards: each group is a union of groups of the level before. Levels that group
    /// the units as the level before are left out, so neighbouring levels differ; the cores are always the first.
    ///
    /// A unit that has no cache of a level stays there in its group of the level before. Domains come last, or before
    /// the first cache that several domains share.
    ///
    /// ```
    /// use thalweg_machine::{LevelKind, Machine};
    ///
    /// let levels = Machine::uniform(2, 3).levels();
    /// assert_eq!((levels[0].kind(), levels[0].groups().len()), (LevelKind::Core, 6));
    /// assert_eq!((levels[1].kind(), levels[1].groups().len()), (LevelKind::Domain, 2));
    /// ```
    pub fn levels(&self) -> Vec<Level> {
        let mut levels = vec![Level::new(LevelKind::Core, &self.cores_first())];
        for kind in self.kinds() {
            let before = &levels[levels.len() - 1];
            let level = Level::new(kind, &self.coarser(kind, before));
            if level.groups.len() < before.groups.len() {
                levels.push(level);
            }
        }
        levels
    }

    /// The first unit of each unit's core.
    fn cores_first(&self) -> Vec<UnitId> {
        self.units().iter().map(|unit| self.cores()[unit.core.index()].units[0]).collect()
    }

    /// The kinds beside cores, from near to far.
    fn kinds(&self) -> Vec<LevelKind> {
        let mut kinds: Vec<LevelKind> = Vec::new();
        let mut domains_inserted = false;
        for caches in self.caches().chunk_by(|a, b| a.level == b.level) {
            let spans =
                |units: &[UnitId]| units.iter().any(|u| self.domain_of(*u) != self.domain_of(units[0]));
            if !domains_inserted && caches.iter().any(|cache| spans(&cache.units)) {
                domains_inserted = true;
                kinds.push(LevelKind::Domain);
            }
            kinds.push(LevelKind::Cache(caches[0].level));
        }
        if !domains_inserted {
            kinds.push(LevelKind::Domain);
        }
        kinds
    }

    /// The first unit of each unit's group at the next level: that of its cache or domain, or of its group before if
    /// that is the larger. Since they are nested, the larger contains the smaller.
    fn coarser(&self, kind: LevelKind, before: &Level) -> Vec<UnitId> {
        let group = |unit: &UnitId| &before.groups[before.group_of(*unit)];
        let mut first: Vec<UnitId> = self.units().iter().map(|unit| group(&unit.id)[0]).collect();
        let mut join = |units: &[UnitId]| {
            if units.first().is_some_and(|unit| group(unit).len() < units.len()) {
                units.iter().for_each(|unit| first[unit.index()] = units[0]);
            }
        };
        match kind {
            LevelKind::Cache(level) => {
                self.caches()
                    .iter()
                    .filter(|cache| cache.level == level)
                    .for_each(|cache| join(&cache.units));
            }
            LevelKind::Domain => self.domains().iter().for_each(|domain| join(&domain.units)),
            LevelKind::Core => {}
        }
        first
    }
}
