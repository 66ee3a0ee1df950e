//! What the handles of one graph share while it is built.

use super::mistake::Mistake;
use super::network::Network;
use super::socket::{MakeRing, Socket};
use super::stream::Stream;
use crate::coroutine::{Stacks, Wanted};
use crate::error::BuildError;
use crate::net::Body;
use crate::net::Owner;
use crate::node::Tally;
use crate::port::Give;
use crate::sync::{AtomicUsize, Mutex, MutexGuard, lock};
use crossbeam_utils::CachePadded;
use std::collections::{HashMap, VecDeque};
use std::ops::{Deref, DerefMut};
use std::sync::Arc;
use thalweg_graph::{ChannelId, Fault, GraphData, Item, Link, Node, NodeId, OutPort, Port, Rate};

struct EdgeData<'env> {
    from: Option<Port>,
    to: Option<Port>,
    link: Link,
    make: Option<Arc<dyn MakeRing<'env> + 'env>>,
    /// It carries counts or tokens, not items: see `in_flight`.
    counts: bool,
}

/// A tally to be made with its node: see [`Draft::tally`].
pub(crate) struct TallySpec {
    of: usize,
    socket: Arc<Socket<u64>>,
}

impl TallySpec {
    pub(crate) fn make(self) -> Tally {
        Tally::new(self.of, Give::new(self.socket.ring(), self.socket.id(), Some(1)))
    }
}

/// What a node's code needs to be made.
pub(crate) struct MakeNode<'a> {
    /// Tickets of its reorder window.
    pub(crate) tickets: usize,
    pub(crate) retired: Option<Arc<CachePadded<AtomicUsize>>>,
    /// The channel of its first weighed output.
    pub(crate) weighed: Option<ChannelId>,
    /// Bytes that completed tickets may hold.
    pub(crate) held: usize,
    /// Bytes that a node may keep of what it has taken: see [`Kernel::ask_budget`](super::Kernel::ask_budget).
    pub(crate) kept: usize,
    /// The settings of a parallel node, as the graph has them.
    pub(crate) unordered: bool,
    pub(crate) workers: Option<u32>,
    pub(crate) tallies: Vec<Tally>,
    /// The stacks of the run's coroutines.
    pub(crate) stacks: &'a Stacks,
    /// The owner of a process's ends of its channels.
    pub(crate) owner: Owner,
}

pub(crate) type MakeBody<'env> = Box<dyn FnOnce(MakeNode<'_>) -> Box<dyn Body + 'env> + Send + 'env>;

/// A graph under construction: nodes, channels without an end, code, mistakes.
pub struct Draft<'env> {
    /// Unique among the graphs of this process; a new one when the graph is built, so that what is added then is
    /// not taken for a part of it.
    number: usize,
    pub(super) graph: GraphData,
    edges: Vec<EdgeData<'env>>,
    nodes: Vec<Option<MakeBody<'env>>>,
    /// How many stacks of how many bytes the coroutines need.
    pub(super) stacks: Wanted,
    /// Nodes that share what nodes may keep: see [`Kernel::ask_budget`](super::Kernel::ask_budget).
    pub(super) keepers: usize,
    mistakes: Vec<Mistake>,
    tallies: HashMap<NodeId, Vec<TallySpec>>,
    /// Nodes that push each item of their first input on their first output, though both rates are dynamic.
    passing: Vec<NodeId>,
    built: bool,
    /// What may hold a user's values and is not needed any more: [`Locked`] drops it when it has unlocked the draft.
    trash: Vec<Box<dyn Send + 'env>>,
}

impl std::fmt::Debug for Draft<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Draft").field("graph", &self.graph).finish_non_exhaustive()
    }
}

/// A node of a draft, whose ports are being attached.
#[derive(Debug)]
pub struct Site<'a, 'env> {
    pub(super) draft: &'a mut Draft<'env>,
    pub(super) shared: &'a Shared<'env>,
    pub(super) node: NodeId,
}

/// A handle of a draft.
#[derive(Clone)]
pub struct Shared<'env>(Arc<Mutex<Draft<'env>>>);

impl std::fmt::Debug for Shared<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Shared")
    }
}

/// The draft, locked.
pub(super) struct Locked<'a, 'env>(Option<MutexGuard<'a, Draft<'env>>>);

impl<'env> Deref for Locked<'_, 'env> {
    type Target = Draft<'env>;

    fn deref(&self) -> &Draft<'env> {
        self.0.as_ref().expect("locked until it is dropped")
    }
}

impl<'env> DerefMut for Locked<'_, 'env> {
    fn deref_mut(&mut self) -> &mut Draft<'env> {
        self.0.as_mut().expect("locked until it is dropped")
    }
}

impl Drop for Locked<'_, '_> {
    fn drop(&mut self) {
        let trash = std::mem::take(&mut self.trash);
        self.0 = None;
        drop(trash);
    }
}

impl<'env> Shared<'env> {
    pub(super) fn new() -> Shared<'env> {
        Shared(Arc::new(Mutex::new(Draft {
            number: new_number(),
            graph: GraphData::new(),
            edges: Vec::new(),
            nodes: Vec::new(),
            stacks: Wanted::new(),
            keepers: 0,
            mistakes: Vec::new(),
            tallies: HashMap::new(),
            passing: Vec::new(),
            built: false,
            trash: Vec::new(),
        })))
    }

    /// The draft. A user's code must not be called, nor a user's values dropped, while it is held.
    pub(super) fn draft(&self) -> Locked<'_, 'env> {
        Locked(Some(lock(&self.0)))
    }

    /// The tally of a parallel node's output: see [`Draft::tally`].
    pub(super) fn tally(&self, of: Port) -> Stream<'env, u64> {
        let mut draft = self.draft();
        let (edge, socket) = draft.tally(of);
        let (number, link) = (draft.number, Link::default());
        Stream { shared: self.clone(), number, edge, socket, link, node: Some(of.0), gate: None }
    }

    /// Takes the graph out and checks it.
    pub(super) fn build(&self) -> Result<Network<'env>, BuildError> {
        let mut draft = self.draft();
        let built = std::mem::replace(&mut draft.built, true);
        draft.check_tallies();
        let graph = std::mem::take(&mut draft.graph);
        let (edges, nodes) = (std::mem::take(&mut draft.edges), std::mem::take(&mut draft.nodes));
        let mistakes = std::mem::take(&mut draft.mistakes);
        let tallies = std::mem::take(&mut draft.tallies);
        draft.passing.clear();
        let stacks = std::mem::take(&mut draft.stacks);
        let keepers = std::mem::take(&mut draft.keepers);
        let number = std::mem::replace(&mut draft.number, new_number());
        drop(draft);
        if built {
            return Err(BuildError { faults: vec![Fault::Built] });
        }
        connect(graph, edges, mistakes).map(|(graph, rings)| Network {
            number,
            graph,
            rings,
            nodes,
            stacks,
            keepers,
            tallies,
        })
    }
}

fn new_number() -> usize {
    static NEXT: std::sync::atomic::AtomicUsize = std::sync::atomic::AtomicUsize::new(0);
    NEXT.fetch_add(1, std::sync::atomic::Ordering::Relaxed)
}

/// A graph and what makes the rings of its channels, in their order.
type Connected<'env> = (GraphData, Vec<Arc<dyn MakeRing<'env> + 'env>>);

fn connect<'env>(
    mut graph: GraphData,
    edges: Vec<EdgeData<'env>>,
    mistakes: Vec<Mistake>,
) -> Result<Connected<'env>, BuildError> {
    let ends = |edge: usize| edges.get(edge).map_or((None, None), |edge| (edge.from, edge.to));
    let mut faults: Vec<Fault> =
        mistakes.into_iter().map(|mistake| mistake.into_fault(&graph, &ends)).collect();
    // One that was closed has no ring of its own any more.
    let unused = |edge: &&EdgeData<'env>| edge.from.is_none() && edge.to.is_none() && edge.make.is_some();
    let unused = edges.iter().filter(|edge| edge.link.feedback).filter(unused).count();
    let why = "has neither a producer nor a consumer: use both of its ends, or make none";
    faults.extend((0..unused).map(|_| Fault::Feedback { port: None, detail: why.to_owned() }));
    let mut rings = Vec::with_capacity(edges.len());
    for edge in edges {
        let (Some(from), Some(to)) = (edge.from, edge.to) else { continue };
        match graph.connect(from, to, edge.link) {
            Ok(_) => rings.extend(edge.make),
            Err(fault) => faults.push(fault),
        }
    }
    // What follows from a mistake would only hide it.
    if faults.is_empty()
        && let Err(found) = thalweg_analysis::check(&graph)
    {
        faults = found;
    }
    if faults.is_empty() { Ok((graph, rings)) } else { Err(BuildError { faults }) }
}

impl<'env> Draft<'env> {
    pub(super) fn mistake(&mut self, mistake: Mistake) {
        self.mistakes.push(mistake);
    }

    pub(super) fn number(&self) -> usize {
        self.number
    }

    /// False for nodes of a graph that was built.
    pub(super) fn has(&self, node: NodeId) -> bool {
        node.index() < self.graph.nodes().len()
    }

    /// Adds a node, whose code [`Draft::add_code`] adds.
    pub(super) fn add(&mut self, node: Node) -> NodeId {
        self.graph.add(node)
    }

    /// Adds the code of the node that was added last; an end that the outside holds has none.
    pub(super) fn add_code(&mut self, maker: Option<MakeBody<'env>>) {
        self.nodes.push(maker);
    }

    /// A new channel, from this output if it has one yet.
    pub(super) fn produce<T: Send + 'env>(
        &mut self,
        from: Option<Port>,
        initial: VecDeque<T>,
        link: Link,
    ) -> (usize, Arc<Socket<T>>) {
        let socket = Socket::new(initial);
        let make: Arc<dyn MakeRing<'env> + 'env> = socket.clone();
        self.edges.push(EdgeData { from, to: None, link, make: Some(make), counts: false });
        (self.edges.len() - 1, socket)
    }

    /// Gives a stream to an input.
    pub(super) fn consume<T>(&mut self, stream: Stream<'env, T>, to: Port) -> Arc<Socket<T>> {
        if stream.number != self.number {
            self.mistakes.push(Mistake::Foreign(to));
            self.trash.push(Box::new(stream.shared));
            return stream.socket;
        }
        if let Some(edge) = self.edges.get_mut(stream.edge) {
            edge.to = Some(to);
            // It may have been closed before: its own settings count, and then those of what closed it.
            let closed = std::mem::replace(&mut edge.link, stream.link);
            edge.link.capacity = edge.link.capacity.or(closed.capacity);
            edge.link.weighed |= closed.weighed;
        }
        stream.socket
    }

    /// The output that gives a stream of this graph, if there is one yet.
    pub(super) fn producer<T>(&self, stream: &Stream<'_, T>) -> Option<Port> {
        let edge = self.edges.get(stream.edge).filter(|_| stream.number == self.number);
        edge.and_then(|edge| edge.from)
    }

    /// Adds a hidden output to a parallel node: for each firing, the number of items that it pushed on the output `of`.
    fn tally(&mut self, of: Port) -> (usize, Arc<Socket<u64>>) {
        let outputs = &mut self.graph.node_mut(of.0).outputs;
        let is_free = |name: &String| outputs.iter().all(|port| port.name != name.as_str());
        let mut names = std::iter::once("tally".to_owned()).chain((2..).map(|i| format!("tally-{i}")));
        let name = names.find(is_free).expect("endless");
        outputs.push(OutPort::new(name, Item::of::<u64>()).push(Rate::Static(1)));
        let port = (of.0, outputs.len() - 1);
        let (edge, socket) = self.produce(Some(port), VecDeque::new(), Link::default());
        self.set_counts(edge);
        self.tallies.entry(of.0).or_default().push(TallySpec { of: of.1, socket: socket.clone() });
        (edge, socket)
    }

    /// Refuses tallies of nodes that became unordered after the tally was added: it relies on the order of tickets.
    fn check_tallies(&mut self) {
        let unordered = |node: &NodeId| self.graph.node(*node).unordered;
        let mut refused: Vec<NodeId> = self.tallies.keys().copied().filter(unordered).collect();
        refused.sort_unstable();
        for node in refused {
            let why = "`unordered`: `in_flight` counts its items in order".to_owned();
            self.mistake(Mistake::Node(node, why));
        }
    }

    /// The edge carries counts or tokens, not items.
    pub(super) fn set_counts(&mut self, edge: usize) {
        if let Some(edge) = self.edges.get_mut(edge) {
            edge.counts = true;
        }
    }

    /// The node pushes each item of its first input on its first output.
    pub(super) fn set_passing(&mut self, node: NodeId) {
        self.passing.push(node);
    }

    /// The graph so far without channels of counts and tokens, and with static rates where nodes pass items on.
    pub(super) fn flow(&self) -> GraphData {
        let mut graph = self.graph.clone();
        for node in &self.passing {
            let node = graph.node_mut(*node);
            (node.inputs[0].pop, node.outputs[0].push) = (Rate::Static(1), Rate::Static(1));
        }
        self.with_channels(graph, |edge| !edge.counts)
    }

    /// The graph so far with the channels that have both ends.
    pub(super) fn connected(&self) -> GraphData {
        self.with_channels(self.graph.clone(), |_| true)
    }

    fn with_channels(&self, mut graph: GraphData, wanted: impl Fn(&EdgeData<'env>) -> bool) -> GraphData {
        for edge in self.edges.iter().filter(|edge| wanted(edge)) {
            if let (Some(from), Some(to)) = (edge.from, edge.to) {
                // What is refused here is refused again, and reported, when the graph is built.
                _ = graph.connect(from, to, edge.link);
            }
        }
        graph
    }

    /// Makes a stream the producer of a feedback channel.
    pub(super) fn feed<T: Send + 'env>(
        &mut self,
        stream: Stream<'env, T>,
        feedback: (usize, &Arc<Socket<T>>),
    ) {
        let from = self.edges.get_mut(stream.edge).and_then(|edge| {
            edge.make = None;
            edge.from.take()
        });
        if let Some(edge) = self.edges.get_mut(feedback.0) {
            edge.from = from;
            edge.link.capacity = edge.link.capacity.or(stream.link.capacity);
            edge.link.weighed |= stream.link.weighed;
            let weigh = stream.socket.set_weigh(None);
            let unused = if feedback.1.weighs() { weigh } else { feedback.1.set_weigh(weigh) };
            self.trash.push(Box::new(unused));
        }
        stream.socket.join(feedback.1.clone());
        self.trash.push(Box::new(stream.socket));
    }
}
