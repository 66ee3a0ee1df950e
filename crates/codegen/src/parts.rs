//! The parts of a program: subgraphs of its regions that run as a unit, with queues between them.

use crate::lower::NodeCode;
use crate::lower::{decides, may_try};
use crate::plan::{Facts, Plan, held};
use thalweg_lang::Compiled;
use thalweg_lang::flat::{ChannelId, NodeId};
use thalweg_lang::messages::has_messages;
use thalweg_lang::schedule::{Phase, Region};
use thalweg_lang::tree::Code;

/// A part.
pub(crate) struct Part {
    /// The index of its region.
    pub(crate) home: usize,
    /// Its nodes and their schedule.
    pub(crate) region: Region,
    /// Its fused plan; `None` where its nodes run one by one.
    pub(crate) plan: Option<Plan>,
    /// The most steady states in a call.
    pub(crate) scale: u64,
}

impl Part {
    /// The number of its buffers.
    pub(crate) fn buffers(&self) -> usize {
        self.plan.as_ref().map_or(0, |plan| plan.buffers.len())
    }
}

/// The parts of a program in data-flow order, each with the index of its region: a region without the filters
/// that run on their own.
pub(crate) fn parts(compiled: &Compiled) -> Vec<(usize, Region)> {
    let regions = compiled.schedule.regions.iter().enumerate();
    let parts = regions.map(|(home, region)| (home, stretch(region, &|node| !flows(compiled, node))));
    parts.filter(|(_, part)| !part.nodes.is_empty()).collect()
}

/// Whether a node runs on its own, from queue to queue: a filter that decides in each firing how many items
/// it move, or a filter that is a region by itself.
pub(crate) fn flows(compiled: &Compiled, node: NodeId) -> bool {
    let Some(id) = compiled.flat.filter(node) else { return false };
    let filter = &compiled.tree.filters[id.0 as usize];
    let written = matches!(filter.code, Code::Written { .. });
    let regions = &compiled.schedule.regions;
    decides(filter)
        || written
            && filter.prework.is_none()
            && regions.len() > 1
            && regions.iter().any(|region| region.nodes == [node])
}

/// The subgraph of a region that has the nodes inside, with their schedule.
pub(crate) fn stretch(region: &Region, inside: &dyn Fn(NodeId) -> bool) -> Region {
    let nodes = region.nodes.iter().zip(&region.repetitions).filter(|(node, _)| inside(**node));
    let (nodes, repetitions) = nodes.map(|(node, repetitions)| (*node, *repetitions)).unzip();
    Region { nodes, repetitions, init: phases(&region.init, inside), steady: phases(&region.steady, inside) }
}

/// By region: whether it is one filter that runs on its own and either never waits, or has firings that can
/// be rolled back where they would wait.
pub(crate) fn direct(compiled: &Compiled, codes: &[Option<NodeCode>], waits: &[Option<usize>]) -> Vec<bool> {
    // With messages, firings must be told apart and cannot be rolled back.
    let plain = !has_messages(&compiled.tree);
    let regions = compiled.schedule.regions.iter().map(|region| {
        let [node] = region.nodes[..] else { return false };
        let Some(codes) = codes[node.0 as usize].as_ref().filter(|codes| codes.prework.is_none()) else {
            return false;
        };
        plain && waits[node.0 as usize].is_some_and(|stack| stack == 0 || may_try(&codes.work))
    });
    regions.collect()
}

/// The channels on which a part receives items: the items of a steady state, and those that must be there
/// besides.
pub(crate) fn entries(facts: &Facts<'_>) -> Vec<(ChannelId, u64, u64)> {
    let flat = &facts.compiled.flat;
    let mut inputs = Vec::new();
    for (at, channel) in flat.channels().iter().enumerate() {
        if facts.has(channel.from().0) || !facts.has(channel.to().0) {
            continue;
        }
        let id = ChannelId(at as u32);
        let (now, next) = (held(facts, id, 0), held(facts, id, 1));
        if next.0 > now.0 {
            inputs.push((id, (next.0 - now.0) as u64, (now.1 - now.0) as u64));
        }
    }
    inputs
}

fn phases(phases: &[Phase], inside: &dyn Fn(NodeId) -> bool) -> Vec<Phase> {
    let kept = phases.iter().filter_map(|phase| match phase {
        Phase::Fire(node, count) => inside(*node).then_some(Phase::Fire(*node, *count)),
        Phase::Repeat(times, inner) => {
            let inner = self::phases(inner, inside);
            (!inner.is_empty()).then_some(Phase::Repeat(*times, inner))
        }
    });
    kept.collect()
}
