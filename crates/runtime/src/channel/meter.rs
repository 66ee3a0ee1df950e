//! The counters of a channel: all of it that does not depend on the item type.

use crate::sync::{AtomicBool, AtomicUsize, Ordering};
use crossbeam_utils::CachePadded;

/// How the two sides' counters lie.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Layout {
    /// On lines of their own: for two threads that move items at the same time.
    Apart,
    /// Together: for processes, which may be a million and move a message at a time.
    Together,
}

/// What is counted where items are weighed.
#[derive(Debug)]
struct Weights {
    /// Bytes of all items ever published.
    published: AtomicUsize,
    /// Bytes of all items ever released.
    released: AtomicUsize,
    /// Bytes the channel may hold before its producer must wait.
    limit: AtomicUsize,
}

/// Head, tail, ends and limits of a channel. See the protocol in [`super`].
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Meter {
    /// Written by the producing side, as all down to `remote`.
    tail: AtomicUsize,
    ended: AtomicBool,
    /// Set once by the consuming side. Here, because the producing side looks at it with every slice.
    gone: AtomicBool,
    /// Only ever raised.
    capacity: AtomicUsize,
    /// Written by the consuming side, unless it is written on lines of its own.
    head: AtomicUsize,
    head_apart: Option<Box<CachePadded<AtomicUsize>>>,
    /// The last tail that counts, once ended. A feedback channel may be ended while its producer
    /// can still publish; what it publishes then is never read.
    end: AtomicUsize,
    /// Items looked at by [`Meter::count`], and those of them that were remote.
    counted: AtomicUsize,
    remote: AtomicUsize,
    /// Items the producing side dropped because the consumer had left.
    wasted: AtomicUsize,
    weights: Option<Box<Weights>>,
}

impl Meter {
    /// An empty channel of `capacity` items.
    pub(crate) fn new(capacity: usize, layout: Layout, weighed: bool) -> Meter {
        let weights = || Weights {
            published: AtomicUsize::new(0),
            released: AtomicUsize::new(0),
            limit: AtomicUsize::new(usize::MAX),
        };
        let apart = || Box::new(CachePadded::new(AtomicUsize::new(0)));
        Meter {
            tail: AtomicUsize::new(0),
            ended: AtomicBool::new(false),
            gone: AtomicBool::new(false),
            capacity: AtomicUsize::new(capacity),
            head: AtomicUsize::new(0),
            head_apart: (layout == Layout::Apart).then(apart),
            end: AtomicUsize::new(0),
            counted: AtomicUsize::new(0),
            remote: AtomicUsize::new(0),
            wasted: AtomicUsize::new(0),
            weights: weighed.then(|| Box::new(weights())),
        }
    }

    #[inline]
    fn head_cell(&self) -> &AtomicUsize {
        self.head_apart.as_ref().map_or(&self.head, |apart| apart)
    }

    #[inline]
    pub(crate) fn tail(&self) -> usize {
        self.tail.load(Ordering::Acquire)
    }

    #[inline]
    pub(crate) fn head(&self) -> usize {
        self.head_cell().load(Ordering::Acquire)
    }

    /// The tail, for the producing side: it is its own.
    #[inline]
    pub(crate) fn tail_here(&self) -> usize {
        self.tail.load(Ordering::Relaxed)
    }

    /// The head, for the consuming side: it is its own.
    #[inline]
    pub(crate) fn head_here(&self) -> usize {
        self.head_cell().load(Ordering::Relaxed)
    }

    /// Publishes all items below `tail`. Producing side only.
    #[inline]
    pub(crate) fn publish(&self, tail: usize) {
        self.tail.store(tail, Ordering::Release);
    }

    /// Gives back all slots below `head`. Consuming side only.
    #[inline]
    pub(crate) fn release(&self, head: usize) {
        self.head_cell().store(head, Ordering::Release);
    }

    /// No item will follow that counts. Producing side, after its last `publish`; or by whoever
    /// examines the resting graph.
    pub(crate) fn end(&self) {
        if !self.ended.load(Ordering::Relaxed) {
            self.end.store(self.tail.load(Ordering::Relaxed), Ordering::Relaxed);
            self.ended.store(true, Ordering::Release);
        }
    }

    /// Ends the stream at an item that the consumer has not taken: what comes after it does not
    /// count. While neither end is active.
    pub(crate) fn cut(&self, end: usize) {
        self.end.store(end, Ordering::Relaxed);
        self.ended.store(true, Ordering::Release);
    }

    /// Items in the channel that the consumer will get.
    pub(crate) fn deliverable(&self) -> usize {
        let tail = if self.ended() { self.end_tail() } else { self.tail() };
        tail.saturating_sub(self.head())
    }

    #[inline]
    pub(crate) fn ended(&self) -> bool {
        self.ended.load(Ordering::Acquire)
    }

    /// The tail that the stream ended with. Only after `ended` was seen.
    #[inline]
    pub(crate) fn end_tail(&self) -> usize {
        self.end.load(Ordering::Relaxed)
    }

    /// Notes whether what was published since the last time goes to another worker.
    ///
    /// The worker that published calls it, after its claim of the node is given back: another may publish and count
    /// meanwhile, and then what both published may be counted once, twice or not at all. It is a statistic.
    #[inline]
    pub(crate) fn count(&self, remote: bool) {
        let (tail, counted) = (self.tail.load(Ordering::Relaxed), self.counted.load(Ordering::Relaxed));
        let Some(items) = tail.checked_sub(counted) else { return };
        self.counted.store(tail, Ordering::Relaxed);
        if remote {
            let before = self.remote.load(Ordering::Relaxed);
            self.remote.store(before + items, Ordering::Relaxed);
        }
    }

    /// Items that went to another worker, as far as was noted.
    pub(crate) fn remote(&self) -> usize {
        self.remote.load(Ordering::Relaxed)
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

    /// The ring has slots for as many.
    pub(crate) fn raise_capacity(&self, capacity: usize) {
        self.capacity.fetch_max(capacity, Ordering::Relaxed);
    }

    /// Items in the channel, as far as this thread sees.
    pub(crate) fn items(&self) -> usize {
        self.tail().saturating_sub(self.head())
    }

    /// Bytes the channel may hold; `usize::MAX` where items are not weighed.
    pub(crate) fn byte_limit(&self) -> usize {
        self.weights.as_ref().map_or(usize::MAX, |weights| weights.limit.load(Ordering::Relaxed))
    }

    /// Sets it, where items are weighed.
    pub(crate) fn set_byte_limit(&self, bytes: usize) {
        if let Some(weights) = &self.weights {
            weights.limit.store(bytes, Ordering::Relaxed);
        }
    }

    /// Bytes of the items in the channel, where they are weighed.
    pub(crate) fn bytes(&self) -> usize {
        self.weights.as_ref().map_or(0, |weights| {
            let published = weights.published.load(Ordering::Acquire);
            published.saturating_sub(weights.released.load(Ordering::Acquire))
        })
    }

    /// Bytes of all items ever published.
    pub(crate) fn bytes_published(&self) -> usize {
        self.weights.as_ref().map_or(0, |weights| weights.published.load(Ordering::Relaxed))
    }

    pub(crate) fn set_bytes_published(&self, bytes: usize) {
        if let Some(weights) = &self.weights {
            weights.published.store(bytes, Ordering::Release);
        }
    }

    pub(crate) fn set_bytes_released(&self, bytes: usize) {
        if let Some(weights) = &self.weights {
            weights.released.store(bytes, Ordering::Release);
        }
    }

    /// Has room by weight: below its byte limit, so that the next firing may start.
    #[inline]
    pub(crate) fn light(&self) -> bool {
        self.weights.is_none() || self.is_below_limit()
    }

    fn is_below_limit(&self) -> bool {
        let limit = self.byte_limit();
        limit == usize::MAX || self.bytes() < limit
    }
}
