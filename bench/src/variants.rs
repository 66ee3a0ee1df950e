//! The computations of the farm's variants: 0..3 outputs, rounds, and a peeked window.

use std::ops::Range;

use crate::jobs::{Farm, equal_shares, split_parts};
use crate::row::Row;
use crate::work::{Heavy, fold, mix};

/// The items that a firing peeks; it pops the first of them.
pub const WINDOW: usize = 64;

/// The outputs of item `i`: 0 to 3 of them.
#[inline]
pub fn outputs(work: &Heavy, i: u64) -> Range<u64> {
    let first = work.run(i) >> 2;
    first..first + output_count(i)
}

fn output_count(i: u64) -> u64 {
    mix(!i) & 3
}

/// An item in the loop: its index, the remaining rounds, and its value so far.
#[derive(Clone, Copy, Debug)]
pub struct Round {
    /// The index, which determines the item's cost.
    pub index: u64,
    /// The remaining rounds.
    pub left: u64,
    /// The result so far.
    pub value: u64,
}

/// Item `i` before its first round; it makes 1 to 3 rounds.
#[inline]
pub fn first_round(i: u64) -> Round {
    Round { index: i, left: 1 + mix(!i) % 3, value: 0 }
}

/// One round.
#[inline]
pub fn round(work: &Heavy, item: Round) -> Round {
    Round { value: fold(item.value, work.run(item.index + item.left)), left: item.left - 1, ..item }
}

/// All rounds of item `i`.
pub fn rounds(work: &Heavy, i: u64) -> u64 {
    let mut item = first_round(i);
    while item.left > 0 {
        item = round(work, item);
    }
    item.value
}

/// The result of a firing for its window.
#[inline]
pub fn peek(work: &Heavy, window: &[u64]) -> u64 {
    work.run(window[0]) ^ window.iter().fold(0, |sum: u64, &x| sum.wrapping_add(x))
}

/// The perfect split of [`outputs`].
pub fn split_outputs(job: &Farm) -> Row {
    split(
        job,
        job.items,
        |i| job.work.steps(i),
        |i, h, n| {
            let (sum, count) = outputs(&job.work, i).fold((h, n), |(h, n), x| (fold(h, x), n + 1));
            (sum, count)
        },
    )
}

/// The perfect split of [`rounds`].
pub fn split_rounds(job: &Farm) -> Row {
    let cost = |i| (1..=first_round(i).left).map(|left| job.work.steps(i + left)).sum();
    split(job, job.items, cost, |i, h, n| (fold(h, rounds(&job.work, i)), n + 1))
}

/// The perfect split of [`peek`]: one firing for each complete window.
pub fn split_peek(job: &Farm) -> Row {
    let firings = (job.items + 1).saturating_sub(WINDOW as u64);
    split(
        job,
        firings,
        |i| job.work.steps(i),
        |i, h, n| {
            let window: [u64; WINDOW] = std::array::from_fn(|at| i + at as u64);
            (fold(h, peek(&job.work, &window)), n + 1)
        },
    )
}

/// Shares of equal cost on plain threads; `add` takes an item, the checksum so far and the outputs so far.
fn split(
    job: &Farm,
    items: u64,
    cost: impl Fn(u64) -> u64,
    add: impl Fn(u64, u64, u64) -> (u64, u64) + Sync,
) -> Row {
    let shares = equal_shares(items, job.threads, cost);
    split_parts(shares, |range| range.fold((0, 0), |(h, n), i| add(i, h, n)))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::work::Calibration;

    #[test]
    fn splits_do_not_depend_on_the_number_of_threads() {
        let work = Arc::new(Heavy::lasting(20, &Calibration { ns_per_step: 1.0 }));
        let job = |threads| Farm { items: 2000, work: Arc::clone(&work), threads };
        for split in [split_outputs, split_rounds, split_peek] {
            assert_eq!(split(&job(1)).checksum, split(&job(3)).checksum);
        }
    }
}
