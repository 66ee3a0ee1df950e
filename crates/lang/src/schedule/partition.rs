//! Static regions (Soulé and others, "Dynamic expressivity with static optimization for streaming
//! languages", 2013, section 4.1).
//!
//! Without its dynamic channels the graph consists of components; in the paper these are the regions. The paper
//! leaves open two cases: regions that wait for each other, and a dynamic channel within one region. Here static
//! channels are cut too:
//!
//! - **Levels.** The affected components are split by levels. The level of a node is at least that of its
//!   producers, and greater across a dynamic channel. Connected nodes on one level are a region. So a channel
//!   between regions leads to a higher level, and regions do not wait for each other.
//! - **Loops.** A feedback loop of static channels stays on one level as a whole. In a loop with a dynamic
//!   channel each node is its own region: regions around a loop wait for each other under any partition, and with
//!   single firings as steps they do so only where the program itself does. So every graph has a partition, and
//!   there is no error.

use super::net::ChannelRates;
use super::sets::Sets;
use super::strong::components;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The regions: nodes in order, regions in data-flow order.
pub(super) fn partition(count: usize, channel_rates: &[ChannelRates]) -> Vec<Vec<usize>> {
    let links = links(count, channel_rates);
    let whole = group(count, &links, |_| 0);
    let bad = cyclic_regions(&whole, &links);
    if !bad.iter().any(|bad| *bad) {
        return ordered(&whole, &links);
    }
    let levels = Levels::of(count, &links, &bad).stabilise();
    let cut = group(count, &links, |node| levels[node]);
    ordered(&cut, &links)
}

/// A channel that carries items.
#[derive(Clone, Copy)]
struct Link {
    from: usize,
    to: usize,
    /// Whether its ends should be in one region.
    joins: bool,
    /// Whether it is the feedback channel of a loop that is cut.
    open: bool,
}

/// The channels; loops with dynamic channels are cut at their feedback channel.
fn links(count: usize, channel_rates: &[ChannelRates]) -> Vec<Link> {
    let ends = |channel: &ChannelRates| match *channel {
        ChannelRates::Static(line) => Some((line.from, line.to, line.back, false)),
        ChannelRates::Dynamic(dynamic) => Some((dynamic.from, dynamic.to, dynamic.back, true)),
        ChannelRates::Idle => None,
    };
    let all: Vec<_> = channel_rates.iter().filter_map(ends).collect();
    let edges: Vec<(usize, usize)> = all.iter().map(|(from, to, ..)| (*from, *to)).collect();
    let loops = components(count, &edges);
    let mut dynamic = vec![false; count];
    for (from, to, _, decides) in &all {
        dynamic[loops[*from]] |= *decides && loops[*from] == loops[*to];
    }
    let link = |(from, to, back, decides): (usize, usize, bool, bool)| {
        let inside = dynamic[loops[from]] || dynamic[loops[to]];
        Link { from, to, joins: !decides && !inside, open: back && inside }
    };
    all.into_iter().map(link).collect()
}

/// For each node, the least node of its region, given the levels.
fn group(count: usize, links: &[Link], level: impl Fn(usize) -> usize) -> Vec<usize> {
    let mut sets = Sets::new(count);
    for link in links.iter().filter(|link| link.joins && level(link.from) == level(link.to)) {
        sets.join(link.from, link.to);
    }
    (0..count).map(|node| sets.least(node)).collect()
}

/// For each node, whether its region waits for itself or is part of a cycle of regions.
fn cyclic_regions(region: &[usize], links: &[Link]) -> Vec<bool> {
    let count = region.len();
    let edges: Vec<(usize, usize)> = links
        .iter()
        .filter(|link| !link.open && region[link.from] != region[link.to])
        .map(|link| (region[link.from], region[link.to]))
        .collect();
    let groups = components(count, &edges);
    let mut bad = vec![false; count];
    for (from, to) in edges {
        bad[groups[from]] |= groups[from] == groups[to];
    }
    for link in links.iter().filter(|link| !link.open && !link.joins) {
        bad[groups[region[link.from]]] |= region[link.from] == region[link.to];
    }
    (0..count).map(|node| bad[groups[region[node]]]).collect()
}

/// Regions as lists of nodes, each after its producers.
fn ordered(region: &[usize], links: &[Link]) -> Vec<Vec<usize>> {
    let mut members: Vec<Vec<usize>> = vec![Vec::new(); region.len()];
    region.iter().enumerate().for_each(|(node, least)| members[*least].push(node));
    let mut waits = vec![0_usize; region.len()];
    let mut next: Vec<Vec<usize>> = vec![Vec::new(); region.len()];
    for link in links.iter().filter(|link| !link.open && region[link.from] != region[link.to]) {
        next[region[link.from]].push(region[link.to]);
        waits[region[link.to]] += 1;
    }
    let ready = |(least, nodes): (usize, &Vec<usize>)| {
        (!nodes.is_empty() && waits[least] == 0).then_some(Reverse(least))
    };
    let mut ready: BinaryHeap<_> = members.iter().enumerate().filter_map(ready).collect();
    let mut order = Vec::new();
    while let Some(Reverse(least)) = ready.pop() {
        order.push(std::mem::take(&mut members[least]));
        for next in &next[least] {
            waits[*next] -= 1;
            if waits[*next] == 0 {
                ready.push(Reverse(*next));
            }
        }
    }
    order
}

/// The computation of levels. The nodes of a loop that stays whole are one *unit*.
struct Levels {
    /// The unit of each node; units are numbered in data-flow order.
    unit: Vec<usize>,
    /// For each unit, the preceding units, and whether the channel should not be cut.
    before: Vec<Vec<(usize, bool)>>,
    /// For each unit, the following units, likewise.
    after: Vec<Vec<(usize, bool)>>,
}

impl Levels {
    fn of(count: usize, links: &[Link], bad: &[bool]) -> Levels {
        let edges: Vec<(usize, usize)> =
            links.iter().filter(|link| !link.open).map(|link| (link.from, link.to)).collect();
        let unit = components(count, &edges);
        let (mut before, mut after) = (vec![Vec::new(); count], vec![Vec::new(); count]);
        for link in links.iter().filter(|link| !link.open && bad[link.from] && bad[link.to]) {
            let (from, to) = (unit[link.from], unit[link.to]);
            if from != to {
                before[to].push((from, link.joins));
                after[from].push((to, link.joins));
            }
        }
        Levels { unit, before, after }
    }

    /// The level of each node.
    fn stabilise(self) -> Vec<usize> {
        let mut levels = vec![0; self.unit.len()];
        for unit in 0..levels.len() {
            levels[unit] = self.lowest(unit, &levels);
        }
        for unit in (0..levels.len()).rev() {
            levels[unit] = self.best(unit, &levels);
        }
        self.unit.iter().map(|unit| levels[*unit]).collect()
    }

    fn lowest(&self, unit: usize, levels: &[usize]) -> usize {
        let least = |(from, joins): &(usize, bool)| levels[*from] + usize::from(!joins);
        self.before[unit].iter().map(least).max().unwrap_or(0)
    }

    /// The best level of a unit while the others stay: the highest possible, unless that cuts more channels.
    fn best(&self, unit: usize, levels: &[usize]) -> usize {
        let most = |(to, joins): &(usize, bool)| levels[*to] - usize::from(!joins);
        let Some(highest) = self.after[unit].iter().map(most).min() else { return levels[unit] };
        // Preceding units are not above this unit, and following units not below the highest level. So no level in
        // between cuts fewer channels than both ends of the range.
        let joins = self.before[unit].iter().chain(&self.after[unit]).filter(|(_, joins)| *joins);
        let there: Vec<usize> = joins.map(|(other, _)| levels[*other]).collect();
        let cuts = |level: usize| there.iter().filter(|other| **other != level).count();
        if cuts(highest) <= cuts(levels[unit]) { highest } else { levels[unit] }
    }
}
