//! Strongly connected components, by Tarjan's algorithm with an explicit stack.

use thalweg_graph::{ChannelId, GraphData, NodeId};

/// The strongly connected components of a graph, in topological order: a channel between two components leads
/// from the lower number to the higher.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Components {
    /// The component of each node, by id.
    of: Vec<u32>,
    /// All nodes, grouped by component.
    members: Vec<NodeId>,
    /// The index in `members` where each component begins, and the length of `members`.
    starts: Vec<usize>,
}

impl Components {
    /// The number of components.
    pub fn len(&self) -> usize {
        self.starts.len() - 1
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
        &self.members[self.starts[component]..self.starts[component + 1]]
    }

    /// The nodes of each component, components in topological order.
    pub fn iter(&self) -> impl Iterator<Item = &[NodeId]> {
        (0..self.len()).map(|component| self.members(component))
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
    components(graph).members
}

/// The components of the subgraph with only the channels for which `counts` returns true.
pub(crate) fn components_through(graph: &GraphData, counts: impl Fn(ChannelId) -> bool) -> Components {
    let mut search = Search::new(graph, counts);
    for node in graph.node_ids() {
        if search.order[node.index()] == UNSEEN {
            search.explore(node);
        }
    }
    search.finish()
}

const UNSEEN: u32 = u32::MAX;

/// The state of Tarjan's algorithm. A [`Frame`] replaces a recursive call.
struct Search<'a, F> {
    graph: &'a GraphData,
    counts: F,
    /// The discovery number of each node.
    order: Vec<u32>,
    /// For each node, the smallest discovery number of a node of `open` known to be reachable from it.
    low: Vec<u32>,
    /// Nodes discovered so far.
    seen: u32,
    frames: Vec<Frame>,
    /// Discovered nodes that are not in a completed component.
    open: Vec<NodeId>,
    /// The component of each node, numbered in order of completion, which is reverse topological order.
    of: Vec<u32>,
    /// Components completed so far.
    completed: u32,
}

struct Frame {
    node: NodeId,
    /// The output port to follow next.
    port: usize,
}

impl<'a, F: Fn(ChannelId) -> bool> Search<'a, F> {
    fn new(graph: &'a GraphData, counts: F) -> Self {
        let count = graph.nodes().len();
        Search {
            graph,
            counts,
            order: vec![UNSEEN; count],
            low: vec![UNSEEN; count],
            seen: 0,
            frames: Vec::new(),
            open: Vec::new(),
            of: vec![UNSEEN; count],
            completed: 0,
        }
    }

    fn explore(&mut self, root: NodeId) {
        self.enter(root);
        while let Some(frame) = self.frames.last_mut() {
            let (node, port) = (frame.node, frame.port);
            frame.port += 1;
            match self.graph.node(node).outputs.get(port) {
                Some(output) => {
                    if let Some(channel) = output.channel.filter(|id| (self.counts)(*id)) {
                        self.follow(node, self.graph.channel(channel).to.0);
                    }
                }
                None => self.leave(node),
            }
        }
    }

    fn enter(&mut self, node: NodeId) {
        self.order[node.index()] = self.seen;
        self.low[node.index()] = self.seen;
        self.seen += 1;
        self.open.push(node);
        self.frames.push(Frame { node, port: 0 });
    }

    fn follow(&mut self, node: NodeId, next: NodeId) {
        if self.order[next.index()] == UNSEEN {
            self.enter(next);
        } else if self.of[next.index()] == UNSEEN {
            self.reaches(node, self.order[next.index()]);
        }
    }

    /// Records that an open node with discovery number `order` is reachable from `node`.
    fn reaches(&mut self, node: NodeId, order: u32) {
        let low = &mut self.low[node.index()];
        *low = (*low).min(order);
    }

    fn leave(&mut self, node: NodeId) {
        self.frames.pop();
        let low = self.low[node.index()];
        if let Some(parent) = self.frames.last() {
            self.reaches(parent.node, low);
        }
        if low == self.order[node.index()] {
            self.complete(node);
        }
    }

    /// Completes the component of which `first` was discovered first.
    fn complete(&mut self, first: NodeId) {
        loop {
            let node = self.open.pop().expect("`first` is open");
            self.of[node.index()] = self.completed;
            if node == first {
                break;
            }
        }
        self.completed += 1;
    }

    /// Renumbers the components in topological order and groups the nodes by a counting sort.
    fn finish(self) -> Components {
        let (mut of, count) = (self.of, self.completed as usize);
        let mut starts = vec![0; count + 1];
        for component in &mut of {
            *component = self.completed - 1 - *component;
            starts[*component as usize + 1] += 1;
        }
        for i in 0..count {
            starts[i + 1] += starts[i];
        }
        let mut next = starts.clone();
        let mut members = vec![NodeId(0); of.len()];
        for node in self.graph.node_ids() {
            let slot = &mut next[of[node.index()] as usize];
            members[*slot] = node;
            *slot += 1;
        }
        Components { of, members, starts }
    }
}
