//! What must come out of programs, found by other means than theirs.
//!
//! Signals are computed in double precision from definitions: a convolution where the program transforms, a
//! double sum where it has a fast algorithm. What is of integers, or of floats in a given order, is exact.

pub mod array;
pub mod codes;
pub mod events;
pub mod radio;
pub mod signal;
pub mod transform;
pub mod video;
pub mod voice;
