//! The expected results of the programs, computed by independent methods.
//!
//! Signals are computed in double precision from definitions: by convolution where the program uses a transform, by a
//! double sum where it uses a fast algorithm. Results of integers, and of floats in a fixed order of operations, are
//! exact.

pub mod array;
pub mod codes;
pub mod events;
pub mod radio;
pub mod signal;
pub mod transform;
pub mod video;
pub mod voice;
