//! Programs that sweep over arrays again and again, in parallel loops: the regular applications of *Locality-Aware
//! Concurrency Platforms* (table 5.1), made to be used.
//!
//! - [`life`]: Conway's game of life, and all rules of its form.
//!
//! All results are the same at any number of threads.

pub mod life;
mod loops;
