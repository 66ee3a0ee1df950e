//! Bin packing by work, the emptiest first (section 3.1).

use super::{Buffers, Mapping, Pipeline, Segment};

/// Each stage, in order, to the worker that has least so far.
pub(super) fn map(pipeline: &Pipeline) -> Mapping {
    let mut bins = vec![0.0; pipeline.workers()];
    let segments = (0..pipeline.stages().len()).map(|stage| to_emptiest(pipeline, &mut bins, stage));
    Mapping::new(segments.collect(), Buffers::TwoLcm, Buffers::TwoLcm)
}

/// The first of the workers that have least.
pub(super) fn to_emptiest(pipeline: &Pipeline, bins: &mut [f64], stage: usize) -> Segment {
    let (worker, bin) = bins
        .iter_mut()
        .enumerate()
        .min_by(|(_, a), (_, b)| a.total_cmp(b))
        .expect("there is at least one worker");
    *bin += pipeline.stages()[stage].work();
    Segment::new(stage..stage + 1, worker)
}
