//! What most programs need.

pub use crate::{Builder, In, Options, Out, ParallelExt, Report, View, input, output, window};
