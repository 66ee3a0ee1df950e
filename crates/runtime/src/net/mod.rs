//! The shared half of a run: all data that more than one of its threads may access.
//!
//! | field | what it holds | changes during a run |
//! |---|---|---|
//! | [`topology`](Net::topology) | the graph, the plan, the neighbours of each node | never |
//! | [`cells`](Net::cells) | nodes with their states, channels with their counters | by activations |
//! | [`sched`](Net::sched) | queues of ready nodes, accounts of the workers | by workers |
//! | [`liveness`](Net::liveness) | the state of the deadlock searches, the byte budget | by searches |
//! | [`signals`](Net::signals) | stop, drain, failure, sleeping threads; known outside of the run too | by any thread |
//!
//! A [`Net`] is only read through shared references once the run begins: what changes is an atomic, under a lock, or
//! under the claim of a node (inside its [`Body`]). The fields of a node's state and their orderings are in
//! [`NodeState`].
//!
//! Invariant: the modules of node kinds, scheduling and liveness use this one, and not the reverse, with two exceptions: it
//! names the types of the data that they keep here, and [`ActivationContext`] counts the ends that an activation drops
//! ([`drops`](crate::process::drops)).

mod activation;
pub(crate) mod alarm;
mod cell;
mod external;
mod owner;
mod signals;
mod state;
pub(crate) mod topology;
mod view;
mod wait;
mod waker;

pub(crate) use activation::{ActivationContext, Body, By, Held};
pub(crate) use cell::{Need, NodeCell};
pub(crate) use external::{ExternalEvent, Injector};
pub use owner::Owner;
pub(crate) use owner::{Owners, find};
pub(crate) use signals::Signals;
pub(crate) use state::{NO_NAP, NO_WORKER, NodeState, UNSTUCK};
pub(crate) use topology::Topology;
pub(crate) use view::{View, Viewed};
pub(crate) use wait::Waiting;
pub(crate) use waker::NodeWaker;

use crate::built::OperatorChannels;
use crate::channel::operation::{channel, sends};
use crate::channel::{Consumers, Grow, Meter, Origins};
use crate::error::Error;
use crate::liveness::live::Live;
use crate::liveness::state::SearchState;
use crate::measure::account::{Account, DedicatedAccount};
use crate::measure::clock::Ticks;
use crate::measure::occupancy::Occupancies;
use crate::sched::carry::Carrying;
use crate::sched::ready::Ready;
use crate::sched::widen::Wide;
use crate::sched::width::Width;
use crate::sync::{AtomicUsize, Mutex, Ordering};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use thalweg_analysis::Components;
use thalweg_graph::{Channel, ChannelId, GraphData, Kind, NodeId};
use thalweg_plan::{MAX_CARRIED, Plan};
use thalweg_policy::{Event, WorkerId};
use thalweg_trace::Growth;

/// The shared half of a run.
pub(crate) struct Net<'env> {
    pub(crate) topology: Topology,
    pub(crate) cells: Cells<'env>,
    pub(crate) sched: Scheduling,
    pub(crate) liveness: Liveness,
    pub(crate) signals: Arc<Signals>,
}

/// Nodes and channels, by their ids.
pub(crate) struct Cells<'env> {
    pub(crate) nodes: Vec<NodeCell<'env>>,
    /// By channel: its counters.
    pub(crate) meters: Vec<Arc<Meter>>,
    /// By channel: its storage, without its item type.
    pub(crate) rings: Vec<Arc<dyn Grow + 'env>>,
    /// By channel: how it widens, if it may. Empty if no channel may.
    pub(crate) wide: Vec<Option<Box<Wide>>>,
}

/// State that the workers share.
pub(crate) struct Scheduling {
    /// How many times as long as its processor time a claim lasts, in a dilated run.
    pub(crate) dilation: Option<u32>,
    /// The number of suspended firings of all kernels, where firings wait for their tickets: those that were queued for lack
    /// of room, and that no worker has taken since. A statistic.
    pub(crate) suspended: Option<AtomicUsize>,
    /// Queues of ready nodes, where the policy is notified.
    pub(crate) ready: Ready,
    /// The number of nodes with a body that have not ended. The thread that brings it to 0 ends the run
    /// (`ending::ended`).
    pub(crate) live: AtomicUsize,
    /// The number of workers that the run uses.
    pub(crate) width: Width,
    /// Whether workers that carry items on wait for their turn.
    pub(crate) carrying: Carrying,
    /// The blocking sources that workers fire. The run has one worker more for each.
    pub(crate) roaming: BTreeSet<NodeId>,
    /// The graph has nodes that are pinned to the worker that begins them: see [`coroutine`](crate::coroutine).
    pub(crate) pins: bool,
    /// The accounts of the workers that have left, each with its worker.
    pub(crate) accounts: Mutex<Vec<(usize, Account)>>,
    /// The measurements of dedicated nodes' threads that have left.
    pub(crate) dedicated: Mutex<Vec<DedicatedAccount>>,
    /// How many items channels hold over time.
    pub(crate) occupancies: Occupancies,
    /// The start of the run, in ticks. Written once, before the workers start.
    pub(crate) began: AtomicU64,
    /// The number of partitions of the graph that the policy has computed. Written once, after the workers have left.
    pub(crate) partitions: AtomicU64,
}

/// State by which a run does not hang: see [`liveness`](crate::liveness).
pub(crate) struct Liveness {
    /// Of the search for nodes that wait for each other while other nodes run.
    pub(crate) search: SearchState,
    /// Of the search for nodes from which no live end of the graph can be reached.
    pub(crate) live: Live,
    /// Bytes of ring slots and byte limits, which count against the budget.
    pub(crate) spent: AtomicUsize,
    /// The part of `spent` that was granted to channels in front of starved cycles.
    pub(crate) granted: AtomicUsize,
    /// All growths of channels, for the report.
    pub(crate) growths: Mutex<Vec<Growth>>,
    /// Starved loops end instead of failing the run: see [`starve`](crate::liveness::starve).
    pub(crate) closes_loops: bool,
    /// The channels that operators have added.
    pub(crate) operators: OperatorChannels,
}

impl std::ops::Deref for Net<'_> {
    type Target = Signals;

    #[inline]
    fn deref(&self) -> &Signals {
        &self.signals
    }
}

impl<'env> Net<'env> {
    /// The shared half of a run that has not begun. `nodes` and `rings` are in order of the ids in `graph`, and
    /// `signals` has a sleeper for each worker, dedicated thread and outside end. Workers fire the `roaming` sources.
    pub(crate) fn new(
        graph: GraphData,
        plan: Plan,
        nodes: Vec<NodeCell<'env>>,
        rings: Vec<(Arc<Meter>, Arc<dyn Grow + 'env>)>,
        signals: Arc<Signals>,
        roaming: BTreeSet<NodeId>,
    ) -> Net<'env> {
        let (meters, rings): (Vec<Arc<Meter>>, Vec<_>) = rings.into_iter().unzip();
        // A dedicated node has a thread of its own, and an end without a body is on a thread outside of the run.
        let workers = plan.threads() + roaming.len();
        let alone = workers == 1 && nodes.iter().all(|node| node.dedicated.is_none() && node.body.is_some());
        if alone {
            know_waits(&graph, &rings);
        }
        Net {
            sched: Scheduling {
                dilation: None,
                suspended: None,
                ready: Ready::new(workers, alone),
                width: Width::new(plan.threads()),
                carrying: Carrying::new(),
                roaming,
                live: AtomicUsize::new(nodes.iter().filter(|node| node.body.is_some()).count()),
                pins: nodes.iter().any(|node| node.pinned),
                accounts: Mutex::new(Vec::new()),
                dedicated: Mutex::new(Vec::new()),
                occupancies: Occupancies::default(),
                began: AtomicU64::new(0),
                partitions: AtomicU64::new(0),
            },
            liveness: Liveness {
                search: SearchState::new(&graph),
                live: Live::new(&graph),
                spent: AtomicUsize::new(bytes(&graph, &plan, &meters)),
                granted: AtomicUsize::new(0),
                growths: Mutex::new(Vec::new()),
                closes_loops: false,
                operators: OperatorChannels::default(),
            },
            cells: Cells { nodes, meters, rings, wide: Vec::new() },
            topology: Topology::new(graph, plan),
            signals,
        }
    }

    /// Lets the stop of the run, and the last consumer that leaves, end the firings of nodes that have pieces.
    pub(crate) fn connect_pieces(&self) {
        let pieces = self.topology.graph.node_ids().filter_map(|node| {
            let marks = self.node(node).body.as_ref()?.pieces()?;
            let outputs = self.outputs(node);
            let consumers = Arc::new(Consumers::new(marks.shared(), outputs.len()));
            outputs.iter().for_each(|channel| self.meter(*channel).ends_pieces(consumers.clone()));
            Some(marks)
        });
        _ = self.signals.pieces.set(pieces.collect());
    }

    /// The graph's strongly connected components.
    pub(crate) fn components(&self) -> &Components {
        self.topology.components()
    }

    /// The start of the run, in ticks.
    pub(crate) fn began(&self) -> Ticks {
        self.sched.began.load(Ordering::Relaxed)
    }

    /// The number of workers: the plan's threads, and one for each blocking source that workers fire.
    #[inline]
    pub(crate) fn threads(&self) -> usize {
        self.topology.plan.threads() + self.sched.roaming.len()
    }

    /// A node's code and state.
    #[inline]
    pub(crate) fn node(&self, node: NodeId) -> &NodeCell<'env> {
        &self.cells.nodes[node.index()]
    }

    /// A channel's counters.
    #[inline]
    pub(crate) fn meter(&self, channel: ChannelId) -> &Meter {
        &self.cells.meters[channel.index()]
    }

    /// Whether workers carry items on: some channel logs where its items come from, and they are heavy. Not in a graph with
    /// many channels, since a worker that takes new input looks at all of them.
    pub(crate) fn carries(&self) -> bool {
        let mut meters = self.cells.meters.iter();
        meters.len() <= MAX_CARRIED && meters.any(|meter| meter.origins().is_some_and(Origins::heavy))
    }

    /// The worker that has pushed the next item of a channel, if the channel logs that.
    pub(crate) fn origin(&self, channel: ChannelId) -> Option<WorkerId> {
        let meter = self.meter(channel);
        meter.origins().and_then(|origins| origins.run(origins.next_index(meter.head())).worker)
    }

    /// The channels of a node's inputs, in order of its ports.
    #[inline]
    pub(crate) fn inputs(&self, node: NodeId) -> &[ChannelId] {
        self.topology.inputs(node)
    }

    /// The channels of a node's outputs, in order of its ports.
    #[inline]
    pub(crate) fn outputs(&self, node: NodeId) -> &[ChannelId] {
        self.topology.outputs(node)
    }

    /// The worker that the node is pinned to; `None` if it is not pinned, or has not begun.
    #[inline]
    pub(crate) fn pinned_to(&self, node: NodeId) -> Option<WorkerId> {
        if self.sched.pins { self.node(node).pinned_to() } else { None }
    }

    /// Whether the node is not pinned to another worker.
    #[inline]
    pub(crate) fn may_run(&self, node: NodeId, worker: WorkerId) -> bool {
        self.pinned_to(node).is_none_or(|pinned_to| pinned_to == worker)
    }

    /// The neighbours of a node, each once for every channel that joins them.
    pub(crate) fn peers(&self, node: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        self.topology.peers(node)
    }

    /// A channel's producer and consumer.
    #[inline]
    pub(crate) fn ends(&self, channel: ChannelId) -> (NodeId, NodeId) {
        self.topology.ends(channel)
    }

    /// The node at the other end of an operation's channel.
    #[inline]
    pub(crate) fn peer(&self, operation: u64) -> NodeId {
        self.topology.peer(operation)
    }

    /// Whether an input of the node whose bit is set in the mask passes the test.
    pub(crate) fn any_input(&self, node: NodeId, mask: u64, test: impl Fn(&Meter) -> bool) -> bool {
        let inputs = self.inputs(node).iter().enumerate();
        inputs.filter(|(i, _)| mask >> i & 1 == 1).any(|(_, channel)| test(self.meter(*channel)))
    }

    /// Whether an activation of the node by a worker would, by the counters, fire or end it. Always false for a node
    /// with a thread of its own. A hint unless the caller has fenced: see [`sleep`](crate::sched::sleep).
    pub(crate) fn claimable(&self, node: NodeId) -> bool {
        let cell = &self.cells.nodes[node.index()];
        cell.dedicated.is_none() && self.actionable(node)
    }

    /// [`Net::claimable`], also true for nodes with a thread of their own.
    pub(crate) fn actionable(&self, node: NodeId) -> bool {
        let cell = &self.cells.nodes[node.index()];
        let Some(body) = &cell.body else { return false };
        !cell.state.is_done()
            && ((cell.state.satisfied(self, node)
                && !body.is_held()
                && self.missing(node).is_none()
                && !cell.state.has_waiting())
                || cell.state.unstuck(self, node))
    }

    /// A condition that keeps the node from firing and from ending, although its wait word may say that it has what it
    /// waits for: the word names one condition, and another one may not be met by the time the first is.
    ///
    /// The result depends only on counters that neighbours change before they fence and read which workers sleep, as
    /// the condition of the wait word does. So a worker may sleep because of it. `None` for a node whose firings do not
    /// have fixed rates.
    pub(crate) fn missing(&self, node: NodeId) -> Option<Need> {
        let cell = &self.cells.nodes[node.index()];
        if cell.needs.is_empty() {
            return None;
        }
        // A node whose consumers have all left, or that is cancelled, ends at its next activation, whatever it lacks.
        let is_kept = self.outputs(node).is_empty() || cell.state.drains();
        let (mut missing, mut has_consumer) = (None, is_kept);
        for need in &cell.needs {
            let lacks = match *need {
                Need::Items(channel, count) => {
                    let (meter, short) = (self.meter(channel), self.meter(channel).items() < count);
                    if short && meter.ended() {
                        return None; // it will end
                    }
                    short
                }
                Need::Room(channel, count) => {
                    let meter = self.meter(channel);
                    has_consumer |= !meter.gone();
                    !meter.gone() && meter.items() + count > meter.capacity()
                }
            };
            missing = missing.or(lacks.then_some(*need));
        }
        missing.filter(|_| has_consumer && !cell.state.is_cancelled())
    }

    /// The channel that keeps a node which workers run from firing, if that is the reason, as the event with which an
    /// activation would end. A hint, for policies.
    ///
    /// The wait word comes first: it names the first condition, by port, that the latest claim lacked. Until that one
    /// is met, no condition before it changes, since the node alone uses up its items and its room. A node that waits for any
    /// of several inputs lacks the first of these, as at the end of its activation. A node with queued firings lacks room for the
    /// first of them.
    pub(crate) fn lack(&self, node: NodeId) -> Option<Event> {
        let cell = &self.cells.nodes[node.index()];
        let held = cell.body.as_ref().is_none_or(|body| cell.kind != Kind::Parallel && body.is_held());
        if cell.dedicated.is_some() || held || cell.state.is_done() {
            return None;
        }
        if cell.state.has_waiting() {
            return self.stuck_outputs(node).next().map(Event::Full);
        }
        if !cell.state.satisfied(self, node) {
            return match cell.state.wait.read() {
                Waiting::Items { channel, .. } | Waiting::Timed { channel, .. } => {
                    Some(Event::Empty(channel))
                }
                Waiting::Room { channel, .. } | Waiting::Bytes { channel } => Some(Event::Full(channel)),
                Waiting::Any { inputs } => {
                    let first = self.inputs(node).get(inputs.trailing_zeros() as usize);
                    first.map(|channel| Event::Empty(*channel))
                }
                Waiting::Ready | Waiting::Window { .. } | Waiting::Never | Waiting::Foreign => None,
            };
        }
        self.missing(node).map(|need| match need {
            Need::Items(channel, _) => Event::Empty(channel),
            Need::Room(channel, _) => Event::Full(channel),
        })
    }

    /// The outputs of a parallel node on which a publication waits for room.
    pub(crate) fn stuck_outputs(&self, node: NodeId) -> impl Iterator<Item = ChannelId> + '_ {
        let stuck = self.cells.nodes[node.index()].state.stuck().iter().zip(self.outputs(node));
        stuck.filter(|(stuck, _)| stuck.load(Ordering::Relaxed) != UNSTUCK).map(|(_, channel)| *channel)
    }

    /// Alerts the neighbours: each is activated and checks its channels, whatever it waits for. The caller makes them
    /// ready afterwards.
    pub(crate) fn alert_peers(&self, node: NodeId) {
        for peer in self.peers(node) {
            self.cells.nodes[peer.index()].state.alert.store(true, Ordering::Release);
        }
    }

    /// Whether the node has outputs and all their consumers have left.
    pub(crate) fn unheard(&self, node: NodeId) -> bool {
        let outputs = self.outputs(node);
        !outputs.is_empty() && outputs.iter().all(|id| self.meter(*id).gone())
    }

    /// Whether the node is run for its side effects: no end of the graph can be reached from it, although the graph has
    /// ends. Always false in a graph without loops.
    pub(crate) fn has_side_effects(&self, node: NodeId) -> bool {
        self.liveness.live.has_side_effects(node)
    }

    /// Whether the graph is run for the node: it has no outputs, or returns a value.
    pub(crate) fn is_end(&self, node: NodeId) -> bool {
        topology::is_end(self.topology.graph.node(node))
    }

    /// Whether the node is an end that has not ended, and still reads or returns a value.
    pub(crate) fn is_live_end(&self, node: NodeId) -> bool {
        let cell = &self.cells.nodes[node.index()];
        let read = |id: &ChannelId| !self.meter(*id).gone();
        let inputs = self.inputs(node);
        let goes_on =
            || inputs.is_empty() || inputs.iter().any(read) || self.topology.graph.node(node).returns();
        self.is_end(node) && !cell.state.is_done() && goes_on()
    }

    /// The name of the end that an operation belongs to, for a message.
    pub(crate) fn end_name(&self, operation: u64) -> String {
        let side = if sends(operation) { "sending" } else { "receiving" };
        format!("the {side} end of channel `{}`", self.topology.graph.channel_name(channel(operation)))
    }

    /// Fails the run for an error that the node's code returned.
    pub(crate) fn fail_node(&self, node: NodeId, cause: Box<dyn std::error::Error + Send + Sync>) {
        self.fail(Error::Node { node: self.topology.graph.node(node).name().to_string(), cause });
    }

    /// Fails the run for a firing that pushed fewer items on output `port` than its static rate: `missing` fewer.
    pub(crate) fn fail_short(&self, node: NodeId, (port, missing): (usize, usize)) {
        let data = self.topology.graph.node(node);
        let rate = data.outputs()[port].push().fixed().unwrap_or(0);
        self.fail(Error::Rate {
            node: data.name().to_string(),
            port: data.outputs()[port].name().to_string(),
            rate,
            pushed: rate.saturating_sub(missing as u64),
        });
    }
}

/// The bytes of all channels' capacities, or with a budget of all their slots, and of their byte limits.
fn bytes(graph: &GraphData, plan: &Plan, meters: &[Arc<Meter>]) -> usize {
    let size = |id: ChannelId| match plan.budget() {
        Some(_) => plan.slots_of(id),
        None => plan.capacities()[id.index()],
    };
    let slots = graph.channel_ids().map(|id| graph.channel(id).item().bytes().saturating_mul(size(id)));
    let limits = meters.iter().map(|meter| meter.byte_limit()).filter(|limit| *limit != usize::MAX);
    slots.chain(limits).fold(0, usize::saturating_add)
}

/// Makes the channels between processes note which end waits. Sound only where one worker is the run's only thread: see
/// `channel::WaitFlag`.
fn know_waits<'env>(graph: &GraphData, rings: &[Arc<dyn Grow + 'env>]) {
    let is_process = |node: NodeId| graph.node(node).kind() == Kind::Process;
    let between = |channel: &Channel| is_process(channel.from().0) && is_process(channel.to().0);
    let channels = graph.channels().iter().zip(rings).filter(|(channel, _)| between(channel));
    channels.for_each(|(_, ring)| ring.know_waits());
}
