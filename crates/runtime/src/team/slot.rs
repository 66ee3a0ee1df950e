//! A slot of an [`arena`](super::arena): the word with its states, and the job.

use super::lending::{Lent, Slots};
use crate::sync::{AtomicUsize, Condvar, Mutex, Ordering, UnsafeCell, lock};

/// Flags of a slot's word.
pub(super) const TAKEN: usize = 1;
pub(super) const OPEN: usize = 2;
pub(super) const WAITED: usize = 4;
/// The unit of the bits that count helpers, and of those above, the most helpers at once.
pub(super) const HELPER: usize = 8;
pub(super) const LIMIT: usize = HELPER << 13;

/// What a member reads that joins comes first, on one cache line.
#[repr(C)]
pub(super) struct Slot {
    pub(super) word: AtomicUsize,
    /// The ancestors of the job, for members that look for descendants. A hint: that of an earlier job may be read.
    pub(super) ancestors: AtomicUsize,
    pub(super) job: UnsafeCell<Option<Lent>>,
    pub(super) lock: Mutex<()>,
    /// The caller waits for the last helper, or for an open slot.
    pub(super) changed: Condvar,
}

// SAFETY: `job` is accessed as the documentation of `arena` argues: by the slot's caller while no helper is inside, or read
// by helpers. What it refers to is `Sync`. All other fields are `Sync` by themselves.
unsafe impl Sync for Slot {}
// SAFETY: as above.
unsafe impl Send for Slot {}

impl Slot {
    /// A free slot.
    pub(super) fn new() -> Slot {
        Slot {
            word: AtomicUsize::new(0),
            ancestors: AtomicUsize::new(0),
            job: UnsafeCell::new(None),
            lock: Mutex::new(()),
            changed: Condvar::new(),
        }
    }

    /// Counts a helper, if the slot is open and has room for one. Returns the word before.
    pub(super) fn join(&self) -> Option<usize> {
        // A guess in place of a load: the swap that fails gets the cache line for itself, so the next one need not wait for it.
        let mut word = TAKEN | OPEN | LIMIT;
        loop {
            let joined = word + HELPER;
            match self.word.compare_exchange(word, joined, Ordering::Acquire, Ordering::Relaxed) {
                Ok(_) => return Some(word),
                Err(now) if now & OPEN == 0 || is_full(now) => return None,
                Err(now) => word = now,
            }
        }
    }

    /// Sleeps as long as the word is such.
    pub(super) fn wait(&self, is_such: impl Fn(usize) -> bool) {
        let mut guard = lock(&self.lock);
        self.word.fetch_or(WAITED, Ordering::Relaxed);
        while is_such(self.word.load(Ordering::Acquire)) {
            guard = self.changed.wait(guard).unwrap_or_else(|poison| poison.into_inner());
        }
        self.word.fetch_and(!WAITED, Ordering::Relaxed);
    }

    /// Wakes the caller, which waits.
    pub(super) fn notify(&self) {
        // Under the lock: see "No lost wake-up".
        let _guard = lock(&self.lock);
        self.changed.notify_one();
    }
}

/// Whether a job has as many helpers as it may have.
pub(super) fn is_full(word: usize) -> bool {
    word % LIMIT / HELPER == word / LIMIT
}

pub(super) fn has_helpers(word: usize) -> bool {
    word % LIMIT / HELPER != 0
}

/// A set of slots by the number of one.
pub(super) fn bit(at: usize) -> Slots {
    1 << at
}
