//! Segments for workers in groups: cores that share a cache, or the memory of a domain.
//!
//! Beyond the thesis, whose workers are equally far from each other. The levels are divided from the farthest to the nearest: first the
//! pipeline among the groups of a level, in proportion to their workers, where a byte between groups costs what such a miss costs; then
//! each part among the workers of its group. There the misses at the ends of the part are work of its first and last stages, wherever it
//! is cut. Each division is the best of its level; all together need not be.

use super::search::{Group, Rules, least, least_of};
use super::{Edge, Pipeline, Segment, Stage};
use std::ops::Range;

/// A level of the machine, as far as a mapper needs it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Level {
    /// The groups, in the order of their workers.
    pub(super) groups: Vec<Group>,
    /// A miss of what another group has written, in times of one within a group.
    pub(super) factor: f64,
}

/// What a miss of what `from` has written takes for `to`, in times of one within all groups. Levels are the farthest first.
pub(super) fn factor(levels: &[Level], from: usize, to: usize) -> f64 {
    let has_both = |group: &Group| group.workers.contains(&from) && group.workers.contains(&to);
    let apart = levels.iter().find(|level| !level.groups.iter().any(has_both));
    apart.map_or(1.0, |level| level.factor)
}

/// The segments of a pipeline whose workers are in groups by these levels, the farthest first.
pub(super) fn divided(pipeline: &Pipeline, rules: Rules, levels: &[Level]) -> Vec<Segment> {
    of_group(pipeline, 0..pipeline.stages().len(), rules, (levels, 0..pipeline.workers()))
}

/// The segments of `stages` of a pipeline, which is that of these workers.
fn of_group(
    pipeline: &Pipeline,
    stages: Range<usize>,
    rules: Rules,
    (levels, workers): (&[Level], Range<usize>),
) -> Vec<Segment> {
    let Some((level, nearer)) = levels.split_first() else {
        let moved = |segment: Segment| {
            let of = segment.stages();
            Segment::new(of.start + stages.start..of.end + stages.start, segment.worker() + workers.start)
        };
        return least(pipeline, rules).into_iter().map(moved).collect();
    };
    let is_inside = |group: &&Group| group.workers.start >= workers.start && group.workers.end <= workers.end;
    let groups: Vec<Group> = level.groups.iter().filter(is_inside).cloned().collect();
    if groups.len() < 2 {
        return of_group(pipeline, stages, rules, (nearer, workers));
    }
    let far = pipeline.target().clone().with_far_misses(level.factor);
    let parts = among(&pipeline.for_target(&far), &groups, rules);
    let segments = parts.into_iter().flat_map(|part| {
        let (group, of) = (groups[part.worker()].workers.clone(), part.stages().clone());
        let inner = cut_out(pipeline, of.clone(), group.len(), far.miss_per_byte());
        of_group(&inner, of.start + stages.start..of.end + stages.start, rules, (nearer, group))
    });
    segments.collect()
}

/// A part for each group. If segments must fit into a cache, and there are parts that fit into the caches that the workers of their
/// groups share, the parts are such.
fn among(pipeline: &Pipeline, groups: &[Group], rules: Rules) -> Vec<Segment> {
    let fitting = || least_of(pipeline, groups, false);
    let any = || {
        let groups: Vec<Group> =
            groups.iter().map(|group| Group { room: u64::MAX, ..group.clone() }).collect();
        least_of(pipeline, &groups, false)
    };
    rules.fits.then(fitting).flatten().or_else(any).unwrap_or_default()
}

/// Some stages as a pipeline of their own, for as many workers. What crosses its ends becomes work, at `miss` nanoseconds a byte.
fn cut_out(pipeline: &Pipeline, range: Range<usize>, workers: usize, miss: f64) -> Pipeline {
    let is_outside = |other: usize| !range.contains(&other);
    let stage = |at: usize| {
        let into = pipeline.into(at).filter(|edge| is_outside(edge.from()));
        let crossing = into.chain(pipeline.out_of(at).filter(|edge| is_outside(edge.to())));
        let bytes: f64 = crossing.map(|edge| edge.bytes()).sum();
        let stage = pipeline.stages()[at].clone();
        Stage { work: stage.work() + bytes * miss, ..stage }
    };
    let stages = range.clone().map(stage).collect();
    let inside = pipeline.edges().iter().filter(|edge| !is_outside(edge.from()) && !is_outside(edge.to()));
    let moved =
        |edge: &Edge| Edge { from: edge.from() - range.start, to: edge.to() - range.start, ..edge.clone() };
    Pipeline::of(stages, inside.map(moved).collect(), workers, pipeline.target())
}

#[cfg(test)]
mod tests {
    use super::super::samples::chain;
    use super::super::{Target, named};
    use proptest::prelude::*;
    use thalweg_machine::Machine;

    /// Two domains of two cores, the second 6 times as far as the first is from itself.
    fn target() -> Target {
        let text = "thalweg-machine 1\ndomains 2\ncores 2\ncache 2 size 1 MiB per core\ndistance 60\n";
        Target::of(&Machine::read(text).unwrap()).with_miss(64.0)
    }

    /// Six equal stages: two workers have two each. The thinnest edge, behind the second stage, is cut between the domains.
    #[test]
    fn the_thinnest_edge_is_between_the_domains() {
        let pipeline = chain(&[(10, 0, 1); 6], &[4, 1, 4, 4, 4], 4, &target());
        let mapping = named("seg-both").unwrap().map(&pipeline);
        let ends: Vec<_> =
            mapping.segments().iter().map(|segment| (segment.stages().end, segment.worker())).collect();
        assert!(ends.iter().any(|(end, worker)| (*end, *worker) == (2, 1)), "{ends:?}");
        // As many bytes cost more where they cross between the domains.
        let near = chain(&[(10, 0, 1); 6], &[4, 1, 4, 4, 4], 4, &Target::default().with_miss(64.0));
        assert!(mapping.loads(&pipeline).time() > mapping.loads(&near).time());
    }

    /// Of three workers two are in the first domain, and get two thirds of the work.
    #[test]
    fn groups_have_loads_in_proportion_to_their_workers() {
        let pipeline = chain(&[(10, 0, 1); 6], &[1; 5], 3, &target());
        let mapping = named("seg-both").unwrap().map(&pipeline);
        let stages: Vec<_> = mapping.segments().iter().map(|segment| segment.stages().clone()).collect();
        assert_eq!(stages, [0..2, 2..4, 4..6]);
        // A stage is not divided, however many workers its group has.
        let pipeline = chain(&[(30, 0, 1), (10, 0, 1), (10, 0, 1)], &[0; 2], 3, &target());
        assert_eq!(named("seg-both").unwrap().map(&pipeline).loads(&pipeline).time(), 30.0);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(100))]
        /// Each stage is in one segment, segments and workers are in order, and without traffic the load is at most that of the greedy
        /// division, two stages more than an equal share.
        #[test]
        fn stages_are_divided_in_order(
            works in proptest::collection::vec(1u32..50, 1..30),
            bytes in proptest::collection::vec(0u32..4, 29),
            has_traffic: bool,
            workers in 1usize..7,
        ) {
            let stages: Vec<_> = works.iter().map(|work| (*work, 0, 1)).collect();
            let bytes: Vec<u32> = bytes.iter().map(|bytes| bytes * u32::from(has_traffic)).collect();
            let pipeline = chain(&stages, &bytes[..stages.len() - 1], workers, &target());
            for name in ["seg-both", "seg-both-fit"] {
                let mapping = named(name).unwrap().map(&pipeline);
                let mut next = 0;
                for segment in mapping.segments() {
                    prop_assert_eq!(segment.stages().start, next);
                    next = segment.stages().end;
                }
                prop_assert_eq!(next, stages.len());
                prop_assert!(mapping.segments().is_sorted_by_key(|segment| segment.worker()));
                let most = works.iter().max().copied().map_or(0.0, f64::from);
                let share = f64::from(works.iter().sum::<u32>()) / workers as f64;
                let time = mapping.loads(&pipeline).time();
                prop_assert!(has_traffic || time <= share + 2.0 * most, "{name}: {time} {share}");
            }
        }
    }
}
