//! A strongly connected part and the firings it can do.

use crate::Components;
use crate::rates::{Rates, rates};
use crate::ratio::gcd;
use std::collections::VecDeque;
use thalweg_graph::{ChannelId, GraphData, NodeId};

/// Most periods a node may run ahead. Keeps all counts of items below 2^127.
const MOST_PERIODS: u128 = 1 << 30;

/// A channel within the part. Its ends are places in [`Part::nodes`].
pub(super) struct Edge {
    pub id: ChannelId,
    pub from: usize,
    pub to: usize,
    rates: Rates,
    initial: u128,
}

/// The nodes of a part, the channels between them, and how often each has fired.
pub(super) struct Part<'a> {
    pub nodes: &'a [NodeId],
    pub edges: Vec<Edge>,
    /// Edges into and out of each node.
    inputs: Vec<Vec<usize>>,
    outputs: Vec<Vec<usize>>,
    /// Firings of each node in the part's shortest period.
    period: Vec<u128>,
    fired: Vec<u128>,
}

/// What a run of the part came to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Life {
    /// Every node has done a period.
    Alive,
    /// No node can fire, and some have not done a period.
    Dead,
    /// Given up.
    Unknown,
}

impl<'a> Part<'a> {
    /// One of `components`; `place` tells where each node of the graph stands in its component.
    pub(super) fn new(
        graph: &GraphData,
        components: &'a Components,
        component: usize,
        place: &[usize],
        counts: &[u64],
    ) -> Part<'a> {
        let nodes = components.members(component);
        let common = nodes.iter().fold(0, |common, node| gcd(common, counts[node.index()].into()));
        let mut part = Part {
            nodes,
            edges: Vec::new(),
            inputs: vec![Vec::new(); nodes.len()],
            outputs: vec![Vec::new(); nodes.len()],
            period: nodes.iter().map(|node| u128::from(counts[node.index()]) / common).collect(),
            fired: vec![0; nodes.len()],
        };
        for node in nodes {
            for id in graph.node(*node).outputs.iter().filter_map(|port| port.channel) {
                let channel = graph.channel(id);
                let Some(rates) = rates(graph, id) else { continue };
                if components.of(channel.to.0) == component {
                    let (from, to) = (place[node.index()], place[channel.to.0.index()]);
                    part.add(Edge { id, from, to, rates, initial: channel.link.initial as u128 });
                }
            }
        }
        part
    }

    fn add(&mut self, edge: Edge) {
        self.outputs[edge.from].push(self.edges.len());
        self.inputs[edge.to].push(self.edges.len());
        self.edges.push(edge);
    }

    pub(super) fn has_cycle(&self) -> bool {
        !self.edges.is_empty()
    }

    /// Fires until it is known whether the part lives.
    pub(super) fn run(&mut self) -> Life {
        let mut periods = 1;
        let mut steps = (1 << 20) + 64 * self.edges.len();
        while periods <= MOST_PERIODS {
            if !self.fire_all(periods, &mut steps) {
                return Life::Unknown;
            }
            let mut counts = self.fired.iter().zip(&self.period);
            if counts.clone().all(|(fired, period)| fired >= period) {
                return Life::Alive;
            }
            if !counts.any(|(fired, period)| *fired == period * periods) {
                return Life::Dead;
            }
            periods *= 2;
        }
        Life::Unknown
    }

    /// Fires all nodes until none can within the limit; false if `steps` ran out before.
    fn fire_all(&mut self, periods: u128, steps: &mut usize) -> bool {
        let mut queue: VecDeque<usize> = (0..self.nodes.len()).collect();
        let mut queued = vec![true; self.nodes.len()];
        while let Some(node) = queue.pop_front() {
            queued[node] = false;
            let Some(left) = steps.checked_sub(1) else { return false };
            *steps = left;
            let may = self.may_fire(node).min(self.period[node] * periods);
            if may > self.fired[node] {
                self.fired[node] = may;
                for next in self.outputs[node].iter().map(|edge| self.edges[*edge].to) {
                    if !std::mem::replace(&mut queued[next], true) {
                        queue.push_back(next);
                    }
                }
            }
        }
        true
    }

    /// Firings of `node`, those done included, that the items now there allow.
    fn may_fire(&self, node: usize) -> u128 {
        self.inputs[node].iter().map(|edge| self.allows(&self.edges[*edge])).min().unwrap_or(u128::MAX)
    }

    /// Firings of the consumer, those done included, that a channel allows.
    fn allows(&self, edge: &Edge) -> u128 {
        let Rates { push, pop, peek } = edge.rates;
        if edge.from == edge.to && edge.initial >= peek.into() {
            // Balanced rates: it finds again what it has put back.
            return u128::MAX;
        }
        let put = edge.initial + u128::from(push) * self.fired[edge.from];
        // The k-th firing needs (k - 1) pop + peek items.
        (put + u128::from(pop)).saturating_sub(peek.into()) / u128::from(pop)
    }

    /// The first input for which `node` waits, if it does.
    pub(super) fn lacking(&self, node: usize) -> Option<&Edge> {
        let mut inputs = self.inputs[node].iter().map(|edge| &self.edges[*edge]);
        inputs.find(|edge| self.allows(edge) <= self.fired[node])
    }

    /// Items in a channel, and items that the next firing of its consumer needs there.
    pub(super) fn fill(&self, edge: &Edge) -> (u128, u128) {
        let Rates { push, pop, peek } = edge.rates;
        let put = edge.initial + u128::from(push) * self.fired[edge.from];
        (put - u128::from(pop) * self.fired[edge.to], peek.into())
    }

    /// A node that has not done its period.
    pub(super) fn behind(&self) -> Option<usize> {
        (0..self.nodes.len()).find(|node| self.fired[*node] < self.period[*node])
    }
}
