//! The bounded index of chunks, which evicts in stream order.
//!
//! Positions are counted in bytes of unique data from the start of the archive, as the unpacker counts them. A chunk
//! is evicted when it lies further back than the window, or when the index is full and it is the oldest. Both depend
//! on the stream alone, so every run finds the same duplicates.

use std::collections::{HashMap, VecDeque};

type Hash = [u8; 32];

/// The result of looking up a chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lookup {
    /// The chunk is not in the index. It counts as unique and is in the index now.
    New,
    /// The chunk is in the index. It begins this many bytes of unique data back.
    Duplicate(u64),
}

/// The positions of chunks, by hash.
#[derive(Debug)]
pub(crate) struct Index {
    positions: HashMap<Hash, u64>,
    /// The entries of `positions`, oldest first.
    order: VecDeque<(Hash, u64)>,
    /// Bytes of unique data so far.
    unique: u64,
    window: u64,
    /// The maximum number of entries.
    entries: usize,
}

impl Index {
    pub fn new(window: u64, entries: u64) -> Self {
        let entries = usize::try_from(entries).unwrap_or(usize::MAX);
        Index { positions: HashMap::new(), order: VecDeque::new(), unique: 0, window, entries }
    }

    /// Looks up the next chunk of the stream, and inserts it if it is new.
    pub fn look_up(&mut self, hash: &Hash, length: u32) -> Lookup {
        self.evict_beyond_window();
        if let Some(position) = self.positions.get(hash) {
            return Lookup::Duplicate(self.unique - position);
        }
        if self.order.len() >= self.entries {
            self.evict_oldest();
        }
        self.positions.insert(*hash, self.unique);
        self.order.push_back((*hash, self.unique));
        self.unique += u64::from(length);
        Lookup::New
    }

    fn evict_beyond_window(&mut self) {
        while self.order.front().is_some_and(|(_, position)| self.unique - position > self.window) {
            self.evict_oldest();
        }
    }

    fn evict_oldest(&mut self) {
        if let Some((hash, _)) = self.order.pop_front() {
            self.positions.remove(&hash);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_count_unique_bytes_only() {
        let mut index = Index::new(1000, 10);
        assert_eq!(index.look_up(&[1; 32], 100), Lookup::New);
        assert_eq!(index.look_up(&[2; 32], 50), Lookup::New);
        assert_eq!(index.look_up(&[1; 32], 100), Lookup::Duplicate(150));
        assert_eq!(index.look_up(&[2; 32], 50), Lookup::Duplicate(50));
    }

    #[test]
    fn a_chunk_beyond_the_window_is_new_again() {
        let mut index = Index::new(100, 10);
        assert_eq!(index.look_up(&[1; 32], 60), Lookup::New);
        assert_eq!(index.look_up(&[2; 32], 40), Lookup::New);
        assert_eq!(index.look_up(&[1; 32], 60), Lookup::Duplicate(100));
        assert_eq!(index.look_up(&[3; 32], 1), Lookup::New);
        assert_eq!(index.look_up(&[1; 32], 60), Lookup::New);
    }

    #[test]
    fn a_full_index_evicts_the_oldest_chunk() {
        let mut index = Index::new(u64::MAX, 2);
        for round in 0..100u8 {
            assert_eq!(index.look_up(&[round; 32], 1), Lookup::New);
            assert!(index.positions.len() <= 2 && index.order.len() <= 2);
        }
        assert_eq!(index.look_up(&[98; 32], 1), Lookup::Duplicate(2));
        assert_eq!(index.look_up(&[97; 32], 1), Lookup::New);
    }
}
