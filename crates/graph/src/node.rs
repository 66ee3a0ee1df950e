//! Nodes, their ports and rates.

use crate::ChannelId;

/// How many items a firing moves through a port.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
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
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
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

/// An input port.
#[derive(Clone, Debug)]
pub struct InPort {
    /// Name, unique among the node's inputs.
    pub name: String,
    /// Type of the items.
    pub item: Item,
    /// Items taken by a firing.
    pub pop: Rate,
    /// Items a firing may look at, those it takes included; at least the static pop rate.
    pub peek: u32,
    /// The channel that feeds it, once connected.
    pub channel: Option<ChannelId>,
}

impl InPort {
    /// A port that takes one item a firing.
    pub fn new(name: impl Into<String>, item: Item) -> InPort {
        InPort { name: name.into(), item, pop: Rate::Static(1), peek: 1, channel: None }
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

/// An output port.
#[derive(Clone, Debug)]
pub struct OutPort {
    /// Name, unique among the node's outputs.
    pub name: String,
    /// Type of the items.
    pub item: Item,
    /// Items given by a firing.
    pub push: Rate,
    /// The channel it feeds, once connected.
    pub channel: Option<ChannelId>,
}

impl OutPort {
    /// A port that gives any number of items a firing.
    pub fn new(name: impl Into<String>, item: Item) -> OutPort {
        OutPort { name: name.into(), item, push: Rate::Dynamic, channel: None }
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
    pub name: String,
    /// Whether firings may overlap.
    pub kind: Kind,
    /// Input ports.
    pub inputs: Vec<InPort>,
    /// Output ports.
    pub outputs: Vec<OutPort>,
    /// Waits for the outside world in its firings, and so has a thread of its own.
    pub blocking: bool,
    /// Chooses among its inputs by what has arrived, and so is not determinate.
    pub merge: bool,
}

impl Node {
    /// A sequential node without ports.
    pub fn sequential(name: impl Into<String>) -> Node {
        Node {
            name: name.into(),
            kind: Kind::Sequential,
            inputs: Vec::new(),
            outputs: Vec::new(),
            blocking: false,
            merge: false,
        }
    }

    /// A parallel node without ports.
    pub fn parallel(name: impl Into<String>) -> Node {
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
        self.inputs.push(port);
        self
    }

    /// The same node with one more output port.
    pub fn output(mut self, port: OutPort) -> Node {
        self.outputs.push(port);
        self
    }

    /// Has no inputs: a starting node in the sense of DANBI, section II.
    pub fn is_source(&self) -> bool {
        self.inputs.is_empty()
    }
}
