//! Balance equations (Lee and Messerschmitt, "Synchronous data flow", 1987): the firings of each node of a region
//! in a period, after which every channel holds as many items as before.

use crate::rates::{Rates, rates};
use crate::ratio::{Ratio, lcm};
use crate::{Region, regions};
use thalweg_graph::{ChannelId, Fault, GraphData, NodeId};

/// The repetition vector of a region: the firings of each of `region.nodes` in the shortest period, that is, the
/// smallest positive integers for which as many items are pushed to every static channel as are popped.
/// `region` is one of [`regions`](crate::regions) of the same graph.
///
/// # Errors
/// [`Fault::Rates`] names the first channel found that cannot be balanced, or that needs 2^64 firings or more.
pub fn repetitions(graph: &GraphData, region: &Region) -> Result<Vec<u64>, Fault> {
    let ratios = ratios(graph, region)?;
    for &id in &region.channels {
        balanced(graph, region, id, &ratios)?;
    }
    // Scaling by the least common denominator gives the smallest integers, because the ratios are in lowest terms
    // and one node has ratio 1. A prime p that divides all integers would divide that of this node, which is the
    // common denominator itself. Take the ratio with the highest power of p in its denominator: scaling cancels
    // that power, and p does not divide its numerator, so p does not divide its integer.
    let mut common = 1;
    for ratio in &ratios {
        common = lcm(common, ratio.denom).ok_or_else(|| too_long(graph, region))?;
    }
    let times = |r: &Ratio| r.numer.checked_mul(common / r.denom).ok_or_else(|| too_long(graph, region));
    ratios.iter().map(times).collect()
}

/// The repetitions of every node of `graph`, by id, 0 in regions with inconsistent rates, and the faults of those
/// regions.
pub(crate) fn all_repetitions(graph: &GraphData) -> (Vec<u64>, Vec<Fault>) {
    let mut counts = vec![0; graph.nodes().len()];
    let mut faults = Vec::new();
    for region in regions(graph) {
        match repetitions(graph, &region) {
            Ok(found) => {
                for (node, count) in region.nodes.iter().zip(found) {
                    counts[node.index()] = count;
                }
            }
            Err(fault) => faults.push(fault),
        }
    }
    (counts, faults)
}

/// The firings of each node for one firing of the first node, propagated along a spanning tree of channels.
fn ratios(graph: &GraphData, region: &Region) -> Result<Vec<Ratio>, Fault> {
    let mut known: Vec<Option<Ratio>> = vec![None; region.nodes.len()];
    known[0] = Some(Ratio::ONE);
    let mut queue = vec![(region.nodes[0], Ratio::ONE)];
    while let Some((node, ratio)) = queue.pop() {
        for (id, next, out) in static_channels(graph, node) {
            let position = region.position(next).expect("static channels stay within a region");
            if known[position].is_none() {
                let found = propagate(graph, id, ratio, out)?;
                known[position] = Some(found);
                queue.push((next, found));
            }
        }
    }
    Ok(known.into_iter().map(|ratio| ratio.expect("a region is connected")).collect())
}

/// The static channels of `node`, each with the node at its other end and whether `node` is the producer.
fn static_channels(graph: &GraphData, node: NodeId) -> impl Iterator<Item = (ChannelId, NodeId, bool)> {
    let here = graph.node(node);
    let outputs = here.outputs.iter().filter_map(|p| p.channel);
    let inputs = here.inputs.iter().filter_map(|p| p.channel);
    let outputs = outputs.map(|id| (id, graph.channel(id).to.0, true));
    let inputs = inputs.map(|id| (id, graph.channel(id).from.0, false));
    outputs.chain(inputs).filter(|(id, ..)| rates(graph, *id).is_some())
}

/// The ratio of the node at one end of a channel, from the ratio of the node at the other end. `out` says that
/// `ratio` is the producer's.
fn propagate(graph: &GraphData, id: ChannelId, ratio: Ratio, out: bool) -> Result<Ratio, Fault> {
    let Rates { push, pop, .. } = static_rates(graph, id);
    if push == 0 || pop == 0 {
        return Err(one_sided(graph, id, push, pop));
    }
    let (times, by) = if out { (push, pop) } else { (pop, push) };
    ratio.scale(times, by).ok_or_else(|| {
        let detail = format!("with push rate {push} and pop rate {pop}, {TOO_LONG}");
        Fault::Rates { channel: graph.channel_name(id), detail }
    })
}

const TOO_LONG: &str = "a node would have to fire 2^64 times or more in a period";

/// Checks that the ratios, which come from a spanning tree of channels, balance this channel too.
fn balanced(graph: &GraphData, region: &Region, id: ChannelId, ratios: &[Ratio]) -> Result<(), Fault> {
    let Rates { push, pop, .. } = static_rates(graph, id);
    let channel = graph.channel(id);
    if push == 0 || pop == 0 {
        return Err(one_sided(graph, id, push, pop));
    }
    let of = |node| ratios[region.position(node).expect("static channels stay within a region")];
    let (producer, consumer) = (of(channel.from.0), of(channel.to.0));
    if producer.scale(push, pop) == Some(consumer) {
        return Ok(());
    }
    let (from, to) = producer.proportion(consumer);
    let pushed = from.saturating_mul(u128::from(push));
    let popped = to.saturating_mul(u128::from(pop));
    let (producer, consumer) = (&graph.node(channel.from.0).name, &graph.node(channel.to.0).name);
    let detail = format!(
        "by the other channels, `{producer}` fires {from} times while `{consumer}` fires {to} times, which pushes \
         {pushed} items ({push} a firing) and pops {popped} ({pop} a firing)"
    );
    Err(Fault::Rates { channel: graph.channel_name(id), detail })
}

fn static_rates(graph: &GraphData, id: ChannelId) -> Rates {
    rates(graph, id).expect("a region's channels are static")
}

fn one_sided(graph: &GraphData, id: ChannelId, push: u64, pop: u64) -> Fault {
    let detail = if push == 0 {
        format!("its producer pushes 0 items a firing and its consumer pops {pop}, so the consumer starves")
    } else {
        format!(
            "its producer pushes {push} items a firing and its consumer pops 0, so it fills up without end"
        )
    };
    Fault::Rates { channel: graph.channel_name(id), detail }
}

fn too_long(graph: &GraphData, region: &Region) -> Fault {
    let channel = region.channels.first().map_or_else(String::new, |id| graph.channel_name(*id));
    Fault::Rates { channel, detail: format!("in its region, {TOO_LONG}") }
}
