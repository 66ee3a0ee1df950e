//! Rules for the sizes of buffers.

use super::Pipeline;
use super::pipeline::two_lcm;
use crate::passes::capacities::min_capacity;
use thalweg_graph::{ChannelId, GraphData};

/// A rule for the capacity of a channel. Every capacity is at least what a single firing needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Buffers {
    /// What a single firing needs, and twice that where firings at both ends overlap.
    Least,
    /// Twice the least common multiple of what firings at both ends move (section 3.1).
    TwoLcm,
    /// 100 times what a firing moves (section 4.2.2, `seg-runtime`).
    Hundred,
    /// What M/2 bytes of the source's items become there: M/2 times the gain (section 3.1, `seg-cache`).
    Gain,
    /// M bytes (section 4.2.2, `seg-both`).
    Cache,
    /// The capacity that the plan has: room for claims of many firings. Where firings are short, the small buffers of the other
    /// rules cost more than the misses that they avoid: see DES in docs/results/mapping.md, whose firings take some 10 ns.
    Kept,
}

impl Buffers {
    /// The rule of this name, as the command's options have it: `least`, `2lcm`, `100`, `gain`, `cache` or `kept`.
    pub fn named(name: &str) -> Option<Buffers> {
        Some(match name {
            "least" => Buffers::Least,
            "2lcm" => Buffers::TwoLcm,
            "100" => Buffers::Hundred,
            "gain" => Buffers::Gain,
            "cache" => Buffers::Cache,
            "kept" => Buffers::Kept,
            _ => return None,
        })
    }

    /// The capacity of a channel of the pipeline's graph, in items; `None` for that of the plan.
    pub(super) fn capacity(
        self,
        graph: &GraphData,
        pipeline: &Pipeline,
        id: ChannelId,
        carried: f64,
    ) -> Option<usize> {
        let channel = graph.channel(id);
        let least = min_capacity(graph, channel);
        let (item, cache) = (channel.item().bytes().max(1) as u64, pipeline.target().cache());
        let items = match self {
            Buffers::Least => (least as u64).saturating_mul(2),
            Buffers::TwoLcm => two_lcm(graph, channel),
            Buffers::Hundred => (least as u64).saturating_mul(100),
            Buffers::Gain => {
                (cache as f64 / 2.0 / source_item(graph, pipeline) * carried / pipeline.items()) as u64
            }
            Buffers::Cache => cache / item,
            Buffers::Kept => return None,
        };
        Some(usize::try_from(items).unwrap_or(usize::MAX).max(least))
    }
}

/// The bytes of an item of the source: of the first stage's output.
fn source_item(graph: &GraphData, pipeline: &Pipeline) -> f64 {
    let first = pipeline.edges().iter().find(|edge| pipeline.into(edge.from()).next().is_none());
    first.map_or(1.0, |edge| graph.channel(edge.channel()).item().bytes().max(1) as f64)
}
