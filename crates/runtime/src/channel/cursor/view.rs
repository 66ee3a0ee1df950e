//! [`View`]: the cursor that peeks.

use super::{Brand, InputRates, RingId};
use crate::channel::slots::Slots;
use std::marker::PhantomData;

/// The window that a firing reads on one input: items by reference, those that it pops and those ahead.
///
/// The engine drops an item once no window can contain it.
#[derive(Debug)]
pub struct View<'f, T> {
    slots: Slots<T>,
    /// The first item of the window. Invariant: `at + stride <= claim_end` and `at + width <= end`.
    at: usize,
    /// Items that this firing pops: those that leave the window when it ends.
    stride: usize,
    /// Items of this firing's window.
    width: usize,
    /// End of the items that the firings of the stretch pop.
    claim_end: usize,
    /// End of the published items that may be read.
    end: usize,
    /// A window that wraps round the ring, as one slice.
    scratch: Vec<T>,
    ring: RingId,
    firing: Brand<'f>,
}

// SAFETY: several views may read one item at the same time, hence `T: Sync`. The engine drops items on any thread, and
// `scratch` moves with the view, hence `T: Send`.
unsafe impl<T: Send + Sync> Send for View<'_, T> {}

impl<T> View<'_, T> {
    /// A closed view for a port of `ring`.
    pub(crate) fn new(ring: RingId) -> Self {
        let (slots, scratch) = (Slots::none(), Vec::new());
        let firing = PhantomData;
        View { slots, at: 0, stride: 0, width: 0, claim_end: 0, end: 0, scratch, ring, firing }
    }

    /// Points the view at the stretch `[start, claim_end)`; items below `end` may be read.
    ///
    /// # Safety
    /// Items `[start, end)` are published and not released until the last of the stretch's firings
    /// has ended; `slots` stays valid as long.
    #[inline]
    pub(crate) unsafe fn open(&mut self, slots: Slots<T>, (start, claim_end): (usize, usize), end: usize) {
        self.slots = slots;
        (self.at, self.stride, self.width) = (start, 0, 0);
        (self.claim_end, self.end) = (claim_end, end);
    }

    /// Extends the stretch to `claim_end`, and the items that may be read to `end`.
    ///
    /// # Safety
    /// As for `open`, for the items up to `end`.
    pub(crate) unsafe fn extend(&mut self, claim_end: usize, end: usize) {
        (self.claim_end, self.end) = (claim_end, end);
    }

    /// Ends the claim after the last firing; the items beyond it are the port's again.
    #[inline]
    pub(crate) fn close(&mut self) {
        self.claim_end = self.at;
    }

    /// Whether all items of the stretch have left the window.
    #[inline]
    pub(crate) fn is_spent(&self) -> bool {
        self.at == self.claim_end
    }

    /// Points the open cursor at the same indices of other slots.
    ///
    /// # Safety
    /// The slots hold, by index, what those before held; they stay valid as `open` demands.
    pub(crate) unsafe fn reopen(&mut self, slots: Slots<T>) {
        self.slots = slots;
    }

    /// Whether this view was made for `ring`.
    #[inline]
    pub(crate) fn is_of(&self, ring: RingId) -> bool {
        self.ring == ring
    }

    /// Index of the first item that has not left the window.
    #[inline]
    pub(crate) fn at(&self) -> usize {
        self.at
    }

    /// Begins a firing. The minima keep the window inside the claim, as in `In::step`.
    #[inline]
    pub(crate) fn step(&mut self, rates: InputRates) {
        self.stride = rates.pop.min(self.claim_end - self.at);
        self.width = rates.peek.min(self.end - self.at);
    }

    /// Ends a firing. The items that it pops are dropped when the engine releases them.
    #[inline]
    pub(crate) fn finish(&mut self) {
        self.at += self.stride;
    }

    /// Items in the window.
    pub fn len(&self) -> usize {
        self.width
    }

    /// Whether the window has no items.
    pub fn is_empty(&self) -> bool {
        self.width == 0
    }

    /// Items that leave the window when this firing ends.
    pub fn popped(&self) -> usize {
        self.stride
    }

    /// The item `offset` places from the start of the window.
    pub fn get(&self, offset: usize) -> Option<&T> {
        // SAFETY: `at + offset < end`, so by the contract of `open` the item is published and not released while the
        // firing runs; shared references to it are all that exist.
        (offset < self.width).then(|| unsafe { self.slots.get(self.at + offset) })
    }

    /// The window as two slices, the second empty unless the window wraps round the ring.
    #[inline]
    pub fn as_slices(&self) -> (&[T], &[T]) {
        if self.width == 0 {
            return (&[], &[]);
        }
        // SAFETY: the window has at most as many items as the ring has slots; they are published and not released, as in
        // `get`.
        unsafe { self.slots.slices(self.at, self.width) }
    }

    /// The items of the window, in order.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        let (first, second) = self.as_slices();
        first.iter().chain(second)
    }
}

impl<T: Copy> View<'_, T> {
    /// The window as one slice. A window that wraps round the ring is copied: about one in
    /// `capacity / window`.
    #[inline]
    pub fn as_slice(&mut self) -> &[T] {
        let (first, second) = self.as_slices();
        if second.is_empty() {
            // SAFETY: the same slice as `first`, without its borrow of `self`, which would conflict with the one of
            // `scratch` below. It points into the ring, and the returned slice borrows `self`.
            return unsafe { std::slice::from_raw_parts(first.as_ptr(), first.len()) };
        }
        let mut scratch = std::mem::take(&mut self.scratch);
        scratch.clear();
        let (first, second) = self.as_slices();
        scratch.extend_from_slice(first);
        scratch.extend_from_slice(second);
        self.scratch = scratch;
        &self.scratch
    }
}

impl<T> std::ops::Index<usize> for View<'_, T> {
    type Output = T;

    fn index(&self, offset: usize) -> &T {
        self.get(offset).unwrap_or_else(|| panic!("item {offset} of a window of {}", self.width))
    }
}
