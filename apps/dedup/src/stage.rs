//! The stages of packing, for a caller that runs them in its own pipeline.
//!
//! The order is [`Splitter`] (an iterator of blocks) → [`sample`] → [`Planner::add`] → [`encode`] →
//! [`ArchiveWriter::record`], and [`ArchiveWriter::finish`] once at the end. `Splitter`, `Planner` and `ArchiveWriter`
//! keep state and need stream order. The other stages are pure functions.

pub use crate::block::{Block, Sampled};
pub use crate::plan::{Group, Planner};
pub use crate::record::{Record, encode};
pub use crate::sample::sample;
pub use crate::split::Splitter;
pub use crate::writer::ArchiveWriter;
