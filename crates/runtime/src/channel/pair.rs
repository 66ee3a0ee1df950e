//! The channel alone: two ends on two threads, without a graph.
//!
//! The protocol is that of [`super`]; here an end is a side for its whole life, since it cannot be cloned.
//!
//! | private counter | meaning | refreshed by |
//! |---|---|---|
//! | `Sender::next` | first slot not written: the tail | its own writes |
//! | `Sender::limit` | a lower bound of `head + capacity` | `room`, if fewer slots than wanted are known to be free |
//! | `Receiver::next` | first item not popped: the head | its own reads |
//! | `Receiver::seen` | a lower bound of `tail` | `items`, if fewer items than wanted are known |
//!
//! Invariant: `limit - capacity <= head` and `seen <= tail`, because both counters only rise. So a stale bound
//! refuses or delays an operation, and never touches a slot of the other side. An end reads the other's counter, whose
//! cache line the other keeps writing, only when its bound does not suffice.
//!
//! The ring never grows and items are not weighed, so slot pointers are kept for the life of an end, and `publish` and
//! `release` are the meter's. An end that is dropped leaves the ring with what it holds: the last `Arc` drops the items.

use super::slots::Slots;
use super::{Layout, Meter, Ring, Sizes};
use std::collections::VecDeque;
use std::sync::Arc;

/// A bounded channel between one sender and one receiver: the channel of graphs, without a graph.
///
/// No operation blocks. A full channel returns the item or the number of items that fitted, an empty one `None` or 0.
/// Capacity 0 counts as 1. Its slots, a power of two, are allocated at once; items without a size take no memory.
///
/// # Panics
/// If the system has no memory for this many items.
///
/// ```
/// let (mut tx, mut rx) = thalweg_runtime::channel::<u32>(4);
/// assert_eq!(tx.push_slice(&[1, 2, 3, 4, 5]), 4);
/// assert_eq!(rx.pop(), Some(1));
/// let mut rest = Vec::new();
/// rx.pop_into(&mut rest, 2);
/// rx.pop_slices(10, |items| rest.extend_from_slice(items));
/// assert_eq!(rest, [2, 3, 4]);
/// assert_eq!(tx.push_iter(7..9), 2);
/// ```
pub fn channel<T: Send>(capacity: usize) -> (Sender<T>, Receiver<T>) {
    let ring = Ring::new(Sizes::fixed(capacity), Layout::Apart, VecDeque::new(), None);
    let ring = Arc::new(ring.unwrap_or_else(|_| refuse(capacity, size_of::<T>())));
    let receiver = Receiver { slots: ring.slots(), ring: ring.clone(), next: 0, seen: 0 };
    let capacity = ring.meter.capacity();
    (Sender { slots: ring.slots(), capacity, ring, next: 0, limit: 0 }, receiver)
}

#[cold]
#[inline(never)]
fn refuse(items: usize, bytes: usize) -> ! {
    panic!("no memory for a channel of {items} items of {bytes} bytes\nhelp: lower its capacity")
}

/// The sending end of a [`channel`].
pub struct Sender<T> {
    slots: Slots<T>,
    capacity: usize,
    ring: Arc<Ring<T>>,
    next: usize,
    limit: usize,
}

/// The receiving end of a [`channel`].
pub struct Receiver<T> {
    slots: Slots<T>,
    ring: Arc<Ring<T>>,
    next: usize,
    seen: usize,
}

impl<T> std::fmt::Debug for Sender<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Sender").field("next", &self.next).finish_non_exhaustive()
    }
}

impl<T> std::fmt::Debug for Receiver<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Receiver").field("next", &self.next).finish_non_exhaustive()
    }
}

impl<T> Sender<T> {
    fn meter(&self) -> &Meter {
        &self.ring.meter
    }

    /// Free slots, at most `wanted`. `Meter::head` is `Acquire`, and pairs with the receiver's `release`: the slots below
    /// `limit` are no longer read.
    #[inline]
    fn room(&mut self, wanted: usize) -> usize {
        if self.limit - self.next < wanted {
            self.limit = self.meter().head() + self.capacity;
        }
        (self.limit - self.next).min(wanted)
    }

    /// Items that would fit now; at most `wanted`.
    ///
    /// To send slices fast, wait until a whole slice fits. With partial slices the two ends fetch each other's counter
    /// for each part.
    #[inline]
    pub fn room_for(&mut self, wanted: usize) -> usize {
        self.room(wanted)
    }

    /// Sends one item.
    ///
    /// # Errors
    /// Returns the item if the channel is full.
    #[inline]
    pub fn push(&mut self, item: T) -> Result<(), T> {
        if self.room(1) == 0 {
            return Err(item);
        }
        // SAFETY: slot `next < limit` is free, hence this side's until `publish`.
        unsafe { self.slots.write(self.next, item) };
        self.next += 1;
        self.ring.meter.publish(self.next);
        Ok(())
    }

    /// Whether the receiver has been dropped.
    pub fn is_abandoned(&self) -> bool {
        self.meter().gone()
    }
}

impl<T: Copy> Sender<T> {
    /// Sends as many items of a slice as fit, in one step, and returns their number.
    #[inline]
    pub fn push_slice(&mut self, items: &[T]) -> usize {
        let count = self.room(items.len());
        // SAFETY: slots `[next, next + count)` are free, hence this side's until `publish`; the source is a slice, so it lies
        // outside the ring.
        unsafe { self.slots.copy_in(self.next, items.as_ptr(), count) };
        if count > 0 {
            self.next += count;
            self.ring.meter.publish(self.next);
        }
        count
    }
}

impl<T> Sender<T> {
    /// Sends as many items of an iterator as fit, written in place and published in one step, and returns their number.
    /// No more items are taken from the iterator.
    ///
    /// The number of free slots bounds the loops, never `len`: an iterator may misreport it. What was written is
    /// published when `Written` is dropped, so a panic of the iterator leaves no item behind.
    #[inline]
    pub fn push_iter(&mut self, mut items: impl ExactSizeIterator<Item = T>) -> usize {
        let count = self.room(items.len());
        let [(front, first), (back, second)] = self.slots.split(self.next, count);
        let mut written = Written { sender: self, count: 0 };
        for (index, item) in (0..first).zip(&mut items) {
            // SAFETY: slots `[next, next + count)` are free, hence this side's until `publish`; `front` and `back` are these.
            unsafe { front.write(index, item) };
            written.count += 1;
        }
        // An unfused iterator may return items after `None`. They must not be written: `publish` would cover the slot
        // that the `None` left unwritten.
        let rest = if written.count == first { second } else { 0 };
        for (index, item) in (0..rest).zip(items) {
            // SAFETY: as above; all slots before this one are written.
            unsafe { back.write(index, item) };
            written.count += 1;
        }
        written.count
    }
}

/// Publishes the items written so far when it is dropped, also if the iterator panics. Invariant: slots
/// `[next, next + count)` of the sender are written.
struct Written<'a, T> {
    sender: &'a mut Sender<T>,
    count: usize,
}

impl<T> Drop for Written<'_, T> {
    #[inline]
    fn drop(&mut self) {
        if self.count > 0 {
            self.sender.next += self.count;
            self.sender.ring.meter.publish(self.sender.next);
        }
    }
}

impl<T> Drop for Sender<T> {
    fn drop(&mut self) {
        self.meter().end();
    }
}

impl<T> Receiver<T> {
    fn meter(&self) -> &Meter {
        &self.ring.meter
    }

    /// Items to pop, at most `wanted`. `Meter::tail` is `Acquire`, and pairs with the sender's `publish`: the slots below
    /// `seen` are written.
    #[inline]
    fn items(&mut self, wanted: usize) -> usize {
        if self.seen - self.next < wanted {
            self.seen = self.meter().tail();
        }
        (self.seen - self.next).min(wanted)
    }

    /// Pops one item, if there is one.
    #[inline]
    pub fn pop(&mut self) -> Option<T> {
        if self.items(1) == 0 {
            return None;
        }
        // SAFETY: slot `next < seen` holds an item of this side's; `next` moves past it, so it is read once.
        let item = unsafe { self.slots.read(self.next) };
        self.next += 1;
        self.meter().release(self.next);
        Some(item)
    }

    /// Appends up to `most` items to `to`, in one step, and returns their number.
    #[inline]
    pub fn pop_into(&mut self, to: &mut Vec<T>, most: usize) -> usize {
        let count = self.items(most);
        if count == 0 {
            return 0;
        }
        to.reserve(count);
        let len = to.len();
        // SAFETY: `[next, next + count)` holds items of this side's. The vector has reserved room for them, and `next` moves
        // past them before any user code runs, so the vector alone owns them.
        unsafe {
            self.slots.copy_out(self.next, to.as_mut_ptr().add(len), count);
            to.set_len(len + count);
        }
        self.next += count;
        self.meter().release(self.next);
        count
    }

    /// Whether no item is left and the sender has been dropped. `ended` is read first: its pair makes the final tail
    /// visible to `items`.
    pub fn is_finished(&mut self) -> bool {
        self.meter().ended() && self.items(1) == 0
    }
}

impl<T: Copy> Receiver<T> {
    /// Passes up to `most` items to `read` in place, as one slice or two, and releases them in one step. Returns their
    /// number.
    #[inline]
    pub fn pop_slices(&mut self, most: usize, mut read: impl FnMut(&[T])) -> usize {
        let count = self.items(most);
        // SAFETY: `[next, next + count)` holds items of this side's. They are released after the last use of the slices,
        // which `read` cannot keep.
        let (front, back) = unsafe { self.slots.slices(self.next, count) };
        read(front);
        if !back.is_empty() {
            read(back);
        }
        if count > 0 {
            self.next += count;
            self.meter().release(self.next);
        }
        count
    }
}

impl<T> Drop for Receiver<T> {
    fn drop(&mut self) {
        self.meter().leave();
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    /// An iterator that is not fused and misreports its length.
    struct Broken(Vec<Option<Box<u64>>>);

    impl Iterator for Broken {
        type Item = Box<u64>;

        fn next(&mut self) -> Option<Box<u64>> {
            self.0.pop().flatten()
        }

        fn size_hint(&self) -> (usize, Option<usize>) {
            (4, Some(4))
        }
    }

    impl ExactSizeIterator for Broken {}

    #[test]
    fn an_iterator_that_ends_and_goes_on_leaves_no_gap() {
        for gap in 0..4 {
            let (mut tx, mut rx) = channel(4);
            assert_eq!(tx.push_iter([Box::new(1), Box::new(2)].into_iter()), 2);
            assert_eq!([rx.pop(), rx.pop()], [Some(Box::new(1)), Some(Box::new(2))]);
            let mut items: Vec<Option<Box<u64>>> = (0..6).map(|i| Some(Box::new(i))).collect();
            items.insert(items.len() - gap, None);
            let pushed = tx.push_iter(Broken(items));
            assert_eq!(std::iter::from_fn(|| rx.pop()).count(), pushed);
            assert_eq!(pushed, if gap < 2 { gap } else { gap.min(4) });
        }
    }

    #[test]
    fn a_ring_without_memory_for_more_slots_stays_as_it_is() {
        let (mut tx, mut rx) = channel(2);
        assert!(tx.push(Box::new(7)).is_ok());
        // Miri ends at the first request for more memory than there is.
        for capacity in if cfg!(miri) { vec![usize::MAX] } else { vec![1 << 55, usize::MAX] } {
            // SAFETY: no other thread has an end, and a refused growth leaves all slots where they are.
            assert!(!unsafe { crate::channel::Grow::grow(&*tx.ring, capacity, false) });
        }
        assert_eq!((tx.meter().capacity(), rx.pop()), (2, Some(Box::new(7))));
    }

    #[test]
    fn items_before_a_panic_of_the_iterator_are_sent() {
        let (mut tx, mut rx) = channel(4);
        let items = [1, 2, 3].map(Box::new).into_iter().inspect(|item| assert!(**item != 3));
        assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| tx.push_iter(items))).is_err());
        assert_eq!([rx.pop(), rx.pop(), rx.pop()], [Some(Box::new(1)), Some(Box::new(2)), None]);
    }
}
