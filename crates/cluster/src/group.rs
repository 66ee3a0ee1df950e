//! Batches that go from thread to thread together: a lock and a wake-up for each would cost more than a small batch.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::thread;
use std::time::Duration;

use crate::piece::caught;

/// Maximum number of batches in a group.
pub(crate) const MAX_GROUP: usize = 64;

/// Batches in order, or what is made of them.
///
/// Those that are left are dropped one by one: if several panic then, the first panic goes on. As elements of a `Vec`, a
/// second one would end the process.
pub(crate) struct Group<X>(VecDeque<X>);

impl<X> Group<X> {
    pub fn new() -> Group<X> {
        Group(VecDeque::new())
    }

    /// A group of one.
    pub fn of(batch: X) -> Group<X> {
        Group(VecDeque::from([batch]))
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }

    pub fn push(&mut self, batch: X) {
        self.0.push_back(batch);
    }

    pub fn pop(&mut self) -> Option<X> {
        self.0.pop_front()
    }

    pub fn map<Y>(mut self, f: impl FnMut(X) -> Y) -> Group<Y> {
        std::iter::from_fn(|| self.pop()).map(f).collect()
    }

    /// The first batches, at most this number.
    pub fn split(&mut self, most: usize) -> Group<X> {
        let rest = self.0.split_off(most.min(self.0.len()));
        Group(std::mem::replace(&mut self.0, rest))
    }
}

impl<X> Drop for Group<X> {
    fn drop(&mut self) {
        if self.is_empty() {
            return;
        }
        let mut panic = None;
        while let Some(batch) = self.pop() {
            let dropped = catch_unwind(AssertUnwindSafe(|| drop(batch)));
            let hidden = caught().map(|message| Box::new(message) as Box<_>);
            panic = panic.or(dropped.err()).or(hidden);
        }
        if let Some(panic) = panic.filter(|_| !thread::panicking()) {
            resume_unwind(panic);
        }
    }
}

impl<X> FromIterator<X> for Group<X> {
    fn from_iter<I: IntoIterator<Item = X>>(batches: I) -> Group<X> {
        Group(batches.into_iter().collect())
    }
}

/// How many batches a group of a parallel node has: as many as take about [`GROUP_TIME`], by those before. So threads share
/// batches that take long one by one.
pub(crate) struct GroupSize {
    /// Nanoseconds of a batch, a moving average. An estimate: a lost update is harmless.
    batch: AtomicU64,
}

/// The time of a group, behind which the dataflow sees what it has made. A thread gets and passes on a group in about a tenth of it.
pub(crate) const GROUP_TIME: Duration = Duration::from_micros(40);

/// Maximum number of batches in a group of a parallel node: one thread runs all of them, also where the first ones took no time and
/// the others take long.
const MAX_PARALLEL: u64 = 16;

impl GroupSize {
    /// Of batches of which nothing is known: one by one.
    pub fn new() -> GroupSize {
        GroupSize { batch: AtomicU64::new(GROUP_TIME.as_nanos() as u64) }
    }

    /// Maximum number of batches of the next group.
    pub fn most(&self) -> usize {
        (GROUP_TIME.as_nanos() as u64 / self.batch.load(Relaxed).max(1)).clamp(1, MAX_PARALLEL) as usize
    }

    /// A group of this number of batches took this time.
    pub fn note(&self, batches: usize, time: Duration) {
        let (before, now) = (self.batch.load(Relaxed), time.as_nanos() as u64 / batches.max(1) as u64);
        self.batch.store((before - before / 4).saturating_add(now / 4), Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    struct Panics<'a>(u32, &'a Cell<u32>);

    impl Drop for Panics<'_> {
        fn drop(&mut self) {
            self.1.set(self.1.get() + 1);
            if self.0 > 0 {
                std::panic::panic_any(self.0);
            }
        }
    }

    #[test]
    fn all_batches_are_dropped_and_the_first_panic_goes_on() {
        let drops = Cell::new(0);
        let group: Group<_> = [0, 7, 8, 0].map(|number| Panics(number, &drops)).into_iter().collect();
        let panic = catch_unwind(AssertUnwindSafe(|| drop(group))).unwrap_err();
        assert_eq!((panic.downcast_ref::<u32>(), drops.get()), (Some(&7), 4));
    }

    #[test]
    fn groups_of_batches_that_take_long_are_small() {
        let size = GroupSize::new();
        assert_eq!(size.most(), 1);
        (0..30).for_each(|_| size.note(size.most(), Duration::from_nanos(100) * size.most() as u32));
        assert_eq!(size.most(), MAX_PARALLEL as usize);
        (0..30).for_each(|_| size.note(size.most(), Duration::from_millis(1) * size.most() as u32));
        assert_eq!(size.most(), 1);
    }

    #[test]
    fn a_group_is_split_in_order() {
        let mut group: Group<_> = (0..5).collect();
        let first = group.split(3);
        assert_eq!((Vec::from(first.0.clone()), Vec::from(group.0.clone())), (vec![0, 1, 2], vec![3, 4]));
        assert_eq!(group.split(9).len() + group.len(), 2);
    }
}
