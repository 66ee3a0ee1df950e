//! Segments of balanced work, one for each worker: the greedy form of section 3.1.

use super::{Buffers, Mapping, Pipeline, Segment};

/// In order, the next worker when the work of one exceeds its share.
pub(super) fn map(pipeline: &Pipeline) -> Mapping {
    let works: Vec<f64> = pipeline.stages().iter().map(|stage| stage.work()).collect();
    let workers = in_turn(&works, pipeline.workers());
    Mapping::new(Segment::runs(&workers), Buffers::TwoLcm, Buffers::TwoLcm)
}

/// The worker of each load: in order, the next one when the loads of one exceed an equal share of all. The last takes what is
/// left.
pub(super) fn in_turn(loads: &[f64], workers: usize) -> Vec<usize> {
    let share = loads.iter().sum::<f64>() / workers as f64;
    let (mut worker, mut sum) = (0, 0.0);
    let place = |load: &f64| {
        if sum > share && worker + 1 < workers {
            (worker, sum) = (worker + 1, 0.0);
        }
        sum += load;
        worker
    };
    loads.iter().map(place).collect()
}
