//! The types, traits and functions that most programs use.

pub use crate::{
    Fork, Graph, In, Loop, Options, Out, ParallelExt, Report, Stream, Value, View, input, join, output,
    par_for, window,
};

#[cfg(feature = "report")]
pub use crate::trace::{ReportExt, TimelineExt};
