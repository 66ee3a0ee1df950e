//! What one firing sees of its channels: items to take ([`In`]), items to look at ([`View`]),
//! room to fill ([`Out`]), and a look ahead without taking ([`Glance`]).
//!
//! A cursor is pointed at a claimed stretch of a ring once, then stepped from firing to firing.
//! It owns what lies between its position and the end of the stretch it was given.
//!
//! # Why safe code cannot mix cursors up
//!
//! A firing has its cursors by `&mut`, so it can swap or replace one with any other of the same
//! type. The engine releases and publishes by a cursor's position, so a cursor of another ring
//! would free slots that hold live items. Two rules prevent that:
//!
//! - **Brand.** Each cursor type has an invariant lifetime `'f`, and a kernel's code must accept
//!   every `'f` (`for<'f> FnMut(&mut In<'f, T>, ..)`). The compiler therefore treats the cursors of
//!   two firings, or of a firing and one of a nested run, as different types. (The engine keeps
//!   its cursors as `'static`; kernel code cannot learn that.)
//! - **Identity.** Two ports of one firing share `'f` and may share `T`. Each cursor remembers the
//!   ring that it was made for ([`RingId`]). The engine compares it where it points a cursor at a
//!   stretch, and where it acts on a position; there it also asks that the cursor has come to the
//!   end of its stretch, as one that was swapped and swapped back may have not. Otherwise the node
//!   panics. Between these places each cursor works on its own stretch alone, wherever it lies.

use super::ring::{Weigh, drop_slots};
use std::cell::Cell;
use std::collections::VecDeque;
use std::marker::PhantomData;

/// Makes a cursor invariant in the lifetime of its firing.
type Brand<'f> = PhantomData<fn(&'f ()) -> &'f ()>;

/// Tells the rings of all live runs apart: the address of a ring's counters.
pub(crate) type RingId = *const super::Meter;

/// How much of a port the next firing may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Limits {
    /// Items it takes.
    pub(crate) take: usize,
    /// Items it may look at, counted from the first one it takes.
    pub(crate) see: usize,
}

/// The items a firing takes from one input, by value and in order.
///
/// What the firing leaves is dropped when it ends: a firing always moves as far as its rate says.
#[derive(Debug)]
pub struct In<'f, T> {
    slots: *mut T,
    mask: usize,
    at: usize,
    /// End of this firing's items.
    firing_end: usize,
    /// End of the claimed stretch.
    claim_end: usize,
    ring: RingId,
    firing: Brand<'f>,
}

// SAFETY: a cursor is the only way to the items of its stretch, and they may move between threads.
unsafe impl<T: Send> Send for In<'_, T> {}

impl<T> In<'_, T> {
    /// A cursor for a port of `ring`, open for nothing.
    pub(crate) fn new(ring: RingId) -> Self {
        let slots = std::ptr::null_mut();
        In { slots, mask: 0, at: 0, firing_end: 0, claim_end: 0, ring, firing: PhantomData }
    }

    /// Points the cursor at items `[start, end)`, which it then owns.
    ///
    /// # Safety
    /// The slots hold items that belong to the caller; `slots` stays valid until `close`.
    #[inline]
    pub(crate) unsafe fn open(&mut self, slots: (*mut T, usize), start: usize, end: usize) {
        (self.slots, self.mask) = slots;
        (self.at, self.firing_end, self.claim_end) = (start, start, end);
    }

    /// Moves the end of the stretch on to `end`.
    ///
    /// # Safety
    /// As for `open`, of the items up to `end`.
    pub(crate) unsafe fn extend(&mut self, end: usize) {
        self.claim_end = end;
    }

    /// Whether this cursor was made for `ring`.
    #[inline]
    pub(crate) fn is_of(&self, ring: RingId) -> bool {
        self.ring == ring
    }

    /// Index of the first item not taken.
    #[inline]
    pub(crate) fn at(&self) -> usize {
        self.at
    }

    #[inline]
    pub(crate) fn step(&mut self, take: usize) {
        // The smaller of the two: safe code that exchanges cursors must not reach past a claim.
        self.firing_end = (self.at + take).min(self.claim_end);
    }

    /// Drops what the firing left: all of it, also where a drop panics.
    #[inline]
    pub(crate) fn finish(&mut self) {
        if self.at < self.firing_end {
            self.drop_to(self.firing_end);
        }
    }

    #[inline]
    fn drop_to(&mut self, end: usize) {
        let from = std::mem::replace(&mut self.at, end);
        // SAFETY: items `[from, end)` are this cursor's, and the position is past them already.
        unsafe { drop_slots((self.slots, self.mask), from, end) };
    }

    /// Gives up what lies beyond the last firing: it was claimed and is not needed.
    #[inline]
    pub(crate) fn close(&mut self) {
        self.claim_end = self.firing_end;
    }

    /// Whether all items of the stretch are taken.
    #[inline]
    pub(crate) fn is_spent(&self) -> bool {
        self.at == self.claim_end
    }

    #[inline(always)]
    fn take(&mut self) -> T {
        let at = self.at;
        self.at = at + 1;
        // SAFETY: `at < claim_end`, so the slot holds an item this cursor owns; `at` has moved
        // on, so it is read once.
        unsafe { self.slots.add(at & self.mask).read() }
    }

    /// Takes the next item.
    ///
    /// # Panics
    /// Where this firing's items are all taken: its pop rate is too low for what it does.
    #[inline(always)]
    pub fn pop(&mut self) -> T {
        if self.at >= self.firing_end {
            over_pop();
        }
        self.take()
    }

    /// Takes the next item, if this firing has one left.
    #[inline]
    pub fn try_pop(&mut self) -> Option<T> {
        (self.at < self.firing_end).then(|| self.take())
    }

    /// Items left to this firing.
    #[inline]
    pub fn len(&self) -> usize {
        self.firing_end - self.at
    }

    /// Whether this firing has taken all its items.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The item `offset` places ahead, left where it is.
    ///
    /// # Panics
    /// Where the firing has no such item left. To see past what is taken, use
    /// [`View`].
    #[inline]
    pub fn peek(&self, offset: usize) -> &T {
        assert!(offset < self.len(), "peek({offset}) past the {} items left to this firing", self.len());
        // SAFETY: `at + offset < firing_end`, an item this cursor owns.
        unsafe { &*self.slots.add((self.at + offset) & self.mask) }
    }
}

impl<T> Drop for In<'_, T> {
    /// A firing that panicked leaves items behind; the claim made them this cursor's.
    fn drop(&mut self) {
        if self.at < self.claim_end {
            self.drop_to(self.claim_end);
        }
    }
}

#[cold]
#[inline(never)]
fn over_pop() -> ! {
    panic!("popped more items than the firing's rate says: raise the port's pop rate");
}

/// The window a firing looks at on one input: items by reference, its own and those ahead.
///
/// The engine drops the items once no firing covers them.
#[derive(Debug)]
pub struct View<'f, T> {
    slots: *mut T,
    mask: usize,
    at: usize,
    take: usize,
    see: usize,
    /// End of the items that leave the window with the stretch's firings.
    claim_end: usize,
    /// End of what is published and may be seen.
    end: usize,
    scratch: Vec<T>,
    ring: RingId,
    firing: Brand<'f>,
}

// SAFETY: several views may read one item at a time, so items must be shareable; they are dropped
// by the engine, on any thread.
unsafe impl<T: Send + Sync> Send for View<'_, T> {}

impl<T> View<'_, T> {
    /// A view for a port of `ring`, open for nothing.
    pub(crate) fn new(ring: RingId) -> Self {
        let (slots, scratch) = (std::ptr::null_mut(), Vec::new());
        let firing = PhantomData;
        View { slots, mask: 0, at: 0, take: 0, see: 0, claim_end: 0, end: 0, scratch, ring, firing }
    }

    /// Points the view at the stretch `[start, claim_end)`; items below `end` may be seen.
    ///
    /// # Safety
    /// Items `[start, end)` are published and not released until the last of the stretch's firings
    /// has ended; `slots` stays valid as long.
    #[inline]
    pub(crate) unsafe fn open(
        &mut self,
        slots: (*mut T, usize),
        (start, claim_end): (usize, usize),
        end: usize,
    ) {
        (self.slots, self.mask) = slots;
        (self.at, self.take, self.see) = (start, 0, 0);
        (self.claim_end, self.end) = (claim_end, end);
    }

    /// Moves the ends of the stretch and of what may be seen on.
    ///
    /// # Safety
    /// As for `open`, of the items up to `end`.
    pub(crate) unsafe fn extend(&mut self, claim_end: usize, end: usize) {
        (self.claim_end, self.end) = (claim_end, end);
    }

    /// Gives up what lies beyond the last firing.
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

    #[inline]
    pub(crate) fn at(&self) -> usize {
        self.at
    }

    #[inline]
    pub(crate) fn step(&mut self, limits: Limits) {
        self.take = limits.take.min(self.claim_end - self.at);
        self.see = limits.see.min(self.end - self.at);
    }

    #[inline]
    pub(crate) fn finish(&mut self) {
        self.at += self.take;
    }

    /// Items in the window.
    pub fn len(&self) -> usize {
        self.see
    }

    /// Whether the window has no items.
    pub fn is_empty(&self) -> bool {
        self.see == 0
    }

    /// Items that leave the window when this firing ends.
    pub fn popped(&self) -> usize {
        self.take
    }

    /// The item `offset` places from the start of the window.
    pub fn get(&self, offset: usize) -> Option<&T> {
        // SAFETY: visible items are published and not released, by `open`'s contract.
        (offset < self.see).then(|| unsafe { &*self.slots.add((self.at + offset) & self.mask) })
    }

    /// The window as two slices, the second empty unless the window wraps round the ring.
    #[inline]
    pub fn as_slices(&self) -> (&[T], &[T]) {
        if self.see == 0 {
            return (&[], &[]);
        }
        let start = self.at & self.mask;
        let first = self.see.min(self.mask + 1 - start);
        // SAFETY: both stretches lie inside the ring and hold visible items.
        unsafe {
            (
                std::slice::from_raw_parts(self.slots.add(start), first),
                std::slice::from_raw_parts(self.slots, self.see - first),
            )
        }
    }

    /// The items of the window, in order.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        let (first, second) = self.as_slices();
        first.iter().chain(second)
    }
}

impl<T: Copy> View<'_, T> {
    /// The window as one slice. Where it wraps round the ring it is copied, which happens to one
    /// window in `capacity / window` of them.
    #[inline]
    pub fn as_slice(&mut self) -> &[T] {
        let (first, second) = self.as_slices();
        if second.is_empty() {
            // SAFETY: `first` again; it borrows the ring, not `scratch`, and lives as long as the
            // borrow of `self` returned here.
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
        self.get(offset).unwrap_or_else(|| panic!("item {offset} of a window of {}", self.see))
    }
}

/// Where items go that have no slot of the ring yet.
enum Spill<T> {
    /// Sequential, dynamic rate: what one firing gave beyond the room there was.
    Overflow(VecDeque<T>),
    /// Parallel, dynamic rate: all that a claim's firings give; the first `sent` were moved on.
    /// `exact`: the rate is static, and the chunk has room for what it says (unordered nodes).
    Chunk { items: Vec<T>, sent: usize, weigh: Option<Weigh<T>>, exact: bool },
    /// Static rate: there is room for exactly what the rate says.
    Exact { weigh: Option<Weigh<T>> },
}

/// Where an [`Out`] writes: first slot, position, limit.
type Place<T> = (*mut T, usize, usize);

impl<T> Spill<T> {
    /// Drops the items of a closed chunk.
    fn drop_chunk(&mut self) {
        if let Spill::Chunk { items, sent, .. } = self {
            let (mut rest, done) = (std::mem::take(items), std::mem::take(sent));
            let end = rest.len();
            // SAFETY: elements `[done, end)` are initialised and those before were moved out; with
            // length 0 the vector drops none itself, and frees its buffer also where a drop panics.
            unsafe {
                rest.set_len(0);
                drop_slots((rest.as_mut_ptr(), usize::MAX), done, end);
            }
        }
    }

    /// Takes an item that `place` has no room for; gives the place to go on at.
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
                panic!("pushed more items than the firing's rate says: raise the port's push rate");
            }
            Spill::Chunk { items, .. } => {
                // SAFETY: the first `at` elements were written through `slots`, this vector's own
                // buffer, and `at <= limit <= capacity`.
                unsafe { items.set_len(place.1) };
                items.push(item);
                let place = (items.as_mut_ptr(), items.len(), items.capacity());
                // The cursor writes past the vector's length; what it has written it owns itself.
                // SAFETY: shortening to 0 leaves the items in the buffer.
                unsafe { items.set_len(0) };
                place
            }
        }
    }
}

/// Bytes that an empty chunk keeps for the next ticket: a window has many.
const KEPT: usize = 4096;

/// Push rate of an output whose firings give any number.
const DYNAMIC: usize = usize::MAX;

/// The room a firing fills on one output, in order.
pub struct Out<'f, T> {
    slots: *mut T,
    mask: usize,
    at: usize,
    limit: usize,
    /// Where this cursor's unpublished items begin.
    base: usize,
    /// Items of a firing where the rate is static.
    push: usize,
    /// Behind a pointer, so that the cold path does not take the address of the fields above:
    /// in a firing's inner loop they live in registers.
    spill: Box<Spill<T>>,
    ring: RingId,
    firing: Brand<'f>,
}

impl<T> std::fmt::Debug for Out<'_, T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Out").field("at", &self.at).field("limit", &self.limit).finish_non_exhaustive()
    }
}

// SAFETY: a cursor is the only way to the items it wrote, and they may move between threads.
unsafe impl<T: Send> Send for Out<'_, T> {}

impl<T> Out<'_, T> {
    fn with(ring: RingId, push: usize, spill: Spill<T>) -> Self {
        let (slots, spill) = (std::ptr::null_mut(), Box::new(spill));
        Out { slots, mask: 0, at: 0, limit: 0, base: 0, push, spill, ring, firing: PhantomData }
    }

    /// For a sequential node with a dynamic rate.
    pub(crate) fn overflowing(ring: RingId) -> Self {
        Out::with(ring, DYNAMIC, Spill::Overflow(VecDeque::new()))
    }

    /// For a parallel node with a dynamic rate.
    pub(crate) fn chunk(ring: RingId, weigh: Option<Weigh<T>>) -> Self {
        Out::with(ring, DYNAMIC, Spill::Chunk { items: Vec::new(), sent: 0, weigh, exact: false })
    }

    /// For an unordered parallel node with a static rate: a place in the ring cannot be reserved.
    pub(crate) fn exact_chunk(ring: RingId, push: usize, weigh: Option<Weigh<T>>) -> Self {
        Out::with(ring, push, Spill::Chunk { items: Vec::new(), sent: 0, weigh, exact: true })
    }

    /// For a static rate.
    pub(crate) fn exact(ring: RingId, push: usize, weigh: Option<Weigh<T>>) -> Self {
        Out::with(ring, push, Spill::Exact { weigh })
    }

    /// Points the cursor at slots `[at, limit)` of a ring; it owns what it writes there.
    ///
    /// # Safety
    /// The slots are empty and the caller's; `slots` stays valid while the cursor is used.
    #[inline]
    pub(crate) unsafe fn open(&mut self, slots: (*mut T, usize), at: usize, limit: usize) {
        (self.slots, self.mask) = slots;
        (self.at, self.limit, self.base) = (at, limit, at);
    }

    /// Points the cursor at its own empty chunk, for `firings` firings.
    pub(crate) fn open_chunk(&mut self, firings: usize) {
        let Spill::Chunk { items, sent, exact, .. } = &mut *self.spill else { unreachable!("not a chunk") };
        debug_assert!(items.is_empty() && *sent == 0);
        if *exact {
            items.reserve_exact(self.push * firings);
        }
        (self.slots, self.mask) = (items.as_mut_ptr(), usize::MAX);
        (self.at, self.limit, self.base) = (0, items.capacity(), 0);
    }

    /// Begins a firing. A dynamic firing of a sequential node needs a free slot, so that what is
    /// spilled is one firing's at most (false if there is none); a static one may write exactly
    /// what its rate says.
    #[inline(always)]
    pub(crate) fn step(&mut self) -> bool {
        if self.push != DYNAMIC {
            self.limit = self.at + self.push;
            return true;
        }
        self.at < self.limit
    }

    /// A static firing gave less than its rate says.
    #[inline(always)]
    pub(crate) fn is_short(&self) -> bool {
        self.push != DYNAMIC && self.at < self.limit
    }

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

    /// Hands over the items written and not published: `[from, to)`. They are the caller's.
    #[inline]
    pub(crate) fn hand_over(&mut self) -> (usize, usize) {
        (std::mem::replace(&mut self.base, self.at), self.at)
    }

    /// Whether there are items that had no room.
    #[inline]
    pub(crate) fn overflows(&self) -> bool {
        matches!(&*self.spill, Spill::Overflow(items) if !items.is_empty())
    }

    /// The items that had no room, in order.
    #[inline]
    pub(crate) fn overflow(&mut self) -> Option<&mut VecDeque<T>> {
        match &mut *self.spill {
            Spill::Overflow(items) => Some(items),
            _ => None,
        }
    }

    /// Gives back the memory of a large overflow that is empty again.
    pub(crate) fn shrink_overflow(&mut self) {
        if let Spill::Overflow(items) = &mut *self.spill
            && items.is_empty()
            && items.capacity().saturating_mul(size_of::<T>()) > KEPT
        {
            *items = VecDeque::new();
        }
    }

    /// Ends the writing of a chunk: its items are in the vector from now on.
    pub(crate) fn close_chunk(&mut self) {
        let written = self.at;
        if let Spill::Chunk { items, .. } = &mut *self.spill {
            // SAFETY: the first `at` elements were written through `slots`, the vector's own
            // buffer, and `at <= limit <= capacity`.
            unsafe { items.set_len(written) };
            (self.at, self.limit, self.base) = (0, 0, 0);
        }
    }

    /// The items of a closed chunk that have not been moved on.
    pub(crate) fn unsent(&self) -> &[T] {
        match &*self.spill {
            Spill::Chunk { items, sent, .. } => &items[*sent..],
            _ => &[],
        }
    }

    /// Bytes of what a ticket wrote and is not published: where items are weighed what they weigh, and
    /// where they are not those of its own memory.
    pub(crate) fn unsent_bytes(&self) -> usize {
        match &*self.spill {
            Spill::Exact { weigh: Some(weigh) } => (self.base..self.at)
                // SAFETY: slots `[base, at)` were written by this cursor and not published.
                .map(|i| weigh(unsafe { &*self.slots.add(i & self.mask) }))
                .fold(0, usize::saturating_add),
            Spill::Chunk { weigh: Some(weigh), .. } => {
                self.unsent().iter().map(|item| weigh(item)).fold(0, usize::saturating_add)
            }
            Spill::Chunk { items, weigh: None, .. } => items.capacity().saturating_mul(size_of::<T>()),
            _ => 0,
        }
    }

    /// Moves up to `room` items of a closed chunk to the slots from `at`; says how many. They are the
    /// caller's from then on.
    ///
    /// # Safety
    /// Slots `[at, at + room)` are empty and the caller's.
    pub(crate) unsafe fn send(&mut self, slots: (*mut T, usize), at: usize, room: usize) -> usize {
        let Spill::Chunk { items, sent, .. } = &mut *self.spill else { return 0 };
        let count = room.min(items.len() - *sent);
        let (to, mask) = slots;
        let size = mask + 1;
        let mut done = 0;
        while done < count {
            let slot = (at + done) & mask;
            let stretch = (count - done).min(size - slot);
            // SAFETY: source `[sent + done, +stretch)` lies in the vector, target in the ring; the
            // source items count as moved out by `sent` below.
            unsafe { to.add(slot).copy_from_nonoverlapping(items.as_ptr().add(*sent + done), stretch) };
            done += stretch;
        }
        *sent += count;
        if *sent == items.len() {
            // SAFETY: all items were moved out.
            unsafe { items.set_len(0) };
            *sent = 0;
            if items.capacity().saturating_mul(size_of::<T>()) > KEPT {
                *items = Vec::new();
            }
        }
        count
    }

    /// Gives one item.
    ///
    /// # Panics
    /// Where the port's push rate is static and this firing has given that many already.
    #[inline(always)]
    pub fn push(&mut self, item: T) {
        if self.at < self.limit {
            let at = self.at;
            // SAFETY: slot `at < limit` is empty and this cursor's.
            unsafe { self.slots.add(at & self.mask).write(item) };
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
    /// Written and unpublished items are still this cursor's.
    fn drop(&mut self) {
        struct Chunk<'a, T>(&'a mut Spill<T>);
        impl<T> Drop for Chunk<'_, T> {
            fn drop(&mut self) {
                self.0.drop_chunk();
            }
        }
        let (from, to) = self.hand_over();
        // Also where one of the items written panics as it is dropped.
        let _chunk = Chunk(&mut self.spill);
        // SAFETY: `[from, to)` was written by this cursor and not published; for a chunk that is
        // open they lie in the vector's buffer, whose length is 0 (`spill`, `open_chunk`).
        unsafe { drop_slots((self.slots, self.mask), from, to) };
    }
}

/// A look at an input before the firing that takes from it: items by reference, and an answer
/// that does not depend on how many have happened to arrive.
#[derive(Debug)]
pub struct Glance<T> {
    slots: *mut T,
    mask: usize,
    next: usize,
    seen: usize,
    ended: bool,
    wanted: Cell<usize>,
    items: PhantomData<T>,
}

/// The item asked for has not arrived yet: the engine asks the framing function again when it
/// has. Pass it on with `?`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotYet(());

impl<T> Glance<T> {
    /// # Safety
    /// Items `[next, seen)` are published, and stay unclaimed for as long as the glance lives.
    pub(crate) unsafe fn new(slots: (*mut T, usize), next: usize, seen: usize, ended: bool) -> Glance<T> {
        Glance { slots: slots.0, mask: slots.1, next, seen, ended, wanted: Cell::new(0), items: PhantomData }
    }

    /// One more than the furthest offset that was asked for in vain.
    pub(crate) fn wanted(&self) -> usize {
        self.wanted.get()
    }

    /// The item `offset` places ahead, or `None` where the stream ends before it.
    ///
    /// # Errors
    /// [`NotYet`], to be passed on.
    #[inline]
    pub fn peek(&self, offset: usize) -> Result<Option<&T>, NotYet> {
        let at = self.next.saturating_add(offset);
        if at < self.seen {
            // SAFETY: by the contract of `new`.
            Ok(Some(unsafe { &*self.slots.add(at & self.mask) }))
        } else if self.ended {
            Ok(None)
        } else {
            self.wanted.set(self.wanted.get().max(offset.saturating_add(1)));
            Err(NotYet(()))
        }
    }

    /// Items that have arrived: for nodes that are not determinate.
    pub(crate) fn arrived(&self) -> usize {
        self.seen - self.next
    }

    /// Whether nothing will arrive beyond what has.
    pub(crate) fn ended(&self) -> bool {
        self.ended
    }
}
