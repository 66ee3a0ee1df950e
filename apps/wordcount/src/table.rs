//! A table of counts over words.
//!
//! Nearly all words of any text have at most 16 bytes. Such a word is a number: its bytes, padded with
//! zeros, which no word contains. It lies in the table itself, so a look-up touches one cache line
//! and compares two numbers; open addressing with linear probing, at most half full. The rest are in
//! a map.

use std::collections::HashMap;

use crate::words::next;

/// Bytes of a word that lies in the table itself.
const SHORT: usize = 16;

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
        Table { slots: vec![Slot::default(); 1 << 12], used: 0, long: HashMap::new() }
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
    pub fn add_text(&mut self, text: &[u8]) {
        let mut at = 0;
        while let Some((start, end)) = next(text, at) {
            at = end;
            match end - start {
                0..=SHORT => self.add_key(key(text, start, end), 1),
                _ => self.add_long(&text[start..end], 1),
            }
        }
    }

    /// Adds the words of another table for which `wanted` says so of their hash.
    pub fn add_table(&mut self, other: &Table, wanted: impl Fn(u64) -> bool) {
        let used = other.slots.iter().filter(|slot| slot.key != 0 && wanted(hash(slot.key)));
        used.for_each(|slot| self.add_key(slot.key, slot.count));
        let long = other.long.iter().filter(|(word, _)| wanted(hash(key(word, 0, SHORT))));
        long.for_each(|(word, count)| self.add_long(word, *count));
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
                return if self.used * 2 > self.slots.len() {
                    self.grow()
                };
            }
            at += 1;
        }
    }

    #[cold]
    fn grow(&mut self) {
        let slots = vec![Slot::default(); self.slots.len() * 4];
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

    /// The words with their counts, in no order: short ones by key, long ones as they are.
    pub(crate) fn entries(&self) -> impl Iterator<Item = (Word<'_>, u64)> {
        let short = self.slots.iter().filter(|slot| slot.key != 0);
        let long = self.long.iter().map(|(word, count)| (Word::Long(word), *count));
        short.map(|slot| (Word::Short(slot.key.to_le_bytes()), slot.count)).chain(long)
    }
}

/// A word out of a table.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Word<'a> {
    /// Padded with zeros.
    Short([u8; SHORT]),
    Long(&'a [u8]),
}

impl Word<'_> {
    /// Its bytes.
    pub fn bytes(&self) -> &[u8] {
        match self {
            Word::Short(bytes) => {
                let length = bytes.iter().position(|byte| *byte == 0).unwrap_or(SHORT);
                &bytes[..length]
            }
            Word::Long(bytes) => bytes,
        }
    }
}

/// The bytes of a short word as a number.
#[inline(always)]
fn key(text: &[u8], start: usize, end: usize) -> u128 {
    let length = end - start;
    match text[start..].first_chunk::<SHORT>() {
        Some(bytes) => u128::from_le_bytes(*bytes) & (u128::MAX >> (8 * (SHORT - length))),
        None => {
            let mut bytes = [0; SHORT];
            bytes[..length].copy_from_slice(&text[start..end]);
            u128::from_le_bytes(bytes)
        }
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
            table.entries().map(|(word, count)| (word.bytes().to_vec(), count)).collect();
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
        assert!(parts.iter().flat_map(Table::entries).all(|(_, count)| count == 2));
    }
}
