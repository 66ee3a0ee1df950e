//! [`In`]: the cursor that pops.

use super::{Brand, RingId};
use crate::channel::slots::Slots;
use std::marker::PhantomData;

/// The items that a firing pops from one input, by value and in order.
///
/// Items that the firing does not pop are dropped when it ends: a firing always consumes its pop rate.
#[derive(Debug)]
pub struct In<'f, T> {
    slots: Slots<T>,
    /// The next item. Invariant: `at <= firing_end <= claim_end`.
    at: usize,
    /// End of this firing's items.
    firing_end: usize,
    /// End of the claimed stretch.
    claim_end: usize,
    ring: RingId,
    firing: Brand<'f>,
}

// SAFETY: the cursor owns the items of its stretch, and no other access to them exists; items are `Send`. The ring that
// `slots` points into outlives the cursor's claim. `ring` is only compared.
unsafe impl<T: Send> Send for In<'_, T> {}

impl<T> In<'_, T> {
    /// A closed cursor for a port of `ring`.
    pub(crate) fn new(ring: RingId) -> Self {
        let slots = Slots::none();
        In { slots, at: 0, firing_end: 0, claim_end: 0, ring, firing: PhantomData }
    }

    /// Points the cursor at items `[start, end)`, which it owns from then on.
    ///
    /// # Safety
    /// The slots hold items that belong to the caller; `slots` stays valid until `close`. The cursor owns nothing yet.
    #[inline]
    pub(crate) unsafe fn open(&mut self, slots: Slots<T>, start: usize, end: usize) {
        self.slots = slots;
        (self.at, self.firing_end, self.claim_end) = (start, start, end);
    }

    /// Extends the stretch to `end`.
    ///
    /// # Safety
    /// As for `open`, for the items up to `end`.
    pub(crate) unsafe fn extend(&mut self, end: usize) {
        self.claim_end = end;
    }

    /// Points the open cursor at the same indices of other slots.
    ///
    /// # Safety
    /// The slots hold, by index, what those before held; they stay valid as `open` demands.
    pub(crate) unsafe fn reopen(&mut self, slots: Slots<T>) {
        self.slots = slots;
    }

    /// Whether this cursor was made for `ring`.
    #[inline]
    pub(crate) fn is_of(&self, ring: RingId) -> bool {
        self.ring == ring
    }

    /// Index of the first item not popped.
    #[inline]
    pub(crate) fn at(&self) -> usize {
        self.at
    }

    /// Begins a firing that pops `pop` items, which the claim has.
    #[inline(always)]
    pub(crate) fn step(&mut self, pop: usize) {
        // SAFETY: an index counts the items of a stream: 2^63 of them take centuries. `pop` is a static rate, below 2^32, or
        // at most the number of items that the channel held.
        let end = unsafe { self.at.unchecked_add(pop) };
        // `firing_end <= claim_end` holds even if safe code has exchanged cursors between firings, which the engine
        // notices only at the end of the claim. A branch, since with a minimum the compiler would check each pop.
        self.firing_end = if end <= self.claim_end { end } else { exchanged(self.claim_end) };
    }

    /// Ends a firing: drops the items that it has not popped, all of them even if a drop panics.
    #[inline]
    pub(crate) fn finish(&mut self) {
        if self.at < self.firing_end {
            self.drop_to(self.firing_end);
        }
    }

    #[inline]
    fn drop_to(&mut self, end: usize) {
        let from = std::mem::replace(&mut self.at, end);
        // SAFETY: `[from, end)` lies below `claim_end`, hence is this cursor's; `at` is past it already, so no later drop
        // or pop reaches these items, also if one of their drops panics.
        unsafe { self.slots.drop_items(from, end) };
    }

    /// Ends the claim after the last firing. The items beyond it stay in the ring and are the port's again.
    #[inline]
    pub(crate) fn close(&mut self) {
        self.claim_end = self.firing_end;
    }

    /// Whether all items of the stretch have been popped or dropped.
    #[inline]
    pub(crate) fn is_spent(&self) -> bool {
        self.at == self.claim_end
    }

    /// Moves the next item out. The caller has checked that `at < firing_end`.
    #[inline(always)]
    fn pop_unchecked(&mut self) -> T {
        let at = self.at;
        self.at = at + 1;
        // SAFETY: both callers check `at < firing_end <= claim_end`, so the slot holds an item that this cursor owns;
        // `at` has moved on, so the item is read once.
        unsafe { self.slots.read(at) }
    }

    /// Pops the next item.
    ///
    /// # Panics
    /// If this firing has popped all its items: the port's pop rate is too low.
    #[inline(always)]
    pub fn pop(&mut self) -> T {
        if self.at >= self.firing_end {
            over_pop();
        }
        self.pop_unchecked()
    }

    /// Pops the next item, if this firing has one left.
    #[inline]
    pub fn try_pop(&mut self) -> Option<T> {
        (self.at < self.firing_end).then(|| self.pop_unchecked())
    }

    /// Pops all items left to this firing.
    pub(crate) fn pop_all(&mut self) -> Vec<T> {
        let count = self.len();
        let mut items = Vec::with_capacity(count);
        // SAFETY: each item of the run is moved once, into the vector, which has room for them and owns them from then on. No
        // other code runs in between.
        unsafe {
            let (slots, first) = self.take_run(count);
            slots.copy_out(first, items.as_mut_ptr(), count);
            items.set_len(count);
        }
        items
    }

    /// Takes the next `count` items of this firing: returns the slots, and the index of the first.
    ///
    /// # Panics
    /// If the firing has fewer items.
    ///
    /// # Safety
    /// The caller reads each of these items once, before any other code can run.
    #[inline]
    pub(super) unsafe fn take_run(&mut self, count: usize) -> (Slots<T>, usize) {
        assert!(count <= self.len(), "took {count} of the {} items left to this firing", self.len());
        let first = self.at;
        self.at = first + count;
        (self.slots, first)
    }

    /// Items left to this firing.
    #[inline]
    pub fn len(&self) -> usize {
        self.firing_end - self.at
    }

    /// Whether this firing has popped all its items.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The item `offset` places ahead, by reference; it can still be popped.
    ///
    /// # Panics
    /// If the firing has no such item left. To read beyond the items that the firing pops, use a
    /// [`View`](crate::View).
    #[inline]
    pub fn peek(&self, offset: usize) -> &T {
        assert!(offset < self.len(), "peek({offset}) past the {} items left to this firing", self.len());
        // SAFETY: `at + offset < firing_end <= claim_end`: an item that this cursor owns. The reference borrows the cursor,
        // so nothing pops or drops the item meanwhile.
        unsafe { self.slots.get(self.at + offset) }
    }
}

impl<T> Drop for In<'_, T> {
    /// Drops the items that a panicked firing has left: they belong to the cursor from `open` on.
    fn drop(&mut self) {
        if self.at < self.claim_end {
            self.drop_to(self.claim_end);
        }
    }
}

/// The end of a firing that has more items than its cursor's claim: the cursor is another port's.
#[cold]
#[inline(never)]
fn exchanged(claim_end: usize) -> usize {
    claim_end
}

#[cold]
#[inline(never)]
fn over_pop() -> ! {
    panic!("popped more items than this firing has\nhelp: raise the port's pop rate, or use `try_pop`");
}
