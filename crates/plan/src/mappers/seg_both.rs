//! Segments of balanced work and misses: `seg-both-fit` (section 3.3.6) and `seg-both` (section 4.2.2).
//!
//! The load of a segment is its work and the time of the misses for what enters and leaves it. Both are one search, by other rules.

use super::levels::divided;
use super::search::{Rules, coarsened};
use super::{Buffers, Mapping, Pipeline, Segment};

/// `seg-both-fit`: segments fit into the cache, and a worker has consecutive ones, so that its load is as small as
/// possible. A stage that does not fit is a segment by itself.
pub(super) fn fit(pipeline: &Pipeline) -> Mapping {
    Mapping::new(of(pipeline, Rules { fits: true, several: true }), Buffers::TwoLcm, Buffers::Gain)
}

/// `seg-both`: a segment for each worker, whatever its state.
pub(super) fn map(pipeline: &Pipeline) -> Mapping {
    let segments = of(pipeline, Rules { fits: false, several: false });
    Mapping::new(segments, Buffers::Least, Buffers::Cache)
}

fn of(pipeline: &Pipeline, rules: Rules) -> Vec<Segment> {
    let levels = pipeline.target().levels(pipeline.workers());
    coarsened(pipeline, rules.fits, |pipeline| (divided(pipeline, rules, &levels), Vec::new())).0
}
