//! The tests of the crate, a module for each promise.

#[cfg(feature = "cluster")]
mod cluster;
mod compare;
mod fasta;
mod pairs;
mod parasail;
mod reference;
mod write;
