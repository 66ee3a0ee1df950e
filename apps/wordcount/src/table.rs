//! A table of counts over words.
//!
//! Nearly all words of any text have at most 16 bytes. Such a word is a number: its bytes, padded with
//! zeros, which no word contains. It lies in the table itself, so a look-up touches one cache line
//! and compares two numbers; open addressing with linear probing, at most half full. The rest are in
//! a map.

use std::collections::HashMap;

use crate::ranking::Ranked;
use crate::words::{self, SHORT};

/// Words found before they are counted.
const AT_A_TIME: usize = 32;

/// A word and how often it was seen; no word has the key zero.
#[derive(Clone, Copy, Default, Debug)]
struct Slot {
    key: u128,
    count: u64,
}

/// Counts by word.
#[derive(Clone, Debug)]
pub struct Table {
    slots: Vec<Slot>,
    /// Words in the slots.
    used: usize,
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
        Table::with_room(0)
    }

    /// An empty table that need not grow before it holds so many different words.
    pub fn with_room(words: usize) -> Table {
        let slots = (words * 5 / 4 + 1).next_power_of_two().max(1 << 12);
        Table { slots: vec![Slot::default(); slots], used: 0, long: HashMap::new() }
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
    /// Words are found some at a time and then counted, so that the processor, which cannot foresee
    /// where words end, does not wait for the one when it fetches from memory for the other.
    pub fn add_text(&mut self, text: &[u8]) {
        let (mut keys, mut found, mut at) = ([0; AT_A_TIME], 0, 0);
        while let Some(start) = words::start(text, at) {
            let (key, length) = words::short(text, start);
            at = start + length;
            if length == SHORT && text.get(at).is_some_and(|byte| words::is_in_word(*byte)) {
                at = words::end(text, start);
                self.add_long(&text[start..at], 1);
                continue;
            }
            keys[found] = key;
            found += 1;
            if found == AT_A_TIME {
                self.add_keys(&keys);
                found = 0;
            }
        }
        keys[..found].iter().for_each(|key| self.add_key(*key, 1));
    }

    /// Adds the words of another table for which `wanted` says so of their hash.
    pub fn add_table(&mut self, other: &Table, wanted: impl Fn(u64) -> bool) {
        let used = other.slots.iter().filter(|slot| slot.key != 0 && wanted(hash(slot.key)));
        used.for_each(|slot| self.add_key(slot.key, slot.count));
        let long = other.long.iter().filter(|(word, _)| wanted(hash(words::short(word, 0).0)));
        long.for_each(|(word, count)| self.add_long(word, *count));
    }

    /// Fetches the slots of all keys at once, before it looks at any.
    fn add_keys(&mut self, keys: &[u128; AT_A_TIME]) {
        let mask = self.slots.len() - 1;
        let touched = keys.iter().fold(0, |all, key| all ^ self.slots[hash(*key) as usize & mask].count);
        std::hint::black_box(touched);
        keys.iter().for_each(|key| self.add_key(*key, 1));
    }

    #[inline(always)]
    fn add_key(&mut self, key: u128, count: u64) {
        let mask = self.slots.len() - 1;
        let mut at = hash(key) as usize & mask;
        loop {
            let slot = &mut self.slots[at & mask];
            if slot.key == key {
                slot.count += count;
                return;
            }
            if slot.key == 0 {
                *slot = Slot { key, count };
                self.used += 1;
                return if self.used * 5 > self.slots.len() * 4 {
                    self.grow()
                };
            }
            at += 1;
        }
    }

    #[cold]
    fn grow(&mut self) {
        let slots = vec![Slot::default(); self.slots.len() * 2];
        let old = std::mem::replace(&mut self.slots, slots);
        self.used = 0;
        old.iter().filter(|slot| slot.key != 0).for_each(|slot| self.add_key(slot.key, slot.count));
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
        let short = self.slots.iter().filter(|slot| slot.key != 0);
        let short = short.map(|slot| Ranked { count: slot.count, start: slot.key.to_le_bytes(), long: None });
        let long = self.long.iter().map(|(word, count)| Ranked {
            count: *count,
            start: *word.first_chunk().expect("longer than a short word"),
            long: Some(word.clone()),
        });
        short.chain(long)
    }
}

/// Two multiplications, folded: enough for words, and no protection against words chosen to collide.
#[inline(always)]
fn hash(key: u128) -> u64 {
    let (low, high) = (key as u64, (key >> 64) as u64);
    let wide = u128::from(low ^ 0x2d35_8dcc_aa6c_78a5) * u128::from(high ^ 0x8bb8_4b93_962e_acc9);
    let mixed = wide as u64 ^ (wide >> 64) as u64;
    mixed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ mixed >> 32
}

/// Which of `parts` a hash belongs to; by its high bits, as slots go by the low ones.
pub(crate) fn part(hash: u64, parts: usize) -> usize {
    ((u128::from(hash) * parts as u128) >> 64) as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    /// Words of every length around the limits, at every place in the text, and many different ones.
    #[test]
    fn counts_are_those_of_a_plain_map() {
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
        let mut expected: BTreeMap<Vec<u8>, u64> = BTreeMap::new();
        text.split(|byte| *byte == b' ').for_each(|word| *expected.entry(word.to_vec()).or_default() += 1);
        let mut table = Table::new();
        table.add_text(&text);
        let got: BTreeMap<Vec<u8>, u64> =
            table.entries().map(|entry| (entry.word().to_vec(), entry.count)).collect();
        assert_eq!(got, expected);
        assert_eq!(table.len(), expected.len());
        assert!(table.used > 4096 && !table.long.is_empty(), "{} {}", table.used, table.long.len());
    }

    #[test]
    fn tables_are_dealt_out_and_lose_nothing() {
        let mut table = Table::new();
        table.add_text(b"one two three four five six seven eight nine ten andonethatislongerthanallofthem");
        let parts: Vec<Table> = (0..3)
            .map(|mine| {
                let mut into = Table::new();
                into.add_table(&table, |hash| part(hash, 3) == mine);
                into.add_table(&table, |hash| part(hash, 3) == mine);
                into
            })
            .collect();
        assert_eq!(parts.iter().map(Table::len).sum::<usize>(), 11);
        assert!(parts.iter().flat_map(Table::entries).all(|entry| entry.count == 2));
    }
}
