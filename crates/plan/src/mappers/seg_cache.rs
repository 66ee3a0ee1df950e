//! Segments that fit into a cache, cut where the least crosses (section 2.2.3).
//!
//! The stages are first divided into *temporary* segments: each ends when its state exceeds M/3, and so holds at most M/2 if no
//! stage is above M/6. Of each but the last the thinnest inner edge is cut. A final segment spans at most two temporary ones, and
//! so holds at most M. Its load is what crosses its two ends; in order, a worker gets segments until its load exceeds L/P.
//!
//! State includes the buffers inside a segment, so what counts for a stage is its state and the buffers before it. A stage above
//! M/6 is a segment by itself: for the stages beside it the bound holds again, for the stage itself it is lost (errata F4). Between
//! such stages the algorithm is run on its own. A temporary segment of one stage has no inner edge, and cuts none.

use super::{Buffers, Mapping, Pipeline, Segment};
use std::ops::Range;

pub(super) fn map(pipeline: &Pipeline) -> Mapping {
    let (pieces, large) = segments(pipeline);
    let segments = balanced(pipeline, pieces);
    let mapping = Mapping::new(segments, Buffers::TwoLcm, Buffers::Gain);
    match large {
        0 => mapping,
        _ => mapping.with_note(format!(
            "{large} of {} stages need more than a sixth of the cache ({} bytes): each is a segment by itself, and the bound on \
             misses does not hold for it",
            pipeline.stages().len(),
            pipeline.target().cache() / 6
        )),
    }
}

/// The final segments, and the number of stages above M/6.
fn segments(pipeline: &Pipeline) -> (Vec<Range<usize>>, usize) {
    let (cache, count) = (pipeline.target().cache(), pipeline.stages().len());
    let is_large = |stage: &usize| own_state(pipeline, *stage) > cache / 6;
    let cuts = pipeline.cuts();
    let (mut ends, mut from, mut large) = (Vec::new(), 0, 0);
    for stage in (0..count).filter(is_large) {
        ends.extend(cross_edges(pipeline, &cuts, from..stage));
        ends.extend([stage, stage + 1]);
        (from, large) = (stage + 1, large + 1);
    }
    ends.extend(cross_edges(pipeline, &cuts, from..count));
    ends.push(count);
    let mut from = 0;
    let pieces = ends.into_iter().map(|end| std::mem::replace(&mut from, end)..end);
    (pieces.filter(|piece| !piece.is_empty()).collect(), large)
}

/// A stage's state, and the buffers before it.
fn own_state(pipeline: &Pipeline, stage: usize) -> u64 {
    let buffers = pipeline.into(stage).map(|edge| edge.buffer());
    buffers.fold(pipeline.stages()[stage].state(), u64::saturating_add)
}

/// The stages before which some stages are cut: that with the thinnest cut in each temporary segment but the last.
///
/// The buffers before the first stage of a temporary segment count too: a final segment may join it to the one before.
fn cross_edges(pipeline: &Pipeline, cuts: &[f64], stages: Range<usize>) -> Vec<usize> {
    let (mut chosen, mut start, mut state) = (Vec::new(), stages.start, 0_u64);
    for end in stages.start + 1..stages.end {
        state = state.saturating_add(own_state(pipeline, end - 1));
        if state > pipeline.target().cache() / 3 {
            chosen.extend((start + 1..end).min_by(|a, b| cuts[*a].total_cmp(&cuts[*b])));
            (start, state) = (end, 0);
        }
    }
    chosen
}

/// The workers of segments: in order, the next worker when the traffic of one exceeds its share.
fn balanced(pipeline: &Pipeline, pieces: Vec<Range<usize>>) -> Vec<Segment> {
    let loads: Vec<f64> = pieces.iter().map(|piece| pipeline.piece(piece.clone()).traffic()).collect();
    let workers = super::seg_runtime_greedy::in_turn(&loads, pipeline.workers());
    pieces.into_iter().zip(workers).map(|(piece, worker)| Segment::new(piece, worker)).collect()
}

#[cfg(test)]
mod tests {
    use super::super::samples::{chain, with_buffers};
    use super::super::seg_runtime_greedy::in_turn;
    use super::super::{Target, named};
    use super::*;
    use proptest::prelude::*;

    fn segments_of(mapping: &Mapping) -> Vec<(Range<usize>, usize)> {
        mapping.segments().iter().map(|segment| (segment.stages().clone(), segment.worker())).collect()
    }

    /// Each temporary segment but the last is cut at its thinnest edge. Of four final segments the text of Figure 2.1 has one on the first
    /// of two workers: loads with the source's input and the sink's output give that. Without these ends, as Theorem 2.2.6 needs it
    /// (errata F2), the first segment never has more than half of the load.
    #[test]
    fn cuts_the_thinnest_edge_of_each_temporary_segment() {
        let target = Target::default().with_cache(60);
        // Temporary segments: 0..3 (21 > 20), 3..6 (29), 6..9 (22), 9..11 (the last).
        let stages = [8, 7, 6, 10, 10, 9, 7, 7, 8, 4, 5].map(|state| (1, state, 1));
        let pipeline = chain(&stages, &[5, 3, 1, 2, 4, 1, 6, 1, 1, 1], 2, &target);
        let mapping = map(&pipeline);
        assert_eq!(segments_of(&mapping), [(0..2, 0), (2..4, 0), (4..8, 1), (8..11, 1)]);
        assert!(mapping.notes().is_empty());
        let loads =
            mapping.segments().iter().map(|segment| pipeline.piece(segment.stages().clone()).traffic());
        let mut loads: Vec<f64> = loads.collect();
        assert_eq!(loads, [3.0, 5.0, 3.0, 1.0]);
        (loads[0], loads[3]) = (loads[0] + 10.0, loads[3] + 1.0);
        assert_eq!(in_turn(&loads, 2), [0, 1, 1, 1]);
    }

    #[test]
    fn a_large_stage_is_a_segment_and_is_reported() {
        let target = Target::default().with_cache(60);
        let pipeline = chain(&[(1, 5, 1), (1, 30, 1), (1, 5, 1)], &[1, 1], 1, &target);
        let mapping = map(&pipeline);
        assert_eq!(mapping.segments().len(), 3);
        assert!(
            mapping.notes()[0].starts_with("1 of 3 stages need more than a sixth of the cache (10 bytes)")
        );
    }

    /// The third stage ends a temporary segment; the buffer before the fourth is inside the final segment that joins both.
    #[test]
    fn buffers_between_temporary_segments_count() {
        let target = Target::default().with_cache(120);
        let stages = [1, 19, 20, 20, 2, 18, 20, 20].map(|state| (1, state, 1));
        let pipeline = chain(&stages, &[1, 9, 9, 9, 9, 9, 9], 1, &target);
        let pipeline = with_buffers(pipeline, &[0, 0, 0, 18, 0, 0, 0]);
        let mapping = map(&pipeline);
        assert!(mapping.notes().is_empty());
        for segment in mapping.segments() {
            assert!(pipeline.piece(segment.stages().clone()).fits(), "{segment:?}");
        }
    }

    proptest! {
        /// Section 2.2.3 and Theorem 2.2.6 as corrected (errata F2): without the outer ends,
        /// (1/P) sum gain(c) + max gain(c) >= max procLoad / 2.
        #[test]
        fn segments_fit_and_loads_are_bounded(
            stages in proptest::collection::vec((1u64..=20, 0u64..20), 1..60),
            bytes in proptest::collection::vec(1u32..1000, 59),
            workers in 1usize..9,
        ) {
            let target = Target::default().with_cache(120);
            // A stage has at most a sixth of the cache with the buffer before it.
            let buffers: Vec<u64> = stages.iter().map(|(state, buffer)| (*buffer).min(20 - state)).collect();
            let stages: Vec<_> = stages.into_iter().map(|(state, _)| (1, state, 1)).collect();
            let pipeline = chain(&stages, &bytes[..stages.len() - 1], workers, &target);
            let pipeline = with_buffers(pipeline, &buffers[1..]);
            let mapping = named("seg-cache").unwrap().map(&pipeline);
            let mut loads = vec![0.0; workers];
            for segment in mapping.segments() {
                let piece = pipeline.piece(segment.stages().clone());
                prop_assert!(piece.fits());
                loads[segment.worker()] += piece.traffic();
            }
            let cuts = mapping.segments().iter().skip(1).map(|segment| pipeline.cut(segment.stages().start));
            let (sum, greatest) = cuts.fold((0.0, 0.0_f64), |(sum, greatest), cut| (sum + cut, greatest.max(cut)));
            let load = loads.into_iter().fold(0.0, f64::max);
            prop_assert!(sum / workers as f64 + greatest >= load / 2.0, "{sum} {greatest} {load}");
        }
    }
}
