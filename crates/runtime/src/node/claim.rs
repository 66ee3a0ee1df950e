//! Claims: a lock that a thread acquires at once or is refused, and never waits for.
//!
//! # Protocol
//!
//! | `held` | meaning | entered by | left by |
//! |---|---|---|---|
//! | false | no thread has the value | the holder, with a `Release` store | a claiming thread, with an `Acquire` compare-and-swap |
//! | true | one thread, the holder, has the value | a claiming thread | the holder; never, if the holder panicked |
//!
//! The `Release` of one holder pairs with the `Acquire` of the next one, which therefore sees every write of all
//! earlier holders. The other reads of `held` are `Relaxed`: a stale `true` refuses a claim that was free, and a stale
//! `false` only leads to the compare-and-swap.
//!
//! # Refused threads
//!
//! A refused thread neither waits nor is queued, so a change that it wanted to act on could be missed: the holder may
//! have read the changed counter before the change. The holder therefore reads the state again after its release, with
//! a `SeqCst` fence between the two, and the refused thread fences between its change and its attempt. One of the two
//! sees the other. The users of claims argue this for each claim: `sched::ready` (the end of an activation),
//! [`window`](crate::node::window) (the retirement), `liveness::search` (the claims of a search).

use crate::sync::{AtomicBool, Ordering, UnsafeCell};
use std::ops::Deref;

/// A value that one thread at a time may hold.
#[derive(Debug)]
pub(crate) struct Claim<T> {
    /// Whether a thread has the value: see the module's protocol.
    held: AtomicBool,
    /// Accessed only by the thread that set `held`, until it clears it.
    value: UnsafeCell<T>,
}

// SAFETY: only the thread that changed `held` from false to true accesses the value, and it stops before it stores
// false, with `Release`. So accesses by different threads are ordered and never overlap, as if the value were sent
// from holder to holder: `T: Send` suffices.
unsafe impl<T: Send> Sync for Claim<T> {}

impl<T> Claim<T> {
    /// A claim that no thread holds.
    pub(crate) fn new(value: T) -> Claim<T> {
        Claim { held: AtomicBool::new(false), value: UnsafeCell::new(value) }
    }

    /// Keeps all threads from the value until the guard is dropped; `None` if another thread holds it. The guard only
    /// reads the value, so a panic of the holder leaves it intact. To change the value, use [`Claim::with`].
    #[inline]
    pub(crate) fn try_claim(&self) -> Option<Claimed<'_, T>> {
        // Read before the compare-and-swap: a refused attempt then leaves the cache line with the holder.
        if self.held.load(Ordering::Relaxed) {
            return None;
        }
        let taken = self.held.compare_exchange(false, true, Ordering::Acquire, Ordering::Relaxed);
        taken.is_ok().then(|| Claimed { claim: self })
    }

    /// Calls `act` with the value claimed; returns `refused` if another thread holds it. If `act` panics, no thread can
    /// claim the value any more: it may be broken.
    ///
    /// Invariant: the release is a statement after the call, not a guard's drop. A guard cannot tell the panic of `act` from
    /// one that began before the claim: user code may start a run in a `Drop` while its thread is unwinding.
    #[inline]
    pub(crate) fn with<R>(&self, refused: R, act: impl FnOnce(&mut T) -> R) -> R {
        if self.held.load(Ordering::Relaxed)
            || self.held.compare_exchange(false, true, Ordering::Acquire, Ordering::Relaxed).is_err()
        {
            return refused;
        }
        // SAFETY: this thread has just set `held`, with `Acquire`.
        unsafe { self.act(act) }
    }

    /// [`Claim::with`] without a read-modify-write, for a value that only one thread claims. Returns `refused` inside a
    /// call of `act`, and after one has panicked.
    ///
    /// # Safety
    /// No other thread claims this value before or during the call, unless the two threads synchronise in between.
    #[inline]
    pub(crate) unsafe fn with_alone<R>(&self, refused: R, act: impl FnOnce(&mut T) -> R) -> R {
        if self.held.load(Ordering::Relaxed) {
            return refused;
        }
        self.held.store(true, Ordering::Relaxed);
        // SAFETY: `held` was false, and by this function's contract no other thread sets it between load and store.
        unsafe { self.act(act) }
    }

    /// Calls `act` with the value and releases the claim. If `act` panics the claim is not released: the value may be
    /// broken.
    ///
    /// # Safety
    /// This thread has set `held` and has no [`Claimed`]; this call clears `held`.
    #[inline]
    unsafe fn act<R>(&self, act: impl FnOnce(&mut T) -> R) -> R {
        // SAFETY: this thread has set `held`, by the contract, so no other thread accesses the value until the store
        // below; on this thread the reference ends with the call of `act`, before that store.
        let done = self.value.with_mut(|value| act(unsafe { &mut *value }));
        self.held.store(false, Ordering::Release);
        done
    }

    /// The value, whether it is claimed or not: no other thread has it. It may be broken, if a holder has panicked.
    pub(crate) fn get_mut(&mut self) -> &mut T {
        // SAFETY: `&mut self` excludes all other accesses.
        self.value.with_mut(|value| unsafe { &mut *value })
    }

    /// Whether a thread holds the value. A hint: the answer may be out of date when it is returned.
    #[inline]
    pub(crate) fn is_held(&self) -> bool {
        self.held.load(Ordering::Relaxed)
    }
}

/// A held claim, to read the value and to keep others from it. Its drop releases the claim.
#[derive(Debug)]
pub(crate) struct Claimed<'a, T> {
    claim: &'a Claim<T>,
}

impl<T> Deref for Claimed<'_, T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: `try_claim` made this guard after it set `held`, and only the guard's drop clears it. So the guard is
        // the only one, and it outlives the reference.
        self.claim.value.with_mut(|value| unsafe { &*value })
    }
}

impl<T> Drop for Claimed<'_, T> {
    #[inline]
    fn drop(&mut self) {
        self.claim.held.store(false, Ordering::Release);
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::Claim;
    use std::panic::{AssertUnwindSafe, catch_unwind};

    /// The value may be broken, whatever else the thread was doing.
    #[test]
    fn a_panic_keeps_the_claim_even_while_the_thread_unwinds() {
        struct Nested<'a>(&'a Claim<u32>);
        impl Drop for Nested<'_> {
            fn drop(&mut self) {
                assert!(std::thread::panicking());
                let act = || self.0.with((), |_| panic!("under the claim"));
                assert!(catch_unwind(AssertUnwindSafe(act)).is_err());
            }
        }
        let claim = Claim::new(0);
        let outer = || {
            let _nested = Nested(&claim);
            panic!("before the claim");
        };
        assert!(catch_unwind(AssertUnwindSafe(outer)).is_err());
        assert!(claim.is_held());
    }
}
