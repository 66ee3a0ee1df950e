//! Claims: a lock that is taken at once or refused, never waited for.
//!
//! # Protocol
//!
//! | `held` | meaning | entered by | left by |
//! |---|---|---|---|
//! | false | no thread has the value | the holder, with `Release` | a thread that claims, with `Acquire` |
//! | true | one thread has the value | a thread that claims | the holder; never, if it panicked |
//!
//! The `Release` of one holder pairs with the `Acquire` of the next, which so sees all that the former did. A refused
//! thread does something else. The holder of a claim therefore owes a look to the threads it may have refused; where a
//! claim is taken it is argued why no change stays unseen (`node/parallel.rs`, `liveness/search.rs`).

use crate::sync::{AtomicBool, Ordering, UnsafeCell};
use std::ops::{Deref, DerefMut};

/// A value that one thread at a time may hold.
#[derive(Debug)]
pub(crate) struct Claim<T> {
    held: AtomicBool,
    value: UnsafeCell<T>,
}

// SAFETY: `held` admits one thread at a time to the value.
unsafe impl<T: Send> Sync for Claim<T> {}

impl<T> Claim<T> {
    pub(crate) fn new(value: T) -> Claim<T> {
        Claim { held: AtomicBool::new(false), value: UnsafeCell::new(value) }
    }

    /// Claims the value, if no thread holds it.
    #[inline]
    pub(crate) fn try_claim(&self) -> Option<Claimed<'_, T>> {
        // Looking first keeps a refused claim from taking the line away from its holder.
        if self.held.load(Ordering::Relaxed) {
            return None;
        }
        let taken = self.held.compare_exchange(false, true, Ordering::Acquire, Ordering::Relaxed);
        taken.is_ok().then(|| Claimed { claim: self, panicking: std::thread::panicking() })
    }

    /// Calls `act` with the value claimed; returns `refused` where another thread holds it. After a panic of `act` the
    /// value stays held, as with [`Claim::try_claim`].
    #[inline]
    pub(crate) fn with<R>(&self, refused: R, act: impl FnOnce(&mut T) -> R) -> R {
        if self.held.load(Ordering::Relaxed)
            || self.held.compare_exchange(false, true, Ordering::Acquire, Ordering::Relaxed).is_err()
        {
            return refused;
        }
        // SAFETY: this thread has just set `held`.
        unsafe { self.act(act) }
    }

    /// [`Claim::with`] without a read-modify-write, for a value that one thread alone ever claims.
    ///
    /// # Safety
    /// No other thread claims this value meanwhile or before.
    #[inline]
    pub(crate) unsafe fn with_alone<R>(&self, refused: R, act: impl FnOnce(&mut T) -> R) -> R {
        if self.held.load(Ordering::Relaxed) {
            return refused;
        }
        self.held.store(true, Ordering::Relaxed);
        // SAFETY: held, by this function's contract.
        unsafe { self.act(act) }
    }

    /// # Safety
    /// The caller has set `held`; this call clears it.
    #[inline]
    unsafe fn act<R>(&self, act: impl FnOnce(&mut T) -> R) -> R {
        // SAFETY: `held` is set by this thread, so no other has a reference.
        let done = self.value.with_mut(|value| act(unsafe { &mut *value }));
        self.held.store(false, Ordering::Release);
        done
    }

    /// Whether a thread holds the value now.
    #[inline]
    pub(crate) fn is_held(&self) -> bool {
        self.held.load(Ordering::Relaxed)
    }
}

/// A held claim; its drop releases it.
#[derive(Debug)]
pub(crate) struct Claimed<'a, T> {
    claim: &'a Claim<T>,
    /// The thread was unwinding already when it claimed, for a reason of its own.
    panicking: bool,
}

impl<T> Deref for Claimed<'_, T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: this guard is the only one, and it lives as long as the reference.
        self.claim.value.with_mut(|value| unsafe { &*value })
    }
}

impl<T> DerefMut for Claimed<'_, T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: as in `deref`, and the guard is borrowed mutably.
        self.claim.value.with_mut(|value| unsafe { &mut *value })
    }
}

impl<T> Drop for Claimed<'_, T> {
    #[inline]
    fn drop(&mut self) {
        // A claim lost in a panic stays held: no thread may go on with what the panic left behind.
        if self.panicking || !std::thread::panicking() {
            self.claim.held.store(false, Ordering::Release);
        }
    }
}
