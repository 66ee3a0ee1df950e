//! Task graphs with locality, on the threads of the engine.
//!
//! The paper is chapter 5 of *Locality-Aware Concurrency Platforms* (NabbitC).
pub use counts::{Counts, MemberCounts};
pub use demand::{Context, Finished, OnDemand, TaskGraph};
pub use error::{During, Error};
pub use fixed::StaticGraph;
pub use options::Options;
pub use thalweg_policy::tasks::{Colour, SearchSettings};

mod counts;
mod demand;
mod entry;
mod error;
mod exec;
mod fixed;
mod options;
mod sync;
mod team;
