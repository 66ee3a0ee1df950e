//! The flat graph: filters, splitters and joiners, with channels between them.
//!
//! A node is named by the path of its stream; a splitter or joiner by its composite's path with `.split` or
//! `.join`. [`flatten()`] builds the graph of a tree. The functions with a [`Firing`] return the items that a node
//! moves.

mod flatten;
mod moves;

pub use flatten::flatten;
pub use moves::Firing;

use crate::source::Span;
use crate::tree::{FilterId, Weights};
use crate::value::{Shape, Value};
use smol_str::SmolStr;

/// A node: an index into [`Flat::nodes`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct NodeId(pub u32);

/// A channel: an index into [`Flat::channels`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ChannelId(pub u32);

/// A graph of filters, splitters and joiners.
///
/// Nodes are in data-flow order: each follows its producers, except across feedback channels.
#[derive(Clone, Default, PartialEq, Debug)]
pub struct Flat {
    /// The nodes.
    pub nodes: Vec<Node>,
    /// The channels.
    pub channels: Vec<Channel>,
}

/// A node.
#[derive(Clone, PartialEq, Debug)]
pub struct Node {
    /// Its path.
    pub name: SmolStr,
    /// Its place in the source.
    pub span: Span,
    /// Its kind.
    pub kind: NodeKind,
    /// Input channels, in port order. A port with weight 0 has a channel too. A port of type `void` has none: this
    /// applies to the outside of a null splitter or joiner, and to children without input or output. Weights of
    /// splitters and joiners cover only ports with channels; a splitter or joiner without any channel is omitted.
    pub inputs: Vec<ChannelId>,
    /// Output channels, in port order.
    pub outputs: Vec<ChannelId>,
}

/// Kinds of nodes.
#[derive(Clone, PartialEq, Debug)]
pub enum NodeKind {
    /// A filter.
    Filter(FilterId),
    /// A splitter: one input, several outputs.
    Split(Weights),
    /// A joiner: several inputs, one output.
    Join(Weights),
}

/// A channel.
#[derive(Clone, PartialEq, Debug)]
pub struct Channel {
    /// The producer.
    pub from: NodeId,
    /// The consumer.
    pub to: NodeId,
    /// The shape of an item.
    pub item: Shape,
    /// Initial items.
    pub initial: Vec<Value>,
    /// Whether it is a feedback channel, against the order of the nodes.
    pub back: bool,
}
