//! The flat graph as numbers.

use crate::flat::{ChannelId, Firing, Flat, NodeId};
use crate::tree::Tree;

/// What the first firing moves, and what each later one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Twice {
    pub first: u64,
    pub later: u64,
}

impl Twice {
    /// Items of so many firings from the first on.
    pub fn total(self, firings: u64) -> u128 {
        match firings {
            0 => 0,
            more => u128::from(self.first) + u128::from(more - 1) * u128::from(self.later),
        }
    }
}

/// A channel whose rates are static.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Line {
    pub id: ChannelId,
    pub from: usize,
    pub to: usize,
    pub push: Twice,
    pub pop: Twice,
    pub peek: Twice,
    pub initial: u64,
    pub back: bool,
}

impl Line {
    /// Items that stay between steady states, so that each firing finds its window.
    pub fn extra(&self) -> u64 {
        self.peek.later - self.pop.later
    }

    /// Carries nothing, ever.
    fn is_idle(&self) -> bool {
        let rates = [self.push, self.pop, self.peek];
        rates.iter().all(|twice| twice.first == 0 && twice.later == 0)
    }
}

/// A channel, as partitions see it.
#[derive(Clone, Copy, Debug)]
pub(super) enum Wire {
    /// Its rates are static.
    Static(Line),
    /// Some firing decides.
    Dynamic(Loose),
    /// It carries nothing, and means nothing.
    Idle,
}

/// A channel with a dynamic rate.
#[derive(Clone, Copy, Debug)]
pub(super) struct Loose {
    pub from: usize,
    pub to: usize,
    pub back: bool,
    /// Whether anything may go in.
    pub gives: bool,
    /// Whether anything may come out.
    pub takes: bool,
}

/// The channels of a graph as numbers, by id.
pub(super) fn wires(flat: &Flat, tree: &Tree) -> Vec<Wire> {
    let ports = flat.ports();
    (0..flat.channels.len()).map(|id| wire(flat, tree, ChannelId(id as u32), ports[id])).collect()
}

fn wire(flat: &Flat, tree: &Tree, id: ChannelId, (output, input): (usize, usize)) -> Wire {
    let channel = flat.channel(id);
    let (from, to, back) = (channel.from.0 as usize, channel.to.0 as usize, channel.back);
    let push = twice(|firing| flat.push(tree, NodeId(from as u32), output, firing));
    let pop = twice(|firing| flat.pop(tree, NodeId(to as u32), input, firing));
    let peek = twice(|firing| Some(flat.peek(tree, NodeId(to as u32), input, firing)));
    let (Some(push), Some(pop), Some(peek)) = (push, pop, peek) else {
        let some = |rate: Option<Twice>| rate != Some(Twice { first: 0, later: 0 });
        return Wire::Dynamic(Loose { from, to, back, gives: some(push), takes: some(pop) });
    };
    let line = Line { id, from, to, push, pop, peek, initial: channel.initial.len() as u64, back };
    if line.is_idle() { Wire::Idle } else { Wire::Static(line) }
}

fn twice(rate: impl Fn(Firing) -> Option<u64>) -> Option<Twice> {
    Some(Twice { first: rate(Firing::First)?, later: rate(Firing::Later)? })
}
