//! Words in order of their counts.

use crate::table::Table;
use crate::words::SHORT;

/// A word with its count.
///
/// Short words are compared without leaving the entry: padded with zeros, which words do not
/// contain, their bytes are in the order of the words.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Ranked {
    pub count: u64,
    /// The first bytes, padded with zeros.
    pub start: [u8; SHORT],
    /// All of a word that has more.
    pub long: Option<Box<[u8]>>,
}

impl Ranked {
    /// The word.
    pub fn word(&self) -> &[u8] {
        match &self.long {
            Some(word) => word,
            None => &self.start[..self.start.iter().position(|byte| *byte == 0).unwrap_or(SHORT)],
        }
    }
}

impl Ord for Ranked {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        let by_word = || self.start.cmp(&other.start).then_with(|| self.long.cmp(&other.long));
        other.count.cmp(&self.count).then_with(by_word)
    }
}

impl PartialOrd for Ranked {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

/// Words with their counts: the most frequent first, those of equal count by their bytes.
#[derive(Debug, Default)]
pub struct Ranking {
    order: Vec<Ranked>,
    words: u64,
}

impl Ranking {
    /// Of parts that are in order already, and have no word in common.
    pub(crate) fn merge(parts: Vec<Vec<Ranked>>) -> Ranking {
        let mut order: Vec<Ranked> = parts.into_iter().flatten().collect();
        // The standard sort finds the runs, and merges them.
        order.sort();
        let words = order.iter().map(|entry| entry.count).sum();
        Ranking { order, words }
    }

    /// Words with their counts, in order.
    pub fn iter(&self) -> impl Iterator<Item = (&[u8], u64)> {
        self.order.iter().map(|entry| (entry.word(), entry.count))
    }

    /// Words counted, each as often as it was seen.
    pub fn words(&self) -> u64 {
        self.words
    }

    /// Different words.
    pub fn different(&self) -> usize {
        self.order.len()
    }
}

/// The words of a table in order.
pub(crate) fn sorted(table: &Table) -> Vec<Ranked> {
    let mut order: Vec<Ranked> = table.entries().collect();
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
        assert_eq!((ranking.words(), ranking.different()), (10, 9));
    }
}
