//! Segmentations whose greatest load is least: a search over the load, and for each load a dynamic program (section 4.2.2).
//!
//! The program finds for each stage the fewest workers, in order, that can run all stages before it, each with at most that load, and
//! of several ways with so few the one whose last worker has least. A load with misses is not monotone: one stage more may take away a
//! thick channel. So every piece is tried, up to the one whose work alone exceeds the load.
//!
//! In the place of a worker may be a [`Group`] of several, which will divide its segment among them: the bound holds for one
//! worker's part of the load, if they share it evenly. More workers than the segment has stages do not help.

use super::{Copies, Edge, Piece, Pipeline, Segment, Stage};
use std::ops::Range;

/// What segments may be.
#[derive(Clone, Copy)]
pub(super) struct Rules {
    /// A segment's state fits into the cache, unless it is one stage.
    pub(super) fits: bool,
    /// A worker may have several segments.
    pub(super) several: bool,
}

/// Consecutive workers that take a segment together.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Group {
    /// The workers, at least one.
    pub(super) workers: Range<usize>,
    /// The maximum number of bytes of a segment's state, unless it is one stage.
    pub(super) room: u64,
}

impl Group {
    /// The workers of a pipeline, each by itself.
    fn of_one(pipeline: &Pipeline, fits: bool) -> Vec<Group> {
        let room = if fits { pipeline.target().cache() } else { u64::MAX };
        (0..pipeline.workers()).map(|worker| Group { workers: worker..worker + 1, room }).collect()
    }

    /// The load of each worker, if they share this load of some stages.
    fn each(&self, load: f64, stages: usize) -> f64 {
        load / self.workers.len().min(stages) as f64
    }

    /// Whether a piece has room.
    fn holds(&self, piece: &Piece<'_>) -> bool {
        piece.state() <= self.room || piece.stages().len() == 1
    }
}

/// The maximum number of stages for which the program is run: it takes time in proportion to their square. Longer pipelines are
/// [coarsened](coarse) first.
const MOST_STAGES: usize = 1000;

/// What `map` finds for the pipeline, or for a coarser one if it is long: `fits` if segments must fit into the cache.
pub(super) fn coarsened(
    pipeline: &Pipeline,
    fits: bool,
    map: impl Fn(&Pipeline) -> (Vec<Segment>, Vec<Copies>),
) -> (Vec<Segment>, Vec<Copies>) {
    if pipeline.stages().len() <= MOST_STAGES {
        return map(pipeline);
    }
    let (coarse, groups) = coarse(pipeline, fits);
    let (mut segments, mut copies) = map(&coarse);
    for Segment { stages, .. } in &mut segments {
        *stages = groups[stages.start].start..groups[stages.end - 1].end;
    }
    // A stage that has copies is a group by itself.
    copies.iter_mut().for_each(|copies| copies.stage = groups[copies.stage].start);
    (segments, copies)
}

/// The segmentation whose greatest load of a worker is least. For pipelines of at most [`MOST_STAGES`] stages.
pub(super) fn least(pipeline: &Pipeline, rules: Rules) -> Vec<Segment> {
    // A segment that fits need not exist for each worker, but one for each stage does.
    least_of(pipeline, &Group::of_one(pipeline, rules.fits), rules.several).unwrap_or_default()
}

/// The segmentation for groups of workers whose greatest load of a worker is least; the worker of a segment is the index of its group.
/// A group may have `several` segments if it is one worker. `None` if the groups have no room for all stages.
pub(super) fn least_of(pipeline: &Pipeline, groups: &[Group], several: bool) -> Option<Vec<Segment>> {
    let greatest = pipeline.stages().iter().map(|stage| stage.work()).fold(0.0, f64::max);
    let workers: usize = groups.iter().map(|group| group.workers.len()).sum();
    let low = greatest.max(pipeline.work() / workers as f64);
    let of_one = |stage| pipeline.piece(stage..stage + 1).load();
    // Every stage by itself on one worker, or all in one segment of it.
    let high = (0..pipeline.stages().len()).map(of_one).sum::<f64>();
    bisect(low, high.max(low), |most| {
        let segments = cover(pipeline, groups, several, most)?;
        Some((greatest_of(pipeline, groups, &segments), segments))
    })
}

/// The minimum load for which `find` finds something, by halving the range; `find` also returns the load of what it has found.
/// The range ends when it is a billionth of the load.
pub(super) fn bisect<T>(mut low: f64, high: f64, find: impl Fn(f64) -> Option<(f64, T)>) -> Option<T> {
    if let Some((_, found)) = find(low) {
        return Some(found);
    }
    let (mut high, mut best) = find(high)?;
    while high - low > high * 1e-9 {
        let middle = low + (high - low) / 2.0;
        match find(middle) {
            Some((load, found)) => (high, best) = (load.min(middle), found),
            None => low = middle,
        }
    }
    Some(best)
}

/// The greatest sum of the loads of a worker's segments.
pub(super) fn greatest_load(pipeline: &Pipeline, segments: &[Segment]) -> f64 {
    greatest_of(pipeline, &Group::of_one(pipeline, false), segments)
}

/// The greatest load of a worker, if groups share the loads of their segments.
fn greatest_of(pipeline: &Pipeline, groups: &[Group], segments: &[Segment]) -> f64 {
    let mut loads = vec![0.0; groups.len()];
    for segment in segments {
        let load = pipeline.piece(segment.stages().clone()).load();
        loads[segment.worker()] += groups[segment.worker()].each(load, segment.stages().len());
    }
    loads.into_iter().fold(0.0, f64::max)
}

/// A way to cover the stages before some stage.
#[derive(Clone, Copy)]
struct Way {
    /// The groups up to the last that has a segment.
    groups: usize,
    /// The load of the last.
    load: f64,
    /// Where its last segment begins.
    from: usize,
}

/// Sums of the same works in other orders differ by less than this part of the greatest load.
pub(super) const ROUNDING: f64 = 1e-6;

/// Segments that cover all stages with at most `most` load on each worker, if there are any.
///
/// Of two ways the one that ends in an earlier group is as good as the other whatever follows: every group that is free for the other
/// is free for it. So a piece goes to the first group that can take it. A way ends where the work
/// behind it is more than the groups behind it may have.
fn cover(pipeline: &Pipeline, groups: &[Group], several: bool, most: f64) -> Option<Vec<Segment>> {
    let count = pipeline.stages().len();
    let largest = groups.iter().map(|group| group.workers.len()).max()?;
    let mut ways: Vec<Option<Way>> = vec![None; count + 1];
    ways[0] = Some(Way { groups: 0, load: f64::INFINITY, from: 0 });
    let mut left = pipeline.work();
    for from in 0..count {
        let rest = left;
        left -= pipeline.stages()[from].work();
        let Some(way) = ways[from] else { continue };
        let free: usize = groups[way.groups..].iter().map(|group| group.workers.len()).sum();
        let joined = if several { (most - way.load).max(0.0) } else { 0.0 };
        if rest > (free as f64 + ROUNDING) * most + joined {
            continue;
        }
        let mut piece = Piece::empty(pipeline, from);
        while piece.stages().end < count {
            piece.grow();
            let Range { start, end } = piece.stages();
            if piece.work() > most * largest as f64 || !groups.iter().any(|group| group.holds(&piece)) {
                break;
            }
            let load = piece.load();
            let takes = |group: &Group| group.each(load, end - start) <= most && group.holds(&piece);
            let (taken, load) = if several && way.load + load <= most {
                (way.groups, way.load + load)
            } else if let Some(skipped) = groups[way.groups..].iter().position(takes) {
                (way.groups + skipped + 1, load)
            } else {
                continue;
            };
            let better = |old: Way| taken < old.groups || taken == old.groups && load < old.load;
            if ways[end].is_none_or(better) {
                ways[end] = Some(Way { groups: taken, load, from });
            }
        }
    }
    let (mut end, mut segments) = (count, Vec::new());
    while end > 0 {
        let way = ways[end]?;
        segments.push(Segment::new(way.from..end, way.groups - 1));
        end = way.from;
    }
    segments.reverse();
    Some(segments)
}

/// A pipeline of at most about [`MOST_STAGES`] stages, and the stages of which each consists. Neighbours are joined up to twice
/// the mean work of such a stage and, if segments must fit, a sixth of the cache; a stage ends at the thinnest cut of its second
/// half. Optima of the coarse pipeline are those of the other within the work of two such stages for each worker, a few
/// thousandths.
fn coarse(pipeline: &Pipeline, fits: bool) -> (Pipeline, Vec<Range<usize>>) {
    let count = pipeline.stages().len();
    let each = (pipeline.work() / MOST_STAGES as f64 * 2.0).max(f64::MIN_POSITIVE);
    let stages_each = count.div_ceil(MOST_STAGES) * 2;
    let cuts = pipeline.cuts();
    let (mut groups, mut from) = (Vec::new(), 0);
    while from < count {
        let mut piece = Piece::empty(pipeline, from);
        piece.grow();
        while piece.stages().end < count && piece.stages().len() < stages_each {
            let mut larger = piece.clone();
            larger.grow();
            if larger.work() > each || fits && larger.state() > pipeline.target().cache() / 6 {
                break;
            }
            piece = larger;
        }
        let end = piece.stages().end;
        let middle = from + (end - from) / 2 + 1;
        let thinnest = (middle..=end.min(count - 1)).min_by(|a, b| cuts[*a].total_cmp(&cuts[*b]));
        let end = if end == count { end } else { thinnest.unwrap_or(end) };
        groups.push(from..end);
        from = end;
    }
    let mut group_of = vec![0; count];
    groups.iter().enumerate().for_each(|(i, group): (usize, &Range<usize>)| group_of[group.clone()].fill(i));
    let stages = groups.iter().map(|group| joined(pipeline, group.clone())).collect();
    let edge = |edge: &Edge| {
        let (from, to) = (group_of[edge.from()], group_of[edge.to()]);
        (from != to).then(|| Edge { from, to, ..edge.clone() })
    };
    let edges = pipeline.edges().iter().filter_map(edge).collect();
    (Pipeline::of(stages, edges, pipeline.workers(), pipeline.target()), groups)
}

/// One stage of several.
fn joined(pipeline: &Pipeline, stages: Range<usize>) -> Stage {
    let piece = pipeline.piece(stages.clone());
    let all = &pipeline.stages()[stages];
    Stage {
        nodes: Vec::new(),
        work: piece.work(),
        state: piece.state(),
        firings: all.iter().map(|stage| stage.firings()).sum(),
        copies: if let [only] = all { only.copies() } else { 1 },
    }
}

#[cfg(test)]
mod tests {
    use super::super::samples::{chain, segmentations};
    use super::super::{Pipeline, Target};
    use super::*;
    use proptest::prelude::*;

    /// The minimum of the greatest load, by trying every segmentation, and if a worker may have several segments, every way to deal
    /// them to workers in order.
    fn by_trial(pipeline: &Pipeline, rules: Rules) -> f64 {
        let count = pipeline.stages().len();
        let parts = if rules.several { count } else { pipeline.workers() };
        let mut least = f64::INFINITY;
        for mut cuts in segmentations(count, parts) {
            cuts.push(count);
            let mut from = 0;
            let pieces: Vec<_> =
                cuts.iter().map(|end| pipeline.piece(std::mem::replace(&mut from, *end)..*end)).collect();
            let fits = |piece: &Piece<'_>| !rules.fits || piece.fits() || piece.stages().len() == 1;
            if !pieces.iter().all(fits) {
                continue;
            }
            let loads: Vec<f64> = pieces.iter().map(|piece| piece.load()).collect();
            let workers = if rules.several { pipeline.workers() } else { loads.len() };
            for mut deal in segmentations(loads.len(), workers) {
                deal.push(loads.len());
                let mut from = 0;
                let sums = deal
                    .iter()
                    .map(|end| loads[std::mem::replace(&mut from, *end)..*end].iter().sum::<f64>());
                let is_one_each = rules.several || deal.len() == loads.len();
                let greatest = sums.fold(0.0, f64::max);
                if is_one_each {
                    least = least.min(greatest);
                }
            }
        }
        least
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(100))]
        #[test]
        fn the_greatest_load_is_the_least_that_there_is(
            stages in proptest::collection::vec((0u32..20, 0u64..60), 1..9),
            bytes in proptest::collection::vec(0u32..40, 8),
            workers in 1usize..5,
            fits: bool,
            several: bool,
        ) {
            let stages: Vec<_> = stages.into_iter().map(|(work, state)| (work, state, 1)).collect();
            let target = Target::default().with_cache(100).with_miss(64.0);
            let pipeline = chain(&stages, &bytes[..stages.len() - 1], workers, &target);
            // A segment for each worker need not exist if segments must fit.
            let rules = Rules { fits, several: several || fits };
            let segments = least(&pipeline, rules);
            let found = greatest_load(&pipeline, &segments);
            let expected = by_trial(&pipeline, rules);
            prop_assert!((found - expected).abs() <= 1e-6 * expected, "{} {}", found, expected);
        }
    }

    /// Minimum, over all divisions of the stages from `from` on among groups in order, of the greatest load of a worker. Groups may stay
    /// empty. Infinite if no division has room.
    fn of_groups_by_trial(pipeline: &Pipeline, groups: &[Group], from: usize) -> f64 {
        let count = pipeline.stages().len();
        let Some((group, others)) = groups.split_first() else {
            return if from == count { 0.0 } else { f64::INFINITY };
        };
        let load = |end: usize| {
            let piece = pipeline.piece(from..end);
            let own = match end - from {
                0 => 0.0,
                _ if !group.holds(&piece) => f64::INFINITY,
                stages => piece.load() / group.workers.len().min(stages) as f64,
            };
            own.max(of_groups_by_trial(pipeline, others, end))
        };
        (from..=count).map(load).fold(f64::INFINITY, f64::min)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(200))]
        /// A stage is not shared, so no division has less than the work of the greatest.
        #[test]
        fn the_greatest_load_of_groups_is_the_least_that_there_is(
            stages in proptest::collection::vec((0u32..20, 0u64..60), 1..9),
            bytes in proptest::collection::vec(0u32..40, 8),
            groups in proptest::collection::vec((1usize..4, prop_oneof![40u64..200, Just(u64::MAX)]), 1..5),
        ) {
            let stages: Vec<_> = stages.into_iter().map(|(work, state)| (work, state, 1)).collect();
            let mut workers = 0;
            let group = |(more, room)| {
                workers += more;
                Group { workers: workers - more..workers, room }
            };
            let groups: Vec<Group> = groups.into_iter().map(group).collect();
            let pipeline = chain(&stages, &bytes[..stages.len() - 1], workers, &Target::default().with_miss(64.0));
            let found = least_of(&pipeline, &groups, false);
            let found = found.map_or(f64::INFINITY, |segments| greatest_of(&pipeline, &groups, &segments));
            let greatest = stages.iter().map(|stage| f64::from(stage.0)).fold(0.0, f64::max);
            let (found, expected) = (found.max(greatest), of_groups_by_trial(&pipeline, &groups, 0).max(greatest));
            prop_assert!(found == expected || (found - expected).abs() <= 1e-6 * expected, "{} {}", found, expected);
        }
    }

    #[test]
    fn a_long_pipeline_is_coarsened_near_the_optimum() {
        let target = Target::default().with_miss(64.0);
        let stages: Vec<_> = (0..3000u32).map(|i| (i * 7919 % 50 + 1, u64::from(i * 31 % 4000), 1)).collect();
        let bytes: Vec<u32> = (1..3000u32).map(|i| i * 104_729 % 30).collect();
        for workers in [2, 7] {
            let long = chain(&stages, &bytes, workers, &target);
            let rules = Rules { fits: false, several: false };
            let (segments, _) = coarsened(&long, false, |pipeline| (least(pipeline, rules), Vec::new()));
            let (found, best) = (greatest_load(&long, &segments), greatest_load(&long, &least(&long, rules)));
            assert!(found <= best * 1.01, "{workers} workers: {found}, {best}");
            assert_eq!(segments.iter().map(|segment| segment.stages().len()).sum::<usize>(), 3000);
        }
    }
}
