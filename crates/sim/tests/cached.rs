//! Runs in virtual time whose firings take time for what they miss.

use crate::support::FREE;
use crate::support::drawn::{B, M, Random, pipeline};
use thalweg_graph::{Footprint, NodeId};
use thalweg_plan::{Plan, Wishes};
use thalweg_policy::{Auto, Static};
use thalweg_sim::caches::CacheModel;
use thalweg_sim::{Model, Report, Settings, run_planned, shapes};

const CACHE: CacheModel = CacheModel { bytes: M, block: B, ways: 0, pages: 0, record: 0, miss: 7 };

fn all(report: &Report) -> u64 {
    report.misses.iter().map(|misses| misses.all()).sum()
}

/// One worker decides without a clock, so misses change nothing but the time.
#[test]
fn misses_take_their_time() {
    for seed in 0..3 {
        let drawn = pipeline(12, M / 6, &mut Random(seed * 104_729));
        let model = Model::of_profile(&drawn.graph, &drawn.profile);
        let plan = drawn.plan("seg-cache", 1, M);
        let play = |cache| {
            run_planned(&Static::default(), &model, &Settings { cache, ..FREE }, plan.clone()).unwrap()
        };
        let (without, with) = (play(None), play(Some(CACHE)));
        assert_eq!((&with.firings, &with.decisions), (&without.firings, &without.decisions));
        assert!(without.misses.is_empty() && all(&with) > 0);
        assert_eq!(with.makespan - without.makespan, 7 * all(&with));
        assert_eq!(with.busy[0] - without.busy[0], 7 * all(&with));
        let sets = play(Some(CacheModel { ways: 8, ..CACHE }));
        assert_eq!(sets.firings, with.firings);
    }
}

/// 32 modules of M/10 each: from 8 workers on, each worker's modules stay in its cache, and what is left are misses of items.
#[test]
fn a_mapping_is_faster_where_its_segments_fit() {
    let mut drawn = pipeline(32, 1, &mut Random(5));
    (0..32).for_each(|node| drawn.graph.set_footprint(NodeId(node), Footprint::Declared(M / 10)));
    let model = Model::of_profile(&drawn.graph, &drawn.profile);
    let play = |workers| {
        let plan = drawn.plan("seg-runtime", workers, M);
        let settings = Settings { workers, cache: Some(CACHE), ..FREE };
        run_planned(&Static::default(), &model, &settings, plan).unwrap()
    };
    let state = |report: &Report| report.misses.iter().map(|misses| misses.state).sum::<u64>();
    let one = play(1);
    for workers in [8, 32] {
        let report = play(workers);
        assert!(state(&report) * 20 < state(&one), "{workers} workers: {:?}", report.misses);
        assert!(report.makespan * 4 < one.makespan, "{workers}: {}, 1: {}", report.makespan, one.makespan);
    }
}

/// The state of a parallel node is read: workers that share its firings have a copy each. A sequential one moves.
#[test]
fn workers_have_copies_of_what_is_read() {
    const BLOCKS: u64 = 10;
    let mut model = shapes::farm(400, 10, 10_000);
    model.graph.set_footprint(NodeId(1), Footprint::Declared(BLOCKS * B));
    let plan = Plan::new(&model.graph, &Wishes::default().threads(4).claim_length(4));
    let cache = Some(CacheModel { bytes: 1 << 20, ..CACHE });
    let settings = Settings { workers: 4, cache, ..Settings::default() };
    let report = run_planned(&Auto, &model, &settings, plan).unwrap();
    // Source and sink have no state.
    assert!(report.misses.iter().all(|misses| misses.state <= BLOCKS), "{:?}", report.misses);
    assert!(report.misses.iter().filter(|misses| misses.state == BLOCKS).count() > 1, "{:?}", report.misses);
}

/// Lemma 2.2.4 without rounds: under `static`, with room for twice M items and more between segments, a worker misses
/// O((T/B) procLoad) blocks for T items of the source. So it is with one worker. Of several, one that has nothing else to run follows
/// its producer item by item, and both miss the block that they share again and again: up to once for each item.
#[test]
fn seg_cache_misses_in_proportion_to_its_load() {
    const CONSTANT: f64 = 3.0;
    for seed in 0..6 {
        let mut random = Random(seed * 7_777_777);
        let count = 12 + random.below(30) as usize;
        let drawn = pipeline(count, M / 6 - 20, &mut random);
        let mut plan = drawn.plan("seg-cache", 1, M);
        let least = drawn.gains.iter().copied().min().unwrap();
        for pair in plan.segments().to_vec().windows(2) {
            let edge = pair[1][0].index() - 1;
            plan.capacities_mut()[edge] = (2 * M * drawn.gains[edge] / least) as usize;
        }
        let load = drawn.loads(&plan, 1)[0];
        let model = Model::of_profile(&drawn.graph, &drawn.profile);
        let cache = Some(CacheModel { bytes: 2 * M, ..CACHE });
        let report = run_planned(&Static::default(), &model, &Settings { cache, ..FREE }, plan).unwrap();
        let each = model.nodes[0].firings as f64 / B as f64;
        // The first load of each segment is no part of the rate.
        let misses = all(&report) as f64 - drawn.graph.nodes().len() as f64 * (M / 6 / B) as f64;
        assert!(misses <= CONSTANT * each * load, "seed {seed}: {}", misses / (each * load));
    }
}
