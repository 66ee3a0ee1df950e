//! The stages of packing, one by one, for a driver that runs them in a pipeline.
//!
//! The order is [`Splitter`] (an iterator of blocks) → [`chunks`] → [`hash`] → [`Planner::add`] →
//! [`encode`] → [`ArchiveWriter::record`], and [`ArchiveWriter::finish`] once at the end. The
//! first, the fourth and the last keep state and need stream order; the others are pure.

pub use crate::block::{Block, Chunk, Hashed};
pub use crate::cut::chunks;
pub use crate::plan::{Group, Planner};
pub use crate::record::{Record, encode};
pub use crate::split::Splitter;
pub use crate::writer::ArchiveWriter;

/// Hashes one chunk: the third stage.
pub fn hash(chunk: Chunk) -> Hashed {
    let hash = *blake3::hash(chunk.bytes()).as_bytes();
    Hashed { chunk, hash }
}
