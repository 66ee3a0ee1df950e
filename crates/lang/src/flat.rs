//! The flat graph: filters, splitters and joiners, with channels between them.
//!
//! Streams are named by the path of what they are in; a splitter or joiner is its composite's path with
//! `.split` or `.join`. [`flatten`] makes the graph of a tree; [`Firing`] and the functions that take it
//! tell the items that each node moves.

mod flatten;
mod moves;

pub use flatten::flatten;
pub use moves::Firing;

use crate::source::Span;
use crate::tree::{FilterId, Weights};
use crate::value::{Shape, Value};
use smol_str::SmolStr;

/// A node, by its place in [`Flat::nodes`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct NodeId(pub u32);

/// A channel, by its place in [`Flat::channels`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ChannelId(pub u32);

/// A graph of filters, splitters and joiners.
///
/// Nodes stand in data-flow order: but for the way back of feedback loops, each after all it takes from.
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
    /// Where it stands in the source.
    pub span: Span,
    /// What it is.
    pub kind: NodeKind,
    /// What it takes from, in order. Ports that carry nothing (weight 0) have a channel all the same,
    /// but where a type is `void`: the outside of a null splitter or joiner has none, nor have streams
    /// that take or give nothing. Weights of splitters and joiners are those of the channels there are,
    /// and one that has no channel at all is not there itself.
    pub inputs: Vec<ChannelId>,
    /// What it gives to, in order.
    pub outputs: Vec<ChannelId>,
}

/// What a node is.
#[derive(Clone, PartialEq, Debug)]
pub enum NodeKind {
    /// A filter.
    Filter(FilterId),
    /// From one input to several outputs.
    Split(Weights),
    /// From several inputs to one output.
    Join(Weights),
}

/// A channel.
#[derive(Clone, PartialEq, Debug)]
pub struct Channel {
    /// Who gives.
    pub from: NodeId,
    /// Who takes.
    pub to: NodeId,
    /// What an item looks like.
    pub item: Shape,
    /// Items there before anything runs.
    pub initial: Vec<Value>,
    /// Goes back round a feedback loop, against the order of the nodes.
    pub back: bool,
}
