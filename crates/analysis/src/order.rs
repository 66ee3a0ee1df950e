//! A data-flow order of all nodes.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use thalweg_graph::{Channel, GraphData, NodeId};

/// An order of the nodes in which each follows its producers, except across feedback channels.
pub(crate) struct Order {
    /// The place of each node, by id.
    place: Vec<u32>,
}

impl Order {
    /// The order of the ids, if it is one. Otherwise the components are in topological order, and each begins at the
    /// ends of the channels that are marked as feedback, or at its first node.
    pub(crate) fn of(graph: &GraphData) -> Order {
        let forward = |channel: &Channel| channel.link().feedback() || channel.from().0 <= channel.to().0;
        if graph.channels().iter().all(forward) {
            return Order { place: (0..graph.nodes().len() as u32).collect() };
        }
        let components = crate::components(graph);
        let mut order = Order { place: vec![NONE; graph.nodes().len()] };
        let mut placed = 0;
        for members in components.iter() {
            let inside = |node: NodeId| components.of(node) == components.of(members[0]);
            order.place_all(graph, members, &mut placed, inside);
        }
        order
    }

    /// The place of a node.
    pub(crate) fn place(&self, node: NodeId) -> u32 {
        self.place[node.index()]
    }

    /// Whether a channel leads back, or from a node to itself.
    pub(crate) fn is_back(&self, channel: &Channel) -> bool {
        self.place(channel.from().0) >= self.place(channel.to().0)
    }

    /// Places the nodes of a component: the least of those that follow all their producers, or else the least.
    fn place_all(
        &mut self,
        graph: &GraphData,
        members: &[NodeId],
        placed: &mut u32,
        inside: impl Fn(NodeId) -> bool,
    ) {
        let waits_for = |channel: &Channel| {
            !channel.link().feedback() && channel.from().0 != channel.to().0 && inside(channel.from().0)
        };
        let producers = |node: NodeId| {
            let channels = graph.node(node).inputs().iter().filter_map(|port| port.channel());
            channels.map(|id| graph.channel(id)).filter(|channel| waits_for(channel)).count()
        };
        let mut waits: Vec<usize> = members.iter().map(|node| producers(*node)).collect();
        let position = |node: NodeId| members.binary_search(&node).ok();
        let ready = members.iter().zip(&waits).filter(|(_, waits)| **waits == 0);
        let mut ready: BinaryHeap<Reverse<NodeId>> = ready.map(|(node, _)| Reverse(*node)).collect();
        let mut rest = members.iter().copied();
        while let Some(node) = ready.pop().map(|Reverse(node)| node).or_else(|| rest.next()) {
            if self.place(node) != NONE {
                continue;
            }
            self.place[node.index()] = *placed;
            *placed += 1;
            let channels = graph.node(node).outputs().iter().filter_map(|port| port.channel());
            for channel in channels.map(|id| graph.channel(id)).filter(|channel| waits_for(channel)) {
                let Some(next) = position(channel.to().0) else { continue };
                waits[next] -= 1;
                if waits[next] == 0 {
                    ready.push(Reverse(members[next]));
                }
            }
        }
    }
}

const NONE: u32 = u32::MAX;

#[cfg(test)]
mod tests {
    use super::*;
    use thalweg_graph::{InPort, Item, Link, Node, OutPort};

    /// The order of `count` nodes with these channels, of which the last may be a feedback channel.
    fn order(count: usize, channels: &[(u32, u32)], feedback: bool) -> Vec<u32> {
        let mut graph = GraphData::new();
        (0..count).for_each(|_| _ = graph.add(Node::sequential("n")));
        for (i, (from, to)) in channels.iter().enumerate() {
            let (from, to) = (NodeId(*from), NodeId(*to));
            graph.node_mut(from).outputs_mut().push(OutPort::new("out", Item::of::<u8>()));
            graph.node_mut(to).inputs_mut().push(InPort::new("in", Item::of::<u8>()));
            let ports = (graph.node(from).outputs().len() - 1, graph.node(to).inputs().len() - 1);
            let link = Link::default().with_feedback(feedback && i + 1 == channels.len());
            graph.connect((from, ports.0), (to, ports.1), link).unwrap();
        }
        let order = Order::of(&graph);
        let mut nodes: Vec<u32> = (0..count as u32).collect();
        nodes.sort_by_key(|node| order.place(NodeId(*node)));
        nodes
    }

    #[test]
    fn ids_that_follow_the_items_are_the_order() {
        assert_eq!(order(4, &[(0, 2), (1, 2), (2, 3), (3, 2)], true), [0, 1, 2, 3]);
    }

    #[test]
    fn other_ids_are_sorted() {
        assert_eq!(order(3, &[(2, 1), (1, 0)], false), [2, 1, 0]);
        // The marked channel is the one that leads back.
        assert_eq!(order(3, &[(2, 1), (1, 0), (0, 2)], true), [2, 1, 0]);
        assert_eq!(order(3, &[(0, 2), (2, 1), (1, 0)], false), [0, 2, 1]);
        // A loop is in one piece: node 0 stands before it.
        assert_eq!(order(4, &[(3, 1), (0, 3), (1, 2), (2, 3)], false)[0], 0);
    }
}
