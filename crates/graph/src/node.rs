//! Nodes, their ports and rates.

use crate::ChannelId;
use smol_str::SmolStr;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

/// How many items a firing moves through a port.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Rate {
    /// The same number at every firing.
    Static(u32),
    /// A number that each firing decides.
    Dynamic,
}

impl Rate {
    /// The number of a static rate.
    pub fn fixed(self) -> Option<u32> {
        match self {
            Rate::Static(n) => Some(n),
            Rate::Dynamic => None,
        }
    }
}

/// Whether firings of a node may overlap.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// One firing at a time, with state of its own.
    Sequential,
    /// Any number of firings at a time, without state; outputs appear in the order of the inputs.
    Parallel,
    /// Sequential code that receives and sends one item at a time and waits in between: a Kahn
    /// process. All its rates are dynamic.
    Process,
}

/// The type of the items of a port, for messages and size estimates.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Item {
    /// The Rust type's name.
    pub name: &'static str,
    /// Size of one item in bytes, without what it points to.
    pub bytes: usize,
}

impl Item {
    /// Describes `T`.
    pub fn of<T>() -> Item {
        Item { name: std::any::type_name::<T>(), bytes: size_of::<T>() }
    }
}

/// What there is to say of an input port.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub struct InShape {
    /// Name, unique among the node's inputs.
    pub name: SmolStr,
    /// Type of the items.
    pub item: Item,
    /// Items taken by a firing.
    pub pop: Rate,
    /// Items a firing may look at, those it takes included; at least the static pop rate.
    pub peek: u32,
}

/// An input port: what its [`InShape`] says, which ports of many nodes share, and its channel.
#[derive(Clone, Debug)]
pub struct InPort {
    pub(crate) shape: Arc<InShape>,
    /// The channel that feeds it, once connected.
    pub channel: Option<ChannelId>,
}

impl Deref for InPort {
    type Target = InShape;

    fn deref(&self) -> &InShape {
        &self.shape
    }
}

impl DerefMut for InPort {
    /// Of this port alone.
    fn deref_mut(&mut self) -> &mut InShape {
        Arc::make_mut(&mut self.shape)
    }
}

impl InPort {
    /// A port that takes one item a firing.
    pub fn new(name: impl Into<SmolStr>, item: Item) -> InPort {
        let shape = InShape { name: name.into(), item, pop: Rate::Static(1), peek: 1 };
        InPort { shape: Arc::new(shape), channel: None }
    }

    /// The same port with another pop rate; peek follows where it would be below it.
    pub fn pop(mut self, pop: Rate) -> InPort {
        self.pop = pop;
        self.peek = self.peek.max(pop.fixed().unwrap_or(0));
        self
    }

    /// The same port, seeing `peek` items at each firing.
    pub fn peek(mut self, peek: u32) -> InPort {
        self.peek = peek.max(self.pop.fixed().unwrap_or(0));
        self
    }
}

/// What there is to say of an output port.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub struct OutShape {
    /// Name, unique among the node's outputs.
    pub name: SmolStr,
    /// Type of the items.
    pub item: Item,
    /// Items given by a firing.
    pub push: Rate,
}

/// An output port: what its [`OutShape`] says, which ports of many nodes share, and its channel.
#[derive(Clone, Debug)]
pub struct OutPort {
    pub(crate) shape: Arc<OutShape>,
    /// The channel it feeds, once connected.
    pub channel: Option<ChannelId>,
}

impl Deref for OutPort {
    type Target = OutShape;

    fn deref(&self) -> &OutShape {
        &self.shape
    }
}

impl DerefMut for OutPort {
    /// Of this port alone.
    fn deref_mut(&mut self) -> &mut OutShape {
        Arc::make_mut(&mut self.shape)
    }
}

impl OutPort {
    /// A port that gives any number of items a firing.
    pub fn new(name: impl Into<SmolStr>, item: Item) -> OutPort {
        let shape = OutShape { name: name.into(), item, push: Rate::Dynamic };
        OutPort { shape: Arc::new(shape), channel: None }
    }

    /// The same port with another push rate.
    pub fn push(mut self, push: Rate) -> OutPort {
        self.push = push;
        self
    }
}

/// A node: a kernel, or an end of the graph that the outside holds.
#[derive(Clone, Debug)]
pub struct Node {
    /// Name, unique in the graph.
    pub name: SmolStr,
    /// Whether firings may overlap.
    pub kind: Kind,
    /// Input ports.
    pub inputs: Vec<InPort>,
    /// Output ports.
    pub outputs: Vec<OutPort>,
    /// Waits for the outside world in its firings, and so has a thread of its own.
    pub blocking: bool,
    /// A worker may begin with it, though it has inputs: policies treat it as a source at the start
    /// (DANBI, section III-A1).
    pub starting: bool,
    /// Chooses among its inputs by what has arrived, and so is not determinate.
    pub merge: bool,
    /// Gives what a firing has pushed when that firing has ended, and so in an order that is not
    /// determinate. Of a parallel node.
    pub unordered: bool,
    /// Returns a value to the caller of the run. Of a process, which then runs to its end even though nothing
    /// reads its outputs.
    pub returns: bool,
    /// Workers that may fire it at the same time, where not all may. Of a parallel node.
    pub workers: Option<u32>,
}

impl Node {
    /// A sequential node without ports.
    pub fn sequential(name: impl Into<SmolStr>) -> Node {
        Node {
            name: name.into(),
            kind: Kind::Sequential,
            inputs: Vec::new(),
            outputs: Vec::new(),
            blocking: false,
            starting: false,
            merge: false,
            unordered: false,
            returns: false,
            workers: None,
        }
    }

    /// A parallel node without ports.
    pub fn parallel(name: impl Into<SmolStr>) -> Node {
        Node { kind: Kind::Parallel, ..Node::sequential(name) }
    }

    /// The same node as a process: all its rates are dynamic.
    pub fn into_process(mut self) -> Node {
        self.kind = Kind::Process;
        self.inputs.iter_mut().for_each(|port| (port.pop, port.peek) = (Rate::Dynamic, 1));
        self.outputs.iter_mut().for_each(|port| port.push = Rate::Dynamic);
        self
    }

    /// The same node with one more input port.
    pub fn input(mut self, port: InPort) -> Node {
        self.inputs.reserve_exact(1);
        self.inputs.push(port);
        self
    }

    /// The same node with one more output port.
    pub fn output(mut self, port: OutPort) -> Node {
        self.outputs.reserve_exact(1);
        self.outputs.push(port);
        self
    }

    /// Has no inputs: a starting node in the sense of DANBI, section II.
    pub fn is_source(&self) -> bool {
        self.inputs.is_empty()
    }
}
