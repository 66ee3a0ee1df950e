//! From keys to the numbers of nodes: a hash table in shards. Threads search and insert without a lock; a shard grows
//! under one.
//!
//! A slot has the number of a node and half of the hash of its key; the key itself is in the node. So an entry takes 8
//! bytes (11 to 22 with the slots that are free), and a shard grows without a call of the user's `Hash`.
//!
//! # States of a slot
//!
//! | slot is | entered by | left by |
//! |---|---|---|
//! | free | a new array | `View::insert` (taken), `freeze` (frozen), each by compare-and-swap |
//! | taken | `View::insert`; a copy into an array that is not published yet | never |
//! | frozen | a thread that grows the shard | never |
//!
//! An array is replaced by one of twice its size, and never changes afterwards. Each thread has the array that it has seen
//! last, and goes on with that: what is in it is in all later ones. A probe that ends at a frozen slot continues in the
//! latest array.
//!
//! *The race.* A thread inserts into an array that another one copies, and the copy lacks the entry.
//!
//! *Why it cannot happen.* The thread that grows a shard freezes each free slot before it publishes the copy. An insertion
//! succeeds before the slot is frozen, and is copied; or it fails, and is repeated in the new array, which the thread gets
//! under the shard's lock.
//!
//! *Two threads with one key.* A probe visits the same slots in both threads and ends at the first free one. One
//! compare-and-swap succeeds; the other thread searches again, and finds the entry.
//!
//! *Orderings.* A node is written before the `Release` of its slot, which pairs with the `Acquire` of each search. The lock
//! of the shard orders the copy.
//!
//! *Alone.* A thread that is alone (`exec`) inserts by a store, and freezes nothing: no other thread has the array.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A free slot. Node numbers are stored plus one.
const FREE: u64 = 0;
/// A slot of an array that was replaced. No node has this number.
const FROZEN: u64 = u64::MAX;
/// The slots of a shard's first array.
const FIRST: usize = 64;
/// A thread reports its insertions into a shard in groups of this size.
const GROUP: usize = 8;

/// The shards.
pub(crate) struct Table {
    shards: Box<[Shard]>,
}

/// A shard, on a cache line of its own.
#[repr(align(64))]
#[derive(Default)]
struct Shard {
    latest: Mutex<Slots>,
    /// The entries, but for some that the threads have not reported.
    taken: AtomicUsize,
}

/// Invariant: the number of slots is a power of two, at least a line, or 0.
type Slots = Arc<Vec<AtomicU64>>;

/// A table as a thread sees it.
pub(crate) struct View<'t> {
    table: &'t Table,
    shards: Box<[Seen]>,
}

/// A shard as a thread sees it.
#[derive(Clone, Default)]
struct Seen {
    slots: Slots,
    /// Entries that the thread has inserted and not reported.
    inserted: usize,
}

/// The place where a key belongs that the table does not have.
#[derive(Clone, Copy)]
pub(crate) struct Place {
    hash: u64,
    slot: usize,
}

impl Table {
    /// A table for this number of threads.
    pub(crate) fn new(threads: usize) -> Table {
        let shards = if threads == 1 { 1 } else { (threads * 16).next_power_of_two().min(1024) };
        Table { shards: (0..shards).map(|_| Shard::default()).collect() }
    }

    /// A thread's view.
    pub(crate) fn view(&self) -> View<'_> {
        View { table: self, shards: vec![Seen::default(); self.shards.len()].into() }
    }

    /// The number of the node for which `is_it` is true. Only nodes that were stored with an equal half of the hash are
    /// compared with the key.
    pub(crate) fn find(&self, hash: u64, is_it: impl Fn(u32) -> bool) -> Option<u32> {
        let slots = self.shards[self.shard(hash)].lock().clone();
        match find(&slots, half(hash), &is_it) {
            End::Found(node) => Some(node),
            End::Free(_) | End::Full => None,
        }
    }

    #[inline]
    fn shard(&self, hash: u64) -> usize {
        (hash >> 54) as usize & (self.shards.len() - 1)
    }
}

impl View<'_> {
    /// The number of the node for which `is_it` is true, or the place of such a node. Only nodes that were stored with an
    /// equal half of the hash are compared with the key.
    #[inline]
    pub(crate) fn find(&mut self, hash: u64, alone: bool, is_it: impl Fn(u32) -> bool) -> Result<u32, Place> {
        let shard = self.table.shard(hash);
        loop {
            match find(&self.shards[shard].slots, half(hash), &is_it) {
                End::Found(node) => return Ok(node),
                End::Free(slot) => return Err(Place { hash, slot }),
                End::Full => self.renew(shard, alone),
            }
        }
    }

    /// Stores a node at its place; false if the place is not free any more. Then search again.
    #[inline]
    pub(crate) fn insert(&mut self, place: Place, node: u32, alone: bool) -> bool {
        let Place { hash, slot } = place;
        let shard = self.table.shard(hash);
        let seen = &mut self.shards[shard];
        let (slot, entry) = (&seen.slots[slot], u64::from(half(hash)) << 32 | u64::from(node + 1));
        if alone {
            slot.store(entry, Ordering::Relaxed);
        } else if slot.compare_exchange(FREE, entry, Ordering::Release, Ordering::Relaxed).is_err() {
            return false;
        }
        seen.inserted += 1;
        if seen.inserted == GROUP {
            seen.inserted = 0;
            // At most three slots in four are taken.
            let taken = self.table.shards[shard].taken.fetch_add(GROUP, Ordering::Relaxed) + GROUP;
            if taken * 4 > seen.slots.len() * 3 {
                self.renew(shard, alone);
            }
        }
        true
    }

    /// Gets a later array than that which this thread has seen: the latest one, or else makes one.
    #[cold]
    fn renew(&mut self, shard: usize, alone: bool) {
        let seen = &mut self.shards[shard].slots;
        let mut latest = self.table.shards[shard].lock();
        if Arc::ptr_eq(&latest, seen) {
            *latest = grown(seen, alone);
        }
        *seen = latest.clone();
    }
}

impl Shard {
    fn lock(&self) -> MutexGuard<'_, Slots> {
        self.latest.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// An array of twice the size with the same entries. Nothing is inserted into the old one any more.
fn grown(slots: &Slots, alone: bool) -> Slots {
    let larger = super::slab::memory((slots.len() * 2).max(FIRST), || AtomicU64::new(FREE));
    let taken = slots.iter().map(|slot| if alone { slot.load(Ordering::Relaxed) } else { freeze(slot) });
    taken.filter(|slot| *slot != FREE).for_each(|slot| put(&larger, slot));
    Arc::new(larger)
}

/// The entry of a slot that changes no more; `FREE` if there is none.
fn freeze(slot: &AtomicU64) -> u64 {
    match slot.load(Ordering::Acquire) {
        FREE => {
            slot.compare_exchange(FREE, FROZEN, Ordering::Acquire, Ordering::Acquire).err().unwrap_or(FREE)
        }
        taken => taken,
    }
}

/// Stores an entry in an array that no other thread has.
fn put(slots: &[AtomicU64], entry: u64) {
    let mask = slots.len() - 1;
    let mut places = (0..slots.len()).map(|probe| place((entry >> 32) as u32, probe, mask));
    let free = places.find(|place| slots[*place].load(Ordering::Relaxed) == FREE);
    slots[free.expect("half of the slots is free")].store(entry, Ordering::Relaxed);
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

/// How a probe ends.
enum End {
    Found(u32),
    Free(usize),
    /// No slot is free: the array is full, or was replaced.
    Full,
}

#[inline]
fn find(slots: &[AtomicU64], half: u32, is_it: &impl Fn(u32) -> bool) -> End {
    let mask = slots.len().wrapping_sub(1);
    for probe in 0..slots.len() {
        let place = place(half, probe, mask);
        let slot = slots[place].load(Ordering::Acquire);
        match slot {
            FREE => return End::Free(place),
            FROZEN => return End::Full,
            _ => {}
        }
        let node = slot as u32 - 1;
        if (slot >> 32) as u32 == half && is_it(node) {
            return End::Found(node);
        }
    }
    End::Full
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::demand::hash::hash;
    use std::sync::atomic::AtomicU32;

    /// The number of a key, which is stored at its number.
    fn number(
        view: &mut View<'_>,
        hash: u64,
        key: u64,
        keys: &[AtomicU64],
        next: &AtomicU32,
        alone: bool,
    ) -> u32 {
        let mut made = None;
        loop {
            let is_it = |node: u32| keys[node as usize].load(Ordering::Relaxed) == key;
            let place = match view.find(hash, alone, is_it) {
                Ok(found) => return found,
                Err(place) => place,
            };
            let made = *made.get_or_insert_with(|| {
                let number = next.fetch_add(1, Ordering::Relaxed);
                keys[number as usize].store(key, Ordering::Relaxed);
                number
            });
            if view.insert(place, made, alone) {
                return made;
            }
        }
    }

    fn keys(count: usize) -> Vec<AtomicU64> {
        (0..count).map(|_| AtomicU64::new(u64::MAX)).collect()
    }

    #[test]
    fn each_key_has_one_number() {
        const KEYS: u64 = if cfg!(miri) { 80 } else { 2000 };
        let rounds = if cfg!(miri) { 2 } else { 3 };
        // With good hashes, and with only 8 different ones.
        for (threads, mask, alone) in [(1, u64::MAX, true), (4, u64::MAX, false), (2, 7, true), (2, 7, false)]
        {
            let (table, keys, next) = (Table::new(threads), keys(KEYS as usize), AtomicU32::new(0));
            let mut view = table.view();
            for _ in 0..rounds {
                for key in 0..KEYS {
                    let hash = hash(&key) & mask;
                    assert_eq!(u64::from(number(&mut view, hash, key, &keys, &next, alone)), key);
                    let is_it = |node: u32| keys[node as usize].load(Ordering::Relaxed) == key;
                    assert_eq!(table.find(hash, is_it), Some(key as u32));
                }
            }
            assert_eq!(table.find(hash(&5000), |_| false), None);
        }
    }

    #[test]
    fn threads_agree_on_the_number_of_each_key() {
        const KEYS: u64 = if cfg!(miri) { 150 } else { 30_000 };
        for round in 0..if cfg!(miri) { 2 } else { 8 } {
            // One shard, which grows often while others search and insert.
            let (table, keys, next) = (Table::new(1), keys(4 * KEYS as usize), AtomicU32::new(0));
            let numbers = |thread: u64| {
                let mut view = table.view();
                let order = (0..KEYS).map(|at| (at * 7919 + thread * round * 997) % KEYS);
                let mut numbers: Vec<_> =
                    order.map(|key| (key, number(&mut view, hash(&key), key, &keys, &next, false))).collect();
                numbers.sort_unstable();
                numbers
            };
            let all: Vec<_> = std::thread::scope(|scope| {
                let threads: Vec<_> = (0..4).map(|thread| scope.spawn(move || numbers(thread))).collect();
                threads.into_iter().map(|thread| thread.join().unwrap()).collect()
            });
            assert!(all.iter().all(|numbers| *numbers == all[0]), "round {round}");
        }
    }
}
