//! Where data is, and what a node costs on a worker.

use super::{TaskGraph, TaskNode, WorkerCounts};
use thalweg_policy::tasks::Colour;

/// The memory of a machine: a domain for each few workers, and the ticks of accesses to near and to far data.
#[derive(Clone, Copy, Debug)]
pub(super) struct Memory {
    /// The number of workers that share a memory domain.
    pub(super) domain: usize,
    /// An access to data in the worker's own domain.
    pub(super) near: u64,
    /// An access to data in another domain.
    pub(super) far: u64,
}

impl Memory {
    /// A worker computes a node: adds the node and its accesses to the worker's counts, and returns the ticks.
    pub(super) fn compute(
        &self,
        graph: &TaskGraph,
        node: u32,
        worker: usize,
        counts: &mut WorkerCounts,
    ) -> u64 {
        let TaskNode { work, accesses, reads, data } = graph.nodes()[node as usize];
        let mut ticks = work + self.access(worker, data, accesses, counts);
        for &before in graph.predecessors(node) {
            ticks += self.access(worker, graph.nodes()[before as usize].data, reads, counts);
        }
        counts.computed += 1;
        counts.busy += ticks;
        ticks
    }

    /// Counts accesses of a node to one piece of data. Returns their ticks.
    fn access(&self, worker: usize, data: Colour, accesses: u64, counts: &mut WorkerCounts) -> u64 {
        let is_remote = data.0 as usize / self.domain != worker / self.domain;
        if accesses > 0 {
            counts.accesses += 1;
            counts.remote += u64::from(is_remote);
        }
        accesses * if is_remote { self.far } else { self.near }
    }
}
