//! StreamIt programs of our own, with inputs for them and what must come out.
//!
//! Programs stand in `programs/`, written from public descriptions of their algorithms; each names its source.
//! [`mod@program`] has their texts, and makes larger or smaller ones of them. [`mod@generate`] makes inputs, the same
//! ones from the same seed. [`mod@reference`] says what must come out, by other means than the program: the
//! definition in double precision, an inverse, plain integer code. [`Memory`] stands for a program's files.
//!
//! Nothing here runs a program; the tests do, with the interpreter of `thalweg-lang`.

pub mod generate;
mod item;
mod memory;
pub mod program;
pub mod reference;

pub use item::{Complex, Item};
pub use memory::Memory;
pub use program::{PROGRAMS, Program};
