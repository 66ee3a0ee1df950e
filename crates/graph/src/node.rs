//! Nodes, their ports and rates.

use crate::{ChannelId, Item, data};
use smol_str::SmolStr;
use std::fmt;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

/// Items that a firing moves through a port.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Rate {
    /// The same number at every firing.
    Static(u64),
    /// A number that may differ at each firing.
    Dynamic,
}

impl Rate {
    /// The number of a static rate.
    pub fn fixed(self) -> Option<u64> {
        match self {
            Rate::Static(n) => Some(n),
            Rate::Dynamic => None,
        }
    }
}

data! {
    /// What a node declares about a dynamic rate. Besides estimates and error messages, the partition into regions depends on
    /// it: a node that pops at least one item in each firing is separated from the nodes behind it. No answer does.
    #[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Debug)]
    pub struct Bounds {
        /// The minimum number of items of a firing.
        copy least: u64;
        /// The expected number.
        copy average: Option<u64>;
        /// The maximum number, if there is one.
        copy most: Option<u64>;
    }
}

impl Bounds {
    /// At least `least` items a firing, `average` as expected, at most `most`.
    pub fn new(least: u64, average: Option<u64>, most: Option<u64>) -> Bounds {
        Bounds { least, average, most }
    }
}

/// Whether firings of a node may overlap.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// One firing at a time. The node may keep state.
    Sequential,
    /// Any number of firings at a time, without state. Outputs appear in the order of the inputs.
    Parallel,
    /// A Kahn process: sequential code that receives and sends one item at a time, and waits where it cannot.
    /// All its rates are dynamic.
    Process,
}

data! {
    /// The properties of an input port that many ports can share: all but its channel.
    #[derive(Clone, PartialEq, Eq, Hash, Debug)]
    pub struct InShape {
        /// Name, unique among the node's inputs.
        view name: SmolStr => &str;
        /// Type of the items.
        copy item: Item;
        /// Items that a firing pops.
        copy pop: Rate, pop_mut;
        /// Items that a firing may read, including those it pops. At least the static pop rate.
        copy peek: u64, peek_mut;
        /// What the node declares about a dynamic pop rate.
        copy bounds: Option<Bounds>, bounds_mut;
        /// The first firing, where it has rates of its own (StreamIt's `prework`); they may equal those of later firings.
        copy first: Option<FirstPop>;
    }
}

data! {
    /// What the first firing of a node does at an input port.
    #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
    pub struct FirstPop {
        /// Items that it pops.
        copy pop: Rate;
        /// Items that it may read, including those it pops. At least the static pop rate.
        copy peek: u64;
    }
}

/// An input port: an [`InShape`], which equal ports share, and its channel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InPort {
    pub(crate) shape: Arc<InShape>,
    pub(crate) channel: Option<ChannelId>,
}

impl Deref for InPort {
    type Target = InShape;

    fn deref(&self) -> &InShape {
        &self.shape
    }
}

impl DerefMut for InPort {
    /// The shape of this port alone: a shared shape is copied first.
    fn deref_mut(&mut self) -> &mut InShape {
        Arc::make_mut(&mut self.shape)
    }
}

impl InPort {
    /// A port that pops one item a firing.
    pub fn new(name: impl Into<SmolStr>, item: Item) -> InPort {
        InPort::fixed(name, item, 1)
    }

    /// A port that pops this many items a firing, and reads no others.
    pub(crate) fn fixed(name: impl Into<SmolStr>, item: Item, pop: u64) -> InPort {
        let shape =
            InShape { name: name.into(), item, pop: Rate::Static(pop), peek: pop, bounds: None, first: None };
        InPort { shape: Arc::new(shape), channel: None }
    }

    /// The channel to this port, once connected.
    #[inline]
    pub fn channel(&self) -> Option<ChannelId> {
        self.channel
    }

    /// Sets the pop rate. Raises `peek` to it where `peek` is smaller.
    pub fn with_pop(mut self, pop: Rate) -> InPort {
        self.pop = pop;
        self.peek = self.peek.max(pop.fixed().unwrap_or(0));
        self
    }

    /// Sets the number of items that a firing may read, at least the static pop rate.
    pub fn with_peek(mut self, peek: u64) -> InPort {
        self.peek = peek.max(self.pop.fixed().unwrap_or(0));
        self
    }

    /// Declares the bounds of a dynamic pop rate.
    pub fn with_bounds(mut self, bounds: impl Into<Option<Bounds>>) -> InPort {
        self.bounds = bounds.into();
        self
    }

    /// Sets what the first firing pops and may read, where it has rates of its own.
    pub fn with_first(mut self, pop: Rate, peek: u64) -> InPort {
        self.first = Some(FirstPop { pop, peek: peek.max(pop.fixed().unwrap_or(0)) });
        self
    }
}

data! {
    /// The properties of an output port that many ports can share: all but its channel.
    #[derive(Clone, PartialEq, Eq, Hash, Debug)]
    pub struct OutShape {
        /// Name, unique among the node's outputs.
        view name: SmolStr => &str;
        /// Type of the items.
        copy item: Item;
        /// Items that a firing pushes.
        copy push: Rate, push_mut;
        /// What the node declares about a dynamic push rate.
        copy bounds: Option<Bounds>;
        /// Items that the first firing pushes, where it has rates of its own (StreamIt's `prework`); they may equal those
        /// of later firings.
        copy first: Option<Rate>, first_mut;
    }
}

/// An output port: an [`OutShape`], which equal ports share, and its channel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutPort {
    pub(crate) shape: Arc<OutShape>,
    pub(crate) channel: Option<ChannelId>,
}

impl Deref for OutPort {
    type Target = OutShape;

    fn deref(&self) -> &OutShape {
        &self.shape
    }
}

impl DerefMut for OutPort {
    /// The shape of this port alone: a shared shape is copied first.
    fn deref_mut(&mut self) -> &mut OutShape {
        Arc::make_mut(&mut self.shape)
    }
}

impl OutPort {
    /// A port that pushes any number of items a firing.
    pub fn new(name: impl Into<SmolStr>, item: Item) -> OutPort {
        let shape = OutShape { name: name.into(), item, push: Rate::Dynamic, bounds: None, first: None };
        OutPort { shape: Arc::new(shape), channel: None }
    }

    /// The channel from this port, once connected.
    #[inline]
    pub fn channel(&self) -> Option<ChannelId> {
        self.channel
    }

    /// Sets the push rate.
    pub fn with_push(mut self, push: Rate) -> OutPort {
        self.push = push;
        self
    }

    /// Declares the bounds of a dynamic push rate.
    pub fn with_bounds(mut self, bounds: impl Into<Option<Bounds>>) -> OutPort {
        self.bounds = bounds.into();
        self
    }

    /// Sets what the first firing pushes, where it has rates of its own.
    pub fn with_first(mut self, push: Rate) -> OutPort {
        self.first = Some(push);
        self
    }
}

data! {
    /// A node: a kernel, a process, or an end of the graph that code outside the graph holds.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct Node {
        /// Name, unique in the graph.
        view name: SmolStr => &str;
        /// Whether firings may overlap.
        copy kind: Kind, kind_mut;
        /// Input ports.
        view inputs: Vec<InPort> => &[InPort], inputs_mut;
        /// Output ports.
        view outputs: Vec<OutPort> => &[OutPort], outputs_mut;
        /// Firings may block, on I/O for example, so the node has a thread of its own.
        copy blocking: bool, blocking_mut;
        /// Policies treat the node as a source at the start although it has inputs (DANBI, section III-A1).
        copy starting: bool, starting_mut;
        /// Chooses among its inputs by which items have arrived, so its output is not determinate.
        copy merge: bool, merge_mut;
        /// Its firings depend on the time that passes between its items (`batch_timeout`), so how it groups them is not
        /// determinate. The items and their order are.
        copy timed: bool, timed_mut;
        /// For a parallel node: publishes the items of a firing as soon as that firing ends, so their order is not
        /// determinate.
        copy unordered: bool, unordered_mut;
        /// For a process: returns a value to the caller of the run. It then runs to its end even if nothing
        /// reads its outputs.
        copy returns: bool, returns_mut;
        /// For a parallel node: the most workers that may fire it at the same time. `None` is no limit.
        copy workers: Option<u32>, workers_mut;
    }
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
            timed: false,
            unordered: false,
            returns: false,
            workers: None,
        }
    }

    /// A parallel node without ports.
    pub fn parallel(name: impl Into<SmolStr>) -> Node {
        Node { kind: Kind::Parallel, ..Node::sequential(name) }
    }

    /// Makes the node a process, with dynamic rates at all ports.
    pub fn into_process(mut self) -> Node {
        self.kind = Kind::Process;
        self.inputs.iter_mut().for_each(|port| (port.pop, port.peek) = (Rate::Dynamic, 1));
        self.outputs.iter_mut().for_each(|port| port.push = Rate::Dynamic);
        self
    }

    /// Adds an input port.
    pub fn input(mut self, port: InPort) -> Node {
        self.inputs.reserve_exact(1);
        self.inputs.push(port);
        self
    }

    /// Adds an output port.
    pub fn output(mut self, port: OutPort) -> Node {
        self.outputs.reserve_exact(1);
        self.outputs.push(port);
        self
    }

    /// Whether the node has no inputs: a starting node in the sense of DANBI, section II.
    pub fn is_source(&self) -> bool {
        self.inputs.is_empty()
    }
}

impl fmt::Display for Rate {
    /// Writes the number of a static rate, `*` for a dynamic one.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Rate::Static(n) => n.fmt(f),
            Rate::Dynamic => f.pad("*"),
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Kind::Sequential => "sequential",
            Kind::Parallel => "parallel",
            Kind::Process => "process",
        })
    }
}
