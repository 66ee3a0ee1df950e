//! Static regions (Soulé and others, "Dynamic expressivity with static optimization for streaming languages", 2013,
//! section 4.1).
//!
//! Without its dynamic channels the graph consists of connected parts; in the paper these are the regions. Static
//! channels are cut in three cases:
//!
//! - **Takers.** A *taker* is a node with a dynamic pop rate of at least one item. Its firings are sequential, because
//!   each decides where the next one begins, but those of the nodes behind it need not be. So the static channels that
//!   leave it are cut (section 4.2: fusion "would inhibit parallelization"), except within loops. A node that may pop
//!   nothing is no taker: it may fire for ever, and without the nodes behind it, it would fill its queue. In a graph
//!   whose nodes send messages there is no taker either: nodes there fire on demand, one at a time.
//! - **Levels.** The affected parts are split by [`levels`]: connected nodes on one level are a region. A channel
//!   between regions leads to a higher level, so regions do not wait for each other.
//! - **Loops.** A feedback loop of static channels stays on one level as a whole. In a loop with a dynamic channel each
//!   node is its own region: regions around a loop wait for each other under any partition, and with single firings as
//!   steps they do so only where the program itself does. So every graph has a partition, and there is no error.
//!
//! The paper leaves the last two cases open: regions that wait for each other, or a dynamic channel within one region.

mod levels;

use crate::components::strong_of;
use crate::groups::Groups;
use crate::order::Order;
use crate::rates::{ChannelRates, channel_rates};
use crate::sets::Sets;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use thalweg_graph::{ChannelId, GraphData, InPort, NodeId, Rate};

/// A set of nodes connected, in either direction, by channels with static rates at both ends.
///
/// Ports of a node with dynamic rates lead out of its region. A node without static channels is a region of its
/// own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Region {
    /// The nodes, in order of their ids.
    pub nodes: Vec<NodeId>,
    /// The static channels among them, in order of their ids.
    pub channels: Vec<ChannelId>,
}

/// Partitions the nodes of `graph` into regions, in data-flow order: a channel between two regions leads from the
/// earlier to the later, except in loops with dynamic channels. Of regions that may come in any order, the one with the
/// least node comes first.
///
/// Static channels are cut too where they leave a node with a dynamic pop rate whose [`Bounds`](thalweg_graph::Bounds)
/// say that each firing pops an item, unless a loop contains them or nodes of the graph send messages; and where regions
/// would wait for each other, or a dynamic channel would lead from a region to itself. Channels to and from a node marked
/// `merge` count as dynamic. A channel with a push rate, a pop rate and a peek rate of 0 does not connect its ends.
pub fn regions(graph: &GraphData) -> Vec<Region> {
    regions_through(graph, |_| true)
}

/// The regions of the subgraph with only the channels for which `counts` returns true, in the order of [`regions`].
///
/// A plan uses it to look for regions inside a set of nodes: it counts only the channels between them. Paths through
/// other channels cut nothing.
pub fn regions_through(graph: &GraphData, counts: impl Fn(ChannelId) -> bool) -> Vec<Region> {
    let links = links(graph, counts);
    let whole = group(graph, &links, |_| 0);
    let region = if links.iter().all(|link| link.joins) || !links.iter().any(|link| link.joins) {
        whole
    } else {
        let cyclic = cyclic(&whole, &links);
        if cyclic.contains(&true) {
            let levels = levels::of(&links, &cyclic);
            group(graph, &links, |node| levels[node])
        } else {
            whole
        }
    };
    gather(&region, &links)
}

/// A channel that carries items.
#[derive(Clone, Copy)]
struct Link {
    id: ChannelId,
    from: usize,
    to: usize,
    /// Whether both rates are static.
    fixed: bool,
    /// Whether its ends should be in one region.
    joins: bool,
    /// Whether it is the feedback channel of a loop that is cut.
    open: bool,
}

/// The channels. Loops with dynamic channels are cut at their feedback channels; takers are cut off from what follows.
fn links(graph: &GraphData, counts: impl Fn(ChannelId) -> bool) -> Vec<Link> {
    let link = |id: ChannelId| {
        let channel = graph.channel(id);
        let (from, to) = (channel.from().0.index(), channel.to().0.index());
        let fixed = match channel_rates(graph, id) {
            ChannelRates::Static(_) => true,
            ChannelRates::Dynamic { .. } => false,
            ChannelRates::Idle => return None,
        };
        Some(Link { id, from, to, fixed, joins: fixed, open: false })
    };
    let mut links: Vec<Link> = graph.channel_ids().filter(|id| counts(*id)).filter_map(link).collect();
    let leaves_taker = |link: &Link| graph.messages().is_empty() && is_taker(graph, NodeId(link.from as u32));
    if links.iter().all(|link| link.fixed && !leaves_taker(link)) {
        return links;
    }
    let loops = strong_of(&successors(graph.nodes().len(), links.iter().map(|link| (link.from, link.to))));
    for link in links.iter_mut().filter(|link| loops[link.from] != loops[link.to]) {
        link.joins &= !leaves_taker(link);
    }
    let mut dynamic = vec![false; loops.len()];
    for link in links.iter().filter(|link| !link.fixed && loops[link.from] == loops[link.to]) {
        dynamic[loops[link.from] as usize] = true;
    }
    if dynamic.contains(&true) {
        let order = Order::of(graph);
        for link in &mut links {
            let cut = dynamic[loops[link.from] as usize] || dynamic[loops[link.to] as usize];
            link.joins &= !cut;
            link.open = cut && order.is_back(graph.channel(link.id));
        }
    }
    links
}

/// Whether a node decides how many items it pops, at least one in each firing but the first.
fn is_taker(graph: &GraphData, node: NodeId) -> bool {
    let first = |port: &InPort| port.first().map(|first| first.pop());
    let decides = |port: &InPort| port.pop() == Rate::Dynamic || first(port) == Some(Rate::Dynamic);
    let least =
        |port: &InPort| port.pop().fixed().or(port.bounds().map(|bounds| bounds.least())).unwrap_or(0);
    graph.node(node).inputs().iter().any(|port| decides(port) && least(port) > 0)
}

fn successors(count: usize, edges: impl Iterator<Item = (usize, usize)> + Clone) -> Groups<u32> {
    Groups::new(count, edges.map(|(from, to)| (from, to as u32)))
}

/// For each node, the least node of its region, given the levels.
fn group(graph: &GraphData, links: &[Link], level: impl Fn(usize) -> u32) -> Vec<usize> {
    let mut sets = Sets::new(graph.nodes().len());
    for link in links.iter().filter(|link| link.joins && level(link.from) == level(link.to)) {
        sets.join(link.from, link.to);
    }
    (0..graph.nodes().len()).map(|node| sets.least(node)).collect()
}

/// The channels between regions, as edges between their least nodes, except those of loops that are cut.
fn between(region: &[usize], links: &[Link]) -> impl Iterator<Item = (usize, usize)> + Clone {
    let ends = links.iter().filter(|link| !link.open).map(|link| (region[link.from], region[link.to]));
    ends.filter(|(from, to)| from != to)
}

/// For each node, whether its region waits for itself or is part of a cycle of regions.
fn cyclic(region: &[usize], links: &[Link]) -> Vec<bool> {
    let cycles = strong_of(&successors(region.len(), between(region, links)));
    let mut found = vec![false; region.len()];
    for (from, to) in between(region, links) {
        found[cycles[from] as usize] |= cycles[from] == cycles[to];
    }
    for link in links.iter().filter(|link| !link.open && !link.joins) {
        found[cycles[region[link.from]] as usize] |= region[link.from] == region[link.to];
    }
    region.iter().map(|least| found[cycles[*least] as usize]).collect()
}

/// The regions, each after its producers.
fn gather(region: &[usize], links: &[Link]) -> Vec<Region> {
    let ids = (0..region.len() as u32).map(NodeId);
    let nodes = Groups::new(region.len(), ids.map(|node| (region[node.index()], node)));
    let inside = links.iter().filter(|link| link.fixed && region[link.from] == region[link.to]);
    let channels = Groups::new(region.len(), inside.map(|link| (region[link.from], link.id)));
    let next = successors(region.len(), between(region, links));
    let mut waits = vec![0_usize; region.len()];
    between(region, links).for_each(|(_, to)| waits[to] += 1);
    let is_ready = |least: &usize| region[*least] == *least && waits[*least] == 0;
    let mut ready: BinaryHeap<Reverse<usize>> = (0..region.len()).filter(is_ready).map(Reverse).collect();
    let mut regions = Vec::new();
    while let Some(Reverse(least)) = ready.pop() {
        regions.push(Region { nodes: nodes.of(least).to_vec(), channels: channels.of(least).to_vec() });
        for to in next.of(least).iter().map(|to| *to as usize) {
            waits[to] -= 1;
            if waits[to] == 0 {
                ready.push(Reverse(to));
            }
        }
    }
    regions
}
