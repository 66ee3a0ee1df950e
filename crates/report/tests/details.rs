//! Details of graphs in reports: splitters and joiners, first firings, bounds, places, messages.

use std::time::Duration;
use thalweg_graph::{
    Bounds, Footprint, GraphData, InPort, Item, Link, Messages, Node, NodeId, OutPort, Rate, Router, Span,
    Weights,
};
use thalweg_report::ReportExt;
use thalweg_trace::Report;

/// A source of more than 2^32 items, a splitter of each kind, a joiner and a sink.
fn program() -> GraphData {
    let item = Item::named("int", 4);
    let mut graph = GraphData::new();
    let bounds = Bounds::new(1, Some(2), None);
    let out = OutPort::new("out", item).with_bounds(bounds).with_first(Rate::Static(1 << 40));
    graph.add(Node::sequential("Main.Source").output(out));
    let routers = [
        Router::Split(Weights::RoundRobin(vec![3, 0])),
        Router::Join(Weights::RoundRobin(vec![3, 0])),
        Router::Split(Weights::Duplicate),
    ];
    for (name, router) in ["Main.A.split", "Main.A.join", "Main.B.split"].into_iter().zip(routers) {
        let id = graph.add(router.node(name, Some(item), &[item, item]));
        graph.set_router(id, router);
    }
    let bounds = Bounds::new(0, None, Some(3));
    let pick =
        InPort::new("in", item).with_pop(Rate::Dynamic).with_bounds(bounds).with_first(Rate::Static(2), 4);
    let last = graph.add(Node::sequential("Main.Pick").input(pick));
    graph.set_prework(NodeId(2));
    graph.set_span(last, Span::new(1, 20, 32));
    let link = Link::default();
    for (from, to) in
        [((0, 0), (1, 0)), ((1, 0), (2, 0)), ((1, 1), (2, 1)), ((2, 0), (3, 0)), ((3, 1), (4, 0))]
    {
        graph.connect((NodeId(from.0), from.1), (NodeId(to.0), to.1), link).unwrap();
    }
    graph.add_messages(Messages::new(last, NodeId(0)));
    graph.set_footprint(last, Footprint::Declared(4096));
    graph.set_footprint(NodeId(0), Footprint::Known(12));
    graph.declare_time(last, Duration::from_micros(2));
    graph
}

#[test]
fn details_are_written_and_read_back() {
    let report = Report::new(program(), "auto", 1);
    let text = report.to_json();
    assert_eq!(Report::from_json(&text), Ok(report));
    for field in [
        r#""split": [3, 0]"#,
        r#""join": [3, 0]"#,
        r#""split": "duplicate""#,
        r#""span": [1, 20, 32]"#,
        r#""prework": true"#,
        r#""bounds": {"least": 1, "average": 2}, "first": {"push": 1099511627776}"#,
        r#""bounds": {"least": 0, "most": 3}, "first": {"pop": 2, "peek": 4}"#,
        r#""messages": ["#,
        r#""state": {"declared": 4096}, "time_ns": 2000"#,
        r#""state": {"known": 12}"#,
    ] {
        assert!(text.contains(field), "{field} in {text}");
    }
}

#[test]
fn details_that_contradict_the_graph_are_refused() {
    let text = Report::new(program(), "auto", 1).to_json();
    for (right, wrong, why) in [
        (r#""split": [3, 0]"#, r#""split": [3]"#, "weights that agree with the ports and their rates"),
        (r#""split": [3, 0]"#, r#""split": [2, 1]"#, "weights that agree with the ports and their rates"),
        (r#""split": [3, 0]"#, r#""join": [3, 0]"#, "weights that agree with the ports and their rates"),
        (r#""split": [3, 0]"#, r#""split": [3, 0], "join": [3, 0]"#, "a splitter or a joiner"),
        (r#""join": [3, 0]"#, r#""join": 3"#, "an array of weights, or `duplicate`"),
        (r#""span": [1, 20, 32]"#, r#""span": [1, 20]"#, "invalid length 2, expected a tuple of size 3"),
        (r#""pop": 2, "peek": 4"#, r#""pop": 2, "peek": 1"#, "at least the pop rate, which is 2"),
        (r#"{"from": 4, "to": 0}"#, r#"{"from": 5, "to": 0}"#, "the index of one of 5 nodes"),
    ] {
        let wrong = text.replace(right, wrong);
        assert_ne!(wrong, text, "{right}");
        let error = Report::from_json(&wrong).unwrap_err().to_string();
        assert!(error.contains(why), "{error}");
    }
}
