//! A table of counts over words.
//!
//! Nearly all words of any text have at most 16 bytes. Such a word is a number: its bytes, padded with
//! zeros, which no word contains. It lies in the table itself, so a look-up touches one place and
//! compares two numbers; open addressing with linear probing. What a look-up costs is how much of the
//! table the caches hold, so a slot has 20 bytes and the table is filled to seven eighths. The rest
//! are in a map.
//!
//! A word's place goes by the high bits of its hash. So tables of different sizes have their words in
//! the same order but for neighbours: one is added to another, or a part of it, from front to back.

use std::collections::HashMap;

use crate::ranking::Ranked;
use crate::words::{self, SHORT};

/// Words found before they are counted.
const AT_A_TIME: usize = 32;

/// Slots of the smallest table.
const FEWEST: usize = 1 << 12;

/// A word's number, in pieces so that slots lie without gaps, and how often it was seen. No word has the
/// number zero.
type Slot = [u32; 5];

/// Where a slot has its count.
const COUNT: usize = 4;

#[inline(always)]
fn key_in(slot: &Slot) -> u128 {
    slot[..COUNT].iter().rev().fold(0, |key, piece| key << 32 | u128::from(*piece))
}

#[inline(always)]
fn slot(key: u128, count: u32) -> Slot {
    [key as u32, (key >> 32) as u32, (key >> 64) as u32, (key >> 96) as u32, count]
}

/// Free slots, written and not only given out as zeros. A page of zeros that is read first and written
/// then is faulted in twice, the second time with an interrupt to every processor that runs a thread of
/// ours.
fn free(slots: usize) -> Vec<Slot> {
    let mut free = Vec::with_capacity(slots);
    free.resize(slots, std::hint::black_box([0; 5]));
    free
}

/// Counts by word.
#[derive(Clone, Debug)]
pub struct Table {
    slots: Vec<Slot>,
    /// High bits that the hashes of all its words share.
    skip: u32,
    /// How far hashes are shifted for their places.
    shift: u32,
    /// Words in the slots.
    used: usize,
    /// What short words have beyond the counts in their slots.
    more: HashMap<u128, u64>,
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

    /// An empty table for one part, in `2^bits`, of all words, that need not grow before it holds so many.
    pub(crate) fn of_part(bits: u32, words: usize) -> Table {
        let slots = (words * 8 / 7 + AT_A_TIME).next_power_of_two().max(FEWEST);
        Table {
            slots: free(slots),
            skip: bits,
            shift: 64 - slots.trailing_zeros(),
            used: 0,
            more: HashMap::new(),
            long: HashMap::new(),
        }
    }

    /// Different words.
    pub fn len(&self) -> usize {
        self.used + self.long.len()
    }

    /// Whether no word was seen.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Counts the words of a text.
    ///
    /// Words are found some at a time and then counted, so that the processor does not wait for the one
    /// when it fetches from memory for the other.
    pub fn add_text(&mut self, text: &[u8]) {
        let (mut keys, mut found) = ([0; AT_A_TIME], 0);
        words::each(text, |start, end| {
            if end - start > SHORT {
                return self.add_long(&text[start..end], 1);
            }
            keys[found] = words::key(text, start, end - start);
            found += 1;
            if found == AT_A_TIME {
                self.add_keys(&keys);
                found = 0;
            }
        });
        keys[..found].iter().for_each(|key| self.add_key(*key, 1));
    }

    /// Adds what a table of all words has of the part `mine`, which this table is for.
    ///
    /// There must be room for all of it: words come in the order of their places, and the first of too
    /// many would be pushed far from theirs.
    pub(crate) fn add_part(&mut self, all: &Table, mine: usize) {
        let (parts, slots) = (1 << self.skip, all.slots.len());
        let is_mine = |key| part(hash(key), parts) == mine;
        let (first, beyond) = (mine * slots / parts, (mine + 1) * slots / parts);
        // Words of the part before may lie in these slots, and some of this part behind them, up to
        // the first free slot.
        for at in first..first + slots {
            let slot = &all.slots[at & (slots - 1)];
            let key = key_in(slot);
            if key == 0 && at >= beyond {
                break;
            }
            if key != 0 && is_mine(key) {
                self.add_key(key, u64::from(slot[COUNT]));
            }
        }
        let more = all.more.iter().filter(|(key, _)| is_mine(**key));
        more.for_each(|(key, count)| self.add_more(*key, *count));
        let long = all.long.iter().filter(|(word, _)| is_mine(words::key(word, 0, SHORT)));
        long.for_each(|(word, count)| self.add_long(word, *count));
    }

    /// Fetches the slots of all keys at once, before it looks at any.
    #[inline(never)]
    fn add_keys(&mut self, keys: &[u128; AT_A_TIME]) {
        self.make_room(AT_A_TIME);
        let (mut homes, mut touched) = ([0; AT_A_TIME], 0);
        for (home, key) in homes.iter_mut().zip(keys) {
            *home = self.home(*key);
            touched ^= self.slots[*home][COUNT];
        }
        std::hint::black_box(touched);
        keys.iter().zip(homes).for_each(|(key, home)| self.add_at(home, *key, 1));
    }

    fn add_key(&mut self, key: u128, count: u64) {
        self.make_room(1);
        let low = count as u32;
        if u64::from(low) < count {
            self.add_more(key, count - u64::from(low));
        }
        self.add_at(self.home(key), key, low);
    }

    /// Adds to the count of a key, whose slot is at `at` or behind it. There is a free slot.
    #[inline(always)]
    fn add_at(&mut self, mut at: usize, key: u128, count: u32) {
        loop {
            let there = &mut self.slots[at];
            let found = key_in(there);
            if found == key {
                let (sum, over) = there[COUNT].overflowing_add(count);
                there[COUNT] = sum;
                if over {
                    self.add_more(key, 1 << 32);
                }
                return;
            }
            if found == 0 {
                *there = slot(key, count);
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
    fn add_more(&mut self, key: u128, count: u64) {
        *self.more.entry(key).or_default() += count;
    }

    /// Where a key would lie in an empty table.
    #[inline(always)]
    fn home(&self, key: u128) -> usize {
        (hash(key) << self.skip >> self.shift) as usize
    }

    /// Room for so many more words.
    #[inline(always)]
    fn make_room(&mut self, words: usize) {
        if (self.used + words) * 8 > self.slots.len() * 7 {
            self.grow();
        }
    }

    #[cold]
    fn grow(&mut self) {
        let slots = free(self.slots.len() * 2);
        let old = std::mem::replace(&mut self.slots, slots);
        self.shift -= 1;
        self.used = 0;
        let used = old.iter().map(|slot| (key_in(slot), slot[COUNT])).filter(|(key, _)| *key != 0);
        used.for_each(|(key, count)| self.add_at(self.home(key), key, count));
    }

    #[cold]
    fn add_long(&mut self, word: &[u8], count: u64) {
        match self.long.get_mut(word) {
            Some(known) => *known += count,
            None => _ = self.long.insert(word.into(), count),
        }
    }

    /// The words with their counts, in no order.
    pub(crate) fn entries(&self) -> impl Iterator<Item = Ranked> {
        let more = |key| if self.more.is_empty() { 0 } else { self.more.get(&key).copied().unwrap_or(0) };
        let short = self.slots.iter().map(|slot| (key_in(slot), slot[COUNT])).filter(|(key, _)| *key != 0);
        let short = short.map(move |(key, count)| Ranked::short(key, u64::from(count) + more(key)));
        short.chain(self.long.iter().map(|(word, count)| Ranked::long(word.clone(), *count)))
    }
}

/// Two multiplications, folded: enough for words, and no protection against words chosen to collide.
#[inline(always)]
pub(crate) fn hash(key: u128) -> u64 {
    let (low, high) = (key as u64, (key >> 64) as u64);
    let wide = u128::from(low ^ 0x2d35_8dcc_aa6c_78a5) * u128::from(high ^ 0x8bb8_4b93_962e_acc9);
    let mixed = wide as u64 ^ (wide >> 64) as u64;
    mixed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ mixed >> 32
}

/// Which of `parts` a hash belongs to: they are equal ranges of hashes, in order.
#[inline(always)]
pub(crate) fn part(hash: u64, parts: usize) -> usize {
    ((u128::from(hash) * parts as u128) >> 64) as usize
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

    /// Many different words, of every length around the limits.
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
    fn parts_of_tables_of_any_size_lose_nothing() {
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
            for mine in 0..1 << bits {
                let mut part = Table::of_part(bits, (large.len() + small.len()) >> bits);
                part.add_part(&large, mine);
                part.add_part(&small, mine);
                all.extend(counts(&part));
            }
            assert_eq!(all, expected, "{bits}");
        }
    }

    /// Tables in which all places are taken wrap round.
    #[test]
    fn words_pushed_over_the_end_are_found_in_their_part() {
        let mut table = Table::new();
        let last = (1u128..).filter(|key| hash(*key) >> 52 == 0xFFF).take(20);
        last.for_each(|key| table.add_key(key, key as u64));
        assert!(key_in(&table.slots[10]) != 0);
        let mut parts = [Table::of_part(1, 20), Table::of_part(1, 20)];
        parts.iter_mut().enumerate().for_each(|(mine, part)| part.add_part(&table, mine));
        assert_eq!((parts[0].len(), parts[1].len()), (0, 20));
        assert_eq!(counts(&parts[1]), counts(&table));
    }

    #[test]
    fn counts_may_be_more_than_a_slot_holds() {
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
