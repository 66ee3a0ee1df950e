//! The items between the first stages: blocks, chunks and hashed chunks.

use std::ops::Range;
use std::sync::Arc;

use crate::entry::Entry;
use crate::pool::Buffer;

/// An entry of a tree, and the offset in its block at which its content begins.
#[derive(Debug)]
pub(crate) struct Mark {
    pub at: u32,
    pub entry: Entry,
}

/// A coarse part of the input: its bytes, and the entries that begin in it.
///
/// All chunks of a block share its bytes. They are not copied before they are compressed.
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

/// A chunk as ranges within its block: its bytes, and the entries directly before it.
///
/// The byte range is empty for entries at the end of a block without content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Piece {
    pub range: Range<u32>,
    pub marks: Range<u32>,
    pub last: bool,
}

/// A content-defined chunk of a block.
#[derive(Clone, Debug)]
pub struct Chunk {
    pub(crate) block: Arc<Block>,
    pub(crate) piece: Piece,
}

impl Chunk {
    /// The content of this chunk.
    pub fn bytes(&self) -> &[u8] {
        &self.block.bytes[self.piece.range.start as usize..self.piece.range.end as usize]
    }
}

/// A chunk and its blake3 hash.
#[derive(Clone, Debug)]
pub struct Hashed {
    pub(crate) chunk: Chunk,
    pub(crate) hash: [u8; 32],
}
