//! The machine of a mapping: a cache, and what it costs to miss it.

use super::Buffers;
use super::levels::Level;
use std::ops::Range;
use std::sync::Arc;
use thalweg_machine::{LevelKind, Machine};

/// The bytes of the cache where none is known: a common second level.
const USUAL_CACHE: u64 = 256 << 10;
/// The bytes of a block of a cache where none is known.
const BLOCK: u64 = 64;
/// Nanoseconds of a miss where none was measured (section 3.3.6).
const USUAL_MISS: f64 = 3.0;

/// What mappers need to know of the machine.
///
/// ```
/// use thalweg_machine::Machine;
/// use thalweg_plan::mappers::Target;
///
/// let machine = Machine::read("thalweg-machine 1\ndomains 1\ncores 2\ncache 2 size 1 MiB per core\n")?;
/// assert_eq!(Target::of(&machine).cache(), 1 << 20);
/// assert_eq!(Target::default().with_cache(1000).cache(), 1000);
/// # Ok::<(), thalweg_machine::ReadError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Target {
    cache: u64,
    miss: f64,
    buffers: Option<Buffers>,
    most: u64,
    /// The machine whose levels and domains count.
    machine: Option<Arc<Machine>>,
}

impl Default for Target {
    /// A cache of 256 KiB, and 3 ns for a miss.
    fn default() -> Target {
        Target { cache: USUAL_CACHE, miss: USUAL_MISS, buffers: None, most: MOST, machine: None }
    }
}

/// The maximum number of bytes that the buffers of a mapping take together, unless the plan has a budget.
const MOST: u64 = 64 << 20;

impl Target {
    /// The smallest cache of one core above the first level, the measured time of a miss of blocks in order, and the groups of cores
    /// that share a cache or a memory domain.
    pub fn of(machine: &Machine) -> Target {
        Target {
            cache: machine.private_cache().unwrap_or(USUAL_CACHE).max(1),
            miss: machine.costs().miss_in_order().unwrap_or(USUAL_MISS),
            machine: Some(Arc::new(machine.clone())),
            ..Target::default()
        }
    }

    /// With a cache of this many bytes; 0 counts as 1.
    pub fn with_cache(self, bytes: u64) -> Target {
        Target { cache: bytes.max(1), ..self }
    }

    /// With this time for a miss, in nanoseconds. What is no number or negative counts as 0.
    pub fn with_miss(self, nanoseconds: f64) -> Target {
        Target { miss: if nanoseconds > 0.0 { nanoseconds.min(1e9) } else { 0.0 }, ..self }
    }

    /// With buffers between segments by this rule, in place of the mapper's.
    pub fn with_buffers(self, rule: Buffers) -> Target {
        Target { buffers: Some(rule), ..self }
    }

    /// With at most this many bytes in all buffers, beside what single firings need.
    pub(crate) fn with_most(self, bytes: u64) -> Target {
        Target { most: bytes, ..self }
    }

    /// The bytes of the cache that a segment should fit into: the thesis' M.
    pub fn cache(&self) -> u64 {
        self.cache
    }

    /// The bytes of a block of it.
    pub fn block(&self) -> u64 {
        BLOCK
    }

    /// Nanoseconds of a miss, for each byte that it brings.
    pub fn miss_per_byte(&self) -> f64 {
        self.miss / BLOCK as f64
    }

    /// The rule that replaces that of the mapper.
    pub(super) fn buffers(&self) -> Option<Buffers> {
        self.buffers
    }

    pub(super) fn most(&self) -> u64 {
        self.most
    }

    /// With misses that take this many times as long.
    pub(super) fn with_far_misses(self, factor: f64) -> Target {
        Target { miss: self.miss * factor, ..self }
    }

    /// The levels at which this many workers, placed as [`Machine::places`] says, are in several groups between which a miss takes longer,
    /// the farthest first.
    ///
    /// What a miss between groups takes is measured (`thalweg machine --measure`): the transfer of a line between cores without a common
    /// cache, or between domains, over that of cores with a common cache. Without a measurement, domains have their distance.
    pub(super) fn levels(&self, workers: usize) -> Vec<Level> {
        let Some(machine) = self.machine.as_deref().filter(|_| workers <= thalweg_machine::MOST_UNITS) else {
            return Vec::new();
        };
        let (units, costs) = (machine.places(workers).units().to_vec(), machine.costs());
        let measured = |far: Option<f64>| Some(far? / costs.line_cache()?);
        let distance = |groups: &[Range<usize>]| {
            let domain = |worker: usize| machine.domain_of(units[worker]);
            let (here, there) = (domain(0), domain(groups[1].start));
            f64::from(machine.distance(here, there)) / f64::from(machine.distance(here, here).max(1))
        };
        let mut levels = Vec::new();
        for level in machine.levels() {
            let groups = runs(&units.iter().map(|unit| level.group_of(*unit)).collect::<Vec<_>>());
            let factor = match level.kind() {
                _ if groups.len() < 2 => None,
                LevelKind::Cache(_) => measured(costs.line_domain()),
                LevelKind::Domain => measured(costs.line_across()).or_else(|| Some(distance(&groups))),
                _ => None,
            };
            let factor = factor.filter(|factor| *factor > 1.0);
            levels.extend(factor.map(|factor| Level { groups, factor }));
            if level.kind() == LevelKind::Domain {
                break;
            }
        }
        levels.reverse();
        levels
    }
}

/// The ranges of equal values.
fn runs(values: &[usize]) -> Vec<Range<usize>> {
    let mut from = 0;
    let range = |run: &[usize]| {
        let start = from;
        from += run.len();
        start..from
    };
    values.chunk_by(|a, b| a == b).map(range).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two domains of four cores, of which each two share a cache.
    const TEXT: &str = "thalweg-machine 1\ndomains 2\ncores 4\ncache 2 size 1 MiB per 2 cores\ndistance 21\n";

    #[test]
    fn levels_are_those_whose_misses_take_longer() {
        let machine = Machine::read(TEXT).unwrap();
        let levels = Target::of(&machine).levels(8);
        assert_eq!(levels, [Level { groups: vec![0..4, 4..8], factor: 2.1 }]);
        assert!(Target::of(&machine).levels(1).is_empty() && Target::default().levels(8).is_empty());
        let mut costs = machine.costs().clone();
        *costs.line_cache_mut() = Some(20.0);
        *costs.line_domain_mut() = Some(50.0);
        *costs.line_across_mut() = Some(100.0);
        let levels = Target::of(&machine.with_costs(costs)).levels(8);
        let pairs = vec![0..2, 2..4, 4..6, 6..8];
        assert_eq!(
            levels,
            [Level { groups: vec![0..4, 4..8], factor: 5.0 }, Level { groups: pairs, factor: 2.5 }]
        );
    }
}
