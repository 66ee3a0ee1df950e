//! Cursors: one firing's view of its channels. A firing pops by [`In`], peeks by [`View`] and pushes by [`Out`]; a
//! framing function peeks by [`Glance`].
//!
//! # States of a cursor
//!
//! A claim points a cursor at a stretch of the ring once; the firings of the claim step it through the stretch.
//!
//! | state | the cursor owns | entered by | left by |
//! |---|---|---|---|
//! | closed | nothing | `new`; `close`, `close_chunk` at the end of a claim | `open`, `open_chunk` |
//! | open | `In`: items `[at, claim_end)`. `View`: nothing; it may read `[at, end)`. `Out`: what it wrote, `[base, at)` | `open`, `open_chunk`; `extend` moves the end on | `close`, `close_chunk`, `hand_over` |
//! | in a firing | the same; the firing may go to `firing_end` (`In`), `see` (`View`), `limit` (`Out`) | `step` | `finish` |
//!
//! Invariant: `at` passes an item before user code can run on it, so an unwinding thread finds the item on one side of
//! `at` only. What a cursor owns when it is dropped, it drops.
//!
//! Cursors have no atomics. The claim or ticket that a cursor belongs to orders its accesses with those of other
//! threads, by the pairs of [`super`].
//!
//! # Why safe code cannot exchange cursors
//!
//! A firing has its cursors by `&mut`, so it can swap or replace one with any other of the same
//! type. The engine releases and publishes by a cursor's position, so a cursor of another ring
//! would free slots that hold live items. Two rules prevent that:
//!
//! - **Brand.** Each cursor type has an invariant lifetime `'f`, and a kernel's code must accept
//!   every `'f` (`for<'f> FnMut(&mut In<'f, T>, ..)`). The compiler therefore treats the cursors of
//!   two firings, or of a firing and one of a nested run, as different types. (The engine keeps
//!   its cursors as `'static`; kernel code cannot observe that.)
//! - **Identity.** Two ports of one firing share `'f` and may share `T`. Each cursor stores the
//!   ring that it was made for ([`RingId`]). The engine compares it where it points a cursor at a
//!   stretch, and where it acts on a position. There it also checks that the cursor has reached the
//!   end of its stretch: one that was swapped and swapped back may not have. Otherwise the node
//!   panics. Between these checks each cursor accesses its own stretch alone, in whichever variable
//!   the firing has put it.

use super::ring::Weigh;
use super::slots::Slots;
use std::cell::Cell;
use std::collections::VecDeque;
use std::marker::PhantomData;

/// Makes a cursor invariant in the lifetime of its firing: a function type is contravariant in its argument and covariant
/// in its result.
type Brand<'f> = PhantomData<fn(&'f ()) -> &'f ()>;

/// The identity of a ring among those of all live runs: the address of its counters. It is compared, never dereferenced.
pub(crate) type RingId = *const super::Meter;

/// The rates of an input in one firing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct InputRates {
    /// Items that the firing pops.
    pub(crate) pop: usize,
    /// Items that the firing may read, counted from the first one that it pops.
    pub(crate) peek: usize,
}

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

    /// Begins a firing that pops `pop` items.
    #[inline]
    pub(crate) fn step(&mut self, pop: usize) {
        // The minimum keeps `firing_end <= claim_end` even if safe code has exchanged cursors between firings, which the
        // engine notices only at the end of the claim.
        self.firing_end = (self.at + pop).min(self.claim_end);
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
    /// [`View`].
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

#[cold]
#[inline(never)]
fn over_pop() -> ! {
    panic!("popped more items than this firing has\nhelp: raise the port's pop rate, or use `try_pop`");
}

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

    /// Begins a firing. The minima keep the window inside the claim, as in [`In::step`].
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

/// The destination of items that have no slot of the ring.
///
/// | node | rate | slots | variant |
/// |---|---|---|---|
/// | sequential | dynamic | free slots of the ring | `Overflow` |
/// | any | static | slots reserved in the ring | `Exact` |
/// | parallel | dynamic | a vector of the ticket | `Chunk` |
/// | parallel, unordered | static | a vector of the ticket | `Chunk`, `exact` |
enum Spill<T> {
    /// The items of one firing that found no room. They leave before the next firing begins.
    Overflow(VecDeque<T>),
    /// All items of a claim's firings; the first `sent` have been moved to the ring.
    ///
    /// Invariant: while the chunk is open its length is 0, and the cursor owns what it has written in the vector's
    /// buffer; once closed, the vector owns items `[sent, len)`. With `exact` the buffer has room for the claim's static
    /// rate, and a push beyond it is an error.
    Chunk { items: Vec<T>, sent: usize, weigh: Option<Weigh<T>>, exact: bool },
    /// Nothing spills: the reserved slots hold the static rate, and a push beyond it is an error.
    Exact { weigh: Option<Weigh<T>> },
}

/// The position at which an [`Out`] writes: slots, index, limit.
type Place<T> = (Slots<T>, usize, usize);

impl<T> Spill<T> {
    /// Drops the items of a closed chunk that were not moved to the ring.
    fn drop_chunk(&mut self) {
        if let Spill::Chunk { items, sent, .. } = self {
            let (mut rest, done) = (std::mem::take(items), std::mem::take(sent));
            let end = rest.len();
            // SAFETY: elements `[done, end)` are initialised and those before were moved out. With length 0 the vector
            // drops none itself, so each is dropped once, and its buffer is freed even if a drop panics.
            unsafe {
                rest.set_len(0);
                Slots::buffer(rest.as_mut_ptr()).drop_items(done, end);
            }
        }
    }

    /// Stores an item for which `place` has no room. Returns the place at which the cursor continues.
    #[cold]
    #[inline(never)]
    fn put(&mut self, item: T, place: Place<T>) -> Place<T> {
        match self {
            Spill::Overflow(items) => {
                items.push_back(item);
                place
            }
            Spill::Chunk { exact: true, .. } | Spill::Exact { .. } => {
                drop(item);
                panic!(
                    "pushed more items than the port's declared push rate\nhelp: raise the push rate, or leave it out"
                );
            }
            Spill::Chunk { items, .. } => {
                // SAFETY: the first `place.1` elements were written through `slots`, which is this vector's buffer since
                // `open_chunk`, and `place.1 <= limit <= capacity`. The cursor's `at` is replaced by the caller, so the
                // vector alone owns them until the length is 0 again.
                unsafe { items.set_len(place.1) };
                items.push(item);
                let place = (Slots::buffer(items.as_mut_ptr()), items.len(), items.capacity());
                // SAFETY: 0 elements need no initialisation. The items stay in the buffer, and the cursor owns them again.
                unsafe { items.set_len(0) };
                place
            }
        }
    }
}

/// Bytes of buffer that an empty chunk keeps for the next ticket. A reorder window has many chunks.
const KEPT: usize = 4096;

/// The push rate of an output with a dynamic rate.
const DYNAMIC: usize = usize::MAX;

/// The slots that a firing fills on one output, in order.
pub struct Out<'f, T> {
    slots: Slots<T>,
    /// The next slot to write. Invariant: `[base, at)` is written, not published and this cursor's.
    at: usize,
    /// End of the slots that this firing may write.
    limit: usize,
    /// The first item written and not published.
    base: usize,
    /// The static push rate, or [`DYNAMIC`].
    push: usize,
    /// Behind a pointer, so that the cold path does not take the address of the fields above. They live in registers in
    /// the inner loop of a firing.
    spill: Box<Spill<T>>,
    ring: RingId,
    firing: Brand<'f>,
}

impl<T> std::fmt::Debug for Out<'_, T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Out").field("at", &self.at).field("limit", &self.limit).finish_non_exhaustive()
    }
}

// SAFETY: the cursor owns the items that it wrote, and no other access to them exists; items are `Send`. The ring that
// `slots` points into outlives the cursor's claim. `ring` is only compared.
unsafe impl<T: Send> Send for Out<'_, T> {}

impl<T> Out<'_, T> {
    fn with(ring: RingId, push: usize, spill: Spill<T>) -> Self {
        let (slots, spill) = (Slots::none(), Box::new(spill));
        Out { slots, at: 0, limit: 0, base: 0, push, spill, ring, firing: PhantomData }
    }

    /// The cursor of a sequential node's dynamic output.
    pub(crate) fn overflowing(ring: RingId) -> Self {
        Out::with(ring, DYNAMIC, Spill::Overflow(VecDeque::new()))
    }

    /// The cursor of a parallel node's dynamic output.
    pub(crate) fn chunk(ring: RingId, weigh: Option<Weigh<T>>) -> Self {
        Out::with(ring, DYNAMIC, Spill::Chunk { items: Vec::new(), sent: 0, weigh, exact: false })
    }

    /// The cursor of an unordered parallel node's static output. Tickets are published in any order, so none can reserve
    /// slots of the ring.
    pub(crate) fn exact_chunk(ring: RingId, push: usize, weigh: Option<Weigh<T>>) -> Self {
        Out::with(ring, push, Spill::Chunk { items: Vec::new(), sent: 0, weigh, exact: true })
    }

    /// The cursor of a static output.
    pub(crate) fn exact(ring: RingId, push: usize, weigh: Option<Weigh<T>>) -> Self {
        Out::with(ring, push, Spill::Exact { weigh })
    }

    /// Points the cursor at slots `[at, limit)` of a ring; it owns what it writes there.
    ///
    /// # Safety
    /// The slots are empty and the caller's; `slots` stays valid while the cursor is used. The cursor owns no items yet.
    #[inline]
    pub(crate) unsafe fn open(&mut self, slots: Slots<T>, at: usize, limit: usize) {
        self.slots = slots;
        (self.at, self.limit, self.base) = (at, limit, at);
    }

    /// Points the cursor at the buffer of its own empty chunk, for `firings` firings.
    pub(crate) fn open_chunk(&mut self, firings: usize) {
        let Spill::Chunk { items, sent, exact, .. } = &mut *self.spill else { unreachable!("not a chunk") };
        debug_assert!(items.is_empty() && *sent == 0);
        if *exact {
            items.reserve_exact(self.push * firings);
        }
        self.slots = Slots::buffer(items.as_mut_ptr());
        (self.at, self.limit, self.base) = (0, items.capacity(), 0);
    }

    /// Begins a firing; false if it must wait for a free slot.
    ///
    /// Invariant: an overflow holds the items of one firing at most. Hence a dynamic firing of a sequential node needs a
    /// free slot to begin: no firing begins after one that spilled. A static firing may write exactly its rate.
    #[inline(always)]
    pub(crate) fn step(&mut self) -> bool {
        if self.push != DYNAMIC {
            self.limit = self.at + self.push;
            return true;
        }
        self.at < self.limit
    }

    /// Whether a static firing pushed fewer items than its rate.
    #[inline(always)]
    pub(crate) fn is_short(&self) -> bool {
        self.push != DYNAMIC && self.at < self.limit
    }

    /// The items that a short static firing has not pushed.
    pub(crate) fn missing(&self) -> usize {
        self.limit - self.at
    }

    /// The index of the next slot to write.
    #[inline]
    pub(crate) fn at(&self) -> usize {
        self.at
    }

    /// Items written and not published: in an open chunk, or in a stretch of the ring.
    #[inline]
    pub(crate) fn pushed(&self) -> usize {
        self.at - self.base
    }

    /// Whether this cursor was made for `ring`.
    #[inline]
    pub(crate) fn is_of(&self, ring: RingId) -> bool {
        self.ring == ring
    }

    /// Hands over the items written and not published, `[from, to)`: the caller owns them from then on.
    #[inline]
    pub(crate) fn hand_over(&mut self) -> (usize, usize) {
        (std::mem::replace(&mut self.base, self.at), self.at)
    }

    /// Whether a firing pushed items that found no room, and some are still here.
    #[inline]
    pub(crate) fn overflows(&self) -> bool {
        matches!(&*self.spill, Spill::Overflow(items) if !items.is_empty())
    }

    /// The items that found no room, in order; `None` for other cursors than those of sequential dynamic outputs.
    #[inline]
    pub(crate) fn overflow(&mut self) -> Option<&mut VecDeque<T>> {
        match &mut *self.spill {
            Spill::Overflow(items) => Some(items),
            _ => None,
        }
    }

    /// Frees the buffer of a large overflow that is empty.
    pub(crate) fn shrink_overflow(&mut self) {
        if let Spill::Overflow(items) = &mut *self.spill
            && items.is_empty()
            && items.capacity().saturating_mul(size_of::<T>()) > KEPT
        {
            *items = VecDeque::new();
        }
    }

    /// Closes the chunk: the vector owns its items from then on, and the cursor none.
    pub(crate) fn close_chunk(&mut self) {
        let written = self.at;
        if let Spill::Chunk { items, .. } = &mut *self.spill {
            // SAFETY: the first `at` elements were written through `slots`, which is the vector's buffer since
            // `open_chunk`, and `at <= limit <= capacity`. `at` becomes 0 below, so each item has one owner.
            unsafe { items.set_len(written) };
            (self.at, self.limit, self.base) = (0, 0, 0);
        }
    }

    /// The items of a closed chunk that have not been moved to the ring.
    pub(crate) fn unsent(&self) -> &[T] {
        match &*self.spill {
            Spill::Chunk { items, sent, .. } => &items[*sent..],
            _ => &[],
        }
    }

    /// Bytes of the items that a ticket wrote and has not published: their weights if items are weighed, otherwise the
    /// size of the ticket's own buffer.
    pub(crate) fn unsent_bytes(&self) -> usize {
        match &*self.spill {
            Spill::Exact { weigh: Some(weigh) } => (self.base..self.at)
                // SAFETY: slots `[base, at)` are written, not published and this cursor's.
                .map(|i| weigh(unsafe { self.slots.get(i) }))
                .fold(0, usize::saturating_add),
            Spill::Chunk { weigh: Some(weigh), .. } => {
                self.unsent().iter().map(|item| weigh(item)).fold(0, usize::saturating_add)
            }
            Spill::Chunk { items, weigh: None, .. } => items.capacity().saturating_mul(size_of::<T>()),
            _ => 0,
        }
    }

    /// Moves up to `room` items of a closed chunk to the slots from `at`, and returns their number. The caller owns them
    /// from then on.
    ///
    /// # Safety
    /// Slots `[at, at + room)` are empty and the caller's.
    pub(crate) unsafe fn send(&mut self, slots: Slots<T>, at: usize, room: usize) -> usize {
        let Spill::Chunk { items, sent, .. } = &mut *self.spill else { return 0 };
        let count = room.min(items.len() - *sent);
        // SAFETY: `[sent, sent + count)` lies in the vector, and the slots are empty and the caller's, hence disjoint from
        // it. `sent` passes the items below, and no user code runs between, so they have one owner.
        unsafe { slots.copy_in(at, items.as_ptr().add(*sent), count) };
        *sent += count;
        if *sent == items.len() {
            // SAFETY: all items were moved out, so none is left to be dropped.
            unsafe { items.set_len(0) };
            *sent = 0;
            if items.capacity().saturating_mul(size_of::<T>()) > KEPT {
                *items = Vec::new();
            }
        }
        count
    }

    /// Pushes one item.
    ///
    /// # Panics
    /// If the port's push rate is static and this firing has pushed that many items already.
    #[inline(always)]
    pub fn push(&mut self, item: T) {
        if self.at < self.limit {
            let at = self.at;
            // SAFETY: by the contract of `open` (or as the vector's spare capacity, `open_chunk`) slot `at < limit` is
            // empty and this cursor's.
            unsafe { self.slots.write(at, item) };
            self.at = at + 1;
        } else {
            (self.slots, self.at, self.limit) = self.spill.put(item, (self.slots, self.at, self.limit));
        }
    }
}

impl<T> Extend<T> for Out<'_, T> {
    fn extend<I: IntoIterator<Item = T>>(&mut self, items: I) {
        for item in items {
            self.push(item);
        }
    }
}

impl<T> Drop for Out<'_, T> {
    /// Drops the items written and not published, in the ring or in a chunk.
    fn drop(&mut self) {
        struct Chunk<'a, T>(&'a mut Spill<T>);
        impl<T> Drop for Chunk<'_, T> {
            fn drop(&mut self) {
                self.0.drop_chunk();
            }
        }
        let (from, to) = self.hand_over();
        // Its drop runs also if the drop of an item below panics.
        let _chunk = Chunk(&mut self.spill);
        // SAFETY: `[from, to)` is written, not published and this cursor's, and `hand_over` has moved `base` past it. In an
        // open chunk these items lie in the buffer of the vector, whose length is 0, so `drop_chunk` drops none of them.
        unsafe { self.slots.drop_items(from, to) };
    }
}

/// A framing function's view of an input: items by reference, before a firing pops them. Its answers do not depend on
/// how many items have happened to arrive.
#[derive(Debug)]
pub struct Glance<T> {
    slots: Slots<T>,
    /// The first item not claimed.
    next: usize,
    /// End of the items that were published when the glance was made.
    seen: usize,
    ended: bool,
    /// One more than the furthest offset that was peeked at and had not arrived.
    wanted: Cell<usize>,
    items: PhantomData<T>,
}

/// The item at this offset has not arrived yet. Propagate it with `?`: the engine calls the framing function again when
/// more items have arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotYet(());

impl<T> Glance<T> {
    /// # Safety
    /// Items `[next, seen)` are published, and are not claimed while the glance lives.
    pub(crate) unsafe fn new(slots: Slots<T>, next: usize, seen: usize, ended: bool) -> Glance<T> {
        Glance { slots, next, seen, ended, wanted: Cell::new(0), items: PhantomData }
    }

    /// Items that a `peek` needed and that had not arrived, counted from the first.
    pub(crate) fn wanted(&self) -> usize {
        self.wanted.get()
    }

    /// The item `offset` places ahead, or `None` if the stream ends before it.
    ///
    /// # Errors
    /// [`NotYet`] if the item has not arrived.
    #[inline]
    pub fn peek(&self, offset: usize) -> Result<Option<&T>, NotYet> {
        let at = self.next.saturating_add(offset);
        if at < self.seen {
            // SAFETY: `next <= at < seen`: by the contract of `new` the item is published and no claim takes it while the
            // glance lives, which the reference borrows.
            Ok(Some(unsafe { self.slots.get(at) }))
        } else if self.ended {
            Ok(None)
        } else {
            self.wanted.set(self.wanted.get().max(offset.saturating_add(1)));
            Err(NotYet(()))
        }
    }

    /// Items that have arrived. The number depends on timing: only for nodes whose results do not depend on it, or that
    /// the graph marks as indeterminate.
    pub(crate) fn arrived(&self) -> usize {
        self.seen - self.next
    }

    /// Whether no more items will arrive.
    pub(crate) fn ended(&self) -> bool {
        self.ended
    }
}
