//! From keys to the numbers of nodes: a hash table in shards, each under a lock of its own.
//!
//! A slot has the number of a node and half of the hash of its key; the key itself is in the node. So an entry takes 8
//! bytes (11 to 22 with the slots that are free), and a shard grows without a call of the user's `Hash`.

use std::sync::{Mutex, PoisonError};

/// A free slot. Node numbers are stored plus one.
const FREE: u64 = 0;

/// The shards.
pub(crate) struct Table {
    shards: Box<[Shard]>,
}

/// A shard, on a cache line of its own.
#[repr(align(64))]
#[derive(Default)]
struct Shard(Mutex<Slots>);

/// Invariant: the number of slots is a power of two, at least a line, or 0; at most three in four are taken.
#[derive(Default)]
struct Slots {
    slots: Vec<u64>,
    taken: usize,
}

impl Table {
    /// A table for this number of threads.
    pub(crate) fn new(threads: usize) -> Table {
        let shards = if threads == 1 { 1 } else { (threads * 16).next_power_of_two().min(1024) };
        Table { shards: (0..shards).map(|_| Shard::default()).collect() }
    }

    /// The number of the node for which `is_it` is true, or else the result of `make`, which is stored. Only nodes that
    /// were stored with the same hash, or an equal half of it, are compared with the key.
    ///
    /// `is_it` calls the user's `Eq` under the shard's lock. A panic leaves the shard as it was.
    #[inline]
    pub(crate) fn find_or<K>(
        &self,
        hash: u64,
        key: K,
        is_it: impl Fn(u32, &K) -> bool,
        make: impl FnOnce(K) -> u32,
    ) -> u32 {
        let mut slots = self.shard(hash).0.lock().unwrap_or_else(PoisonError::into_inner);
        let place = match slots.find(half(hash), &|node| is_it(node, &key)) {
            Ok(found) => return found,
            Err(free) => free,
        };
        let made = make(key);
        slots.insert(place, half(hash), made);
        made
    }

    /// The number of the node for which `is_it` is true.
    pub(crate) fn find(&self, hash: u64, is_it: impl Fn(u32) -> bool) -> Option<u32> {
        let slots = self.shard(hash).0.lock().unwrap_or_else(PoisonError::into_inner);
        slots.find(half(hash), &is_it).ok()
    }

    #[inline]
    fn shard(&self, hash: u64) -> &Shard {
        &self.shards[(hash >> 54) as usize & (self.shards.len() - 1)]
    }
}

/// The half of the hash that a slot has, and that chooses the slot. The upper bits choose the shard.
#[inline]
fn half(hash: u64) -> u32 {
    hash as u32
}

/// The slots of a cache line.
const LINE: usize = 8;

/// The place of a probe: around the line of the first one, and then around others, at a distance that depends on the hash.
/// Near keys have the same distance, so those that do not fit into a line find another one together; a group of
/// keys that fills several lines does not push the next group along. `mask` is the number of slots less one; the number of
/// lines is a power of two, and the distance odd, so all are reached.
#[inline]
fn place(half: u32, probe: usize, mask: usize) -> usize {
    let (first, distance) = (half as usize, (half >> 16) as usize | 1);
    let line = (first / LINE).wrapping_add((probe / LINE).wrapping_mul(distance));
    (line.wrapping_mul(LINE) | ((first + probe) % LINE)) & mask
}

impl Slots {
    /// The node, or the place of the free slot where it belongs.
    #[inline]
    fn find(&self, half: u32, is_it: &impl Fn(u32) -> bool) -> Result<u32, usize> {
        let mask = self.slots.len().wrapping_sub(1);
        for probe in 0..self.slots.len() {
            let place = place(half, probe, mask);
            let slot = self.slots[place];
            if slot == FREE {
                return Err(place);
            }
            let node = slot as u32 - 1;
            if (slot >> 32) as u32 == half && is_it(node) {
                return Ok(node);
            }
        }
        Err(0)
    }

    #[inline]
    fn insert(&mut self, place: usize, half: u32, node: u32) {
        if (self.taken + 1) * 4 > self.slots.len() * 3 {
            self.grow();
            self.put(u64::from(half) << 32 | u64::from(node + 1));
        } else {
            self.slots[place] = u64::from(half) << 32 | u64::from(node + 1);
        }
        self.taken += 1;
    }

    #[cold]
    fn grow(&mut self) {
        let larger = vec![FREE; (self.slots.len() * 2).max(LINE)];
        let old = std::mem::replace(&mut self.slots, larger);
        old.into_iter().filter(|slot| *slot != FREE).for_each(|slot| self.put(slot));
    }

    fn put(&mut self, slot: u64) {
        let mask = self.slots.len() - 1;
        let mut places = (0..).map(|probe| place((slot >> 32) as u32, probe, mask));
        let free = places.find(|place| self.slots[*place] == FREE).expect("a quarter of the slots is free");
        self.slots[free] = slot;
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::demand::hash::hash;
    use std::cell::RefCell;

    #[test]
    fn each_key_has_one_number() {
        // With good hashes, and with only 8 different ones.
        for (threads, mask) in [(1, u64::MAX), (4, u64::MAX), (2, 7)] {
            let (table, keys) = (Table::new(threads), RefCell::new(Vec::new()));
            for round in 0..3 {
                for key in 0..2000u64 {
                    let is_it = |node: u32, key: &u64| keys.borrow()[node as usize] == *key;
                    let make = |key| {
                        assert_eq!(round, 0);
                        keys.borrow_mut().push(key);
                        keys.borrow().len() as u32 - 1
                    };
                    assert_eq!(u64::from(table.find_or(hash(&key) & mask, key, is_it, make)), key);
                    assert_eq!(table.find(hash(&key) & mask, |node| is_it(node, &key)), Some(key as u32));
                }
            }
            assert_eq!(table.find(hash(&5000), |_| false), None);
        }
    }
}
