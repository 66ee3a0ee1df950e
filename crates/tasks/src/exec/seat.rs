//! The entries of a member: the owned half ([`Owned`]), and the half that thieves take from ([`Seat`]).

use crate::sync::{AtomicUsize, Mutex, Ordering, lock};
use std::collections::VecDeque;
use thalweg_policy::tasks::{offered, stolen, taken_back};

/// The entries of a member that only its own thread accesses.
pub(crate) struct Owned<T> {
    /// The newest entry is the last one.
    stack: Vec<T>,
    /// The run has one member: no entry of this run, and nothing that a task has written, is visible to another thread
    /// before its end. So the tasks may use plain loads and stores for their counters.
    pub(crate) alone: bool,
}

impl<T> Owned<T> {
    pub(super) fn new(stack: Vec<T>, alone: bool) -> Owned<T> {
        Owned { stack, alone }
    }

    /// Adds an entry, as the newest.
    #[inline]
    pub(crate) fn push(&mut self, entry: T) {
        self.stack.push(entry);
    }

    /// Takes the newest entry.
    #[inline]
    pub(super) fn pop(&mut self) -> Option<T> {
        self.stack.pop()
    }

    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.stack.is_empty()
    }
}

/// The entries of a member that other members may take.
///
/// Invariant: only the owner adds entries, and each change is under the lock.
#[repr(align(128))]
pub(super) struct Seat<T> {
    /// The length of `shared`, read without the lock: a hint to thieves, and exact for the owner where it is 0.
    len: AtomicUsize,
    /// The oldest entry is the first one.
    shared: Mutex<VecDeque<T>>,
}

impl<T> Seat<T> {
    pub(super) fn new() -> Seat<T> {
        Seat { len: AtomicUsize::new(0), shared: Mutex::new(VecDeque::new()) }
    }

    /// Whether nothing can be taken. `Acquire`: an owner that reads 0 is ordered after the thieves that have emptied the
    /// seat, and so after their changes of `Executor::busy`.
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.len.load(Ordering::Acquire) == 0
    }

    /// Moves the older half of the owner's entries here, at least one.
    #[cold]
    pub(super) fn share(&self, owned: &mut Owned<T>) {
        let count = offered(owned.stack.len());
        let mut shared = lock(&self.shared);
        shared.extend(owned.stack.drain(..count));
        self.len.store(shared.len(), Ordering::Release);
    }

    /// Moves the newer half of the entries back to the owner, at least one if there is one.
    pub(super) fn take_back(&self, owned: &mut Owned<T>) {
        if self.is_empty() {
            return;
        }
        let mut shared = lock(&self.shared);
        let kept = shared.len() - taken_back(shared.len());
        owned.stack.extend(shared.drain(kept..));
        self.len.store(shared.len(), Ordering::Release);
    }

    /// Takes the older half of the entries, and of these only the first ones that all satisfy `fits`. Returns the oldest
    /// one, moves the others to `owned`, and calls `taken` before another thread can see the change. Returns with it whether
    /// entries are left.
    pub(super) fn steal(
        &self,
        owned: &mut Owned<T>,
        fits: impl Fn(&T) -> bool,
        taken: impl FnOnce(),
    ) -> Option<(T, bool)> {
        if self.is_empty() {
            return None;
        }
        let mut shared = lock(&self.shared);
        let count = stolen(shared.iter(), fits);
        let mut taken_entries = shared.drain(..count);
        let oldest = taken_entries.next()?;
        owned.stack.extend(taken_entries);
        taken();
        self.len.store(shared.len(), Ordering::Release);
        Some((oldest, !shared.is_empty()))
    }
}
