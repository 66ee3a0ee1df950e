//! Lent messages: `Rx::recv_ref` lends the message at `head` to its process in place.
//!
//! The guard (`Message`) may live across awaits and be dropped on any thread, also while another thread grows the ring.
//! The pointer `lent` has three states:
//!
//! | `lent` | the message at `head` | entered by | left by |
//! |---|---|---|---|
//! | null | lies in its slot, if there is one | creation; `read_lent`, after a forgotten guard; the end of [`Ring::release_lent`] | `lend` |
//! | an address | lies at that address, in this storage or in an outgrown one; its slot is unused | `lend` | `release_lent`; `read_lent`; `fetch_lent` |
//! | [`dropped_mark`] | was dropped where it lay; `head` is about to pass it | `release_lent` | `release_lent` |
//!
//! *The race.* `grow` copies the messages from `head` on, all but a lent one, while a guard on another thread runs
//! `release_lent`. If `grow` took the message after the lent one for the lent one, it would not copy it, and the item
//! would be lost.
//!
//! *Why it cannot happen.* `release_lent` stores the mark, then `head + 1`, then null, each `Release`. `grow` loads `head`
//! and then `lent`, each `Acquire`. The load of a `head` that `release_lent` stored pairs with that store, so `lent` is
//! then the mark or null, never the old address: `grow` skips a message only if it is the lent one. If `grow` loads the
//! old `head` and the mark, it copies bits of a dropped message, which no side reads: `head` passes them.
//!
//! `release_lent` does not read the ring's storage, which `grow` may be replacing; so the guard carries the weight that it
//! needs.

use super::Ring;
use crate::contain::drop_contained;
use std::sync::atomic::Ordering;

/// The mark of a lent message that has been dropped and whose slot is not released yet: an address of no message.
fn dropped_mark<T>() -> *mut T {
    static MARK: u8 = 0;
    std::ptr::from_ref(&MARK).cast_mut().cast()
}

/// Whether `lent` is the address of a message, and neither null nor the mark.
fn is_address<T>(lent: *mut T) -> bool {
    !lent.is_null() && lent != dropped_mark()
}

impl<T> Ring<T> {
    /// Whether a message is lent, or its slot is about to be released. The consuming process itself needs no ordering.
    #[inline]
    pub(crate) fn lends(&self) -> bool {
        !self.known.lent.load(Ordering::Relaxed).is_null()
    }

    /// Whether the message at `head` lies outside its slot, at the lent address. With the load of `head` before it this is
    /// the order that the module's argument needs.
    pub(super) fn keeps_lent(&self) -> bool {
        is_address(self.known.lent.load(Ordering::Acquire))
    }

    /// The index of the first item that the consumer has not received: `head`, or the index after a lent message. The
    /// caller excludes the consumer; a guard may release its message meanwhile.
    ///
    /// The two loads may lie on both sides of a release. `head` that is the same before and after the load of `lent` is of
    /// the same moment; while the mark is stored, a release is about to store the next `head`.
    pub(super) fn received(&self) -> usize {
        loop {
            let head = self.meter.head();
            let lent = self.known.lent.load(Ordering::Acquire);
            if lent != dropped_mark() && self.meter.head() == head {
                return head + usize::from(!lent.is_null());
            }
            crate::sync::thread::yield_now(); // the other thread is between two stores
        }
    }

    /// Lends message `head`; after a forgotten guard, the same message again, where it lies.
    ///
    /// # Safety
    /// The caller is the consuming side, and message `head` is published.
    #[inline]
    pub(crate) unsafe fn lend(&self, head: usize) {
        if !self.lends() {
            // SAFETY: a ring has slots.
            let place = unsafe { self.slots().address(head) };
            self.known.lent.store(place, Ordering::Release);
        }
    }

    /// The lent message.
    ///
    /// # Safety
    /// The caller holds the message's guard, exclusively if it writes; the reference does not outlive the guard.
    #[inline]
    pub(crate) unsafe fn lent(&self) -> *mut T {
        self.known.lent.load(Ordering::Relaxed)
    }

    /// Moves out the lent message `head`, whose guard was forgotten, and releases its slot.
    ///
    /// # Safety
    /// The caller is the consuming side, `lends` is true, and no guard is in use.
    #[cold]
    pub(crate) unsafe fn read_lent(&self, head: usize) -> T {
        let place = self.known.lent.swap(std::ptr::null_mut(), Ordering::Release);
        // SAFETY: the message exists at the lent address only; `lent` is null and `release` passes the message, so it is
        // read once.
        let message = unsafe { place.read() };
        self.release(head + 1);
        message
    }

    /// Drops the lent message where it lies, then releases its slot, also if the drop panics. `bytes` is
    /// [`bytes_below`](Ring::bytes_below) the index after it.
    ///
    /// # Safety
    /// The caller holds the message's guard and uses the message no more. Any thread may call.
    #[inline]
    pub(crate) unsafe fn drop_lent(&self, bytes: usize) {
        struct Release<'a, T>(&'a Ring<T>, usize);
        impl<T> Drop for Release<'_, T> {
            fn drop(&mut self) {
                self.0.release_lent(self.1);
            }
        }
        // SAFETY: by this function's contract.
        let place = unsafe { self.lent() };
        let _release = Release(self, bytes);
        // The guard may lie on the stack of a coroutine that is unwound.
        // SAFETY: the guard's message, dropped once: the slot is released even if this panics.
        drop_contained(|| unsafe { place.drop_in_place() });
    }

    /// Releases the slot of the lent message, which has been dropped. See the module for the order of the stores.
    ///
    /// Invariant: it does not read the storage, which another thread may be replacing.
    #[inline]
    fn release_lent(&self, bytes: usize) {
        // `is_lent` is still true, so no thread takes the consumer's end for free. `grow` finds no address to keep.
        self.known.lent.store(dropped_mark(), Ordering::Release);
        if self.weighed() {
            self.meter.set_bytes_released(bytes);
        }
        self.meter.release(self.meter.head_here() + 1);
        self.known.lent.store(std::ptr::null_mut(), Ordering::Release);
    }

    /// Moves a lent message whose guard was forgotten back to its slot. It may lie in outgrown storage, and `grow` has
    /// made no copy of it. The caller has both ends.
    pub(super) fn fetch_lent(&self, head: usize) {
        let lent = self.known.lent.swap(std::ptr::null_mut(), Ordering::Acquire);
        if is_address(lent) {
            // SAFETY: both ends are the caller's, so no other thread accesses either place. Outgrown storage is kept while
            // a message is lent. The message exists at `lent` only, and `lent` is null from here on, so it moves once.
            unsafe { std::ptr::copy(lent, self.slots().address(head), 1) };
        }
    }
}
