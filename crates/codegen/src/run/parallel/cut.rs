//! Segments: ranges of consecutive steps that one node of the engine runs.

use std::ops::Range;
use thalweg::embed::plan::Body;

/// Steps that are run together.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Segment {
    pub(super) steps: Range<usize>,
    /// The most batches that run in it at a time. If more than one, it is stateless.
    pub(super) copies: usize,
    /// Buffers that only this segment uses.
    pub(super) own: Vec<usize>,
}

impl Segment {
    /// The segment of a body whose units are steps.
    pub(super) fn new(body: &Body) -> Segment {
        Segment { steps: body.units().clone(), copies: body.copies(), own: Vec::new() }
    }

    /// Whether several batches run in it at a time.
    pub(super) fn is_parallel(&self) -> bool {
        self.copies > 1
    }
}
