//! The machine of a mapping: a cache, and what it costs to miss it.

use super::Buffers;
use super::caches::{outer, room};
use super::levels::Level;
use super::search::Group;
use std::ops::Range;
use std::sync::Arc;
use thalweg_machine::{Machine, UnitId};

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
    /// Nanoseconds of a miss, if that is known.
    miss: Option<f64>,
    buffers: Option<Buffers>,
    most: u64,
    /// The machine whose levels and domains count.
    machine: Option<Arc<Machine>>,
}

impl Default for Target {
    /// A cache of 256 KiB, and 3 ns for a miss.
    fn default() -> Target {
        Target { cache: USUAL_CACHE, miss: None, buffers: None, most: MOST, machine: None }
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
            miss: machine.costs().miss_in_order(),
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
        Target { miss: Some(if nanoseconds > 0.0 { nanoseconds.min(1e9) } else { 0.0 }), ..self }
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

    /// Nanoseconds of a miss: as measured, or else the thesis'.
    pub fn miss(&self) -> f64 {
        self.miss.unwrap_or(USUAL_MISS)
    }

    /// Whether the time of a miss is that of the machine.
    pub(super) fn is_miss_known(&self) -> bool {
        self.miss.is_some()
    }

    /// Nanoseconds of a miss, for each byte that it brings.
    pub fn miss_per_byte(&self) -> f64 {
        self.miss() / BLOCK as f64
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
        Target { miss: Some(self.miss() * factor), ..self }
    }

    /// The machine, and the units of this many workers as [`Machine::places`] says; `None` if it is not known, and for more
    /// workers than a machine may have units.
    pub(super) fn places(&self, workers: usize) -> Option<(&Machine, Vec<UnitId>)> {
        let machine = self.machine.as_deref().filter(|_| workers <= thalweg_machine::MOST_UNITS)?;
        Some((machine, machine.places(workers).units().to_vec()))
    }

    /// The levels at which this many workers are in several groups between which a miss takes longer, the farthest first. The
    /// factor of a level is the minimum over neighbouring groups: where two are farther apart, a farther level divides them.
    pub(super) fn levels(&self, workers: usize) -> Vec<Level> {
        let Some((machine, units)) = self.places(workers) else { return Vec::new() };
        let caches = outer(machine, &units);
        let mut levels = Vec::new();
        for level in machine.levels() {
            let groups = runs(&units.iter().map(|unit| level.group_of(*unit)).collect::<Vec<_>>());
            let ends = groups.windows(2).map(|pair| (units[pair[0].end - 1], units[pair[1].start]));
            let least = ends.map(|(a, b)| factor(machine, a, b)).min_by(f64::total_cmp);
            if let Some(factor) = least.filter(|factor| *factor > 1.0) {
                let group = |workers: Range<usize>| Group { room: room(&caches, &workers), workers };
                levels.push(Level { groups: groups.into_iter().map(group).collect(), factor });
            }
        }
        levels.reverse();
        levels
    }
}

/// A miss of what one of two units has written, in times of one between the nearest cores.
///
/// It is measured as the transfer of a line between two cores (`thalweg machine --measure`), of which there are three: cores that share
/// a cache, whichever it is, cores of a domain that share none, and cores of two domains. What is not measured is near, but domains have
/// their distance, and are at least as far from each other as cores of one.
fn factor(machine: &Machine, a: UnitId, b: UnitId) -> f64 {
    if machine.shared_cache(a, b).is_some() {
        return 1.0;
    }
    let (costs, here, there) = (machine.costs(), machine.domain_of(a), machine.domain_of(b));
    let near = costs.line_cache().or(costs.line_domain());
    let measured = |far: Option<f64>| Some(far? / near?);
    let within = measured(costs.line_domain()).unwrap_or(1.0);
    if here == there {
        return within;
    }
    let distance = |to| f64::from(machine.distance(here, to).max(1));
    measured(costs.line_across()).unwrap_or((distance(there) / distance(here)).max(within))
}

/// The ranges of equal values.
pub(super) fn runs(values: &[usize]) -> Vec<Range<usize>> {
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

    /// The levels of a machine for this many workers, as the groups' workers and the factor.
    fn levels(text: &str, workers: usize) -> Vec<(Vec<Range<usize>>, f64)> {
        let machine = Machine::read(&format!("thalweg-machine 1\n{text}")).unwrap();
        let of = |level: Level| (level.groups.into_iter().map(|group| group.workers).collect(), level.factor);
        Target::of(&machine).levels(workers).into_iter().map(of).collect()
    }

    /// Two domains of four cores, of which each two share a cache.
    const PAIRS: &str = "domains 2\ncores 4\ncache 2 size 1 MiB per 2 cores\ndistance 21\n";
    /// Two domains of eight cores, of which each two share a cache, and each four another.
    const THREE: &str =
        "domains 2\ncores 8\ncache 1 per core\ncache 2 per 2 cores\ncache 3 per 4 cores\ndistance 21\n";
    const COSTS: &str = "cost line-cache 20 ns\ncost line-domain 50 ns\ncost line-across 100 ns\n";

    #[test]
    fn levels_are_those_whose_misses_take_longer() {
        let domains = vec![0..4, 4..8];
        assert_eq!(levels(PAIRS, 8), [(domains.clone(), 2.1)]);
        assert!(levels(PAIRS, 1).is_empty() && Target::default().levels(8).is_empty());
        let pairs = vec![0..2, 2..4, 4..6, 6..8];
        assert_eq!(levels(&format!("{PAIRS}{COSTS}"), 8), [(domains, 5.0), (pairs, 2.5)]);
    }

    /// Cores that share the third cache are as near as those that share the second: one of these transfers is measured.
    #[test]
    fn cores_that_share_no_cache_are_far_from_each_other() {
        let (domains, fours) = (vec![0..8, 8..16], vec![0..4, 4..8, 8..12, 12..16]);
        let measured = levels(&format!("{THREE}{COSTS}"), 16);
        assert_eq!(measured, [(domains.clone(), 5.0), (fours, 2.5)]);
        assert_eq!(levels(THREE, 16), [(domains.clone(), 2.1)]);
        let across = "cost line-cache 20 ns\ncost line-across 60 ns\n";
        assert_eq!(levels(&format!("{THREE}{across}"), 16), [(domains, 3.0)]);
        let within = "cost line-cache 20 ns\ncost line-domain 60 ns\n";
        assert_eq!(levels(&format!("{THREE}{within}"), 16)[0], (vec![0..8, 8..16], 3.0));
        // One worker for every four cores: no two of them share a cache.
        let each = vec![0..1, 1..2, 2..3, 3..4];
        let measured = levels(&format!("{THREE}{COSTS}"), 4);
        assert_eq!(measured.last(), Some(&(each, 2.5)));
    }

    /// Where all cores of a domain share a cache, the level is that of the cache, and a transfer between its groups is one between
    /// domains.
    #[test]
    fn domains_with_a_cache_each_are_as_far_as_domains() {
        let text = "domains 2\ncores 4\ncache 2 per core\ncache 3 per domain\ndistance 21\n";
        assert_eq!(levels(text, 8), [(vec![0..4, 4..8], 2.1)]);
        assert_eq!(levels(&format!("{text}{COSTS}"), 8), [(vec![0..4, 4..8], 5.0)]);
        // Without a cache that cores share, those of a domain are the nearest that were measured.
        let text = "domains 2\ncores 4\ncache 2 per core\ncost line-domain 50 ns\ncost line-across 100 ns\n";
        assert_eq!(levels(text, 8), [(vec![0..4, 4..8], 2.0)]);
    }

    #[test]
    fn groups_have_room_in_the_caches_that_they_alone_share() {
        let machine = Machine::read(&format!(
            "thalweg-machine 1\ndomains 2\ncores 4\ncache 2 size 1 MiB per core\ncache 3 size 8 MiB per 2 cores\n{COSTS}"
        ));
        let levels = Target::of(&machine.unwrap()).levels(8);
        let rooms: Vec<Vec<u64>> =
            levels.iter().map(|level| level.groups.iter().map(|group| group.room >> 20).collect()).collect();
        assert_eq!(rooms, [vec![16; 2], vec![8; 4]]);
    }
}
