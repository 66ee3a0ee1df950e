//! The deque of a member that executes tasks: a private half that only its own thread accesses ([`Owned`]), and a shared
//! half that thieves take from ([`Seat`]).
//!
//! The newest entry is at the private end, the oldest one at the shared end. A push is a push on a `Vec`. When the shared half
//! has few entries (`offers` of the policy), the owner moves its own there, and when it has none left it takes the newer half of the
//! shared ones back. So an entry is moved a constant number of times in the mean.
//!
//! ```
//! use thalweg_runtime::deque::{Owned, Seat};
//!
//! let (mut owned, seat) = (Owned::new(vec!["oldest", "middle", "newest"], false), Seat::new());
//! assert!(seat.wants(&owned));
//! seat.share(&mut owned);
//! let mut thief = Owned::new(Vec::new(), false);
//! assert_eq!(seat.steal(&mut thief, usize::MAX, |_| true, || {}), Some(("oldest", true)));
//! // The thief has taken half, rounded up: two of three.
//! assert_eq!(thief.pop(), Some("middle"));
//! seat.take_back(&mut owned);
//! assert_eq!((owned.pop(), seat.is_empty()), (Some("newest"), true));
//! ```

use crate::sync::{AtomicUsize, Mutex, Ordering, lock};
use std::collections::VecDeque;
use thalweg_policy::tasks::{offers, stolen, taken_back};

/// The entries of a member that only its own thread accesses.
#[derive(Debug)]
pub struct Owned<T> {
    /// The newest entry is the last one.
    stack: Vec<T>,
    /// There is one member: no entry, and nothing that a task has written, is visible to another thread before the end. So
    /// tasks may use plain loads and stores for their counters.
    pub alone: bool,
}

impl<T> Owned<T> {
    /// These entries, of which the last one is the newest.
    pub fn new(stack: Vec<T>, alone: bool) -> Owned<T> {
        Owned { stack, alone }
    }

    /// Adds an entry, as the newest.
    #[inline]
    pub fn push(&mut self, entry: T) {
        self.stack.push(entry);
    }

    /// Takes the newest entry.
    #[inline]
    pub fn pop(&mut self) -> Option<T> {
        self.stack.pop()
    }

    /// Whether the private half is empty.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.stack.is_empty()
    }
}

/// The entries of a member that other members may take.
///
/// Invariant: only the owner adds entries, and each change is under the lock.
#[repr(align(128))]
#[derive(Debug)]
pub struct Seat<T> {
    /// The length of `shared`, read without the lock: a hint to thieves, and exact for the owner where it is 0.
    len: AtomicUsize,
    /// The oldest entry is the first one.
    shared: Mutex<VecDeque<T>>,
}

impl<T> Default for Seat<T> {
    fn default() -> Seat<T> {
        Seat::new()
    }
}

impl<T> Seat<T> {
    /// A seat without entries.
    pub fn new() -> Seat<T> {
        Seat { len: AtomicUsize::new(0), shared: Mutex::new(VecDeque::new()) }
    }

    /// Whether nothing can be taken. `Acquire`: an owner that reads 0 is ordered after the thieves that have emptied the
    /// seat, and so after what they did in `taken`.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len.load(Ordering::Acquire) == 0
    }

    /// Whether the owner, which has these entries, is to [`share`](Seat::share) them: thieves find few or none. `Acquire`, as
    /// [`is_empty`](Seat::is_empty) has it. Asks the seat only if there are entries to share.
    #[inline]
    pub fn wants(&self, owned: &Owned<T>) -> bool {
        let own = owned.stack.len();
        own > 0 && offers(own, self.len.load(Ordering::Acquire))
    }

    /// Moves the owner's entries here.
    #[cold]
    pub fn share(&self, owned: &mut Owned<T>) {
        let mut shared = lock(&self.shared);
        shared.extend(owned.stack.drain(..));
        self.len.store(shared.len(), Ordering::Release);
    }

    /// Moves the newer half of the entries back to the owner, at least one if there is one.
    pub fn take_back(&self, owned: &mut Owned<T>) {
        if self.is_empty() {
            return;
        }
        let mut shared = lock(&self.shared);
        let kept = shared.len() - taken_back(shared.len());
        owned.stack.extend(shared.drain(kept..));
        self.len.store(shared.len(), Ordering::Release);
    }

    /// Takes the older half of the entries, at most `most`, and of these only the first ones that all satisfy `fits`.
    /// Returns the oldest one, moves the others to `owned`, and calls `taken` before another thread can see the change.
    /// Returns with it whether entries are left.
    pub fn steal(
        &self,
        owned: &mut Owned<T>,
        most: usize,
        fits: impl Fn(&T) -> bool,
        taken: impl FnOnce(),
    ) -> Option<(T, bool)> {
        if self.is_empty() {
            return None;
        }
        let mut shared = lock(&self.shared);
        let count = stolen(shared.iter(), fits).min(most);
        let mut taken_entries = shared.drain(..count);
        let oldest = taken_entries.next()?;
        owned.stack.extend(taken_entries);
        taken();
        self.len.store(shared.len(), Ordering::Release);
        Some((oldest, !shared.is_empty()))
    }
}
