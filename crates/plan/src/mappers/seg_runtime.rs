//! Segments of balanced work, one for each worker: the optimum of section 4.2.2.

use super::{Buffers, Mapping, Pipeline, Segment};
use crate::passes::balance::balanced;
use std::ops::Range;

/// A segment for each worker, whose greatest work is as small as possible, which is at most twice that of any assignment of stages to
/// workers. Where fewer suffice, that of most work is split until each worker has one.
pub(super) fn map(pipeline: &Pipeline) -> Mapping {
    let works: Vec<u128> = pipeline.stages().iter().map(|stage| stage.work() as u128).collect();
    let mut pieces: Vec<Range<usize>> = balanced(&works, pipeline.workers()).collect();
    while pieces.len() < pipeline.workers() {
        let several = (0..pieces.len()).filter(|at| pieces[*at].len() > 1);
        let work = |at: &usize| works[pieces[*at].clone()].iter().sum::<u128>();
        let Some(at) = several.max_by_key(work) else { break };
        let cut = middle(&works, pieces[at].clone());
        let behind = cut..std::mem::replace(&mut pieces[at].end, cut);
        pieces.insert(at + 1, behind);
    }
    let segments = pieces.into_iter().enumerate();
    let segments = segments.map(|(worker, stages)| Segment::new(stages, worker)).collect();
    Mapping::new(segments, Buffers::Least, Buffers::Hundred)
}

/// The cut of several stages whose greater side has least work.
fn middle(works: &[u128], stages: Range<usize>) -> usize {
    let (mut before, all) = (0, works[stages.clone()].iter().sum::<u128>());
    let greater = |cut: &usize| {
        before += works[cut - 1];
        before.max(all - before)
    };
    (stages.start + 1..stages.end).min_by_key(greater).unwrap_or(stages.end)
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
            prop_assert_eq!(map(&pipeline).segments().len(), workers.min(works.len()));
            for other in [seg_runtime_greedy::map, bin_fullest::map, bin_emptiest::map] {
                prop_assert!(greatest(&pipeline, &other(&pipeline)) >= least);
            }
        }
    }
}
