//! The wavefront function: the number of firings of one node that firings of another need.

use super::demand::{Counts, pull};
use crate::Compiled;
use crate::flat::NodeId;
use std::ops::Deref;

/// The wavefront function of two nodes with static rates, one upstream of the other; values are computed as needed.
pub struct Wavefront<C> {
    compiled: C,
    counts: Counts<C>,
    upstream: NodeId,
    downstream: NodeId,
    /// The values, by firings of the downstream node.
    waves: Vec<u64>,
    /// Firings of the downstream node without any of the upstream node after which none will ever be needed.
    horizon: usize,
}

impl<C: Deref<Target = Compiled> + Clone> Wavefront<C> {
    /// The function of two nodes, upstream node first.
    pub fn new(compiled: C, upstream: NodeId, downstream: NodeId) -> Wavefront<C> {
        Wavefront {
            counts: Counts::new(compiled.clone()),
            horizon: horizon(&compiled, upstream, downstream),
            compiled,
            upstream,
            downstream,
            waves: vec![0],
        }
    }

    /// Upstream firings that `firings` downstream firings need; `None` if the downstream node never fires that
    /// many times.
    pub fn wave(&mut self, firings: u64) -> Option<u64> {
        while self.waves.len() as u64 <= firings {
            self.advance()?;
        }
        Some(self.waves[firings as usize])
    }

    /// The first downstream firing that needs `firings` upstream firings; `None` if no firing ever does.
    pub fn first_needing(&mut self, firings: u64) -> Option<u64> {
        while self.waves.last().is_some_and(|wave| *wave < firings) {
            let rests = self.waves.len().checked_sub(self.horizon).map(|before| self.waves[before]);
            if rests.is_some() && rests == self.waves.last().copied() {
                return None;
            }
            self.advance()?;
        }
        Some(self.waves.partition_point(|wave| *wave < firings) as u64)
    }

    fn advance(&mut self) -> Option<()> {
        pull(&self.compiled.flat, &mut self.counts, self.downstream).ok()?;
        self.waves.push(self.counts.firings()[self.upstream.0 as usize]);
        Some(())
    }
}

/// A number of downstream firings that consumes all items ever buffered in between, plus one steady state.
fn horizon(compiled: &Compiled, upstream: NodeId, downstream: NodeId) -> usize {
    let schedule = &compiled.schedule;
    let region = schedule.region_of()[downstream.0 as usize];
    let region = &schedule.regions[region];
    let times = |node| {
        let at = region.nodes.iter().position(|other| *other == node);
        at.map_or(0, |at| region.repetitions[at])
    };
    let repetitions = times(downstream).max(1);
    let between = compiled.flat.channels().iter().zip(&schedule.buffers);
    let held: u64 =
        between.map(|(channel, most)| most.unwrap_or(0).max(channel.link().initial() as u64)).sum();
    let states = if times(upstream) == 0 { 0 } else { held.saturating_add(2) };
    usize::try_from(states.saturating_mul(repetitions)).unwrap_or(usize::MAX).max(1)
}
