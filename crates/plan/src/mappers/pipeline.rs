//! What a mapper knows of a graph: stages in the order of the data, with their work, state and traffic.

use super::Target;
use crate::passes::capacities::{items_per_firing, min_capacity};
use crate::passes::divide::parts;
use crate::{Profile, Unit, Units};
use std::collections::BTreeSet;
use std::ops::Range;
use thalweg_analysis::{Balance, components, gcd};
use thalweg_graph::{Channel, ChannelId, GraphData, Kind, NodeId, data};

data! {
    /// What a mapper never divides: a node, or the nodes of a loop.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Stage {
        /// The nodes.
        view nodes: Vec<NodeId> => &[NodeId];
        /// The time of all firings in the profile, in nanoseconds.
        copy work: f64;
        /// The bytes that its firings use again and again: its state, and the channels of a loop.
        copy state: u64;
        /// The firings in the profile.
        copy firings: f64;
        /// The maximum number of workers that may share its firings: 1, unless it is a parallel node.
        copy copies: usize;
    }
}

data! {
    /// A channel between two stages.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Edge {
        /// The channel.
        copy channel: ChannelId;
        /// The stage that pushes, by index: less than `to`.
        copy from: usize;
        /// The stage that pops, by index.
        copy to: usize;
        /// The items that the channel carried in the profile.
        copy items: f64;
        /// Their bytes.
        copy bytes: f64;
        /// The bytes of the buffer that the channel needs inside a segment.
        copy buffer: u64;
    }
}

/// A graph as a mapper sees it: its stages in the order of the data, and the edges between them.
///
/// Work, items and bytes are those of the whole profile. By [`Pipeline::items`] they become *gains*, what one item of the source
/// causes. In a pipeline each edge joins neighbours. In other graphs an edge may pass over stages, and costs only the segments
/// in which it begins and ends.
#[derive(Clone, Debug, PartialEq)]
pub struct Pipeline {
    stages: Vec<Stage>,
    edges: Vec<Edge>,
    /// The edges into each stage, by index.
    into: Vec<Vec<usize>>,
    /// The edges out of each stage, by index.
    out_of: Vec<Vec<usize>>,
    workers: usize,
    items: f64,
    target: Target,
}

impl Pipeline {
    /// The pipeline of the nodes that workers run, for this many workers. Nodes with threads of their own are left out.
    pub fn new(
        graph: &GraphData,
        profile: &Profile,
        own_threads: &BTreeSet<NodeId>,
        workers: usize,
        target: &Target,
    ) -> Pipeline {
        let components = components(graph);
        let mut stage_of = vec![usize::MAX; graph.nodes().len()];
        let mut stages = Vec::new();
        for members in components.iter() {
            let nodes: Vec<NodeId> =
                members.iter().copied().filter(|node| !own_threads.contains(node)).collect();
            if nodes.is_empty() {
                continue;
            }
            nodes.iter().for_each(|node| stage_of[node.index()] = stages.len());
            stages.push(stage(graph, profile, nodes));
        }
        let mut edges = Vec::new();
        for (id, channel) in graph.channel_ids().zip(graph.channels()) {
            let (from, to) = (stage_of[channel.from().0.index()], stage_of[channel.to().0.index()]);
            let bytes = channel.item().bytes() as u64;
            let buffer = two_lcm(graph, channel).saturating_mul(bytes);
            if from == to {
                if let Some(stage) = stages.get_mut(from) {
                    stage.state = stage.state.saturating_add(buffer);
                }
                continue;
            }
            if from < stages.len() && to < stages.len() {
                let carried = profile.channels().get(id.index()).copied().unwrap_or_default();
                let (items, bytes) = (carried.items() as f64, carried.bytes() as f64);
                edges.push(Edge { channel: id, from, to, items, bytes, buffer });
            }
        }
        Pipeline::of(stages, edges, workers, target)
    }

    /// The pipeline of a compiled graph: a stage for each of its `units`, whose costs are nanoseconds of `states` steady states together.
    /// A unit without state may have copies.
    ///
    /// What the channels carry follows from their rates. Where these are dynamic it follows from the costs of hand-overs, where these are
    /// known: as many bytes as miss for that long.
    pub fn of_units(
        graph: &GraphData,
        units: &Units,
        states: f64,
        workers: usize,
        target: &Target,
    ) -> Pipeline {
        let nodes: Vec<Vec<NodeId>> = units.all().iter().map(|unit| unit.nodes.clone()).collect();
        let of = parts(graph.nodes().len(), &nodes);
        let mut stages: Vec<Stage> = units.all().iter().map(|unit| unit_stage(graph, unit, states)).collect();
        let all: Vec<NodeId> = graph.node_ids().collect();
        let balance = Balance::of(graph);
        let firings = balance.repetitions(&all).filter(|_| balance.faults().is_empty());
        let mut edges: Vec<Edge> = Vec::new();
        for (id, channel) in graph.channel_ids().zip(graph.channels()) {
            let (node, port) = channel.from();
            let ends = of[node.index()].zip(of[channel.to().0.index()]);
            let Some((from, to)) = ends.map(|(from, to)| (from.min(to), from.max(to))) else { continue };
            let push = graph.node(node).outputs()[port].push().fixed();
            let items = firings
                .as_ref()
                .zip(push)
                .map_or(0, |(firings, push)| push.saturating_mul(firings[node.index()]));
            let size = channel.item().bytes() as u64;
            let buffer = items.max(channel.link().initial() as u64).saturating_mul(size);
            if from == to {
                stages[from].state = stages[from].state.saturating_add(buffer);
            } else {
                let items = items as f64 * states;
                edges.push(Edge { channel: id, from, to, items, bytes: items * size as f64, buffer });
            }
        }
        if firings.is_none() {
            for items in units.hand_overs() {
                let ends = items.from().zip(items.to()).map(|(from, to)| (from.min(to), from.max(to)));
                let edge = edges.iter_mut().find(|edge| Some((edge.from, edge.to)) == ends);
                if let Some(edge) = edge.filter(|_| target.miss_per_byte() > 0.0) {
                    edge.bytes += items.cost() as f64 / target.miss_per_byte();
                }
            }
        }
        Pipeline::of(stages, edges, workers, target)
    }

    /// The pipeline of these stages, with edges that lead forward.
    pub(super) fn of(stages: Vec<Stage>, edges: Vec<Edge>, workers: usize, target: &Target) -> Pipeline {
        let (mut into, mut out_of) = (vec![Vec::new(); stages.len()], vec![Vec::new(); stages.len()]);
        for (i, edge) in edges.iter().enumerate() {
            out_of[edge.from].push(i);
            into[edge.to].push(i);
        }
        let sources = (0..stages.len()).filter(|stage| into[*stage].is_empty());
        let sent = |stage: usize| {
            let items = out_of[stage].iter().map(|edge| edges[*edge].items);
            items.fold(0.0, f64::max)
        };
        let items = sources.map(sent).fold(0.0, f64::max).max(1.0);
        let target = target.clone();
        Pipeline { stages, edges, into, out_of, workers: workers.max(1), items, target }
    }

    /// The same pipeline for another machine.
    pub(super) fn for_target(&self, target: &Target) -> Pipeline {
        Pipeline { target: target.clone(), ..self.clone() }
    }

    /// The stages, in the order of the data.
    pub fn stages(&self) -> &[Stage] {
        &self.stages
    }

    /// The edges.
    pub fn edges(&self) -> &[Edge] {
        &self.edges
    }

    /// The edges into a stage.
    pub fn into(&self, stage: usize) -> impl Iterator<Item = &Edge> {
        self.into[stage].iter().map(|edge| &self.edges[*edge])
    }

    /// The edges out of a stage.
    pub fn out_of(&self, stage: usize) -> impl Iterator<Item = &Edge> {
        self.out_of[stage].iter().map(|edge| &self.edges[*edge])
    }

    /// The number of workers, at least 1.
    pub fn workers(&self) -> usize {
        self.workers
    }

    /// The items of the busiest source in the profile, at least 1.
    pub fn items(&self) -> f64 {
        self.items
    }

    /// The machine.
    pub fn target(&self) -> &Target {
        &self.target
    }

    /// The time of all firings.
    pub fn work(&self) -> f64 {
        self.stages.iter().map(|stage| stage.work).sum()
    }

    /// A piece of consecutive stages.
    pub fn piece(&self, stages: Range<usize>) -> Piece<'_> {
        let mut piece = Piece::empty(self, stages.start);
        stages.for_each(|_| piece.grow());
        piece
    }

    /// The bytes of the edges that lead from before a stage to it or beyond: what a cut there crosses.
    pub fn cut(&self, stage: usize) -> f64 {
        let crosses = |edge: &&Edge| edge.from < stage && edge.to >= stage;
        self.edges.iter().filter(crosses).map(|edge| edge.bytes).sum()
    }

    /// [`Pipeline::cut`] for every stage, in time in proportion to the graph.
    pub(super) fn cuts(&self) -> Vec<f64> {
        let mut open = 0.0;
        let ends = |edges: &[usize]| edges.iter().map(|edge| self.edges[*edge].bytes).sum::<f64>();
        let cut = |stage: usize| {
            let before = open;
            open += ends(&self.out_of[stage]) - ends(&self.into[stage]);
            before
        };
        // What leads into the stage crosses the cut before it.
        (0..self.stages.len()).map(cut).collect()
    }
}

/// Consecutive stages, with what they weigh together. It grows by one stage at a time.
#[derive(Clone, Debug)]
pub struct Piece<'p> {
    pipeline: &'p Pipeline,
    stages: Range<usize>,
    work: f64,
    state: u64,
    inward: f64,
    outward: f64,
}

impl<'p> Piece<'p> {
    /// The piece without a stage, that begins before `stage`.
    pub(super) fn empty(pipeline: &'p Pipeline, stage: usize) -> Piece<'p> {
        Piece { pipeline, stages: stage..stage, work: 0.0, state: 0, inward: 0.0, outward: 0.0 }
    }

    /// Adds the stage behind the last.
    pub(super) fn grow(&mut self) {
        let stage = self.stages.end;
        self.work += self.pipeline.stages[stage].work;
        self.state = self.state.saturating_add(self.pipeline.stages[stage].state);
        for edge in self.pipeline.into(stage) {
            if edge.from >= self.stages.start {
                self.outward -= edge.bytes;
                self.state = self.state.saturating_add(edge.buffer);
            } else {
                self.inward += edge.bytes;
            }
        }
        self.outward += self.pipeline.out_of(stage).map(|edge| edge.bytes).sum::<f64>();
        self.stages.end += 1;
    }

    /// The stages, by index.
    pub fn stages(&self) -> Range<usize> {
        self.stages.clone()
    }

    /// The time of their firings, in nanoseconds.
    pub fn work(&self) -> f64 {
        self.work
    }

    /// The bytes that they use again and again, the buffers between them included.
    pub fn state(&self) -> u64 {
        self.state
    }

    /// The bytes that enter and leave.
    pub fn traffic(&self) -> f64 {
        // Sums of bytes are whole numbers; those above 2^53 are rounded, and may leave a small difference.
        self.inward + self.outward.max(0.0)
    }

    /// The time of the firings, and of the misses for what enters and leaves, in nanoseconds.
    pub fn load(&self) -> f64 {
        self.work + self.traffic() * self.pipeline.target.miss_per_byte()
    }

    /// Whether state and buffers fit into the cache.
    pub fn fits(&self) -> bool {
        self.state <= self.pipeline.target.cache()
    }
}

/// The stage of these nodes.
fn stage(graph: &GraphData, profile: &Profile, nodes: Vec<NodeId>) -> Stage {
    let of = |node: &NodeId| profile.nodes().get(node.index()).copied().unwrap_or_default();
    let state = nodes.iter().map(|node| of(node).state().bytes()).fold(0, u64::saturating_add);
    let work = nodes.iter().map(|node| of(node).busy().as_nanos() as f64).sum();
    let firings = nodes.iter().map(|node| of(node).firings() as f64).sum();
    let copies = match nodes[..] {
        [only] if graph.node(only).kind() == Kind::Parallel => {
            graph.node(only).workers().map_or(usize::MAX, |most| most.max(1) as usize)
        }
        _ => 1,
    };
    Stage { nodes, work, state, firings, copies }
}

/// The stage of a unit that has run for this many steady states.
fn unit_stage(graph: &GraphData, unit: &Unit, states: f64) -> Stage {
    let state = unit.nodes.iter().map(|node| graph.footprint(*node).bytes()).fold(0, u64::saturating_add);
    let has_copies =
        unit.stateless && unit.nodes.iter().any(|node| graph.node(*node).kind() == Kind::Parallel);
    let (work, copies) = (unit.cost as f64, if has_copies { usize::MAX } else { 1 });
    Stage { nodes: unit.nodes.clone(), work, state, firings: states, copies }
}

/// Twice the least common multiple of the items that a firing at either end moves: the buffer inside a segment with which
/// each end can fire until its next firing would begin a new period (section 3.1). Without static rates, the least capacity.
pub(super) fn two_lcm(graph: &GraphData, channel: &Channel) -> u64 {
    let output = &graph.node(channel.from().0).outputs()[channel.from().1];
    let input = &graph.node(channel.to().0).inputs()[channel.to().1];
    let (push, pop) = (items_per_firing(output.push()) as u64, items_per_firing(input.pop()) as u64);
    let least = min_capacity(graph, channel) as u64;
    let lcm = if push == 0 || pop == 0 { push.max(pop) } else { (push / gcd(push, pop)).saturating_mul(pop) };
    lcm.saturating_mul(2).max(least)
}
