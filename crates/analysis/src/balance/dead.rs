//! Channels on which only one end moves items.
//!
//! A stream without input never fires. That is intended behind a weight of 0 of a splitter, and before one of a joiner,
//! and a fault elsewhere. Nodes behind such a stream never fire either, across dynamic rates too.

use super::{Balance, RateFault};
use crate::groups::Groups;
use crate::rates::{ChannelRates, channel_rates};
use std::collections::HashSet;
use thalweg_graph::{ChannelId, GraphData, Router};

/// Finds the dead classes of a graph and the faults of one-sided channels.
pub(super) fn find(graph: &GraphData, balance: &mut Balance) {
    let (mut starved, mut starved_dynamic, mut flooded) = (Vec::new(), Vec::new(), Vec::new());
    for id in graph.channel_ids() {
        match channel_rates(graph, id) {
            ChannelRates::Static(rates) if (rates.push.later == 0) != (rates.pop.later == 0) => {
                if rates.push.later == 0 { starved.push(id) } else { flooded.push(id) }
            }
            ChannelRates::Dynamic { may_push: false, .. } => starved_dynamic.push(id),
            _ => {}
        }
    }
    starved.append(&mut starved_dynamic);
    if !starved.is_empty() {
        mark_dead(graph, balance, &starved);
    }
    for id in flooded {
        let channel = graph.channel(id);
        let joins = matches!(graph.router(channel.to().0), Some(Router::Join(_)));
        if !(joins && balance.dead[balance.class(channel.from().0)]) {
            balance.faults.push(RateFault::Flooded { channel: id });
        }
    }
}

/// Marks starved consumers as dead, and those that depend on them through dynamic rates.
fn mark_dead(graph: &GraphData, balance: &mut Balance, starved: &[ChannelId]) {
    let carries = |id: &ChannelId| {
        matches!(channel_rates(graph, *id), ChannelRates::Dynamic { may_push: true, may_pop: true })
    };
    let ends = |id: ChannelId| {
        let channel = graph.channel(id);
        (balance.class(channel.from().0), balance.class(channel.to().0))
    };
    let next = Groups::new(balance.classes(), graph.channel_ids().filter(carries).map(ends));
    let mut faults = Vec::new();
    for &channel in starved {
        let (producer, consumer) = ends(channel);
        let from = graph.channel(channel).from().0;
        let by_weight =
            matches!(graph.router(from), Some(Router::Split(_))) && !graph.node(from).inputs().is_empty();
        if !by_weight || reachable(&next, [consumer]).contains(&producer) {
            faults.push(RateFault::Starved { channel });
        }
    }
    let dead = reachable(&next, starved.iter().map(|channel| ends(*channel).1));
    dead.into_iter().for_each(|class| balance.dead[class] = true);
    balance.faults.append(&mut faults);
}

/// The classes that some classes reach, with themselves.
fn reachable(next: &Groups<usize>, from: impl IntoIterator<Item = usize>) -> HashSet<usize> {
    let mut seen = HashSet::new();
    let mut queue: Vec<usize> = from.into_iter().collect();
    while let Some(class) = queue.pop() {
        if seen.insert(class) {
            queue.extend(next.of(class));
        }
    }
    seen
}
