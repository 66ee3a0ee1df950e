//! Which nodes share a box: a graph of any size has a drawing of at most [`BOXES`] boxes.
//!
//! 1. A graph of at most [`SINGLE`] nodes has a box for each node.
//! 2. Otherwise nodes of one base name, kind and thread share a box, and are divided again where the groups of their
//!    neighbours differ.
//! 3. If these are too many, chains of nodes with little load become one box each.
//! 4. If these are too many, the busiest stay, as many as possible, and the others share a box where they are behind the
//!    same ones of the busiest. So a box of others has no way to itself through another box, and channels keep their
//!    directions.
//! 5. If there are too many of these boxes without any of the busiest, which is one box, ranges of layers divide it.

use super::layers::longest_paths;
use super::names::base;
use crate::advice::Evidence;
use std::collections::{BTreeSet, HashMap};
use thalweg_graph::{Kind, NodeId};
use thalweg_trace::Report;

/// Graphs of at most this many nodes are drawn node by node.
const SINGLE: usize = 40;

/// The most boxes in a drawing.
pub(crate) const BOXES: usize = 60;

/// The most boxes that stay as they are where others are merged. One bit each in a `u64`.
const KEPT: usize = 40;

/// Ranges of layers where no box stays.
const RANGES: usize = 12;

/// Nodes with less than this share of all busy time, and with less than this load, may disappear in a chain.
const SMALL: (f64, f64) = (0.02, 0.4);

/// Why the nodes of a group are one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Why {
    /// There is one node.
    Single,
    /// They have one base name, and neighbours in the same groups.
    Name,
    /// They are a chain.
    Chain,
    /// They are the rest.
    Others,
}

/// The group of each node, and why each group is one.
pub(crate) struct Groups {
    pub(crate) of: Vec<u32>,
    pub(crate) why: Vec<Why>,
}

/// Groups the nodes of a report's graph.
pub(crate) fn group(report: &Report) -> Groups {
    let count = report.graph().nodes().len();
    if count <= SINGLE {
        return Groups { of: (0..count as u32).collect(), why: vec![Why::Single; count] };
    }
    let named = by_name(report);
    let refined = by_neighbours(report, &named);
    if refined.why.len() <= BOXES {
        return refined;
    }
    if named.why.len() <= BOXES {
        return named;
    }
    let groups = chains(report, &refined);
    if groups.why.len() > BOXES { behind_the_busiest(report, &groups) } else { groups }
}

/// Numbers each new key in order of its first node, and marks groups of one node.
fn number<K: std::hash::Hash + Eq>(
    count: usize,
    key: impl Fn(usize) -> K,
    why: impl Fn(usize) -> Why,
) -> Groups {
    let mut numbers: HashMap<K, u32> = HashMap::new();
    let (mut of, mut reasons, mut sizes) = (Vec::with_capacity(count), Vec::new(), Vec::new());
    for node in 0..count {
        let next = numbers.len() as u32;
        let group = *numbers.entry(key(node)).or_insert(next);
        if group == next {
            reasons.push(why(node));
            sizes.push(0_usize);
        }
        sizes[group as usize] += 1;
        of.push(group);
    }
    let why = reasons.into_iter().zip(sizes).map(|(why, size)| if size == 1 { Why::Single } else { why });
    Groups { of, why: why.collect() }
}

fn by_name(report: &Report) -> Groups {
    let nodes = report.graph().nodes();
    let key = |index: usize| {
        let node = &nodes[index];
        let kind = match node.kind() {
            Kind::Sequential => 0,
            Kind::Parallel => 1,
            Kind::Process => 2,
        };
        (base(node.name()), kind, Evidence(report).has_own_thread(NodeId(index as u32)))
    };
    number(nodes.len(), key, |_| Why::Name)
}

/// Divides groups whose nodes have neighbours in different groups.
fn by_neighbours(report: &Report, groups: &Groups) -> Groups {
    let key = |node: usize| {
        let id = NodeId(node as u32);
        let of = |node: NodeId| groups.of[node.index()];
        let inputs = report.graph().node(id).inputs().iter().filter_map(|port| port.channel());
        let outputs = report.graph().node(id).outputs().iter().filter_map(|port| port.channel());
        let inputs: BTreeSet<u32> = inputs.map(|id| of(report.graph().channel(id).from().0)).collect();
        let outputs: BTreeSet<u32> = outputs.map(|id| of(report.graph().channel(id).to().0)).collect();
        (groups.of[node], inputs, outputs)
    };
    number(groups.of.len(), key, |_| Why::Name)
}

/// The distinct edges between different groups.
fn edges(report: &Report, groups: &Groups) -> Vec<(usize, usize)> {
    let of = |node: NodeId| groups.of[node.index()] as usize;
    let ends = report.graph().channels().iter().map(|channel| (of(channel.from().0), of(channel.to().0)));
    let mut edges: Vec<_> = ends.filter(|(from, to)| from != to).collect();
    edges.sort_unstable();
    edges.dedup();
    edges
}

fn busy(report: &Report, groups: &Groups) -> Vec<f64> {
    let mut busy = vec![0.0; groups.why.len()];
    for (group, node) in groups.of.iter().zip(report.nodes()) {
        busy[*group as usize] += node.busy().as_secs_f64();
    }
    busy
}

/// Merges groups with little load that are a chain: each has one successor, whose only predecessor it is.
fn chains(report: &Report, groups: &Groups) -> Groups {
    let (edges, busy) = (edges(report, groups), busy(report, groups));
    let most = (SMALL.0 * busy.iter().sum::<f64>()).min(SMALL.1 * report.wall().as_secs_f64());
    let small: Vec<bool> = busy.iter().map(|busy| *busy <= most).collect();
    let (mut out, mut into) = (vec![0; busy.len()], vec![0; busy.len()]);
    for (from, to) in &edges {
        out[*from] += 1;
        into[*to] += 1;
    }
    let linked = edges.into_iter().filter(|(a, b)| out[*a] == 1 && into[*b] == 1 && small[*a] && small[*b]);
    let mut before: Vec<Option<usize>> = vec![None; busy.len()];
    linked.for_each(|(from, to)| before[to] = Some(from));
    let head = heads(&before);
    let mut sizes = vec![0_usize; head.len()];
    head.iter().for_each(|head| sizes[*head] += 1);
    let why = |group: usize| if sizes[head[group]] == 1 { groups.why[group] } else { Why::Chain };
    number(groups.of.len(), |node| head[groups.of[node] as usize], |node| why(groups.of[node] as usize))
}

/// The first of each chain. A cycle of links has none: its first is the one of them that is looked at first.
fn heads(before: &[Option<usize>]) -> Vec<usize> {
    let mut head = vec![usize::MAX; before.len()];
    for start in 0..before.len() {
        let mut path = Vec::new();
        let mut at = start;
        let first = loop {
            if head[at] != usize::MAX {
                break head[at];
            }
            // Itself for the time being, which ends a cycle here.
            head[at] = start;
            path.push(at);
            match before[at] {
                Some(earlier) => at = earlier,
                None => break at,
            }
        };
        path.into_iter().for_each(|group| head[group] = first);
    }
    head
}

/// Keeps as many of the busiest groups as possible, and puts the others into one group for each set of kept groups that
/// lead to them.
fn behind_the_busiest(report: &Report, groups: &Groups) -> Groups {
    let (edges, busy) = (edges(report, groups), busy(report, groups));
    let mut heavy = vec![false; busy.len()];
    for (node, group) in report.graph().node_ids().zip(&groups.of) {
        heavy[*group as usize] |= Evidence(report).load(node) > SMALL.1;
    }
    let mut order: Vec<usize> = (0..busy.len()).collect();
    // A group with a single heavy node may have less busy time than one of many light nodes.
    order.sort_by(|a, b| heavy[*b].cmp(&heavy[*a]).then(busy[*b].total_cmp(&busy[*a])).then(a.cmp(b)));
    let layers = longest_paths(busy.len(), &edges);
    let mut count = KEPT;
    while count > 0 {
        let others = others(groups, &sets(&order[..count], &layers, &edges), &order[..count], &layers, 1);
        if others.why.len() <= BOXES {
            return others;
        }
        count /= 2;
    }
    others(groups, &vec![0; busy.len()], &[], &layers, RANGES)
}

/// For each group, the kept groups from which a way leads to it, as bits.
fn sets(kept: &[usize], layers: &[usize], edges: &[(usize, usize)]) -> Vec<u64> {
    let mut own = vec![0_u64; layers.len()];
    kept.iter().enumerate().for_each(|(bit, group)| own[*group] = 1 << bit);
    let mut forward: Vec<&(usize, usize)> =
        edges.iter().filter(|(from, to)| layers[*from] < layers[*to]).collect();
    // All edges to a group come before those from it.
    forward.sort_by_key(|(from, _)| layers[*from]);
    let mut sets = vec![0_u64; layers.len()];
    for (from, to) in forward {
        sets[*to] |= sets[*from] | own[*from];
    }
    sets
}

/// The kept groups, and one group for each set and range of layers of the others.
fn others(groups: &Groups, sets: &[u64], kept: &[usize], layers: &[usize], ranges: usize) -> Groups {
    let mut is_kept = vec![false; layers.len()];
    kept.iter().for_each(|group| is_kept[*group] = true);
    let last = layers.iter().max().copied().unwrap_or(0) + 1;
    let key = |node: usize| {
        let group = groups.of[node] as usize;
        if is_kept[group] { (group, 0, 0) } else { (usize::MAX, sets[group], layers[group] * ranges / last) }
    };
    let why = |node: usize| {
        let group = groups.of[node] as usize;
        if is_kept[group] { groups.why[group] } else { Why::Others }
    };
    number(groups.of.len(), key, why)
}
