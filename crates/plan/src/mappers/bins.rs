//! Bin packing by work (section 3.1).

use super::seg_runtime::runs;
use super::{Buffers, Mapping, Pipeline, Segment};

/// Each stage, in order, to the worker that has least so far.
pub(super) fn emptiest(pipeline: &Pipeline) -> Mapping {
    let mut bins = vec![0.0; pipeline.workers()];
    let segments = (0..pipeline.stages().len()).map(|stage| to_emptiest(pipeline, &mut bins, stage));
    Mapping::new(segments.collect(), Buffers::TwoLcm, Buffers::TwoLcm)
}

/// For each worker, in order, a segment whose work is at most an equal share of all; then each of the stages that are left to
/// the worker that has least.
pub(super) fn fullest(pipeline: &Pipeline) -> Mapping {
    let share = pipeline.work() / pipeline.workers() as f64;
    let mut bins = vec![0.0; pipeline.workers()];
    let (mut worker, mut workers) = (0, Vec::new());
    for stage in pipeline.stages() {
        if bins[worker] + stage.work() > share && bins[worker] > 0.0 {
            worker += 1;
        }
        if worker == bins.len() {
            break;
        }
        bins[worker] += stage.work();
        workers.push(worker);
    }
    let mut segments = runs(&workers);
    let left = workers.len()..pipeline.stages().len();
    segments.extend(left.map(|stage| to_emptiest(pipeline, &mut bins, stage)));
    Mapping::new(segments, Buffers::TwoLcm, Buffers::TwoLcm)
}

/// The first of the workers that have least.
fn to_emptiest(pipeline: &Pipeline, bins: &mut [f64], stage: usize) -> Segment {
    let (worker, bin) = bins
        .iter_mut()
        .enumerate()
        .min_by(|(_, a), (_, b)| a.total_cmp(b))
        .expect("there is at least one worker");
    *bin += pipeline.stages()[stage].work();
    Segment::new(stage..stage + 1, worker)
}
