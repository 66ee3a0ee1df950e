//! The flat graph: filters, splitters and joiners, with channels between them, as a graph of the engine.
//!
//! [`flatten()`] builds the graph of a tree. A node is named by the path of its stream; a splitter or joiner by its
//! composite's path with `.split` or `.join`. It has a port for each channel. A stream end of type `void` has no
//! channel: the outside of a null splitter or joiner, and children without input or output. So weights cover only the
//! branches with channels, and a splitter or joiner without any channel is omitted. A branch with weight 0 has a
//! channel.
//!
//! The ports of a filter have its rates. Where firings decide how many items they pop or peek, its pop rate is
//! dynamic and its `peek` is [`Rates::least_window`](crate::tree::Rates::least_window). A filter with a `prework` has
//! rates of a first firing at all ports. An item is named by its shape in StreamIt syntax, and has 4 bytes for each
//! scalar, as in native code; strings, which have no size, count as one scalar.
//!
//! Every node is [`Sequential`](thalweg_graph::Kind): whether a filter keeps state follows from its code after
//! constants are folded, which is the back end's analysis.

mod draft;
mod flatten;
mod moves;
mod ports;

pub use flatten::flatten;
pub use moves::Firing;
pub use thalweg_graph::{Channel, ChannelId, Node, NodeId};

use crate::source::Span;
use crate::tree::{FilterId, Weights};
use crate::value::{Shape, Value};
use thalweg_graph::{GraphData, Router};

/// A graph of filters, splitters and joiners, with what belongs to their code.
///
/// Nodes are in data-flow order: each follows its producers, except across feedback channels.
#[derive(Clone, Default, PartialEq, Debug)]
pub struct Flat {
    /// The nodes, their rates and their channels.
    pub graph: GraphData,
    /// For each node its filter, unless it is a splitter or joiner.
    filters: Vec<Option<FilterId>>,
    /// For each channel, what its items are.
    contents: Vec<Contents>,
}

/// What the items of a channel are.
#[derive(Clone, PartialEq, Debug)]
struct Contents {
    shape: Shape,
    /// The initial items.
    initial: Vec<Value>,
}

/// Kinds of nodes.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum NodeKind<'a> {
    /// A filter.
    Filter(FilterId),
    /// A splitter: one input, several outputs.
    Split(&'a Weights),
    /// A joiner: several inputs, one output.
    Join(&'a Weights),
}

impl Flat {
    /// A node.
    pub fn node(&self, id: NodeId) -> &Node {
        self.graph.node(id)
    }

    /// The nodes, by id.
    pub fn nodes(&self) -> &[Node] {
        self.graph.nodes()
    }

    /// A channel.
    pub fn channel(&self, id: ChannelId) -> &Channel {
        self.graph.channel(id)
    }

    /// The channels, by id.
    pub fn channels(&self) -> &[Channel] {
        self.graph.channels()
    }

    /// The kind of a node.
    pub fn kind(&self, node: NodeId) -> NodeKind<'_> {
        match (self.filters[node.index()], self.graph.router(node)) {
            (Some(filter), _) => NodeKind::Filter(filter),
            (None, Some(Router::Split(weights))) => NodeKind::Split(weights),
            (None, Some(Router::Join(weights))) => NodeKind::Join(weights),
            (None, None) => unreachable!("a node of a StreamIt graph is a filter or a router"),
        }
    }

    /// The filter that a node is.
    pub fn filter(&self, node: NodeId) -> Option<FilterId> {
        self.filters[node.index()]
    }

    /// The place of a node in the source.
    pub fn span(&self, node: NodeId) -> Span {
        self.graph.span(node).unwrap_or_default()
    }

    /// The input channels of a node, in port order.
    pub fn inputs(&self, node: NodeId) -> impl DoubleEndedIterator<Item = ChannelId> {
        self.node(node).inputs().iter().filter_map(|port| port.channel())
    }

    /// The output channels of a node, in port order.
    pub fn outputs(&self, node: NodeId) -> impl DoubleEndedIterator<Item = ChannelId> {
        self.node(node).outputs().iter().filter_map(|port| port.channel())
    }

    /// The first input channel of a node: the only one of a filter or splitter.
    pub fn input(&self, node: NodeId) -> Option<ChannelId> {
        self.inputs(node).next()
    }

    /// The first output channel of a node: the only one of a filter or joiner.
    pub fn output(&self, node: NodeId) -> Option<ChannelId> {
        self.outputs(node).next()
    }

    /// The shape of a channel's items.
    pub fn shape(&self, channel: ChannelId) -> &Shape {
        &self.contents[channel.index()].shape
    }

    /// The values of a channel's initial items.
    pub fn initial(&self, channel: ChannelId) -> &[Value] {
        &self.contents[channel.index()].initial
    }
}
