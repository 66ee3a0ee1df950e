//! Pipelines for tests.

use super::{Edge, Pipeline, Stage, Target};
use thalweg_graph::ChannelId;

/// A pipeline of stages of (work, state, copies), with this many bytes on the edge behind each but the last, for one item of the
/// source.
pub(super) fn chain(
    stages: &[(u32, u64, usize)],
    bytes: &[u32],
    workers: usize,
    target: &Target,
) -> Pipeline {
    let stage = |(work, state, copies): &(u32, u64, usize)| Stage {
        nodes: Vec::new(),
        work: f64::from(*work),
        state: *state,
        firings: 1.0,
        copies: *copies,
    };
    let edge = |(i, bytes): (usize, &u32)| Edge {
        channel: ChannelId(i as u32),
        from: i,
        to: i + 1,
        items: if i == 0 { 1.0 } else { f64::from(*bytes) },
        bytes: f64::from(*bytes),
        buffer: 0,
    };
    let edges = bytes.iter().enumerate().map(edge).collect();
    Pipeline::of(stages.iter().map(stage).collect(), edges, workers, target)
}

/// The pipeline with a buffer of this many bytes on each edge.
pub(super) fn with_buffers(pipeline: Pipeline, buffers: &[u64]) -> Pipeline {
    let edges = pipeline.edges().iter().zip(buffers);
    let edges = edges.map(|(edge, buffer)| Edge { buffer: *buffer, ..edge.clone() }).collect();
    Pipeline::of(pipeline.stages().to_vec(), edges, pipeline.workers(), pipeline.target())
}

/// Every segmentation into at most as many pieces as `parts`, by the stages before which it is cut.
pub(super) fn segmentations(stages: usize, parts: usize) -> Vec<Vec<usize>> {
    let masks = 0..1_u32 << (stages - 1);
    let cuts = |mask: u32| (1..stages).filter(|at| mask >> (at - 1) & 1 == 1).collect::<Vec<_>>();
    masks.map(cuts).filter(|cuts| cuts.len() < parts).collect()
}
