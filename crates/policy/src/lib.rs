//! Which node a worker activates next: pure decision code, one file per policy.
//!
//! A policy decides and never acts. It has no threads, clocks, atomics or unsafe code: all it
//! knows of the world comes through a [`Host`], and all it does is answer with a [`Decision`].
//! The engine is one host; a virtual-time host runs the very same policy in tests.
//!
//! A worker asks [`Policy::next`] at the start, after each activation (with the [`Event`] that
//! ended it) and before it parks. A policy may answer with any node; where another worker holds
//! it, the activation ends at once with [`Event::Refused`] and the policy is asked again.
//!
//! | file | policy | fair |
//! |---|---|---|
//! | [`random_stealing`] | DANBI's baseline: tokens, stolen blindly | yes |
//! | [`qes`] | queue events choose the producer or the consumer (section III-A2) | no |
//! | [`pss`] | and fill levels, by chance, before a queue is empty or full (III-A3) | no |
//! | [`prs`] | and chance alone, after long waits (III-A4) | no |
//! | [`work_stealing`] | Nornir's WS-CUR and WS-LAST: told of what is ready, steals the oldest | yes |
//! | [`partition`] | Nornir's graph partitioning: homes by load and traffic, nobody steals | yes |
//! | [`auto`] | ours: data-flow order with hysteresis, the default | yes |
//!
//! *Fair* means that a node which stays claimable is activated within a number of decisions
//! bounded by the size of the graph and the number of workers.
//!
//! Adding a policy is one file and one line in [`registry`].

pub mod auto;
mod host;
mod needs;
pub mod partition;
mod pick;
mod policy;
pub mod prs;
pub mod pss;
pub mod qes;
pub mod random;
pub mod random_stealing;
pub mod record;
pub mod registry;
pub mod work_stealing;

#[cfg(test)]
mod graphs;
#[cfg(test)]
mod mock;

pub use auto::Auto;
pub use host::{End, Host, Measurements, Occupancy, Shared, WorkerId, dealt};
pub use needs::Needs;
pub use partition::Partition;
pub use policy::{Decision, Event, Policy};
pub use prs::Prs;
pub use pss::Pss;
pub use qes::Qes;
pub use random_stealing::RandomStealing;
pub use record::Recorded;
pub use work_stealing::WorkStealing;
