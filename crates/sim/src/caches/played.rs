//! The caches of a run in virtual time.

use super::{CacheModel, Caches, Memory, Misses};
use crate::Model;
use std::ops::Range;
use thalweg_graph::NodeId;
use thalweg_plan::Plan;

/// The memory of a run, and the caches of its workers.
pub(crate) struct Played<'m> {
    settings: CacheModel,
    model: &'m Model,
    memory: Memory<'m>,
    caches: Caches,
}

impl<'m> Played<'m> {
    /// Empty caches, for channels of these capacities. As in the engine, a channel has a power of two slots.
    pub(crate) fn new(
        settings: CacheModel,
        model: &'m Model,
        plan: &Plan,
        capacities: &[usize],
        workers: usize,
    ) -> Played<'m> {
        let slots: Vec<usize> = capacities.iter().map(|items| items.next_power_of_two()).collect();
        let memory = Memory::with_slots(&model.graph, plan, &slots, settings.record);
        Played { settings, model, memory, caches: settings.caches(workers) }
    }

    /// Touches what a claim of the firings with these tickets touches, one after the other, and returns the ticks of their misses. Without a
    /// worker nothing is touched.
    pub(crate) fn fire(&mut self, worker: Option<usize>, node: NodeId, tickets: Range<u64>) -> u64 {
        let moved = &self.model.nodes[node.index()];
        let misses = |caches: &Caches| worker.map_or(0, |worker| caches.misses(worker).all());
        let before = misses(&self.caches);
        if let Some(worker) = worker {
            self.memory.claim(&mut self.caches, worker, node);
        }
        for ticket in tickets {
            let pops = |port: usize| moved.pops[port].at(ticket) as u64;
            let pushes = |port: usize| moved.pushes[port].at(ticket) as u64;
            self.memory.fire_moving(worker.map(|worker| (&mut self.caches, worker)), node, pops, pushes);
        }
        (misses(&self.caches) - before) * self.settings.miss
    }

    /// The misses of each worker.
    pub(crate) fn misses(&self) -> Vec<Misses> {
        (0..self.caches.workers()).map(|worker| self.caches.misses(worker)).collect()
    }
}
