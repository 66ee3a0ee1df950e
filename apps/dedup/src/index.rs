//! The index of seen chunks: bounded, and forgetting in stream order.
//!
//! Places are counted in bytes of unique data from the start of the archive, the same count the
//! unpacker keeps. A chunk is forgotten when it lies further back than the window, or when the
//! index is full and it is the oldest. Both depend on nothing but the stream, so what counts as a
//! duplicate is the same in every run.

use std::collections::{HashMap, VecDeque};

type Hash = [u8; 32];

/// Whether a chunk was seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Seen {
    /// Not within memory: it counts as unique, and is remembered now.
    No,
    /// It began so many bytes of unique data ago.
    Back(u64),
}

/// Chunks by hash.
#[derive(Debug)]
pub(crate) struct Index {
    places: HashMap<Hash, u64>,
    /// The same, oldest first.
    order: VecDeque<(Hash, u64)>,
    /// Bytes of unique data so far.
    unique: u64,
    window: u64,
    entries: usize,
}

impl Index {
    pub fn new(window: u64, entries: u64) -> Self {
        let entries = usize::try_from(entries).unwrap_or(usize::MAX);
        Index { places: HashMap::new(), order: VecDeque::new(), unique: 0, window, entries }
    }

    /// Decides on the next chunk of the stream.
    pub fn look_up(&mut self, hash: &Hash, length: u32) -> Seen {
        self.forget_beyond_window();
        if let Some(place) = self.places.get(hash) {
            return Seen::Back(self.unique - place);
        }
        if self.order.len() >= self.entries {
            self.forget_oldest();
        }
        self.places.insert(*hash, self.unique);
        self.order.push_back((*hash, self.unique));
        self.unique += u64::from(length);
        Seen::No
    }

    fn forget_beyond_window(&mut self) {
        while self.order.front().is_some_and(|(_, place)| self.unique - place > self.window) {
            self.forget_oldest();
        }
    }

    fn forget_oldest(&mut self) {
        if let Some((hash, _)) = self.order.pop_front() {
            self.places.remove(&hash);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_count_unique_bytes_only() {
        let mut index = Index::new(1000, 10);
        assert_eq!(index.look_up(&[1; 32], 100), Seen::No);
        assert_eq!(index.look_up(&[2; 32], 50), Seen::No);
        assert_eq!(index.look_up(&[1; 32], 100), Seen::Back(150));
        assert_eq!(index.look_up(&[2; 32], 50), Seen::Back(50));
    }

    #[test]
    fn what_leaves_the_window_is_unique_again() {
        let mut index = Index::new(100, 10);
        assert_eq!(index.look_up(&[1; 32], 60), Seen::No);
        assert_eq!(index.look_up(&[2; 32], 40), Seen::No);
        assert_eq!(index.look_up(&[1; 32], 60), Seen::Back(100));
        assert_eq!(index.look_up(&[3; 32], 1), Seen::No);
        assert_eq!(index.look_up(&[1; 32], 60), Seen::No);
    }

    #[test]
    fn a_full_index_forgets_the_oldest_and_stays_within_its_size() {
        let mut index = Index::new(u64::MAX, 2);
        for round in 0..100u8 {
            assert_eq!(index.look_up(&[round; 32], 1), Seen::No);
            assert!(index.places.len() <= 2 && index.order.len() <= 2);
        }
        assert_eq!(index.look_up(&[98; 32], 1), Seen::Back(2));
        assert_eq!(index.look_up(&[97; 32], 1), Seen::No);
    }
}
