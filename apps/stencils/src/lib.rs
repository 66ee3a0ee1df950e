//! Programs that sweep over arrays again and again, in parallel loops: the regular applications of *Locality-Aware
//! Concurrency Platforms* (table 5.1), made to be used.
//!
//! - [`life`]: Conway's game of life, and all rules of its form.
//! - [`heat`]: heat in a plate, against the decay of a sine wave.
//! - [`fdtd`]: a field in a cavity, against the frequency of its resonance.
//! - [`cg`]: the NAS benchmark CG, the conjugate gradient method on a random sparse matrix.
//! - [`mg`]: the NAS benchmark MG, multigrid in a periodic cube.
//!
//! All results are the same at any number of threads.

pub mod cg;
pub mod fdtd;
pub mod heat;
pub mod life;
pub mod mg;
mod nas;
mod sum;

pub use nas::{Class, Verified};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
