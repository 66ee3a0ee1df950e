//! Predictions of reports with planted measurements, beside results that are known.

use std::sync::Arc;
use std::time::{Duration, Instant};
use thalweg_graph::{GraphData, InPort, Item, Link, Node, NodeId, OutPort, Rate};
use thalweg_plan::{Division, Plan, Program, Unit, Units, Wishes};
use thalweg_report::{Grid, ReportExt, Unpredictable};
use thalweg_trace::{Distribution, Report, Service};

/// 1000 firings of each node of a chain, in a run of one second: the nodes with the mean time of a firing in us, and the
/// capacity of the channel before each.
fn chain(nodes: &[(Node, u64, usize)]) -> Report {
    let (mut graph, item) = (GraphData::new(), Item::of::<u64>());
    let last = nodes.len() - 1;
    for (i, (node, ..)) in nodes.iter().enumerate() {
        let mut node = node.clone();
        if i > 0 {
            node = node.input(InPort::new("in", item));
        }
        if i < last {
            node = node.output(OutPort::new("out", item).with_push(Rate::Static(1)));
        }
        graph.add(node);
    }
    for to in 1..nodes.len() as u32 {
        graph.connect((NodeId(to - 1), 0), (NodeId(to), 0), Link::default()).unwrap();
    }
    let mut report = Report::new(graph, "auto", 2);
    *report.wall_mut() = Duration::from_secs(1);
    for (stats, (_, us, _)) in report.nodes_mut().iter_mut().zip(nodes) {
        (*stats.firings_mut(), *stats.activations_mut(), *stats.busy_mut()) =
            (1000, 1000, Duration::from_micros(1000 * us));
        *stats.service_mut() = Some(Box::new(exponential(*us as f64 * 1e3)));
    }
    for (stats, (.., capacity)) in report.channels_mut().iter_mut().zip(&nodes[1..]) {
        (*stats.items_mut(), *stats.capacity_mut()) = (1000, *capacity);
    }
    report
}

/// Firings whose standard deviation is their mean.
fn exponential(mean: f64) -> Service {
    let mut firing = Distribution::default();
    firing.record(0.0, 500);
    firing.record(2.0 * mean, 500);
    let mut service = Service::default();
    *service.firing_mut() = firing;
    service
}

fn node(name: &str) -> Node {
    Node::sequential(name)
}

fn near(found: f64, expected: f64) {
    assert!((found / expected - 1.0).abs() < 1e-6, "found {found}, expected {expected}");
}

#[test]
fn two_threads_and_a_channel_of_k_places_are_a_queue_of_k_places() {
    // Firings that hold places of the channel from their beginning to their end: M/M/1/K, so K / (K + 1) of 1000 a second.
    for (capacity, expected) in [(1, 500.0), (2, 666.666_667), (4, 800.0), (9, 900.0)] {
        let mut read = node("read");
        *read.blocking_mut() = true;
        let mut write = node("write");
        *write.blocking_mut() = true;
        let report = chain(&[(read, 1000, 1), (write, 1000, capacity)]);
        near(report.prediction().unwrap().throughput().predicted(), expected);
    }
}

#[test]
fn one_thread_does_all_the_work_whatever_the_room() {
    let mut report = chain(&[(node("a"), 300, 1), (Node::parallel("b"), 500, 1), (node("c"), 200, 1)]);
    *report.threads_mut() = 1;
    let prediction = report.prediction().unwrap();
    near(prediction.throughput().predicted(), 1000.0);
    near(prediction.throughput().error() + 1.0, 1.0);
    near(prediction.waiting_threads().measured() + 1.0, 1.0);
}

#[test]
fn a_stage_that_makes_more_items_fires_more_often() {
    // `split` makes four items of one, and `hash` takes 1 ms for each: 250 items of the source a second on one thread.
    let mut report = chain(&[(node("split"), 1, 1000), (node("hash"), 1000, 1000)]);
    (*report.nodes_mut()[1].firings_mut(), *report.nodes_mut()[1].busy_mut()) =
        (4000, Duration::from_secs(4));
    *report.channels_mut()[0].items_mut() = 4000;
    *report.wall_mut() = Duration::from_secs(4);
    let prediction = report.prediction().unwrap();
    near(prediction.bound(), 250.0);
    assert_eq!(prediction.limit().unwrap().name(), "hash");
    assert!(prediction.throughput().error().abs() < 0.01, "{prediction}");
}

#[test]
fn sources_of_different_rates_count_as_one() {
    let mut graph = GraphData::new();
    let item = Item::of::<u64>();
    for name in ["few", "many"] {
        graph.add(node(name).output(OutPort::new("out", item).with_push(Rate::Static(1))));
    }
    let zip = node("zip")
        .input(InPort::new("few", item))
        .input(InPort::new("many", item).with_pop(Rate::Static(4)));
    graph.add(zip);
    graph.connect((NodeId(0), 0), (NodeId(2), 0), Link::default()).unwrap();
    graph.connect((NodeId(1), 0), (NodeId(2), 1), Link::default()).unwrap();
    let mut report = Report::new(graph, "auto", 1);
    *report.wall_mut() = Duration::from_millis(700);
    for (stats, (firings, ms)) in report.nodes_mut().iter_mut().zip([(100, 200), (400, 400), (100, 100)]) {
        (*stats.firings_mut(), *stats.busy_mut()) = (firings, Duration::from_millis(ms));
    }
    (*report.channels_mut()[0].items_mut(), *report.channels_mut()[1].items_mut()) = (100, 400);
    report.channels_mut().iter_mut().for_each(|channel| *channel.capacity_mut() = 64);
    let prediction = report.prediction().unwrap();
    near(prediction.throughput().predicted(), 100.0 / 0.7);
    near(prediction.throughput().measured(), 100.0 / 0.7);
}

#[test]
fn what_no_model_has_is_refused_by_name() {
    let unmeasured = Report::default().prediction().unwrap_err();
    assert_eq!(unmeasured, Unpredictable::Unmeasured);
    let mut report = chain(&[(node("a"), 1, 1), (node("b"), 1, 8)]);
    report.graph_mut().node_mut(NodeId(1)).outputs_mut().push(OutPort::new("back", Item::of::<u64>()));
    report.graph_mut().node_mut(NodeId(0)).inputs_mut().push(InPort::new("back", Item::of::<u64>()));
    let link = Link::default().with_feedback(true).with_initial(1);
    report.graph_mut().connect((NodeId(1), 0), (NodeId(0), 0), link).unwrap();
    let channel = report.channels()[0];
    report.channels_mut().push(channel);
    let error = report.prediction().unwrap_err().to_string();
    let (what, help) = error.split_once('\n').unwrap();
    assert_eq!(what, "`b.back -> a.back` is part of a loop, and the models have none");
    assert!(help.starts_with("help: the findings say"), "{help}");
}

#[test]
fn a_grid_has_a_row_for_each_combination() {
    let report = chain(&[(node("read"), 100, 1), (Node::parallel("work"), 900, 4), (node("write"), 50, 4)]);
    let grid: Grid = "threads=1..8 capacity=1,64".parse().unwrap();
    let predictions = report.predict(&grid).unwrap();
    let rows = predictions.rows();
    assert_eq!(rows.len(), 16);
    near(rows[0].throughput(), 1e6 / 1050.0);
    for pair in rows.chunks(8).flat_map(|rows| rows.windows(2)) {
        assert!(pair[1].throughput() >= 0.99 * pair[0].throughput(), "{predictions}");
    }
    assert!(rows[15].throughput() > 5.0 * rows[8].throughput(), "{predictions}");
    assert!(rows[7].throughput() < 1.5 * rows[0].throughput(), "one place is not enough: {predictions}");
    // Four threads for `work`, one for each other node.
    let pools = report.predict(&"pools=4 capacity=64".parse().unwrap()).unwrap();
    assert!(pools.rows()[0].is_pools() && pools.rows()[0].throughput() <= 4e6 / 900.0, "{pools}");
    assert_eq!(pools.rows()[0].limit(), Some("work"));
    // A token at a time: one item passes all stages before the next begins.
    let tokens = report.predict(&"tokens=1 capacity=64 threads=3".parse().unwrap()).unwrap();
    near(tokens.rows()[0].throughput(), 1e6 / 1050.0);
}

#[test]
fn settings_that_say_nothing_are_refused() {
    for (text, part) in [
        ("threads", "expected NAME=VALUES"),
        ("threads=", "expected a number from 1, found ``"),
        ("threads=0", "found `0`"),
        ("threads=8..1", "the range `8..1` is empty"),
        ("cores=1", "`cores` is none of"),
        ("threads=1..99999999999999999999", "expected a number"),
        ("threads=1..18446744073709551615", "more than 10000 numbers"),
        ("threads=1..1000 capacity=1..1000", "more than 10000 combinations"),
    ] {
        let error = text.parse::<Grid>().unwrap_err().to_string();
        assert!(error.contains(part), "{text}: {error}");
    }
    let report = chain(&[(node("a"), 1, 1), (node("b"), 1, 8)]);
    let error = report.predict(&"threads=5000000000".parse().unwrap()).unwrap_err();
    assert_eq!(error, Unpredictable::Threads);
}

#[test]
fn text_json_and_page_have_the_prediction() {
    let report = chain(&[(node("read"), 100, 1), (Node::parallel("work"), 900, 4), (node("write"), 50, 4)]);
    let prediction = report.prediction().unwrap();
    let text = prediction.to_string();
    for part in [
        "with 2 threads for all nodes",
        "shared threads over a tandem",
        "equations 7, 8",
        "threads would give",
    ] {
        assert!(text.contains(part), "no {part:?} in\n{text}");
    }
    let json = report.to_json();
    let read = Report::from_json(&json).unwrap();
    assert_eq!((read.to_json(), read.prediction().unwrap()), (json.clone(), prediction));
    assert!(json.contains("\"prediction\": {") && json.contains("\"limited_by\""), "{json}");
    assert!(report.to_html().contains("<h2 id=\"prediction\">Prediction</h2>"));
}

#[test]
fn a_thousand_stages_are_predicted_in_little_time() {
    let nodes: Vec<_> = (0..1000).map(|i| (node(&format!("n{i}")), 1 + i % 7, 16)).collect();
    let report = chain(&nodes);
    let begin = Instant::now();
    report.prediction().unwrap();
    assert!(begin.elapsed() < Duration::from_secs(20), "{:?}", begin.elapsed());
    eprintln!("{:?}", begin.elapsed());
}

#[test]
fn the_driver_of_a_compiled_program_is_source_and_sink() {
    // A driver of 200 us a batch, and a body of 400 us: one sends a batch in each second operation, the other returns it.
    let mut report = chain(&[(node("driver"), 100, 1), (node("body"), 400, 4)]);
    let item = Item::of::<u64>();
    report.graph_mut().node_mut(NodeId(0)).inputs_mut().push(InPort::new("finished", item));
    report.graph_mut().node_mut(NodeId(1)).outputs_mut().push(OutPort::new("out", item));
    let link = Link::default().with_feedback(true);
    report.graph_mut().connect((NodeId(1), 0), (NodeId(0), 0), link).unwrap();
    let channel = report.channels()[0];
    report.channels_mut().push(channel);
    *report.nodes_mut()[0].firings_mut() = 2000;
    *report.nodes_mut()[0].busy_mut() = Duration::from_millis(200);
    let program = || {
        let units = Units::new(vec![Unit::new(vec![NodeId(0)], 1, false)], Division::Whole);
        let (graph, plan) = (GraphData::new(), Plan::new(&GraphData::new(), &Wishes::default()));
        Program::new(graph, plan, units, vec![(NodeId(1), 0..1)])
    };
    assert!(matches!(report.prediction(), Err(Unpredictable::Loop { .. })), "a loop of a user's graph");
    *report.program_mut() = Some(Arc::new(program()));
    let prediction = report.prediction().unwrap();
    // Two threads and four batches: the body, which takes 400 us, is nearly always busy. 2 operations for each batch.
    let throughput = prediction.throughput();
    assert!(throughput.predicted() > 0.85 * 5000.0 && throughput.predicted() < 5000.0, "{prediction}");
    near(throughput.measured(), 2000.0);
    assert!(prediction.to_string().contains("items in flight: at most 8, the run's tokens"), "{prediction}");
    // One batch at a time: driver and body take turns.
    report.channels_mut().iter_mut().for_each(|channel| *channel.capacity_mut() = 1);
    let alone = report.prediction().unwrap().throughput().predicted();
    assert!((alone / (2.0 / 600e-6) - 1.0).abs() < 0.1, "{alone}");
}

#[test]
fn gains_name_the_room_that_is_as_good_as_any() {
    // K / (K + 1) of the bound with K places: within 1 % of 1024 times as many from 91 on, of which 128 is the power of two.
    for (capacity, factor) in [(1, 128), (4, 32), (64, 2)] {
        let text = chain(&[(node("read"), 1000, 0), (node("write"), 1000, capacity)])
            .prediction()
            .unwrap()
            .to_string();
        let found = format!("{factor} times the room in all channels would give");
        assert_eq!(text.contains(&found), capacity < 64, "{text}");
    }
    // 64 places give all but 1.5 %, which is not worth a line.
    assert!(
        !chain(&[(node("a"), 1000, 0), (node("b"), 1000, 64)])
            .prediction()
            .unwrap()
            .to_string()
            .contains("room in")
    );
}
