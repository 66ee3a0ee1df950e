//! Outer caches, which several cores share, and whether what their workers use again and again fits into them.
//!
//! Beyond the thesis, which has one private cache for each processor. Segments are made for the private cache; what is pushed out of it
//! is loaded again from the cache behind it, unless the segments of all workers there do not fit.

use super::{Mapping, Pipeline};
use std::ops::Range;
use thalweg_machine::{Cache, Machine, UnitId};

/// A cache that several cores share.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Outer {
    level: u8,
    bytes: u64,
    /// The workers on these cores, at least one.
    workers: Vec<usize>,
}

/// The caches of known size that several cores share, for workers on these units; the nearest level first.
pub(super) fn outer(machine: &Machine, units: &[UnitId]) -> Vec<Outer> {
    let core = |unit: &UnitId| machine.unit(*unit).core();
    let is_outer = |cache: &&Cache| cache.units().iter().any(|unit| core(unit) != core(&cache.units()[0]));
    let of = |cache: &Cache| {
        let workers: Vec<usize> =
            (0..units.len()).filter(|worker| cache.units().contains(&units[*worker])).collect();
        Some(Outer { level: cache.level(), bytes: cache.bytes()?, workers })
    };
    let caches = machine.caches().iter().filter(is_outer).filter_map(of);
    caches.filter(|cache| !cache.workers.is_empty()).collect()
}

/// The bytes of the largest caches that these workers share with no others, together; as many as there can be if one of them has none.
pub(super) fn room(caches: &[Outer], group: &Range<usize>) -> u64 {
    let mut without: Vec<usize> = group.clone().collect();
    let mut room = 0u64;
    for cache in caches.iter().rev() {
        // Caches are nested, so one that has some of the rest has all its workers there.
        if cache.workers.iter().all(|worker| without.contains(worker)) {
            without.retain(|worker| !cache.workers.contains(worker));
            room = room.saturating_add(cache.bytes);
        }
    }
    if without.is_empty() { room } else { u64::MAX }
}

impl Mapping {
    /// Whether some shared caches are too small for what their workers use again and again.
    pub(super) fn outer_caches(&self, pipeline: &Pipeline) -> Option<String> {
        let (machine, units) = pipeline.target().places(pipeline.workers())?;
        let caches = outer(machine, &units);
        let small = |cache: &Outer| (self.footprint(pipeline, &cache.workers), cache.clone());
        let small = caches.iter().map(small).filter(|(bytes, cache)| *bytes > cache.bytes);
        let small: Vec<(u64, Outer)> = small.collect();
        let (bytes, worst) = small.iter().max_by_key(|(bytes, cache)| bytes - cache.bytes)?;
        let workers: Vec<String> = worst.workers.iter().map(usize::to_string).collect();
        let workers = match workers.len() {
            1 => format!("worker {}", workers[0]),
            2..9 => format!("workers {}", workers.join(", ")),
            many => format!("{many} workers"),
        };
        Some(format!(
            "{} of {} caches that several cores share are smaller than what their workers use again and again: that of level {} and \
             {workers} has {} bytes for {bytes}, so state is loaded again from behind it",
            small.len(),
            caches.len(),
            worst.level,
            worst.bytes
        ))
    }

    /// The bytes that the stages of some workers use again and again, with the buffers between them. A stage that they share counts once.
    fn footprint(&self, pipeline: &Pipeline, workers: &[usize]) -> u64 {
        let mut is_theirs = vec![false; pipeline.stages().len()];
        for segment in self.segments().iter().filter(|segment| workers.contains(&segment.worker())) {
            is_theirs[segment.stages().clone()].fill(true);
        }
        for copies in self.copies() {
            is_theirs[copies.stage()] = copies.workers().iter().any(|(worker, _)| workers.contains(worker));
        }
        let states = (0..is_theirs.len()).filter(|stage| is_theirs[*stage]);
        let edges = pipeline.edges().iter().filter(|edge| is_theirs[edge.from()] && is_theirs[edge.to()]);
        let bytes =
            states.map(|stage| pipeline.stages()[stage].state()).chain(edges.map(|edge| edge.buffer()));
        bytes.fold(0, u64::saturating_add)
    }
}

#[cfg(test)]
mod tests {
    use super::super::samples::chain;
    use super::super::{Target, named};
    use super::*;

    /// Two domains of two cores, each domain with a cache of this size.
    fn target(kib: u32) -> Target {
        let text = format!(
            "thalweg-machine 1\ndomains 2\ncores 2\ncache 2 size 5 KiB per core\ncache 3 size {kib} KiB per domain\ndistance 20\n"
        );
        Target::of(&Machine::read(&text).unwrap())
    }

    /// Six stages of equal work, of which the last three have 4 KiB each: the stages before the first of worker 2, and the report.
    fn mapped(mapper: &str, kib: u32) -> (usize, Option<String>) {
        let stages = [1, 1, 1, 4, 4, 4].map(|kib| (10, kib << 10, 1));
        let pipeline = chain(&stages, &[0; 5], 4, &target(kib));
        let mapping = named(mapper).unwrap().map(&pipeline);
        let is_first = |segment: &&super::super::Segment| segment.worker() < 2;
        let first = mapping.segments().iter().filter(is_first).map(|segment| segment.stages().end).max();
        (first.unwrap(), mapping.outer_caches(&pipeline))
    }

    #[test]
    fn segments_that_fit_are_divided_so_that_they_fit_the_shared_caches() {
        assert_eq!(mapped("seg-both-fit", 10), (4, None));
        assert_eq!(mapped("seg-both-fit", 12), (3, None));
        // Whatever its state: the second domain has 12 KiB.
        let (first, report) = mapped("seg-both", 10);
        let expected = "1 of 2 caches that several cores share are smaller than what their workers use again and again: that of level 3 \
                        and workers 2, 3 has 10240 bytes for 12288, so state is loaded again from behind it";
        assert_eq!((first, report.as_deref()), (3, Some(expected)));
    }

    #[test]
    fn where_no_division_fits_the_load_decides() {
        let (first, report) = mapped("seg-both-fit", 7);
        assert_eq!(first, 3);
        assert!(report.unwrap().starts_with("1 of 2 caches "));
    }

    #[test]
    fn a_stage_with_copies_counts_once_in_each_cache() {
        let pipeline = chain(&[(1, 100, 1), (9, 1000, 4), (1, 10, 1)], &[0; 2], 4, &target(10));
        let mapping = named("seg-both-replicated").unwrap().map(&pipeline);
        assert_eq!(mapping.copies()[0].workers().len(), 4, "{mapping:?}");
        assert_eq!([[0, 1], [2, 3]].map(|workers| mapping.footprint(&pipeline, &workers)), [1100, 1010]);
    }
}
