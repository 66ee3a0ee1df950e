//! Segments whose first and last stage may be replicated: `seg-runtime-replicated` and `seg-both-replicated` (section 4.2.2), which count
//! misses as 0 or as they are.
//!
//! A worker gets a *group*: a part of a replicated stage, whole stages behind it, and a part of the stage behind these. Parts are
//! shares of the firings, so they need not be equal. For a given load the program finds, for each place in the pipeline, the
//! fewest workers that can do everything before it, and of those the way that leaves least of the stage in progress. The least
//! load that suffices is found by bisection. A stage in the middle of a group is never replicated: if it were the bottleneck, the
//! group would have been cut there.
//!
//! Stages are replicated only as needed: if the mapping without replicas has no greater load, it is taken, and of the stages that
//! were replicated each is made whole again if the load stays.

use super::search::{ROUNDING, Rules, bisect, coarsened, greatest_load, least};
use super::{Buffers, Copies, Mapping, Piece, Pipeline, Segment};
use std::ops::Range;

/// `seg-runtime-replicated`: by work alone.
pub(super) fn by_work(pipeline: &Pipeline) -> Mapping {
    let target = pipeline.target().clone().with_miss(0.0);
    map(&pipeline.for_target(&target), Buffers::Hundred)
}

/// `seg-both-replicated`: by work and misses.
pub(super) fn by_both(pipeline: &Pipeline) -> Mapping {
    map(pipeline, Buffers::Cache)
}

fn map(pipeline: &Pipeline, between: Buffers) -> Mapping {
    let (segments, copies) = coarsened(pipeline, false, replicated);
    Mapping::new(segments, Buffers::Least, between).with_copies(copies)
}

fn replicated(pipeline: &Pipeline) -> (Vec<Segment>, Vec<Copies>) {
    let whole = least(pipeline, Rules { fits: false, several: false });
    let without = greatest_load(pipeline, &whole);
    let mut search =
        Search { pipeline, copies: pipeline.stages().iter().map(|stage| stage.copies()).collect() };
    let low = pipeline.work() / pipeline.workers() as f64;
    let found = bisect(low, without, |most| search.cover(most).map(|groups| (most, groups)));
    let Some(groups) = found else { return (whole, Vec::new()) };
    let load = groups.iter().map(|group| group.load).fold(0.0, f64::max);
    if without <= load * (1.0 + SAME) {
        return (whole, Vec::new());
    }
    let most = load * (1.0 + SAME);
    let mut groups = search.cover(most).unwrap_or(groups);
    let shared: Vec<usize> = groups.iter().filter_map(|group| group.last.map(|(stage, _)| stage)).collect();
    for stage in shared {
        let allowed = std::mem::replace(&mut search.copies[stage], 1);
        match search.cover(most) {
            Some(found) => groups = found,
            None => search.copies[stage] = allowed,
        }
    }
    placed(&groups)
}

/// The relative difference up to which two loads are the same.
const SAME: f64 = 1e-6;
/// The minimum part of a stage's firings for a worker.
const LEAST_PART: f64 = 1e-3;
/// The parts of which shares are multiples.
const PARTS: f64 = 1000.0;

/// What one worker gets.
#[derive(Clone, Debug)]
struct Group {
    /// The stage before the others, and the part of it.
    first: Option<(usize, f64)>,
    /// Whole stages.
    stages: Range<usize>,
    /// The stage behind the others, and the part of it.
    last: Option<(usize, f64)>,
    load: f64,
}

/// A way to do everything before some place in the pipeline.
#[derive(Clone, Debug)]
struct Way {
    workers: usize,
    /// What its last worker does of the stage in progress; 0 at a boundary.
    done: f64,
    /// The place before, the way there, and the groups between.
    before: (usize, usize),
    groups: Vec<Group>,
}

/// The ways to a place of which none has both fewer workers and more done than another. Fewer workers are not better in
/// themselves inside a stage: they have used up one of its copies for less of it.
type Ways = Vec<Way>;

/// Adds a way, and removes those that it makes useless.
fn add(ways: &mut Ways, way: Way) {
    let is_as_good = |a: &Way, b: &Way| a.workers <= b.workers && a.done >= b.done;
    if !ways.iter().any(|old| is_as_good(old, &way)) {
        ways.retain(|old| !is_as_good(&way, old));
        ways.push(way);
    }
}

/// Where a search continues: a place and a way there, with its workers and what is done of the stage in progress.
#[derive(Clone, Copy)]
struct From {
    place: (usize, usize),
    workers: usize,
    done: f64,
}

struct Search<'p> {
    pipeline: &'p Pipeline,
    /// The maximum number of workers that may share each stage.
    copies: Vec<usize>,
}

impl Search<'_> {
    /// The groups of the workers, in order, each with at most this load; `None` if there are too few workers.
    ///
    /// Place `2 i` is the boundary before stage `i`, and place `2 i + 1` is inside of it.
    fn cover(&self, most: f64) -> Option<Vec<Group>> {
        let count = self.pipeline.stages().len();
        let mut ways: Vec<Ways> = vec![Vec::new(); 2 * count + 1];
        ways[0].push(Way { workers: 0, done: 0.0, before: (0, 0), groups: Vec::new() });
        let mut left = self.pipeline.work();
        for place in 0..2 * count {
            let work = self.pipeline.stages()[place / 2].work();
            for i in 0..ways[place].len() {
                let Way { workers, done, .. } = ways[place][i];
                if left - done * work > ((self.pipeline.workers() - workers) as f64 + ROUNDING) * most {
                    continue;
                }
                let from = From { place: (place, i), workers, done };
                if place % 2 == 0 {
                    self.groups(&mut ways, from, None, &[], most);
                } else {
                    self.finish(&mut ways, from, most);
                }
            }
            if place % 2 == 1 {
                left -= work;
            }
        }
        let (mut place, mut groups) = ((2 * count, 0), Vec::new());
        while place.0 > 0 {
            let way = ways[place.0].get(place.1)?;
            groups.extend(way.groups.iter().rev().cloned());
            place = way.before;
        }
        groups.reverse();
        Some(groups)
    }

    /// Continues from inside a stage: further workers take as much of it as they can, then one takes the rest, and more.
    fn finish(&self, ways: &mut [Ways], from: From, most: f64) {
        let stage = from.place.0 / 2;
        let alone = self.part(stage, None);
        let each = if alone > 0.0 { most / alone } else { 1.0 };
        let (mut done, mut extra) = (from.done, Vec::new());
        let copies = self.copies[stage].min(self.pipeline.workers());
        while 1 + extra.len() < copies {
            self.groups(ways, from, Some((stage, 1.0 - done)), &extra, most);
            if each < LEAST_PART || done + each >= 1.0 - LEAST_PART {
                break;
            }
            done += each;
            extra.push(Group {
                first: Some((stage, each)),
                stages: stage..stage,
                last: None,
                load: each * alone,
            });
        }
    }

    /// Tries every group of a further worker that begins with the rest of a stage, or at a boundary, behind the `extra` ones.
    fn groups(&self, ways: &mut [Ways], from: From, first: Option<(usize, f64)>, extra: &[Group], most: f64) {
        let count = self.pipeline.stages().len();
        let start = first.map_or(from.place.0 / 2, |(stage, _)| stage + 1);
        let workers = from.workers + extra.len() + 1;
        if workers > self.pipeline.workers() {
            return;
        }
        let mut piece = Piece::empty(self.pipeline, start);
        loop {
            let stages = piece.stages();
            let rest = first.map_or(0.0, |(stage, part)| part * self.part(stage, Some(&stages)));
            let load = piece.load() + rest;
            let next = stages.end;
            let mut reach = |place: usize, done, last, load| {
                let group = Group { first, stages: stages.clone(), last, load };
                let groups = extra.iter().cloned().chain([group]).collect();
                add(&mut ways[place], Way { workers, done, before: from.place, groups });
            };
            if load <= most && (first.is_some() || !stages.is_empty()) {
                reach(2 * next, 0.0, None, load);
            }
            if next == count || piece.work() > most {
                return;
            }
            let each = self.part(next, Some(&stages));
            let part = if each > 0.0 { (most - load) / each } else { 0.0 };
            if self.copies[next] > 1 && (LEAST_PART..=1.0 - LEAST_PART).contains(&part) {
                reach(2 * next + 1, part, Some((next, part)), load + part * each);
            }
            piece.grow();
        }
    }

    /// The load of all of a stage, beside these stages: what goes between them does not miss, and is subtracted from theirs.
    fn part(&self, stage: usize, beside: Option<&Range<usize>>) -> f64 {
        let is_beside = |other: usize| beside.is_some_and(|stages| stages.contains(&other));
        let bytes = |bytes: f64, other: usize| if is_beside(other) { -bytes } else { bytes };
        let inward: f64 = self.pipeline.into(stage).map(|edge| bytes(edge.bytes(), edge.from())).sum();
        let outward: f64 = self.pipeline.out_of(stage).map(|edge| bytes(edge.bytes(), edge.to())).sum();
        self.pipeline.stages()[stage].work() + (inward + outward) * self.pipeline.target().miss_per_byte()
    }
}

/// Segments and copies of the groups: group `i` is of worker `i`.
fn placed(groups: &[Group]) -> (Vec<Segment>, Vec<Copies>) {
    let (mut segments, mut parts) = (Vec::new(), Vec::<(usize, usize, f64)>::new());
    for (worker, group) in groups.iter().enumerate() {
        parts.extend(group.first.map(|(stage, part)| (stage, worker, part)));
        if !group.stages.is_empty() {
            segments.push(Segment::new(group.stages.clone(), worker));
        }
        parts.extend(group.last.map(|(stage, part)| (stage, worker, part)));
    }
    let copies = parts.chunk_by(|a, b| a.0 == b.0).map(|parts| {
        let share = |part: f64| (part * PARTS).round().max(1.0) as u32;
        Copies::new(parts[0].0, parts.iter().map(|(_, worker, part)| (*worker, share(*part))).collect())
    });
    let copies = copies.collect::<Vec<Copies>>();
    (segments, copies)
}

#[cfg(test)]
mod tests {
    use super::super::samples::chain;
    use super::super::{Target, named, seg_both, seg_runtime};
    use super::*;
    use proptest::prelude::*;

    fn target() -> Target {
        Target::default().with_miss(64.0)
    }

    fn pieces(mapping: &Mapping) -> Vec<Range<usize>> {
        mapping.segments().iter().map(|segment| segment.stages().clone()).collect()
    }

    /// Figure 4.1, of which the text has the shape: six modules on four workers, C is the bottleneck, and most crosses between A and B,
    /// the second edge if the input is the first. By work A, B and C are on workers of their own, and the others on the fourth; with
    /// misses the thick edge is not cut; with replicas two workers have half of C each, which is 6.
    #[test]
    fn the_bottleneck_is_replicated_and_the_thick_edge_is_not_cut() {
        let stages = [(2, 0, 1), (4, 0, 1), (12, 0, 2), (2, 0, 1), (2, 0, 1), (1, 0, 1)];
        let pipeline = chain(&stages, &[10, 1, 1, 1, 1], 4, &target());
        let runtime = seg_runtime::map(&pipeline);
        assert_eq!(pieces(&runtime), [0..1, 1..2, 2..3, 3..6]);
        let both = seg_both::map(&pipeline);
        assert_eq!(pieces(&both), [0..2, 2..3, 3..6]);
        let mapping = by_both(&pipeline);
        assert_eq!(mapping.segments(), [Segment::new(0..2, 0), Segment::new(3..6, 3)]);
        assert_eq!(mapping.copies(), [Copies::new(2, vec![(1, 500), (2, 500)])]);
        let loads = mapping.loads(&pipeline);
        assert_eq!(
            loads.of_workers().iter().map(|load| load.work()).collect::<Vec<_>>(),
            [6.0, 6.0, 6.0, 5.0]
        );
        let times = [runtime, both, mapping].map(|mapping| mapping.loads(&pipeline).time());
        assert_eq!(times, [15.0, 14.0, 7.0]);
    }

    /// The mapping of LZ77 in Figure 4.10c: every worker has a copy of the compressor, the first also the reader and the last the
    /// writer, with smaller shares.
    #[test]
    fn reader_and_writer_share_workers_with_copies_of_the_compressor() {
        let pipeline = chain(&[(2, 0, 1), (100, 0, usize::MAX), (4, 0, 1)], &[0, 0], 8, &target());
        let mapping = by_work(&pipeline);
        assert_eq!(pieces(&mapping), [0..1, 2..3]);
        let [copies] = mapping.copies() else { panic!("{mapping:?}") };
        let shares: Vec<u32> = copies.workers().iter().map(|(_, share)| *share).collect();
        assert_eq!(shares, [113, 133, 133, 133, 133, 133, 133, 92]);
        let time = mapping.loads(&pipeline).time();
        assert!((time - 106.0 / 8.0).abs() < 0.1, "{time}");
    }

    #[test]
    fn stages_are_not_replicated_without_need() {
        let stages = [(5, 0, usize::MAX); 4];
        let mapping = by_work(&chain(&stages, &[1; 3], 2, &target()));
        assert_eq!((mapping.segments().len(), mapping.copies().len()), (2, 0));
        // A worker more than stages: one stage must be shared for a smaller load.
        let mapping = by_work(&chain(&stages, &[1; 3], 5, &target()));
        assert!(!mapping.copies().is_empty());
        let free = target().with_miss(0.0);
        assert!(mapping.loads(&chain(&stages, &[1; 3], 5, &free)).time() < 4.1);
    }

    /// The parts in which [`Shares`] divides a stage.
    const TWELFTHS: usize = 12;
    /// The maximum number of stages of [`Shares`].
    const STAGES: usize = 5;

    /// A pipeline whose workers have consecutive parts of it, which begin and end between stages or at a twelfth of one that may be
    /// shared. Places count twelfths.
    struct Shares<'p> {
        /// Work and copies.
        stages: &'p [(u32, u64, usize)],
        bytes: &'p [u32],
        miss: f64,
    }

    impl Shares<'_> {
        /// The load of a worker with these parts of the stages. Of what a whole stage passes to a part beside it, the worker keeps that
        /// part; of two parts none is known to follow the other.
        fn load(&self, parts: &[f64]) -> f64 {
            let work = self.stages.iter().zip(parts).map(|(stage, part)| f64::from(stage.0) * part);
            let crossing = self.bytes.iter().zip(parts.windows(2)).map(|(bytes, part)| {
                let has_whole = part[0] == 1.0 || part[1] == 1.0;
                let kept = if has_whole { 2.0 * part[0] * part[1] } else { 0.0 };
                f64::from(*bytes) * (part[0] + part[1] - kept)
            });
            work.sum::<f64>() + crossing.sum::<f64>() * self.miss
        }

        /// What is between two places of each stage.
        fn parts(&self, from: usize, to: usize) -> [f64; STAGES] {
            std::array::from_fn(|stage| {
                let at = |place: usize| place.clamp(stage * TWELFTHS, (stage + 1) * TWELFTHS);
                (at(to) - at(from)) as f64 / TWELFTHS as f64
            })
        }

        /// Minimum of the greatest load of `workers` workers from a place on, or `best` if that is smaller. `used` workers have had parts
        /// of the stage in progress.
        fn least(&self, from: usize, used: usize, workers: usize, mut best: f64) -> f64 {
            let all = self.stages.len() * TWELFTHS;
            if from == all {
                return 0.0;
            }
            let left =
                self.stages.iter().zip(self.parts(from, all)).map(|(stage, part)| f64::from(stage.0) * part);
            if left.sum::<f64>() >= best * workers as f64 {
                return best;
            }
            let (first, begins_inside) = (from / TWELFTHS, !from.is_multiple_of(TWELFTHS));
            let used = if begins_inside { used + 1 } else { 1 };
            if workers == 0 || begins_inside && used > self.stages[first].2 {
                return best;
            }
            for to in from + 1..=all {
                let (last, ends_inside) = (to / TWELFTHS, !to.is_multiple_of(TWELFTHS));
                if ends_inside && self.stages[last].2 == 1 {
                    continue;
                }
                let load = self.load(&self.parts(from, to)[..self.stages.len()]);
                if load < best {
                    let used = if last == first { used } else { 1 };
                    best = load.max(self.least(to, used, workers - 1, best)).min(best);
                }
            }
            best
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(200))]
        /// Section 4.2.2 promises the least load of all groups whose first and last stage may be replicated. Nothing in twelfths is
        /// below ours but for the thousandths in which shares are given.
        #[test]
        fn no_groups_in_twelfths_have_a_smaller_load(
            stages in proptest::collection::vec((1u32..50, 1usize..5), 1..=STAGES),
            bytes in proptest::collection::vec(0u32..40, STAGES),
            workers in 1usize..5,
            miss: bool,
        ) {
            let stages: Vec<_> = stages.into_iter().map(|(work, copies)| (work, 0, copies)).collect();
            let target = target().with_miss(if miss { 64.0 } else { 0.0 });
            let pipeline = chain(&stages, &bytes[..stages.len() - 1], workers, &target);
            let name = if miss { "seg-both-replicated" } else { "seg-runtime-replicated" };
            let mapping = named(name).unwrap().map(&pipeline);
            let shares = Shares { stages: &stages, bytes: &bytes[..stages.len() - 1], miss: f64::from(u8::from(miss)) };
            // Ours by the same definition.
            let mut parts = vec![vec![0.0; stages.len()]; workers];
            for segment in mapping.segments() {
                parts[segment.worker()][segment.stages().clone()].fill(1.0);
            }
            for copies in mapping.copies() {
                let all: u32 = copies.workers().iter().map(|(_, share)| share).sum();
                for (worker, share) in copies.workers() {
                    parts[*worker][copies.stage()] = f64::from(*share) / f64::from(all);
                }
            }
            let ours = parts.iter().map(|parts| shares.load(parts)).fold(0.0, f64::max);
            let time = mapping.loads(&pipeline).time();
            prop_assert!((time - ours).abs() <= 1e-9 * ours, "{time} {ours}");
            let least = shares.least(0, 0, workers, f64::INFINITY);
            prop_assert!(ours <= least * 1.01, "{name}: {ours}, in twelfths {least}, {mapping:?}");
        }

        /// Whatever the workers share, and in whatever order, the greatest work is at least an equal share, that of a stage that may not
        /// be shared, and that of a shared stage over its copies. The greatest of these is at least half of ours: workers that each take at
        /// least as much, and stop at the next stage or at twice as much, suffice.
        #[test]
        fn loads_are_between_the_bounds(
            stages in proptest::collection::vec((1u32..50, 1usize..5), 1..9),
            bytes in proptest::collection::vec(0u32..40, 8),
            workers in 1usize..7,
        ) {
            let stages: Vec<_> = stages.into_iter().map(|(work, copies)| (work, 0, copies)).collect();
            let free = target().with_miss(0.0);
            let pipeline = chain(&stages, &bytes[..stages.len() - 1], workers, &target());
            let each = stages.iter().map(|(work, _, copies)| f64::from(*work) / (*copies).min(workers) as f64);
            let least = each.fold(pipeline.work() / workers as f64, f64::max);
            let work = |mapping: &Mapping| mapping.loads(&pipeline.for_target(&free)).time();
            let mappings = [by_work(&pipeline), by_both(&pipeline)];
            for mapping in &mappings {
                prop_assert!(work(mapping) >= least * (1.0 - 1e-9), "{} {least}", work(mapping));
            }
            prop_assert!(work(&mappings[0]) <= 2.0 * least, "{} {least}", work(&mappings[0]));
            // Replicas make it no worse, but for the thousandths in which shares are given.
            prop_assert!(work(&mappings[0]) <= work(&seg_runtime::map(&pipeline)) * 1.01);
            let time = |mapping: &Mapping| mapping.loads(&pipeline).time();
            prop_assert!(time(&mappings[1]) <= time(&seg_both::map(&pipeline)) * 1.01);
        }
    }
}
