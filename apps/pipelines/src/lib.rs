//! Pipelines with which mappings to caches and workers are measured: the programs of *Locality-Aware Concurrency Platforms*
//! (sections 3.3 and 4.3), each as a graph and as a plain program with the same result.
//!
//! | program | kernels | state | edges |
//! |---|---|---|---|
//! | [`des`] | 20, source and sink among them | a table of 2 KiB that all rounds share, and keys | all of the same volume |
//! | [`lz77`] | 3 | none between blocks | blocks of 16 KiB |
//! | [`dnn`] | 64, and source and sink | weights, known by layer | a quarter thin, the others thick |
//! | [`synthetic`] | 140, and source and sink | M/256 to M/8 | 1 to M/16 items in a period |
//!
//! The thesis' fourth program, ferret, is none of these.

pub mod des;
pub mod dnn;
mod error;
pub mod lz77;
mod profile;
mod random;
mod sum;
pub mod synthetic;

pub use error::Error;
pub use profile::chain_profile;

/// The CRC-32 of a text.
pub fn checksum(text: &[u8]) -> u32 {
    crc32fast::hash(text)
}

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
