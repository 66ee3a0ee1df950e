//! The units of the pipeline: blocks, and blocks with their anchors.

use std::sync::Arc;

use crate::entry::Entry;
use crate::pool::{Buffer, Pool};
use crate::sample::Anchor;

/// An entry of a tree, and the offset in its block at which its content begins.
#[derive(Debug)]
pub(crate) struct Mark {
    pub at: u32,
    pub entry: Entry,
}

/// A coarse part of the input: its bytes, and the entries that begin in it.
#[derive(Debug)]
pub struct Block {
    pub(crate) bytes: Buffer,
    pub(crate) marks: Vec<Mark>,
    /// The pool of records. Records are a fraction as large as blocks, so no buffer is used for both.
    pub(crate) records: Arc<Pool>,
}

impl Block {
    /// The content of this block.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}

/// A block and its anchors, in rising order.
#[derive(Debug)]
pub struct Sampled {
    pub(crate) block: Block,
    pub(crate) anchors: Vec<Anchor>,
}
