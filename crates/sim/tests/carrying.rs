//! Items that own memory or are large: a worker goes on with the items that it has pushed.

use thalweg_graph::NodeId;
use thalweg_policy::Auto;
use thalweg_sim::{Cost, Failure, Model, Report, Settings, run, shapes};

/// Source, parallel node, sequential node.
fn line(firings: u64) -> Model {
    let mut model = Model::new();
    let source = model.source("source", firings, Cost::Fixed(50));
    let map = model.parallel("map", Cost::Fixed(200));
    let sink = model.sequential("sink", Cost::Fixed(50));
    model.join(source, map);
    model.join(map, sink);
    model
}

/// An item costs as much to move as the cheaper of its stages. A claim of the parallel node takes what the source pushes in
/// a slice, as in the engine, which bounds both by time.
fn settings(workers: usize) -> Settings {
    Settings { workers, transfer: 50, run: 64, slice: 64, ..Settings::default() }
}

/// The share of items that another worker consumed than the one that pushed them.
fn crossed(report: &Report, model: &Model) -> f64 {
    let items: u64 =
        model.graph.channels().iter().map(|channel| report.firings[channel.from().0.index()]).sum();
    report.remote.iter().sum::<u64>() as f64 / items as f64
}

#[test]
fn heavy_items_stay_on_their_worker() {
    for workers in [2, 4] {
        let light = line(20_000);
        let heavy = light.clone().heavy();
        let [without, with] = [&light, &heavy].map(|model| run(&Auto, model, &settings(workers)).unwrap());
        let shares = [&without, &with].map(|report| crossed(report, &light));
        assert!(shares[0] > 0.3 && shares[1] < 0.03, "{workers} workers: {shares:?}");
        assert!(with.makespan < without.makespan, "{workers}: {} -> {}", without.makespan, with.makespan);
        assert_eq!(with.firings, without.firings);
    }
}

/// So the batch is in its cache. Light items fill half of a channel before.
#[test]
fn one_worker_uses_each_batch_before_it_makes_the_next() {
    let light = line(2_000);
    let in_turn = |model: &Model| {
        let report = run(&Auto, model, &settings(1)).unwrap();
        assert_eq!(report.remote, [0, 0]);
        let [source, farm, sink] = report.activations[..] else { panic!("three nodes") };
        source.min(farm).min(sink) * 10 >= source.max(farm).max(sink) * 9
    };
    assert!(in_turn(&light.clone().heavy()), "each node once for each batch");
    assert!(!in_turn(&light));
}

#[test]
fn graphs_of_many_channels_do_not_carry() {
    let light = shapes::chain_of(66, 200, 100);
    let report = |model: &Model| run(&Auto, model, &settings(3)).unwrap();
    assert_eq!(light.graph.channels().len(), 65);
    assert_eq!(report(&light), report(&light.clone().heavy()));
}

/// Two sources, each with a stage of its own, into one node.
fn zip(firings: u64, cost: Cost) -> Model {
    let mut model = Model::new();
    let meet = model.sequential("zip", Cost::Fixed(100));
    for side in ["left", "right"] {
        let source = model.source(side, firings, Cost::Fixed(50));
        let stage = model.parallel(&format!("{side} stage"), cost);
        model.join(source, stage);
        model.join(stage, meet);
    }
    let sink = model.sequential("sink", Cost::Fixed(10));
    model.join(meet, sink);
    model
}

#[test]
fn a_zip_of_two_sources_does_not_stall() {
    for cost in [Cost::Fixed(100), Cost::Tailed(300)] {
        for capacity in [2, 12, 256] {
            for workers in [2, 3, 4, 8] {
                let report = run(&Auto, &zip(1_000, cost).capacity(capacity).heavy(), &settings(workers));
                assert_eq!(report.unwrap().firings, [1_000; 6], "{workers} workers, capacity {capacity}");
            }
        }
    }
}

/// Workers do not wait for items whose node lacks items of another input, or room: with such waits the fan took four times
/// as long as without heavy items.
#[test]
fn graphs_with_joins_are_not_slower() {
    let cost = Cost::Fixed(100);
    for (shape, mut light) in
        [("zip", zip(300, cost)), ("fan", shapes::fan(5, 100)), ("diamond", shapes::diamond(100))]
    {
        light.nodes.iter_mut().for_each(|node| node.firings *= 20);
        for workers in [2, 4] {
            let makespan = |model: &Model| run(&Auto, model, &settings(workers)).unwrap().makespan;
            let (without, with) = (makespan(&light), makespan(&light.clone().heavy()));
            assert!(10 * with < 11 * without, "{shape}, {workers} workers: {without} -> {with}");
        }
    }
}

/// A node that never gets what it needs: items of a worker wait for ever, and the run is a deadlock, not an endless wait.
#[test]
fn a_deadlock_is_found_though_items_wait() {
    let mut model = Model::new();
    let source = model.source("source", 100, Cost::Fixed(50));
    let meet = model.sequential("meet", Cost::Fixed(50));
    let back = model.sequential("back", Cost::Fixed(50));
    model.join(source, meet);
    model.join(meet, back);
    model.join(back, meet);
    let failure = run(&Auto, &model.heavy(), &settings(2)).unwrap_err();
    assert_eq!(failure, Failure::Deadlock { waiting: vec![NodeId(1), NodeId(2)] });
}
