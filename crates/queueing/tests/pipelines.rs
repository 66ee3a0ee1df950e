//! Pipelines as the report and the plan use them: gains, graphs, collapsed forms, tables and steps.

use crate::assert_near;
use thalweg_queueing::{
    Edge, Error, Limit, Model, Pipeline, PipelineFault, Settings, Stage, collapse, paper, steps, table,
    tandem,
};

fn chain(stages: &[Stage], capacity: u64) -> Pipeline {
    Pipeline::chain(stages.to_vec(), capacity).unwrap()
}

/// The paper's ferret: two short serial stages around four parallel ones, the fourth the longest.
fn ferret() -> Pipeline {
    let parallel = [1.0, 1.0, 3.0, 10.0].map(|time| Stage::parallel(time, 1.0));
    let serial = [Stage::sequential(0.9, 1.0), Stage::sequential(0.1, 1.0)];
    chain(&[&serial[..1], &parallel, &serial[1..]].concat(), 20)
}

#[test]
fn collapsed_stages_balance_the_load() {
    let pipeline = ferret();
    let collapsed = collapse(&pipeline).unwrap();
    assert_eq!(collapsed.stages().len(), 3);
    assert_near(collapsed.work(), pipeline.work(), 1e-12);
    assert_near(collapsed.stages()[1].variation, (111.0f64).sqrt() / 15.0, 1e-12);
    // 8 threads for the four stages, before the serial stage limits.
    let six = tandem::predict(&pipeline, &Settings::pools([1, 2, 2, 2, 2, 1])).unwrap();
    let three = tandem::predict(&collapsed, &Settings::pools([1, 8, 1])).unwrap();
    assert!(three.throughput > 2.0 * six.throughput, "{} {}", three.throughput, six.throughput);
    assert_eq!(six.limit, Limit::Stage(4));
}

#[test]
fn a_collapsed_gain_keeps_the_items_of_the_source() {
    let stages = vec![Stage::parallel(1.0, 0.5), Stage::parallel(0.5, 1.0), Stage::sequential(0.1, 0.0)];
    let edges = vec![Edge::new(0, 1, 8).rates(4.0, 1.0), Edge::new(1, 2, 8)];
    let pipeline = Pipeline::new(stages, edges).unwrap();
    let collapsed = collapse(&pipeline).unwrap();
    assert_eq!(collapsed.firings(), [1.0, 4.0]);
    assert_near(collapsed.stages()[0].service, 3.0, 1e-12);
    // Variances add: 0.25 and four times 0.25.
    assert_near(collapsed.stages()[0].variation, 1.25f64.sqrt() / 3.0, 1e-12);
    assert_near(collapsed.work(), pipeline.work(), 1e-12);
}

/// Shared threads have no work then, and so are no bound.
#[test]
fn stages_with_threads_of_their_own_are_bounded_by_the_slowest() {
    let stages = [2.0, 4.0].map(|time| Stage::sequential(time, 1.0).with_own_thread());
    for stages in [&stages[1..], &stages] {
        let prediction = tandem::predict(&chain(stages, 8), &Settings::shared(1)).unwrap();
        assert_near(prediction.bound, 0.25, 1e-12);
        assert!(prediction.throughput > 0.0 && prediction.throughput <= 0.25, "{prediction:?}");
        assert_eq!(prediction.limit, Limit::Stage(stages.len() - 1));
    }
}

#[test]
fn constant_times_lose_nothing() {
    let pipeline =
        chain(&[Stage::sequential(1.0, 0.0), Stage::parallel(3.0, 0.0), Stage::sequential(0.9, 0.0)], 1);
    let prediction = tandem::predict(&pipeline, &Settings::pools([1, 4, 1])).unwrap();
    assert_near(prediction.throughput, 1.0, 0.01);
}

#[test]
fn shares_of_a_stage_s_time_add_up() {
    let pipeline =
        chain(&[Stage::sequential(1.0, 1.0), Stage::sequential(2.0, 0.5), Stage::sequential(1.0, 1.5)], 2);
    let prediction = tandem::predict(&pipeline, &Settings::pools([1, 1, 1])).unwrap();
    for stage in &prediction.stages {
        let sum = stage.utilisation + stage.starved.unwrap() + stage.blocked.unwrap();
        assert_near(sum, 1.0, 1e-9);
    }
    let [first, second, third] = &prediction.stages[..] else { panic!("three stages") };
    assert!(first.blocked > Some(0.4) && first.starved < Some(0.01), "{first:?}");
    assert!(third.starved > Some(0.4) && third.blocked < Some(0.01), "{third:?}");
    assert!(second.utilisation > 0.85 && second.waiting > third.waiting, "{second:?}");
    assert_eq!((prediction.model, prediction.limit), (Model::Tandem, Limit::Stage(1)));
}

#[test]
fn blocks_of_items_count_as_one_firing_of_the_rarer_stage() {
    // 8 items of 1/8 s each behind one firing of 1 s: as one service of 1 s with an eighth of the squared variation.
    let stages = vec![Stage::sequential(1.0, 1.0), Stage::sequential(0.125, 1.0)];
    let blocks = Pipeline::new(stages, vec![Edge::new(0, 1, 32).rates(8.0, 1.0)]).unwrap();
    let whole = chain(&[Stage::sequential(1.0, 1.0), Stage::sequential(1.0, 0.125f64.sqrt())], 4);
    let settings = Settings::pools([1, 1]);
    let [a, b] = [&blocks, &whole].map(|pipeline| tandem::predict(pipeline, &settings).unwrap().throughput);
    assert_near(a, b, 0.01);
    assert_near(tandem::predict(&blocks, &settings).unwrap().stages[1].rate, 8.0 * a, 1e-12);
}

#[test]
fn a_branch_limits_the_whole_graph() {
    // 0 feeds 1 and 2, 3 takes from both.
    let stage = |time| Stage::sequential(time, 1.0);
    let stages = vec![stage(1.0), stage(4.0), stage(1.0), stage(1.0)];
    let edges = [(0, 1), (0, 2), (1, 3), (2, 3)].map(|(from, to)| Edge::new(from, to, 16)).to_vec();
    let pipeline = Pipeline::new(stages, edges).unwrap();
    let prediction = tandem::predict(&pipeline, &Settings::pools([1; 4])).unwrap();
    assert!(prediction.throughput <= 0.25 && prediction.throughput > 0.24, "{}", prediction.throughput);
    assert_eq!(prediction.limit, Limit::Stage(1));
}

#[test]
fn stages_that_never_fire_take_no_part() {
    let stages = vec![Stage::sequential(1.0, 1.0), Stage::sequential(100.0, 1.0)];
    let pipeline = Pipeline::new(stages, vec![Edge::new(0, 1, 4).rates(0.0, 1.0)]).unwrap();
    let settings = Settings::pools([1, 1]);
    for prediction in [tandem::predict(&pipeline, &settings), paper::closed(&pipeline, &settings)] {
        let prediction = prediction.unwrap();
        assert!(prediction.throughput > 0.98 && prediction.stages[1].rate == 0.0, "{prediction:?}");
    }
}

#[test]
fn a_table_rises_to_the_serial_bound() {
    let rows = table(&ferret(), 1..=64, Some(320)).unwrap();
    assert_eq!(rows.len(), 64);
    for pair in rows.windows(2) {
        assert!(pair[1].shared.throughput >= pair[0].shared.throughput * (1.0 - 1e-9));
        assert!(pair[1].pools.throughput >= pair[0].pools.throughput * (1.0 - 1e-6));
    }
    let last = &rows[63];
    for throughput in [last.shared.throughput, last.stealing, last.ideal] {
        assert!(throughput > 0.9 / 0.9 && throughput <= 1.0 / 0.9 + 1e-9, "{throughput}");
    }
    assert_near(rows[0].shared.throughput, 1.0 / 16.0, 0.01);
}

#[test]
fn steps_name_what_helps() {
    let stages = [Stage::sequential(1.0, 1.0), Stage::parallel(3.9, 1.0), Stage::sequential(1.0, 1.0)];
    let found = steps(&chain(&stages, 1), &Settings::pools([1, 3, 1])).unwrap();
    assert!(found.thread > Some(1.03 * found.now.throughput), "{found:?}");
    assert!(found.capacity > found.now.throughput && found.tokens.is_none());
    let found = steps(&chain(&stages, 1), &Settings::pools([1, 8, 1])).unwrap();
    assert_eq!((found.now.limit, found.thread), (Limit::Stage(0), None));
    let found = steps(&chain(&stages, 16), &Settings::shared(8).tokens(2)).unwrap();
    assert_eq!(found.now.limit, Limit::Tokens);
    assert!(found.tokens > Some(1.5 * found.now.throughput), "{found:?}");
}

#[test]
fn a_narrow_reorder_window_costs_throughput() {
    let with = |tickets| {
        let stages = [Stage::sequential(0.1, 0.0), Stage::parallel(8.0, 1.0).ordered(tickets)];
        tandem::predict(&chain(&stages, 8), &Settings::pools([1, 8])).unwrap().throughput
    };
    // A simulation of the stage alone keeps 0.457, 0.709 and 0.944 of its throughput.
    assert_near(with(8), 0.457, 0.15);
    assert_near(with(16), 0.709, 0.05);
    assert_near(with(32), 0.944, 0.05);
}

#[test]
fn contradictions_are_errors() {
    let stages = vec![Stage::sequential(1.0, 1.0); 2];
    let fault = |result: Result<Pipeline, Error>| match result {
        Err(Error::Pipeline(fault)) => fault,
        other => panic!("{other:?}"),
    };
    assert_eq!(fault(Pipeline::new(vec![], vec![])), PipelineFault::Empty);
    assert_eq!(
        fault(Pipeline::new(stages.clone(), vec![Edge::new(1, 0, 1)])),
        PipelineFault::Order { edge: 0 }
    );
    assert_eq!(
        fault(Pipeline::new(stages.clone(), vec![Edge::new(0, 2, 1)])),
        PipelineFault::Order { edge: 0 }
    );
    let pipeline = chain(&stages, 1);
    let error = tandem::predict(&pipeline, &Settings::pools([1])).unwrap_err();
    assert_eq!(error.to_string(), "the settings have 1 pools, the pipeline has 2 stages");
    let error = paper::stealing(&pipeline, &Settings::pools([1, 1])).unwrap_err();
    assert_eq!(error.to_string(), "the settings have 2 pools, the model has threads for all stages");
    let error = tandem::predict(&pipeline, &Settings::shared(0)).unwrap_err();
    assert_eq!(error.to_string(), "number of threads is 0, must be from 1 to 65536");
}
