//! The counters of a channel: its part that does not depend on the item type.
//!
//! [`super`] has the protocol and the pairs of `head`, `tail`, `ended` and `gone`. The remaining fields:
//!
//! | field | written by | ordering | why |
//! |---|---|---|---|
//! | `end` | the writer of `ended`, before it | `Relaxed` | `ended`'s `Release`/`Acquire` orders it; read only once `ended` was seen |
//! | `weights.published` | producing side, before `tail` | `Release` | pairs with `Acquire` in `bytes`; a consumer that sees the tail sees it too |
//! | `weights.released` | consuming side, before `head` | `Release` | pairs with `Acquire` in `bytes`; a producer that sees the head sees it too |
//! | `weights.peak` | producing side, before `published` | `Relaxed` | a statistic |
//! | `weights.limit` | the thread that prepares or grows | `Relaxed` | a hint: a stale value delays or admits one firing |
//! | `counted` | the worker that published, after its claim | `Relaxed` | a statistic, which may lose updates |
//! | `remote` | that worker, if an end is a process; else the worker that has consumed, after its claim | `Relaxed` | as `counted` |
//! | `consumer_waited`, `producer_waited` | the thread that begins an activation of that side | `Relaxed` | statistics |
//! | `wasted` | producing side, once `gone` | `Relaxed` | read after the run, which joins its threads |
//!
//! Invariant: `bytes` may be read by any thread. It loads `published` before `released`, so a release between the two
//! loads makes the result too small, never negative (`saturating_sub`): it errs towards room that is there by then.
//!
//! Layout: fields that the producing side writes come first, those of the consuming side last. With
//! [`Layout::Apart`] `head` has cache lines of its own, so that the two sides do not invalidate each other's.

use super::{Consumers, Mark, Origins, Taking};
use crate::set_once::SetOnce;
use crate::sync::{AtomicBool, AtomicUsize, CachePadded, Ordering};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

/// The placement of the two sides' counters in memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Layout {
    /// On cache lines of their own: for two threads that move items at the same time.
    Apart,
    /// As [`Layout::Apart`], with a log of the workers that the items come from.
    Traced(Taking),
    /// Together: for two processes. There may be a million, each moves one message at a time, and mostly one worker runs
    /// both, so size counts for more than contention.
    Together,
    /// As [`Layout::Together`], with such a log.
    TracedTogether(Taking),
}

/// Bytes above which items are heavy: those of a cache line.
const HEAVY: usize = 64;

/// Whether items of this size are heavy: they own memory, or are larger than a cache line.
pub(crate) fn is_heavy(bytes: usize, own: bool) -> bool {
    own || bytes > HEAVY
}

impl Layout {
    /// The layout for a channel of items of this type.
    pub(crate) fn of<T>(self) -> Layout {
        let heavy = is_heavy(size_of::<T>(), std::mem::needs_drop::<T>());
        match self {
            Layout::Traced(taking) => Layout::Traced(Taking { heavy, ..taking }),
            Layout::TracedTogether(taking) => Layout::TracedTogether(Taking { heavy, ..taking }),
            other => other,
        }
    }
}

/// The counters of a channel whose items are weighed.
#[derive(Debug)]
struct Weights {
    /// Bytes of all items ever published.
    published: AtomicUsize,
    /// Bytes of all items ever released.
    released: AtomicUsize,
    /// Bytes from which on the producer starts no firing.
    limit: AtomicUsize,
    /// Maximum number of bytes that were in the channel.
    peak: AtomicUsize,
}

/// `Meter::end` of a stream that has not ended.
const OPEN: usize = usize::MAX;

/// Head, tail, ends and limits of a channel. See the protocol in [`super`].
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Meter {
    /// First index not published.
    tail: AtomicUsize,
    /// No published item beyond `end` counts. Set once.
    ended: AtomicBool,
    /// The consumer has left. Set once, by the consuming side; placed here because the producing side reads it with
    /// every `publish`.
    gone: AtomicBool,
    /// Never lowered.
    capacity: AtomicUsize,
    /// First index not released, with [`Layout::Together`].
    head: AtomicUsize,
    /// First index not released, with [`Layout::Apart`].
    head_apart: Option<Box<CachePadded<AtomicUsize>>>,
    /// The final tail, once `ended`; [`OPEN`] before. A feedback channel may be ended while its producer can still publish;
    /// items beyond `end` are never delivered.
    end: AtomicUsize,
    /// Items that [`Meter::count`] has classified; and items that went to another worker than the one that pushed them.
    counted: AtomicUsize,
    remote: AtomicUsize,
    /// Items that the producing side dropped because the consumer had left.
    wasted: AtomicUsize,
    /// The times for which the consumer waited for items and the producer for room, in ticks.
    consumer_waited: AtomicU64,
    producer_waited: AtomicU64,
    weights: Option<Box<Weights>>,
    origins: Option<Box<Origins>>,
    /// All consumers of the producer, if its firings have pieces.
    pieces: SetOnce<Arc<Consumers>>,
}

impl Meter {
    /// The counters of an empty channel that can hold `capacity` items.
    pub(crate) fn new(capacity: usize, layout: Layout, weighed: bool) -> Meter {
        let weights = || Weights {
            published: AtomicUsize::new(0),
            released: AtomicUsize::new(0),
            limit: AtomicUsize::new(usize::MAX),
            peak: AtomicUsize::new(0),
        };
        let apart = || Box::new(CachePadded::new(AtomicUsize::new(0)));
        let together = matches!(layout, Layout::Together | Layout::TracedTogether(_));
        Meter {
            tail: AtomicUsize::new(0),
            ended: AtomicBool::new(false),
            gone: AtomicBool::new(false),
            capacity: AtomicUsize::new(capacity),
            head: AtomicUsize::new(0),
            head_apart: (!together).then(apart),
            end: AtomicUsize::new(OPEN),
            counted: AtomicUsize::new(0),
            remote: AtomicUsize::new(0),
            wasted: AtomicUsize::new(0),
            consumer_waited: AtomicU64::new(0),
            producer_waited: AtomicU64::new(0),
            weights: weighed.then(|| Box::new(weights())),
            origins: match layout {
                Layout::Traced(taking) | Layout::TracedTogether(taking) => {
                    Some(Box::new(Origins::new(taking)))
                }
                Layout::Apart | Layout::Together => None,
            },
            pieces: SetOnce::new(),
        }
    }

    #[inline]
    fn head_cell(&self) -> &AtomicUsize {
        self.head_apart.as_ref().map_or(&self.head, |apart| apart)
    }

    /// First index not published. `Acquire` pairs with `publish`: slots below it may be read.
    #[inline]
    pub(crate) fn tail(&self) -> usize {
        self.tail.load(Ordering::Acquire)
    }

    /// First index not released. `Acquire` pairs with `release`: slots below it may be overwritten.
    #[inline]
    pub(crate) fn head(&self) -> usize {
        self.head_cell().load(Ordering::Acquire)
    }

    /// The tail, read by its one writer, the producing side.
    #[inline]
    pub(crate) fn tail_here(&self) -> usize {
        self.tail.load(Ordering::Relaxed)
    }

    /// The head, read by its one writer, the consuming side.
    #[inline]
    pub(crate) fn head_here(&self) -> usize {
        self.head_cell().load(Ordering::Relaxed)
    }

    /// Publishes all items below `tail`. `Release` pairs with [`Meter::tail`]. Producing side only.
    #[inline]
    pub(crate) fn publish(&self, tail: usize) {
        if cfg!(loom) {
            // The same for one writer. loom does not know that no store comes between the two halves of the exchange in
            // `publish_marked`, and lets a concurrent store be overwritten by it.
            self.tail.swap(tail, Ordering::Release);
        } else {
            self.tail.store(tail, Ordering::Release);
        }
    }

    /// Publishes the items below a mark of the producing side's cursor, for a sequential node that is firing. From any
    /// thread. `Release` pairs with [`Meter::tail`]. No effect if the producing side has published since. True if there were
    /// items to publish.
    pub(crate) fn publish_marked(&self, mark: &Mark) -> bool {
        // If the node publishes after the tail is read, the exchange fails.
        let (tail, end) = (self.tail(), mark.marked());
        let publish = || self.tail.compare_exchange(tail, end, Ordering::Release, Ordering::Relaxed);
        let published = end > tail && publish().is_ok();
        if published {
            mark.take(end);
        }
        published
    }

    /// Whether the items are weighed.
    pub(crate) fn is_weighed(&self) -> bool {
        self.weights.is_some()
    }

    /// Releases all slots below `head`. `Release` pairs with [`Meter::head`]. Consuming side only.
    #[inline]
    pub(crate) fn release(&self, head: usize) {
        self.head_cell().store(head, Ordering::Release);
    }

    /// Ends the stream at the current tail. The caller is the producing side, after its last `publish`, or a thread that
    /// examines a graph at rest. `Release` pairs with [`Meter::ended`].
    ///
    /// The exchange decides between this call and a `cut` at the same time: a sending end may be dropped on any thread while
    /// the graph at rest is examined. The stream then ends where it was cut, also if this call comes second.
    pub(crate) fn end(&self) {
        let tail = self.tail.load(Ordering::Relaxed);
        let _ = self.end.compare_exchange(OPEN, tail, Ordering::Relaxed, Ordering::Relaxed);
        self.ended.store(true, Ordering::Release);
    }

    /// Ends the stream at index `end`, which the consumer has not passed: items from there on are never delivered. The
    /// caller excludes both ends.
    pub(crate) fn cut(&self, end: usize) {
        // A swap, so that it is ordered with the exchange in `end`.
        self.end.swap(end, Ordering::Relaxed);
        self.ended.store(true, Ordering::Release);
    }

    /// Whether the stream has ended. `Acquire` pairs with `end` and `cut`; after true, [`Meter::end_tail`] is final.
    #[inline]
    pub(crate) fn ended(&self) -> bool {
        self.ended.load(Ordering::Acquire)
    }

    /// The final tail. Meaningful only after [`Meter::ended`] has returned true.
    #[inline]
    pub(crate) fn end_tail(&self) -> usize {
        self.end.load(Ordering::Relaxed)
    }

    /// Classifies the items published since the last call: whether they go to another worker.
    ///
    /// The worker that published calls it after it has released its claim of the node. Another worker may publish and
    /// count meanwhile; then items may be counted once, twice or not at all. It is a statistic.
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

    /// The log of the workers that the items come from, if the channel has one.
    #[inline]
    pub(crate) fn origins(&self) -> Option<&Origins> {
        self.origins.as_deref()
    }

    /// Counts items that the worker which consumed them has not pushed.
    pub(crate) fn count_crossed(&self, items: usize) {
        self.remote.fetch_add(items, Ordering::Relaxed);
    }

    /// Items that went to another worker, as far as they were counted.
    pub(crate) fn remote(&self) -> usize {
        self.remote.load(Ordering::Relaxed)
    }

    /// The time for which the consumer has waited for items, in ticks.
    pub(crate) fn consumer_waited(&self) -> &AtomicU64 {
        &self.consumer_waited
    }

    /// The time for which the producer has waited for room, in ticks.
    pub(crate) fn producer_waited(&self) -> &AtomicU64 {
        &self.producer_waited
    }

    /// The consumer leaves: it will access no slot any more. `Release` pairs with [`Meter::gone`]. Consuming side only.
    pub(crate) fn leave(&self) {
        if self.gone.load(Ordering::Relaxed) {
            return;
        }
        self.gone.store(true, Ordering::Release);
        if let Some(consumers) = self.pieces.get() {
            consumers.leave();
        }
    }

    /// Makes [`Meter::leave`] end the producer's firings in pieces, if its other consumers have left too. Before the run
    /// begins.
    pub(crate) fn ends_pieces(&self, consumers: Arc<Consumers>) {
        _ = self.pieces.set(consumers);
    }

    /// Whether the consumer has left. `Acquire` pairs with `leave`: after true, both ends are the producing side's.
    #[inline]
    pub(crate) fn gone(&self) -> bool {
        self.gone.load(Ordering::Acquire)
    }

    /// Counts items that were dropped because the consumer had left. Producing side only.
    pub(crate) fn waste(&self, items: usize) {
        self.wasted.store(self.wasted.load(Ordering::Relaxed) + items, Ordering::Relaxed);
    }

    /// Items published and never consumed: those dropped after the consumer left, and those still in the channel.
    pub(crate) fn unread(&self) -> usize {
        self.wasted.load(Ordering::Relaxed) + self.items()
    }

    #[inline]
    pub(crate) fn capacity(&self) -> usize {
        self.capacity.load(Ordering::Relaxed)
    }

    /// Raises the capacity; it is never lowered. The ring must have that many slots. True if it was less.
    pub(crate) fn raise_capacity(&self, capacity: usize) -> bool {
        self.capacity.fetch_max(capacity, Ordering::Relaxed) < capacity
    }

    /// Items in the channel. A snapshot: either counter may have moved on.
    pub(crate) fn items(&self) -> usize {
        self.tail().saturating_sub(self.head())
    }

    /// Whether the channel has a free slot and is below its byte limit, or its consumer has left. A snapshot, as
    /// [`Meter::items`].
    pub(crate) fn has_room(&self) -> bool {
        (self.items() < self.capacity() && self.is_below_byte_limit()) || self.gone()
    }

    /// Bytes the channel may hold; `usize::MAX` where items are not weighed.
    pub(crate) fn byte_limit(&self) -> usize {
        self.weights.as_ref().map_or(usize::MAX, |weights| weights.limit.load(Ordering::Relaxed))
    }

    /// Sets the byte limit; no effect where items are not weighed.
    pub(crate) fn set_byte_limit(&self, bytes: usize) {
        if let Some(weights) = &self.weights {
            weights.limit.store(bytes, Ordering::Relaxed);
        }
    }

    /// Bytes of the items in the channel; 0 where they are not weighed. A snapshot: see the module.
    pub(crate) fn bytes(&self) -> usize {
        self.weights.as_ref().map_or(0, |weights| {
            let published = weights.published.load(Ordering::Acquire);
            published.saturating_sub(weights.released.load(Ordering::Acquire))
        })
    }

    /// Maximum number of bytes that were in the channel; 0 where items are not weighed.
    pub(crate) fn peak_bytes(&self) -> usize {
        self.weights.as_ref().map_or(0, |weights| weights.peak.load(Ordering::Relaxed))
    }

    /// Bytes of all items ever published.
    pub(crate) fn bytes_published(&self) -> usize {
        self.weights.as_ref().map_or(0, |weights| weights.published.load(Ordering::Relaxed))
    }

    /// Producing side, before `publish`.
    pub(crate) fn set_bytes_published(&self, bytes: usize) {
        if let Some(weights) = &self.weights {
            // Too large at most by what is released meanwhile.
            weights
                .peak
                .fetch_max(bytes.saturating_sub(weights.released.load(Ordering::Relaxed)), Ordering::Relaxed);
            weights.published.store(bytes, Ordering::Release);
        }
    }

    /// Consuming side, before `release`.
    pub(crate) fn set_bytes_released(&self, bytes: usize) {
        if let Some(weights) = &self.weights {
            weights.released.store(bytes, Ordering::Release);
        }
    }

    /// Whether the channel is below its byte limit, so that the next firing may start.
    #[inline]
    pub(crate) fn is_below_byte_limit(&self) -> bool {
        self.weights.is_none() || self.is_below_limit()
    }

    fn is_below_limit(&self) -> bool {
        let limit = self.byte_limit();
        limit == usize::MAX || self.bytes() < limit
    }
}
