//! The yardstick for channels: a bare single-producer single-consumer ring of `Copy` items.
//!
//! It has the minimum of a channel: no sleep, no end of stream, no growth, no accounting.
//!
//! `head` counts the items popped, and only the consumer writes it; `tail` counts the items pushed, and only the
//! producer writes it. Both grow without bound and are masked when a slot is addressed. Each end keeps its own count
//! in a plain field and a cached copy of the other's, which it reloads only when the copy shows too few items or
//! free slots.
//!
//! The slots `head..tail` hold items and belong to the consumer; all others belong to the producer. The producer's
//! release store of `tail` hands slots to the consumer and pairs with the consumer's acquire load; the consumer's
//! release store of `head` hands slots back and pairs with the producer's acquire load.

use std::cell::UnsafeCell;
use std::mem::MaybeUninit;
use std::slice;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Gives a value a pair of cache lines of its own.
#[repr(align(128))]
struct Line<T>(T);

struct Shared<T> {
    head: Line<AtomicUsize>,
    tail: Line<AtomicUsize>,
    slots: Box<[UnsafeCell<MaybeUninit<T>>]>,
}

// SAFETY: only the end that owns a slot accesses it, as the module describes; `T: Send` lets items change threads.
unsafe impl<T: Send> Sync for Shared<T> {}

impl<T: Copy> Shared<T> {
    /// The slot of count `at`, and the number of slots from it to the end of the buffer.
    fn slot(&self, at: usize) -> (*mut T, usize) {
        let index = at & (self.slots.len() - 1);
        (UnsafeCell::raw_get(&raw const self.slots[index]).cast(), self.slots.len() - index)
    }
}

/// The producer's end.
pub struct Producer<T> {
    shared: Arc<Shared<T>>,
    tail: usize,
    cached_head: usize,
}

/// The consumer's end.
pub struct Consumer<T> {
    shared: Arc<Shared<T>>,
    head: usize,
    cached_tail: usize,
}

/// A ring of `capacity` items, a power of two.
pub fn ring<T: Copy>(capacity: usize) -> (Producer<T>, Consumer<T>) {
    assert!(capacity.is_power_of_two());
    let shared = Arc::new(Shared {
        head: Line(AtomicUsize::new(0)),
        tail: Line(AtomicUsize::new(0)),
        slots: (0..capacity).map(|_| UnsafeCell::new(MaybeUninit::uninit())).collect(),
    });
    let producer = Producer { shared: Arc::clone(&shared), tail: 0, cached_head: 0 };
    (producer, Consumer { shared, head: 0, cached_tail: 0 })
}

impl<T: Copy> Producer<T> {
    /// The number of free slots; loads the consumer's count only if fewer than `wanted` are known.
    #[inline]
    fn free(&mut self, wanted: usize) -> usize {
        let capacity = self.shared.slots.len();
        if capacity - (self.tail - self.cached_head) < wanted {
            self.cached_head = self.shared.head.0.load(Ordering::Acquire);
        }
        capacity - (self.tail - self.cached_head)
    }

    /// Pushes one item; returns `false` if the ring is full.
    #[inline]
    pub fn push(&mut self, item: T) -> bool {
        if self.free(1) == 0 {
            return false;
        }
        let (to, _) = self.shared.slot(self.tail);
        // SAFETY: a slot is free, so the one at `tail` belongs to this end.
        unsafe { to.write(item) };
        self.publish(1);
        true
    }

    /// Pushes all items of `items`, or none: returns `false` if the ring has no room for them.
    #[inline]
    pub fn push_slice(&mut self, mut items: impl ExactSizeIterator<Item = T>) -> bool {
        let count = items.len();
        if self.free(count) < count {
            return false;
        }
        let (to, contiguous) = self.shared.slot(self.tail);
        let first = count.min(contiguous);
        let (start, _) = self.shared.slot(0);
        let mut filled = 0;
        for (at, item) in (0..first).zip(&mut items) {
            // SAFETY: `count` slots from `tail` on are free, so they belong to this end, and the first
            // `first` of them are contiguous from `to` on.
            unsafe { to.add(at).write(item) };
            filled += 1;
        }
        for (at, item) in (0..count - first).zip(items) {
            // SAFETY: as above; the rest of the `count` slots are contiguous from the start of the buffer on.
            unsafe { start.add(at).write(item) };
            filled += 1;
        }
        self.publish(filled);
        true
    }

    /// Hands the next `count` slots to the consumer.
    #[inline]
    fn publish(&mut self, count: usize) {
        self.tail += count;
        self.shared.tail.0.store(self.tail, Ordering::Release);
    }
}

impl<T: Copy> Consumer<T> {
    /// The number of items; loads the producer's count only if fewer than `wanted` are known.
    #[inline]
    fn present(&mut self, wanted: usize) -> usize {
        if self.cached_tail - self.head < wanted {
            self.cached_tail = self.shared.tail.0.load(Ordering::Acquire);
        }
        self.cached_tail - self.head
    }

    /// Pops one item, if the ring has one.
    #[inline]
    pub fn pop(&mut self) -> Option<T> {
        if self.present(1) == 0 {
            return None;
        }
        let (from, _) = self.shared.slot(self.head);
        // SAFETY: an item is present, so the slot at `head` was written and belongs to this end.
        let item = unsafe { from.read() };
        self.head += 1;
        self.shared.head.0.store(self.head, Ordering::Release);
        Some(item)
    }

    /// Calls `look` with up to `most` items, in one or two slices, and pops them; returns their number.
    #[inline]
    pub fn pop_slice(&mut self, most: usize, mut look: impl FnMut(&[T])) -> usize {
        let count = most.min(self.present(most));
        let (from, contiguous) = self.shared.slot(self.head);
        let first = count.min(contiguous);
        let (start, _) = self.shared.slot(0);
        // SAFETY: `count` slots from `head` on hold items and belong to this end; `first` of them are contiguous
        // from `from` on, the rest from the start of the buffer on.
        let (front, back) =
            unsafe { (slice::from_raw_parts(from, first), slice::from_raw_parts(start, count - first)) };
        look(front);
        if !back.is_empty() {
            look(back);
        }
        self.head += count;
        self.shared.head.0.store(self.head, Ordering::Release);
        count
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slices_wrap_around() {
        let (mut producer, mut consumer) = ring(8);
        for start in (0..600u64).step_by(6) {
            let mut seen = Vec::new();
            assert!(producer.push_slice([0, 1, 2, 3, 4, 5].map(|i| start + i).into_iter()));
            assert_eq!(consumer.pop_slice(8, |items| seen.extend_from_slice(items)), 6);
            assert_eq!(seen, (start..start + 6).collect::<Vec<_>>());
        }
    }

    #[test]
    fn full_and_empty_rings_are_detected() {
        let (mut producer, mut consumer) = ring(2);
        assert!(!producer.push_slice([1, 2, 3].into_iter()));
        assert!(producer.push(1) && producer.push(2) && !producer.push(3));
        assert_eq!((consumer.pop(), consumer.pop(), consumer.pop()), (Some(1), Some(2), None));
    }

    #[test]
    fn items_cross_threads_in_order() {
        const N: u64 = if cfg!(miri) { 500 } else { 200_000 };
        let (mut producer, mut consumer) = ring(64);
        std::thread::scope(|scope| {
            scope.spawn(move || {
                (0..N).for_each(|i| {
                    while !producer.push(i) {
                        std::thread::yield_now()
                    }
                })
            });
            for i in 0..N {
                let item = std::iter::repeat_with(|| consumer.pop()).find_map(|item| {
                    if item.is_none() {
                        std::thread::yield_now();
                    }
                    item
                });
                assert_eq!(item, Some(i));
            }
        });
    }
}
