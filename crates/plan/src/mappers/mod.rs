//! Mappers: which worker runs which nodes, and how much room is between them.
//!
//! A mapper sees a graph as a [`Pipeline`] of stages, with work, state and traffic from a [`Profile`], and returns a
//! [`Mapping`]: *segments* of consecutive stages, the worker of each, the workers that share a replicated stage, and rules for
//! buffers. [`Plan::mapped`] makes a plan of it, which the policy `static` carries out, or what [`Mapping::policy`] says.
//!
//! Source: *Locality-Aware Concurrency Platforms* (J. Maglalang, 2017), chapters 2 to 4.
//!
//! | name | segments and workers | section | file |
//! |---|---|---|---|
//! | `seg-cache` | cut at the thinnest edges so that each segment fits into a cache; balanced traffic | 2.2.3 | `seg_cache.rs` |
//! | `seg-runtime-greedy` | a segment for each worker, by work, greedily | 3.1 | `seg_runtime_greedy.rs` |
//! | `seg-runtime` | a segment for each worker whose greatest work is least | 4.2.2 | `seg_runtime.rs` |
//! | `seg-both-fit` | segments that fit into a cache, several for each worker; the greatest work and misses of a worker is least | 3.3.6 | `seg_both.rs` |
//! | `seg-both` | a segment for each worker; the greatest work and misses is least | 4.2.2 | `seg_both.rs` |
//! | `seg-runtime-replicated`, `seg-both-replicated` | the same, with parallel stages shared among workers where that is needed | 4.2.2 | `replicated.rs` |
//! | `random-assign` | each stage by itself, on any worker | 3.1 | `random_assign.rs` |
//! | `seg-random` | a segment for each worker, cut anywhere | 3.1 | `seg_random.rs` |
//! | `bin-fullest` | a segment of a worker's share of the work for each, the rest to the worker that has least | 3.1 | `bin_fullest.rs` |
//! | `bin-emptiest` | each stage by itself, to the worker that has least | 3.1 | `bin_emptiest.rs` |
//! | `best` | of these, among those of nearly the least predicted load, the one with the least traffic; workers help each other | | `best.rs` |
//!
//! `seg-both` and `seg-both-fit` also regard groups of workers that share a cache or memory, where [`Target::of`] knows of several
//! (`levels.rs`), and `seg-both-fit` whether the caches that workers share hold what these have together (`caches.rs`).
//!
//! A mapper of your own implements [`Mapper`]:
//!
//! ```
//! use thalweg_plan::mappers::{Buffers, Mapper, Mapping, Pipeline, Segment};
//!
//! /// The first half of the stages to worker 0, the others to the last.
//! struct Halves;
//!
//! impl Mapper for Halves {
//!     fn name(&self) -> &str {
//!         "halves"
//!     }
//!     fn map(&self, pipeline: &Pipeline) -> Mapping {
//!         let (half, all) = (pipeline.stages().len() / 2, pipeline.stages().len());
//!         let last = pipeline.workers() - 1;
//!         let segments = [Segment::new(0..half, 0), Segment::new(half..all, last)];
//!         let segments = segments.into_iter().filter(|segment| !segment.stages().is_empty());
//!         Mapping::new(segments.collect(), Buffers::Least, Buffers::Cache)
//!     }
//! }
//! ```

mod apply;
mod assumptions;
mod best;
mod bin_emptiest;
mod bin_fullest;
mod buffers;
mod caches;
mod levels;
mod loads;
mod mapping;
mod pipeline;
mod random;
mod random_assign;
mod replicated;
mod search;
mod seg_both;
mod seg_cache;
mod seg_random;
mod seg_runtime;
mod seg_runtime_greedy;
mod target;
mod trials;

#[cfg(test)]
mod samples;

pub use apply::BadMapping;
pub use buffers::Buffers;
pub use loads::{Load, Loads};
pub use mapping::{Copies, Mapping, Segment};
pub use pipeline::{Edge, Piece, Pipeline, Stage};
pub use target::Target;
pub use trials::Trial;

#[cfg(doc)]
use crate::{Plan, Profile};
use std::fmt;

/// An algorithm that maps a pipeline to workers.
pub trait Mapper {
    /// The name, which the plan records.
    fn name(&self) -> &str;

    /// Maps the pipeline: each stage to one worker, by a segment, or to several, by [`Copies`].
    fn map(&self, pipeline: &Pipeline) -> Mapping;
}

/// A mapper of this crate.
struct Known {
    name: &'static str,
    describe: &'static str,
    map: fn(&Pipeline) -> Mapping,
}

impl Mapper for Known {
    fn name(&self) -> &str {
        self.name
    }

    fn map(&self, pipeline: &Pipeline) -> Mapping {
        if pipeline.stages().is_empty() {
            return Mapping::new(Vec::new(), Buffers::Least, Buffers::Least);
        }
        (self.map)(pipeline)
    }
}

/// The table of mappers, `best` last: it compares those before it.
const MAPPERS: &[Known] = &[
    Known {
        name: "seg-cache",
        describe: "segments that fit into a cache, cut at the thinnest channels",
        map: seg_cache::map,
    },
    Known {
        name: "seg-runtime-greedy",
        describe: "a segment for each worker by work, greedily",
        map: seg_runtime_greedy::map,
    },
    Known {
        name: "seg-runtime",
        describe: "a segment for each worker, the greatest work least",
        map: seg_runtime::map,
    },
    Known {
        name: "seg-both-fit",
        describe: "segments that fit into a cache, the greatest work and misses least",
        map: seg_both::fit,
    },
    Known {
        name: "seg-both",
        describe: "a segment for each worker, the greatest work and misses least",
        map: seg_both::map,
    },
    Known {
        name: "seg-runtime-replicated",
        describe: "seg-runtime, with parallel nodes shared among workers",
        map: replicated::by_work,
    },
    Known {
        name: "seg-both-replicated",
        describe: "seg-both, with parallel nodes shared among workers",
        map: replicated::by_both,
    },
    Known { name: "random-assign", describe: "each node on any worker", map: random_assign::map },
    Known { name: "seg-random", describe: "a segment for each worker, cut anywhere", map: seg_random::map },
    Known {
        name: "bin-fullest",
        describe: "a worker's share of the work for each, the rest to the emptiest",
        map: bin_fullest::map,
    },
    Known {
        name: "bin-emptiest",
        describe: "each node to the worker with the least work",
        map: bin_emptiest::map,
    },
    Known {
        name: "best",
        describe: "the mapping with the least traffic of those with the least predicted load, with help",
        map: best::map,
    },
];

/// The names of all mappers, with a line that describes each.
pub fn names() -> impl Iterator<Item = (&'static str, &'static str)> {
    MAPPERS.iter().map(|mapper| (mapper.name, mapper.describe))
}

/// The mapper of this name.
///
/// # Errors
/// No mapper has the name; the message lists those that there are.
///
/// ```
/// use thalweg_plan::mappers;
///
/// assert_eq!(mappers::named("seg-both")?.name(), "seg-both");
/// assert!(mappers::named("fifo").err().unwrap().to_string().starts_with("unknown mapper `fifo`"));
/// # Ok::<(), mappers::UnknownMapper>(())
/// ```
pub fn named(name: &str) -> Result<&'static dyn Mapper, UnknownMapper> {
    let known = MAPPERS.iter().find(|mapper| mapper.name == name);
    known.map(|mapper| mapper as &dyn Mapper).ok_or_else(|| UnknownMapper(name.to_owned()))
}

/// No mapper has this name.
#[derive(Clone, PartialEq, Eq)]
pub struct UnknownMapper(String);

impl fmt::Display for UnknownMapper {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let known: Vec<&str> = names().map(|(name, _)| name).collect();
        write!(f, "unknown mapper `{}`\nhelp: known mappers are {}", self.0, known.join(", "))
    }
}

thalweg_graph::error_type!(UnknownMapper);
