//! The segments of a run in order, and when they are ready.

use crate::order::{depths, positions};
use crate::pick::{consumer, inputs, outputs, producer};
use crate::{Event, Host, Shared, WorkerId};
use std::sync::Arc;
use thalweg_graph::{ChannelId, GraphData, NodeId};
use thalweg_plan::{Assignment, Part, Plan};

/// The segments of a run, which its workers share: those of the first worker that asks.
#[derive(Default, Debug)]
pub struct Layout {
    segments: Option<Arc<[Segment]>>,
}

impl Shared for Layout {}

/// Nodes that the same workers run.
#[derive(Debug)]
pub(super) struct Segment {
    /// The nodes, those farthest upstream first; with each, whether a channel joins it to another segment.
    nodes: Vec<(NodeId, bool)>,
    workers: Vec<u32>,
    /// The channels into the segment.
    inputs: Vec<ChannelId>,
    /// The channels out of it.
    outputs: Vec<ChannelId>,
}

impl Layout {
    /// All segments, those farthest upstream first.
    pub(super) fn segments(&mut self, graph: &GraphData, plan: &Plan) -> Arc<[Segment]> {
        self.segments.get_or_insert_with(|| arrange(graph, &plan.assignment(graph))).clone()
    }
}

fn arrange(graph: &GraphData, assignment: &Assignment) -> Arc<[Segment]> {
    let parts = assignment.parts();
    let (depth, position) = (depths(graph), part_positions(graph, assignment));
    let mut order: Vec<usize> = (0..parts.len()).collect();
    order.sort_unstable_by_key(|part| position[*part]);
    let segment = |part: usize| {
        let is_inside = |node: NodeId| assignment.part_of(node) == Some(part);
        Segment::new(graph, &parts[part], &depth, is_inside)
    };
    order.into_iter().map(segment).collect()
}

/// By part: its position in the order of data flow among all parts.
fn part_positions(graph: &GraphData, assignment: &Assignment) -> Vec<u32> {
    let count = assignment.parts().len();
    let (mut after, mut is_entry) = (vec![Vec::new(); count], vec![true; count]);
    // By nodes and ports: two hosts may number the channels of one graph differently, and are to decide the same.
    for id in graph.node_ids().flat_map(|node| outputs(graph, node)) {
        let ends = (assignment.part_of(producer(graph, id)), assignment.part_of(consumer(graph, id)));
        if let (Some(from), Some(to)) = ends
            && from != to
        {
            after[from].push(to);
            is_entry[to] = false;
        }
    }
    let entries = (0..count).filter(|part| is_entry[*part]);
    positions(count, entries, |part, at| after[part].get(at).copied())
}

impl Segment {
    fn new(graph: &GraphData, part: &Part, depth: &[u32], is_inside: impl Fn(NodeId) -> bool) -> Segment {
        let mut nodes = part.nodes().to_vec();
        nodes.sort_unstable_by_key(|node| depth[node.index()]);
        let enters = |id: &ChannelId| !is_inside(producer(graph, *id));
        let leaves = |id: &ChannelId| !is_inside(consumer(graph, *id));
        let is_border = |node: NodeId| {
            inputs(graph, node).any(|id| enters(&id)) || outputs(graph, node).any(|id| leaves(&id))
        };
        let mut segment = Segment {
            inputs: nodes.iter().flat_map(|node| inputs(graph, *node)).filter(enters).collect(),
            outputs: nodes.iter().flat_map(|node| outputs(graph, *node)).filter(leaves).collect(),
            nodes: nodes.into_iter().map(|node| (node, is_border(node))).collect(),
            workers: part.workers().to_vec(),
        };
        segment.inputs.sort_unstable();
        segment.outputs.sort_unstable();
        segment
    }

    pub(super) fn has_worker(&self, worker: WorkerId) -> bool {
        self.workers.iter().any(|own| *own as usize == worker)
    }

    pub(super) fn nodes(&self) -> impl Iterator<Item = NodeId> {
        self.nodes.iter().map(|(node, _)| *node)
    }

    /// Whether each channel into the segment holds half of its capacity and each channel out of it has half of it free, but for
    /// those whose other end has ended.
    pub(super) fn is_half_ready<H: Host<Layout>>(&self, host: &H) -> bool {
        let is_full = |id: &ChannelId| {
            let channel = host.occupancy(*id);
            channel.items() >= channel.capacity().div_ceil(2) || !host.has_producer(*id)
        };
        let is_free = |id: &ChannelId| {
            let channel = host.occupancy(*id);
            channel.items() <= channel.capacity() / 2 || !host.has_consumer(*id)
        };
        self.inputs.iter().all(is_full) && self.outputs.iter().all(is_free)
    }

    /// The node farthest downstream that can fire.
    pub(super) fn farthest<H: Host<Layout>>(&self, host: &H) -> Option<NodeId> {
        self.nodes.iter().rev().map(|(node, _)| *node).find(|node| host.claimable(*node))
    }

    /// The node farthest downstream that can fire, unless a node after it lacks items of a channel into the segment, or room of one
    /// out of it.
    pub(super) fn before_border<H: Host<Layout>>(&self, host: &H) -> Option<NodeId> {
        for (node, is_border) in self.nodes.iter().rev() {
            if host.claimable(*node) {
                return Some(*node);
            }
            if *is_border && self.is_lacked(host.lack(*node)) {
                return None;
            }
        }
        None
    }

    /// Whether it is a channel at the border that a node lacks items or room of.
    fn is_lacked(&self, lack: Option<Event>) -> bool {
        match lack {
            Some(Event::Empty(channel)) => self.inputs.binary_search(&channel).is_ok(),
            Some(Event::Full(channel)) => self.outputs.binary_search(&channel).is_ok(),
            _ => false,
        }
    }
}
