//! The units of the pipeline: blocks, and blocks with their anchors.

use std::sync::Arc;

use crate::entry::Entry;
use crate::pool::Buffer;
use crate::sample::Anchor;

/// An entry of a tree, and the offset in its block at which its content begins.
#[derive(Debug)]
pub(crate) struct Mark {
    pub at: u32,
    pub entry: Entry,
}

/// A coarse part of the input: its bytes, and the entries that begin in it.
///
/// All stages up to the compression share its bytes.
#[derive(Debug)]
pub struct Block {
    pub(crate) bytes: Buffer,
    pub(crate) marks: Vec<Mark>,
}

impl Block {
    /// The content of this block.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}

/// A block and its anchors, in rising order.
#[derive(Clone, Debug)]
pub struct Sampled {
    pub(crate) block: Arc<Block>,
    pub(crate) anchors: Vec<Anchor>,
}
