//! Jobs with items that own memory: strings, vectors, parsed JSON, blocks of bytes. What an allocator does when another
//! thread frees an item is part of the measurement.
//!
//! Every run is a process of its own, so that no run finds a heap that another has left behind.

mod jobs;
mod ours;
mod peers;
mod text;

use std::collections::HashMap;

use crate::race::Outcome;
use crate::row::{Row, timed};
use crate::work::{Work, fold, mix};

/// The amount of work of a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Size {
    /// The number of items.
    pub items: u64,
    /// The number of threads.
    pub threads: usize,
    /// The steps of work on an item, for the rows with calibrated work.
    pub steps: u64,
}

/// A source, a parallel stage, and a sequential end.
pub trait Job: Copy + Send + Sync + 'static {
    /// What the source makes.
    type Item: Send + 'static;
    /// What the parallel stage makes of it.
    type Mapped: Send + 'static;

    /// Makes the item with this index.
    fn item(self, index: u64) -> Self::Item;

    /// The parallel stage.
    fn map(self, item: Self::Item) -> Self::Mapped;

    /// The sequential end: adds the next result.
    fn add(self, sum: &mut Sum, result: Self::Mapped);

    /// The parallel stage on this engine.
    fn stage(self, items: thalweg::Stream<'static, Self::Item>) -> thalweg::Stream<'static, Self::Mapped> {
        items.par_map(move |item| self.map(item))
    }
}

/// What the sequential end computes: a checksum that depends on the order of the results, and counts of words.
#[derive(Default, Debug)]
pub struct Sum {
    /// The index of the next result.
    next: u64,
    digest: u64,
    counts: HashMap<String, u64>,
}

impl Sum {
    /// Adds the value of the next result.
    fn value(&mut self, value: u64) {
        self.digest = self.digest.wrapping_add(mix(self.next).wrapping_mul(value));
        self.next += 1;
    }

    /// Adds `n` to the count of a word.
    fn count(&mut self, word: String, n: u64) {
        *self.counts.entry(word).or_default() += n;
    }

    /// The sum of both, which have results with different indices.
    fn merge(mut self, other: Sum) -> Sum {
        self.digest = self.digest.wrapping_add(other.digest);
        other.counts.into_iter().for_each(|(word, n)| self.count(word, n));
        self
    }

    fn checksum(&self) -> u64 {
        let hash = |word: &str| word.bytes().fold(0, |h, byte| fold(h, u64::from(byte)));
        let counts = self.counts.iter().map(|(word, n)| hash(word).wrapping_mul(*n));
        counts.fold(self.digest, u64::wrapping_add)
    }
}

/// Executes a row with a contestant; `None` if there is no such row, or if the contestant cannot do it.
pub fn run(row: &str, contestant: &str, size: Size) -> Option<Outcome> {
    match row {
        "maps" => in_stages(contestant, ours::chain, size),
        "processes" => in_stages(contestant, ours::processes, size),
        "map" => farm(jobs::Upper, contestant, size),
        "words" => farm(jobs::Words, contestant, size),
        "json" => farm(jobs::Json, contestant, size),
        "vectors" => farm(jobs::Vectors, contestant, size),
        "keyed" => farm(jobs::Keyed, contestant, size),
        "stage" => farm(jobs::Calibrated(Work::of(size.steps)), contestant, size),
        _ => farm(jobs::Blocks::named(row)?, contestant, size),
    }
}

/// The parallel stage of [`jobs::Upper`] as sequential stages, in our form `ours`.
fn in_stages(contestant: &str, ours: fn(Size) -> Outcome, size: Size) -> Option<Outcome> {
    match contestant {
        "ours" => Some(ours(size)),
        "adaptor" | "blocking" => None,
        "crossbeam(1)" => Some(Ok(Some(peers::crossbeam_stages(size, 1)))),
        "crossbeam(64)" => Some(Ok(Some(peers::crossbeam_stages(size, 64)))),
        "pariter" => Some(Ok(Some(peers::pariter_stages(size)))),
        other => farm(jobs::Upper, other, size),
    }
}

fn farm<J: Job>(job: J, contestant: &str, size: Size) -> Option<Outcome> {
    // Makes what items share.
    drop(job.item(0));
    let row = match contestant {
        "loop" => alone(job, size),
        "ours" => return Some(ours::farm(job, size, false)),
        "blocking" => return Some(ours::farm(job, size, true)),
        "adaptor" => ours::adaptor(job, size),
        "rayon(bridge)" => peers::rayon_bridge(job, size),
        "rayon(chunks)" => peers::rayon_chunks(job, size),
        "crossbeam(1)" => peers::crossbeam(job, size, 1),
        "crossbeam(64)" => peers::crossbeam(job, size, 64),
        "pariter" => peers::pariter(job, size),
        _ => return None,
    };
    Some(Ok(Some(row)))
}

/// The items of a job.
fn source<J: Job>(job: J, size: Size) -> impl Iterator<Item = J::Item> + Send + 'static {
    (0..size.items).map(move |index| job.item(index))
}

/// The checksum of all results in their order.
fn total<J: Job>(job: J, results: impl Iterator<Item = J::Mapped>) -> u64 {
    let mut sum = Sum::default();
    results.for_each(|result| job.add(&mut sum, result));
    sum.checksum()
}

/// A loop.
fn alone<J: Job>(job: J, size: Size) -> Row {
    timed(|| total(job, source(job, size).map(|item| job.map(item))))
}

#[cfg(test)]
mod tests;
