//! Preparation: from a network to nodes and channels that can run.
//!
//! # Order of steps
//!
//! 1. The options are checked, and the graph is planned. Nothing of the run exists yet.
//! 2. Stacks are made and sizes checked.
//! 3. Channels are made. A weight function may run, so user code may panic from here on.
//! 4. The signals are made and enter the table of runs. Before step 5: an end of a channel finds its run there when
//!    user code drops it, which it may do at once.
//! 5. Nodes are made. A process's function runs and gets its ends.
//! 6. The network is assembled. No thread has accessed it, so its last fields are set without synchronisation.

use super::{Finished, Options};
use crate::built::{MadeRing, MakeBody, MakeNode, MakeRing, Network, TallySpec};
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

/// A network with its plan, rings and nodes, ready to run.
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
    /// [`Error`] says why the run ended early.
    pub fn run(self, options: &Options) -> Result<Finished, Error> {
        self.prepare(options)?.run()
    }

    /// Plans, and makes everything but the threads.
    ///
    /// # Errors
    /// As [`Options::check`]; also channels that are too large, and a panic in a process's function.
    pub fn prepare(self, options: &Options) -> Result<Prepared<'env>, Error> {
        options.check()?;
        calibrate();
        let wishes = options.wishes();
        let plan = Plan::new(&self.graph, &wishes);
        let Network { number, graph, rings, nodes: makers, stacks, budget_sharers, tallies } = self;
        let stacks = Stacks::new(&stacks)?;
        check_sizes(&graph, &plan)?;
        let (rings, wide) = make_channels(&graph, &plan, &wishes, rings)?;
        share_budget(&graph, &plan, &rings);
        let dedicated =
            graph.node_ids().filter(|id| is_dedicated(graph.node(*id), options.one_to_one)).count();
        // Step 4: before any end of a channel exists.
        let signals = Arc::new(Signals::new(plan.threads + dedicated, graph.nodes().len()));
        signals.owners.enter(&signals);
        let maker = NodeMaker {
            graph: &graph,
            plan: &plan,
            stacks: &stacks,
            signals: &signals,
            one_to_one: options.one_to_one,
            held: share_held(&graph, &plan),
            kept: plan.budget.unwrap_or(HELD_DEFAULT) / 2 / budget_sharers.max(1),
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

/// Makes the channels, with the capacities of the plan.
fn make_channels<'env>(
    graph: &GraphData,
    plan: &Plan,
    wishes: &Wishes,
    cells: Vec<Arc<dyn MakeRing<'env> + 'env>>,
) -> Result<Channels<'env>, Error> {
    let mut wide = Vec::new();
    let make = |(id, cell): (ChannelId, Arc<dyn MakeRing<'env> + 'env>)| {
        let consumer = &graph.node(graph.channel(id).to.0).name;
        let capacity = plan.capacities[id.index()];
        let slots = thalweg_plan::max_capacity(graph, id, wishes, capacity);
        if slots > capacity {
            wide.push((id, slots));
        }
        catch_user_panic(consumer, || cell.make(id, Sizes { capacity, slots }, layout(graph, id)))
    };
    let rings = graph.channel_ids().zip(cells).map(make).collect::<Result<_, Error>>()?;
    Ok((rings, wide))
}

/// Whether a node gets a thread of its own, or is an end that code outside of the run holds (which is blocking).
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
    /// The most bytes that completed tickets of one parallel node hold.
    held: usize,
    /// The most bytes that the gate of one fork-join keeps.
    kept: usize,
}

impl NodeMaker<'_> {
    /// Makes all nodes, in order of their ids. Dedicated nodes get the sleepers' numbers after the workers', in the
    /// same order.
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

    /// [`is_dedicated`] for a node's id.
    fn is_dedicated(&self, node: NodeId) -> bool {
        is_dedicated(self.graph.node(node), self.one_to_one)
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
        let body = maker.map(|maker| catch_user_panic(&data.name, || maker(make))).transpose()?;
        // Where a framing function or an unordered node decides, no fixed condition says when a firing can start.
        let needs = match &body {
            Some(body) if !body.is_framed() && !data.unordered => needs(data),
            _ => Vec::new(),
        };
        // A dedicated node is activated by one thread anyway, so it need not be pinned to a worker.
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

    /// Whether a producer or consumer next to the node is dedicated.
    fn has_dedicated_peers(&self, node: &Node) -> bool {
        let producers = inputs(node).map(|channel| self.graph.channel(channel).from.0);
        let consumers = outputs(node).map(|channel| self.graph.channel(channel).to.0);
        producers.chain(consumers).any(|peer| self.is_dedicated(peer))
    }
}

/// The channels of a node's inputs.
fn inputs(node: &Node) -> impl Iterator<Item = ChannelId> + '_ {
    node.inputs.iter().filter_map(|port| port.channel)
}

/// The channels of a node's outputs.
fn outputs(node: &Node) -> impl Iterator<Item = ChannelId> + '_ {
    node.outputs.iter().filter_map(|port| port.channel)
}

/// Calls user code (a process's function, a weight) for a node that is being made; a panic is that node's failure.
fn catch_user_panic<T>(node: &str, make: impl FnOnce() -> T) -> Result<T, Error> {
    catch_unwind(AssertUnwindSafe(make)).map_err(|panic| {
        let message = crate::panic_message(&*panic);
        Error::Panic { node: node.to_owned(), message }
    })
}

/// The layout of a channel's counters: together between two processes, since messages move one by one there, and mostly
/// one worker runs both ends.
fn layout(graph: &GraphData, id: ChannelId) -> Layout {
    let channel = graph.channel(id);
    let process = |node: NodeId| graph.node(node).kind == Kind::Process;
    if process(channel.from.0) && process(channel.to.0) { Layout::Together } else { Layout::Apart }
}

/// The number of tickets of a reorder window: enough that the other workers stay busy during a claim ten times as long
/// as theirs, and few enough to stay in a cache.
fn tickets(threads: usize) -> usize {
    (threads * 16).next_power_of_two().max(32)
}

/// The most bytes of one channel's slots (16 GiB).
const CHANNEL_BYTES: usize = 1 << 34;

/// Refuses channels whose slots would take more than [`CHANNEL_BYTES`].
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

/// The items and room that every firing needs; empty if that depends on more than the counters.
fn needs(node: &Node) -> Vec<Need> {
    let items = node.inputs.iter().map(|port| {
        let pop = port.pop.fixed()?;
        Some(Need::Items(port.channel?, pop.max(port.peek) as usize))
    });
    let room = node.outputs.iter().map(|port| Some(Need::Room(port.channel?, port.push.fixed()? as usize)));
    items.chain(room).collect::<Option<Vec<_>>>().unwrap_or_default()
}

/// The bytes that completed tickets of one parallel node may hold in its reorder window, an equal share of half the
/// budget or of [`HELD_DEFAULT`]. Beyond it the node makes no claim.
fn share_held(graph: &GraphData, plan: &Plan) -> usize {
    let nodes = graph.nodes().iter().filter(|node| node.kind == Kind::Parallel).count().max(1);
    plan.budget.map_or(HELD_DEFAULT, |budget| budget / 2) / nodes
}

/// The most bytes of all reorder windows of a run without a byte budget.
const HELD_DEFAULT: usize = 256 << 20;

/// Divides the byte budget equally among the channels whose items are weighed. The slots of all rings are subtracted
/// first, and a quarter of the remainder is reserved for growth.
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
