//! Bin packing by work, the fullest first (section 3.1).

use super::bin_emptiest::to_emptiest;
use super::{Buffers, Mapping, Pipeline, Segment};

/// For each worker, in order, a segment whose work is at most an equal share of all; then each of the stages that are left to
/// the worker that has least.
pub(super) fn map(pipeline: &Pipeline) -> Mapping {
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
    let mut segments = Segment::runs(&workers);
    let left = workers.len()..pipeline.stages().len();
    segments.extend(left.map(|stage| to_emptiest(pipeline, &mut bins, stage)));
    Mapping::new(segments, Buffers::TwoLcm, Buffers::TwoLcm)
}
