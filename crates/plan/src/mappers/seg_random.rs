//! A segment for each worker, cut at any edges: a baseline of section 3.1.

use super::random::Random;
use super::{Buffers, Mapping, Pipeline, Segment};

pub(super) fn map(pipeline: &Pipeline) -> Mapping {
    let count = pipeline.stages().len();
    let mut random = Random::of(pipeline);
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
