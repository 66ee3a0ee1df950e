//! [`Out`]: the cursor that pushes, and where the items go that have no slot.

use super::{Brand, RingId};
use crate::channel::Weigh;
use crate::channel::slots::Slots;
use crate::contain::drop_each;
use std::collections::VecDeque;
use std::marker::PhantomData;

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
    /// Drops the overflow, or the items of a closed chunk that were not moved to the ring.
    fn drop_items(&mut self) {
        match self {
            Spill::Overflow(items) => drop_each(std::mem::take(items)),
            Spill::Chunk { items, sent, .. } => {
                let (mut rest, done) = (std::mem::take(items), std::mem::take(sent));
                let end = rest.len();
                // SAFETY: elements `[done, end)` are initialised and those before were moved out. With length 0 the
                // vector drops none itself, so each is dropped once, and its buffer is freed even if a drop panics.
                unsafe {
                    rest.set_len(0);
                    Slots::buffer(rest.as_mut_ptr()).drop_items(done, end);
                }
            }
            Spill::Exact { .. } => {}
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
    /// Drops the items written and not published: in the ring, in a chunk or in the overflow.
    fn drop(&mut self) {
        struct Spilled<'a, T>(&'a mut Spill<T>);
        impl<T> Drop for Spilled<'_, T> {
            fn drop(&mut self) {
                self.0.drop_items();
            }
        }
        let (from, to) = self.hand_over();
        // Its drop runs also if the drop of an item below panics.
        let _spilled = Spilled(&mut self.spill);
        // SAFETY: `[from, to)` is written, not published and this cursor's, and `hand_over` has moved `base` past it. In an
        // open chunk these items lie in the buffer of the vector, whose length is 0, so `Spill::drop_items` drops none of them.
        unsafe { self.slots.drop_items(from, to) };
    }
}
