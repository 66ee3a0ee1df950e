//! The nodes that can be part of a deadlock.

use thalweg_graph::{Channel, GraphData, Kind, NodeId, Rate};

/// The nodes that may wait for each other in a cycle, in order of their ids.
///
/// A wait-for cycle runs along channels in either direction, so candidates are the nodes of the 2-core of the
/// undirected graph: the nodes left after repeatedly removing every node with at most one channel. These
/// are the nodes on undirected cycles and between such cycles. Both ends of a channel are candidates too if a
/// firing may need more items than the channel can hold: the pop rate is dynamic, or the channel counts bytes
/// and a firing reads several items. Takes time linear in nodes and channels.
///
/// ```
/// use thalweg_graph::{GraphData, InPort, Item, Link, Node, OutPort};
///
/// let item = Item::of::<u8>();
/// let mut graph = GraphData::new();
/// let source = graph.add(Node::sequential("source").output(OutPort::new("out", item)));
/// let fork = Node::sequential("fork").input(InPort::new("in", item));
/// let fork = graph.add(fork.output(OutPort::new("a", item)).output(OutPort::new("b", item)));
/// let zip = Node::sequential("zip").input(InPort::new("a", item)).input(InPort::new("b", item));
/// let zip = graph.add(zip);
/// graph.connect((source, 0), (fork, 0), Link::default()).unwrap();
/// graph.connect((fork, 0), (zip, 0), Link::default()).unwrap();
/// graph.connect((fork, 1), (zip, 1), Link::default()).unwrap();
/// assert_eq!(thalweg_analysis::deadlock_candidates(&graph), [fork, zip]);
/// ```
pub fn deadlock_candidates(graph: &GraphData) -> Vec<NodeId> {
    let mut degree: Vec<usize> = graph.nodes().iter().map(|node| neighbours(graph, node).count()).collect();
    let mut leaves: Vec<NodeId> = graph.node_ids().filter(|node| degree[node.index()] <= 1).collect();
    while let Some(leaf) = leaves.pop() {
        degree[leaf.index()] = 0;
        for neighbour in neighbours(graph, graph.node(leaf)) {
            let degree = &mut degree[neighbour.index()];
            *degree = degree.saturating_sub(1);
            if *degree == 1 {
                leaves.push(neighbour);
            }
        }
    }
    let mut candidates: Vec<NodeId> = graph.node_ids().filter(|node| degree[node.index()] > 1).collect();
    let narrow = graph.channels().iter().filter(|channel| may_be_too_small(graph, channel));
    candidates.extend(narrow.flat_map(|channel| [channel.from().0, channel.to().0]));
    candidates.sort_unstable();
    candidates.dedup();
    candidates
}

/// Whether a firing may need more items than the channel can hold, which a plan cannot know beforehand.
fn may_be_too_small(graph: &GraphData, channel: &Channel) -> bool {
    let (node, port) = channel.to();
    let node = graph.node(node);
    let port = &node.inputs()[port];
    node.kind() != Kind::Process
        && (port.pop() == Rate::Dynamic || (channel.link().weighed() && port.peek() > 1))
}

/// The nodes at the other ends of a node's channels: one entry for each channel.
fn neighbours<'a>(graph: &'a GraphData, node: &'a thalweg_graph::Node) -> impl Iterator<Item = NodeId> + 'a {
    let producers =
        node.inputs().iter().filter_map(|port| port.channel()).map(|id| graph.channel(id).from().0);
    let consumers =
        node.outputs().iter().filter_map(|port| port.channel()).map(|id| graph.channel(id).to().0);
    producers.chain(consumers)
}
