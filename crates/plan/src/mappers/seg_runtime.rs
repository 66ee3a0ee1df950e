//! Segments of balanced work, one for each worker (sections 3.1 and 4.2.2).

use super::{Buffers, Mapping, Pipeline, Segment};
use crate::passes::balance::balanced;

/// The greedy form of section 3.1: in order, the next worker when the work of one exceeds its share.
pub(super) fn greedy(pipeline: &Pipeline) -> Mapping {
    let works: Vec<f64> = pipeline.stages().iter().map(|stage| stage.work()).collect();
    let workers = in_turn(&works, pipeline.workers());
    Mapping::new(runs(&workers), Buffers::TwoLcm, Buffers::TwoLcm)
}

/// The optimum of section 4.2.2: the greatest work of a segment is as small as possible, which is at most twice that of any
/// assignment of stages to workers.
pub(super) fn map(pipeline: &Pipeline) -> Mapping {
    let works: Vec<u128> = pipeline.stages().iter().map(|stage| stage.work() as u128).collect();
    let segments = balanced(&works, pipeline.workers()).enumerate();
    let segments = segments.map(|(worker, stages)| Segment::new(stages, worker)).collect();
    Mapping::new(segments, Buffers::Least, Buffers::Hundred)
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

/// A segment for each run of equal workers.
pub(super) fn runs(workers: &[usize]) -> Vec<Segment> {
    let mut from = 0;
    let segment = |run: &[usize]| {
        let stages = from..from + run.len();
        from = stages.end;
        Segment::new(stages, run[0])
    };
    workers.chunk_by(|a, b| a == b).map(segment).collect()
}

#[cfg(test)]
mod tests {
    use super::super::samples::chain;
    use super::super::{Target, bins};
    use super::*;
    use proptest::prelude::*;

    fn greatest(pipeline: &Pipeline, mapping: &Mapping) -> f64 {
        let mut loads = vec![0.0; pipeline.workers()];
        for segment in mapping.segments() {
            loads[segment.worker()] += pipeline.piece(segment.stages().clone()).work();
        }
        loads.into_iter().fold(0.0, f64::max)
    }

    /// The minimum of the greatest work of any assignment of stages to workers.
    fn of_any_assignment(works: &[u32], workers: usize) -> f64 {
        let all = workers.pow(works.len() as u32);
        let load = |mut code: usize| {
            let mut loads = vec![0u32; workers];
            for work in works {
                loads[code % workers] += work;
                code /= workers;
            }
            loads.into_iter().max().unwrap_or(0)
        };
        f64::from((0..all).map(load).min().unwrap_or(0))
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(60))]
        #[test]
        fn segments_take_at_most_twice_the_time_of_any_assignment(
            works in proptest::collection::vec(1u32..50, 1..8),
            workers in 1usize..4,
        ) {
            let stages: Vec<_> = works.iter().map(|work| (*work, 0, 1)).collect();
            let pipeline = chain(&stages, &vec![1; stages.len() - 1], workers, &Target::default());
            let least = of_any_assignment(&works, workers);
            let optimum = greatest(&pipeline, &map(&pipeline));
            prop_assert!(optimum >= least && optimum <= 2.0 * least, "{optimum} {least}");
            for other in [greedy(&pipeline), bins::fullest(&pipeline), bins::emptiest(&pipeline)] {
                prop_assert!(greatest(&pipeline, &other) >= least);
            }
        }
    }
}
