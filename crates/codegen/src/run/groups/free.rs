//! Regions that keep nothing from one steady state to the next but what is in their input queues.
//!
//! Any number of threads run such a region at once, each some packets, with a copy of its state. The number
//! of items determines how many steady states a packet suffices for. So the dispatcher ([`Dispatcher`]) knows, before
//! any of it is run, which items are left for the next packet, and how often each node will have fired.

use super::packet::Packet;
use crate::run::Run;
use crate::run::parts::Region;
use thalweg_lang::flat::{ChannelId, Firing, NodeId};

/// The items that a region takes from a channel.
#[derive(Clone, Copy)]
pub(super) struct Takes {
    pub(super) channel: ChannelId,
    /// Items of a steady state.
    pub(super) items: u64,
    /// Items that must be in the queue besides.
    pub(super) ahead: u64,
}

/// A region's progress before any packet.
pub(super) struct Base {
    region: usize,
    steady: u64,
    /// For each of its nodes: the firings so far, and those of a steady state.
    firings: Vec<(NodeId, u64, u64)>,
}

impl Run<'_> {
    /// What a region takes from others, if it keeps nothing else.
    pub(super) fn takes(&mut self, region: usize) -> Option<Vec<Takes>> {
        let begun = &self.regions[region];
        if begun.steady.is_none() || begun.firings.iter().any(|(node, ..)| self.keeps(*node)) {
            return None;
        }
        if self.inner_channels(region).into_iter().any(|channel| self.held(channel) > 0) {
            return None;
        }
        let Region { takers, stage, source, firings, .. } = &self.regions[region];
        match (&takers[..], *stage) {
            ([], Some(stage)) => self.taken_by_stage(stage, *source),
            ([node], None) if firings.len() == 1 => self.taken_by_filter(*node),
            _ => None,
        }
    }

    /// Whether a node's firings depend on earlier ones, or its `prework` is still to come.
    fn keeps(&self, node: NodeId) -> bool {
        let at = node.0 as usize;
        let first = self.native.codes[at].as_ref().is_some_and(|code| code.prework.is_some());
        self.native.keeps[at] || self.awaited[at].is_some() || (first && self.fired[at] == 0)
    }

    /// Channels between nodes of a region.
    fn inner_channels(&self, region: usize) -> Vec<ChannelId> {
        let (flat, region) = (&self.native.compiled.flat, &self.regions[region]);
        let inputs = region.firings.iter().flat_map(|(node, ..)| flat.inputs(*node));
        inputs.filter(|input| region.has(flat.channel(*input).from().0)).collect()
    }

    /// For a region's static part: its buffers must hold nothing between steady states, unless they are
    /// queues.
    fn taken_by_stage(&self, stage: usize, source: bool) -> Option<Vec<Takes>> {
        let plan = self.native.parts[stage].plan.as_ref()?;
        let is_queue =
            |buffer: usize| plan.inputs.iter().any(|border| border.direct && border.port.buffer == buffer);
        if plan.buffers.iter().enumerate().any(|(at, buffer)| buffer.keep > 0 && !is_queue(at)) {
            return None;
        }
        let takes = self.stages[stage].inputs.iter();
        let takes: Vec<_> = takes
            .map(|(channel, items, ahead)| Takes { channel: *channel, items: *items, ahead: *ahead })
            .collect();
        // A part that takes nothing, although other regions precede it, never continues.
        (source || !takes.is_empty()).then_some(takes)
    }

    /// For a filter that decides how much it pushes, but always pops the same number of items.
    fn taken_by_filter(&self, node: NodeId) -> Option<Vec<Takes>> {
        let flat = &self.native.compiled.flat;
        let channel = flat.input(node)?;
        if self.native.waits[node.0 as usize] != Some(0) || self.item_bytes(channel) == 0 {
            return None;
        }
        let items = flat.pop(node, 0, Firing::Later).filter(|items| *items > 0)?;
        let ahead = flat.peek(node, 0, Firing::Later).saturating_sub(items);
        Some(vec![Takes { channel, items, ahead }])
    }

    /// A region's progress.
    pub(super) fn base(&self, region: usize) -> Base {
        let Region { steady, firings, .. } = &self.regions[region];
        let firings = firings.iter().map(|(node, _, each)| (*node, self.fired[node.0 as usize], *each));
        Base { region, steady: steady.unwrap_or(0), firings: firings.collect() }
    }

    /// Sets a region's progress to `states` steady states after its base.
    pub(super) fn seek(&mut self, base: &Base, states: u64) {
        self.regions[base.region].steady = Some(base.steady + states);
        for (node, before, each) in &base.firings {
            let fired = before + states * each;
            self.fired[node.0 as usize] = fired;
            self.state.set_fired(node.0, fired);
        }
    }
}

/// Deals packets to the copies of a region.
pub(super) struct Dispatcher {
    inputs: Vec<Input>,
    /// Steady states that the packets so far suffice for.
    states: u64,
}

/// A channel that a region takes from.
struct Input {
    takes: Takes,
    /// Its index in `crossing`.
    at: usize,
    /// Bytes of an item.
    bytes: u64,
    /// Items left for later packets. After the first one these are fewer than a steady state takes and looks ahead; the budget
    /// counts them in the queues of the copy that had their packet, and then in those of the next.
    left: Vec<u8>,
}

impl Input {
    /// Consumes `states` steady states from the items left followed by `items`; returns the part of the items
    /// left that they read.
    fn pass(&mut self, states: u64, items: &[u8]) -> Vec<u8> {
        let taken = (states * self.takes.items * self.bytes) as usize;
        let seen = taken + (self.takes.ahead * self.bytes) as usize;
        if let Some(beyond) = taken.checked_sub(self.left.len()) {
            return std::mem::replace(&mut self.left, items[beyond..].to_vec());
        }
        let first = self.left[..seen.min(self.left.len())].to_vec();
        self.left.drain(..taken);
        self.left.extend_from_slice(items);
        first
    }
}

impl Dispatcher {
    /// A dispatcher that begins with the content of the region's queues, which are emptied.
    pub(super) fn new(run: &mut Run<'_>, crossing: &[ChannelId], takes: &[Takes]) -> Dispatcher {
        let inputs = takes.iter().filter_map(|takes| {
            let at = crossing.iter().position(|channel| *channel == takes.channel)?;
            let mut left = Vec::new();
            run.move_out(takes.channel, &mut left);
            Some(Input { takes: *takes, at, bytes: run.item_bytes(takes.channel) as u64, left })
        });
        Dispatcher { inputs: inputs.collect(), states: 0 }
    }

    /// Records in a packet where it begins, and keeps what it leaves.
    pub(super) fn dispatch(&mut self, packet: &mut Packet) {
        packet.first = self.states;
        packet.left.clear();
        let states = self.states_of(packet);
        for input in &mut self.inputs {
            let items = &packet.crossing[input.at].bytes;
            packet.left.push((input.at, input.pass(states, items)));
        }
        self.states += states;
    }

    /// Steady states that a packet suffices for. A region without inputs does as many as the packet requests.
    fn states_of(&self, packet: &Packet) -> u64 {
        let possible = |input: &Input| {
            let bytes = input.left.len() + packet.crossing[input.at].bytes.len();
            (bytes as u64 / input.bytes).saturating_sub(input.takes.ahead) / input.takes.items
        };
        self.inputs.iter().map(possible).min().unwrap_or_else(|| packet.rounds.iter().sum())
    }

    /// After the last packet: returns what is left to the queues.
    pub(super) fn end(&mut self, run: &mut Run<'_>, base: &Base) {
        run.seek(base, self.states);
        for input in self.inputs.drain(..) {
            run.put(input.takes.channel, &input.left);
        }
    }
}
