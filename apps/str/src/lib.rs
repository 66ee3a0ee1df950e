//! StreamIt programs written for Thalweg, with inputs and reference results.
//!
//! The programs are in `programs/`, written from public descriptions of their algorithms, which they name.
//! [`mod@program`] has their texts and can change their sizes. [`mod@generate`] makes inputs from a seed.
//! [`mod@reference`] computes the expected results by independent methods: the definition in double precision, an
//! inverse, or plain integer code. [`Memory`] replaces the files of a program.
//!
//! This crate does not run programs. Its tests do, with the interpreter of `thalweg-lang`.

pub mod generate;
mod item;
mod memory;
pub mod program;
pub mod reference;

pub use item::{Complex, Item};
pub use memory::Memory;
pub use program::{PROGRAMS, Program};
