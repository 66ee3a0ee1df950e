//! Private caches, and what a schedule misses in them.
//!
//! The model is that of *Locality-Aware Concurrency Platforms* (J. Maglalang, 2017), section 2.1: each worker has a cache of M
//! bytes in blocks of B, fully associative, which evicts the block that was used longest ago. All else is in memory, and a miss
//! brings one block. A firing touches all of its node's state, the items that it pops and those that it pushes, each at its place
//! in the ring of its channel. What one worker touches leaves the caches of all others, so the state of a node is in one cache at a
//! time; items that are only read would not have to. The state of a parallel node is read alone, so each worker that shares its
//! firings has a copy.
//!
//! [`Caches`] counts misses by what they bring: state, items inside a segment, items between segments. [`Memory`] places a graph in
//! memory and touches what a firing touches. [`rounds`] is the synchronous schedule of section 2.2.3, for which the bounds of
//! chapter 2 are proved (`tests/caches`). With a [`CacheModel`] in its [settings](crate::Settings::cache) the virtual host takes
//! time for each miss.
//!
//! # Agreement with cachegrind
//!
//! `apps/pipelines/tests/cachegrind.rs` runs pipelines of 70 modules in the engine under Valgrind's cachegrind, whose cache it makes one of
//! a single set, and compares the misses of one worker. Its claims are those of the virtual host where the run reads no clock
//! (`Options::repeatable`). A claim of the engine touches about 24 blocks of its own ([`CacheModel::record`]); with these the model counts
//! 0.1 to 1.6 % fewer misses than cachegrind, and the test allows 5 %. Left out are where an allocation begins in a block, and the copy of a
//! window that lies at both ends of a ring. The figures of the thesis have no such records.

mod lru;
mod memory;
mod played;
mod rounds;
mod sets;

pub use memory::Memory;
pub(crate) use played::Played;
pub use rounds::{Round, Rounds, rounds};

use lru::Lru;
use sets::Sets;
use std::ops::Range;

/// Private caches of the workers of a run in virtual time, and what a miss costs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CacheModel {
    /// The bytes of a cache: M.
    pub bytes: u64,
    /// The bytes of a block: B.
    pub block: u64,
    /// The blocks of a set; with 0 there is one set of all blocks.
    pub ways: usize,
    /// The seed of the places of pages among the sets.
    pub pages: u64,
    /// The bytes of the engine's own that a claim touches: the record of the node, its code and its ends of channels.
    pub record: u64,
    /// Ticks of a miss.
    pub miss: u64,
}

impl CacheModel {
    /// Such caches for some workers.
    pub fn caches(&self, workers: usize) -> Caches {
        Caches::with_ways(workers, self.bytes, self.block, (self.ways, self.pages))
    }
}

/// What a miss brings.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Content {
    /// What the engine keeps of a node.
    Record,
    /// State of a node.
    State,
    /// Items of a channel inside a segment.
    Internal,
    /// Items of a channel between segments.
    Cross,
}

/// The misses of a cache.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct Misses {
    /// Blocks of what the engine keeps of nodes.
    pub record: u64,
    /// Blocks of state.
    pub state: u64,
    /// Blocks of items inside a segment.
    pub internal: u64,
    /// Blocks of items between segments.
    pub cross: u64,
}

impl Misses {
    /// All of them.
    pub fn all(self) -> u64 {
        self.record + self.state + self.internal + self.cross
    }

    /// Those since an earlier count.
    pub fn since(self, before: Misses) -> Misses {
        Misses {
            record: self.record - before.record,
            state: self.state - before.state,
            internal: self.internal - before.internal,
            cross: self.cross - before.cross,
        }
    }
}

/// The private caches of some workers.
///
/// ```
/// use thalweg_sim::caches::{Caches, Content};
///
/// // One cache of two blocks of 64 bytes.
/// let mut caches = Caches::new(1, 128, 64);
/// caches.touch(0, 0..128, Content::State);
/// caches.touch(0, 0..128, Content::State); // hits
/// caches.touch(0, 128..129, Content::Cross); // evicts block 0
/// caches.touch(0, 0..1, Content::State);
/// assert_eq!((caches.misses(0).state, caches.misses(0).cross), (3, 1));
/// ```
#[derive(Clone, Debug)]
pub struct Caches {
    block: u64,
    of_workers: Vec<Cache>,
    misses: Vec<Misses>,
    /// The cache that has touched each block last, by the block's number.
    holder: Vec<u32>,
}

/// The cache of a worker.
#[derive(Clone, Debug)]
enum Cache {
    /// Of one set.
    Whole(Lru),
    /// Of several.
    Sets(Sets),
}

impl Cache {
    fn touch(&mut self, block: u64) -> bool {
        match self {
            Cache::Whole(cache) => cache.touch(block),
            Cache::Sets(cache) => cache.touch(block),
        }
    }

    fn remove(&mut self, block: u64) {
        match self {
            Cache::Whole(cache) => cache.remove(block),
            Cache::Sets(cache) => cache.remove(block),
        }
    }
}

impl Caches {
    /// This many caches of `bytes` bytes in blocks of `block`: at least one block each.
    pub fn new(workers: usize, bytes: u64, block: u64) -> Caches {
        Caches::with_ways(workers, bytes, block, (0, 0))
    }

    /// Caches of sets of `ways` blocks; with 0, of one set. Where a page of 4 KiB is among the sets is random, from its number and the
    /// seed `pages`.
    pub fn with_ways(workers: usize, bytes: u64, block: u64, (ways, pages): (usize, u64)) -> Caches {
        let block = block.max(1);
        let blocks = usize::try_from(bytes / block).unwrap_or(usize::MAX).max(1);
        let cache = match ways {
            0 => Cache::Whole(Lru::new(blocks)),
            _ => Cache::Sets(Sets::new(blocks, ways, block, pages)),
        };
        Caches {
            block,
            of_workers: vec![cache; workers],
            misses: vec![Misses::default(); workers],
            holder: Vec::new(),
        }
    }

    /// The bytes of a block.
    pub fn block(&self) -> u64 {
        self.block
    }

    /// The number of caches.
    pub fn workers(&self) -> usize {
        self.of_workers.len()
    }

    /// The misses of a worker's cache so far.
    pub fn misses(&self, worker: usize) -> Misses {
        self.misses[worker]
    }

    /// The misses of all caches so far.
    pub fn total(&self) -> u64 {
        self.misses.iter().map(|misses| misses.all()).sum()
    }

    /// A worker touches some bytes, in order. They leave the caches of all others.
    pub fn touch(&mut self, worker: usize, bytes: Range<u64>, content: Content) {
        self.each_miss(worker, bytes, content, |caches, block| {
            let index = block as usize;
            if caches.holder.len() <= index {
                caches.holder.resize(index + 1, worker as u32);
            }
            let before = std::mem::replace(&mut caches.holder[index], worker as u32) as usize;
            if before != worker {
                caches.of_workers[before].remove(block);
            }
        });
    }

    /// A worker reads some bytes that no worker writes, in order.
    pub fn read(&mut self, worker: usize, bytes: Range<u64>, content: Content) {
        self.each_miss(worker, bytes, content, |_, _| ());
    }

    fn each_miss(
        &mut self,
        worker: usize,
        bytes: Range<u64>,
        content: Content,
        missed: impl Fn(&mut Caches, u64),
    ) {
        if bytes.is_empty() {
            return;
        }
        for block in bytes.start / self.block..=(bytes.end - 1) / self.block {
            if self.of_workers[worker].touch(block) {
                continue;
            }
            let misses = &mut self.misses[worker];
            *match content {
                Content::Record => &mut misses.record,
                Content::State => &mut misses.state,
                Content::Internal => &mut misses.internal,
                Content::Cross => &mut misses.cross,
            } += 1;
            missed(self, block);
        }
    }
}
