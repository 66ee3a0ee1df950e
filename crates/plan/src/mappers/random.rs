//! Random mappings, the baselines of section 3.1. The same pipeline always gets the same one.

use super::{Buffers, Mapping, Pipeline, Segment};

/// A sequence of random numbers: SplitMix64.
struct Random(u64);

impl Random {
    /// A number below `bound`.
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ mixed >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((u128::from(mixed ^ mixed >> 31) * bound as u128) >> 64) as usize
    }
}

/// Each stage on any worker.
pub(super) fn assign(pipeline: &Pipeline) -> Mapping {
    let mut random = Random(pipeline.stages().len() as u64);
    let segment = |stage| Segment::new(stage..stage + 1, random.below(pipeline.workers()));
    Mapping::new((0..pipeline.stages().len()).map(segment).collect(), Buffers::TwoLcm, Buffers::TwoLcm)
}

/// A segment for each worker, cut at any edges.
pub(super) fn segments(pipeline: &Pipeline) -> Mapping {
    let count = pipeline.stages().len();
    let mut random = Random(count as u64);
    let mut places: Vec<usize> = (1..count).collect();
    let cuts = (pipeline.workers() - 1).min(places.len());
    for i in 0..cuts {
        let other = i + random.below(places.len() - i);
        places.swap(i, other);
    }
    places.truncate(cuts);
    places.sort_unstable();
    places.push(count);
    let mut from = 0;
    let segments = places.into_iter().enumerate();
    let segments = segments.map(|(worker, end)| Segment::new(std::mem::replace(&mut from, end)..end, worker));
    Mapping::new(segments.collect(), Buffers::TwoLcm, Buffers::TwoLcm)
}
