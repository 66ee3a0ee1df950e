//! Segments of balanced work and misses (sections 3.3.6 and 4.2.2).
//!
//! The load of a segment is its work and the time of the misses for what enters and leaves it.

use super::search::{Rules, coarsened, least};
use super::{Buffers, Mapping, Pipeline, Segment};

/// The form of section 3.3.6: segments fit into the cache, and a worker has consecutive ones, so that its load is as small as
/// possible. A stage that does not fit is a segment by itself.
pub(super) fn fit(pipeline: &Pipeline) -> Mapping {
    let segments = of(pipeline, Rules { fits: true, several: true });
    let large = segments.iter().filter(|segment| !pipeline.piece(segment.stages().clone()).fits()).count();
    let mapping = Mapping::new(segments, Buffers::TwoLcm, Buffers::Gain);
    match large {
        0 => mapping,
        _ => mapping.with_note(format!(
            "{large} segments of one stage do not fit into the cache ({} bytes): each firing loads their state again",
            pipeline.target().cache()
        )),
    }
}

/// The form of section 4.2.2: a segment for each worker, whatever its state.
pub(super) fn map(pipeline: &Pipeline) -> Mapping {
    let segments = of(pipeline, Rules { fits: false, several: false });
    Mapping::new(segments, Buffers::Least, Buffers::Cache)
}

fn of(pipeline: &Pipeline, rules: Rules) -> Vec<Segment> {
    coarsened(pipeline, rules.fits, |pipeline| (least(pipeline, rules), Vec::new())).0
}
