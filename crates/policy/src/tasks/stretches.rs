//! Iterations of a loop as ranges of numbers: each worker begins with a stretch of its own, the same at each invocation
//! of the loop, and then takes what others have left (section 6.4).

use super::StealOrder;
use std::ops::Range;

/// The stretch of a worker: its part of `length` iterations, of which all workers have the same number, but for one.
///
/// ```
/// use thalweg_policy::tasks::stretch;
///
/// assert_eq!([0, 1, 2].map(|worker| stretch(10, 3, worker)), [0..3, 3..6, 6..10]);
/// ```
///
/// # Panics
/// There are no workers.
pub fn stretch(length: u64, workers: usize, worker: usize) -> Range<u64> {
    let border = |worker: usize| match length.checked_mul(worker as u64) {
        Some(product) => product / workers as u64,
        // A wide division takes longer than a short loop should.
        None => u64::try_from(u128::from(length) * worker as u128 / workers as u128).unwrap_or(length),
    };
    border(worker)..border(worker + 1)
}

/// What a worker takes from the front of its rest: at most `most` iterations, and at most half, so that thieves find
/// the other half; but at least one. `None` if nothing is left.
pub fn front(rest: &Range<u64>, most: u64) -> Option<Range<u64>> {
    let length = rest.end.checked_sub(rest.start).filter(|&length| length > 0)?;
    Some(rest.start..rest.start + (length / 2).clamp(1, most.max(1)))
}

/// What a thief takes from the back of a rest: the later half; of a single iteration the whole. `None` if nothing is
/// left.
pub fn back(rest: &Range<u64>) -> Option<Range<u64>> {
    let length = rest.end.checked_sub(rest.start).filter(|&length| length > 0)?;
    Some(rest.start + length / 2..rest.end)
}

/// The rests of all workers of a loop.
///
/// The engine's own form of it, `Shares` of `thalweg-runtime`, keeps each rest in an atomic word.
///
/// ```
/// use thalweg_policy::tasks::{StealOrder, Stretches};
///
/// let mut loops = Stretches::new(8, 2, 4, StealOrder::Longest);
/// assert_eq!(loops.take(1), Some(4..6));
/// assert_eq!((loops.take(1), loops.take(1), loops.take(1)), (Some(6..7), Some(7..8), None));
/// // Worker 1 steals half of what worker 0 has not begun, and takes the first part of it.
/// assert_eq!(loops.steal(1, &mut || 0), Some((0, 2..3)));
/// assert_eq!((loops.rest(0), loops.rest(1)), (0..2, 3..4));
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Stretches {
    most: u64,
    order: StealOrder,
    /// By worker: the first iteration of its stretch.
    begins: Vec<u64>,
    rests: Vec<Range<u64>>,
}

impl Stretches {
    /// A loop of `length` iterations before any is taken. A worker takes at most `most` at once, but at least one.
    ///
    /// # Panics
    /// There are no workers.
    pub fn new(length: u64, workers: usize, most: u64, order: StealOrder) -> Stretches {
        assert!(workers > 0, "no workers");
        let rests: Vec<_> = (0..workers).map(|worker| stretch(length, workers, worker)).collect();
        let begins = rests.iter().map(|rest| rest.start).collect();
        Stretches { most, order, begins, rests }
    }

    /// The next iterations of a worker, from the front of its own rest; `None` if it has nothing left.
    ///
    /// # Panics
    /// There is no such worker.
    pub fn take(&mut self, worker: usize) -> Option<Range<u64>> {
        let taken = front(&self.rests[worker], self.most)?;
        self.rests[worker].start = taken.end;
        Some(taken)
    }

    /// Moves half of a victim's rest to a worker that has nothing left, and takes the first part of it: so a steal is
    /// progress, even if another thief comes next. Returns the victim and what is taken; `None` if there is no victim.
    /// `random` returns 64 random bits.
    ///
    /// # Panics
    /// There is no such worker, or it has something left.
    pub fn steal(&mut self, worker: usize, random: &mut impl FnMut() -> u64) -> Option<(usize, Range<u64>)> {
        assert!(self.rests[worker].is_empty(), "worker {worker} steals before it has done its own rest");
        let rest = |worker: usize| self.rests[worker].clone();
        let begin = |worker: usize| self.begins[worker];
        let (victim, seen) = self.order.victim(worker, self.rests.len(), begin, rest, random)?;
        let stolen = back(&seen)?;
        let taken = front(&stolen, self.most)?;
        self.rests[victim].end = stolen.start;
        self.rests[worker] = taken.end..stolen.end;
        Some((victim, taken))
    }

    /// What a worker has left.
    ///
    /// # Panics
    /// There is no such worker.
    pub fn rest(&self, worker: usize) -> Range<u64> {
        self.rests[worker].clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::XorShift;

    /// All iterations taken by workers that come in random order, some seldom; and the number of steals.
    fn taken(mut loops: Stretches, workers: usize, seed: u64) -> (Vec<Range<u64>>, usize) {
        let (mut random, mut all, mut steals) = (XorShift::new(seed, 0), Vec::new(), 0);
        let mut ended = vec![false; workers];
        while ended.contains(&false) {
            let worker =
                ((random.number() >> 40) % (workers as u64 + seed % 7)).min(workers as u64 - 1) as usize;
            if let Some(numbers) = loops.take(worker) {
                all.push(numbers);
            } else if let Some((_, numbers)) = loops.steal(worker, &mut || random.number()) {
                all.push(numbers);
                steals += 1;
            } else {
                ended[worker] = true;
            }
        }
        all.sort_by_key(|numbers| numbers.start);
        (all, steals)
    }

    #[test]
    fn each_iteration_is_taken_once_in_any_order_of_stealing() {
        for order in [StealOrder::Longest, StealOrder::Paper, StealOrder::Off] {
            for (length, workers, most) in [(1, 1, 1), (100, 3, 9), (1000, 8, 1000), (5, 8, 2), (0, 3, 1)] {
                for seed in 0..30 {
                    let (all, steals) = taken(Stretches::new(length, workers, most, order), workers, seed);
                    assert!(all.iter().cloned().flatten().eq(0..length), "{all:?}");
                    assert!(all.iter().all(|numbers| numbers.end - numbers.start <= most));
                    assert!(order != StealOrder::Off || steals == 0);
                }
            }
        }
    }

    #[test]
    fn stretches_are_contiguous_and_differ_by_one_at_most() {
        for (length, workers) in [(0, 3), (2, 3), (10, 3), (1_000, 7), (u64::MAX, 80)] {
            let all: Vec<_> = (0..workers).map(|worker| stretch(length, workers, worker)).collect();
            assert_eq!((all[0].start, all[workers - 1].end), (0, length));
            assert!(all.windows(2).all(|pair| pair[0].end == pair[1].start));
            let lengths = all.iter().map(|range| range.end - range.start);
            assert!(lengths.clone().max().unwrap() - lengths.min().unwrap() <= 1);
        }
    }

    #[test]
    fn owner_and_thief_leave_something_to_each_other() {
        assert_eq!((front(&(0..9), 100), back(&(0..9))), (Some(0..4), Some(4..9)));
        assert_eq!((front(&(3..4), 0), back(&(3..4))), (Some(3..4), Some(3..4)));
        assert_eq!((front(&(3..3), 5), back(&(3..3))), (None, None));
    }

    #[test]
    #[should_panic(expected = "worker 1 steals before it has done its own rest")]
    fn a_worker_does_its_own_rest_first() {
        Stretches::new(8, 2, 1, StealOrder::Longest).steal(1, &mut || 0);
    }
}
