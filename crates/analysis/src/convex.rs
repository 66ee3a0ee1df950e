//! Whether sets of nodes can each be executed as one node.

use crate::components::strong_of;
use crate::groups::Groups;
use thalweg_graph::{ChannelId, GraphData, NodeId};

/// The first channel over which data returns to a set that it has left. `set` gives the set of each node; nodes without
/// one stand for themselves. `None` if the sets, each as one node, have no cycle besides those of the graph.
///
/// A set may contain a part of a cycle of the graph. Sets are numbered below the number of nodes. Only paths through
/// nodes for which `counts` returns true are followed.
///
/// ```
/// use thalweg_analysis::returning_channel;
/// use thalweg_graph::{ChannelId, GraphData, InPort, Item, Link, Node, OutPort};
///
/// let item = Item::of::<u8>();
/// let mut graph = GraphData::new();
/// let a = graph.add(Node::sequential("a").output(OutPort::new("out", item)));
/// let b = graph.add(Node::sequential("b").input(InPort::new("in", item)).output(OutPort::new("out", item)));
/// let c = graph.add(Node::sequential("c").input(InPort::new("in", item)));
/// graph.connect((a, 0), (b, 0), Link::default()).unwrap();
/// graph.connect((b, 0), (c, 0), Link::default()).unwrap();
///
/// let ends = |node| (node != b).then_some(0);
/// assert_eq!(returning_channel(&graph, |_| true, ends), Some(ChannelId(1)));
/// assert_eq!(returning_channel(&graph, |_| true, |_| Some(0)), None);
/// ```
pub fn returning_channel(
    graph: &GraphData,
    counts: impl Fn(NodeId) -> bool,
    set: impl Fn(NodeId) -> Option<usize>,
) -> Option<ChannelId> {
    let loops = crate::components(graph);
    // A part of a cycle stands for the whole cycle: all data of the set may go round it.
    let whole = |node: NodeId| {
        let members = loops.members(loops.of(node));
        members.iter().all(|member| set(*member) == set(node)).then_some(()).ok_or(members[0])
    };
    let mut least: Vec<Option<u32>> = vec![None; graph.nodes().len()];
    let mut vertex: Vec<u32> = Vec::with_capacity(graph.nodes().len());
    for node in graph.node_ids() {
        vertex.push(match (whole(node), set(node)) {
            (Err(first), _) => first.0,
            (Ok(()), Some(set)) if set < least.len() => *least[set].get_or_insert(node.0),
            (Ok(()), _) => loops.members(loops.of(node))[0].0,
        });
    }
    let ends = |id: ChannelId| {
        let channel = graph.channel(id);
        (channel.from().0, channel.to().0)
    };
    let between = graph.channel_ids().filter(|id| {
        let (from, to) = ends(*id);
        let counted = counts(from) && counts(to);
        counted && loops.of(from) != loops.of(to) && vertex[from.index()] != vertex[to.index()]
    });
    let edges = between.clone().map(|id| {
        let (from, to) = ends(id);
        (vertex[from.index()] as usize, vertex[to.index()])
    });
    let strong = strong_of(&Groups::new(graph.nodes().len(), edges));
    let mut returning = between.filter(|id| {
        let (from, to) = ends(*id);
        strong[vertex[from.index()] as usize] == strong[vertex[to.index()] as usize]
            && set(to).is_some()
            && whole(to).is_ok()
    });
    returning.next()
}

#[cfg(test)]
mod tests {
    use super::returning_channel;
    use thalweg_graph::{GraphData, InPort, Item, Link, Node, NodeId, OutPort};

    /// A graph with these channels.
    fn graph(nodes: u32, channels: &[(u32, u32)]) -> GraphData {
        let item = Item::of::<u8>();
        let mut graph = GraphData::new();
        for node in 0..nodes {
            let ins = channels.iter().filter(|(_, to)| *to == node).enumerate();
            let outs = channels.iter().filter(|(from, _)| *from == node).enumerate();
            let made = ins.fold(Node::sequential(format!("n{node}")), |made, (at, _)| {
                made.input(InPort::new(format!("in{at}"), item))
            });
            graph.add(outs.fold(made, |made, (at, _)| made.output(OutPort::new(format!("out{at}"), item))));
        }
        for (at, (from, to)) in channels.iter().enumerate() {
            let before = |side: fn(&(u32, u32)) -> u32, node: u32| {
                channels[..at].iter().filter(|channel| side(channel) == node).count()
            };
            let from = (NodeId(*from), before(|channel| channel.0, *from));
            let to = (NodeId(*to), before(|channel| channel.1, *to));
            graph.connect(from, to, Link::default()).unwrap();
        }
        graph
    }

    /// The ends of the channel that returns, for sets given by digits; `-` is no set, and `x` does not count.
    fn returns(graph: &GraphData, sets: &str) -> Option<(u32, u32)> {
        let set = |node: NodeId| sets.as_bytes()[node.index()].checked_sub(b'0').filter(|digit| *digit < 10);
        let counts = |node: NodeId| sets.as_bytes()[node.index()] != b'x';
        let found = returning_channel(graph, counts, |node| set(node).map(usize::from));
        found.map(|id| (graph.channel(id).from().0.0, graph.channel(id).to().0.0))
    }

    #[test]
    fn sets_of_a_chain_are_stretches() {
        let chain = graph(4, &[(0, 1), (1, 2), (2, 3)]);
        for good in ["----", "0011", "01--", "-00-", "3210"] {
            assert_eq!(returns(&chain, good), None, "{good}");
        }
        assert_eq!(returns(&chain, "0-0-"), Some((1, 2)));
        assert_eq!(returns(&chain, "0100"), Some((0, 1)));
        assert_eq!(returns(&chain, "0x00"), None);
    }

    #[test]
    fn branches_may_be_in_any_sets_without_a_cycle() {
        let diamond = graph(4, &[(0, 1), (0, 2), (1, 3), (2, 3)]);
        for good in ["0122", "0112", "0012"] {
            assert_eq!(returns(&diamond, good), None, "{good}");
        }
        assert_eq!(returns(&diamond, "0-00"), Some((1, 3)));
        let crossed = graph(4, &[(0, 1), (2, 3)]);
        assert_eq!(returns(&crossed, "0110"), Some((0, 1)));
        assert_eq!(returns(&crossed, "0101"), None);
    }

    #[test]
    fn a_cycle_of_the_graph_may_be_cut() {
        let cycle = graph(3, &[(0, 1), (1, 0), (1, 2)]);
        for good in ["012", "001", "011"] {
            assert_eq!(returns(&cycle, good), None, "{good}");
        }
        let inside = graph(4, &[(0, 1), (1, 2), (2, 1), (2, 3)]);
        for bad in ["0--0", "0120"] {
            assert_eq!(returns(&inside, bad), Some((2, 3)), "{bad}");
        }
        assert_eq!(returns(&inside, "0011"), None);
    }
}
