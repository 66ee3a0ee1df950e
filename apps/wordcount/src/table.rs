//! A hash table of words and their counts.
//!
//! Nearly all words of any text have at most 16 bytes. The key of such a word is a number: its bytes, padded with
//! zeros, which no word contains. The table has open addressing with linear probing and stores the key in the slot, so
//! a look-up usually touches one slot and compares two numbers. The cost of a look-up depends on how much of the table
//! fits into the caches, so a slot has only 20 bytes and the load factor is up to 7/8. Longer words are in a map.
//!
//! The home slot of a word is given by the high bits of its hash. So tables of different sizes have their words in the
//! same order, up to collisions, and a table, or a part of it, is added to another from front to back.

use std::collections::HashMap;

use crate::ranking::Ranked;
use crate::words::{self, SHORT};

/// Words that are found before they are counted.
const BATCH: usize = 32;

/// The minimum number of slots.
const MIN_SLOTS: usize = 1 << 12;

/// The key of a word, in four pieces so that slots need no padding, and the low 32 bits of its count. No word has key 0.
type Slot = [u32; 5];

/// The index of the count in a slot.
const COUNT: usize = 4;

#[inline(always)]
fn key_of(slot: &Slot) -> u128 {
    slot[..COUNT].iter().rev().fold(0, |key, piece| key << 32 | u128::from(*piece))
}

#[inline(always)]
fn slot(key: u128, count: u32) -> Slot {
    [key as u32, (key >> 32) as u32, (key >> 64) as u32, (key >> 96) as u32, count]
}

/// Allocates empty slots and writes them, instead of allocating zeroed memory. A zeroed page that is first read and then
/// written causes two page faults, the second one with an interrupt to every processor that runs a thread of the
/// process.
fn empty_slots(count: usize) -> Vec<Slot> {
    let mut slots = Vec::with_capacity(count);
    slots.resize(count, std::hint::black_box([0; 5]));
    slots
}

/// Counts by word.
#[derive(Clone, Debug)]
pub struct Table {
    slots: Vec<Slot>,
    /// The number of high bits that the hashes of all words have in common.
    skip: u32,
    /// The shift from a hash (without the bits of `skip`) to the index of its home slot.
    shift: u32,
    /// Slots in use.
    used: usize,
    /// The part of the counts of short words that exceeds the 32 bits of a slot.
    overflow: HashMap<u128, u64>,
    /// Words longer than [`SHORT`].
    long: HashMap<Box<[u8]>, u64>,
}

impl Default for Table {
    fn default() -> Self {
        Table::new()
    }
}

impl Table {
    /// An empty table.
    pub fn new() -> Table {
        Table::of_part(0, 0)
    }

    /// An empty table for one of `2^bits` parts of all words, with capacity for `words` words.
    pub(crate) fn of_part(bits: u32, words: usize) -> Table {
        let slots = (words * 8 / 7 + BATCH).next_power_of_two().max(MIN_SLOTS);
        Table {
            slots: empty_slots(slots),
            skip: bits,
            shift: 64 - slots.trailing_zeros(),
            used: 0,
            overflow: HashMap::new(),
            long: HashMap::new(),
        }
    }

    /// The number of distinct words.
    pub fn len(&self) -> usize {
        self.used + self.long.len()
    }

    /// Whether the table has no words.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Counts the words of a text.
    ///
    /// Words are collected in batches and then counted, so that the memory accesses of a batch overlap.
    pub fn add_text(&mut self, text: &[u8]) {
        let (mut keys, mut found) = ([0; BATCH], 0);
        words::for_each_word(text, |start, end| {
            if end - start > SHORT {
                return self.add_long(&text[start..end], 1);
            }
            keys[found] = words::key(text, start, end - start);
            found += 1;
            if found == BATCH {
                self.add_keys(&keys);
                found = 0;
            }
        });
        keys[..found].iter().for_each(|key| self.add_key(*key, 1));
    }

    /// Adds the words of part `part_index` of a table of all words to this table, which must be a table of that part.
    ///
    /// This table must have capacity for all of them: words arrive in the order of their home slots, so in a table that
    /// is too small they would fill one region of it, and probe sequences would be long.
    pub(crate) fn add_part(&mut self, all: &Table, part_index: usize) {
        let (parts, slots) = (1 << self.skip, all.slots.len());
        let is_in_part = |key| part(hash(key), parts) == part_index;
        let (first, end) = (part_index * slots / parts, (part_index + 1) * slots / parts);
        // Collisions can displace words of the previous part into these slots, and words of this part into the slots
        // from `end` up to the first empty slot.
        for at in first..first + slots {
            let slot = &all.slots[at & (slots - 1)];
            let key = key_of(slot);
            if key == 0 && at >= end {
                break;
            }
            if key != 0 && is_in_part(key) {
                self.add_key(key, u64::from(slot[COUNT]));
            }
        }
        let overflow = all.overflow.iter().filter(|(key, _)| is_in_part(**key));
        overflow.for_each(|(key, count)| self.add_overflow(*key, *count));
        let long = all.long.iter().filter(|(word, _)| is_in_part(words::key(word, 0, SHORT)));
        long.for_each(|(word, count)| self.add_long(word, *count));
    }

    /// Counts a batch of keys. First touches the home slots of all keys, so that the memory accesses overlap.
    #[inline(never)]
    fn add_keys(&mut self, keys: &[u128; BATCH]) {
        self.reserve(BATCH);
        let (mut homes, mut touched) = ([0; BATCH], 0);
        for (home, key) in homes.iter_mut().zip(keys) {
            *home = self.home_slot(*key);
            touched ^= self.slots[*home][COUNT];
        }
        std::hint::black_box(touched);
        keys.iter().zip(homes).for_each(|(key, home)| self.add_at(home, *key, 1));
    }

    fn add_key(&mut self, key: u128, count: u64) {
        self.reserve(1);
        let low = count as u32;
        if u64::from(low) < count {
            self.add_overflow(key, count - u64::from(low));
        }
        self.add_at(self.home_slot(key), key, low);
    }

    /// Adds to the count of a key. Probes from the slot `at` on. There must be an empty slot.
    #[inline(always)]
    fn add_at(&mut self, mut at: usize, key: u128, count: u32) {
        loop {
            let probed = &mut self.slots[at];
            let found = key_of(probed);
            if found == key {
                let (sum, overflows) = probed[COUNT].overflowing_add(count);
                probed[COUNT] = sum;
                if overflows {
                    self.add_overflow(key, 1 << 32);
                }
                return;
            }
            if found == 0 {
                *probed = slot(key, count);
                self.used += 1;
                return;
            }
            at += 1;
            if at == self.slots.len() {
                at = 0;
            }
        }
    }

    #[cold]
    fn add_overflow(&mut self, key: u128, count: u64) {
        *self.overflow.entry(key).or_default() += count;
    }

    /// The index of the slot at which probing for a key begins.
    #[inline(always)]
    fn home_slot(&self, key: u128) -> usize {
        (hash(key) << self.skip >> self.shift) as usize
    }

    /// Grows the table if `words` more words would exceed the load factor.
    #[inline(always)]
    fn reserve(&mut self, words: usize) {
        if (self.used + words) * 8 > self.slots.len() * 7 {
            self.grow();
        }
    }

    /// Makes room for words that come in the order of their home slots: in a table that is too small they would fill one region of
    /// it, and probe sequences would be long.
    #[cfg(feature = "cluster")]
    pub(crate) fn make_room(&mut self, words: usize) {
        while (self.used + words) * 8 > self.slots.len() * 7 {
            self.grow();
        }
    }

    #[cold]
    fn grow(&mut self) {
        let slots = empty_slots(self.slots.len() * 2);
        let old = std::mem::replace(&mut self.slots, slots);
        self.shift -= 1;
        self.used = 0;
        let used = old.iter().map(|slot| (key_of(slot), slot[COUNT])).filter(|(key, _)| *key != 0);
        used.for_each(|(key, count)| self.add_at(self.home_slot(key), key, count));
    }

    #[cold]
    fn add_long(&mut self, word: &[u8], count: u64) {
        match self.long.get_mut(word) {
            Some(known) => *known += count,
            None => _ = self.long.insert(word.into(), count),
        }
    }

    /// Counts a word of any length.
    #[cfg(feature = "cluster")]
    pub(crate) fn add(&mut self, word: &[u8], count: u64) {
        match word.len() <= SHORT {
            true => self.add_key(words::key(word, 0, word.len()), count),
            false => self.add_long(word, count),
        }
    }

    /// The words with their counts, in arbitrary order.
    pub(crate) fn entries(&self) -> impl Iterator<Item = Ranked> {
        let overflow =
            |key| if self.overflow.is_empty() { 0 } else { self.overflow.get(&key).copied().unwrap_or(0) };
        let short = self.slots.iter().map(|slot| (key_of(slot), slot[COUNT])).filter(|(key, _)| *key != 0);
        let short = short.map(move |(key, count)| Ranked::short(key, u64::from(count) + overflow(key)));
        short.chain(self.long.iter().map(|(word, count)| Ranked::long(word.clone(), *count)))
    }
}

/// A hash of two folded multiplications. It is good enough for words, but gives no protection against words that are
/// chosen to collide.
#[inline(always)]
pub(crate) fn hash(key: u128) -> u64 {
    let (low, high) = (key as u64, (key >> 64) as u64);
    let wide = u128::from(low ^ 0x2d35_8dcc_aa6c_78a5) * u128::from(high ^ 0x8bb8_4b93_962e_acc9);
    let mixed = wide as u64 ^ (wide >> 64) as u64;
    mixed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ mixed >> 32
}

/// The index of the part of a hash. The `parts` parts are equal ranges of hashes, in order.
#[inline(always)]
pub(crate) fn part(hash: u64, parts: usize) -> usize {
    ((u128::from(hash) * parts as u128) >> 64) as usize
}

/// The part of `2^bits` that a word belongs to.
#[cfg(feature = "cluster")]
pub(crate) fn part_of(word: &Ranked, bits: u32) -> usize {
    part(hash(word.start()), 1 << bits)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    fn counts(table: &Table) -> BTreeMap<Vec<u8>, u64> {
        let counts: BTreeMap<Vec<u8>, u64> =
            table.entries().map(|entry| (entry.word().to_vec(), entry.count)).collect();
        assert_eq!(counts.len(), table.len());
        counts
    }

    /// Many distinct words, of various lengths around [`SHORT`].
    fn text() -> Vec<u8> {
        let mut text = Vec::new();
        let mut state = 1u64;
        for i in 0..40_000u64 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(i);
            let length = (state >> 60) as usize * 2 + 1;
            let letter = |at: usize| b'a' + ((state >> (at % 30 + 20)) % 7) as u8;
            text.extend((0..length).map(letter));
            text.push(b' ');
        }
        text.pop();
        text
    }

    fn plain(text: &[u8]) -> BTreeMap<Vec<u8>, u64> {
        let mut counts = BTreeMap::new();
        text.split(|byte| *byte == b' ').for_each(|word| *counts.entry(word.to_vec()).or_default() += 1);
        counts
    }

    #[test]
    fn counts_are_those_of_a_plain_map() {
        let mut table = Table::new();
        table.add_text(&text());
        assert_eq!(counts(&table), plain(&text()));
        assert!(table.used > 4096 && !table.long.is_empty(), "{} {}", table.used, table.long.len());
    }

    #[test]
    fn parts_of_tables_of_different_sizes_have_all_words() {
        let text = text();
        let mut large = Table::new();
        large.add_text(&text);
        let mut small = Table::new();
        small.add_text(&text[..20_000]);
        let mut expected = plain(&text);
        for (word, count) in counts(&small) {
            *expected.entry(word).or_default() += count;
        }
        for bits in 0..5 {
            let mut all = BTreeMap::new();
            for index in 0..1 << bits {
                let mut part = Table::of_part(bits, (large.len() + small.len()) >> bits);
                part.add_part(&large, index);
                part.add_part(&small, index);
                all.extend(counts(&part));
            }
            assert_eq!(all, expected, "{bits}");
        }
    }

    /// Probing wraps round at the end of a table.
    #[test]
    fn words_displaced_over_the_end_are_found_in_their_part() {
        let mut table = Table::new();
        let last = (1u128..).filter(|key| hash(*key) >> 52 == 0xFFF).take(20);
        last.for_each(|key| table.add_key(key, key as u64));
        assert!(key_of(&table.slots[10]) != 0);
        let mut parts = [Table::of_part(1, 20), Table::of_part(1, 20)];
        parts.iter_mut().enumerate().for_each(|(index, part)| part.add_part(&table, index));
        assert_eq!((parts[0].len(), parts[1].len()), (0, 20));
        assert_eq!(counts(&parts[1]), counts(&table));
    }

    #[test]
    fn counts_may_exceed_32_bits() {
        let (many, word) = (u64::from(u32::MAX), words::key(b"word", 0, 4));
        let mut table = Table::new();
        table.add_key(word, many);
        table.add_text(b"word");
        table.add_key(word, 3 * many + 7);
        let mut part = Table::of_part(0, 10);
        part.add_part(&table, 0);
        part.add_part(&table, 0);
        assert_eq!(counts(&part), BTreeMap::from([(b"word".to_vec(), 2 * (4 * many + 8))]));
    }
}
