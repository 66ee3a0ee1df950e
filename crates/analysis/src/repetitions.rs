//! Repetition vectors, and the faults of an engine's graph that has none.

use crate::rates::{Rates, rates};
use crate::sets::Sets;
use crate::{Balance, RateFault, Region};
use std::collections::HashSet;
use thalweg_graph::{ChannelId, Fault, GraphData, NodeId};

/// The repetition vector of a region: the firings of each of `region.nodes` in the shortest period, that is, the
/// smallest positive integers for which as many items are pushed to every static channel as are popped, and 0 for
/// nodes behind a weight of 0. `region` is one of [`regions`](crate::regions) of the same graph. To ask about many
/// regions, solve the equations once: [`Balance`].
///
/// # Errors
/// [`Fault::Rates`] names the first channel found that cannot be balanced, or that needs 2^64 firings or more.
pub fn repetitions(graph: &GraphData, region: &Region) -> Result<Vec<u64>, Fault> {
    let balance = Balance::of(graph);
    let inside = |node: NodeId| region.nodes.binary_search(&node).is_ok();
    let touches = |id: ChannelId| inside(graph.channel(id).from().0) || inside(graph.channel(id).to().0);
    match constrained(graph, &balance).find(|(fault, _)| touches(fault.channel())) {
        Some((fault, rates)) => Err(refusal(graph, fault, rates)),
        None => balance.repetitions(&region.nodes).ok_or_else(|| too_long(graph, inside)),
    }
}

/// The repetitions of every node of `graph`, by id, 0 in parts with inconsistent rates, and the faults of those
/// parts, one for each.
pub(crate) fn all_repetitions(graph: &GraphData) -> (Vec<u64>, Vec<Fault>) {
    let balance = Balance::of(graph);
    let (mut counts, long) = balance.all_repetitions();
    if balance.faults().is_empty() && long.is_empty() {
        return (counts, Vec::new());
    }
    // The faults of nodes that static channels connect may follow from one mistake, so the first stands for all.
    let mut parts = connected(graph);
    let mut faulty = HashSet::new();
    let mut faults = Vec::new();
    for (fault, rates) in constrained(graph, &balance) {
        if faulty.insert(parts.least(graph.channel(fault.channel()).from().0.index())) {
            faults.push(refusal(graph, fault, rates));
        }
    }
    for node in long {
        if faulty.insert(parts.least(node.index())) {
            faults.push(too_long(graph, |other| balance.class(other) == balance.class(node)));
        }
    }
    for (node, count) in counts.iter_mut().enumerate() {
        *count = if faulty.contains(&parts.least(node)) { 0 } else { *count };
    }
    (counts, faults)
}

/// The faults of channels with static rates at both ends, which alone constrain an engine's graph.
fn constrained<'a>(
    graph: &'a GraphData,
    balance: &'a Balance,
) -> impl Iterator<Item = (&'a RateFault, Rates)> {
    balance.faults().iter().filter_map(|fault| Some((fault, rates(graph, fault.channel())?)))
}

/// The sets of nodes that static channels connect.
fn connected(graph: &GraphData) -> Sets {
    let mut sets = Sets::new(graph.nodes().len());
    for id in graph.channel_ids().filter(|id| rates(graph, *id).is_some()) {
        let channel = graph.channel(id);
        sets.join(channel.from().0.index(), channel.to().0.index());
    }
    sets
}

const TOO_LONG: &str = "a node would have to fire 2^64 times or more in a period";

fn refusal(graph: &GraphData, fault: &RateFault, rates: Rates) -> Fault {
    let (push, pop) = (rates.push.later, rates.pop.later);
    let detail = match *fault {
        RateFault::Unbalanced { channel, firings: (from, to), .. } => {
            let channel = graph.channel(channel);
            let (producer, consumer) =
                (&graph.node(channel.from().0).name(), &graph.node(channel.to().0).name());
            let (pushed, popped) = (from.saturating_mul(push.into()), to.saturating_mul(pop.into()));
            format!(
                "by the other channels, `{producer}` fires {from} times while `{consumer}` fires {to} times, which \
                 pushes {pushed} items ({push} a firing) and pops {popped} ({pop} a firing)"
            )
        }
        RateFault::TooManyFirings { .. } => format!("with push rate {push} and pop rate {pop}, {TOO_LONG}"),
        RateFault::Starved { .. } => {
            format!(
                "its producer pushes 0 items a firing and its consumer pops {pop}, so the consumer starves"
            )
        }
        RateFault::Flooded { .. } => format!(
            "its producer pushes {push} items a firing and its consumer pops 0, so it fills up without end"
        ),
    };
    Fault::Rates { channel: graph.channel_name(fault.channel()), detail }
}

/// The fault of nodes whose common period is too long.
fn too_long(graph: &GraphData, of: impl Fn(NodeId) -> bool) -> Fault {
    let inside = |id: &ChannelId| rates(graph, *id).is_some() && of(graph.channel(*id).from().0);
    let channel = graph.channel_ids().find(inside).map_or_else(String::new, |id| graph.channel_name(id));
    Fault::Rates { channel, detail: format!("in its region, {TOO_LONG}") }
}
