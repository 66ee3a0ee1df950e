//! A cache of several sets, each of which evicts the block of its own that was used longest ago.

use thalweg_policy::random::mix;

/// The bytes of a page. Blocks of a page are in sets that follow each other; where a page begins is random, as on a machine that
/// gives memory in pages.
const PAGE: u64 = 4096;

/// No block.
const NONE: u64 = u64::MAX;

/// The blocks of each set, as a row of a table: the newest first.
#[derive(Clone, Debug)]
pub(super) struct Sets {
    rows: Vec<u64>,
    ways: usize,
    /// Blocks of a page.
    of_page: u64,
    /// The seed of the places of pages.
    seed: u64,
}

impl Sets {
    /// Sets for about this many blocks of `block` bytes, `ways` in each, among which the places of pages follow from a seed.
    pub(super) fn new(blocks: usize, ways: usize, block: u64, seed: u64) -> Sets {
        let sets = (blocks / ways).max(1);
        Sets { rows: vec![NONE; sets * ways], ways, of_page: (PAGE / block).max(1), seed: mix(seed) }
    }

    /// Uses a block, and returns whether it was there.
    pub(super) fn touch(&mut self, block: u64) -> bool {
        let last = self.ways - 1;
        let row = self.row(block);
        let place = row.iter().position(|other| *other == block);
        row[..=place.unwrap_or(last)].rotate_right(1);
        row[0] = block;
        place.is_some()
    }

    /// Takes a block out, if it is there.
    pub(super) fn remove(&mut self, block: u64) {
        let last = self.ways - 1;
        let row = self.row(block);
        if let Some(place) = row.iter().position(|other| *other == block) {
            row[place..].rotate_left(1);
            row[last] = NONE;
        }
    }

    fn row(&mut self, block: u64) -> &mut [u64] {
        let sets = (self.rows.len() / self.ways) as u64;
        let page = mix((block / self.of_page) ^ self.seed) % sets * self.of_page;
        let at = ((page + block % self.of_page) % sets) as usize * self.ways;
        &mut self.rows[at..at + self.ways]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_set_is_a_list_in_the_order_of_use() {
        let mut sets = Sets::new(3, 3, 64, 1);
        let found = [1, 2, 3, 1, 4, 2, 1, 3].map(|block| sets.touch(block));
        assert_eq!(found, [false, false, false, true, false, false, true, false]);
        sets.remove(1);
        assert_eq!([3, 2, 1].map(|block| sets.touch(block)), [true, true, false]);
    }

    #[test]
    fn blocks_of_a_page_have_sets_of_their_own() {
        let mut sets = Sets::new(512, 8, 64, 1);
        for page in 0..8 {
            (0..64).for_each(|block| assert!(!sets.touch(page * 64 + block)));
            assert!((0..64).all(|block| sets.touch(page * 64 + block)));
        }
    }
}
