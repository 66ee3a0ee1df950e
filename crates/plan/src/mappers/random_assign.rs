//! Each stage on any worker: a baseline of section 3.1.

use super::random::Random;
use super::{Buffers, Mapping, Pipeline, Segment};

pub(super) fn map(pipeline: &Pipeline) -> Mapping {
    let mut random = Random::of(pipeline);
    let segment = |stage| Segment::new(stage..stage + 1, random.below(pipeline.workers()));
    Mapping::new((0..pipeline.stages().len()).map(segment).collect(), Buffers::TwoLcm, Buffers::TwoLcm)
}
