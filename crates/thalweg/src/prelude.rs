//! What most programs need.

pub use crate::{
    Fork, Graph, In, Options, Out, ParallelExt, Report, Stream, Value, View, input, output, window,
};
