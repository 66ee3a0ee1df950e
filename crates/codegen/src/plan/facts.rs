//! What planning knows of a region: its filters' rates, their firings, and the content of channels.

use crate::ir::Cell;
use crate::lower::{cell_of, cells_of};
use thalweg_lang::Compiled;
use thalweg_lang::flat::{ChannelId, Firing, NodeId, NodeKind};
use thalweg_lang::schedule::{Phase, Region};
use thalweg_lang::tree::Code;

/// Nodes that keep the order of their firings because of messages ([`message_order`](crate::message_order)): the first and the
/// last of them, and the order of their firings in a steady state.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Span {
    pub(crate) first: u32,
    pub(crate) last: u32,
    pub(crate) phases: Vec<Phase>,
}

/// Facts about a region before it is planned.
pub(crate) struct Facts<'a> {
    pub(crate) compiled: &'a Compiled,
    pub(crate) region: &'a Region,
    /// By node: firings in the initialisation, and in a steady state.
    pub(crate) begun: Vec<u64>,
    pub(crate) firings: Vec<u64>,
    /// Spans of nodes that alternate because of messages.
    pub(crate) spans: Vec<Span>,
    /// By node: whether it is in the region.
    pub(super) inside: Vec<bool>,
    /// By node: the delay of filters that are delays ([`delays`](super::delays)); `None` for others, and before
    /// delays have been computed.
    pub(crate) delays: Vec<Option<i64>>,
}

impl<'a> Facts<'a> {
    pub(crate) fn new(compiled: &'a Compiled, region: &'a Region) -> Facts<'a> {
        let nodes = compiled.flat.nodes().len();
        let (mut begun, mut firings) = (vec![0; nodes], vec![0; nodes]);
        count(&region.init, 1, &mut begun);
        count(&region.steady, 1, &mut firings);
        let mut inside = vec![false; nodes];
        region.nodes.iter().for_each(|node| inside[node.0 as usize] = true);
        Facts { compiled, region, begun, firings, spans: Vec::new(), inside, delays: vec![None; nodes] }
    }

    /// Whether a node is in the region.
    pub(crate) fn has(&self, node: NodeId) -> bool {
        self.inside[node.0 as usize]
    }

    fn total(first: Option<u64>, later: Option<u64>, firings: u64) -> i64 {
        let (first, later) = (first.unwrap_or(0), later.unwrap_or(0));
        if firings == 0 { 0 } else { (first + later * (firings - 1)) as i64 }
    }

    /// Items pushed to a channel after this many firings of its producer, the initial ones included.
    pub(crate) fn pushed(&self, channel: ChannelId, firings: u64) -> i64 {
        let flat = &self.compiled.flat;
        let (from, port) = flat.channel(channel).from();
        let push = |firing| flat.push(from, port, firing);
        flat.channel(channel).link().initial() as i64
            + Facts::total(push(Firing::First), push(Firing::Later), firings)
    }

    /// Items popped from a channel after this many firings of its consumer.
    pub(crate) fn popped(&self, channel: ChannelId, firings: u64) -> i64 {
        let flat = &self.compiled.flat;
        let (to, port) = flat.channel(channel).to();
        let pop = |firing| flat.pop(to, port, firing);
        Facts::total(pop(Firing::First), pop(Firing::Later), firings)
    }

    /// Items that a channel's consumer peeks at beyond those that it pops.
    pub(crate) fn ahead(&self, channel: ChannelId) -> i64 {
        let flat = &self.compiled.flat;
        let (to, port) = flat.channel(channel).to();
        let (pop, peek) = (flat.pop(to, port, Firing::Later), flat.peek(to, port, Firing::Later));
        peek.saturating_sub(pop.unwrap_or(0)) as i64
    }

    /// The content of an item's cells, and their number.
    pub(crate) fn item(&self, channel: ChannelId) -> Result<(Cell, usize), String> {
        item(self.compiled, channel)
    }

    /// Whether a node reads or writes a file.
    pub(crate) fn is_end(&self, node: NodeId) -> bool {
        match self.compiled.flat.kind(node) {
            NodeKind::Filter(filter) => {
                let code = &self.compiled.tree.filters[filter.0 as usize].code;
                matches!(code, Code::FileReader(_) | Code::FileWriter(..))
            }
            _ => false,
        }
    }

    /// The delay of a filter that forwards its input in steady states: 0 for an identity.
    pub(super) fn delay(&self, node: NodeId) -> Option<i64> {
        if self.is_identity(node) { Some(0) } else { self.delays[node.0 as usize] }
    }

    pub(crate) fn is_identity(&self, node: NodeId) -> bool {
        match self.compiled.flat.kind(node) {
            NodeKind::Filter(filter) => self.compiled.tree.filters[filter.0 as usize].code == Code::Identity,
            _ => false,
        }
    }
}

/// The content of an item's cells, and their number.
pub(crate) fn item(compiled: &Compiled, channel: ChannelId) -> Result<(Cell, usize), String> {
    let (shape, structs) = (compiled.flat.shape(channel), &compiled.tree.structs);
    Ok((cell_of(shape, structs)?, cells_of(shape, structs)))
}

/// Adds up the firings of nodes.
pub(crate) fn count(phases: &[Phase], times: u64, firings: &mut [u64]) {
    for phase in phases {
        match phase {
            Phase::Fire(node, each) => firings[node.0 as usize] += times * each,
            Phase::Repeat(again, inner) => count(inner, times * again, firings),
        }
    }
}

/// The nodes of each feedback loop, as a range, since nodes are in data-flow order.
pub(super) fn loops(facts: &Facts<'_>) -> Vec<(u32, u32)> {
    let back = facts.compiled.flat.channels().iter().filter(|channel| channel.link().feedback());
    let mut spans: Vec<(u32, u32)> = back.map(|channel| (channel.to().0.0, channel.from().0.0)).collect();
    spans.sort_unstable();
    let mut merged: Vec<(u32, u32)> = Vec::new();
    for span in spans {
        match merged.last_mut() {
            Some(last) if span.0 <= last.1 => last.1 = last.1.max(span.1),
            _ => merged.push(span),
        }
    }
    merged
}
