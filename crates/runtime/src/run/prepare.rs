//! From a network to nodes and channels that can run.

use super::Options;
use crate::build::{Finished, MadeRing, MakeBody, MakeNode, MakeRing, Network, TallySpec};
use crate::channel::{Layout, Sizes};
use crate::coroutine::Stacks;
use crate::error::Error;
use crate::measure::clock::calibrate;
use crate::net::{Need, Net, NodeCell, NodeState, Signals};
use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use thalweg_graph::{ChannelId, GraphData, Kind, Node, NodeId};
use thalweg_plan::{Plan, Wishes};

/// A network with its plan, rings and nodes, ready to go.
pub struct Prepared<'env> {
    /// The number of its graph.
    pub(super) number: usize,
    pub(crate) net: Arc<Net<'env>>,
    pub(super) options: Options,
}

impl std::fmt::Debug for Prepared<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Prepared").field("plan", &self.net.topology.plan).finish_non_exhaustive()
    }
}

impl<'env> Network<'env> {
    /// Plans, runs to the end, and reports.
    ///
    /// # Errors
    /// [`Error`] says why the run ended before its time.
    pub fn run(self, options: &Options) -> Result<Finished, Error> {
        self.prepare(options)?.run()
    }

    /// Plans, and makes everything but the threads.
    ///
    /// # Errors
    /// As [`Options::check`], channels larger than can be made, and a panic in a process's function.
    pub fn prepare(self, options: &Options) -> Result<Prepared<'env>, Error> {
        options.check()?;
        calibrate();
        let wishes = options.wishes();
        let plan = Plan::new(&self.graph, &wishes);
        let Network { number, graph, rings, nodes: makers, stacks, keepers, tallies } = self;
        let stacks = Stacks::new(&stacks)?;
        check_sizes(&graph, &plan)?;
        let (rings, wide) = make_channels(&graph, &plan, &wishes, rings)?;
        share_budget(&graph, &plan, &rings);
        let dedicated =
            graph.node_ids().filter(|id| is_dedicated(graph.node(*id), options.one_to_one)).count();
        // Before any end of a channel exists, which user code may drop at once.
        let signals = Arc::new(Signals::new(plan.threads + dedicated, graph.nodes().len()));
        signals.owners.enter(&signals);
        let maker = NodeMaker {
            graph: &graph,
            plan: &plan,
            stacks: &stacks,
            signals: &signals,
            one_to_one: options.one_to_one,
            held: share_held(&graph, &plan),
            kept: plan.budget.unwrap_or(HELD_UNASKED) / 2 / keepers.max(1),
        };
        let nodes = maker.make_all(makers, tallies)?;
        let mut net = Net::new(graph, plan, nodes, rings, signals);
        net.liveness.closes_loops = options.closes_loops;
        net.cells.wide = wide;
        Ok(Prepared { number, net: Arc::new(net), options: options.clone() })
    }
}

/// The rings of all channels, and those with more slots than capacity.
type Channels<'env> = (Vec<MadeRing<'env>>, Vec<(ChannelId, usize)>);

fn make_channels<'env>(
    graph: &GraphData,
    plan: &Plan,
    wishes: &Wishes,
    sockets: Vec<Arc<dyn MakeRing<'env> + 'env>>,
) -> Result<Channels<'env>, Error> {
    let mut wide = Vec::new();
    let make = |(id, socket): (ChannelId, Arc<dyn MakeRing<'env> + 'env>)| {
        let consumer = &graph.node(graph.channel(id).to.0).name;
        let capacity = plan.capacities[id.index()];
        let slots = thalweg_plan::max_capacity(graph, id, wishes, capacity);
        if slots > capacity {
            wide.push((id, slots));
        }
        caught(consumer, || socket.make(id, Sizes { capacity, slots }, layout(graph, id)))
    };
    let rings = graph.channel_ids().zip(sockets).map(make).collect::<Result<_, Error>>()?;
    Ok((rings, wide))
}

/// Whether a node gets a thread of its own.
fn is_dedicated(node: &Node, one_to_one: bool) -> bool {
    node.blocking || (one_to_one && node.kind != Kind::Parallel)
}

/// Makes the nodes of a run.
struct NodeMaker<'a> {
    graph: &'a GraphData,
    plan: &'a Plan,
    stacks: &'a Stacks,
    signals: &'a Signals,
    one_to_one: bool,
    /// Bytes that a parallel node's completed tickets may hold, and that a node may keep.
    held: usize,
    kept: usize,
}

impl NodeMaker<'_> {
    fn make_all<'env>(
        &self,
        makers: Vec<Option<MakeBody<'env>>>,
        mut tallies: HashMap<NodeId, Vec<TallySpec>>,
    ) -> Result<Vec<NodeCell<'env>>, Error> {
        let mut sleepers = self.plan.threads as u32..;
        let make = |(id, maker): (NodeId, Option<MakeBody<'env>>)| {
            let tallies = tallies.remove(&id).unwrap_or_default();
            let sleeper = self.is_dedicated(id).then(|| sleepers.next().expect("endless"));
            self.make(id, maker, tallies, sleeper)
        };
        self.graph.node_ids().zip(makers).map(make).collect()
    }

    fn is_dedicated(&self, node: NodeId) -> bool {
        is_dedicated(self.graph.node(node), self.one_to_one)
    }

    fn make<'env>(
        &self,
        id: NodeId,
        maker: Option<MakeBody<'env>>,
        tallies: Vec<TallySpec>,
        dedicated: Option<u32>,
    ) -> Result<NodeCell<'env>, Error> {
        let data = self.graph.node(id);
        let state = match data.kind {
            Kind::Parallel => NodeState::parallel(data.outputs.len(), self.plan.threads),
            _ => NodeState::single(),
        };
        let weighed = outputs(data).find(|channel| self.graph.channel(*channel).link.weighed);
        let make = MakeNode {
            tickets: tickets(self.plan.threads),
            retired: state.retired().cloned(),
            weighed,
            held: self.held,
            kept: self.kept,
            unordered: data.unordered,
            workers: data.workers,
            tallies: tallies.into_iter().map(TallySpec::make).collect(),
            stacks: self.stacks,
            owner: self.signals.owners.of(id),
        };
        let body = maker.map(|maker| caught(&data.name, || maker(make))).transpose()?;
        let needs = match &body {
            Some(body) if !body.is_framed() && !data.unordered => needs(data),
            _ => Vec::new(),
        };
        let pinned = dedicated.is_none() && body.as_ref().is_some_and(|body| body.is_pinned());
        let is_process = data.kind == Kind::Process && body.is_some();
        Ok(NodeCell {
            state,
            kind: data.kind,
            is_free_process: is_process && dedicated.is_none() && !pinned,
            pinned,
            body,
            needs: needs.into(),
            dedicated,
            dedicated_peers: self.has_dedicated_peers(data),
        })
    }

    fn has_dedicated_peers(&self, node: &Node) -> bool {
        let producers = inputs(node).map(|channel| self.graph.channel(channel).from.0);
        let consumers = outputs(node).map(|channel| self.graph.channel(channel).to.0);
        producers.chain(consumers).any(|peer| self.is_dedicated(peer))
    }
}

fn inputs(node: &Node) -> impl Iterator<Item = ChannelId> + '_ {
    node.inputs.iter().filter_map(|port| port.channel)
}

fn outputs(node: &Node) -> impl Iterator<Item = ChannelId> + '_ {
    node.outputs.iter().filter_map(|port| port.channel)
}

/// Calls a user's code (a process's function, a weight) for a node that is being made.
fn caught<T>(node: &str, make: impl FnOnce() -> T) -> Result<T, Error> {
    catch_unwind(AssertUnwindSafe(make)).map_err(|panic| {
        let message = crate::panic_message(&*panic);
        Error::Panic { node: node.to_owned(), message }
    })
}

/// Messages between processes are moved one by one, mostly by one worker.
fn layout(graph: &GraphData, id: ChannelId) -> Layout {
    let channel = graph.channel(id);
    let process = |node: NodeId| graph.node(node).kind == Kind::Process;
    if process(channel.from.0) && process(channel.to.0) { Layout::Together } else { Layout::Apart }
}

/// Tickets of a reorder window: enough that one claim ten times as long as the others leaves the
/// other workers busy, few enough to stay in a cache.
fn tickets(threads: usize) -> usize {
    (threads * 16).next_power_of_two().max(32)
}

/// Bytes of one channel's slots at most.
const CHANNEL_BYTES: usize = 1 << 34;

/// Refuses what could not be made.
fn check_sizes(graph: &GraphData, plan: &Plan) -> Result<(), Error> {
    for (id, items) in graph.channel_ids().zip(&plan.capacities) {
        let bytes = graph.channel(id).item.bytes.max(1);
        let slots = items.checked_next_power_of_two();
        if slots.and_then(|slots| slots.checked_mul(bytes)).is_none_or(|bytes| bytes > CHANNEL_BYTES) {
            let name = graph.channel_name(id);
            let what = format!("channel `{name}` would hold {items} items of {bytes} bytes");
            return Err(Error::Options(format!("{what}: more than {CHANNEL_BYTES} bytes")));
        }
    }
    Ok(())
}

/// What every firing needs; empty where that depends on more than the counters.
fn needs(node: &Node) -> Vec<Need> {
    let items = node.inputs.iter().map(|port| {
        let pop = port.pop.fixed()?;
        Some(Need::Items(port.channel?, pop.max(port.peek) as usize))
    });
    let room = node.outputs.iter().map(|port| Some(Need::Room(port.channel?, port.push.fixed()? as usize)));
    items.chain(room).collect::<Option<Vec<_>>>().unwrap_or_default()
}

/// Bytes that completed tickets of one parallel node may hold in its reorder window, beyond which it
/// makes no claim: a share of the budget, or of [`HELD_UNASKED`].
fn share_held(graph: &GraphData, plan: &Plan) -> usize {
    let nodes = graph.nodes().iter().filter(|node| node.kind == Kind::Parallel).count().max(1);
    plan.budget.map_or(HELD_UNASKED, |budget| budget / 2) / nodes
}

/// Bytes that reorder windows may hold where no budget was given.
const HELD_UNASKED: usize = 256 << 20;

/// Deals the byte budget, less the rings' own slots and a quarter kept for growth, to the
/// channels whose items are weighed.
fn share_budget(graph: &GraphData, plan: &Plan, rings: &[MadeRing<'_>]) {
    let Some(budget) = plan.budget else { return };
    let slots: usize =
        graph.channels().iter().zip(&plan.capacities).map(|(c, size)| c.item.bytes * size).sum();
    let weighed = graph.channels().iter().filter(|c| c.link.weighed).count().max(1);
    let share = budget.saturating_sub(slots) / 4 * 3 / weighed;
    for (channel, (meter, _)) in graph.channels().iter().zip(rings) {
        if channel.link.weighed {
            meter.set_byte_limit(share.max(1));
        }
    }
}
