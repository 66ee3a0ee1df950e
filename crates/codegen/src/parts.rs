//! The parts of a program: stretches of its graph that are run as one, with queues between them.

use crate::emit::program::NodeCode;
use crate::lower::decides;
use crate::plan::Plan;
use thalweg_lang::Compiled;
use thalweg_lang::flat::{NodeId, NodeKind};
use thalweg_lang::schedule::{Phase, Region};
use thalweg_lang::tree::Code;

/// A part.
pub(crate) struct Part {
    /// The region that it is of.
    pub(crate) home: usize,
    /// Its nodes, and when they fire.
    pub(crate) region: Region,
    /// How it is run; none of one whose nodes are run one by one.
    pub(crate) plan: Option<Plan>,
    /// The most steady states in a call.
    pub(crate) scale: u64,
}

impl Part {
    /// How many buffers it has.
    pub(crate) fn roots(&self) -> usize {
        self.plan.as_ref().map_or(0, |plan| plan.roots.len())
    }
}

/// The parts of a program, each with the region it is of, in data-flow order: of each region what is left
/// of it without the filters that are run by themselves.
pub(crate) fn parts(compiled: &Compiled) -> Vec<(usize, Region)> {
    let regions = compiled.schedule.regions.iter().enumerate();
    let parts = regions.map(|(home, region)| (home, stretch(region, &|node| !flows(compiled, node))));
    parts.filter(|(_, part)| !part.nodes.is_empty()).collect()
}

/// Whether a node is run by itself, from queue to queue: a filter whose firings decide how many items they
/// move, and one that is a region alone.
pub(crate) fn flows(compiled: &Compiled, node: NodeId) -> bool {
    let NodeKind::Filter(id) = compiled.flat.node(node).kind else { return false };
    let filter = &compiled.tree.filters[id.0 as usize];
    let written = matches!(filter.code, Code::Written { .. });
    let regions = &compiled.schedule.regions;
    decides(filter)
        || written
            && filter.prework.is_none()
            && regions.len() > 1
            && regions.iter().any(|region| region.nodes == [node])
}

/// A stretch of a region: the nodes that pass, and when they fire.
pub(crate) fn stretch(region: &Region, inside: &dyn Fn(NodeId) -> bool) -> Region {
    let nodes = region.nodes.iter().zip(&region.repetitions).filter(|(node, _)| inside(**node));
    let (nodes, repetitions) = nodes.map(|(node, repetitions)| (*node, *repetitions)).unzip();
    Region { nodes, repetitions, init: phases(&region.init, inside), steady: phases(&region.steady, inside) }
}

/// Filters that are run by themselves, never wait, and are regions alone: runs of those each of which takes
/// from the one before, so that one call does them all.
pub(crate) fn runs(
    compiled: &Compiled,
    codes: &[Option<NodeCode>],
    waits: &[Option<usize>],
) -> Vec<Vec<NodeId>> {
    let (flat, regions) = (&compiled.flat, &compiled.schedule.regions);
    let mut runs: Vec<Vec<NodeId>> = Vec::new();
    let mut last = None;
    for region in regions {
        let [node] = region.nodes[..] else {
            last = None;
            continue;
        };
        let prework = codes[node.0 as usize].as_ref().is_none_or(|codes| codes.prework.is_some());
        if waits[node.0 as usize] != Some(0) || prework {
            last = None;
            continue;
        }
        let before = flat.node(node).inputs.first().map(|input| flat.channel(*input).from);
        match runs.last_mut() {
            Some(run) if before.is_some() && before == last => run.push(node),
            _ => runs.push(vec![node]),
        }
        last = Some(node);
    }
    runs
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
