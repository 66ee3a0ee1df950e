//! Marks: how far the firings of an open [`Out`](super::Out) have come, for a thread that publishes in their place.
//!
//! A node publishes at the end of a slice or a claim, because publication costs a fence and a look at the consumers. A
//! long firing would keep what the firings before it have pushed from the consumer, also where a worker is idle. So the
//! thread that fires *marks* the end of each firing, and an idle worker publishes up to the mark
//! ([`look`](crate::sched::look)).
//!
//! # States of an item
//!
//! | the item is | where | owned by | left by |
//! |---|---|---|---|
//! | written | at or after `end`: in the running firing | the cursor | the end of the firing, which moves `end` past it |
//! | marked | in `[taken, end)` | the cursor; the thread that may publish for the node may take it | publication by either thread |
//! | taken | below `taken` | the channel | never |
//!
//! An index is that of the channel, or, where the cursor has a buffer, that of the buffer.
//!
//! # Fields
//!
//! | field | written by | ordering | pairs with |
//! |---|---|---|---|
//! | `end` | the thread that fires, after a firing; of a chunk also the issuer, when it opens it. In the ring an `end` from before is below the tail | `Release` | `Acquire` in `marked`: the items below it are written |
//! | `buffer` | the thread that fires, when the buffer has been replaced; at `open` the issuer | `Release` | `Acquire` in `read`: the new buffer holds what the old one held |
//! | `reading` | the thread that publishes | `Release` when it has read | `Acquire` in `replace_buffer`: the items have been read |
//! | `taken` | the thread that publishes | `Relaxed` | the claim or ticket by which the cursor is handed over; the end of the run |
//! | `bound` | the thread that fires; any thread that stops it, 0 | `Relaxed` | see below |
//! | `stop` | any thread, when no results are wanted any more; never cleared | `Release` | the fence in `stops`: then the thread that fires sees why |
//!
//! # Threads that may take
//!
//! | node | claim of the thread that takes | how it excludes the thread that fires |
//! |---|---|---|
//! | sequential | nothing | it moves `tail` from the value that it has read before `end`, by compare-and-swap. The thread that fires moves `tail` at the end of the slice to at least `end`, so after that the exchange fails |
//! | parallel | the retirement | it alone moves `tail`; the thread that fires is not done |
//!
//! *A buffer is freed while the other thread reads it.* The thread that fires frees a buffer that it has replaced at once,
//! unless the other one is reading:
//!
//! ```text
//!   replaces the buffer                       takes marked items
//!   1. buffer := the new one                  1. reading := true
//!   2. fence(SeqCst)                          2. fence(SeqCst)
//!   3. reading? then keeps the old buffer     3. reads `buffer`, and items in it
//!                                             4. reading := false
//! ```
//!
//! If the left side reads (3) a `reading` from before (1), its fence comes before the right side's, so that one reads the
//! new buffer. Otherwise it reads the `false` of (4), after the items were read, or keeps the old buffer.
//!
//! # The end of a piece
//!
//! A firing in pieces ([`pieces`](crate::node)) pushes items while their index is below `bound`, which it reads before each
//! item. So a thread that stops the run, or is the last consumer of the node that leaves ([`Consumers`]), ends it at its
//! next item:
//!
//! ```text
//!   goes on                                   stops
//!   1. bound := the next one                  1. stop := true
//!   2. fence(SeqCst)                          2. fence(SeqCst)
//!   3. stop? then bound := 0                  3. bound := 0
//! ```
//!
//! If the left side reads (3) a `stop` from before (1), its fence comes first, so the 0 of the right side comes after its own
//! bound.
//!
//! *An item is dropped twice.* A cursor whose firing has panicked drops what it has written, when the run is over. It
//! begins at `taken`, which the other thread has moved by then: the run joins its threads before it drops a cursor.

use crate::sync::{AtomicBool, AtomicPtr, AtomicUsize, Ordering, fence};
use std::ptr::NonNull;
use std::sync::Arc;

/// The mark of one cursor. On a cache line of its own, since the thread that fires writes it after each firing.
#[derive(Debug)]
#[repr(align(64))]
pub struct Mark {
    /// End of the items of ended firings.
    end: AtomicUsize,
    /// End of the items that have been taken.
    taken: AtomicUsize,
    /// The buffer in which the items lie, if they do not lie in the ring.
    buffer: AtomicPtr<()>,
    /// The thread that publishes reads the buffer.
    reading: AtomicBool,
    /// A firing in pieces ends at its next item: the run has stopped, or all consumers have left.
    stop: AtomicBool,
    /// The index up to which a firing in pieces may push.
    bound: AtomicUsize,
}

impl Mark {
    fn new() -> Mark {
        let buffer = AtomicPtr::new(std::ptr::null_mut());
        Mark {
            end: AtomicUsize::new(0),
            taken: AtomicUsize::new(0),
            buffer,
            reading: AtomicBool::new(false),
            stop: AtomicBool::new(false),
            bound: AtomicUsize::new(0),
        }
    }

    /// The index up to which a firing in pieces may push.
    #[inline(always)]
    pub(crate) fn bound(&self) -> usize {
        self.bound.load(Ordering::Relaxed)
    }

    /// Sets the bound; to 0 if no more results are wanted.
    pub(crate) fn set_bound(&self, bound: usize) {
        self.bound.store(bound, Ordering::Relaxed);
        fence(Ordering::SeqCst); // pairs with `Marks::stop`
        if self.stops() {
            self.bound.store(0, Ordering::Relaxed);
        }
    }

    /// Whether no more results are wanted. Then the thread sees the stop of the run, or that all consumers have left.
    #[inline(always)]
    pub(crate) fn stops(&self) -> bool {
        let stops = self.stop.load(Ordering::Relaxed);
        if stops {
            fence(Ordering::Acquire); // pairs with `Marks::stop`
        }
        stops
    }

    /// Marks the items below `end`: the firings that have pushed them have ended. `Release` pairs with [`Mark::marked`].
    #[inline(always)]
    pub(crate) fn set(&self, end: usize) {
        self.end.store(end, Ordering::Release);
    }

    /// Notes the buffer of a cursor that is opened. `Release` pairs with [`Mark::read`].
    pub(crate) fn set_buffer<T>(&self, buffer: *mut T) {
        self.buffer.store(buffer.cast(), Ordering::Release);
    }

    /// Notes a buffer that holds all items of the previous one. True if no thread reads the previous one any more.
    pub(crate) fn replace_buffer<T>(&self, buffer: *mut T) -> bool {
        self.set_buffer(buffer);
        fence(Ordering::SeqCst); // pairs with the fence in `read`
        !self.reading.load(Ordering::Acquire) // pairs with the end of `read`
    }

    /// End of the items that may be taken. `Acquire` pairs with [`Mark::set`].
    pub(crate) fn marked(&self) -> usize {
        self.end.load(Ordering::Acquire)
    }

    /// End of the items that have been taken.
    #[inline]
    pub(crate) fn taken(&self) -> usize {
        self.taken.load(Ordering::Relaxed)
    }

    /// Takes the items below `end`.
    #[inline]
    pub(crate) fn take(&self, end: usize) {
        self.taken.store(end, Ordering::Relaxed);
    }

    /// Calls `read` with the buffer, which holds at least the items below what [`Mark::marked`] has returned before. One
    /// thread at a time.
    pub(crate) fn read<T>(&self, read: impl FnOnce(*mut T)) {
        self.reading.store(true, Ordering::Relaxed);
        fence(Ordering::SeqCst); // pairs with the fence in `replace_buffer`
        read(self.buffer.load(Ordering::Acquire).cast()); // pairs with `set_buffer`
        self.reading.store(false, Ordering::Release); // pairs with `replace_buffer`
    }
}

/// The marks of a node's cursors: one for each output, and in a parallel node for each ticket and output.
///
/// Their owner is the node, and yet they are no `Box`: a `Box` that moves, as it does with the node, must be the only pointer to
/// what it holds, and the cursors have pointers to the marks.
#[derive(Debug)]
pub struct Marks(Arc<[Mark]>);

impl Marks {
    pub(crate) fn new(count: usize) -> Marks {
        Marks((0..count).map(|_| Mark::new()).collect())
    }

    /// Ends firings in pieces at their next item. The caller has set the reason before.
    pub(crate) fn stop(&self) {
        self.0.iter().for_each(|mark| mark.stop.store(true, Ordering::Release)); // pairs with `Mark::stops`
        fence(Ordering::SeqCst); // pairs with `Mark::set_bound`
        self.0.iter().for_each(|mark| mark.bound.store(0, Ordering::Relaxed));
    }

    /// The same marks, for threads that stop the firings.
    pub(crate) fn shared(&self) -> Marks {
        Marks(self.0.clone())
    }

    /// The mark at a position.
    pub(crate) fn at(&self, at: usize) -> &Mark {
        &self.0[at]
    }

    /// The cursor's handle of the mark at a position.
    ///
    /// # Safety
    /// The handle is not used after the drop of the marks.
    pub(crate) unsafe fn of(&self, at: usize) -> MarkRef {
        MarkRef(NonNull::from(self.at(at)))
    }
}

/// The consumers of a node whose firings have pieces. A firing ends early only when the last of them has left: until then
/// the results of a channel without a consumer are dropped, but a tally counts them.
#[derive(Debug)]
pub(crate) struct Consumers {
    marks: Marks,
    left: AtomicUsize,
}

impl Consumers {
    /// `count` consumers, none of which has left.
    pub(crate) fn new(marks: Marks, count: usize) -> Consumers {
        Consumers { marks, left: AtomicUsize::new(count) }
    }

    /// One of them leaves, and has set its `Meter::gone` before. Once for each of them.
    pub(crate) fn leave(&self) {
        // The last one has seen all others leave, and so has the thread that `stop` stops.
        if self.left.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.marks.stop();
        }
    }
}

/// A cursor's handle of its mark: a pointer, so that the inner loop of a firing computes no address.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MarkRef(NonNull<Mark>);

// SAFETY: a `MarkRef` is a shared reference to atomics.
unsafe impl Send for MarkRef {}

impl std::ops::Deref for MarkRef {
    type Target = Mark;

    #[inline(always)]
    fn deref(&self) -> &Mark {
        // SAFETY: by the contract of `Marks::of` the mark is alive.
        unsafe { self.0.as_ref() }
    }
}
