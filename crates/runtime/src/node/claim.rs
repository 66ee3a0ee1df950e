//! Short claims: a lock nobody waits for.
//!
//! `held` goes from false to true with `Acquire` and back with `Release`, so whoever claims next
//! sees all that the one before did. A refused claim is an answer, not a wait: the caller does
//! something else. Who must look again after a refusal is argued where claims are tried (`node`).

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

    /// The value, if nobody holds it.
    #[inline]
    pub(crate) fn try_claim(&self) -> Option<Claimed<'_, T>> {
        // Looking first keeps a refused claim from taking the line away from its holder.
        if self.held.load(Ordering::Relaxed) {
            return None;
        }
        let taken = self.held.compare_exchange(false, true, Ordering::Acquire, Ordering::Relaxed);
        taken.is_ok().then(|| Claimed { claim: self, panicking: std::thread::panicking() })
    }

    /// Does something with the value; where somebody holds it, the answer is `refused`. After a panic of
    /// `act` it stays held, as with [`Claim::try_claim`].
    #[inline]
    pub(crate) fn with<R>(&self, refused: R, act: impl FnOnce(&mut T) -> R) -> R {
        if self.held.load(Ordering::Relaxed)
            || self.held.compare_exchange(false, true, Ordering::Acquire, Ordering::Relaxed).is_err()
        {
            return refused;
        }
        // SAFETY: held, and so this thread's until it is given back.
        unsafe { self.act(act) }
    }

    /// The same where one thread alone ever claims: without a read-modify-write.
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
    /// The caller has set `held`, and gives it back by this.
    #[inline]
    unsafe fn act<R>(&self, act: impl FnOnce(&mut T) -> R) -> R {
        // SAFETY: nobody else has a reference while it is held.
        let done = self.value.with_mut(|value| act(unsafe { &mut *value }));
        self.held.store(false, Ordering::Release);
        done
    }

    /// Whether somebody holds it now.
    #[inline]
    pub(crate) fn is_held(&self) -> bool {
        self.held.load(Ordering::Relaxed)
    }
}

/// A held claim; given back when dropped.
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
        // A claim lost in a panic stays held: nobody may go on with what the panic left behind.
        if self.panicking || !std::thread::panicking() {
            self.claim.held.store(false, Ordering::Release);
        }
    }
}
