//! The look-up stage: decides in stream order what is a duplicate, and gathers each block's chunks
//! into the one group that will be compressed and written together.

use std::ops::Range;
use std::sync::Arc;

use crate::block::{Block, Hashed, Piece};
use crate::index::{Index, Seen};
use crate::params::Params;
use crate::summary::{Summary, trail_chunk, trail_entry};
use crate::table;

/// A planned block: its table is settled, its unique data waits to be compressed.
#[derive(Debug)]
pub struct Group {
    pub(crate) block: Arc<Block>,
    pub(crate) sequence: u64,
    pub(crate) plan: Plan,
}

/// What was decided about a block.
#[derive(Debug, Default)]
pub(crate) struct Plan {
    pub table: Vec<u8>,
    /// The unique parts of the block, neighbours joined.
    pub unique: Vec<Range<u32>>,
    /// What the hash of the whole is fed with.
    pub trail: Vec<u8>,
    pub counts: Summary,
}

/// Keeps the index of seen chunks.
#[derive(Debug)]
pub struct Planner {
    index: Index,
    sequence: u64,
    plan: Plan,
}

impl Planner {
    /// A planner that has seen nothing.
    pub fn new(params: &Params) -> Self {
        let index = Index::new(params.window, params.index_entries());
        Planner { index, sequence: 0, plan: Plan::default() }
    }

    /// Takes the next chunk of the stream; gives the group when its block is complete.
    pub fn add(&mut self, hashed: Hashed) -> Option<Group> {
        let Hashed { chunk, hash } = hashed;
        self.piece(&chunk.block, &chunk.piece, &hash);
        chunk.piece.last.then(|| self.finish(chunk.block))
    }

    /// Takes one piece of `block`, whose hash this is (of no meaning where the piece is empty).
    pub(crate) fn piece(&mut self, block: &Block, piece: &Piece, hash: &[u8; 32]) {
        for mark in &block.marks[piece.marks.start as usize..piece.marks.end as usize] {
            let start = self.plan.table.len();
            mark.entry.put(&mut self.plan.table);
            trail_entry(&mut self.plan.trail, &self.plan.table[start..]);
            self.plan.counts.entries += u64::from(mark.entry.name().is_some());
        }
        if !piece.range.is_empty() {
            self.chunk(&piece.range, hash);
        }
    }

    fn chunk(&mut self, range: &Range<u32>, hash: &[u8; 32]) {
        let length = range.end - range.start;
        let plan = &mut self.plan;
        trail_chunk(&mut plan.trail, length, hash);
        plan.counts.chunks += 1;
        plan.counts.content_bytes += u64::from(length);
        match self.index.look_up(hash, length) {
            Seen::Back(distance) => {
                plan.counts.duplicates += 1;
                table::put_seen(&mut plan.table, length, distance);
            }
            Seen::No => {
                plan.counts.unique_bytes += u64::from(length);
                table::put_new(&mut plan.table, length);
                match plan.unique.last_mut() {
                    Some(run) if run.end == range.start => run.end = range.end,
                    _ => plan.unique.push(range.clone()),
                }
            }
        }
    }

    /// Closes the current block.
    pub(crate) fn finish(&mut self, block: Arc<Block>) -> Group {
        let sequence = self.sequence;
        self.sequence += 1;
        Group { block, sequence, plan: std::mem::take(&mut self.plan) }
    }
}
