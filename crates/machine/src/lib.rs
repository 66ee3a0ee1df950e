//! Describes a machine as data: processing units, caches, memory domains, limits, and costs.
//!
//! [`Machine::here`] reads the description of this machine from the operating system, [`Machine::read`] any description
//! from a text, and [`Machine::uniform`] makes one of equal domains. Decisions about placement take a [`Machine`], so
//! they can be made, tested and printed for machines that are elsewhere.
//!
//! ```
//! use thalweg_machine::{LevelKind, Machine};
//!
//! // 8 domains of 10 cores, each domain with a cache of its own.
//! let text = "
//! thalweg-machine 1
//! domains 8 memory 64 GiB
//! cores 10
//! cache 2 size 256 KiB per core
//! cache 3 size 30 MiB per domain
//! distance 21
//! ";
//! let machine = Machine::read(text)?;
//! assert_eq!((machine.threads(), machine.domains().len()), (80, 8));
//!
//! let [a, b, c] = [0, 9, 10].map(|i| machine.units()[i].id());
//! assert_eq!(machine.shared_cache(a, b).map(|cache| cache.level()), Some(3));
//! assert_eq!(machine.shared_cache(a, c), None);
//! assert_eq!(machine.distance(machine.domain_of(a), machine.domain_of(c)), 21);
//!
//! // The third cache and the domain group the units alike, so they are one level.
//! let kinds: Vec<LevelKind> = machine.levels().iter().map(|level| level.kind()).collect();
//! assert_eq!(kinds, [LevelKind::Core, LevelKind::Cache(3)]);
//! # Ok::<(), thalweg_machine::ReadError>(())
//! ```
//!
//! `system.rs` alone reads the operating system, but for the number of threads.

// Without them some helpers have no caller.
#![cfg_attr(not(all(feature = "measure", feature = "text")), allow(dead_code))]

#[cfg(feature = "describe")]
mod cgroup;
#[cfg(feature = "describe")]
mod check;
mod costs;
#[cfg(feature = "describe")]
mod describe;
#[cfg(feature = "describe")]
mod here;
mod levels;
#[cfg(feature = "describe")]
mod list;
mod machine;
#[cfg(feature = "measure")]
mod measure;
mod parts;
mod places;
#[cfg(feature = "describe")]
mod processor;
#[cfg(feature = "text")]
mod read;
#[cfg(feature = "text")]
mod show;
#[cfg(feature = "describe")]
mod system;
mod threads;
#[cfg(feature = "describe")]
mod words;

pub use costs::Costs;
#[cfg(feature = "describe")]
pub use here::{address_space_left, available_memory};
pub use levels::{Level, LevelKind};
pub use machine::Machine;
#[cfg(feature = "measure")]
pub use measure::time_per_call;
pub use parts::{Cache, CacheId, Core, CoreId, Domain, DomainId, Limits, Unit, UnitId};
pub use places::Places;
#[cfg(feature = "describe")]
pub use processor::Processor;
#[cfg(feature = "text")]
pub use read::ReadError;
pub use threads::threads;

/// The most processing units of a machine.
pub const MOST_UNITS: usize = 8192;

/// The most memory domains of a machine.
pub const MOST_DOMAINS: usize = 1024;
