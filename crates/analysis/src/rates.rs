//! The rates of a channel, from the ports at its ends.

use thalweg_graph::{ChannelId, GraphData, Rate};

/// Items of the first firing and of each later one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct FiringRates {
    pub first: u64,
    pub later: u64,
}

impl FiringRates {
    /// Items of `firings` firings; `begun` if the first firing is not among them.
    pub(crate) fn moved(self, begun: bool, firings: u64) -> u128 {
        match firings {
            0 => 0,
            _ if begun => u128::from(firings) * u128::from(self.later),
            more => u128::from(self.first) + u128::from(more - 1) * u128::from(self.later),
        }
    }

    fn is_zero(self) -> bool {
        self == FiringRates { first: 0, later: 0 }
    }
}

/// The rates of a channel with static rates at both ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Rates {
    /// Items that a firing of the producer pushes.
    pub push: FiringRates,
    /// Items that a firing of the consumer pops.
    pub pop: FiringRates,
    /// Items that the channel must hold for a firing of the consumer.
    pub peek: FiringRates,
}

impl Rates {
    /// Whether both ends move items at every firing but the first, so that the channel relates their firings.
    pub(crate) fn relates(&self) -> bool {
        self.push.later > 0 && self.pop.later > 0
    }

    /// Items that remain between steady states so that each firing finds its window.
    pub(crate) fn extra(&self) -> u64 {
        self.peek.later - self.pop.later
    }
}

/// What the ports of a channel say about it.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ChannelRates {
    /// Both rates are static.
    Static(Rates),
    /// A rate is dynamic, or an end is a merge, which pops whichever items have arrived.
    Dynamic {
        /// Whether the producer may push.
        may_push: bool,
        /// Whether the consumer may pop.
        may_pop: bool,
    },
    /// No firing pushes, pops or peeks: the channel constrains nothing.
    Idle,
}

/// The rates of a channel.
pub(crate) fn channel_rates(graph: &GraphData, id: ChannelId) -> ChannelRates {
    let (from, to) = (graph.channel(id).from(), graph.channel(id).to());
    let (producer, consumer) = (graph.node(from.0), graph.node(to.0));
    let (output, input) = (&producer.outputs()[from.1], &consumer.inputs()[to.1]);
    let both = |first: Rate, later: Rate| Some(FiringRates { first: first.fixed()?, later: later.fixed()? });
    let push = both(output.first().unwrap_or(output.push()), output.push());
    let pop = both(input.first().map_or(input.pop(), |first| first.pop()), input.pop());
    let (Some(push), Some(pop), false) = (push, pop, producer.merge() || consumer.merge()) else {
        let may = |rate: Option<FiringRates>| rate.is_none_or(|rate| !rate.is_zero());
        return ChannelRates::Dynamic { may_push: may(push), may_pop: may(pop) };
    };
    let first = input.first().map_or(input.peek(), |first| first.peek());
    let peek = FiringRates { first: first.max(pop.first), later: input.peek().max(pop.later) };
    if push.is_zero() && pop.is_zero() && peek.is_zero() {
        return ChannelRates::Idle;
    }
    ChannelRates::Static(Rates { push, pop, peek })
}

/// The rates of a channel if both are static and constrain its ends.
pub(crate) fn rates(graph: &GraphData, id: ChannelId) -> Option<Rates> {
    if let ChannelRates::Static(rates) = channel_rates(graph, id) { Some(rates) } else { None }
}
