//! Private caches, and what a schedule misses in them.
//!
//! The model is that of *Locality-Aware Concurrency Platforms* (J. Maglalang, 2017), section 2.1: each worker has a cache of M
//! bytes in blocks of B, fully associative, which evicts the block that was used longest ago. All else is in memory, and a miss
//! brings one block. A firing touches all of its node's state, the items that it pops and those that it pushes, each at its place
//! in the ring of its channel. What one worker touches leaves the caches of all others, so the state of a node is in one cache at a
//! time; items that are only read would not have to.
//!
//! [`Caches`] counts misses by what they bring: state, items inside a segment, items between segments. [`Memory`] places a graph in
//! memory and touches what a firing touches. [`rounds`] is the synchronous schedule of section 2.2.3, for which the bounds of
//! chapter 2 are proved (`tests/caches`).

mod lru;
mod memory;
mod rounds;

pub use memory::Memory;
pub use rounds::{Round, Rounds, rounds};

use lru::Lru;
use std::ops::Range;

/// What a miss brings.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Content {
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
        self.state + self.internal + self.cross
    }

    /// Those since an earlier count.
    pub fn since(self, before: Misses) -> Misses {
        Misses {
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
    of_workers: Vec<Lru>,
    misses: Vec<Misses>,
    /// The cache that has touched each block last, by the block's number.
    holder: Vec<u32>,
}

impl Caches {
    /// This many caches of `bytes` bytes in blocks of `block`: at least one block each.
    pub fn new(workers: usize, bytes: u64, block: u64) -> Caches {
        let block = block.max(1);
        let blocks = usize::try_from(bytes / block).unwrap_or(usize::MAX).max(1);
        Caches {
            block,
            of_workers: vec![Lru::new(blocks); workers],
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

    /// A worker touches some bytes, in order.
    pub fn touch(&mut self, worker: usize, bytes: Range<u64>, content: Content) {
        if bytes.is_empty() {
            return;
        }
        for block in bytes.start / self.block..=(bytes.end - 1) / self.block {
            if self.of_workers[worker].touch(block) {
                continue;
            }
            let misses = &mut self.misses[worker];
            *match content {
                Content::State => &mut misses.state,
                Content::Internal => &mut misses.internal,
                Content::Cross => &mut misses.cross,
            } += 1;
            let index = block as usize;
            if self.holder.len() <= index {
                self.holder.resize(index + 1, worker as u32);
            }
            let before = std::mem::replace(&mut self.holder[index], worker as u32) as usize;
            if before != worker {
                self.of_workers[before].remove(block);
            }
        }
    }
}
