//! The rates of the flat graph as numbers.

use crate::flat::{ChannelId, Firing, Flat};

/// Items of the first firing and of each later one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct FiringRates {
    pub first: u64,
    pub later: u64,
}

impl FiringRates {
    /// Items of `firings` firings; `begun` if the first firing is not among them.
    pub fn moved(self, begun: bool, firings: u64) -> u128 {
        if begun { u128::from(firings) * u128::from(self.later) } else { self.total(firings) }
    }

    /// Items of the first `firings` firings.
    pub fn total(self, firings: u64) -> u128 {
        match firings {
            0 => 0,
            more => u128::from(self.first) + u128::from(more - 1) * u128::from(self.later),
        }
    }
}

/// A channel with static rates.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Line {
    pub id: ChannelId,
    pub from: usize,
    pub to: usize,
    pub push: FiringRates,
    pub pop: FiringRates,
    pub peek: FiringRates,
    pub initial: u64,
    pub back: bool,
}

impl Line {
    /// Items that remain between steady states so that each firing finds its window.
    pub fn extra(&self) -> u64 {
        self.peek.later - self.pop.later
    }

    /// Whether it never carries items.
    fn is_idle(&self) -> bool {
        let rates = [self.push, self.pop, self.peek];
        rates.iter().all(|firing_rates| firing_rates.first == 0 && firing_rates.later == 0)
    }
}

/// A channel, as the partition sees it.
#[derive(Clone, Copy, Debug)]
pub(super) enum ChannelRates {
    /// Both rates are static.
    Static(Line),
    /// At least one rate is dynamic.
    Dynamic(DynamicLine),
    /// It never carries items and has no influence.
    Idle,
}

/// A channel with a dynamic rate.
#[derive(Clone, Copy, Debug)]
pub(super) struct DynamicLine {
    pub from: usize,
    pub to: usize,
    pub back: bool,
    /// Whether the producer may push.
    pub may_push: bool,
    /// Whether the consumer may pop.
    pub may_pop: bool,
}

/// The channels of a graph, by id.
pub(super) fn channel_rates(flat: &Flat) -> Vec<ChannelRates> {
    flat.graph.channel_ids().map(|id| rates_of(flat, id)).collect()
}

fn rates_of(flat: &Flat, id: ChannelId) -> ChannelRates {
    let channel = flat.channel(id);
    let (from, to, back) = (channel.from.0.index(), channel.to.0.index(), channel.link.feedback);
    let (output, input) = (channel.from, channel.to);
    let push = firing_rates(|firing| flat.push(output.0, output.1, firing));
    let pop = firing_rates(|firing| flat.pop(input.0, input.1, firing));
    let peek = firing_rates(|firing| Some(flat.peek(input.0, input.1, firing)));
    let (Some(push), Some(pop), Some(peek)) = (push, pop, peek) else {
        let some = |rate: Option<FiringRates>| rate != Some(FiringRates { first: 0, later: 0 });
        return ChannelRates::Dynamic(DynamicLine {
            from,
            to,
            back,
            may_push: some(push),
            may_pop: some(pop),
        });
    };
    let line = Line { id, from, to, push, pop, peek, initial: channel.link.initial as u64, back };
    if line.is_idle() { ChannelRates::Idle } else { ChannelRates::Static(line) }
}

fn firing_rates(rate: impl Fn(Firing) -> Option<u64>) -> Option<FiringRates> {
    Some(FiringRates { first: rate(Firing::First)?, later: rate(Firing::Later)? })
}
