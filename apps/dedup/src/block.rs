//! What flows between the first stages: blocks, chunks of them, and hashed chunks.

use std::ops::Range;
use std::sync::Arc;

use crate::entry::Entry;
use crate::pool::Buffer;

/// An entry of a tree and the place in its block where its content begins.
#[derive(Debug)]
pub(crate) struct Mark {
    pub at: u32,
    pub entry: Entry,
}

/// A coarse piece of the input: some bytes, and the entries that begin in it.
///
/// The bytes are shared by all chunks cut from them and never copied before they are compressed.
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

/// A chunk within its block, with the entries that come just before it.
///
/// The range is empty where entries stand at the end of a block with nothing behind them.
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
