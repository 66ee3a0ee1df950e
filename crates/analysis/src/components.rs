//! Strongly connected components, by Tarjan's algorithm with an explicit stack.

use crate::groups::Groups;
use thalweg_graph::{ChannelId, GraphData, NodeId};

/// The strongly connected components of a graph, in topological order: a channel between two components leads
/// from the lower number to the higher.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Components {
    /// The component of each node, by id.
    of: Vec<u32>,
    /// The nodes of each component.
    members: Groups<NodeId>,
}

impl Components {
    /// The number of components.
    pub fn len(&self) -> usize {
        self.members.len()
    }

    /// Whether the graph has no nodes.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The component of a node.
    pub fn of(&self, node: NodeId) -> usize {
        self.of[node.index()] as usize
    }

    /// The nodes of a component, in order of their ids.
    pub fn members(&self, component: usize) -> &[NodeId] {
        self.members.of(component)
    }

    /// The nodes of each component, components in topological order.
    pub fn iter(&self) -> impl Iterator<Item = &[NodeId]> {
        self.members.iter()
    }
}

/// The strongly connected components of `graph`: two nodes are in the same component if and only if each is
/// reachable from the other. Takes time linear in nodes and channels.
pub fn components(graph: &GraphData) -> Components {
    components_through(graph, |_| true)
}

/// All nodes in topological order of their components: every channel leads forward, except channels within a
/// component. The nodes of a component are adjacent.
pub fn topological_order(graph: &GraphData) -> Vec<NodeId> {
    components(graph).members.into_values()
}

/// The components of the subgraph with only the channels for which `counts` returns true.
pub(crate) fn components_through(graph: &GraphData, counts: impl Fn(ChannelId) -> bool) -> Components {
    let (of, count) =
        strong(graph.nodes().len(), |node, port| match graph.nodes()[node].outputs().get(port) {
            Some(output) => match output.channel().filter(|id| counts(*id)) {
                Some(channel) => Edge::To(graph.channel(channel).to().0.index()),
                None => Edge::Absent,
            },
            None => Edge::End,
        });
    let members = Groups::new(count, graph.node_ids().map(|node| (of[node.index()] as usize, node)));
    Components { of, members }
}

/// The components of the nodes `0..successors.len()` by lists of successors, numbered in topological order.
pub(crate) fn strong_of(successors: &Groups<u32>) -> Vec<u32> {
    let edge =
        |node, at| successors.of(node).get(at).map_or(Edge::End, |next: &u32| Edge::To(*next as usize));
    strong(successors.len(), edge).0
}

/// An entry in a node's list of edges.
enum Edge {
    /// An edge to this node.
    To(usize),
    /// No edge at this place, but perhaps at later ones.
    Absent,
    /// The end of the list.
    End,
}

/// The component of each of `count` nodes, numbered in topological order, and the number of components. `edge` returns
/// an entry of a node's list of edges.
fn strong(count: usize, edge: impl Fn(usize, usize) -> Edge) -> (Vec<u32>, usize) {
    let mut search = Search::new(count, edge);
    for node in 0..count {
        if search.order[node] == UNSEEN {
            search.explore(node);
        }
    }
    // The algorithm completes a component after all components that it reaches.
    let completed = search.completed;
    let of = search.of.into_iter().map(|component| completed - 1 - component).collect();
    (of, completed as usize)
}

const UNSEEN: u32 = u32::MAX;

/// The state of Tarjan's algorithm. A [`Frame`] replaces a recursive call.
struct Search<F> {
    edge: F,
    /// The discovery number of each node.
    order: Vec<u32>,
    /// For each node, the smallest discovery number of a node of `open` known to be reachable from it.
    low: Vec<u32>,
    /// Nodes discovered so far.
    seen: u32,
    frames: Vec<Frame>,
    /// Discovered nodes that are not in a completed component.
    open: Vec<u32>,
    /// The component of each node, numbered in order of completion, which is reverse topological order.
    of: Vec<u32>,
    /// Components completed so far.
    completed: u32,
}

struct Frame {
    node: u32,
    /// The edge to follow next.
    edge: u32,
}

impl<F: Fn(usize, usize) -> Edge> Search<F> {
    fn new(count: usize, edge: F) -> Self {
        Search {
            edge,
            order: vec![UNSEEN; count],
            low: vec![UNSEEN; count],
            seen: 0,
            frames: Vec::new(),
            open: Vec::new(),
            of: vec![UNSEEN; count],
            completed: 0,
        }
    }

    fn explore(&mut self, root: usize) {
        self.enter(root);
        while let Some(frame) = self.frames.last_mut() {
            let (node, edge) = (frame.node as usize, frame.edge as usize);
            frame.edge += 1;
            match (self.edge)(node, edge) {
                Edge::To(next) => self.follow(node, next),
                Edge::Absent => {}
                Edge::End => self.leave(node),
            }
        }
    }

    fn enter(&mut self, node: usize) {
        self.order[node] = self.seen;
        self.low[node] = self.seen;
        self.seen += 1;
        self.open.push(node as u32);
        self.frames.push(Frame { node: node as u32, edge: 0 });
    }

    fn follow(&mut self, node: usize, next: usize) {
        if self.order[next] == UNSEEN {
            self.enter(next);
        } else if self.of[next] == UNSEEN {
            self.reaches(node, self.order[next]);
        }
    }

    /// Records that an open node with discovery number `order` is reachable from `node`.
    fn reaches(&mut self, node: usize, order: u32) {
        self.low[node] = self.low[node].min(order);
    }

    fn leave(&mut self, node: usize) {
        self.frames.pop();
        let low = self.low[node];
        if let Some(parent) = self.frames.last() {
            self.reaches(parent.node as usize, low);
        }
        if low == self.order[node] {
            self.complete(node);
        }
    }

    /// Completes the component of which `first` was discovered first.
    fn complete(&mut self, first: usize) {
        loop {
            let node = self.open.pop().expect("`first` is open") as usize;
            self.of[node] = self.completed;
            if node == first {
                break;
            }
        }
        self.completed += 1;
    }
}
