//! Small graphs for unit tests; every port moves one item a firing. The simulator has larger ones, with costs
//! (`thalweg_sim::shapes`).

use thalweg_graph::{GraphData, InPort, Item, Link, Node, NodeId, OutPort, Rate};

/// A graph of the nodes `kinds`, `s` for a sequential and `p` for a parallel one, joined by these channels.
pub(crate) fn graph(kinds: &str, channels: &[(u32, u32)]) -> GraphData {
    let mut graph = GraphData::new();
    for kind in kinds.chars() {
        graph.add(if kind == 'p' { Node::parallel("node") } else { Node::sequential("node") });
    }
    let item = Item::of::<u64>();
    for &(from, to) in channels {
        let (from, to) = (NodeId(from), NodeId(to));
        let (out, inp) = (graph.node(from).outputs().len(), graph.node(to).inputs().len());
        graph
            .node_mut(from)
            .outputs_mut()
            .push(OutPort::new(format!("out{out}"), item).with_push(Rate::Static(1)));
        graph.node_mut(to).inputs_mut().push(InPort::new(format!("in{inp}"), item));
        graph.connect((from, out), (to, inp), Link::default()).expect("both ports are new");
    }
    graph
}

/// Sequential nodes in a line; channel `i` leaves node `i`.
pub(crate) fn chain(nodes: u32) -> GraphData {
    let channels: Vec<(u32, u32)> = (1..nodes).map(|to| (to - 1, to)).collect();
    graph(&"s".repeat(nodes as usize), &channels)
}

/// Source, parallel node, sink.
pub(crate) fn farm() -> GraphData {
    graph("sps", &[(0, 1), (1, 2)])
}

/// Two sources into a parallel node, [`HUB`], which has a parallel and a sequential consumer.
pub(crate) fn two_sources() -> GraphData {
    graph("ssppss", &[(0, 2), (1, 2), (2, 3), (2, 4), (3, 5)])
}

/// The node in the middle of [`two_sources`].
pub(crate) const HUB: NodeId = NodeId(2);
