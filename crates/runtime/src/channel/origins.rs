//! The workers from which the items of a channel come.
//!
//! A worker that goes on with the items that it has pushed itself finds them in its caches, and frees their memory where it
//! was allocated. So a policy asks which worker has pushed the next item ([`Origins::run`]), an activation ends where the
//! items of another worker begin, and the report counts the items that have crossed from one worker to another.
//!
//! An entry is written when the worker changes: the index of the first item of a run, and the worker. The run lasts until
//! the next entry. While one worker pushes all items nothing is written.
//!
//! | field | written by | ordering | a stale or overwritten value |
//! |---|---|---|---|
//! | `entries` | producing side | `Relaxed`, before `written` | names a wrong worker, or none |
//! | `written` | producing side | `Release`; read with `Acquire` | hides the latest runs: the run before seems longer |
//! | `claimed` | the consumer's issuing claim, if it is parallel | `Relaxed` | as an index that has been claimed meanwhile |
//!
//! All of them are hints: no item is lost or moved by a wrong one. The entries are a ring, so that those of
//! [`RUNS`] runs are kept. A channel has by default room for two claims of each worker, thus seldom more runs.

use crate::sync::{AtomicU64, AtomicUsize, Ordering};
use thalweg_policy::WorkerId;

/// The number of runs that are kept.
const RUNS: usize = 16;
/// The bits of an entry that hold the worker.
const WORKER_BITS: u32 = 16;
/// The worker of items that no worker has pushed: a thread of a node's own has.
const NO_WORKER: u64 = (1 << WORKER_BITS) - 1;

/// How the consumer of a channel takes its items.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Taking {
    /// Items that a firing pops.
    pub(crate) pop: usize,
    /// Items are claimed before they are released: the consumer is a parallel node, and pops a static number of items.
    pub(crate) claims: bool,
    /// Items own memory, or are larger than a cache line: to move them to another worker costs more than to wait.
    pub(crate) heavy: bool,
}

/// The log of a channel. See the module.
#[derive(Debug)]
pub(crate) struct Origins {
    taking: Taking,
    /// The number of entries ever written.
    written: AtomicUsize,
    /// The index of the first item that is not claimed, if the consumer claims.
    claimed: AtomicUsize,
    entries: [AtomicU64; RUNS],
}

/// What is known of the next items of a channel.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Run {
    /// The worker that has pushed them; `None` if it is no worker, or not known.
    pub(crate) worker: Option<WorkerId>,
    /// The number of firings of the consumer that they are enough for, at least 1; the largest number if no other worker
    /// has pushed items since.
    pub(crate) firings: usize,
}

impl Origins {
    pub(crate) fn new(taking: Taking) -> Origins {
        let entries = std::array::from_fn(|_| AtomicU64::new(0));
        Origins { taking, written: AtomicUsize::new(0), claimed: AtomicUsize::new(0), entries }
    }

    /// Notes that the items from the index `tail` on come from `worker`. Producing side only, before it publishes them.
    #[inline]
    pub(crate) fn note(&self, tail: usize, worker: Option<WorkerId>) {
        let worker = worker.map_or(NO_WORKER, |worker| (worker as u64).min(NO_WORKER));
        let written = self.written.load(Ordering::Relaxed);
        if written > 0 && self.entry(written - 1).0 == worker {
            return;
        }
        // A run without items is replaced: the worker before has pushed none.
        let is_empty = written > 0 && self.entry(written - 1).1 == tail;
        let at = if is_empty { written - 1 } else { written };
        self.entries[at % RUNS].store((tail as u64) << WORKER_BITS | worker, Ordering::Relaxed);
        self.written.store(at + 1, Ordering::Release);
    }

    fn entry(&self, number: usize) -> (u64, usize) {
        let entry = self.entries[number % RUNS].load(Ordering::Relaxed);
        (entry & NO_WORKER, (entry >> WORKER_BITS) as usize)
    }

    /// Counts the items of `firings` that the consumer has claimed. The holder of its issuing claim calls it.
    #[inline]
    pub(crate) fn claim(&self, firings: usize) {
        if self.taking.claims {
            let claimed = self.claimed.load(Ordering::Relaxed);
            self.claimed
                .store(claimed.wrapping_add(firings.wrapping_mul(self.taking.pop)), Ordering::Relaxed);
        }
    }

    /// Whether items of a worker wait in the channel, whose consumer has released those below `head`, and whose producer has
    /// published those below `tail`.
    pub(crate) fn any_waiting(&self, head: usize, tail: usize, worker: WorkerId) -> bool {
        let next = self.next_index(head);
        let mut until = tail;
        for (from, first) in self.runs() {
            if next >= until {
                return false;
            }
            if from == worker as u64 && first < until {
                return true;
            }
            until = first;
        }
        false
    }

    /// The number of items, of `items` from the index `from` on, that `worker` has not pushed. All of them may be unknown.
    pub(crate) fn foreign(&self, from: usize, items: usize, worker: WorkerId) -> usize {
        let (mut until, mut foreign) = (from + items, 0);
        for (origin, first) in self.runs() {
            let part = until.saturating_sub(first.max(from));
            if origin != worker as u64 {
                foreign += part;
            }
            until -= part;
            if until == from {
                break;
            }
        }
        foreign
    }

    /// The index of the first item that the consumer has not taken. It has released the items below `head`.
    #[inline]
    pub(crate) fn next_index(&self, head: usize) -> usize {
        if self.taking.claims { self.claimed.load(Ordering::Relaxed) } else { head }
    }

    /// The runs that are kept, the latest first: the worker, and the index of the first item.
    #[inline]
    fn runs(&self) -> impl Iterator<Item = (u64, usize)> + '_ {
        let written = self.written.load(Ordering::Acquire);
        (written.saturating_sub(RUNS)..written).rev().map(|number| self.entry(number))
    }

    /// Whether items are better kept on their worker.
    pub(crate) fn heavy(&self) -> bool {
        self.taking.heavy
    }

    /// The items that `firings` of the consumer pop; 0 if that depends on the firing.
    pub(crate) fn items(&self, firings: usize) -> usize {
        firings.saturating_mul(self.taking.pop)
    }

    /// The run that the item with the index `next` belongs to, from there on.
    #[inline]
    pub(crate) fn run(&self, next: usize) -> Run {
        let mut until = None;
        for (worker, first) in self.runs() {
            if first <= next {
                let firings =
                    until.map_or(usize::MAX, |until: usize| (until - next) / self.taking.pop.max(1));
                let worker = (worker != NO_WORKER).then_some(worker as WorkerId);
                return Run { worker, firings: firings.max(1) };
            }
            until = Some(first);
        }
        Run { worker: None, firings: usize::MAX }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    fn origins(pop: usize, claims: bool) -> Origins {
        Origins::new(Taking { pop, claims, heavy: true })
    }

    fn run(worker: impl Into<Option<WorkerId>>, firings: usize) -> Run {
        Run { worker: worker.into(), firings }
    }

    #[test]
    fn a_run_lasts_until_another_worker_pushes() {
        let origins = origins(1, false);
        assert_eq!(origins.run(origins.next_index(0)), run(None, usize::MAX));
        origins.note(0, Some(3));
        origins.note(10, Some(3));
        assert_eq!(origins.run(7), run(3, usize::MAX));
        origins.note(20, Some(0));
        assert_eq!(origins.run(7), run(3, 13));
        assert_eq!(origins.run(20), run(0, usize::MAX));
        origins.note(25, None);
        assert_eq!((origins.run(24), origins.run(25)), (run(0, 1), run(None, usize::MAX)));
    }

    #[test]
    fn a_run_has_at_least_one_firing() {
        let origins = origins(4, false);
        origins.note(0, Some(0));
        origins.note(10, Some(1));
        assert_eq!([0, 4, 8].map(|head| origins.run(head).firings), [2, 1, 1]);
        assert_eq!(origins.items(3), 12);
    }

    #[test]
    fn claimed_items_are_passed() {
        let origins = origins(2, true);
        origins.note(0, Some(0));
        origins.note(10, Some(1));
        origins.claim(4);
        assert_eq!(origins.run(origins.next_index(0)), run(0, 1));
        origins.claim(1);
        assert_eq!(origins.run(origins.next_index(0)), run(1, usize::MAX));
    }

    #[test]
    fn items_wait_from_their_publication_until_they_are_taken() {
        let origins = origins(1, true);
        origins.note(0, Some(0));
        assert!(!origins.any_waiting(0, 0, 0));
        assert!(origins.any_waiting(0, 5, 0) && !origins.any_waiting(0, 5, 1));
        origins.note(5, Some(1));
        assert!(!origins.any_waiting(0, 5, 1), "they are not published");
        assert!(origins.any_waiting(0, 6, 0) && origins.any_waiting(0, 6, 1));
        origins.claim(5);
        assert!(!origins.any_waiting(0, 6, 0) && origins.any_waiting(0, 6, 1));
        origins.claim(1);
        assert!(!origins.any_waiting(0, 6, 1), "it is not released, but taken");
    }

    #[test]
    fn foreign_items_are_counted() {
        let origins = origins(1, false);
        for (first, worker) in [(0, Some(0)), (10, Some(1)), (14, None), (20, Some(0))] {
            origins.note(first, worker);
        }
        assert_eq!([0, 1, 2].map(|worker| origins.foreign(0, 30, worker)), [10, 26, 30]);
        assert_eq!([0, 1].map(|worker| origins.foreign(12, 4, worker)), [4, 2]);
        assert_eq!(origins.foreign(10, 0, 0), 0);
    }

    #[test]
    fn the_oldest_runs_are_forgotten() {
        let origins = origins(1, false);
        (0..RUNS + 4).for_each(|number| origins.note(10 * number, Some(number)));
        assert_eq!(origins.run(39), run(None, usize::MAX));
        assert_eq!(origins.run(40), run(4, 10));
    }
}
