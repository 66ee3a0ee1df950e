//! Decides how to run a graph: threads, policy, capacities, claims, replicas, segments.
//!
//! [`Plan::new`] makes a [`Plan`] from a graph and a user's [`Wishes`]; [`Plan::with_profile`] also uses what an earlier
//! run has measured. A plan can be printed, edited, read back ([`Plan::read`]) and run again. It holds decisions only.
//! The runtime carries them out.
//!
//! ```
//! use thalweg_graph::{GraphData, InPort, Item, Link, Node, OutPort};
//! use thalweg_plan::{Plan, Wishes};
//!
//! let mut graph = GraphData::new();
//! let numbers = graph.add(Node::sequential("numbers").output(OutPort::new("out", Item::of::<u64>())));
//! let sum = graph.add(Node::sequential("sum").input(InPort::new("in", Item::of::<u64>())));
//! graph.connect((numbers, 0), (sum, 0), Link::default()).unwrap();
//!
//! let plan = Plan::new(&graph, &Wishes::default().threads(2));
//! assert_eq!(plan.capacities(), [2048]);
//!
//! let text = plan.to_string().replace("capacity 2048", "capacity 0");
//! let error = Plan::read(&text, &graph).unwrap_err();
//! assert_eq!(error.line(), 11);
//! assert!(error.what().starts_with("channel `numbers.out -> sum.in` has capacity 0"));
//! ```

// Without them some helpers have no caller.
#![cfg_attr(not(all(feature = "text", feature = "mappers")), allow(dead_code))]

mod assignment;
mod check;
mod error;
mod escape;
mod explain;
mod fingerprint;
#[cfg(feature = "mappers")]
pub mod mappers;
mod passes;
mod plan;
mod profile;
mod program;
#[cfg(feature = "text")]
mod read;
#[cfg(feature = "text")]
mod show;
mod units;
mod wishes;
mod words;
mod workers;

pub use assignment::{Assignment, Part};
pub use error::{Misfit, Place, PlanError};
pub use fingerprint::Fingerprint;
pub use passes::capacities::MAX_CARRIED;
pub use passes::pools::POOLS;
pub use passes::threads::{MOST_THREADS, threads};
pub use plan::{Plan, Raised};
pub use profile::{ChannelProfile, NodeProfile, OtherGraph, Profile, Undeclared};
pub use program::{NoNextPlan, Program};
#[cfg(feature = "text")]
pub use read::ReadError;
#[cfg(feature = "text")]
pub use show::Annotated;
pub use units::{Body, Division, HandOver, Unit, Units};
pub use wishes::Wishes;
pub use workers::Workers;
