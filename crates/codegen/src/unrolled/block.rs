//! A group that runs in lanes, and the cells that enter and leave it.

use super::dag::Table;
use super::parts::Parts;
use crate::ir::Kind;
use thalweg_lang::flat::NodeId;

/// The shortest row of cells that is transposed into lanes.
pub(crate) const ROW: u32 = 16;

/// Cells of a block that are copied from a buffer, or to it.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Border {
    pub(crate) buffer: usize,
    pub(crate) kind: Kind,
    /// The first cell in the first steady state, and the distance to the next steady state's.
    pub(crate) first: u32,
    pub(crate) advance: u32,
    pub(crate) cells: u32,
    /// The offset in the block's memory.
    pub(crate) offset: u32,
    /// The class before which the cells are copied in.
    pub(crate) before: usize,
}

/// A group that runs in lanes.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Block {
    pub(crate) actors: Vec<usize>,
    pub(crate) nodes: Vec<NodeId>,
    pub(crate) entrances: Vec<Border>,
    pub(crate) exits: Vec<Border>,
    pub(crate) parts: Parts,
    pub(crate) tables: Vec<Table>,
    /// Blocks in each lane that are done side by side.
    pub(crate) beside: u32,
    /// The number of lanes where these are isomorphic components of one block ([`across`](super::across)), not blocks.
    pub(crate) across: Option<usize>,
    /// Vectors of memory: for its cells in lanes, or for rows.
    pub(crate) vectors: u32,
}

impl Border {
    /// The vectors of memory for as many rows as vectors have lanes.
    pub(crate) fn room(&self) -> u32 {
        self.advance.max(ROW)
    }
}
