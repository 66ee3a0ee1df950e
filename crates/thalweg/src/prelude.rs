//! The types, traits and functions that most programs use.

pub use crate::{
    Fork, Graph, In, Options, Out, ParallelExt, Report, Stream, Value, View, input, output, window,
};
