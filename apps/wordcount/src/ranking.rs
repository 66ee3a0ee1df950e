//! Words in order of their counts.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;

use crate::table::Table;
use crate::words::{self, SHORT};

/// A word with its count.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Ranked {
    pub count: u64,
    /// The first bytes of the word, padded with zeros, which words do not contain.
    start: [u8; SHORT],
    /// The whole word, if it is longer than `start`.
    long: Option<Box<[u8]>>,
}

impl Ranked {
    /// A word of any length.
    #[cfg(feature = "cluster")]
    pub fn new(word: &[u8], count: u64) -> Ranked {
        match word.len() <= SHORT {
            true => Ranked::short(words::key(word, 0, word.len()), count),
            false => Ranked::long(word.into(), count),
        }
    }

    /// A short word, by its key.
    pub fn short(key: u128, count: u64) -> Ranked {
        Ranked { count, start: key.to_le_bytes(), long: None }
    }

    /// A long word.
    pub fn long(word: Box<[u8]>, count: u64) -> Ranked {
        Ranked { count, start: words::key(&word, 0, SHORT).to_le_bytes(), long: Some(word) }
    }

    /// The word.
    pub fn word(&self) -> &[u8] {
        match &self.long {
            Some(word) => word,
            None => &self.start[..self.start.iter().position(|byte| *byte == 0).unwrap_or(SHORT)],
        }
    }

    /// The first bytes as a key: of a short word, its own.
    #[cfg(feature = "cluster")]
    pub fn start(&self) -> u128 {
        u128::from_le_bytes(self.start)
    }

    /// The first bytes as a number that compares like the word, so most comparisons need no other memory.
    fn order(&self) -> u128 {
        u128::from_be_bytes(self.start)
    }
}

impl Ord for Ranked {
    #[inline]
    fn cmp(&self, other: &Self) -> Ordering {
        let by_count = other.count.cmp(&self.count);
        by_count.then_with(|| self.order().cmp(&other.order())).then_with(|| self.long.cmp(&other.long))
    }
}

impl PartialOrd for Ranked {
    #[inline]
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Words with their counts, ordered by count, the most frequent first, and then by bytes.
#[derive(Debug, Default)]
pub struct Ranking {
    /// Sorted parts. [`Ranking::iter`] merges them lazily, since often only the first words are used.
    parts: Vec<Vec<Ranked>>,
}

impl Ranking {
    /// A ranking of sorted parts that have no word in common.
    pub(crate) fn merge(parts: Vec<Vec<Ranked>>) -> Ranking {
        Ranking { parts }
    }

    /// Words with their counts, in order.
    pub fn iter(&self) -> impl Iterator<Item = (&[u8], u64)> {
        let heads = self.parts.iter().filter_map(|part| part.split_first());
        Merged { heads: heads.map(Reverse).collect() }.map(|entry| (entry.word(), entry.count))
    }

    /// The number of words, with repetitions.
    pub fn words(&self) -> u64 {
        self.parts.iter().flatten().map(|entry| entry.count).sum()
    }

    /// The number of distinct words.
    pub fn distinct(&self) -> usize {
        self.parts.iter().map(Vec::len).sum()
    }
}

/// The merge of sorted parts: the first entry of each part, and the rest of the part.
struct Merged<'a> {
    heads: BinaryHeap<Reverse<(&'a Ranked, &'a [Ranked])>>,
}

impl<'a> Iterator for Merged<'a> {
    type Item = &'a Ranked;

    fn next(&mut self) -> Option<&'a Ranked> {
        let mut head = self.heads.peek_mut()?;
        let Reverse((entry, rest)) = *head;
        match rest.split_first() {
            Some(next) => *head = Reverse(next),
            None => _ = PeekMut::pop(head),
        }
        Some(entry)
    }
}

/// The sorted words of a table.
pub(crate) fn sorted(table: &Table) -> Vec<Ranked> {
    let mut order = Vec::with_capacity(table.len());
    order.extend(table.entries());
    order.sort_unstable();
    order
}

#[cfg(test)]
mod tests {
    use crate::{Case, sequential};

    #[test]
    fn equal_counts_are_in_the_order_of_their_bytes() {
        let text =
            b"b a aa abcdefghijklmnop abcdefghijklmnopq abcdefghijklmno \xC3\xA4 Z b abcdefghijklmnopa";
        let ranking = sequential(text, Case::Kept);
        let mut words: Vec<(&[u8], u64)> = ranking.iter().collect();
        assert_eq!(words.remove(0), (&b"b"[..], 2));
        assert!(words.is_sorted() && words.iter().all(|(_, count)| *count == 1));
        assert_eq!((ranking.words(), ranking.distinct()), (10, 9));
    }
}
