//! How often one node must have fired for another to fire so many times.

use super::demand::{Counts, pull};
use crate::Compiled;
use crate::flat::NodeId;
use std::ops::Deref;

/// The wavefront function of two nodes of static rates, one upstream of the other; known as far as it
/// was asked for.
pub struct Wavefront<C> {
    compiled: C,
    counts: Counts<C>,
    upstream: NodeId,
    downstream: NodeId,
    /// By firings of the one downstream.
    waves: Vec<u64>,
    /// Firings of the one downstream after which each steady state needs some of the one upstream, if any does.
    patience: usize,
}

impl<C: Deref<Target = Compiled> + Clone> Wavefront<C> {
    /// Of two nodes, the one upstream first.
    pub fn new(compiled: C, upstream: NodeId, downstream: NodeId) -> Wavefront<C> {
        Wavefront {
            counts: Counts::new(compiled.clone()),
            patience: patience(&compiled, upstream, downstream),
            compiled,
            upstream,
            downstream,
            waves: vec![0],
        }
    }

    /// Firings upstream that so many downstream need; none where it can never fire so often.
    pub fn wave(&mut self, firings: u64) -> Option<u64> {
        while self.waves.len() as u64 <= firings {
            self.go_on()?;
        }
        Some(self.waves[firings as usize])
    }

    /// The first firing downstream that needs so many upstream; none where no firing ever does.
    pub fn first_needing(&mut self, firings: u64) -> Option<u64> {
        while self.waves.last().is_some_and(|wave| *wave < firings) {
            let rests = self.waves.len().checked_sub(self.patience).map(|before| self.waves[before]);
            if rests.is_some() && rests == self.waves.last().copied() {
                return None;
            }
            self.go_on()?;
        }
        Some(self.waves.partition_point(|wave| *wave < firings) as u64)
    }

    fn go_on(&mut self) -> Option<()> {
        pull(&self.compiled.flat, &mut self.counts, self.downstream).ok()?;
        self.waves.push(self.counts.firings()[self.upstream.0 as usize]);
        Some(())
    }
}

/// So many firings downstream take all that can be there at any time in between, and a steady state more.
fn patience(compiled: &Compiled, upstream: NodeId, downstream: NodeId) -> usize {
    let schedule = &compiled.schedule;
    let region = schedule.region_of()[downstream.0 as usize];
    let region = &schedule.regions[region];
    let times = |node| {
        let at = region.nodes.iter().position(|other| *other == node);
        at.map_or(0, |at| region.repetitions[at])
    };
    let repetitions = times(downstream).max(1);
    let between = compiled.flat.channels.iter().zip(&schedule.buffers);
    let held: u64 = between.map(|(channel, most)| most.unwrap_or(0).max(channel.initial.len() as u64)).sum();
    let states = if times(upstream) == 0 { 0 } else { held.saturating_add(2) };
    usize::try_from(states.saturating_mul(repetitions)).unwrap_or(usize::MAX).max(1)
}
