//! The look-up stage: finds duplicates in stream order, and plans the record of each block.

use std::ops::Range;

use crate::block::{Block, Sampled};
use crate::entry::Entry;
use crate::index::Index;
use crate::params::Params;
use crate::sample::Anchor;
use crate::summary::{Summary, hash_chunk, hash_entry};
use crate::table;

/// A unique chunk ends at the first anchor after this many bytes, so that later content of the same file finds it.
const MAX_UNIQUE: usize = 32 << 10;

/// A planned block: its table is complete, its unique data is not compressed yet.
#[derive(Debug)]
pub struct Group {
    pub(crate) block: Block,
    pub(crate) sequence: u64,
    pub(crate) plan: Plan,
}

impl Group {
    /// Bytes of content in this block.
    pub fn content_bytes(&self) -> usize {
        self.block.bytes.len()
    }
}

/// The table, unique data and counts of a block.
#[derive(Debug, Default)]
pub(crate) struct Plan {
    pub table: Vec<u8>,
    /// The unique ranges of the block. Adjacent ranges are merged.
    pub unique: Vec<Range<u32>>,
    /// The input of the content hash for this block, with room for the hashes of chunks.
    pub hash_input: Vec<u8>,
    /// The range of each chunk in the block, and the offset of its hash in `hash_input`.
    pub chunks: Vec<(Range<u32>, usize)>,
    pub counts: Summary,
}

impl Plan {
    fn entry(&mut self, entry: &Entry) {
        let start = self.table.len();
        entry.put(&mut self.table);
        hash_entry(&mut self.hash_input, &self.table[start..]);
        self.counts.entries += u64::from(entry.name().is_some());
    }

    fn unique(&mut self, range: &Range<usize>) {
        self.chunk(range);
        self.counts.unique_bytes += range.len() as u64;
        table::put_new(&mut self.table, range.len() as u32);
        match self.unique.last_mut() {
            Some(run) if run.end as usize == range.start => run.end = range.end as u32,
            _ => self.unique.push(range.start as u32..range.end as u32),
        }
    }

    fn duplicate(&mut self, range: &Range<usize>, distance: u64) {
        self.chunk(range);
        self.counts.duplicates += 1;
        table::put_duplicate(&mut self.table, range.len() as u32, distance);
    }

    fn chunk(&mut self, range: &Range<usize>) {
        let at = hash_chunk(&mut self.hash_input, range.len() as u32, &[0; 32]);
        self.chunks.push((range.start as u32..range.end as u32, at));
        self.counts.chunks += 1;
        self.counts.content_bytes += range.len() as u64;
    }
}

/// The state of the look-up stage: the index of anchors with the history, and the number of blocks.
#[derive(Debug)]
pub struct Planner {
    index: Index,
    sequence: u64,
}

impl Planner {
    /// A planner with an empty index.
    pub fn new(params: &Params) -> Self {
        Planner { index: Index::new(params), sequence: 0 }
    }

    /// Plans the next block of the stream.
    pub fn add(&mut self, sampled: Sampled) -> Group {
        let Sampled { block, anchors } = sampled;
        let (mut plan, mut at, mut anchors) = (Plan::default(), 0, &anchors[..]);
        for mark in &block.marks {
            self.content(&block.bytes, at..mark.at as usize, &mut anchors, &mut plan);
            plan.entry(&mark.entry);
            at = mark.at as usize;
        }
        self.content(&block.bytes, at..block.bytes.len(), &mut anchors, &mut plan);
        let sequence = self.sequence;
        self.sequence += 1;
        Group { block, sequence, plan }
    }

    /// Plans the part of one file, and takes its anchors from the front of `anchors`.
    fn content(&mut self, bytes: &[u8], part: Range<usize>, anchors: &mut &[Anchor], plan: &mut Plan) {
        let count = anchors.partition_point(|anchor| anchor.at as usize <= part.end);
        let (these, rest) = anchors.split_at(count);
        *anchors = rest;
        // All content before `from` is planned, all anchors before `first` are covered.
        let (mut from, mut first) = (part.start, 0);
        for (i, anchor) in these.iter().enumerate() {
            if anchor.at as usize <= from {
                continue;
            }
            if let Some(found) = self.index.find(&bytes[..part.end], from, anchor) {
                self.unique(bytes, from..found.range.start, &these[first..i], plan);
                plan.duplicate(&found.range, found.distance);
                (from, first) = (found.range.end, i + 1);
            } else if anchor.at as usize - from >= MAX_UNIQUE {
                self.unique(bytes, from..anchor.at as usize, &these[first..=i], plan);
                (from, first) = (anchor.at as usize, i + 1);
            }
        }
        self.unique(bytes, from..part.end, &these[first..], plan);
    }

    fn unique(&mut self, bytes: &[u8], range: Range<usize>, anchors: &[Anchor], plan: &mut Plan) {
        if range.is_empty() {
            return;
        }
        plan.unique(&range);
        let count = anchors.partition_point(|anchor| anchor.at as usize <= range.end);
        self.index.insert(bytes, range, &anchors[..count]);
    }
}
