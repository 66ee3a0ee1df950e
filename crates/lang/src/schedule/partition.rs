//! Static regions (Soulé and others, "Dynamic expressivity with static optimization for streaming
//! languages", 2013, section 4.1).
//!
//! Without the dynamic channels the graph falls into components: the regions, as the paper has them. Where
//! that makes regions that wait for each other, or a dynamic channel that leads from a region into itself,
//! which the paper leaves open, static channels are cut too:
//!
//! - **Levels.** The components concerned are taken apart by levels. A node is on a level not below those
//!   it takes from, and above them across a dynamic channel. What is connected on one level is a region.
//!   So a channel between regions leads to a higher level, and no regions wait for each other.
//! - **Loops.** A feedback loop of static channels stays on one level, whole. In one with a dynamic channel
//!   each node is a region alone: regions round a loop wait for each other whatever the cut, and single
//!   firings are the steps at which they do so only where the program itself does. So there is a partition
//!   for every graph, and no error.

use super::net::Wire;
use super::sets::Sets;
use super::strong::components;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The regions: nodes in order, regions in data-flow order.
pub(super) fn partition(count: usize, wires: &[Wire]) -> Vec<Vec<usize>> {
    let links = links(count, wires);
    let whole = tied(count, &links, |_| 0);
    let bad = entwined(&whole, &links);
    if !bad.iter().any(|bad| *bad) {
        return ordered(&whole, &links);
    }
    let levels = Levels::of(count, &links, &bad).settle();
    let cut = tied(count, &links, |node| levels[node]);
    ordered(&cut, &links)
}

/// A channel that carries something.
#[derive(Clone, Copy)]
struct Link {
    from: usize,
    to: usize,
    /// Wants its ends in one region.
    ties: bool,
    /// Goes back round a loop that is cut open.
    open: bool,
}

/// The channels, with loops that have dynamic channels cut open.
fn links(count: usize, wires: &[Wire]) -> Vec<Link> {
    let ends = |wire: &Wire| match *wire {
        Wire::Static(line) => Some((line.from, line.to, line.back, false)),
        Wire::Dynamic(loose) => Some((loose.from, loose.to, loose.back, true)),
        Wire::Idle => None,
    };
    let all: Vec<_> = wires.iter().filter_map(ends).collect();
    let edges: Vec<(usize, usize)> = all.iter().map(|(from, to, ..)| (*from, *to)).collect();
    let loops = components(count, &edges);
    let mut dynamic = vec![false; count];
    for (from, to, _, decides) in &all {
        dynamic[loops[*from]] |= *decides && loops[*from] == loops[*to];
    }
    let link = |(from, to, back, decides): (usize, usize, bool, bool)| {
        let inside = dynamic[loops[from]] || dynamic[loops[to]];
        Link { from, to, ties: !decides && !inside, open: back && inside }
    };
    all.into_iter().map(link).collect()
}

/// For each node the least one of what is tied to it on its level.
fn tied(count: usize, links: &[Link], level: impl Fn(usize) -> usize) -> Vec<usize> {
    let mut sets = Sets::new(count);
    for link in links.iter().filter(|link| link.ties && level(link.from) == level(link.to)) {
        sets.join(link.from, link.to);
    }
    (0..count).map(|node| sets.least(node)).collect()
}

/// For each node whether its region waits for itself, or is one of several that wait for each other.
fn entwined(region: &[usize], links: &[Link]) -> Vec<bool> {
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
    for link in links.iter().filter(|link| !link.open && !link.ties) {
        bad[groups[region[link.from]]] |= region[link.from] == region[link.to];
    }
    (0..count).map(|node| bad[groups[region[node]]]).collect()
}

/// Regions as lists of nodes, each after all it takes from.
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

/// Levels of the nodes to be taken apart. Nodes of a loop that stays whole are one *unit*.
struct Levels {
    /// For each node its unit; units are numbered in data-flow order.
    unit: Vec<usize>,
    /// For each unit what leads to it from another one, and whether that ties.
    before: Vec<Vec<(usize, bool)>>,
    /// The same for what leads from it.
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
                before[to].push((from, link.ties));
                after[from].push((to, link.ties));
            }
        }
        Levels { unit, before, after }
    }

    /// For each node its level.
    fn settle(self) -> Vec<usize> {
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
        let least = |(from, ties): &(usize, bool)| levels[*from] + usize::from(!ties);
        self.before[unit].iter().map(least).max().unwrap_or(0)
    }

    /// Where a unit may go without others going, as high as it can unless that cuts more.
    fn best(&self, unit: usize, levels: &[usize]) -> usize {
        let most = |(to, ties): &(usize, bool)| levels[*to] - usize::from(!ties);
        let Some(highest) = self.after[unit].iter().map(most).min() else { return levels[unit] };
        // What is before is not above this unit, and what is after not below the highest level: no level
        // between cuts less than both.
        let ties = self.before[unit].iter().chain(&self.after[unit]).filter(|(_, ties)| *ties);
        let there: Vec<usize> = ties.map(|(other, _)| levels[*other]).collect();
        let cuts = |level: usize| there.iter().filter(|other| **other != level).count();
        if cuts(highest) <= cuts(levels[unit]) { highest } else { levels[unit] }
    }
}
