//! The parts of a program: stretches of its graph that are run as one, with queues between them.

use crate::plan::Plan;
use thalweg_lang::Compiled;
use thalweg_lang::schedule::{Phase, Region};

/// A part.
pub(crate) struct Part {
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

/// The parts of a program, in data-flow order.
pub(crate) fn parts(compiled: &Compiled) -> Vec<Region> {
    compiled.schedule.regions.clone()
}

/// A stretch of a region: the nodes that pass, and when they fire.
#[allow(dead_code)]
pub(crate) fn stretch(region: &Region, inside: &dyn Fn(thalweg_lang::flat::NodeId) -> bool) -> Region {
    let nodes = region.nodes.iter().zip(&region.repetitions).filter(|(node, _)| inside(**node));
    let (nodes, repetitions) = nodes.map(|(node, repetitions)| (*node, *repetitions)).unzip();
    Region { nodes, repetitions, init: phases(&region.init, inside), steady: phases(&region.steady, inside) }
}

fn phases(phases: &[Phase], inside: &dyn Fn(thalweg_lang::flat::NodeId) -> bool) -> Vec<Phase> {
    let kept = phases.iter().filter_map(|phase| match phase {
        Phase::Fire(node, count) => inside(*node).then_some(Phase::Fire(*node, *count)),
        Phase::Repeat(times, inner) => {
            let inner = self::phases(inner, inside);
            (!inner.is_empty()).then_some(Phase::Repeat(*times, inner))
        }
    });
    kept.collect()
}
