//! Workers that each run stages of their own, with channels of limited capacity: static execution.
//!
//! A worker takes its stages in turns, so an item of the source costs it the times of all of them; a stage that several workers run
//! costs each an equal part. Stages that follow each other on one worker are one stage here: what is between them makes it wait for
//! nothing. Where a worker has several such groups, each advances as if it were alone with a worker that is slower, by what the others
//! take. So the line of groups has the workers' bounds, and loses what finite channels and varying times make it lose
//! ([`decompose`](super::decompose)).
//!
//! Left out: a worker with several groups, or with a part of a shared stage, works at one while another waits, which evens out some
//! variation.

use super::predict;
use crate::collapse::merged;
use crate::{Error, Pipeline, Settings, Stage};

/// By worker: the mean time that an item of the source takes it, in seconds. `lists` has the workers of each stage.
pub(crate) fn loads(pipeline: &Pipeline, lists: &[Vec<u32>]) -> Vec<f64> {
    let workers = lists.iter().flatten().max().map_or(0, |most| *most as usize + 1);
    let mut loads = vec![0.0; workers];
    for (list, demand) in lists.iter().zip(pipeline.demands()) {
        list.iter().for_each(|worker| loads[*worker as usize] += demand / list.len() as f64);
    }
    loads
}

/// The throughput of the workers in `lists`, which has those of each stage, in items of the source per second.
///
/// # Errors
/// A number that leaves the accepted range where times are added.
pub fn throughput(pipeline: &Pipeline, lists: &[Vec<u32>]) -> Result<f64, Error> {
    let (loads, firings) = (loads(pipeline, lists), pipeline.firings());
    let inputs = |i: usize| pipeline.edges().iter().filter(move |edge| edge.to == i).map(|edge| edge.from);
    let (groups, heads) = merged(pipeline, |heads, i| {
        let first = heads[inputs(i).next()?];
        let is_alone = lists[i].len() == 1 && lists[i] == lists[first] && firings[first] > 0.0;
        (is_alone && inputs(i).all(|from| heads[from] == first)).then_some(first)
    })?;
    let of = |group: usize| &lists[heads[group]];
    // Each of a stage's workers takes an equal part, so the slowest one decides.
    let slowest = |list: &[u32]| list.iter().map(|worker| loads[*worker as usize]).fold(0.0, f64::max);
    let stretched = |(group, stage): (usize, &Stage)| {
        let list = of(group);
        let time = slowest(list) * list.len() as f64 / groups.firings()[group];
        let is_shared = !list.is_empty() && time.is_finite();
        Stage { service: if is_shared { time.max(stage.service) } else { stage.service }, ..*stage }
    };
    let stages = groups.stages().iter().enumerate().map(stretched).collect();
    let line = Pipeline::new(stages, groups.edges().to_vec())?;
    let pools: Vec<u32> = (0..line.stages().len()).map(|group| of(group).len().max(1) as u32).collect();
    Ok(predict(&line, &Settings::pools(pools))?.throughput)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Workers;

    fn chain(times: &[f64], variation: f64, capacity: u64) -> Pipeline {
        let stages = times.iter().map(|time| Stage::sequential(*time, variation)).collect();
        Pipeline::chain(stages, capacity).unwrap()
    }

    fn predicted(pipeline: &Pipeline, lists: &[&[u32]]) -> f64 {
        let workers = Workers::Assigned(lists.iter().map(|list| list.to_vec()).collect());
        predict(pipeline, &Settings { workers, tokens: None }).unwrap().throughput
    }

    #[test]
    fn a_segment_each_is_a_stage_each() {
        let (parts, whole) = (chain(&[0.5, 0.5, 0.4, 0.6], 0.2, 20), chain(&[1.0, 1.0], 0.2, 20));
        let by_pools = predict(&whole, &Settings::pools([1, 1])).unwrap().throughput;
        let by_segments = predicted(&parts, &[&[0], &[0], &[1], &[1]]);
        // Sums of several times vary less than one time as long.
        assert!((by_pools..=1.0).contains(&by_segments), "{by_segments} {by_pools}");
    }

    #[test]
    fn no_worker_does_more_than_it_can() {
        let pipeline = chain(&[1.0, 2.0, 3.0, 2.0], 0.1, 1000);
        for (lists, least) in [
            ([&[0][..], &[1], &[0], &[1]], 0.25),
            ([&[0], &[0], &[1], &[0]], 0.2),
            ([&[0], &[0], &[0], &[0]], 0.125),
        ] {
            let found = predicted(&pipeline, &lists);
            assert!(found <= least * 1.0001 && found > least * 0.9, "{lists:?}: {found}");
        }
        let farm = vec![Stage::sequential(0.1, 0.1), Stage::parallel(4.0, 0.1), Stage::sequential(0.1, 0.1)];
        let farm = Pipeline::chain(farm, 1000).unwrap();
        let found = predicted(&farm, &[&[0], &[0, 1], &[1]]);
        assert!(found <= 1.0 / 2.1 && found > 0.9 / 2.1, "{found}");
    }

    #[test]
    fn a_wrong_number_of_lists_and_a_stage_without_workers_are_refused() {
        let pipeline = chain(&[1.0, 1.0], 0.1, 10);
        for lists in [vec![vec![0]], vec![vec![0], Vec::new()]] {
            let settings = Settings { workers: Workers::Assigned(lists), tokens: None };
            assert!(predict(&pipeline, &settings).is_err());
        }
    }
}
