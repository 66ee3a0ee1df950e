//! Test graphs from node numbers and rates.

pub mod execution;

use thalweg_graph::{ChannelId, GraphData, InPort, Item, Link, Node, NodeId, OutPort, Rate};

/// A channel of a test graph: its ends as node numbers, its rates and its initial items.
#[derive(Clone, Copy, Debug)]
pub struct Wire {
    pub from: usize,
    pub to: usize,
    pub push: u64,
    pub pop: u64,
    pub peek: u64,
    pub initial: usize,
}

/// A wire without initial items, with a peek rate equal to the pop rate.
pub fn wire(from: usize, to: usize, push: u64, pop: u64) -> Wire {
    Wire { from, to, push, pop, peek: pop, initial: 0 }
}

/// A graph of `nodes` sequential nodes `n0`, `n1`, ... and these wires, with static rates.
pub fn graph(nodes: usize, wires: &[Wire]) -> GraphData {
    let item = Item::of::<u64>();
    let mut graph = GraphData::new();
    for i in 0..nodes {
        graph.add(Node::sequential(format!("n{i}")));
    }
    for (i, wire) in wires.iter().enumerate() {
        let (from, to) = (NodeId(wire.from as u32), NodeId(wire.to as u32));
        let output = OutPort::new(format!("o{i}"), item).with_push(Rate::Static(wire.push));
        let input = InPort::new(format!("i{i}"), item).with_pop(Rate::Static(wire.pop)).with_peek(wire.peek);
        graph.node_mut(from).outputs_mut().push(output);
        graph.node_mut(to).inputs_mut().push(input);
        let ports = (graph.node(from).outputs().len() - 1, graph.node(to).inputs().len() - 1);
        let link = Link::default().with_initial(wire.initial);
        graph.connect((from, ports.0), (to, ports.1), link).unwrap();
    }
    graph
}

/// Makes both ends of a channel dynamic.
#[allow(dead_code, reason = "each test file is a crate, and not all of them use it")]
pub fn make_dynamic(graph: &mut GraphData, channel: ChannelId) {
    let (from, to) = (graph.channel(channel).from(), graph.channel(channel).to());
    *graph.node_mut(from.0).outputs_mut()[from.1].push_mut() = Rate::Dynamic;
    *graph.node_mut(to.0).inputs_mut()[to.1].pop_mut() = Rate::Dynamic;
}
