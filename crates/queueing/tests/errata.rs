//! The numbers of the errata of the pipeline model's paper, F5 to F9, and its own that can be derived.

use crate::assert_near;
use thalweg_queueing::closed::Closed;
use thalweg_queueing::erlang::erlang_b;
use thalweg_queueing::ideal::{ideal, serial_bound};
use thalweg_queueing::sizes::{
    TOLERANCE, optimal_items, optimal_threads, serial_limit, storage, tokens_per_thread, upper_bound,
};
use thalweg_queueing::stealing::Stealing;
use thalweg_queueing::utilisation::{aggregate, slowest, time, utilisation};
use thalweg_queueing::{Edge, Error, Limit, Pipeline, Settings, Stage, paper, tandem};

fn closed(threads: f64, population: u64) -> f64 {
    Closed { service: 1.0, arrival: 1.0, threads, population }.solve().unwrap().throughput
}

#[test]
fn one_thread_reaches_its_bound_at_the_errata_s_shares_whatever_the_time() {
    for (n, share) in [(1, 0.5), (2, 0.8), (3, 0.9375), (4, 0.984_615), (5, 0.996_933)] {
        for service in [1e-9, 1.0, 1e6] {
            let stage = Closed { service, arrival: service, threads: 1.0, population: n };
            assert_near(stage.solve().unwrap().throughput * service, share, 1e-5);
        }
    }
    assert_eq!(tokens_per_thread(0.01), Ok(5));
    assert_eq!(tokens_per_thread(0.02), Ok(4));
    assert_eq!(tokens_per_thread(0.1), Ok(3)); // the paper's 3 for dedup and 5 for ferret are tolerances
}

#[test]
fn equation_4_has_a_ceiling() {
    assert_near(closed(15.0, 20), 9.996, 1e-4);
    assert_near(closed(15.0, 24), 11.92, 1e-4);
    assert!(closed(1000.0, 20) <= 10.0 + 1e-9);
    let error = optimal_threads(1.0, 1.0, 20, 10.5, TOLERANCE).unwrap_err();
    assert!(matches!(error, Error::Unreachable { best, .. } if best < 10.0 + 1e-9), "{error}");
    let least = optimal_threads(1.0, 1.0, 20, 9.9, TOLERANCE).unwrap();
    assert!(closed(f64::from(least), 20) >= 9.9 * 0.99 && closed(f64::from(least - 1), 20) < 9.9 * 0.99);
}

#[test]
fn equation_11_needs_a_tolerance() {
    assert!(matches!(tokens_per_thread(0.0), Ok(17..)), "only rounding lets it end");
    let target = upper_bound(1.0, 8).unwrap();
    let n = optimal_items(1.0, 1.0, 8, target, TOLERANCE).unwrap();
    assert!(closed(8.0, n) >= 0.99 * target && closed(8.0, n - 1) < 0.99 * target);
    assert_eq!(storage(21, 4), Ok(105));
    assert_eq!(serial_limit(&[2.0, 4.0]), Ok(0.25));
}

#[test]
fn step_3_exceeds_the_machine_and_is_clamped() {
    let state = Stealing { service: 1.0, threads: 8, tokens: 24 }.solve().unwrap();
    assert_near(state.idle, 0.4375, 1e-12);
    assert_near(state.stolen, 0.2307, 1e-3);
    assert_near(state.unclamped, 8.647, 1e-4);
    assert_near(state.throughput, 7.995, 1e-4);
    let state = Stealing { service: 1.0, threads: 4, tokens: 12 }.solve().unwrap();
    assert_near(state.unclamped, 4.0206, 1e-4);
    assert!(state.throughput < 4.0);
}

#[test]
fn the_offered_load_of_step_2_is_in_erlangs() {
    // p λ would make the stolen share depend on the unit of time.
    let stolen = |service| Stealing { service, threads: 8, tokens: 24 }.solve().unwrap().stolen;
    assert_near(stolen(1e-6), stolen(1.0), 1e-9);
}

#[test]
fn tokens_that_the_threads_do_not_divide_lie_between() {
    let throughput = |tokens| Stealing { service: 1.0, threads: 8, tokens }.solve().unwrap().without_stealing;
    assert_near(throughput(20), f64::midpoint(throughput(16), throughput(24)), 1e-9);
    assert_near(throughput(3), 3.0 * 0.5, 1e-9);
}

#[test]
fn stealing_does_not_depend_on_the_stages_and_pools_do() {
    let cut = |times: &[f64]| {
        Pipeline::chain(times.iter().map(|t| Stage::parallel(*t, 1.0)).collect(), 20).unwrap()
    };
    let (one, four) = (cut(&[8.0]), cut(&[1.0, 1.0, 2.0, 4.0]));
    let steal = |p| paper::stealing(p, &Settings::shared(8)).unwrap().throughput;
    assert_near(steal(&one), steal(&four), 1e-12);
    let pools = [paper::closed(&one, &Settings::pools([8])), paper::closed(&four, &Settings::pools([2; 4]))];
    let [one, four] = pools.map(|prediction| prediction.unwrap().throughput);
    assert!(four < 0.6 * one, "{four} {one}");
}

#[test]
fn a_stage_behind_a_gain_is_overloaded_in_items_of_the_source() {
    let stages = vec![Stage::sequential(0.5, 1.0), Stage::parallel(1.0, 1.0)];
    let pipeline = Pipeline::new(stages, vec![Edge::new(0, 1, 20).rates(4.0, 1.0)]).unwrap();
    let settings = Settings::pools([1, 2]);
    let open = paper::open(&pipeline, &settings, 1.0).unwrap();
    assert_near(open.throughput, 0.5, 1e-12); // 2 threads, 4 firings of 1 s; the minimum of the rates is 1
    assert_eq!((open.limit, open.stages[1].waiting), (Limit::Stage(1), None));
    assert_near(open.stages[1].rate, 2.0, 1e-12); // not 4, as equation 6 has it
    let open = paper::open(&pipeline, &settings, 0.25).unwrap();
    assert_near(open.throughput, 0.25, 1e-12);
    assert_eq!(open.limit, Limit::Arrivals);
    assert!(open.stages[1].waiting.is_some());
    let ours = tandem::predict(&pipeline, &settings).unwrap();
    assert!(ours.throughput < 0.5 && ours.throughput > 0.45, "{}", ours.throughput);
}

#[test]
fn stages_behind_an_overloaded_one_see_its_capacity() {
    // Equation 6 alone would pass 4 items a second on to the third stage, more than its threads can do.
    let stages = vec![Stage::sequential(0.5, 1.0), Stage::parallel(1.0, 1.0), Stage::parallel(1.0, 1.0)];
    let edges = vec![Edge::new(0, 1, 20).rates(4.0, 1.0), Edge::new(1, 2, 20)];
    let pipeline = Pipeline::new(stages, edges).unwrap();
    let open = paper::open(&pipeline, &Settings::pools([1, 2, 3]), 1.0).unwrap();
    assert_near(open.stages[2].rate, 2.0, 1e-12);
    assert!(open.stages[2].waiting.is_some(), "2 of 3 threads are busy");
}

#[test]
fn rates_add_where_a_stage_merges() {
    // dedup: half of the blocks skip compression.
    let half = |from, to| Edge::new(from, to, 20).rates(0.5, 1.0);
    let stage = Stage::parallel(1.0, 1.0);
    let stages = vec![Stage::sequential(0.1, 1.0), stage, stage, Stage::sequential(0.1, 1.0).merging()];
    let edges = vec![Edge::new(0, 1, 20).rates(4.0, 1.0), half(1, 2), half(1, 3), Edge::new(2, 3, 20)];
    let pipeline = Pipeline::new(stages, edges).unwrap();
    assert_eq!(pipeline.firings(), [1.0, 4.0, 2.0, 4.0]);
}

#[test]
fn equations_1_to_3_and_8_have_their_units() {
    assert_eq!(utilisation(4.0, 0.5, 4), Ok(0.5));
    assert_eq!(slowest([(4.0, 1.0), (6.0, 2.0), (1.0, 0.0)]), Ok(3.0));
    assert_eq!(aggregate([1.0, 2.0]), Ok(3.0));
    assert_eq!(time(300, 1.5), Ok(200.0));
    assert_eq!(serial_bound(5.0, &[0.1, 0.25]), Ok(4.0));
}

#[test]
fn table_2_s_speed_ups_are_over_337_seconds() {
    // Over Table 1's 437 s, what 6 stages under TBB take on 1 core, they are these.
    let times = [437.65, 221.13, 112.59, 58.5, 35.87, 33.14, 35.66];
    for (time, speed_up) in times.iter().zip([1.00, 1.98, 3.88, 7.47, 12.18, 13.19, 12.25]) {
        assert!((437.0f64 / time - speed_up).abs() < 0.01);
    }
}

#[test]
fn one_thread_steals_nothing_and_many_tokens_are_the_ideal() {
    let alone = Stealing { service: 2.0, threads: 1, tokens: 4 }.solve().unwrap();
    assert_near(alone.throughput, alone.without_stealing, 1e-12);
    let many = Stealing { service: 2.0, threads: 16, tokens: 1600 }.solve().unwrap();
    assert_near(many.throughput, ideal(2.0, 16, 1600).unwrap().throughput, 1e-9);
    assert_near(erlang_b(0.0, 3.0).unwrap(), 1.0, 1e-15); // no idle thread: nothing is stolen
}

#[test]
fn equation_4_is_not_a_tandem() {
    // Room for N items in the channel and its consumer, as equation 4 counts N.
    for (n, exact) in [(2u64, 0.8), (4, 0.857_143)] {
        let chain = Pipeline::chain(vec![Stage::sequential(1.0, 1.0); 2], n).unwrap();
        assert_near(tandem::predict(&chain, &Settings::pools([1, 1])).unwrap().throughput, exact, 1e-5);
    }
}

/// Figure 11 with the times of ferret that the paper's tables give: what `docs/results/pipelines.md` says of sizes.
#[test]
fn the_sizes_of_figure_11_depend_on_the_tolerance() {
    let (reading, small, slow) = (0.0095, 0.0032, 0.1059);
    let (middle, bound) = (slow + 3.0 * small, 1.0 / reading);
    for (tolerance, six, three, tokens, threads) in
        [(0.01, 24, 25, 5, 14), (0.05, 22, 24, 4, 13), (0.1, 21, 22, 3, 12)]
    {
        let target = |c: u32, time: f64| (f64::from(c) / time).min(bound);
        assert_eq!(optimal_items(slow, slow, 12, target(12, slow), tolerance), Ok(six));
        assert_eq!(optimal_items(middle, middle, 15, target(15, middle), tolerance), Ok(three));
        assert_eq!(tokens_per_thread(tolerance), Ok(tokens));
        let service = reading + middle + 0.0004;
        let stealing =
            |threads: u32| Stealing { service, threads, tokens: 5 * u64::from(threads) }.solve().unwrap();
        let enough = |threads: &u32| stealing(*threads).throughput >= bound * (1.0 - tolerance);
        assert_eq!((1..200).find(enough), Some(threads));
    }
    let threads = |time, items, tolerance| optimal_threads(time, time, items, bound, tolerance).ok();
    assert_eq!([0.01, 0.05, 0.1].map(|tolerance| threads(slow, 21, tolerance)), [None, None, Some(12)]);
    assert_eq!(
        [0.01, 0.02, 0.05, 0.1].map(|tolerance| threads(middle, 24, tolerance)),
        [None, Some(15), Some(13), Some(12)]
    );
    assert_eq!(threads(slow, 20, 0.1), None, "the ceiling of 20 items");
    let stage = |time, is_parallel: bool| match is_parallel {
        true => Stage::parallel(time, 1.0).ordered(1 << 11),
        false => Stage::sequential(time, 1.0).ordered(1),
    };
    let times =
        [(reading, false), (small, true), (small, true), (small, true), (slow, true), (0.0004, false)];
    for (capacity, ours, equation_4) in [(20, 72.6, 94.4), (100, 105.3, 105.3)] {
        let edges = (1..6).map(|to| Edge::new(to - 1, to, capacity).in_place()).collect();
        let stages = times.map(|(time, is_parallel)| stage(time, is_parallel)).to_vec();
        let (pipeline, pools) =
            (Pipeline::new(stages, edges).unwrap(), Settings::pools([1, 128, 128, 128, 128, 1]));
        assert_near(tandem::predict(&pipeline, &pools).unwrap().throughput, ours, 1e-3);
        assert_near(paper::closed(&pipeline, &pools).unwrap().throughput, equation_4, 1e-3);
    }
}
