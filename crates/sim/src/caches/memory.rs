//! A graph in memory: where states and rings are, and what a firing touches.

use super::{Caches, Content};
use std::ops::Range;
use thalweg_graph::{GraphData, Kind, NodeId};
use thalweg_plan::Plan;

/// The ring of a channel.
#[derive(Clone, Debug)]
struct Ring {
    begin: u64,
    /// Slots.
    items: u64,
    /// The bytes of an item.
    bytes: u64,
    content: Content,
    pushed: u64,
    popped: u64,
}

impl Ring {
    /// The places of `count` items from the one with this number: one stretch, or two where the ring wraps.
    fn places(&self, from: u64, count: u64) -> [Range<u64>; 2] {
        let count = count.min(self.items);
        let first = from % self.items;
        let end = (first + count).min(self.items);
        let at = |item: u64| self.begin + item * self.bytes;
        [at(first)..at(end), at(0)..at(first + count - end)]
    }
}

/// The states and rings of a graph, under a plan with segments and capacities.
#[derive(Clone, Debug)]
pub struct Memory<'a> {
    graph: &'a GraphData,
    /// What the engine keeps of each node.
    records: Vec<Range<u64>>,
    states: Vec<Range<u64>>,
    rings: Vec<Ring>,
}

/// What begins at a multiple of this many bytes shares no block, for every block up to it.
const ALIGNMENT: u64 = 256;

impl Memory<'_> {
    /// Places the graph in memory: each state and each ring in blocks of its own, which hold none of the initial items.
    pub fn new<'a>(graph: &'a GraphData, plan: &Plan) -> Memory<'a> {
        Memory::with_slots(graph, plan, plan.capacities(), 0)
    }

    /// The same with rings of these slots, by channel, and records of nodes of as many bytes.
    pub(super) fn with_slots<'a>(
        graph: &'a GraphData,
        plan: &Plan,
        slots: &[usize],
        record: u64,
    ) -> Memory<'a> {
        let mut next = 0;
        let mut place = |bytes: u64| {
            let begin = next;
            next += bytes.max(1).next_multiple_of(ALIGNMENT);
            begin..begin + bytes
        };
        let segment = |node: NodeId| plan.segments().iter().position(|segment| segment.contains(&node));
        let records = graph.node_ids().map(|_| place(record)).collect();
        let states = graph.node_ids().map(|node| place(graph.footprint(node).bytes())).collect();
        let ring = |(id, channel): (usize, &thalweg_graph::Channel)| {
            let (items, bytes) = (slots[id] as u64, channel.item().bytes() as u64);
            let (from, to) = (segment(channel.from().0), segment(channel.to().0));
            let content = if from.is_some() && from == to { Content::Internal } else { Content::Cross };
            let begin = place(items.saturating_mul(bytes)).start;
            Ring {
                begin,
                items: items.max(1),
                bytes,
                content,
                pushed: channel.link().initial() as u64,
                popped: 0,
            }
        };
        let rings = graph.channels().iter().enumerate().map(ring).collect();
        Memory { graph, records, states, rings }
    }

    /// Whether a node has the items that a firing pops, and room for what it pushes.
    pub fn is_ready(&self, node: NodeId) -> bool {
        let data = self.graph.node(node);
        let has = data.inputs().iter().all(|port| {
            let needed = port.pop().fixed().unwrap_or(1).max(port.peek());
            port.channel().is_none_or(|id| self.items(id.index()) >= needed)
        });
        has && data.outputs().iter().all(|port| {
            let pushed = port.push().fixed().unwrap_or(1);
            port.channel().is_none_or(|id| self.rings[id.index()].items - self.items(id.index()) >= pushed)
        })
    }

    /// The items in a channel, by its index.
    pub fn items(&self, channel: usize) -> u64 {
        self.rings[channel].pushed - self.rings[channel].popped
    }

    /// The slots of a channel, by its index.
    pub fn slots(&self, channel: usize) -> u64 {
        self.rings[channel].items
    }

    /// Touches what the engine keeps of a node, whose firings a worker claims.
    pub(super) fn claim(&self, caches: &mut Caches, worker: usize, node: NodeId) {
        caches.touch(worker, self.records[node.index()].clone(), Content::Record);
    }

    /// Fires a node with static rates, which must be ready, on a worker.
    pub fn fire(&mut self, caches: &mut Caches, worker: usize, node: NodeId) {
        let data = self.graph.node(node);
        let pops = |port: usize| data.inputs()[port].pop().fixed().unwrap_or(1);
        let pushes = |port: usize| data.outputs()[port].push().fixed().unwrap_or(1);
        self.fire_moving(Some((caches, worker)), node, pops, pushes);
    }

    /// A firing that moves these items through each port. Without a worker the items move, and nothing is touched.
    pub(super) fn fire_moving(
        &mut self,
        mut at: Option<(&mut Caches, usize)>,
        node: NodeId,
        pops: impl Fn(usize) -> u64,
        pushes: impl Fn(usize) -> u64,
    ) {
        let data = self.graph.node(node);
        if let Some((caches, worker)) = &mut at {
            let state = self.states[node.index()].clone();
            match data.kind() {
                Kind::Parallel => caches.read(*worker, state, Content::State),
                _ => caches.touch(*worker, state, Content::State),
            }
        }
        let mut touch = |ring: &Ring, from, count| {
            let Some((caches, worker)) = &mut at else { return };
            ring.places(from, count).into_iter().for_each(|place| caches.touch(*worker, place, ring.content));
        };
        for (i, port) in data.inputs().iter().enumerate() {
            let Some(id) = port.channel() else { continue };
            let (ring, count) = (&mut self.rings[id.index()], pops(i));
            touch(ring, ring.popped, count.max(port.peek()));
            ring.popped += count;
        }
        for (i, port) in data.outputs().iter().enumerate() {
            let Some(id) = port.channel() else { continue };
            let (ring, count) = (&mut self.rings[id.index()], pushes(i));
            touch(ring, ring.pushed, count);
            ring.pushed += count;
        }
    }
}
