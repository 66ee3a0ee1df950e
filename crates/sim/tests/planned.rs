//! Runs that follow a plan: its capacities, its claims and its pools.

use crate::support::FREE;
use thalweg_graph::NodeId;
use thalweg_plan::{POOLS, Plan, Wishes};
use thalweg_policy::{Decision, Pools};
use thalweg_queueing::tandem::exact;
use thalweg_queueing::tandem::phase::fit;
use thalweg_sim::{Cost, Model, Report, Settings, run, run_planned, shapes};

/// A plan for pools of `workers` workers, with this capacity of all channels and this claim length.
fn plan(model: &Model, workers: usize, capacity: usize, claim: usize) -> Plan {
    let wishes = Wishes::default().policy(POOLS).pools(workers).capacity(capacity).claim_length(claim);
    Plan::new(&model.graph, &wishes)
}

fn play(model: &Model, plan: Plan) -> Report {
    run_planned(&Pools, model, &FREE, plan).unwrap_or_else(|failure| panic!("{failure}"))
}

/// A source of 10 ticks and a sink of 30.
fn pair(firings: u64) -> Model {
    let mut model = Model::new();
    let source = model.source("source", firings, Cost::Fixed(10));
    let sink = model.sequential("sink", Cost::Fixed(30));
    model.join(source, sink);
    model
}

/// ```text
/// capacity 1                                   capacity 2
///   source 0-10          40-50                   source 0-10 10-20     40-50       70-80
///   sink         10-40         50-80             sink        10-40 40-70     70-100
/// ```
///
/// The item that the sink works on keeps its place, and the source begins only where its result has one.
#[test]
fn a_run_follows_the_plans_capacities() {
    let model = pair(6);
    assert_eq!(play(&model, plan(&model, 1, 1, 1)).makespan, 6 * 40);
    assert_eq!(play(&model, plan(&model, 1, 2, 1)).makespan, 10 + 6 * 30);
    assert_eq!(model.capacity, 256, "the model's own capacity is another one");
}

/// Claims of two: the sink begins when two firings of the source are published, at 20; those of the source wait for two places.
#[test]
fn a_run_follows_the_plans_claims() {
    let model = pair(6);
    assert_eq!(play(&model, plan(&model, 1, 4, 2)).makespan, 20 + 6 * 30);
    assert_eq!(play(&model, plan(&model, 1, 8, 3)).makespan, 30 + 6 * 30);
    // Six firings are more than the batch, so the activation of the source ends after four, which are published together.
    let mut short = plan(&model, 1, 8, 6);
    *short.batch_mut() = 4;
    assert_eq!(play(&model, short).makespan, 40 + 6 * 30);
}

/// A parallel node of 60 ticks with 1, 2 and 3 workers, between a source and a sink of 1: the node's workers bound the run.
#[test]
fn a_pool_fires_as_often_at_a_time_as_it_has_workers() {
    let mut model = Model::new();
    let source = model.source("source", 60, Cost::Fixed(1));
    let work = model.parallel("work", Cost::Fixed(60));
    let sink = model.sequential("sink", Cost::Fixed(1));
    model.join(source, work);
    model.join(work, sink);
    for workers in 1..=3 {
        let report = play(&model, plan(&model, workers, 64, 1));
        let rounds = 60 / workers as u64;
        assert!((60 * rounds..60 * rounds + 10).contains(&report.makespan), "{workers}: {}", report.makespan);
        // Worker 0 is the source's, then come those of the parallel node, and the last is the sink's.
        for entry in &report.decisions {
            let served = match entry.worker {
                0 => 0,
                worker if worker <= workers => 1,
                _ => 2,
            };
            assert!([Decision::Idle, Decision::Activate(NodeId(served))].contains(&entry.decision));
        }
    }
}

#[test]
fn without_a_plan_the_workers_of_the_settings_are_divided() {
    let model = shapes::farm(100, 10, 100);
    for (workers, expected) in [(1, 3), (3, 3), (4, 4), (16, 16)] {
        let report = run(&Pools, &model, &Settings { workers, ..FREE }).unwrap();
        assert_eq!((report.busy.len(), report.firings[1]), (expected, 100));
    }
}

/// Two exponential stages with little room, against the exact chain of [`exact`]. There a stage with a full channel keeps its
/// result and blocks after service, and an item leaves the channel when its service begins. Here a firing begins only where its
/// result has a place, and the consumer's item keeps its place until it is done. So a channel of `room + 2` is that of `room`.
#[test]
fn two_exponential_stages_have_the_throughput_of_the_exact_chain() {
    const FIRINGS: u64 = 200_000;
    const MEAN: u64 = 1000;
    let stage = |stream| Cost::Exponential { mean: MEAN, stream };
    let mut model = Model::new();
    let source = model.source("source", FIRINGS, stage(1));
    let sink = model.sequential("sink", stage(2));
    model.join(source, sink);
    for (room, known) in [(0, 0.667), (1, 0.75), (2, 0.80), (4, 0.857), (10, 0.923)] {
        let report = play(&model, plan(&model, 1, room + 2, 1));
        let measured = (FIRINGS * MEAN) as f64 / report.makespan as f64;
        let exact = exact::throughput(&fit(1.0, 1.0, 1), &fit(1.0, 1.0, 1), room);
        assert!((exact - known).abs() < 0.001, "room {room}: {exact}");
        assert!((measured / exact - 1.0).abs() < 0.01, "room {room}: {measured}, exactly {exact}");
    }
}
