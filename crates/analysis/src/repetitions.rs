//! Balance equations (Lee and Messerschmitt, "Synchronous data flow", 1987): how often each node
//! of a region fires in a period, after which every channel holds what it held before.

use crate::rates::{Rates, rates};
use crate::ratio::{Ratio, lcm};
use crate::{Region, regions};
use thalweg_graph::{ChannelId, Fault, GraphData, NodeId};

/// Firings of each of `region.nodes` in the shortest period: the smallest positive whole numbers
/// with which every static channel gets as many items as it gives. `region` is one of
/// [`regions`](crate::regions) of the same graph.
///
/// # Errors
/// [`Fault::Rates`] names the first channel found that no such numbers suit, or where they would
/// be 2^64 or more.
pub fn repetitions(graph: &GraphData, region: &Region) -> Result<Vec<u64>, Fault> {
    let ratios = ratios(graph, region)?;
    for &id in &region.channels {
        balanced(graph, region, id, &ratios)?;
    }
    // In lowest terms, with one node at 1, the least common denominator gives the least whole
    // numbers: no prime divides them all, since it would divide that node's number and so some
    // denominator, and where its power is highest the numerator keeps it out.
    let mut whole = 1;
    for ratio in &ratios {
        whole = lcm(whole, ratio.under).ok_or_else(|| too_long(graph, region))?;
    }
    let times = |r: &Ratio| r.over.checked_mul(whole / r.under).ok_or_else(|| too_long(graph, region));
    ratios.iter().map(times).collect()
}

/// Repetitions of every node of `graph`, by id, 0 in regions that have none, and those regions'
/// faults.
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

/// Firings of each node for one of the first, along a tree of channels.
fn ratios(graph: &GraphData, region: &Region) -> Result<Vec<Ratio>, Fault> {
    let mut known: Vec<Option<Ratio>> = vec![None; region.nodes.len()];
    known[0] = Some(Ratio::ONE);
    let mut queue = vec![(region.nodes[0], Ratio::ONE)];
    while let Some((node, ratio)) = queue.pop() {
        for (id, next, out) in static_channels(graph, node) {
            let position = region.position(next).expect("static channels stay within a region");
            if known[position].is_none() {
                let there = across(graph, id, ratio, out)?;
                known[position] = Some(there);
                queue.push((next, there));
            }
        }
    }
    Ok(known.into_iter().map(|ratio| ratio.expect("a region is connected")).collect())
}

/// The static channels of `node`, each with the node at its other end and whether it leads out.
fn static_channels(graph: &GraphData, node: NodeId) -> impl Iterator<Item = (ChannelId, NodeId, bool)> {
    let here = graph.node(node);
    let outputs = here.outputs.iter().filter_map(|p| p.channel);
    let inputs = here.inputs.iter().filter_map(|p| p.channel);
    let outputs = outputs.map(|id| (id, graph.channel(id).to.0, true));
    let inputs = inputs.map(|id| (id, graph.channel(id).from.0, false));
    outputs.chain(inputs).filter(|(id, ..)| rates(graph, *id).is_some())
}

/// Firings at the other end of a channel for `ratio` at this one.
fn across(graph: &GraphData, id: ChannelId, ratio: Ratio, out: bool) -> Result<Ratio, Fault> {
    let Rates { push, pop, .. } = static_rates(graph, id);
    if push == 0 || pop == 0 {
        return Err(one_sided(graph, id, push, pop));
    }
    let (times, by) = if out { (push, pop) } else { (pop, push) };
    ratio.scale(times, by).ok_or_else(|| {
        let detail = format!("with {push} in and {pop} out a firing, {TOO_LONG}");
        Fault::Rates { channel: graph.channel_name(id), detail }
    })
}

const TOO_LONG: &str = "some node would have to fire 2^64 times or more in a period";

/// Whether the ratios, which come from a tree of channels, suit this one too.
fn balanced(graph: &GraphData, region: &Region, id: ChannelId, ratios: &[Ratio]) -> Result<(), Fault> {
    let Rates { push, pop, .. } = static_rates(graph, id);
    let channel = graph.channel(id);
    if push == 0 || pop == 0 {
        return Err(one_sided(graph, id, push, pop));
    }
    let of = |node| ratios[region.position(node).expect("static channels stay within a region")];
    let (from, to) = of(channel.from.0).proportion(of(channel.to.0));
    let items_in = from.saturating_mul(u128::from(push));
    let items_out = to.saturating_mul(u128::from(pop));
    if items_in == items_out {
        return Ok(());
    }
    let (producer, consumer) = (&graph.node(channel.from.0).name, &graph.node(channel.to.0).name);
    let detail = format!(
        "by the other channels `{producer}` fires {from} times while `{consumer}` fires {to} times, \
         so {items_in} items go in ({push} a firing) while {items_out} come out ({pop} a firing)"
    );
    Err(Fault::Rates { channel: graph.channel_name(id), detail })
}

fn static_rates(graph: &GraphData, id: ChannelId) -> Rates {
    rates(graph, id).expect("a region's channels are static")
}

fn one_sided(graph: &GraphData, id: ChannelId, push: u32, pop: u32) -> Fault {
    let detail = if push == 0 {
        format!("nothing goes in and {pop} come out a firing, so its consumer could not keep on firing")
    } else {
        format!("{push} go in a firing and nothing comes out, so that it would fill up for ever")
    };
    Fault::Rates { channel: graph.channel_name(id), detail }
}

fn too_long(graph: &GraphData, region: &Region) -> Fault {
    let channel = region.channels.first().map_or_else(String::new, |id| graph.channel_name(*id));
    Fault::Rates { channel, detail: format!("in its region, {TOO_LONG}") }
}
