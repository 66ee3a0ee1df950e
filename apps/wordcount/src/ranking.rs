//! Words in order of their counts.

use crate::table::{Table, Word};

/// Words with their counts: the most frequent first, those of equal count by their bytes.
#[derive(Debug, Default)]
pub struct Ranking {
    /// Of every word its count, and where it lies.
    order: Vec<(u64, Box<[u8]>)>,
    words: u64,
}

impl Ranking {
    /// Of tables that have no word in common.
    pub(crate) fn new(tables: Vec<Table>) -> Ranking {
        let sorted = tables.iter().map(sorted).collect();
        Ranking::merge(sorted)
    }

    /// Of parts that are in order already, and have no word in common.
    pub(crate) fn merge(parts: Vec<Vec<(u64, Box<[u8]>)>>) -> Ranking {
        let words = parts.iter().flatten().map(|(count, _)| count).sum();
        let mut order: Vec<(u64, Box<[u8]>)> = parts.into_iter().flatten().collect();
        // A merge of what is sorted already: the standard sort finds the runs.
        order.sort_by(by_rank);
        Ranking { order, words }
    }

    /// Words with their counts, in order.
    pub fn iter(&self) -> impl Iterator<Item = (&[u8], u64)> {
        self.order.iter().map(|(count, word)| (&**word, *count))
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

fn by_rank(a: &(u64, Box<[u8]>), b: &(u64, Box<[u8]>)) -> std::cmp::Ordering {
    b.0.cmp(&a.0).then_with(|| a.1.cmp(&b.1))
}

/// The words of a table in order.
pub(crate) fn sorted(table: &Table) -> Vec<(u64, Box<[u8]>)> {
    let own = |(word, count): (Word<'_>, u64)| (count, Box::from(word.bytes()));
    let mut order: Vec<(u64, Box<[u8]>)> = table.entries().map(own).collect();
    order.sort_unstable_by(by_rank);
    order
}
