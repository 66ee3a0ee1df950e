//! The jobs of this engine and all peers, and the perfect split of each.
//!
//! A perfect split is the same work done by plain threads, each with a contiguous share of equal work and no
//! communication. It is the yardstick of efficiency, and it defines the expected checksum.

use std::ops::Range;
use std::sync::{Arc, Barrier};
use std::time::Instant;

use crate::row::{Row, median_of, once, pin};
use crate::work::{Heavy, Work, fold, join};

/// A chain of serial in-order stages. The first creates the items and the last folds them; all of them work.
#[derive(Clone, Copy, Debug)]
pub struct Chain {
    /// The number of stages, at least 2, with a channel between neighbours.
    pub stages: usize,
    /// The number of items.
    pub items: u64,
    /// The work of each stage on each item.
    pub work: Work,
    /// The number of threads.
    pub threads: usize,
}

impl Chain {
    /// Runs the same work as a perfect split.
    pub fn split(&self) -> Row {
        let shares = equal_shares(self.items, self.threads, |_| 1);
        split(shares, |range| {
            let mut stage = self.work.stage();
            range.fold(0, |h, i| fold(h, (0..self.stages).fold(i, |x, _| stage.run(x))))
        })
    }
}

/// An ordered farm: a serial source of indices, a parallel stage, a serial in-order sink.
#[derive(Clone, Debug)]
pub struct Farm {
    /// The number of items.
    pub items: u64,
    /// The work of the parallel stage.
    pub work: Arc<Heavy>,
    /// The number of threads.
    pub threads: usize,
}

impl Farm {
    /// Runs the same work as a perfect split.
    pub fn split(&self) -> Row {
        let shares = equal_shares(self.items, self.threads, |i| self.work.steps(i));
        split(shares, |range| range.fold(0, |h, i| fold(h, self.work.run(i))))
    }
}

/// A farm that takes microseconds and is run many times in a row; the result is the median time.
#[derive(Clone, Debug)]
pub struct Small {
    /// One farm.
    pub farm: Farm,
    /// The number of runs.
    pub jobs: u64,
}

impl Small {
    /// The time of the work alone on one thread, divided by the number of threads.
    pub fn split(&self) -> Row {
        let Farm { items, work, threads } = &self.farm;
        let row = median_of(self.jobs, || once(|| (0..*items).fold(0, |h, i| fold(h, work.run(i)))));
        Row { seconds: row.seconds / *threads as f64, ..row }
    }
}

/// Contiguous ranges of `0..items` of about the same total cost.
pub fn equal_shares(items: u64, shares: usize, cost: impl Fn(u64) -> u64) -> Vec<Range<u64>> {
    let total: u64 = (0..items).map(&cost).sum();
    let (mut ranges, mut start, mut seen) = (Vec::new(), 0, 0);
    for i in 0..items {
        seen += cost(i);
        let due = total as f64 * (ranges.len() + 1) as f64 / shares as f64;
        if ranges.len() + 1 < shares && seen as f64 >= due {
            ranges.push(start..i + 1);
            start = i + 1;
        }
    }
    ranges.push(start..items);
    ranges
}

/// Runs each share on a thread of its own and joins the checksums; `run` folds one value per item.
fn split(shares: Vec<Range<u64>>, run: impl Fn(Range<u64>) -> u64 + Sync) -> Row {
    split_parts(shares, |range| {
        let len = range.end - range.start;
        (run(range), len)
    })
}

/// Runs each share on a thread and a processor of its own; `run` returns a checksum and the number of its values.
///
/// The clock runs from the time when all threads are ready until the last has finished: neither the start of a thread
/// nor its migration to a processor belongs to a perfect split.
pub fn split_parts(shares: Vec<Range<u64>>, run: impl Fn(Range<u64>) -> (u64, u64) + Sync) -> Row {
    split_prepared(shares, |range| range, run)
}

/// Like [`split_parts`]; each thread prepares its share before the clock runs.
pub fn split_prepared<S>(
    shares: Vec<Range<u64>>,
    prepare: impl Fn(Range<u64>) -> S + Sync,
    run: impl Fn(S) -> (u64, u64) + Sync,
) -> Row {
    let (prepare, run, ready) = (&prepare, &run, &Barrier::new(shares.len()));
    let part = move |(index, range): (usize, Range<u64>)| {
        pin(index);
        let share = prepare(range);
        ready.wait();
        let start = Instant::now();
        (run(share), start, Instant::now())
    };
    let parts: Vec<_> = std::thread::scope(|scope| {
        let threads: Vec<_> =
            shares.into_iter().enumerate().map(|share| scope.spawn(move || part(share))).collect();
        threads.into_iter().map(|thread| thread.join().expect("a share does not panic")).collect()
    });
    let start = parts.iter().map(|&(_, start, _)| start).min().expect("at least one share");
    let end = parts.iter().map(|&(_, _, end)| end).max().expect("at least one share");
    let checksum = parts.iter().fold(0, |h, &((part, len), ..)| join(h, part, len));
    Row::new((end - start).as_secs_f64(), checksum)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::work::Calibration;

    #[test]
    fn shares_cover_everything_once() {
        for shares in 1..5 {
            let ranges = equal_shares(1000, shares, |i| i);
            assert_eq!(ranges.len(), shares);
            assert_eq!(ranges.first().unwrap().start, 0);
            assert_eq!(ranges.last().unwrap().end, 1000);
            assert!(ranges.windows(2).all(|pair| pair[0].end == pair[1].start));
        }
    }

    #[test]
    fn a_split_has_the_same_checksum_on_any_number_of_threads() {
        let work = Arc::new(Heavy::lasting(20, &Calibration { ns_per_step: 1.0 }));
        let farm = |threads| Farm { items: 1000, work: Arc::clone(&work), threads };
        assert_eq!(farm(1).split().checksum, farm(3).split().checksum);
    }
}
