//! What is drawn: boxes of nodes, and edges of the channels between them.

use super::grouping::{Groups, Why, group};
use super::names::base;
use crate::advice::Evidence;
use std::collections::BTreeMap;
use std::time::Duration;
use thalweg_graph::{ChannelId, Footprint, NodeId};
use thalweg_trace::Report;
use thalweg_trace::units::format_bytes;

/// The most edges in a drawing: those with the most items.
const EDGES: usize = 120;

/// A box, which stands for one node or for several.
pub(crate) struct Shape {
    /// What it is called.
    pub(crate) name: String,
    pub(crate) nodes: usize,
    /// Its node with the smallest id.
    pub(crate) first: NodeId,
    pub(crate) why: Why,
    pub(crate) busy: Duration,
    /// The least and the highest load of its nodes.
    pub(crate) loads: (f64, f64),
    /// Channels between its nodes.
    pub(crate) inside: usize,
}

/// The channels from one box to another, in one direction.
pub(crate) struct Edge {
    pub(crate) from: usize,
    pub(crate) to: usize,
    pub(crate) channels: usize,
    /// One of the channels.
    pub(crate) first: ChannelId,
    pub(crate) items: u64,
    /// Of the channels whose occupancy was measured, if there are any: the mean numbers of items, and the capacities.
    pub(crate) held: Option<(f64, f64)>,
    pub(crate) consumer_waited: Duration,
    pub(crate) producer_waited: Duration,
    /// All of its channels are feedback channels.
    pub(crate) feedback: bool,
    pub(crate) initial: usize,
}

/// A drawing without places.
pub(crate) struct Picture {
    pub(crate) shapes: Vec<Shape>,
    pub(crate) edges: Vec<Edge>,
    /// Edges that are not drawn.
    pub(crate) left_out: usize,
    /// The box of each node.
    pub(crate) of: Vec<u32>,
}

impl Picture {
    /// The drawing of a report with an entry for each node and channel.
    pub(crate) fn new(report: &Report) -> Picture {
        let groups = group(report);
        let mut shapes = shapes(report, &groups);
        let mut edges = edges(report, &groups, &mut shapes);
        edges.sort_by_key(|edge| std::cmp::Reverse(edge.items));
        let left_out = edges.len().saturating_sub(EDGES);
        edges.truncate(EDGES);
        edges.sort_by_key(|edge| (edge.from, edge.to));
        Picture { shapes, edges, left_out, of: groups.of }
    }

    /// The boxes by busy time, the busiest first.
    pub(crate) fn busiest(&self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.shapes.len()).collect();
        order.sort_by_key(|shape| std::cmp::Reverse(self.shapes[*shape].busy));
        order
    }
}

fn shapes(report: &Report, groups: &Groups) -> Vec<Shape> {
    let mut shapes: Vec<Option<Shape>> = groups.why.iter().map(|_| None).collect();
    let mut lasts = vec![NodeId(0); shapes.len()];
    for (node, group) in report.graph().node_ids().zip(&groups.of) {
        let (group, load) = (*group as usize, Evidence(report).load(node));
        lasts[group] = node;
        let shape = shapes[group].get_or_insert_with(|| Shape {
            name: String::new(),
            nodes: 0,
            first: node,
            why: groups.why[group],
            busy: Duration::ZERO,
            loads: (load, load),
            inside: 0,
        });
        shape.nodes += 1;
        shape.busy = shape.busy.saturating_add(report.nodes()[node.index()].busy());
        shape.loads = (shape.loads.0.min(load), shape.loads.1.max(load));
    }
    let mut shapes: Vec<Shape> = shapes.into_iter().flatten().collect();
    let name = |node: NodeId| report.graph().node(node).name();
    for (shape, last) in shapes.iter_mut().zip(lasts) {
        shape.name = match shape.why {
            Why::Single => name(shape.first).to_owned(),
            Why::Name => base(name(shape.first)).to_owned(),
            Why::Chain => format!("{} … {}", base(name(shape.first)), base(name(last))),
            Why::Others => "other nodes".to_owned(),
        };
    }
    shapes
}

/// The edges between boxes. Counts the channels inside of each box.
fn edges(report: &Report, groups: &Groups, shapes: &mut [Shape]) -> Vec<Edge> {
    let mut edges: BTreeMap<(usize, usize), Edge> = BTreeMap::new();
    let of = |node: NodeId| groups.of[node.index()] as usize;
    for id in report.graph().channel_ids() {
        let (channel, stats) = (report.graph().channel(id), &report.channels()[id.index()]);
        let (from, to) = (of(channel.from().0), of(channel.to().0));
        if from == to {
            shapes[from].inside += 1;
            continue;
        }
        let edge = edges.entry((from, to)).or_insert_with(|| Edge {
            from,
            to,
            channels: 0,
            first: id,
            items: 0,
            held: None,
            consumer_waited: Duration::ZERO,
            producer_waited: Duration::ZERO,
            feedback: true,
            initial: 0,
        });
        edge.channels += 1;
        edge.items = edge.items.saturating_add(stats.items());
        if let Some(mean) = stats.mean().filter(|mean| mean.is_finite()) {
            let (items, room) = edge.held.unwrap_or_default();
            edge.held = Some((items + mean, room + stats.capacity() as f64));
        }
        edge.consumer_waited = edge.consumer_waited.saturating_add(stats.consumer_waited());
        edge.producer_waited = edge.producer_waited.saturating_add(stats.producer_waited());
        edge.feedback &= channel.link().feedback();
        edge.initial = edge.initial.saturating_add(channel.link().initial());
    }
    edges.into_values().collect()
}

/// How a node runs, in a word or two: by the graph and the plan.
pub(crate) fn kind(report: &Report, node: NodeId) -> String {
    let thread = if Evidence(report).has_own_thread(node) { ", own thread" } else { "" };
    let limit = Evidence(report).worker_limit(node).map_or(String::new(), |workers| format!(" ≤ {workers}"));
    let state = match report.graph().footprint(node) {
        Footprint::AtLeast(0) => String::new(),
        Footprint::AtLeast(bytes) => format!(", at least {} of state", format_bytes(bytes)),
        known => format!(", {} of state", format_bytes(known.bytes())),
    };
    let node = report.graph().node(node);
    let order = if node.unordered() { ", unordered" } else { "" };
    let merge = if node.merge() { ", merge" } else { "" };
    let timed = if node.timed() { ", timed" } else { "" };
    format!("{}{limit}{thread}{order}{merge}{timed}{state}", node.kind())
}
