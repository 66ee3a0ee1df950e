//! How often one node must have fired for another to fire so many times.

use super::demand::{Fires, pull};
use crate::Compiled;
use crate::flat::{ChannelId, Firing, NodeId};
use std::convert::Infallible;

/// The wavefront function of two nodes of static rates, one upstream of the other; known as far as it
/// was asked for.
pub(super) struct Wavefront {
    counts: Counts,
    upstream: NodeId,
    downstream: NodeId,
    /// By firings of the one downstream.
    waves: Vec<u64>,
}

/// Items in channels, as numbers.
struct Counts {
    compiled: std::sync::Arc<Compiled>,
    items: Vec<u64>,
    firings: Vec<u64>,
}

impl Wavefront {
    pub(super) fn new(
        compiled: &std::sync::Arc<Compiled>,
        upstream: NodeId,
        downstream: NodeId,
    ) -> Wavefront {
        let flat = &compiled.flat;
        let counts = Counts {
            compiled: compiled.clone(),
            items: flat.channels.iter().map(|channel| channel.initial.len() as u64).collect(),
            firings: vec![0; flat.nodes.len()],
        };
        Wavefront { counts, upstream, downstream, waves: vec![0] }
    }

    /// Firings upstream that so many downstream need; none where it can never fire so often.
    pub(super) fn wave(&mut self, firings: u64) -> Option<u64> {
        while self.waves.len() as u64 <= firings {
            self.go_on()?;
        }
        Some(self.waves[firings as usize])
    }

    /// The first firing downstream that needs so many upstream.
    pub(super) fn first_needing(&mut self, firings: u64) -> Option<u64> {
        while self.waves.last().is_some_and(|wave| *wave < firings) {
            self.go_on()?;
        }
        Some(self.waves.partition_point(|wave| *wave < firings) as u64)
    }

    fn go_on(&mut self) -> Option<()> {
        let compiled = self.counts.compiled.clone();
        pull(&compiled.flat, &mut self.counts, self.downstream).ok()?;
        self.waves.push(self.counts.firings[self.upstream.0 as usize]);
        Some(())
    }
}

impl Counts {
    fn firing(&self, node: NodeId) -> Firing {
        if self.firings[node.0 as usize] == 0 { Firing::First } else { Firing::Later }
    }
}

impl Fires for Counts {
    type Error = Infallible;

    fn lacks(&self, node: NodeId) -> Option<ChannelId> {
        let (flat, firing) = (&self.compiled.flat, self.firing(node));
        let mut inputs = flat.node(node).inputs.iter().enumerate();
        let needs = |at| flat.peek(&self.compiled.tree, node, at, firing);
        inputs.find(|(at, channel)| self.items[channel.0 as usize] < needs(*at)).map(|(_, channel)| *channel)
    }

    fn fire(&mut self, node: NodeId) -> Result<(), Infallible> {
        let (compiled, firing) = (self.compiled.clone(), self.firing(node));
        let (flat, tree) = (&compiled.flat, &compiled.tree);
        for (at, channel) in flat.node(node).inputs.iter().enumerate() {
            self.items[channel.0 as usize] -= flat.pop(tree, node, at, firing).unwrap_or(0);
        }
        for (at, channel) in flat.node(node).outputs.iter().enumerate() {
            self.items[channel.0 as usize] += flat.push(tree, node, at, firing).unwrap_or(0);
        }
        self.firings[node.0 as usize] += 1;
        Ok(())
    }
}
