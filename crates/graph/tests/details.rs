//! What few nodes have, in both forms of a graph, and what it costs the others.

use thalweg_graph::{
    Bounds, GraphData, InPort, Item, Link, Messages, Node, OutPort, Rate, Router, Span, Weights,
};

/// A source, a splitter between two streams, and a joiner in a loop.
fn program() -> GraphData {
    let item = Item::named("int", 4);
    let mut graph = GraphData::new();
    let bounds = Bounds::new(1, Some(2), None);
    let out = OutPort::new("out", item).with_bounds(bounds).with_first(Rate::Static(5));
    let source = graph.add(Node::sequential("Main.Source").output(out));
    let split = Router::Split(Weights::RoundRobin(vec![1, 2]));
    let split_id = graph.add(split.node("Main.Both.split", Some(item), &[item, item]));
    graph.set_router(split_id, split);
    let filter = |name: &str, port: InPort| Node::sequential(name).input(port);
    let bounds = Bounds::new(0, None, Some(3));
    let pick =
        InPort::new("in", item).with_pop(Rate::Dynamic).with_bounds(bounds).with_first(Rate::Static(2), 4);
    let pick = graph.add(filter("Main.Both.Band", pick));
    let fixed =
        graph.add(filter("Main.Both.Band.2", InPort::new("in", item).with_pop(Rate::Static(2)).with_peek(3)));
    graph.set_prework(fixed);
    graph.set_span(fixed, Span::new(1, 20, 32));
    graph.connect((source, 0), (split_id, 0), Link::default()).unwrap();
    let link = Link::default().with_initial(2).with_feedback(true);
    graph.connect((split_id, 0), (pick, 0), link).unwrap();
    graph.connect((split_id, 1), (fixed, 0), Link::default()).unwrap();
    graph.add_messages(Messages::new(pick, source));
    graph
}

#[test]
fn text_shows_details_where_they_exist() {
    let expected = "\
4 nodes, 3 channels
\"Main.Source\": sequential, out push [1, 2, *] first 5
\"Main.Both.split\": sequential, split roundrobin(1, 2)
\"Main.Both.Band\": sequential, in pop [0, 3] first 2 peek 4
\"Main.Both.Band.2\": sequential, in pop 2 peek 3, prework, at 1:20-32
\"Main.Source\".out -> \"Main.Both.split\".in: int
\"Main.Both.split\".0 -> \"Main.Both.Band\".in: int, initial 2
\"Main.Both.split\".1 -> \"Main.Both.Band.2\".in: int
\"Main.Both.Band\" sends messages to \"Main.Source\"
";
    assert_eq!(program().to_string(), expected);
}

#[test]
fn nested_streams_are_clusters_if_asked_for() {
    let expected = r#"digraph thalweg {
  rankdir=LR;
  subgraph cluster0 {
    label="Main";
    n0 [label="Source", shape=box];
    subgraph cluster1 {
      label="Both";
      n1 [label="split\nroundrobin(1, 2)", shape=trapezium];
      n2 [label="Band", shape=box];
      n3 [label="Band.2", shape=box];
    }
  }
  n0 -> n1 [taillabel="[1, 2, *] first 5", tooltip="int"];
  n1 -> n2 [headlabel="[0, 3] first 2 peek 4", label="initial 2", tooltip="int", constraint=false];
  n1 -> n3 [headlabel="2 peek 3", tooltip="int"];
}
"#;
    assert_eq!(program().to_nested_dot(), expected);
    let flat = program().to_dot();
    assert!(
        !flat.contains("cluster") && flat.contains("n3 [label=\"Main.Both.Band.2\", shape=box]"),
        "{flat}"
    );
}

#[test]
fn weights_give_the_rates_of_a_router() {
    let item = Item::named("int", 4);
    let rates = |router: &Router, outer: bool, branches: usize| {
        let node = router.node("r", outer.then_some(item), &vec![item; branches]);
        let pops: Vec<_> =
            node.inputs().iter().map(|port| (port.pop().fixed().unwrap(), port.peek())).collect();
        let pushes: Vec<_> = node.outputs().iter().map(|port| port.push().fixed().unwrap()).collect();
        (pops, pushes)
    };
    let weights = || Weights::RoundRobin(vec![3, 0]);
    assert_eq!(rates(&Router::Split(weights()), true, 2), (vec![(3, 3)], vec![3, 0]));
    assert_eq!(rates(&Router::Join(weights()), true, 2), (vec![(3, 3), (0, 0)], vec![3]));
    assert_eq!(rates(&Router::Split(Weights::Duplicate), true, 3), (vec![(1, 1)], vec![1, 1, 1]));
    assert_eq!(rates(&Router::Join(weights()), false, 2), (vec![(3, 3), (0, 0)], vec![]));
}

#[test]
fn details_make_graphs_unequal() {
    let mut other = program();
    other.set_span(thalweg_graph::NodeId(0), Span::default());
    assert_ne!(other, program());
    other = program();
    other.set_router(thalweg_graph::NodeId(1), Router::Split(Weights::Duplicate));
    assert_ne!(other, program());
}

/// A million processes have a node, two ports and a channel each: these bytes are most of what a process costs before
/// it runs. What few nodes have belongs into shared shapes and side tables.
#[cfg(target_pointer_width = "64")]
#[test]
fn plain_nodes_and_ports_stay_small() {
    assert_eq!([size_of::<Node>(), size_of::<InPort>(), size_of::<OutPort>()], [88, 16, 16]);
}
