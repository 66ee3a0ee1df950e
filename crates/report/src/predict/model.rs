//! The pipeline of a report, as the models read it.
//!
//! | of the model | is |
//! |---|---|
//! | a stage | a node that fired |
//! | its service time | the mean busy time of a firing, which includes its part of claims, publications and decisions |
//! | its variation | that of the firings measured; 1, as of an exponential time, where none was |
//! | its limit | 1 for a node with one firing at a time, else the limit of the graph and the plan |
//! | its window | that of the plan, in firings of the mean claim; none for an unordered node |
//! | its threads | those that all nodes share; its own under the policy `pools`, of a blocking node, and where the plan says so; the workers of its segment under `static` |
//! | an edge's rates | items by firings of either end |
//! | its capacity | that at the end of the run; between kernels, places that firings hold ([`Edge::in_place`]) |
//! | tokens | the limit of an `in_flight` section from the source's output to the sink's input |
//!
//! A compiled program has a *driver*, which sends batches to the chain of its bodies and gets them back: source and sink in
//! one. The channel back is no edge, and its capacity is the number of tokens: the driver sends a batch where that many are
//! not under way. Other loops have no model.
//!
//! Where several nodes have no inputs, the firings of each count as if they were as many as those of the first.

use super::Unpredictable;
use crate::advice::{Evidence, is_complete};
use std::collections::BTreeSet;
use thalweg_analysis::topological_order;
use thalweg_graph::{Channel, ChannelId, Kind, Node, NodeId};
use thalweg_queueing::{Edge, MAX_ITEMS, Pipeline, Settings, Stage, Workers};
use thalweg_trace::Report;

/// The maximum number of stages of which a prediction is made: each takes a time linear in them, and findings make several.
const MAX_STAGES: usize = 1_000;

/// A pipeline with its settings, and the node of each stage.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Model {
    pub(crate) pipeline: Pipeline,
    pub(crate) settings: Settings,
    pub(crate) nodes: Vec<NodeId>,
    /// The node whose firings throughputs count: the first without inputs.
    pub(crate) source: NodeId,
}

impl Model {
    /// The model of a run.
    pub(crate) fn of(report: &Report) -> Result<Model, Unpredictable> {
        let busy = report.nodes().iter().any(|node| !node.busy().is_zero());
        if !is_complete(report) || !busy || report.wall().is_zero() {
            return Err(Unpredictable::Unmeasured);
        }
        let nodes = stages(report)?;
        let driver = driver(report);
        let is_source =
            |node: &&NodeId| report.graph().node(**node).inputs().is_empty() || driver == Some(**node);
        let source =
            *nodes.iter().filter(is_source).min().or(nodes.first()).ok_or(Unpredictable::Unmeasured)?;
        let parts = Parts { report, nodes: &nodes, source, driver };
        let stages = nodes.iter().map(|node| parts.stage(*node)).collect();
        let pipeline = Pipeline::new(stages, parts.edges()?).map_err(Unpredictable::Number)?;
        let settings = Settings { workers: parts.workers(), tokens: parts.tokens() };
        Ok(Model { pipeline, settings, nodes, source })
    }

    /// The threads that can work at stage `i`: its own, or all that stages share.
    pub(super) fn threads_of(&self, i: usize) -> u32 {
        match &self.settings.workers {
            Workers::Pools(pools) => pools[i],
            Workers::Shared(_) | Workers::Assigned(_) if self.pipeline.stages()[i].own_thread => 1,
            Workers::Shared(p) => *p,
            Workers::Assigned(lists) => lists[i].len() as u32,
        }
    }

    /// Whether stage `i` has threads that work at no other stage.
    pub(super) fn has_threads(&self, i: usize) -> bool {
        matches!(self.settings.workers, Workers::Pools(_)) || self.pipeline.stages()[i].own_thread
    }

    /// All threads.
    pub(super) fn threads(&self) -> f64 {
        let own = |i: &usize| self.pipeline.stages()[*i].own_thread;
        match &self.settings.workers {
            Workers::Pools(pools) => pools.iter().map(|c| f64::from(*c)).sum(),
            Workers::Shared(p) => f64::from(*p) + (0..self.nodes.len()).filter(own).count() as f64,
            Workers::Assigned(lists) => {
                let workers: BTreeSet<u32> = lists.iter().flatten().copied().collect();
                (workers.len() + (0..self.nodes.len()).filter(own).count()) as f64
            }
        }
    }

    /// The firings of the source per second.
    pub(crate) fn measured(&self, report: &Report) -> f64 {
        report.nodes()[self.source.index()].firings() as f64 / report.wall().as_secs_f64()
    }
}

/// The nodes that fired, in the order of the channels that carry items.
fn stages(report: &Report) -> Result<Vec<NodeId>, Unpredictable> {
    let fired = |node: &NodeId| report.nodes()[node.index()].firings() > 0;
    let order: Vec<NodeId> = topological_order(report.graph()).into_iter().filter(fired).collect();
    if order.len() > MAX_STAGES {
        return Err(Unpredictable::Stages { stages: order.len(), most: MAX_STAGES });
    }
    Ok(order)
}

/// The driver of a compiled program with bodies.
fn driver(report: &Report) -> Option<NodeId> {
    report.program()?;
    let graph = report.graph();
    let is_fed_back = |node: &NodeId| {
        let mut inputs = graph.node(*node).inputs().iter().filter_map(|port| port.channel()).peekable();
        inputs.peek().is_some() && inputs.all(|id| graph.channel(id).link().feedback())
    };
    graph.node_ids().find(is_fed_back)
}

/// A report with the nodes that are stages.
struct Parts<'r> {
    report: &'r Report,
    nodes: &'r [NodeId],
    source: NodeId,
    driver: Option<NodeId>,
}

impl<'r> Parts<'r> {
    fn node(&self, node: NodeId) -> &Node {
        self.report.graph().node(node)
    }

    fn stage(&self, id: NodeId) -> Stage {
        let (node, stats) = (self.node(id), &self.report.nodes()[id.index()]);
        let claim = stats.firings() as f64 / stats.activations().max(1) as f64;
        let times = stats.service().map(|service| service.firing()).filter(|times| times.mean() > 0.0);
        let variation = times.map_or(1.0, |times| times.variance().sqrt() / times.mean());
        let scale = self.scale(id);
        let evidence = Evidence(self.report);
        let own = evidence.has_own_thread(id);
        let busy = stats.busy().as_secs_f64() / stats.firings() as f64;
        let (service, variation) = (busy * scale, variation / scale.sqrt());
        let mut stage = match evidence.is_serial(id) {
            true => Stage::sequential(service, variation).ordered(1),
            false => Stage::parallel(service, variation),
        };
        if !evidence.is_serial(id) {
            stage.limit = evidence.worker_limit(id);
            let tickets = self.report.plan().map_or(1 << 20, |plan| plan.window() as u64);
            stage.window =
                (!node.unordered()).then(|| tickets.saturating_mul(claim.max(1.0) as u64).min(MAX_ITEMS));
        }
        let stage = if node.merge() { stage.merging() } else { stage };
        if own { stage.with_own_thread() } else { stage }
    }

    /// The firings of a node without inputs that count as one: as many as the source's.
    fn scale(&self, id: NodeId) -> f64 {
        let firings = |node: NodeId| self.report.nodes()[node.index()].firings() as f64;
        if self.node(id).inputs().is_empty() { firings(id) / firings(self.source) } else { 1.0 }
    }

    fn edges(&self) -> Result<Vec<Edge>, Unpredictable> {
        let ids = self.report.graph().channel_ids();
        let edges =
            ids.filter(|id| !self.channel(*id).link().limits()).filter_map(|id| self.edge(id).transpose());
        edges.collect()
    }

    fn channel(&self, id: ChannelId) -> &'r Channel {
        self.report.graph().channel(id)
    }

    /// The place of a node among the stages.
    fn place(&self, node: NodeId) -> Option<usize> {
        self.nodes.iter().position(|stage| *stage == node)
    }

    /// The edge of a channel; none where it carried nothing.
    fn edge(&self, id: ChannelId) -> Result<Option<Edge>, Unpredictable> {
        let (channel, stats) = (self.channel(id), &self.report.channels()[id.index()]);
        let ends = self.place(channel.from().0).zip(self.place(channel.to().0));
        let returns = self.driver == Some(channel.to().0);
        let Some((from, to)) = ends.filter(|_| stats.items() > 0 && !returns) else { return Ok(None) };
        if from >= to {
            return Err(Unpredictable::Loop { channel: self.report.graph().channel_name(id) });
        }
        let items = stats.items() as f64;
        let firings = |node: NodeId| self.report.nodes()[node.index()].firings() as f64;
        let pushes = items / firings(channel.from().0) * self.scale(channel.from().0);
        let pops = stats.items().saturating_sub(stats.leftover()).max(1) as f64 / firings(channel.to().0);
        // Firings that pop nothing here now and then: an item counts as several, so that each pops one.
        let several = (1.0 / pops).max(1.0);
        let capacity = ((stats.capacity().max(1) as f64 * several) as u64).min(MAX_ITEMS);
        let edge = Edge::new(from, to, capacity).rates(pushes * several, pops.max(1.0));
        let kernels =
            [channel.from().0, channel.to().0].iter().all(|node| self.node(*node).kind() != Kind::Process);
        Ok(Some(if kernels { edge.in_place() } else { edge }))
    }

    /// The threads: those that all nodes share, some for each node, or those that the plan gives each node.
    fn workers(&self) -> Workers {
        let own = |node: &&NodeId| Evidence(self.report).has_own_thread(**node);
        if let Some(lists) = self.assigned() {
            return Workers::Assigned(lists);
        }
        let pools = self.report.plan().filter(|plan| plan.has_pools());
        if pools.is_none() && !self.nodes.iter().all(|node| own(&node)) {
            return Workers::Shared(u32::try_from(self.report.threads().max(1)).unwrap_or(u32::MAX));
        }
        let of = |node: &NodeId| pools.map_or(1, |plan| plan.servers(*node).len().max(1));
        Workers::Pools(self.nodes.iter().map(|node| u32::try_from(of(node)).unwrap_or(u32::MAX)).collect())
    }

    /// The workers of each node where no worker runs another one's nodes; `None` where that is not so.
    fn assigned(&self) -> Option<Vec<Vec<u32>>> {
        let plan = self.report.plan().filter(|_| self.report.policy() == "static")?;
        let assignment = plan.assignment(self.report.graph());
        let own = |node: NodeId| Evidence(self.report).has_own_thread(node);
        let of = |node: &NodeId| assignment.workers_of(*node).to_vec();
        let lists: Vec<Vec<u32>> = self.nodes.iter().map(of).collect();
        let mut nodes = self.nodes.iter().zip(&lists);
        (nodes.all(|(node, list)| list.is_empty() == own(*node)) && lists.iter().any(|list| !list.is_empty()))
            .then_some(lists)
    }

    /// The number of batches of a compiled program, in firings of its driver; or the limit of items between the source's
    /// output and the sink's input, where the graph has both and such a limit.
    fn tokens(&self) -> Option<u64> {
        let graph = self.report.graph();
        if let Some(driver) = self.driver {
            let back = graph.node(driver).inputs().iter().find_map(|port| port.channel())?;
            let stats = &self.report.channels()[back.index()];
            let each = self.report.nodes()[driver.index()].firings() as f64 / stats.items().max(1) as f64;
            return Some(((stats.capacity() as f64 * each) as u64).clamp(1, MAX_ITEMS));
        }
        let mut limits =
            graph.channel_ids().map(|id| self.channel(id)).filter(|channel| channel.link().limits());
        let is_source = |node: NodeId| self.node(node).inputs().is_empty();
        let is_sink = |node: NodeId| self.node(node).outputs().is_empty();
        let all = limits.find(|channel| {
            let before = self.node(channel.from().0).inputs().iter().filter_map(|port| port.channel());
            let behind = self.node(channel.to().0).outputs().iter().filter_map(|port| port.channel());
            before.map(|id| self.channel(id).from().0).all(is_source)
                && behind.map(|id| self.channel(id).to().0).all(is_sink)
        })?;
        let per_item = self.node(all.to().0).inputs()[all.to().1].pop().fixed().unwrap_or(1).max(1);
        all.link().capacity().map(|capacity| (capacity as u64 - 1) / per_item + 1)
    }
}
