//! Items that firings move through the ports of a node.

use super::{ChannelId, Flat, NodeId, NodeKind};
use crate::tree::{Rate, Rates, Tree, Weights};

/// Which execution of a filter; splitters and joiners behave the same in all.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Firing {
    /// The first: `prework` if there is one.
    First,
    /// Any other: `work`.
    Later,
}

impl Flat {
    /// Items that a firing pops from an input port. `None` if firings decide how many items they pop or peek: then
    /// only the firing itself can determine when it ends.
    pub fn pop(&self, tree: &Tree, node: NodeId, port: usize, firing: Firing) -> Option<u64> {
        match &self.node(node).kind {
            NodeKind::Filter(filter) => {
                let rates = rates(tree, filter.0, firing)?;
                if rates.decides_input() { None } else { fixed(rates.pop) }
            }
            NodeKind::Split(weights) => Some(all(weights, 1)),
            NodeKind::Join(weights) => Some(one(weights, port)),
        }
    }

    /// Items required on an input port for a firing to start.
    pub fn peek(&self, tree: &Tree, node: NodeId, port: usize, firing: Firing) -> u64 {
        let NodeKind::Filter(filter) = self.node(node).kind else {
            return self.pop(tree, node, port, firing).unwrap_or(0);
        };
        let least = rates(tree, filter.0, firing).map_or(0, Rates::least_window);
        u64::from(least)
    }

    /// Items that a firing pushes to an output port; `None` if firings decide.
    pub fn push(&self, tree: &Tree, node: NodeId, port: usize, firing: Firing) -> Option<u64> {
        match &self.node(node).kind {
            NodeKind::Filter(filter) => fixed(rates(tree, filter.0, firing)?.push),
            NodeKind::Split(weights) => Some(one(weights, port)),
            NodeKind::Join(weights) => Some(all(weights, self.node(node).inputs.len())),
        }
    }

    /// Whether one end of a channel has a dynamic rate.
    pub fn is_dynamic(&self, tree: &Tree, channel: ChannelId) -> bool {
        let channel = self.channel(channel);
        // Only filters have dynamic rates, and a filter has one port per side.
        let filter = |node: NodeId| matches!(self.node(node).kind, NodeKind::Filter(_));
        [Firing::First, Firing::Later].into_iter().any(|firing| {
            filter(channel.from) && self.push(tree, channel.from, 0, firing).is_none()
                || filter(channel.to) && self.pop(tree, channel.to, 0, firing).is_none()
        })
    }

    /// A node.
    pub fn node(&self, id: NodeId) -> &super::Node {
        &self.nodes[id.0 as usize]
    }

    /// A channel.
    pub fn channel(&self, id: ChannelId) -> &super::Channel {
        &self.channels[id.0 as usize]
    }

    /// For each channel, its port index at the producer and at the consumer.
    pub fn ports(&self) -> Vec<(usize, usize)> {
        let mut ports = vec![(0, 0); self.channels.len()];
        for node in &self.nodes {
            node.outputs.iter().enumerate().for_each(|(port, id)| ports[id.0 as usize].0 = port);
            node.inputs.iter().enumerate().for_each(|(port, id)| ports[id.0 as usize].1 = port);
        }
        ports
    }
}

/// The rates of a filter; `None` if the id is invalid.
fn rates(tree: &Tree, filter: u32, firing: Firing) -> Option<Rates> {
    let filter = tree.filters.get(filter as usize)?;
    Some(match firing {
        Firing::First => filter.prework.unwrap_or(filter.work),
        Firing::Later => filter.work,
    })
}

fn fixed(rate: Rate) -> Option<u64> {
    rate.fixed().map(u64::from)
}

/// Items per turn on one of the several ports of a splitter or joiner.
fn one(weights: &Weights, port: usize) -> u64 {
    match weights {
        Weights::Duplicate => 1,
        Weights::RoundRobin(weights) => weights.get(port).copied().unwrap_or(0).into(),
    }
}

/// Items per turn on the single port; `copies` for a duplicate.
fn all(weights: &Weights, copies: usize) -> u64 {
    match weights {
        Weights::Duplicate => copies as u64,
        Weights::RoundRobin(weights) => weights.iter().copied().map(u64::from).sum(),
    }
}
