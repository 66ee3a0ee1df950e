//! Access to slots: the only file that computes the address of a slot.
//!
//! A slot is free or holds an item, and it belongs to one side of the channel at a time. [`Slots`] stores neither fact;
//! the counters of [`super`] and the cursors do. So its methods are unsafe, all with the same contract: **the slots that
//! the call names belong to the caller, and they are in the state of the second column**.
//!
//! | method | slots before | slots after | what moves |
//! |---|---|---|---|
//! | `write`, `copy_in`, `place` | free | items | the argument, into the slots |
//! | `read`, `copy_out` | items | free | the items, to the caller |
//! | `drop_items` | items | free | nothing: the items are dropped |
//! | `get`, `slices` | items | items | nothing: the caller borrows |
//!
//! An index is that of an item of the stream, as everywhere in the runtime; the method finds its slot. Consecutive
//! indices lie in at most two stretches of the ring, of which the second begins at slot 0.

use crate::contain::drop_payload;
use std::mem::MaybeUninit;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

/// The slots of a ring or of a ticket's buffer: a pointer to the first and the mask that turns an index into a slot.
///
/// Valid until the ring grows or the buffer moves, hence for one claim.
#[derive(Debug)]
pub(crate) struct Slots<T> {
    first: *mut T,
    mask: usize,
}

impl<T> Clone for Slots<T> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Slots<T> {}

// SAFETY: `Slots` is a pointer; the side that uses it may be on any thread. It gives access to items only through unsafe
// methods, whose callers own the slots, and items are `Send`.
unsafe impl<T: Send> Send for Slots<T> {}

/// The stretch of the ring that holds an index and those after it, up to the end of the ring: first slot and length.
type Stretch = (usize, usize);

impl<T> Slots<T> {
    /// No slots: nothing may be accessed.
    pub(crate) fn none() -> Slots<T> {
        Slots { first: std::ptr::null_mut(), mask: 0 }
    }

    /// The slots of a ring of `size` slots, a power of two.
    #[inline(always)]
    pub(crate) fn ring(first: *mut T, size: usize) -> Slots<T> {
        Slots { first, mask: size - 1 }
    }

    /// A buffer whose slot `i` has index `i`.
    #[inline(always)]
    pub(crate) fn buffer(first: *mut T) -> Slots<T> {
        Slots { first, mask: usize::MAX }
    }

    /// The number of slots of a ring.
    #[inline(always)]
    pub(crate) fn size(self) -> usize {
        self.mask + 1
    }

    /// The same slots, whatever they hold.
    pub(crate) fn uninit(self) -> Slots<MaybeUninit<T>> {
        Slots { first: self.first.cast(), mask: self.mask }
    }

    /// The address of the slot of an index, to compare it or to lend its item.
    ///
    /// # Safety
    /// There is at least one slot.
    #[inline(always)]
    pub(crate) unsafe fn address(self, index: usize) -> *mut T {
        // SAFETY: masked, the index is below the number of slots of a ring; in a buffer the caller's index is.
        unsafe { self.first.add(index & self.mask) }
    }

    /// Writes an item into its slot.
    ///
    /// # Safety
    /// As the module says: a free slot.
    #[inline(always)]
    pub(crate) unsafe fn write(self, index: usize, item: T) {
        // SAFETY: the slot is the caller's and free, so nothing is overwritten and no other thread accesses it.
        unsafe { self.address(index).write(item) };
    }

    /// A free slot, for code that writes the item in place.
    ///
    /// # Safety
    /// As the module says: a free slot, which stays the caller's for `'a`.
    #[inline(always)]
    pub(crate) unsafe fn place<'a>(self, index: usize) -> &'a mut MaybeUninit<T> {
        // SAFETY: the slot is the caller's alone for `'a`, and `MaybeUninit` may be uninitialised.
        unsafe { &mut *self.address(index).cast::<MaybeUninit<T>>() }
    }

    /// Moves an item out of its slot.
    ///
    /// # Safety
    /// As the module says: an item. The caller does not read or drop it again.
    #[inline(always)]
    pub(crate) unsafe fn read(self, index: usize) -> T {
        // SAFETY: the slot holds an item of the caller's.
        unsafe { self.address(index).read() }
    }

    /// An item in its slot.
    ///
    /// # Safety
    /// As the module says: an item, which is neither moved, dropped nor written for `'a`.
    #[inline(always)]
    pub(crate) unsafe fn get<'a>(self, index: usize) -> &'a T {
        // SAFETY: the slot holds an item, to which only shared references exist for `'a`.
        unsafe { &*self.address(index) }
    }

    /// The first stretch of `count` indices from `index` on.
    #[inline(always)]
    fn stretch(self, index: usize, count: usize) -> Stretch {
        let slot = index & self.mask;
        (slot, count.min(self.mask - slot + 1))
    }

    /// The two stretches of `count` indices from `index` on, each as a buffer whose slots have the indices from 0 on, and its
    /// length. Loops over them need no mask, so the compiler vectorises them.
    #[inline(always)]
    pub(crate) fn split(self, index: usize, count: usize) -> [(Slots<T>, usize); 2] {
        let (slot, first) = self.stretch(index, count);
        [(Slots::buffer(self.first.wrapping_add(slot)), first), (Slots::buffer(self.first), count - first)]
    }

    /// `count` items as two slices, the second empty unless they wrap round the ring.
    ///
    /// # Safety
    /// As the module says: items of a ring, which are neither moved, dropped nor written for `'a`.
    #[inline(always)]
    pub(crate) unsafe fn slices<'a>(self, index: usize, count: usize) -> (&'a [T], &'a [T]) {
        let (slot, first) = self.stretch(index, count);
        // SAFETY: `count` is at most the number of slots, so the items lie in slots `[slot, slot + first)` and
        // `[0, count - first)`, and only shared references to them exist for `'a`.
        unsafe {
            (
                std::slice::from_raw_parts(self.first.add(slot), first),
                std::slice::from_raw_parts(self.first, count - first),
            )
        }
    }

    /// Moves `count` items from `from` into slots, in one or two copies.
    ///
    /// # Safety
    /// As the module says: free slots of a ring. `from` points to `count` items outside the ring, which the caller gives
    /// away (or which are `Copy`).
    #[inline(always)]
    pub(crate) unsafe fn copy_in(self, index: usize, from: *const T, count: usize) {
        let (slot, first) = self.stretch(index, count);
        // SAFETY: the slots are `[slot, slot + first)` and `[0, count - first)` as in `slices`, free and the caller's; the
        // source does not overlap them.
        unsafe {
            self.first.add(slot).copy_from_nonoverlapping(from, first);
            self.first.copy_from_nonoverlapping(from.add(first), count - first);
        }
    }

    /// Moves `count` items out of their slots to `to`, in one or two copies.
    ///
    /// # Safety
    /// As the module says: items of a ring, which the caller does not read or drop again. `to` has room for `count` items
    /// outside the ring.
    #[inline(always)]
    pub(crate) unsafe fn copy_out(self, index: usize, to: *mut T, count: usize) {
        let (slot, first) = self.stretch(index, count);
        // SAFETY: the items lie as in `slices`; the target does not overlap them.
        unsafe {
            to.copy_from_nonoverlapping(self.first.add(slot), first);
            to.add(first).copy_from_nonoverlapping(self.first, count - first);
        }
    }

    /// Drops items `[from, to)`. If a drop panics, the rest are dropped before the first panic continues; a thread that
    /// is unwinding already does not panic again.
    ///
    /// # Safety
    /// As the module says: items. No code reads them afterwards.
    #[inline]
    pub(crate) unsafe fn drop_items(self, from: usize, to: usize) {
        if !std::mem::needs_drop::<T>() {
            return;
        }
        let (mut next, mut panicked) = (from, None);
        while next < to {
            let dropping = catch_unwind(AssertUnwindSafe(|| {
                while next < to {
                    next += 1;
                    // SAFETY: by this function's contract. `next` has moved on, so a panic in this drop does not repeat it.
                    unsafe { self.address(next - 1).drop_in_place() };
                }
            }));
            match (dropping, &panicked) {
                (Ok(()), _) => {}
                (Err(panic), None) => panicked = Some(panic),
                (Err(panic), Some(_)) => drop_payload(panic),
            }
        }
        match panicked {
            Some(panic) if std::thread::panicking() => drop_payload(panic),
            Some(panic) => resume_unwind(panic),
            None => {}
        }
    }
}
