//! A strongly connected component and the firings it can do.

use crate::Components;
use crate::rates::{Rates, rates};
use crate::ratio::gcd;
use std::collections::VecDeque;
use thalweg_graph::{ChannelId, GraphData, NodeId};

/// The most periods that a node fires.
const MAX_PERIODS: u128 = 1 << 30;

/// The most items that pass through a channel, so that no sum overflows.
const MAX_ITEMS: u128 = 1 << 126;

/// A channel within the SCC. `from` and `to` are indices into [`Scc::nodes`].
pub(super) struct Edge {
    pub id: ChannelId,
    pub from: usize,
    pub to: usize,
    push: u128,
    pop: u128,
    peek: u128,
    initial: u128,
}

/// The nodes of an SCC, the channels between them, and the firings done so far.
pub(super) struct Scc<'a> {
    pub nodes: &'a [NodeId],
    pub edges: Vec<Edge>,
    /// The edges into each node, as indices into `edges`.
    inputs: Vec<Vec<usize>>,
    /// The edges out of each node.
    outputs: Vec<Vec<usize>>,
    /// Firings of each node in the shortest period of the SCC.
    period: Vec<u128>,
    /// Firings of each node so far.
    fired: Vec<u128>,
}

/// The result of [`Scc::run`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Liveness {
    /// Every node has fired a period.
    Live,
    /// No node can fire, and some have not fired a period.
    Dead,
    /// The search reached its limit of steps or of periods.
    Unknown,
}

impl<'a> Scc<'a> {
    /// The component with number `component`. `position` has the index of each node of the graph in its
    /// component, `counts` its repetitions.
    pub(super) fn new(
        graph: &GraphData,
        components: &'a Components,
        component: usize,
        position: &[usize],
        counts: &[u64],
    ) -> Scc<'a> {
        let nodes = components.members(component);
        let common = nodes.iter().fold(0, |common, node| gcd(common, counts[node.index()]));
        let mut scc = Scc {
            nodes,
            edges: Vec::new(),
            inputs: vec![Vec::new(); nodes.len()],
            outputs: vec![Vec::new(); nodes.len()],
            period: nodes.iter().map(|node| u128::from(counts[node.index()] / common)).collect(),
            fired: vec![0; nodes.len()],
        };
        for node in nodes {
            for id in graph.node(*node).outputs().iter().filter_map(|port| port.channel()) {
                let channel = graph.channel(id);
                let Some(rates) = rates(graph, id).filter(Rates::relates) else { continue };
                if components.of(channel.to().0) == component {
                    let (from, to) = (position[node.index()], position[channel.to().0.index()]);
                    let [push, pop, peek] = [rates.push, rates.pop, rates.peek].map(|rate| rate.later.into());
                    scc.add(Edge {
                        id,
                        from,
                        to,
                        push,
                        pop,
                        peek,
                        initial: channel.link().initial() as u128,
                    });
                }
            }
        }
        scc
    }

    fn add(&mut self, edge: Edge) {
        self.outputs[edge.from].push(self.edges.len());
        self.inputs[edge.to].push(self.edges.len());
        self.edges.push(edge);
    }

    pub(super) fn has_cycle(&self) -> bool {
        !self.edges.is_empty()
    }

    /// Fires nodes until the SCC is known to be live or dead, or a limit is reached.
    pub(super) fn run(&mut self) -> Liveness {
        let mut periods = 1;
        let mut steps = (1 << 20) + 64 * self.edges.len();
        let most = self.periods_allowed();
        while periods <= most {
            if !self.fire_all(periods, &mut steps) {
                return Liveness::Unknown;
            }
            let mut counts = self.fired.iter().zip(&self.period);
            if counts.clone().all(|(fired, period)| fired >= period) {
                return Liveness::Live;
            }
            if !counts.any(|(fired, period)| *fired == period * periods) {
                return Liveness::Dead;
            }
            periods *= 2;
        }
        Liveness::Unknown
    }

    /// The periods after which some channel may have passed [`MAX_ITEMS`] items, or [`MAX_PERIODS`].
    fn periods_allowed(&self) -> u128 {
        let items = |edge: &Edge| self.period[edge.from].saturating_mul(edge.push);
        MAX_PERIODS.min(MAX_ITEMS / self.edges.iter().map(items).max().unwrap_or(1))
    }

    /// Fires nodes until none can fire without exceeding `periods`. Returns false if `steps` ran out before.
    fn fire_all(&mut self, periods: u128, steps: &mut usize) -> bool {
        let mut queue: VecDeque<usize> = (0..self.nodes.len()).collect();
        let mut queued = vec![true; self.nodes.len()];
        while let Some(node) = queue.pop_front() {
            queued[node] = false;
            let Some(left) = steps.checked_sub(1) else { return false };
            *steps = left;
            let allowed = self.firings_allowed(node).min(self.period[node] * periods);
            if allowed > self.fired[node] {
                self.fired[node] = allowed;
                for next in self.outputs[node].iter().map(|edge| self.edges[*edge].to) {
                    if !std::mem::replace(&mut queued[next], true) {
                        queue.push_back(next);
                    }
                }
            }
        }
        true
    }

    /// Firings of `node`, including those done, that the present items allow.
    fn firings_allowed(&self, node: usize) -> u128 {
        let by_input = self.inputs[node].iter().map(|edge| self.firings_allowed_by(&self.edges[*edge]));
        by_input.min().unwrap_or(u128::MAX)
    }

    /// Firings of the consumer of a channel, including those done, that the items of this channel allow.
    fn firings_allowed_by(&self, edge: &Edge) -> u128 {
        if edge.from == edge.to && edge.initial >= edge.peek {
            // A self-loop with balanced rates: each firing restores the items it has popped.
            return u128::MAX;
        }
        let pushed = edge.initial + edge.push * self.fired[edge.from];
        // The k-th firing needs (k - 1) pop + peek items.
        (pushed + edge.pop).saturating_sub(edge.peek) / edge.pop
    }

    /// The first input that has too few items for another firing of `node`.
    pub(super) fn starved_input(&self, node: usize) -> Option<&Edge> {
        let mut inputs = self.inputs[node].iter().map(|edge| &self.edges[*edge]);
        inputs.find(|edge| self.firings_allowed_by(edge) <= self.fired[node])
    }

    /// The items in a channel, and the items that the next firing of its consumer needs.
    pub(super) fn fill(&self, edge: &Edge) -> (u128, u128) {
        let pushed = edge.initial + edge.push * self.fired[edge.from];
        (pushed - edge.pop * self.fired[edge.to], edge.peek)
    }

    /// A node that has not fired its period.
    pub(super) fn unfinished(&self) -> Option<usize> {
        (0..self.nodes.len()).find(|node| self.fired[*node] < self.period[*node])
    }
}
