//! The parts of a program: stretches of its graph that are run as one, with queues between them.

use crate::lower::decides;
use crate::plan::Plan;
use thalweg_lang::Compiled;
use thalweg_lang::flat::{NodeId, NodeKind};
use thalweg_lang::schedule::{Phase, Region};

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
/// of it without the filters whose firings decide how many items they move.
pub(crate) fn parts(compiled: &Compiled) -> Vec<(usize, Region)> {
    let regions = compiled.schedule.regions.iter().enumerate();
    let parts = regions.map(|(home, region)| (home, stretch(region, &|node| !flows(compiled, node))));
    parts.filter(|(_, part)| !part.nodes.is_empty()).collect()
}

/// Whether a node's firings decide how many items they move.
pub(crate) fn flows(compiled: &Compiled, node: NodeId) -> bool {
    match compiled.flat.node(node).kind {
        NodeKind::Filter(id) => decides(&compiled.tree.filters[id.0 as usize]),
        NodeKind::Split(_) | NodeKind::Join(_) => false,
    }
}

/// A stretch of a region: the nodes that pass, and when they fire.
pub(crate) fn stretch(region: &Region, inside: &dyn Fn(NodeId) -> bool) -> Region {
    let nodes = region.nodes.iter().zip(&region.repetitions).filter(|(node, _)| inside(**node));
    let (nodes, repetitions) = nodes.map(|(node, repetitions)| (*node, *repetitions)).unzip();
    Region { nodes, repetitions, init: phases(&region.init, inside), steady: phases(&region.steady, inside) }
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
