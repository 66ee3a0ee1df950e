//! Numbers for pages with arbitrary ids.

use std::collections::HashMap;
use std::collections::hash_map::{Entry, RandomState};
use std::hash::{BuildHasher, Hasher};

/// Gives pages the numbers 0, 1, ... in the order in which their ids are first seen.
#[derive(Debug)]
pub(crate) struct IdTable {
    numbers: HashMap<u64, u32, Seed>,
    ids: Vec<u64>,
    /// The latest id with its number: files are often sorted by the first id.
    latest: Option<(u64, u32)>,
}

impl IdTable {
    pub fn new() -> IdTable {
        let seed = Seed(RandomState::new().hash_one(0) | 1);
        IdTable { numbers: HashMap::with_hasher(seed), ids: Vec::new(), latest: None }
    }

    /// The number of the pages seen.
    pub fn len(&self) -> usize {
        self.ids.len()
    }

    /// The number of the page with this id. `None` if there are more pages than 32-bit numbers.
    pub fn number(&mut self, id: u64) -> Option<u32> {
        if let Some((latest, number)) = self.latest
            && latest == id
        {
            return Some(number);
        }
        let number = match self.numbers.entry(id) {
            Entry::Occupied(entry) => *entry.get(),
            Entry::Vacant(entry) => {
                let next = u32::try_from(self.ids.len()).ok().filter(|next| *next < u32::MAX)?;
                self.ids.push(id);
                *entry.insert(next)
            }
        };
        self.latest = Some((id, number));
        Some(number)
    }

    /// Renumbers the pages by their ids, so that the numbers do not depend on the order of the links. Returns the ids in
    /// order, and the new number of each page by its old one: `None` if no number changes.
    pub fn sorted(self) -> (Vec<u64>, Option<Vec<u32>>) {
        drop(self.numbers);
        let mut ids = self.ids;
        if ids.is_sorted() {
            return (ids, None);
        }
        let mut order: Vec<u32> = (0..ids.len() as u32).collect();
        order.sort_unstable_by_key(|old| ids[*old as usize]);
        let mut new = vec![0; ids.len()];
        order.iter().zip(0..).for_each(|(old, number)| new[*old as usize] = number);
        drop(order);
        ids.sort_unstable();
        (ids, Some(new))
    }
}

/// A hash function for 64-bit numbers with a random factor, so that no input can be made to collide.
#[derive(Clone, Copy, Debug)]
struct Seed(u64);

impl BuildHasher for Seed {
    type Hasher = Folded;

    fn build_hasher(&self) -> Folded {
        Folded { factor: self.0, hash: 0 }
    }
}

#[derive(Debug)]
struct Folded {
    factor: u64,
    hash: u64,
}

impl Hasher for Folded {
    fn write_u64(&mut self, id: u64) {
        let product = u128::from(id ^ self.factor.rotate_left(32)) * u128::from(self.factor);
        self.hash = product as u64 ^ (product >> 64) as u64;
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.write_u64(self.hash ^ u64::from(*byte)));
    }

    fn finish(&self) -> u64 {
        self.hash
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_renumbered_by_their_ids() {
        let mut table = IdTable::new();
        let numbers: Vec<_> = [70, 5, 5, u64::MAX, 70, 0].map(|id| table.number(id).unwrap()).into();
        assert_eq!(numbers, [0, 1, 1, 2, 0, 3]);
        let (ids, new) = table.sorted();
        assert_eq!(ids, [0, 5, 70, u64::MAX]);
        assert_eq!(new.unwrap(), [2, 1, 3, 0]);
    }

    #[test]
    fn pages_in_order_keep_their_numbers() {
        let mut table = IdTable::new();
        for id in [1, 2, 900] {
            table.number(id);
        }
        assert_eq!((table.len(), table.sorted()), (3, (vec![1, 2, 900], None)));
    }
}
