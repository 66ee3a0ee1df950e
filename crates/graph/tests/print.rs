//! The text and DOT forms of graphs.

use thalweg_graph::{GraphData, InPort, Item, Link, Node, OutPort, Rate};

fn input(name: &str) -> InPort {
    InPort::new(name, Item::of::<u64>())
}

fn output(name: &str) -> OutPort {
    OutPort::new(name, Item::of::<u64>())
}

/// A source, a loop with initial items, a merge and a sink.
fn sample() -> GraphData {
    let mut graph = GraphData::new();
    let mut read = Node::sequential("read").output(output("out").with_push(Rate::Static(4)));
    *read.blocking_mut() = true;
    let mut either = Node::sequential("either").input(input("new")).input(input("back"));
    *either.merge_mut() = true;
    let either = graph.add(either.output(output("out")));
    let read = graph.add(read);
    let window = graph.add(
        Node::parallel("window")
            .input(input("in").with_pop(Rate::Static(2)).with_peek(5))
            .output(output("again"))
            .output(output("done").with_push(Rate::Static(1))),
    );
    let count = graph.add(Node::sequential("count").input(input("in").with_pop(Rate::Dynamic)));
    let link = Link::default();
    graph.connect((read, 0), (either, 0), link.with_capacity(64).with_weighed(true)).unwrap();
    graph.connect((either, 0), (window, 0), link).unwrap();
    graph.connect((window, 0), (either, 1), link.with_initial(3).with_capacity(9)).unwrap();
    graph.connect((window, 1), (count, 0), link).unwrap();
    graph
}

#[test]
fn text_has_a_line_for_each_node_and_channel() {
    let expected = "\
4 nodes, 4 channels
either: sequential, merge, new pop 1, back pop 1, out push *
read: sequential, blocking, out push 4
window: parallel, in pop 2 peek 5, again push *, done push 1
count: sequential, in pop *
read.out -> either.new: u64, capacity 64, weighed
either.out -> window.in: u64
window.again -> either.back: u64, initial 3, capacity 9
window.done -> count.in: u64
";
    assert_eq!(sample().to_string(), expected);
}

#[test]
fn dot_shows_kinds_rates_and_links() {
    let expected = r#"digraph thalweg {
  rankdir=LR;
  n0 [label="either", shape=trapezium];
  n1 [label="read", shape=box, style=dashed];
  n2 [label="window", shape=box3d];
  n3 [label="count", shape=box];
  n1 -> n0 [taillabel="4", headlabel="new 1", label="capacity 64", tooltip="u64"];
  n0 -> n2 [taillabel="*", headlabel="2 peek 5", tooltip="u64"];
  n2 -> n0 [taillabel="again *", headlabel="back 1", label="initial 3\ncapacity 9", tooltip="u64"];
  n2 -> n3 [taillabel="done 1", headlabel="*", tooltip="u64"];
}
"#;
    assert_eq!(sample().to_dot(), expected);
}

#[test]
fn unusual_names_are_quoted_in_text() {
    let mut graph = GraphData::new();
    let a = graph.add(Node::sequential("say \"hi\"\n").output(output("größe")));
    let b = graph.add(Node::sequential("").input(input("a.b")));
    graph.connect((a, 0), (b, 0), Link::default()).unwrap();
    let expected = r#"2 nodes, 1 channel
"say \"hi\"\n": sequential, größe push *
"": sequential, "a.b" pop 1
"say \"hi\"\n".größe -> ""."a.b": u64
"#;
    assert_eq!(graph.to_string(), expected);
}

#[test]
fn unusual_names_are_escaped_in_dot() {
    let mut graph = GraphData::new();
    graph.add(Node::sequential("\"q\" \\ &lt; <b>\nline\ttab"));
    let label = graph.to_dot().lines().nth(2).unwrap().to_owned();
    assert_eq!(label, r#"  n0 [label="\"q\" \\ &amp;lt; <b>\nline\\u{9}tab", shape=box];"#);
}

#[test]
fn an_empty_graph_prints() {
    assert_eq!(GraphData::new().to_string(), "0 nodes, 0 channels\n");
    assert_eq!(GraphData::new().to_dot(), "digraph thalweg {\n  rankdir=LR;\n}\n");
}
