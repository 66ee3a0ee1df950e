//! The draft of a graph: the state that all its handles share until it is built.
//!
//! # States of an edge
//!
//! A channel under construction is an edge. `from` and `to` are its ends so far, `make` makes its ring.
//!
//! | the edge is | `from` | `to` | `make` | entered by | left by |
//! |---|---|---|---|---|---|
//! | a stream | set | none | set | `produce`, by the node that adds the output; `cut` | `consume`; `feed` |
//! | an open feedback channel | none | none or set | set | `produce` without a producer | `feed`, which moves the producer of a stream here |
//! | complete | set | set | set | `consume`, `feed`, `reopen` | the build; `cut` |
//! | fed | none | none | none | `feed`, of the stream that closes a feedback channel | never: it is no channel of the graph |
//!
//! The build makes channels of the complete edges, in their order. It ignores streams that nothing consumes; the check
//! of the graph then reports the unconnected output.
//!
//! # The lock
//!
//! Handles of a draft lock it for each call ([`Shared::draft`]). Invariant: no user code is called, and no user's value
//! dropped, under the lock ([`Locked`]).

use super::mistake::Mistake;
use super::stream::Stream;
use crate::built::{MakeBody, MakeRing, Network, OperatorChannels, RingCell, TallySpec};
use crate::coroutine::Wanted;
use crate::error::BuildError;
use crate::sync::{Mutex, MutexGuard, lock};
use std::collections::{HashMap, VecDeque};
use std::ops::{Deref, DerefMut};
use std::sync::Arc;
use thalweg_graph::{Fault, GraphData, Item, Link, Node, NodeId, OutPort, Port, Rate};

/// An edge: see the module.
struct EdgeData<'env> {
    from: Option<Port>,
    to: Option<Port>,
    link: Link,
    make: Option<Arc<dyn MakeRing<'env> + 'env>>,
    role: Role,
}

/// An end of an edge.
#[derive(Clone, Copy, Debug)]
pub(super) enum End {
    /// The output that produces.
    From(Port),
    /// The input that consumes.
    To(Port),
}

/// The ends and settings that an edge had: see [`Draft::cut`].
pub(super) struct Cut {
    pub(super) from: Port,
    pub(super) to: Port,
    pub(super) link: Link,
}

/// What an edge carries.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    /// Items of the user.
    Items,
    /// Counts or tokens instead of items: see `in_flight`.
    Counts,
    /// Items that go round between the two nodes of an operator: see `round`.
    Rounds,
}

/// A graph under construction: nodes, channels that may lack an end, code, mistakes.
pub struct Draft<'env> {
    /// Unique among the graphs of this process. It changes when the graph is built: streams and outputs that handles
    /// create afterwards do not belong to the built graph.
    number: usize,
    /// The nodes. Channels are added by the build.
    pub(super) graph: GraphData,
    edges: Vec<EdgeData<'env>>,
    /// By node: the maker of its code; `None` for an outlet.
    nodes: Vec<Option<MakeBody<'env>>>,
    /// The stacks that the coroutines need: a number for each size in bytes.
    pub(super) stacks: Wanted,
    /// The number of nodes that have called [`Kernel::request_budget`](super::Kernel::request_budget).
    pub(super) budget_sharers: usize,
    mistakes: Vec<Mistake>,
    /// By parallel node: its tallies, in the order of their outputs.
    tallies: HashMap<NodeId, Vec<TallySpec>>,
    /// Nodes that push each item of their first input on their first output, although both rates are dynamic.
    passing: Vec<NodeId>,
    /// The graph has been built: a second build is refused.
    built: bool,
    /// Values of users that are no longer needed. [`Locked`] drops them after it has unlocked the draft.
    trash: Vec<Box<dyn Send + 'env>>,
}

impl std::fmt::Debug for Draft<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Draft").field("graph", &self.graph).finish_non_exhaustive()
    }
}

/// A node of a draft while its ports are being attached.
#[derive(Debug)]
pub struct Site<'a, 'env> {
    pub(super) draft: &'a mut Draft<'env>,
    pub(super) shared: &'a Shared<'env>,
    pub(super) node: NodeId,
}

/// A shared handle of a draft.
#[derive(Clone)]
pub struct Shared<'env>(Arc<Mutex<Draft<'env>>>);

impl std::fmt::Debug for Shared<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Shared")
    }
}

/// The locked draft.
///
/// Invariant: no user code runs while it exists. Closures, iterators and values of users are called before it is made,
/// or are put into `trash` and dropped after the unlock, since their `Drop` may use the same graph.
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
        // Unlock first: the drop of a user's value may lock the draft.
        self.0 = None;
        drop(trash);
    }
}

impl<'env> Shared<'env> {
    /// An empty draft.
    pub(super) fn new() -> Shared<'env> {
        Shared(Arc::new(Mutex::new(Draft {
            number: new_number(),
            graph: GraphData::new(),
            edges: Vec::new(),
            nodes: Vec::new(),
            stacks: Wanted::default(),
            budget_sharers: 0,
            mistakes: Vec::new(),
            tallies: HashMap::new(),
            passing: Vec::new(),
            built: false,
            trash: Vec::new(),
        })))
    }

    /// The draft of a graph that has been built, to which nodes can be added. The network is empty then.
    pub(super) fn reopen(network: &mut Network<'env>) -> Shared<'env> {
        let shared = Shared::new();
        let OperatorChannels { counts, rounds } = std::mem::take(&mut network.operators);
        let ids = network.graph.channel_ids();
        let roles = ids.map(|id| match (counts.contains(&id), rounds.contains(&id)) {
            (true, _) => Role::Counts,
            (_, true) => Role::Rounds,
            _ => Role::Items,
        });
        let mut draft = shared.draft();
        draft.graph = std::mem::take(&mut network.graph);
        let channels = draft.graph.disconnect().into_iter().zip(std::mem::take(&mut network.rings));
        let edges = channels.zip(roles).map(|((channel, make), role)| EdgeData {
            from: Some(channel.from()),
            to: Some(channel.to()),
            link: *channel.link(),
            make: Some(make),
            role,
        });
        draft.edges = edges.collect();
        draft.nodes = std::mem::take(&mut network.nodes);
        draft.stacks = std::mem::take(&mut network.stacks);
        draft.budget_sharers = network.budget_sharers;
        draft.tallies = std::mem::take(&mut network.tallies);
        draft.passing = std::mem::take(&mut network.passing);
        drop(draft);
        shared
    }

    /// Locks the draft. See [`Locked`] for the rule.
    pub(super) fn draft(&self) -> Locked<'_, 'env> {
        Locked(Some(lock(&self.0)))
    }

    /// The tally of a parallel node's output: see [`Draft::tally`].
    pub(super) fn tally(&self, of: Port) -> Stream<'env, u64> {
        let mut draft = self.draft();
        let (edge, cell) = draft.tally(of);
        let (number, link) = (draft.number, Link::default());
        Stream { shared: self.clone(), number, edge, cell, link, node: Some(of.0), gate: None }
    }

    /// Moves the graph out of the draft and checks it. The draft is empty then, with a new number.
    ///
    /// # Errors
    /// All mistakes of the calls so far; if there are none, the faults of the graph. Or the draft has been built
    /// before.
    pub(super) fn build(&self) -> Result<Network<'env>, BuildError> {
        let mut draft = self.draft();
        let built = std::mem::replace(&mut draft.built, true);
        draft.check_tallies();
        let graph = std::mem::take(&mut draft.graph);
        let (edges, nodes) = (std::mem::take(&mut draft.edges), std::mem::take(&mut draft.nodes));
        let mistakes = std::mem::take(&mut draft.mistakes);
        let tallies = std::mem::take(&mut draft.tallies);
        let passing = std::mem::take(&mut draft.passing);
        // Without coroutines there is nothing to take.
        #[cfg_attr(not(feature = "coroutines"), allow(clippy::let_unit_value))]
        let stacks = std::mem::take(&mut draft.stacks);
        let budget_sharers = std::mem::take(&mut draft.budget_sharers);
        let number = std::mem::replace(&mut draft.number, new_number());
        drop(draft);
        if built {
            return Err(BuildError { faults: vec![Fault::Built] });
        }
        connect(graph, edges, mistakes).map(|(graph, rings, operators)| Network {
            number,
            graph,
            rings,
            operators,
            nodes,
            stacks,
            budget_sharers,
            tallies,
            passing,
        })
    }
}

/// A number that no other draft of this process has.
fn new_number() -> usize {
    static NEXT: std::sync::atomic::AtomicUsize = std::sync::atomic::AtomicUsize::new(0);
    NEXT.fetch_add(1, std::sync::atomic::Ordering::Relaxed)
}

/// A graph, the makers of its channels' rings in the order of the channels, and the channels that operators have added.
type Connected<'env> = (GraphData, Vec<Arc<dyn MakeRing<'env> + 'env>>, OperatorChannels);

/// Adds the complete edges to the graph as channels, and checks it.
fn connect<'env>(
    mut graph: GraphData,
    edges: Vec<EdgeData<'env>>,
    mistakes: Vec<Mistake>,
) -> Result<Connected<'env>, BuildError> {
    let ends = |edge: usize| edges.get(edge).map_or((None, None), |edge| (edge.from, edge.to));
    let mut faults: Vec<Fault> =
        mistakes.into_iter().map(|mistake| mistake.into_fault(&graph, &ends)).collect();
    // The edge of a stream that closed a feedback channel has neither end, and no `make`: it is not unused.
    let unused = |edge: &&EdgeData<'env>| edge.from.is_none() && edge.to.is_none() && edge.make.is_some();
    let unused = edges.iter().filter(|edge| edge.link.feedback()).filter(unused).count();
    let why = "has neither a producer nor a consumer: use both ends, or do not create it";
    faults.extend((0..unused).map(|_| Fault::Feedback { port: None, detail: why.to_owned() }));
    let mut rings = Vec::with_capacity(edges.len());
    let mut operators = OperatorChannels::default();
    for edge in edges {
        let (Some(from), Some(to)) = (edge.from, edge.to) else { continue };
        match graph.connect(from, to, edge.link) {
            Ok(channel) => {
                rings.extend(edge.make);
                match edge.role {
                    Role::Items => {}
                    Role::Counts => _ = operators.counts.insert(channel),
                    Role::Rounds => _ = operators.rounds.insert(channel),
                }
            }
            Err(fault) => faults.push(fault),
        }
    }
    // Only a graph without mistakes is checked: faults that follow from a mistake would only hide it.
    if faults.is_empty()
        && let Err(found) = thalweg_analysis::check(&graph)
    {
        faults = found;
    }
    if faults.is_empty() { Ok((graph, rings, operators)) } else { Err(BuildError { faults }) }
}

impl<'env> Draft<'env> {
    /// Keeps a mistake for the build to report.
    pub(super) fn mistake(&mut self, mistake: Mistake) {
        self.mistakes.push(mistake);
    }

    /// The number of the graph, which its streams and outputs have.
    pub(super) fn number(&self) -> usize {
        self.number
    }

    /// Whether the node is part of this draft; false once the graph has been built.
    pub(super) fn has(&self, node: NodeId) -> bool {
        node.index() < self.graph.nodes().len()
    }

    /// Adds a node. [`Draft::add_code`] must follow.
    pub(super) fn add(&mut self, node: Node) -> NodeId {
        self.graph.add(node)
    }

    /// Adds the code of the node that was added last; `None` for an outlet, whose code is the caller.
    pub(super) fn add_code(&mut self, maker: Option<MakeBody<'env>>) {
        self.nodes.push(maker);
    }

    /// Adds an edge from the output `from`; without one, a feedback channel. Returns the edge's index, and its cell.
    pub(super) fn produce<T: Send + 'env>(
        &mut self,
        from: Option<Port>,
        initial: VecDeque<T>,
        link: Link,
    ) -> (usize, Arc<RingCell<T>>) {
        let cell = RingCell::new(initial);
        let make: Arc<dyn MakeRing<'env> + 'env> = cell.clone();
        self.edges.push(EdgeData { from, to: None, link, make: Some(make), role: Role::Items });
        (self.edges.len() - 1, cell)
    }

    /// Connects a stream to an input. Returns the cell of its ring. A stream of another graph is a mistake.
    pub(super) fn consume<T>(&mut self, stream: Stream<'env, T>, to: Port) -> Arc<RingCell<T>> {
        if stream.number != self.number {
            self.mistakes.push(Mistake::Foreign(to));
            self.trash.push(Box::new(stream.shared));
            return stream.cell;
        }
        if let Some(edge) = self.edges.get_mut(stream.edge) {
            edge.to = Some(to);
            // A feedback channel may have been closed before. Its own settings take precedence over those of the stream
            // that closed it.
            edge.link = closed_by(stream.link, edge.link);
        }
        stream.cell
    }

    /// The complete edge with a given end, and the maker of its ring.
    pub(super) fn edge_at(&self, end: End) -> Option<(usize, Arc<dyn MakeRing<'env> + 'env>)> {
        let at = self.edges.iter().position(|edge| match end {
            End::From(port) => edge.from == Some(port) && edge.to.is_some(),
            End::To(port) => edge.to == Some(port) && edge.from.is_some(),
        })?;
        Some((at, self.edges[at].make.clone()?))
    }

    /// Takes a complete edge from its consumer and gives it another cell. It is a stream again, of the node and with the
    /// settings that are returned with the consumer.
    pub(super) fn cut<T: Send + 'env>(&mut self, edge: usize, cell: Arc<RingCell<T>>) -> Option<Cut> {
        let edge = self.edges.get_mut(edge)?;
        let (from, to) = (edge.from?, edge.to.take()?);
        edge.make = Some(cell);
        // A new consumer brings the settings of its stream.
        Some(Cut { from, to, link: std::mem::take(&mut edge.link) })
    }

    /// The output that produces a stream of this graph; `None` for a feedback channel that is not closed.
    pub(super) fn producer<T>(&self, stream: &Stream<'_, T>) -> Option<Port> {
        let edge = self.edges.get(stream.edge).filter(|_| stream.number == self.number);
        edge.and_then(|edge| edge.from)
    }

    /// Adds a hidden output to a parallel node: for each firing, the number of items that it pushed on the output `of`.
    fn tally(&mut self, of: Port) -> (usize, Arc<RingCell<u64>>) {
        let outputs = self.graph.node_mut(of.0).outputs_mut();
        let is_free = |name: &String| outputs.iter().all(|port| port.name() != name.as_str());
        let mut names = std::iter::once("tally".to_owned()).chain((2..).map(|i| format!("tally-{i}")));
        let name = names.find(is_free).expect("an endless sequence of names");
        outputs.push(OutPort::new(name, Item::of::<u64>()).with_push(Rate::Static(1)));
        let port = (of.0, outputs.len() - 1);
        let (edge, cell) = self.produce(Some(port), VecDeque::new(), Link::default());
        self.set_counts(edge);
        self.tallies.entry(of.0).or_default().push(TallySpec { output: of.1, cell: cell.clone() });
        (edge, cell)
    }

    /// Refuses tallies of nodes that became unordered after the tally was added: a tally relies on the order of
    /// tickets.
    fn check_tallies(&mut self) {
        let unordered = |node: &NodeId| self.graph.node(*node).unordered();
        let mut refused: Vec<NodeId> = self.tallies.keys().copied().filter(unordered).collect();
        refused.sort_unstable();
        for node in refused {
            let why = "`unordered`: `in_flight` counts its items in order".to_owned();
            self.mistake(Mistake::Node(node, why));
        }
    }

    /// Marks an edge as carrying counts or tokens instead of items.
    pub(super) fn set_counts(&mut self, edge: usize) {
        self.set_role(edge, Role::Counts);
    }

    /// Marks the feedback channel of an operator whose own node ends the loop.
    pub(super) fn set_rounds(&mut self, edge: usize) {
        self.set_role(edge, Role::Rounds);
    }

    fn set_role(&mut self, edge: usize, role: Role) {
        if let Some(edge) = self.edges.get_mut(edge) {
            edge.role = role;
        }
    }

    /// Marks a node as pushing each item of its first input on its first output.
    pub(super) fn set_passing(&mut self, node: NodeId) {
        self.passing.push(node);
    }

    /// The graph so far without channels of counts and tokens, and with static rates where nodes pass items on.
    pub(super) fn flow(&self) -> GraphData {
        let mut graph = self.graph.clone();
        for node in &self.passing {
            let node = graph.node_mut(*node);
            *node.inputs_mut()[0].pop_mut() = Rate::Static(1);
            *node.outputs_mut()[0].push_mut() = Rate::Static(1);
        }
        self.with_channels(graph, |edge| edge.role != Role::Counts)
    }

    /// The graph so far with the channels that have both ends.
    pub(super) fn connected(&self) -> GraphData {
        self.with_channels(self.graph.clone(), |_| true)
    }

    /// `graph` with the complete edges that pass a test as channels.
    fn with_channels(&self, mut graph: GraphData, wanted: impl Fn(&EdgeData<'env>) -> bool) -> GraphData {
        for edge in self.edges.iter().filter(|edge| wanted(edge)) {
            if let (Some(from), Some(to)) = (edge.from, edge.to) {
                // A refused channel is refused again, and reported, when the graph is built.
                _ = graph.connect(from, to, edge.link);
            }
        }
        graph
    }

    /// Makes the producer of a stream the producer of a feedback channel, given by its edge and cell. The stream's edge
    /// is no channel any more, and its cell leads to the feedback channel's ring. Settings of the feedback channel take
    /// precedence over those of the stream.
    pub(super) fn feed<T: Send + 'env>(
        &mut self,
        stream: Stream<'env, T>,
        feedback: (usize, &Arc<RingCell<T>>),
    ) {
        let from = self.edges.get_mut(stream.edge).and_then(|edge| {
            edge.make = None;
            edge.from.take()
        });
        if let Some(edge) = self.edges.get_mut(feedback.0) {
            edge.from = from;
            edge.link = closed_by(edge.link, stream.link);
            let weigh = stream.cell.set_weigh(None);
            let unused = if feedback.1.weighs() { weigh } else { feedback.1.set_weigh(weigh) };
            self.trash.push(Box::new(unused));
        }
        stream.cell.join(feedback.1.clone());
        self.trash.push(Box::new(stream.cell));
    }
}

/// The settings of a feedback channel that a stream with settings `by` closes: those that the channel lacks are the stream's.
fn closed_by(feedback: Link, by: Link) -> Link {
    let capacity = feedback.capacity().or(by.capacity());
    feedback.with_capacity(capacity).with_weighed(feedback.weighed() || by.weighed())
}
