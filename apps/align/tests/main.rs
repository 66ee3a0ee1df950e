//! The tests of the crate, a module for each promise.

mod compare;
mod fasta;
mod pairs;
mod parasail;
mod reference;
mod write;
