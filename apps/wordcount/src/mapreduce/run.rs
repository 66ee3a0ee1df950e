//! Sorted runs: words with their counts, in the order of the words.

use crate::ranking::Ranked;
use crate::table::{hash, part};
use crate::words::{self, SHORT};

/// The pairs (word, 1) of a text. Only the word is stored: a short word as its key, a long word as a slice of the text.
#[derive(Default)]
pub(super) struct Pairs<'a> {
    short: Vec<u128>,
    long: Vec<&'a [u8]>,
}

impl<'a> Pairs<'a> {
    /// The pairs of a text, in the order of the text. `buffer` is memory to reuse.
    pub fn map(text: &'a [u8], buffer: &mut Vec<u128>) -> Self {
        let (mut short, mut long) = (std::mem::take(buffer), Vec::new());
        short.clear();
        words::for_each_word(text, |start, end| match end - start {
            // With the first byte as the most significant one, keys compare like words.
            length @ 0..=SHORT => short.push(words::key(text, start, length).swap_bytes()),
            _ => long.push(&text[start..end]),
        });
        Pairs { short, long }
    }

    /// Sorts the pairs and adds up those of the same word. Returns the memory to `buffer`.
    pub fn sort(mut self, buffer: &mut Vec<u128>) -> Run {
        self.short.sort_unstable();
        self.long.sort_unstable();
        let short = self.short.chunk_by(|a, b| a == b);
        let long = self.long.chunk_by(|a, b| a == b);
        let run = Run {
            short: short.map(|same| Pair { word: same[0], count: same.len() as u64 }).collect(),
            long: long.map(|same| (same[0].into(), same.len() as u64)).collect(),
        };
        *buffer = self.short;
        run
    }
}

/// A short word and its count.
#[derive(Clone, Copy)]
struct Pair {
    word: u128,
    count: u64,
}

/// Distinct words with their counts, in the order of the words. Short and long words are separate.
#[derive(Default)]
pub(super) struct Run {
    short: Vec<Pair>,
    long: Vec<(Box<[u8]>, u64)>,
}

impl Run {
    /// Divides the words into `parts` runs by their hashes.
    pub fn partition(self, parts: usize) -> Vec<Run> {
        if parts == 1 {
            return vec![self];
        }
        let capacity = self.short.len() / parts * 9 / 8;
        let empty = || Run { short: Vec::with_capacity(capacity), long: Vec::new() };
        let mut runs: Vec<Run> = (0..parts).map(|_| empty()).collect();
        for pair in self.short {
            runs[part(hash(pair.word), parts)].short.push(pair);
        }
        for pair in self.long {
            runs[part(hash(words::key(&pair.0, 0, SHORT)), parts)].long.push(pair);
        }
        runs
    }

    /// Merges two runs. Adds up the counts of words that are in both.
    fn merge(self, other: Run) -> Run {
        Run { short: merge_short(&self.short, &other.short), long: merge_long(self.long, other.long) }
    }

    fn len(&self) -> usize {
        self.short.len() + self.long.len()
    }

    /// The words in the order of a ranking.
    pub fn ranked(self) -> Vec<Ranked> {
        let short = self.short.into_iter().map(|pair| Ranked::short(pair.word.swap_bytes(), pair.count));
        let long = self.long.into_iter().map(|(word, count)| Ranked::long(word, count));
        let mut ranked: Vec<Ranked> = short.chain(long).collect();
        ranked.sort_unstable();
        ranked
    }
}

/// Merges without a branch on the order of two words, which a processor cannot predict.
fn merge_short(a: &[Pair], b: &[Pair]) -> Vec<Pair> {
    let mut merged = Vec::with_capacity(a.len() + b.len());
    let (mut i, mut j) = (0, 0);
    while let (Some(x), Some(y)) = (a.get(i), b.get(j)) {
        let (first, second) = (x.word <= y.word, y.word <= x.word);
        let count = x.count * u64::from(first) + y.count * u64::from(second);
        merged.push(Pair { word: x.word.min(y.word), count });
        i += usize::from(first);
        j += usize::from(second);
    }
    merged.extend_from_slice(&a[i..]);
    merged.extend_from_slice(&b[j..]);
    merged
}

fn merge_long(a: Vec<(Box<[u8]>, u64)>, b: Vec<(Box<[u8]>, u64)>) -> Vec<(Box<[u8]>, u64)> {
    let mut all = a;
    all.extend(b);
    // The standard sort detects the two sorted runs and merges them.
    all.sort_by(|a, b| a.0.cmp(&b.0));
    all.dedup_by(|second, first| {
        let same = first.0 == second.0;
        first.1 += if same { second.1 } else { 0 };
        same
    });
    all
}

/// Merges runs as they arrive. Each run kept is more than twice as long as the next, so a word is merged a logarithmic
/// number of times.
#[derive(Default)]
pub(super) struct Merger {
    runs: Vec<Run>,
}

impl Merger {
    /// Adds a run, and merges runs to restore the lengths.
    pub fn add(&mut self, mut run: Run) {
        while let Some(last) = self.runs.pop_if(|last| last.len() <= 2 * run.len()) {
            run = last.merge(run);
        }
        self.runs.push(run);
    }

    /// Adds a run without merging.
    pub fn push(&mut self, run: Run) {
        self.runs.push(run);
    }

    /// Merges all runs into one.
    pub fn finish(self) -> Run {
        self.runs.into_iter().rev().reduce(Run::merge).unwrap_or_default()
    }
}
