//! The assumptions of the thesis (section 1.1.2 and the bounds of chapter 2), and where they do not hold.

use super::{Mapping, Pipeline};
use thalweg_analysis::components;
use thalweg_graph::{Footprint, GraphData, Rate};

impl Mapping {
    /// The assumptions of predictions and bounds that do not hold for this mapping of a graph, and what follows: a sentence each. Those
    /// that depend on the algorithm are among the mapper's own [notes](Mapping::notes).
    ///
    /// | assumption | where it does not hold |
    /// |---|---|
    /// | the graph is a pipeline | it has splits and joins, or loops |
    /// | rates are static | gains are those of the profile |
    /// | messages have one size | loads count bytes |
    /// | state is known | it is at least what is known |
    /// | a module fits into a cache, and a segment too | its state is loaded again |
    /// | workers share no cache | what those of a shared cache have does not fit into it |
    /// | the cost of a miss is measured | it is that of the thesis |
    /// | a module is in one cache at a time | it has copies, or workers help each other |
    pub fn assumptions(&self, graph: &GraphData, pipeline: &Pipeline) -> Vec<String> {
        let all = [
            shape(graph, pipeline),
            rates(graph, pipeline),
            messages(graph, pipeline),
            states(graph, pipeline),
            self.fitting(pipeline),
            self.outer_caches(pipeline),
            cost_of_misses(pipeline),
            self.one_cache(),
        ];
        all.into_iter().flatten().collect()
    }

    fn fitting(&self, pipeline: &Pipeline) -> Option<String> {
        let cache = pipeline.target().cache();
        let stages = pipeline.stages().iter().filter(|stage| stage.state() > cache).count();
        let fits = |stages: &std::ops::Range<usize>| pipeline.piece(stages.clone()).fits();
        let segments = self.segments().iter().filter(|segment| !fits(segment.stages())).count();
        (stages + segments > 0).then(|| {
            format!(
                "{segments} of {} segments, and {stages} stages alone, need more than the cache ({cache} bytes): firings load state again",
                self.segments().len()
            )
        })
    }

    fn one_cache(&self) -> Option<String> {
        let copies = self.copies().len();
        match (copies, self.helps()) {
            (0, false) => None,
            (_, true) => Some("workers help each other, so a node may move between caches".to_owned()),
            (_, false) => Some(format!(
                "{copies} stages have copies: each of their workers has the state in its own cache"
            )),
        }
    }
}

fn cost_of_misses(pipeline: &Pipeline) -> Option<String> {
    (!pipeline.target().is_miss_known()).then(|| {
        format!(
            "no cost of a miss was measured: it counts {} ns, as in the thesis (`thalweg machine --measure` measures `cost \
             miss-in-order` of a machine's description)",
            pipeline.target().miss()
        )
    })
}

/// Whether the graph is a chain of nodes.
fn shape(graph: &GraphData, pipeline: &Pipeline) -> Option<String> {
    let loops = components(graph).iter().filter(|members| members.len() > 1).count();
    let branches = |stage: &usize| pipeline.into(*stage).count() > 1 || pipeline.out_of(*stage).count() > 1;
    let branches = (0..pipeline.stages().len()).filter(branches).count();
    (loops + branches > 0).then(|| {
        format!(
            "the graph is no pipeline ({loops} loops, {branches} stages with several inputs or outputs): it is cut in the order of the data, \
             for which the bounds are not proved"
        )
    })
}

fn rates(graph: &GraphData, pipeline: &Pipeline) -> Option<String> {
    let is_dynamic = |edge: &&super::Edge| {
        let (from, to) = (graph.channel(edge.channel()).from(), graph.channel(edge.channel()).to());
        let (push, pop) =
            (graph.node(from.0).outputs()[from.1].push(), graph.node(to.0).inputs()[to.1].pop());
        [push, pop].contains(&Rate::Dynamic)
    };
    let dynamic = pipeline.edges().iter().filter(is_dynamic).count();
    (dynamic > 0).then(|| {
        format!(
            "{dynamic} of {} channels have dynamic rates: gains are means of the profile",
            pipeline.edges().len()
        )
    })
}

fn messages(graph: &GraphData, pipeline: &Pipeline) -> Option<String> {
    let bytes = |edge: &super::Edge| graph.channel(edge.channel()).item().bytes();
    let (least, most) =
        (pipeline.edges().iter().map(bytes).min()?, pipeline.edges().iter().map(bytes).max()?);
    (least < most).then(|| {
        format!(
            "items have {least} to {most} bytes, without the memory that they own: loads count bytes, and the buffers of the rule `gain` \
             count bytes of the source's items"
        )
    })
}

fn states(graph: &GraphData, pipeline: &Pipeline) -> Option<String> {
    let nodes = pipeline.stages().iter().flat_map(|stage| stage.nodes());
    let unknown = nodes.filter(|node| matches!(graph.footprint(**node), Footprint::AtLeast(_))).count();
    (unknown > 0).then(|| {
        format!("{unknown} nodes may have more state than is known of: declare it with `state_bytes`")
    })
}
