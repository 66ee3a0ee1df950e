//! What few nodes have: kept beside them, so that a node of a large graph is no larger for it.

use crate::NodeId;
use std::collections::HashMap;

/// A stretch of a source text, in bytes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Debug)]
pub struct Span {
    /// The number of the file.
    pub file: u32,
    /// The first byte.
    pub start: u32,
    /// The byte after the last.
    pub end: u32,
}

impl Span {
    /// From the start of this span to the end of another in the same file.
    pub fn to(self, last: Span) -> Span {
        Span { end: last.end.max(self.end), ..self }
    }
}

/// How a splitter or joiner deals with the items of its several ports.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Weights {
    /// A splitter: each output receives every item.
    Duplicate,
    /// Items for each port and turn.
    RoundRobin(Vec<u32>),
}

/// A node that only moves items, in a fixed pattern.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Router {
    /// One input, several outputs.
    Split(Weights),
    /// Several inputs, one output.
    Join(Weights),
}

/// A node sends messages to another, past the channels. Their firings must keep an order, so no plan separates them.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Messages {
    /// The sender.
    pub from: NodeId,
    /// The receiver.
    pub to: NodeId,
}

/// The details of all nodes of a graph.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub(crate) struct Details {
    /// By id; shorter than the nodes where the last have none.
    pub spans: Vec<Option<Span>>,
    pub routers: HashMap<NodeId, Router>,
    pub messages: Vec<Messages>,
}
