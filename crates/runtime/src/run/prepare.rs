//! Preparation: from a network to nodes and channels that can run.
//!
//! # Order of steps
//!
//! 1. The options are checked, the nodes that limit its items in flight are added, and the graph is planned. Nothing of the
//!    run exists yet.
//! 2. Stacks are made and sizes checked.
//! 3. Channels are made. A weight function may run, so user code may panic from here on.
//! 4. The signals are made and enter the table of runs. Before step 5: an end of a channel finds its run there when
//!    user code drops it, which it may do at once.
//! 5. Nodes are made. A process's function runs and gets its ends.
//! 6. The network is assembled. No thread has accessed it, so its last fields are set without synchronisation.

use super::planned::{decide, misfit};
use super::{EmbedOptions, Failed, Options, Run, Wanted};
use crate::built::{MadeRing, MakeBody, MakeNode, MakeRing, Network, TallySpec};
use crate::channel::{Layout, NoMemory, Sizes, Taking};
use crate::contain::{drop_quietly, into_message};
use crate::coroutine::Stacks;
use crate::error::Error;
use crate::measure::clock::calibrate;
use crate::measure::occupancy::Occupancies;
use crate::net::{Need, Net, NodeCell, NodeState, NodeWaker, Signals};
use crate::sched::roaming::roaming_sources;
use crate::sched::widen::Wide;
use crate::sync::AtomicUsize;
use std::collections::{BTreeSet, HashMap};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use thalweg_graph::{Channel, ChannelId, GraphData, Kind, Node, NodeId};
use thalweg_plan::{MAX_CARRIED, Plan, PlanError};

/// A network with its plan, rings and nodes, ready to run. `T` is the value that the caller takes: that of the output by
/// which the run was prepared ([`Output::prepare`](crate::Output::prepare)), if there is one.
pub struct Prepared<'env, T = ()> {
    pub(crate) ready: Ready<'env>,
    pub(super) wanted: Wanted<T>,
}

impl<'env> Prepared<'env> {
    /// The same run for a caller that takes a value.
    pub(crate) fn wanting<T>(self, wanted: Wanted<T>) -> Prepared<'env, T> {
        Prepared { ready: self.ready, wanted }
    }
}

/// A run that has been prepared, whatever its caller takes.
pub(crate) struct Ready<'env> {
    /// The number of its graph.
    pub(super) number: usize,
    pub(crate) net: Arc<Net<'env>>,
    pub(super) options: Options,
}

impl<T> std::fmt::Debug for Prepared<'_, T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Prepared").field("plan", &self.ready.net.topology.plan).finish_non_exhaustive()
    }
}

impl<'env> Network<'env> {
    /// Plans with default options, runs to the end, and reports.
    ///
    /// # Errors
    /// [`Failed`] says why the run ended early.
    pub fn run(self) -> Result<Run, Failed> {
        self.run_with(&Options::new())
    }

    /// Plans, runs to the end, and reports.
    ///
    /// # Errors
    /// [`Failed`] says why the run ended early.
    pub fn run_with(self, options: &Options) -> Result<Run, Failed> {
        self.prepare(options)?.run()
    }

    /// Plans, and makes everything but the threads.
    ///
    /// # Errors
    /// As [`Options`]; also channels that are too large or for which the system has no memory, a plan that does
    /// not fit, and a panic in a process's function.
    pub fn prepare(self, options: &Options) -> Result<Prepared<'env>, Error> {
        Ok(Prepared { ready: self.ready(options)?, wanted: Wanted::Nothing(()) })
    }

    /// [`Network::prepare`] for any caller.
    pub(crate) fn ready(mut self, options: &Options) -> Result<Ready<'env>, Error> {
        let mut made = Made::default();
        self.make(options, &mut made).inspect_err(|_| {
            // The caller gets the error, whatever the drop of what the users have put into the graph does.
            drop_quietly(made);
            drop_quietly(self);
        })
    }

    /// [`Network::prepare`]. After an error `self` and `made` have what was not made, and what was.
    fn make(&mut self, options: &Options, made: &mut Made<'env>) -> Result<Ready<'env>, Error> {
        options.check()?;
        if cfg!(feature = "tokens")
            && let Some(tokens) = options.limit()
        {
            self.limit(tokens)?;
        }
        calibrate();
        let plan = decide(&self.graph, options, self.budget_sharers)?;
        options.check_dilation(&self.graph, plan.threads() + plan.own_threads().len())?;
        let stacks = Stacks::new(&self.stacks)?;
        make_channels(&self.graph, &plan, &self.rings, &mut made.rings)?;
        let roaming =
            roaming_sources(&self.graph, &plan, options, |channel| made.rings[channel.index()].0.as_ref());
        // Step 4: before any end of a channel exists.
        let workers = plan.threads() + roaming.len();
        let own = plan.own_threads().difference(&roaming).copied().collect();
        let mut signals = Signals::new((workers, workers + BTreeSet::len(&own)), self.graph.nodes().len());
        let is_measured = !options.unaccounted || options.timeline > 0;
        #[cfg(not(loom))]
        if is_measured {
            signals.team.count(options.timeline, !own.is_empty());
        }
        signals.team.domains = options.domains.clone();
        let signals = Arc::new(signals);
        signals.owners.enter(&signals);
        let waits = options.ticket_waits;
        let maker = NodeMaker {
            graph: &self.graph,
            plan: &plan,
            stacks: &stacks,
            signals: &signals,
            own,
            workers,
            waits,
        };
        maker.make_all(&mut self.nodes, std::mem::take(&mut self.tallies), &mut made.nodes)?;
        // A counted run reads no clock.
        let wide = if options.counted { Vec::new() } else { widening(&self.graph, &plan) };
        let (graph, made) = (std::mem::take(&mut self.graph), std::mem::take(made));
        let mut net = Net::new(graph, plan, made.nodes, made.rings, signals, roaming);
        net.sched.dilation = options.dilation;
        if is_measured {
            net.sched.occupancies = Occupancies::new(net.cells.meters.len());
        }
        net.sched.suspended = options.ticket_waits.then(AtomicUsize::default);
        net.liveness.closes_loops = options.closes_loops;
        net.liveness.operators = std::mem::take(&mut self.operators);
        net.cells.wide = wide;
        net.connect_pieces();
        Ok(Ready { number: self.number, net: Arc::new(net), options: options.clone() })
    }
}

/// What has been made of a network so far.
#[derive(Default)]
struct Made<'env> {
    nodes: Vec<NodeCell<'env>>,
    rings: Vec<MadeRing<'env>>,
}

/// By channel: how it widens, if it may. Empty if no channel may.
fn widening(graph: &GraphData, plan: &Plan) -> Vec<Option<Box<Wide>>> {
    if plan.slots().is_empty() {
        return Vec::new();
    }
    let wide = |id| plan.slots().get(&id).map(|slots| Box::new(Wide::new(*slots)));
    graph.channel_ids().map(wide).collect()
}

/// Makes the channels, with the capacities and byte limits of the plan.
fn make_channels<'env>(
    graph: &GraphData,
    plan: &Plan,
    cells: &[Arc<dyn MakeRing<'env> + 'env>],
    rings: &mut Vec<MadeRing<'env>>,
) -> Result<(), Error> {
    for (id, cell) in graph.channel_ids().zip(cells) {
        let consumer = &graph.node(graph.channel(id).to().0).name();
        let sizes = Sizes { capacity: plan.capacities()[id.index()], slots: plan.slots_of(id) };
        let made = catch_user_panic(consumer, || cell.make(id, sizes, layout(graph, id)))?;
        let ring = made.map_err(|NoMemory(bytes)| misfit(PlanError::memory(graph, id, bytes)))?;
        if let Some(bytes) = plan.byte_limits().get(&id) {
            ring.0.set_byte_limit(*bytes);
        }
        rings.push(ring);
    }
    Ok(())
}

/// Makes the nodes of a run.
struct NodeMaker<'a> {
    graph: &'a GraphData,
    plan: &'a Plan,
    stacks: &'a Stacks,
    signals: &'a Arc<Signals>,
    /// The nodes with a thread of their own: those of the plan without sources that workers fire.
    own: BTreeSet<NodeId>,
    /// The number of workers.
    workers: usize,
    /// Firings wait for their tickets.
    waits: bool,
}

impl NodeMaker<'_> {
    /// Makes all nodes, in order of their ids. Dedicated nodes get the sleepers' numbers after the workers', in the
    /// same order.
    fn make_all<'env>(
        &self,
        makers: &mut [Option<MakeBody<'env>>],
        mut tallies: HashMap<NodeId, Vec<TallySpec>>,
        nodes: &mut Vec<NodeCell<'env>>,
    ) -> Result<(), Error> {
        let mut sleepers = self.workers as u32..;
        for (id, maker) in self.graph.node_ids().zip(makers) {
            let tallies = tallies.remove(&id).unwrap_or_default();
            let sleeper = self.is_dedicated(id).then(|| sleepers.next().expect("endless"));
            nodes.push(self.make(id, maker.take(), tallies, sleeper)?);
        }
        Ok(())
    }

    /// Whether a node has a thread of its own, or is an end that code outside of the run holds (which is blocking).
    fn is_dedicated(&self, node: NodeId) -> bool {
        self.own.contains(&node)
    }

    /// The maximum number of workers that may fire the node at the same time: the least of the graph's limit and the plan's.
    fn workers(&self, node: NodeId) -> Option<u32> {
        let limits = [self.graph.node(node).workers(), self.plan.replicas().get(&node).copied()];
        limits.into_iter().flatten().min()
    }

    /// Makes one node. `maker` is `None` for an end that code outside of the run holds; `dedicated` is its number as a
    /// sleeper.
    fn make<'env>(
        &self,
        id: NodeId,
        maker: Option<MakeBody<'env>>,
        tallies: Vec<TallySpec>,
        dedicated: Option<u32>,
    ) -> Result<NodeCell<'env>, Error> {
        let data = self.graph.node(id);
        // A node with a thread of its own has one firing at a time. Interruptible code does not wait either, which only the
        // node itself knows (`Parallel::new`): its counters of queued firings stay 0, so all that asks the state finds the
        // protocol of other runs.
        let waits = self.waits && data.kind() == Kind::Parallel && !data.unordered() && dedicated.is_none();
        let state = match data.kind() {
            Kind::Parallel => {
                NodeState::parallel(data.outputs().len(), self.plan.window(), self.workers, data.unordered())
            }
            _ => NodeState::single(),
        };
        let state = if waits { state.with_waits() } else { state };
        let weighed = outputs(data).find(|channel| self.graph.channel(*channel).link().weighed());
        let owns = |channel: &Channel| channel.link().owns() && !channel.link().weighed();
        let owned = outputs(data).find(|id| owns(self.graph.channel(*id)));
        // The bytes of completed tickets are those of all outputs.
        let bytes = outputs(data).map(|id| self.graph.channel(id).item().bytes()).sum();
        let make = MakeNode {
            tickets: self.plan.window(),
            retired: state.retired().cloned(),
            weighed,
            owned: owned.map(|id| (id, bytes)),
            held: self.plan.held(),
            kept: self.plan.kept(),
            unordered: data.unordered(),
            waits,
            workers: self.workers(id),
            tallies: tallies.into_iter().map(TallySpec::make).collect(),
            stacks: self.stacks,
            owner: self.signals.owners.of(id),
            waker: &|| NodeWaker::new(self.signals.clone(), id, dedicated),
        };
        let body = maker.map(|maker| catch_user_panic(data.name(), || maker(make))).transpose()?;
        // Where a framing function or an unordered node decides, no fixed condition says when a firing can start.
        let needs = match &body {
            Some(body) if !body.is_framed() && !data.unordered() => needs(data, waits),
            _ => Vec::new(),
        };
        // A dedicated node is activated by one thread anyway, so it need not be pinned to a worker.
        let pinned = dedicated.is_none() && body.as_ref().is_some_and(|body| body.is_pinned());
        let is_process = data.kind() == Kind::Process && body.is_some();
        let roams = dedicated.is_none() && self.plan.own_threads().contains(&id);
        Ok(NodeCell {
            state,
            kind: data.kind(),
            is_free_process: is_process && dedicated.is_none() && !pinned,
            pinned,
            body,
            needs: needs.into(),
            dedicated,
            roaming: roams.then(Box::default),
            dedicated_peers: self.has_dedicated_peers(data),
        })
    }

    /// Whether a producer or consumer next to the node is dedicated.
    fn has_dedicated_peers(&self, node: &Node) -> bool {
        let producers = inputs(node).map(|channel| self.graph.channel(channel).from().0);
        let consumers = outputs(node).map(|channel| self.graph.channel(channel).to().0);
        producers.chain(consumers).any(|peer| self.is_dedicated(peer))
    }
}

/// The channels of a node's inputs.
fn inputs(node: &Node) -> impl Iterator<Item = ChannelId> + '_ {
    node.inputs().iter().filter_map(|port| port.channel())
}

/// The channels of a node's outputs.
fn outputs(node: &Node) -> impl Iterator<Item = ChannelId> + '_ {
    node.outputs().iter().filter_map(|port| port.channel())
}

/// Calls user code (a process's function, a weight) for a node that is being made; a panic is that node's failure.
fn catch_user_panic<T>(node: &str, make: impl FnOnce() -> T) -> Result<T, Error> {
    catch_unwind(AssertUnwindSafe(make))
        .map_err(|panic| Error::Panic { node: node.to_owned(), message: into_message(panic) })
}

/// The greatest number of channels of a graph whose channels log the workers that their items come from.
const MAX_TRACED: usize = 1 << 12;

/// The layout of a channel's counters: together between two processes, since messages move one by one there, and mostly
/// one worker runs both ends. The channel logs the workers that its items come from, unless the graph is so large that the
/// logs would take much memory. Messages of processes are counted without a log where no items are carried on.
fn layout(graph: &GraphData, id: ChannelId) -> Layout {
    let channel = graph.channel(id);
    let process = |node: NodeId| graph.node(node).kind() == Kind::Process;
    let consumer = graph.node(channel.to().0);
    let pop =
        consumer.inputs()[channel.to().1].pop().fixed().map_or(0, |pop| usize::try_from(pop).unwrap_or(0));
    let taking = Taking { pop, claims: consumer.kind() == Kind::Parallel && pop > 0, heavy: false };
    let channels = graph.channels().len();
    match (process(channel.from().0), process(channel.to().0)) {
        (false, false) if channels <= MAX_TRACED => Layout::Traced(taking),
        (false, false) => Layout::Apart,
        (true, true) if channels <= MAX_CARRIED => Layout::TracedTogether(taking),
        (true, true) => Layout::Together,
        _ if channels <= MAX_CARRIED => Layout::Traced(taking),
        _ => Layout::Apart,
    }
}

/// The items and room that every firing needs; empty if that depends on more than the counters. A firing that waits for its
/// ticket needs no room to begin.
fn needs(node: &Node, waits: bool) -> Vec<Need> {
    let items = |count: u64| usize::try_from(count).unwrap_or(usize::MAX);
    let taken = node.inputs().iter().map(|port| {
        let pop = port.pop().fixed()?;
        Some(Need::Items(port.channel()?, items(pop.max(port.peek()))))
    });
    let room = node.outputs().iter().map(|port| {
        let push = items(port.push().fixed()?);
        Some(Need::Room(port.channel()?, if waits { 0 } else { push }))
    });
    taken.chain(room).collect::<Option<Vec<_>>>().unwrap_or_default()
}
