//! The part of a run that never changes: the graph, the plan, and the neighbours of each node.
//!
//! Every activation needs its neighbours, so the edges lie in flat arrays:
//!
//! ```text
//!   ports_at:  in(0)   out(0)    in(1)   out(1)   ...   end
//!                │        │        │        │
//!   ports:      [inputs 0 |outputs 0|inputs 1|outputs 1| ...]      channels, by node and port
//!   ends:       [producer 0, consumer 0, producer 1, ...]          nodes, by channel
//! ```
//!
//! The index of a channel's consumer in `ends` is the number of its send operation, and that of its producer the number
//! of its receive operation ([`operation`](crate::channel::operation)). So [`Topology::peer`] is one load.

use std::sync::{Arc, OnceLock};
use thalweg_analysis::Components;
use thalweg_graph::{ChannelId, GraphData, Node, NodeId};
use thalweg_plan::Plan;

/// The graph and the plan of a run, with the graph's edges in flat arrays.
pub(crate) struct Topology {
    /// Shared with snapshots of the run, which may outlive it.
    pub(crate) graph: Arc<GraphData>,
    /// Shared with the report.
    pub(crate) plan: Arc<Plan>,
    /// The channels of every node's inputs, then of its outputs, node by node.
    ports: Box<[ChannelId]>,
    /// By node: the index in `ports` of its first input, and that of its first output.
    ports_at: Box<[u32]>,
    /// By channel: its producer, then its consumer.
    ends: Box<[NodeId]>,
    /// Computed by the first caller that needs it.
    components: OnceLock<Components>,
    /// Computed by the first caller that needs it: see [`Topology::closed_loops`].
    closed_loops: OnceLock<Box<[usize]>>,
    /// Whether the graph has feedback channels.
    pub(crate) has_loops: bool,
}

impl Topology {
    /// The topology of a run of the graph by the plan.
    pub(crate) fn new(graph: GraphData, plan: Plan) -> Topology {
        let (ports, ports_at) = ports(&graph);
        Topology {
            ports,
            ports_at,
            ends: graph.channels().iter().flat_map(|channel| [channel.from().0, channel.to().0]).collect(),
            components: OnceLock::new(),
            closed_loops: OnceLock::new(),
            has_loops: has_loops(&graph),
            graph: Arc::new(graph),
            plan: Arc::new(plan),
        }
    }

    /// The graph's strongly connected components.
    pub(crate) fn components(&self) -> &Components {
        self.components.get_or_init(|| thalweg_analysis::components(&self.graph))
    }

    /// The numbers, in ascending order, of the components that are loops without outside inputs: their nodes have inputs,
    /// all of them from nodes of the same component.
    pub(crate) fn closed_loops(&self) -> &[usize] {
        self.closed_loops.get_or_init(|| match self.has_loops {
            false => Box::default(),
            true => {
                (0..self.components().len()).filter(|component| self.is_closed_loop(*component)).collect()
            }
        })
    }

    fn is_closed_loop(&self, component: usize) -> bool {
        let components = self.components();
        let inputs = || components.members(component).iter().flat_map(|member| self.inputs(*member));
        inputs().next().is_some() && inputs().all(|id| components.of(self.ends(*id).0) == component)
    }

    /// The channels of a node's inputs, in order of its ports.
    #[inline]
    pub(crate) fn inputs(&self, node: NodeId) -> &[ChannelId] {
        let at = 2 * node.index();
        &self.ports[self.ports_at[at] as usize..self.ports_at[at + 1] as usize]
    }

    /// The channels of a node's outputs, in order of its ports.
    #[inline]
    pub(crate) fn outputs(&self, node: NodeId) -> &[ChannelId] {
        let at = 2 * node.index() + 1;
        &self.ports[self.ports_at[at] as usize..self.ports_at[at + 1] as usize]
    }

    /// The producers of a node's inputs, then the consumers of its outputs. A neighbour occurs once for each channel.
    pub(crate) fn peers(&self, node: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        let producers = self.inputs(node).iter().map(|channel| self.ends(*channel).0);
        producers.chain(self.outputs(node).iter().map(|channel| self.ends(*channel).1))
    }

    /// The producer and the consumer of a channel.
    #[inline]
    pub(crate) fn ends(&self, channel: ChannelId) -> (NodeId, NodeId) {
        (self.ends[2 * channel.index()], self.ends[2 * channel.index() + 1])
    }

    /// The node at the other end of an operation's channel: the producer for a receive, the consumer for a send.
    #[inline]
    pub(crate) fn peer(&self, operation: u64) -> NodeId {
        self.ends[operation as usize]
    }
}

/// The channels at every node's ports, and where they begin: see [`Topology`].
fn ports(graph: &GraphData) -> (Box<[ChannelId]>, Box<[u32]>) {
    let mut ports = Vec::with_capacity(2 * graph.channels().len());
    let mut at = Vec::with_capacity(2 * graph.nodes().len() + 1);
    for node in graph.nodes() {
        at.push(ports.len() as u32);
        ports.extend(node.inputs().iter().filter_map(|port| port.channel()));
        at.push(ports.len() as u32);
        ports.extend(node.outputs().iter().filter_map(|port| port.channel()));
    }
    at.push(ports.len() as u32);
    (ports.into(), at.into())
}

/// Whether the graph is run for the node: it has no outputs, or returns a value.
pub(crate) fn is_end(node: &Node) -> bool {
    node.outputs().is_empty() || node.returns()
}

/// Whether the graph has feedback channels.
pub(crate) fn has_loops(graph: &GraphData) -> bool {
    graph.channels().iter().any(|channel| channel.link().feedback())
}
