//! Graphs that `check` and `connect` refuse, and the messages.

use thalweg_graph::{Fault, GraphData, InPort, Item, Link, Node, NodeId, OutPort, Rate};

fn source(graph: &mut GraphData, name: &str) -> NodeId {
    graph.add(Node::sequential(name).output(OutPort::new("out", Item::of::<u64>())))
}

fn sink(graph: &mut GraphData, name: &str) -> NodeId {
    graph.add(Node::sequential(name).input(InPort::new("in", Item::of::<u64>())))
}

#[test]
fn a_connected_graph_passes() {
    let mut graph = GraphData::new();
    let (a, b) = (source(&mut graph, "a"), sink(&mut graph, "b"));
    let channel = graph.connect((a, 0), (b, 0), Link::default()).unwrap();
    assert_eq!(graph.check(), Ok(()));
    assert_eq!(graph.channel_name(channel), "a.out -> b.in");
    assert_eq!(graph.node(a).outputs()[0].channel(), Some(channel));
    assert_eq!(graph.node(b).inputs()[0].channel(), Some(channel));
}

#[test]
fn dangling_ports_are_all_found() {
    let mut graph = GraphData::new();
    source(&mut graph, "a");
    sink(&mut graph, "b");
    let faults = graph.check().unwrap_err();
    let expected = [
        Fault::DanglingOutput { output: "a.out".to_owned() },
        Fault::DanglingInput { input: "b.in".to_owned() },
    ];
    assert_eq!(faults, expected);
    assert!(faults[0].to_string().starts_with("output `a.out` is connected to nothing\n  help: "));
    assert!(faults[1].to_string().starts_with("input `b.in` is connected to nothing\n  help: "));
}

#[test]
fn a_port_has_at_most_one_channel() {
    let mut graph = GraphData::new();
    let (a, b) = (source(&mut graph, "a"), sink(&mut graph, "b"));
    let (c, d) = (source(&mut graph, "c"), sink(&mut graph, "d"));
    graph.connect((a, 0), (b, 0), Link::default()).unwrap();
    let consumer = graph.connect((a, 0), (d, 0), Link::default()).unwrap_err();
    assert_eq!(consumer, Fault::SecondConsumer { output: "a.out".to_owned() });
    let producer = graph.connect((c, 0), (b, 0), Link::default()).unwrap_err();
    assert_eq!(producer, Fault::SecondProducer { input: "b.in".to_owned() });
    assert_eq!(graph.channels().len(), 1);
}

#[test]
fn item_types_must_agree() {
    let mut graph = GraphData::new();
    let a = source(&mut graph, "a");
    let b = graph.add(Node::sequential("b").input(InPort::new("in", Item::of::<f32>())));
    let fault = graph.connect((a, 0), (b, 0), Link::default()).unwrap_err();
    assert_eq!(
        fault.to_string(),
        "output `a.out` has items of type u64, input `b.in` expects f32\n  help: convert the items with a `map` between them"
    );
    assert!(graph.node(a).outputs()[0].channel().is_none());
}

#[test]
fn a_node_that_never_pops_is_refused() {
    let mut graph = GraphData::new();
    let a = source(&mut graph, "a");
    let b = sink(&mut graph, "b");
    graph.connect((a, 0), (b, 0), Link::default()).unwrap();
    *graph.node_mut(b).inputs_mut()[0].pop_mut() = Rate::Static(0);
    assert_eq!(graph.check().unwrap_err(), [Fault::ZeroRate { node: "b".to_owned() }]);
    // A dynamic rate may be zero at some firings, which is no error.
    *graph.node_mut(b).inputs_mut()[0].pop_mut() = Rate::Dynamic;
    assert_eq!(graph.check(), Ok(()));
}

#[test]
fn a_graph_without_nodes_is_refused() {
    assert_eq!(GraphData::new().check().unwrap_err(), [Fault::Empty]);
}

#[test]
fn names_are_unique() {
    let mut graph = GraphData::new();
    let ids = [sink(&mut graph, "x"), sink(&mut graph, "x"), sink(&mut graph, "x")];
    assert_eq!(ids.map(|id| graph.node(id).name()), ["x", "x-2", "x-3"]);
    graph.rename(ids[1], "x");
    assert_eq!(graph.node(ids[1]).name(), "x-2");
    graph.rename(ids[0], "y");
    graph.rename(ids[1], "x");
    assert_eq!(graph.node(ids[1]).name(), "x");
    graph.rename(ids[2], "x-3");
    assert_eq!(graph.node(ids[2]).name(), "x-3");
}

#[test]
fn equal_graphs_have_equal_nodes_and_channels() {
    let pair = |names: [&str; 2], link: Link| {
        let mut graph = GraphData::new();
        let (a, b) = (source(&mut graph, names[0]), sink(&mut graph, names[1]));
        graph.connect((a, 0), (b, 0), link).unwrap();
        graph
    };
    let graph = pair(["a", "b"], Link::default());
    assert_eq!(graph, pair(["a", "b"], Link::default()));
    assert_ne!(graph, pair(["a", "c"], Link::default()));
    assert_ne!(graph, pair(["a", "b"], Link::default().with_initial(1)));
    // The names that a graph had before count for nothing.
    let mut renamed = pair(["a", "c"], Link::default());
    renamed.rename(NodeId(1), "b");
    assert_eq!(graph, renamed);
}

#[test]
fn many_nodes_of_one_name_are_added_in_linear_time() {
    let mut graph = GraphData::new();
    for _ in 0..200_000 {
        graph.add(Node::sequential("n"));
    }
    assert_eq!(graph.nodes()[199_999].name(), "n-200000");
}

#[test]
fn peek_is_at_least_pop() {
    let port = || InPort::new("in", Item::of::<u64>());
    assert_eq!(port().with_pop(Rate::Static(4)).peek(), 4);
    assert_eq!(port().with_peek(9).with_pop(Rate::Static(4)).peek(), 9);
    assert_eq!(port().with_pop(Rate::Static(4)).with_peek(2).peek(), 4);
    assert_eq!(port().with_pop(Rate::Dynamic).with_peek(2).peek(), 2);
}
