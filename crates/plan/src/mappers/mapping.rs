//! What a mapper decides.

use super::Buffers;
use super::target::runs;
use std::ops::Range;
use thalweg_graph::data;

data! {
    /// Consecutive stages that one worker runs.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct Segment {
        /// The stages, by index.
        view stages: Range<usize> => &Range<usize>;
        /// The worker.
        copy worker: usize;
    }
}

impl Segment {
    /// These stages, on this worker.
    pub fn new(stages: Range<usize>, worker: usize) -> Segment {
        Segment { stages, worker }
    }

    /// A segment for each run of equal workers.
    pub(super) fn runs(workers: &[usize]) -> Vec<Segment> {
        let segment = |stages: Range<usize>| Segment { worker: workers[stages.start], stages };
        runs(workers).into_iter().map(segment).collect()
    }
}

data! {
    /// A stage whose firings several workers share. It is in no segment.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct Copies {
        /// The stage, by index.
        copy stage: usize;
        /// The workers, and the relative part of the items that each takes, at least 1. They take their parts in turn, in this
        /// order, so each gets stretches of consecutive items.
        view workers: Vec<(usize, u32)> => &[(usize, u32)];
    }
}

impl Copies {
    /// This stage, on these workers.
    pub fn new(stage: usize, workers: Vec<(usize, u32)>) -> Copies {
        Copies { stage, workers }
    }
}

data! {
    /// The decisions of a mapper.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Mapping {
        /// The segments, in the order of the data. A worker may have several.
        view segments: Vec<Segment> => &[Segment];
        /// The replicated stages, in the order of the data.
        view copies: Vec<Copies> => &[Copies];
        /// The rule for buffers inside a segment.
        copy inside: Buffers;
        /// The rule for buffers between segments, which the user's replaces.
        copy between: Buffers;
        /// Whether a worker with no segment that is ready runs nodes of others.
        copy helps: bool;
        /// Assumptions of the mapper that do not hold here, and what follows: a sentence each.
        view notes: Vec<String> => &[String];
    }
}

impl Mapping {
    /// These segments, without replicated stages.
    pub fn new(segments: Vec<Segment>, inside: Buffers, between: Buffers) -> Mapping {
        Mapping { segments, copies: Vec::new(), inside, between, helps: false, notes: Vec::new() }
    }

    /// With these replicated stages.
    pub fn with_copies(self, copies: Vec<Copies>) -> Mapping {
        Mapping { copies, ..self }
    }

    /// With workers that help others.
    pub fn with_help(self) -> Mapping {
        Mapping { helps: true, ..self }
    }

    /// The name of the policy that carries the mapping out.
    pub fn policy(&self) -> &'static str {
        if self.helps { "static:spare=help" } else { "static" }
    }

    /// With a sentence about an assumption that does not hold.
    pub fn with_note(mut self, note: impl Into<String>) -> Mapping {
        self.notes.push(note.into());
        self
    }
}
