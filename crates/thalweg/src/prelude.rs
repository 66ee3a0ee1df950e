//! What almost every program uses: the types that it starts from, and the traits with their methods.

pub use crate::{Graph, Options, ParallelExt, Stream};

#[cfg(feature = "report")]
pub use crate::trace::{ReportExt, TimelineExt};
