//! Part of a run's state, on its way from one run to another.

use crate::build::{Fibers, Memory, State};
use crate::run::Run;
use crate::run::lend::Gates;
use crate::run::parts::Region;
use crate::run::queues::{Budget, Held};
use std::ops::Range;
use thalweg_lang::flat::NodeId;

/// The state of some regions, or of some nodes: the data of nodes, their input queues, buffers, fibers, and
/// progress. It is either in a run or on its way, so one thread at a time accesses it.
pub(super) struct Share<'a> {
    state: State<'a>,
    fibers: Fibers<'a>,
    /// By channel.
    queues: Vec<(usize, Held)>,
    /// By part.
    memories: Vec<(usize, Vec<Memory>)>,
    regions: Vec<(usize, Region<'a>)>,
    nodes: Vec<Counts>,
    budget: Budget,
}

/// The progress of a node.
struct Counts {
    node: NodeId,
    fired: u64,
    passed: u64,
    awaited: Option<u64>,
}

impl<'a> Run<'a> {
    /// The nodes of some regions.
    fn nodes_of(&self, regions: &Range<usize>) -> Vec<NodeId> {
        let all = &self.native.compiled.schedule.regions[regions.clone()];
        all.iter().flat_map(|region| region.nodes.iter().copied()).collect()
    }

    /// Moves the state of some regions out. They must not run here before it is returned.
    pub(super) fn give_regions(&mut self, regions: &Range<usize>) -> Share<'a> {
        let all = &self.native.compiled.schedule.regions;
        let mut share = self.give(&self.nodes_of(regions));
        for at in regions.clone() {
            let region = Region::new(&all[at], at, self);
            let region = std::mem::replace(&mut self.regions[at], region);
            if let Some(stage) = region.stage {
                self.copy_back(stage);
                share.memories.push((stage, std::mem::take(&mut self.stages[stage].memories)));
            }
            share.regions.push((at, region));
        }
        share
    }

    /// A copy of the state of a region that keeps nothing, without the items in its queues.
    pub(super) fn copy_region(&mut self, at: usize) -> Share<'a> {
        if let Some(stage) = self.regions[at].stage {
            self.copy_back(stage);
        }
        let nodes = self.nodes_of(&(at..at + 1));
        Share {
            state: self.state.fork(),
            fibers: Fibers::default(),
            queues: Vec::new(),
            memories: Vec::new(),
            regions: vec![(at, self.regions[at].clone())],
            nodes: nodes.into_iter().map(|node| self.counts(node)).collect(),
            budget: self.around.queues.budget().clone(),
        }
    }

    /// Sets up the buffers of a copy.
    pub(super) fn fill_own_buffers(&mut self, region: usize) {
        if let (Some(stage), Some(steady)) = (self.regions[region].stage, self.regions[region].steady) {
            self.fill_buffers(stage, steady);
        }
    }

    fn counts(&self, node: NodeId) -> Counts {
        let at = node.0 as usize;
        Counts { node, fired: self.fired[at], passed: self.passed[at], awaited: self.awaited[at] }
    }

    /// Moves the state of some nodes out, except for buffers and schedules, which belong to regions.
    fn give(&mut self, nodes: &[NodeId]) -> Share<'a> {
        let mut share = Share {
            state: self.state.fork(),
            fibers: self.fibers.of(nodes),
            queues: Vec::new(),
            memories: Vec::new(),
            regions: Vec::new(),
            nodes: Vec::new(),
            budget: self.around.queues.budget().clone(),
        };
        for node in nodes {
            for input in self.native.compiled.flat.inputs(*node) {
                let at = input.0 as usize;
                share.queues.push((at, self.around.queues.take_out(at, &mut self.state.queues()[at])));
            }
            share.nodes.push(self.counts(*node));
        }
        share
    }

    /// Installs the state of regions or nodes.
    pub(super) fn adopt(&mut self, share: Share<'a>) {
        for Counts { node, fired, passed, awaited } in share.nodes {
            self.state.join(&share.state, node.0);
            let at = node.0 as usize;
            (self.fired[at], self.passed[at], self.awaited[at]) = (fired, passed, awaited);
        }
        self.fibers.extend(share.fibers);
        self.around.queues.share(share.budget);
        for (at, held) in share.queues {
            self.around.queues.put_in(at, &mut self.state.queues()[at], held);
        }
        for (stage, mut memories) in share.memories {
            let Some(plan) = self.native.parts[stage].plan.as_ref().filter(|_| !memories.is_empty()) else {
                continue;
            };
            for (at, memory) in memories.iter_mut().enumerate() {
                self.state.set_buffer(plan.first + at, memory.pointer());
            }
            self.stages[stage].memories = memories;
            self.stages[stage].gates = Gates::new(plan, &mut self.ends);
        }
        for (at, region) in share.regions {
            self.regions[at] = region;
        }
    }
}
