//! Balance equations (Lee and Messerschmitt, "Synchronous data flow", 1987): the relative numbers of firings for
//! which every channel receives as many items as it delivers.
//!
//! The nodes that channels of static rates relate to each other are a *class*. A breadth-first search from the first
//! node of each class derives the ratios, so the path from which a number follows is short. First firings with rates
//! of their own happen once and do not count.
//!
//! The equations cover all static channels, those between regions too.

mod dead;
mod fault;

pub use fault::RateFault;

use crate::groups::Groups;
use crate::rates::rates;
use crate::ratio::{Ratio, whole};
use std::collections::VecDeque;
use thalweg_graph::{ChannelId, GraphData, NodeId};

/// The solution of a graph's balance equations.
///
/// ```
/// use thalweg_graph::{GraphData, InPort, Item, Link, Node, OutPort, Rate};
///
/// let item = Item::of::<u8>();
/// let mut graph = GraphData::new();
/// let pairs = graph.add(Node::sequential("pairs").output(OutPort::new("out", item).with_push(Rate::Static(2))));
/// let triples = graph.add(Node::parallel("triples").input(InPort::new("in", item).with_pop(Rate::Static(3))));
/// graph.connect((pairs, 0), (triples, 0), Link::default()).unwrap();
///
/// let balance = thalweg_analysis::Balance::of(&graph);
/// assert!(balance.faults().is_empty());
/// assert_eq!(balance.repetitions(&[pairs, triples]), Some(vec![3, 2]));
/// ```
#[derive(Clone, Debug)]
pub struct Balance {
    /// The class of each node.
    class: Vec<u32>,
    /// For each node, firings per firing of the first node of its class.
    ratio: Vec<Ratio>,
    /// For each class, whether its nodes never fire because no items reach them.
    dead: Vec<bool>,
    faults: Vec<RateFault>,
}

impl Balance {
    /// Solves the equations of a graph, in time linear in nodes and channels.
    pub fn of(graph: &GraphData) -> Balance {
        let mut solver = Solver::new(graph);
        for node in graph.node_ids() {
            if solver.class[node.index()] == NONE {
                solver.visit_class(node);
            }
        }
        let Solver { class, ratio, classes, faults, .. } = solver;
        let mut balance = Balance { class, ratio, dead: vec![false; classes as usize], faults };
        dead::find(graph, &mut balance);
        balance
    }

    /// What is wrong with the rates: at most one fault for each class, then the channels of which only one end moves
    /// items.
    pub fn faults(&self) -> &[RateFault] {
        &self.faults
    }

    /// Firings of some nodes in their shortest steady state: 0 for nodes that no items reach, behind a weight of 0.
    /// `None` if a number is 2^64 or more. The numbers of nodes with faulty rates have no meaning.
    pub fn repetitions(&self, nodes: &[NodeId]) -> Option<Vec<u64>> {
        let mut counts = vec![0; nodes.len()];
        let mut places: Vec<usize> = (0..nodes.len()).collect();
        places.sort_unstable_by_key(|place| (self.class(nodes[*place]), *place));
        for places in places.chunk_by(|a, b| self.class(nodes[*a]) == self.class(nodes[*b])) {
            let found = self.of_class(places.iter().map(|place| nodes[*place]))?;
            places.iter().zip(found).for_each(|(place, count)| counts[*place] = count);
        }
        Some(counts)
    }

    /// Firings of all nodes, by id, in the shortest steady state of each class, and the first node of each class in
    /// which a number is 2^64 or more; its numbers are 0.
    pub(crate) fn all_repetitions(&self) -> (Vec<u64>, Vec<NodeId>) {
        let ids = (0..self.class.len() as u32).map(NodeId);
        let classes = Groups::new(self.classes(), ids.map(|node| (self.class(node), node)));
        let (mut counts, mut long) = (vec![0; self.class.len()], Vec::new());
        for nodes in classes.iter() {
            match self.of_class(nodes.iter().copied()) {
                Some(found) => nodes.iter().zip(found).for_each(|(node, count)| counts[node.index()] = count),
                None => long.push(nodes[0]),
            }
        }
        (counts, long)
    }

    /// The smallest numbers of firings of two nodes in a steady state of both. `None` if no static rates relate them, if rates
    /// contradict each other, or if no items reach them.
    pub(crate) fn proportion(&self, a: NodeId, b: NodeId) -> Option<(u128, u128)> {
        let related = self.class(a) == self.class(b) && !self.dead[self.class(a)] && self.faults.is_empty();
        related.then(|| self.ratio[a.index()].proportion(self.ratio[b.index()]))
    }

    /// Firings of nodes of one class.
    fn of_class(&self, nodes: impl ExactSizeIterator<Item = NodeId> + Clone) -> Option<Vec<u64>> {
        let first = nodes.clone().next()?;
        if self.dead[self.class(first)] {
            return Some(vec![0; nodes.len()]);
        }
        whole(nodes.map(|node| self.ratio[node.index()]))
    }

    /// The number of classes.
    pub(crate) fn classes(&self) -> usize {
        self.dead.len()
    }

    /// The class of a node.
    pub(crate) fn class(&self, node: NodeId) -> usize {
        self.class[node.index()] as usize
    }
}

const NONE: u32 = u32::MAX;

struct Solver<'a> {
    graph: &'a GraphData,
    class: Vec<u32>,
    ratio: Vec<Ratio>,
    /// For each node, the node from which its ratio was derived, by id; itself for the first of a class.
    parent: Vec<u32>,
    classes: u32,
    faults: Vec<RateFault>,
}

impl<'a> Solver<'a> {
    fn new(graph: &'a GraphData) -> Solver<'a> {
        let count = graph.nodes().len();
        Solver {
            graph,
            class: vec![NONE; count],
            ratio: vec![Ratio::ONE; count],
            parent: (0..count as u32).collect(),
            classes: 0,
            faults: Vec::new(),
        }
    }

    /// Assigns one class to all nodes that are related to `root`.
    fn visit_class(&mut self, root: NodeId) {
        self.class[root.index()] = self.classes;
        let (mut queue, mut fault, mut channels) = (VecDeque::from([root]), None, Vec::new());
        while let Some(node) = queue.pop_front() {
            let here = self.graph.node(node);
            channels.clear();
            channels.extend(here.inputs().iter().filter_map(|port| port.channel()));
            channels.extend(here.outputs().iter().filter_map(|port| port.channel()));
            channels.sort_unstable();
            for &id in &channels {
                let found = self.visit(id, node, &mut queue);
                fault = fault.or(found);
            }
        }
        self.faults.extend(fault);
        self.classes += 1;
    }

    /// Derives the ratio of the node at the other end of a channel.
    fn visit(&mut self, id: ChannelId, node: NodeId, queue: &mut VecDeque<NodeId>) -> Option<RateFault> {
        let rates = rates(self.graph, id).filter(|rates| rates.relates())?;
        let channel = self.graph.channel(id);
        let (from, to) = (channel.from().0, channel.to().0);
        let (push, pop) = (rates.push.later, rates.pop.later);
        let (next, times, by) = if from == node { (to, push, pop) } else { (from, pop, push) };
        let there = self.ratio[node.index()].scale(times, by);
        let new = self.class[next.index()] == NONE;
        if new {
            self.class[next.index()] = self.classes;
            self.parent[next.index()] = node.0;
            self.ratio[next.index()] = there.unwrap_or(Ratio::ONE);
            queue.push_back(next);
        }
        match there {
            None => Some(RateFault::TooManyFirings { channel: id }),
            Some(there) if self.ratio[next.index()] != there => Some(self.unbalanced(id, from, to)),
            Some(_) => None,
        }
    }

    fn unbalanced(&self, channel: ChannelId, from: NodeId, to: NodeId) -> RateFault {
        let firings = self.ratio[from.index()].proportion(self.ratio[to.index()]);
        RateFault::Unbalanced { channel, firings, path: self.path(from, to) }
    }

    /// The path along which the ratios of two nodes of a class were derived from one another.
    fn path(&self, from: NodeId, to: NodeId) -> Vec<NodeId> {
        let up = |node: NodeId| {
            let above = |node: &NodeId| {
                let parent = NodeId(self.parent[node.index()]);
                (parent != *node).then_some(parent)
            };
            std::iter::successors(Some(node), above).collect::<Vec<NodeId>>()
        };
        let (mut left, mut right) = (up(from), up(to));
        while left.len() > 1 && right.len() > 1 && left[left.len() - 2] == right[right.len() - 2] {
            left.pop();
            right.pop();
        }
        right.pop();
        left.extend(right.into_iter().rev());
        left
    }
}
