//! What few nodes have: kept beside them, so that a node of a large graph is no larger for it.

use crate::{InPort, Item, Node, NodeId, OutPort, Rate, data};
use smol_str::{SmolStr, format_smolstr};
use std::time::Duration;

data! {
    /// A stretch of a source text, in bytes.
    #[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Debug)]
    pub struct Span {
        /// The number of the file.
        copy file: u32;
        /// The first byte.
        copy start: u32;
        /// The byte after the last.
        copy end: u32;
    }
}

impl Span {
    /// The bytes from `start` to before `end` of a file.
    pub const fn new(file: u32, start: u32, end: u32) -> Span {
        Span { file, start, end }
    }

    /// Sets the byte after the last.
    pub fn with_end(self, end: u32) -> Span {
        Span { end, ..self }
    }

    /// From the start of this span to the end of another in the same file.
    pub fn to(self, last: Span) -> Span {
        Span { end: last.end.max(self.end), ..self }
    }
}

/// The weights of a splitter or joiner. Its *branches* are its several ports: outputs of a splitter, inputs of a joiner.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Weights {
    /// A splitter: each branch receives every item.
    Duplicate,
    /// Items of each branch in a firing; all 0 if no items pass.
    RoundRobin(Vec<u32>),
}

impl Weights {
    /// Items that a firing moves through a branch.
    pub fn items(&self, branch: usize) -> u64 {
        match self {
            Weights::Duplicate => 1,
            Weights::RoundRobin(weights) => weights.get(branch).copied().unwrap_or(0).into(),
        }
    }

    /// The sum over this many branches.
    fn sum(&self, branches: usize) -> u64 {
        (0..branches).map(|branch| self.items(branch)).sum()
    }
}

/// A node that only moves items, in a fixed pattern.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Router {
    /// One input, several outputs.
    Split(Weights),
    /// Several inputs, one output.
    Join(Weights),
}

impl Router {
    /// A node with the ports and rates of this router: `in` or `out` is its single port, and branches are named by
    /// their indices. A router without `outer` lacks the single port, as one in a cycle without input from outside.
    pub fn node(&self, name: impl Into<SmolStr>, outer: Option<Item>, branches: &[Item]) -> Node {
        let branches = branches.iter().enumerate();
        let branches = branches.map(|(branch, item)| (branch, format_smolstr!("{branch}"), *item));
        let count = branches.len();
        let mut node = Node::sequential(name);
        match self {
            Router::Split(weights) => {
                let pop = if *weights == Weights::Duplicate { 1 } else { weights.sum(count) };
                node.inputs.extend(outer.map(|item| InPort::fixed("in", item, pop)));
                node.outputs.extend(branches.map(|(branch, name, item)| {
                    OutPort::new(name, item).with_push(Rate::Static(weights.items(branch)))
                }));
            }
            Router::Join(weights) => {
                let push = Rate::Static(weights.sum(count));
                node.outputs.extend(outer.map(|item| OutPort::new("out", item).with_push(push)));
                node.inputs.extend(
                    branches.map(|(branch, name, item)| InPort::fixed(name, item, weights.items(branch))),
                );
            }
        }
        node
    }
}

data! {
    /// A node sends messages to another, past the channels. Their firings must keep an order, so no plan separates them.
    #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
    pub struct Messages {
        /// The sender.
        copy from: NodeId;
        /// The receiver.
        copy to: NodeId;
    }
}

impl Messages {
    /// Messages of node `from` to node `to`.
    pub fn new(from: NodeId, to: NodeId) -> Messages {
        Messages { from, to }
    }
}

/// The bytes of memory that the firings of a node read and write again and again, beside their items: its state, tables,
/// weights. What fits into a cache together is decided by it; no answer is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Footprint {
    /// At least this many bytes: what can be seen from outside, the size of a function with its captured variables.
    AtLeast(u64),
    /// As many as the user has declared.
    Declared(u64),
    /// As many as a compiler has counted.
    Known(u64),
}

impl Footprint {
    /// The bytes.
    pub fn bytes(self) -> u64 {
        match self {
            Footprint::AtLeast(bytes) | Footprint::Declared(bytes) | Footprint::Known(bytes) => bytes,
        }
    }
}

impl Default for Footprint {
    /// No bytes are known of.
    fn default() -> Footprint {
        Footprint::AtLeast(0)
    }
}

/// The details of all nodes of a graph.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub(crate) struct Details {
    pub spans: ByNode<Span>,
    pub routers: ByNode<Router>,
    /// Nodes that were set to have a first firing of their own.
    pub preworks: ByNode<()>,
    pub messages: Vec<Messages>,
    pub footprints: ByNode<Footprint>,
    pub times: ByNode<Duration>,
}

/// A value for some nodes, by id. Ends with the last node that has one, so a graph without any has no memory here.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct ByNode<T>(Vec<Option<T>>);

impl<T> Default for ByNode<T> {
    fn default() -> ByNode<T> {
        ByNode(Vec::new())
    }
}

impl<T> ByNode<T> {
    pub fn get(&self, node: NodeId) -> Option<&T> {
        self.0.get(node.index())?.as_ref()
    }

    pub fn set(&mut self, node: NodeId, value: T) {
        if self.0.len() <= node.index() {
            self.0.resize_with(node.index() + 1, || None);
        }
        self.0[node.index()] = Some(value);
    }
}
