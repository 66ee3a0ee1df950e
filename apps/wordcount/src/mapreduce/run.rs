//! Runs: words with their counts, in the order of the words.

use crate::ranking::Ranked;
use crate::table::{hash, part};
use crate::words::{self, SHORT};

/// What mapping a text gives: the pair (word, 1) for each word, of which only the word is written
/// down, a short one as its number and a long one as a reference into the text.
#[derive(Default)]
pub(super) struct Pairs<'a> {
    short: Vec<u128>,
    long: Vec<&'a [u8]>,
}

impl<'a> Pairs<'a> {
    /// Those of a text, in its order. `room` is kept from text to text.
    pub fn map(text: &'a [u8], room: &mut Vec<u128>) -> Self {
        let (mut short, mut long) = (std::mem::take(room), Vec::new());
        short.clear();
        words::each(text, |start, end| match end - start {
            // Numbers are in the order of words when the first byte is the highest.
            length @ 0..=SHORT => short.push(words::key(text, start, length).swap_bytes()),
            _ => long.push(&text[start..end]),
        });
        Pairs { short, long }
    }

    /// Sorts them, and adds up those of the same word.
    pub fn sort(mut self, room: &mut Vec<u128>) -> Run {
        self.short.sort_unstable();
        self.long.sort_unstable();
        let short = self.short.chunk_by(|a, b| a == b);
        let long = self.long.chunk_by(|a, b| a == b);
        let run = Run {
            short: short.map(|same| Pair { word: same[0], count: same.len() as u64 }).collect(),
            long: long.map(|same| (same[0].into(), same.len() as u64)).collect(),
        };
        *room = self.short;
        run
    }
}

/// A short word and its count.
#[derive(Clone, Copy)]
struct Pair {
    word: u128,
    count: u64,
}

/// Words with their counts in the order of the words, no word twice; short and long ones apart.
#[derive(Default)]
pub(super) struct Run {
    short: Vec<Pair>,
    long: Vec<(Box<[u8]>, u64)>,
}

impl Run {
    /// The same words in as many runs as there are parts, each where its hash belongs.
    pub fn partition(self, parts: usize) -> Vec<Run> {
        if parts == 1 {
            return vec![self];
        }
        let room = self.short.len() / parts * 9 / 8;
        let empty = || Run { short: Vec::with_capacity(room), long: Vec::new() };
        let mut runs: Vec<Run> = (0..parts).map(|_| empty()).collect();
        for pair in self.short {
            runs[part(hash(pair.word), parts)].short.push(pair);
        }
        for pair in self.long {
            runs[part(hash(words::key(&pair.0, 0, SHORT)), parts)].long.push(pair);
        }
        runs
    }

    /// The words of both, with the sums of their counts.
    fn merge(self, other: Run) -> Run {
        Run { short: merge_short(&self.short, &other.short), long: merge_long(self.long, other.long) }
    }

    fn len(&self) -> usize {
        self.short.len() + self.long.len()
    }

    /// In the order of counts.
    pub fn ranked(self) -> Vec<Ranked> {
        let short = self.short.into_iter().map(|pair| Ranked::short(pair.word.swap_bytes(), pair.count));
        let long = self.long.into_iter().map(|(word, count)| Ranked::long(word, count));
        let mut ranked: Vec<Ranked> = short.chain(long).collect();
        ranked.sort_unstable();
        ranked
    }
}

/// No branch depends on which word is first: that could not be foreseen.
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
    // The standard sort finds the two runs, and merges them.
    all.sort_by(|a, b| a.0.cmp(&b.0));
    all.dedup_by(|second, first| {
        let same = first.0 == second.0;
        first.1 += if same { second.1 } else { 0 };
        same
    });
    all
}

/// Merges runs as they come. Those that wait are each more than twice as long as the next, so a word
/// is merged about as often as the longest could be halved.
#[derive(Default)]
pub(super) struct Merger {
    waiting: Vec<Run>,
}

impl Merger {
    /// Adds a run.
    pub fn add(&mut self, mut run: Run) {
        while let Some(last) = self.waiting.pop_if(|last| last.len() <= 2 * run.len()) {
            run = last.merge(run);
        }
        self.waiting.push(run);
    }

    /// Adds a run that is merged at the end.
    pub fn wait(&mut self, run: Run) {
        self.waiting.push(run);
    }

    /// All that came as one run.
    pub fn finish(self) -> Run {
        self.waiting.into_iter().rev().reduce(Run::merge).unwrap_or_default()
    }
}
