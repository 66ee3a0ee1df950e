//! The look-up stage: finds duplicates in stream order, and groups the chunks of each block for compression.

use std::ops::Range;
use std::sync::Arc;

use crate::block::{Block, Hashed, Piece};
use crate::index::{Index, Lookup};
use crate::params::Params;
use crate::summary::{Summary, hash_chunk, hash_entry};
use crate::table;

/// A planned block: its table is complete, its unique data is not compressed yet.
#[derive(Debug)]
pub struct Group {
    pub(crate) block: Arc<Block>,
    pub(crate) sequence: u64,
    pub(crate) plan: Plan,
}

/// The table, unique data and counts of a block.
#[derive(Debug, Default)]
pub(crate) struct Plan {
    pub table: Vec<u8>,
    /// The unique ranges of the block. Adjacent ranges are merged.
    pub unique: Vec<Range<u32>>,
    /// The input of the content hash for this block.
    pub hash_input: Vec<u8>,
    pub counts: Summary,
}

/// The state of the look-up stage: the index of chunks, and the plan of the current block.
#[derive(Debug)]
pub struct Planner {
    index: Index,
    sequence: u64,
    plan: Plan,
}

impl Planner {
    /// A planner with an empty index.
    pub fn new(params: &Params) -> Self {
        let index = Index::new(params.window, params.index_entries());
        Planner { index, sequence: 0, plan: Plan::default() }
    }

    /// Adds the next chunk of the stream. Returns the group of its block after the last chunk of the block.
    pub fn add(&mut self, hashed: Hashed) -> Option<Group> {
        let Hashed { chunk, hash } = hashed;
        self.piece(&chunk.block, &chunk.piece, &hash);
        chunk.piece.last.then(|| self.finish(chunk.block))
    }

    /// Adds one chunk of `block` and the entries before it. `hash` is ignored if the chunk is empty.
    pub(crate) fn piece(&mut self, block: &Block, piece: &Piece, hash: &[u8; 32]) {
        for mark in &block.marks[piece.marks.start as usize..piece.marks.end as usize] {
            let start = self.plan.table.len();
            mark.entry.put(&mut self.plan.table);
            hash_entry(&mut self.plan.hash_input, &self.plan.table[start..]);
            self.plan.counts.entries += u64::from(mark.entry.name().is_some());
        }
        if !piece.range.is_empty() {
            self.chunk(&piece.range, hash);
        }
    }

    fn chunk(&mut self, range: &Range<u32>, hash: &[u8; 32]) {
        let length = range.end - range.start;
        let plan = &mut self.plan;
        hash_chunk(&mut plan.hash_input, length, hash);
        plan.counts.chunks += 1;
        plan.counts.content_bytes += u64::from(length);
        match self.index.look_up(hash, length) {
            Lookup::Duplicate(distance) => {
                plan.counts.duplicates += 1;
                table::put_duplicate(&mut plan.table, length, distance);
            }
            Lookup::New => {
                plan.counts.unique_bytes += u64::from(length);
                table::put_new(&mut plan.table, length);
                match plan.unique.last_mut() {
                    Some(run) if run.end == range.start => run.end = range.end,
                    _ => plan.unique.push(range.clone()),
                }
            }
        }
    }

    /// Completes the plan of the current block.
    pub(crate) fn finish(&mut self, block: Arc<Block>) -> Group {
        let sequence = self.sequence;
        self.sequence += 1;
        Group { block, sequence, plan: std::mem::take(&mut self.plan) }
    }
}
