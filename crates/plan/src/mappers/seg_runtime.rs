//! Segments of balanced work, one for each worker: the optimum of section 4.2.2.

use super::{Buffers, Mapping, Pipeline, Segment};
use crate::passes::balance::balanced;

/// The greatest work of a segment is as small as possible, which is at most twice that of any assignment of stages to workers.
pub(super) fn map(pipeline: &Pipeline) -> Mapping {
    let works: Vec<u128> = pipeline.stages().iter().map(|stage| stage.work() as u128).collect();
    let segments = balanced(&works, pipeline.workers()).enumerate();
    let segments = segments.map(|(worker, stages)| Segment::new(stages, worker)).collect();
    Mapping::new(segments, Buffers::Least, Buffers::Hundred)
}

#[cfg(test)]
mod tests {
    use super::super::samples::chain;
    use super::super::{Target, bin_emptiest, bin_fullest, seg_runtime_greedy};
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
            for other in [seg_runtime_greedy::map, bin_fullest::map, bin_emptiest::map] {
                prop_assert!(greatest(&pipeline, &other(&pipeline)) >= least);
            }
        }
    }
}
