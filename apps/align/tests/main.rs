//! The tests of the crate, a module for each promise.

#[cfg(feature = "cluster")]
mod cluster;
#[cfg(feature = "cluster")]
#[allow(dead_code)] // these tests need a part of it
#[path = "../../../crates/cluster/tests/support.rs"]
mod clusters;
mod compare;
mod fasta;
mod pairs;
mod parasail;
mod reference;
mod write;
