//! The counters of a channel: all of it that does not depend on the item type.

use crate::sync::{AtomicBool, AtomicUsize, Ordering};
use crossbeam_utils::CachePadded;

/// Written by the producing side.
#[derive(Debug)]
struct Front {
    tail: AtomicUsize,
    ended: AtomicBool,
    /// The last tail that counts, once ended. A feedback channel may be ended while its producer
    /// can still publish; what it publishes then is never read.
    end: AtomicUsize,
    /// Bytes of all items ever published, where items are weighed.
    bytes: AtomicUsize,
    /// Items looked at by [`Meter::count`], and those of them that were remote.
    counted: AtomicUsize,
    remote: AtomicUsize,
}

/// Written by the consuming side.
#[derive(Debug)]
struct Back {
    head: AtomicUsize,
    /// Bytes of all items ever released, where items are weighed.
    bytes: AtomicUsize,
}

/// Head, tail, ends and limits of a channel. See the protocol in [`super`].
#[derive(Debug)]
pub(crate) struct Meter {
    front: CachePadded<Front>,
    back: CachePadded<Back>,
    /// Set once by the consuming side. Here, where nearly nothing is written, because the
    /// producing side looks at it with every slice.
    gone: AtomicBool,
    /// Items the producing side dropped because the consumer had left.
    wasted: AtomicUsize,
    /// Changed only while neither end is active.
    capacity: AtomicUsize,
    /// Bytes the channel may hold before its producer must wait; `usize::MAX` if not weighed.
    byte_limit: AtomicUsize,
}

impl Meter {
    /// An empty channel of `capacity` items.
    pub(crate) fn new(capacity: usize) -> Meter {
        Meter {
            front: CachePadded::new(Front {
                tail: AtomicUsize::new(0),
                ended: AtomicBool::new(false),
                end: AtomicUsize::new(0),
                bytes: AtomicUsize::new(0),
                counted: AtomicUsize::new(0),
                remote: AtomicUsize::new(0),
            }),
            back: CachePadded::new(Back { head: AtomicUsize::new(0), bytes: AtomicUsize::new(0) }),
            gone: AtomicBool::new(false),
            wasted: AtomicUsize::new(0),
            capacity: AtomicUsize::new(capacity),
            byte_limit: AtomicUsize::new(usize::MAX),
        }
    }

    #[inline]
    pub(crate) fn tail(&self) -> usize {
        self.front.tail.load(Ordering::Acquire)
    }

    #[inline]
    pub(crate) fn head(&self) -> usize {
        self.back.head.load(Ordering::Acquire)
    }

    /// Publishes all items below `tail`. Producing side only.
    #[inline]
    pub(crate) fn publish(&self, tail: usize) {
        self.front.tail.store(tail, Ordering::Release);
    }

    /// Gives back all slots below `head`. Consuming side only.
    #[inline]
    pub(crate) fn release(&self, head: usize) {
        self.back.head.store(head, Ordering::Release);
    }

    /// No item will follow that counts. Producing side, after its last `publish`; or by whoever
    /// examines the resting graph.
    pub(crate) fn end(&self) {
        if !self.front.ended.load(Ordering::Relaxed) {
            self.front.end.store(self.front.tail.load(Ordering::Relaxed), Ordering::Relaxed);
            self.front.ended.store(true, Ordering::Release);
        }
    }

    #[inline]
    pub(crate) fn ended(&self) -> bool {
        self.front.ended.load(Ordering::Acquire)
    }

    /// The tail that the stream ended with. Only after `ended` was seen.
    #[inline]
    pub(crate) fn end_tail(&self) -> usize {
        self.front.end.load(Ordering::Relaxed)
    }

    /// Notes whether what was published since the last time goes to another worker. Producing side
    /// only.
    #[inline]
    pub(crate) fn count(&self, remote: bool) {
        let (tail, counted) =
            (self.front.tail.load(Ordering::Relaxed), self.front.counted.load(Ordering::Relaxed));
        self.front.counted.store(tail, Ordering::Relaxed);
        if remote {
            let before = self.front.remote.load(Ordering::Relaxed);
            self.front.remote.store(before + (tail - counted), Ordering::Relaxed);
        }
    }

    /// Items that went to another worker, as far as was noted.
    pub(crate) fn remote(&self) -> usize {
        self.front.remote.load(Ordering::Relaxed)
    }

    /// The consumer will read nothing more.
    pub(crate) fn leave(&self) {
        self.gone.store(true, Ordering::Release);
    }

    #[inline]
    pub(crate) fn gone(&self) -> bool {
        self.gone.load(Ordering::Acquire)
    }

    /// Counts items nobody will read.
    pub(crate) fn waste(&self, items: usize) {
        self.wasted.store(self.wasted.load(Ordering::Relaxed) + items, Ordering::Relaxed);
    }

    /// Items published that nobody has read: those dropped and those still there.
    pub(crate) fn unread(&self) -> usize {
        self.wasted.load(Ordering::Relaxed) + self.items()
    }

    #[inline]
    pub(crate) fn capacity(&self) -> usize {
        self.capacity.load(Ordering::Relaxed)
    }

    pub(crate) fn set_capacity(&self, capacity: usize) {
        self.capacity.store(capacity, Ordering::Relaxed);
    }

    /// Items in the channel, as far as this thread sees.
    pub(crate) fn items(&self) -> usize {
        self.tail().saturating_sub(self.head())
    }

    pub(crate) fn byte_limit(&self) -> usize {
        self.byte_limit.load(Ordering::Relaxed)
    }

    pub(crate) fn set_byte_limit(&self, bytes: usize) {
        self.byte_limit.store(bytes, Ordering::Relaxed);
    }

    /// Bytes of the items in the channel, where they are weighed.
    pub(crate) fn bytes(&self) -> usize {
        self.front.bytes.load(Ordering::Acquire).saturating_sub(self.back.bytes.load(Ordering::Acquire))
    }

    /// Bytes of all items ever published.
    pub(crate) fn bytes_published(&self) -> usize {
        self.front.bytes.load(Ordering::Relaxed)
    }

    pub(crate) fn set_bytes_published(&self, bytes: usize) {
        self.front.bytes.store(bytes, Ordering::Release);
    }

    pub(crate) fn set_bytes_released(&self, bytes: usize) {
        self.back.bytes.store(bytes, Ordering::Release);
    }

    /// Has room by weight: below its byte limit, so that the next firing may start.
    #[inline]
    pub(crate) fn light(&self) -> bool {
        let limit = self.byte_limit();
        limit == usize::MAX || self.bytes() < limit
    }
}
