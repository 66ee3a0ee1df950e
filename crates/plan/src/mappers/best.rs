//! The mapping with the least traffic among those of nearly the least predicted time, with the capacities of the plan.
//!
//! Predicted times are no better than some percent: firings take as long as they took in another run, in which their data was in
//! other caches. What crosses between workers is counted, so it decides among mappings that are predicted to be equally fast.
//!
//! What remains wrong is mended while the plan runs, and no plan is made anew:
//!
//! | what | adapts by |
//! |---|---|
//! | the workers of a node, and the parts that workers take of a shared stage | help: a worker without a ready segment runs any node that is ready |
//! | capacities | the plan's `slots`, up to which the engine widens channels of items that own memory and those of blocking nodes |

use super::{MAPPERS, Mapper, Mapping, Pipeline};
use crate::mappers::Buffers;

/// The predicted time up to which a mapping is as fast as the fastest, in times of that.
const AS_FAST: f64 = 1.05;

/// A mapping, with what is expected of it.
struct Candidate {
    name: &'static str,
    /// The predicted time for an item of the source, in nanoseconds.
    time: f64,
    /// The bytes from and to other workers, for an item of the source.
    traffic: f64,
    mapping: Mapping,
}

/// Of the mappings by those before it in the table that are predicted to be as fast as the fastest, the one with the least traffic.
pub(super) fn map(pipeline: &Pipeline) -> Mapping {
    let others = MAPPERS.iter().filter(|mapper| mapper.name != "best");
    let all: Vec<Candidate> =
        others.map(|mapper| candidate(mapper.name, mapper.map(pipeline), pipeline)).collect();
    let least = all.iter().map(|candidate| candidate.time).fold(f64::INFINITY, f64::min);
    let fast = all.into_iter().filter(|candidate| candidate.time <= least * AS_FAST);
    let order =
        |a: &Candidate, b: &Candidate| a.traffic.total_cmp(&b.traffic).then(a.time.total_cmp(&b.time));
    let Candidate { name, time, mapping, .. } = fast.min_by(order).expect("the table has others");
    let mapping = Mapping { inside: Buffers::Kept, between: Buffers::Kept, ..mapping };
    let note = format!("`best` took the mapping of `{name}`: {time:.1} ns for an item of the source");
    mapping.with_help().with_note(note)
}

fn candidate(name: &'static str, mapping: Mapping, pipeline: &Pipeline) -> Candidate {
    let loads = mapping.loads(pipeline);
    let traffic = loads.of_workers().iter().map(|load| load.traffic()).sum();
    Candidate { name, time: loads.time(), traffic, mapping }
}

#[cfg(test)]
mod tests {
    use super::super::samples::chain;
    use super::super::{Target, named};
    use super::*;

    /// Behind the thick edge the second worker has 2 % more work than behind the thin one.
    #[test]
    fn traffic_decides_among_mappings_that_are_nearly_as_fast() {
        let stages = [(100, 0, 1), (2, 0, 1), (100, 0, 1)];
        let free = Target::default().with_miss(0.0);
        let (mut seen, traffic) = (0, |mapping: &Mapping, pipeline: &Pipeline| {
            mapping.loads(pipeline).of_workers().iter().map(|load| load.traffic()).sum::<f64>()
        });
        for (bytes, work) in [([64, 1], 100), ([1, 64], 100), ([64, 1], 90), ([1, 64], 110)] {
            let mut stages = stages;
            stages[0].0 = work;
            let pipeline = chain(&stages, &bytes, 2, &free);
            let (best, by_work) = (map(&pipeline), named("seg-runtime").unwrap().map(&pipeline));
            assert_eq!(best.policy(), "static:spare=help");
            assert!(best.loads(&pipeline).time() <= by_work.loads(&pipeline).time() * AS_FAST);
            assert!(traffic(&best, &pipeline) <= traffic(&by_work, &pipeline));
            seen += usize::from(best.segments() != by_work.segments());
        }
        assert!(seen > 0);
    }
}
