//! [`Out`]: the cursor that pushes.

use super::spill::{Spill, Weighing};
use super::{Brand, In, Mark, MarkRef, RingId};
use crate::channel::Weigh;
use crate::channel::slots::Slots;
use crate::measure::clock::{Ticks, ticks};
use std::collections::VecDeque;
use std::marker::PhantomData;

/// Bytes of buffer that an empty chunk keeps for the next ticket. A reorder window has many chunks.
const KEPT: usize = 4096;

/// The items of a piece from one look at the clock to the next. A look and the read of the bound before each item cost 0.3 to
/// 0.4 ns an item, where an item of a range takes 1.7 ns. With neither, an iterator that became slow was asked for thousands
/// of items more, after its consumer had left.
const LOOK_EVERY: usize = 256;

/// The push rate of an output with a dynamic rate.
const DYNAMIC: usize = usize::MAX;

/// The slots that a firing fills on one output, in order.
pub struct Out<'f, T> {
    slots: Slots<T>,
    /// The next slot to write. Invariant: `[base, at)` is written, not published and this cursor's.
    at: usize,
    /// End of the slots that this firing may write.
    limit: usize,
    /// The index at which [`Out::fill`] pauses.
    pause: usize,
    /// The time at which it pauses, in ticks. It looks at the clock once in [`LOOK_EVERY`] items.
    pause_at: Ticks,
    /// The first item written and not published.
    base: usize,
    /// The static push rate, or [`DYNAMIC`].
    push: usize,
    /// Behind a pointer, as the mark is, so that the cold paths do not take the address of the other fields. They live in
    /// registers in the inner loop of a firing. `None` for a static output without weights: a reorder window has many, and an
    /// allocation for each makes short runs slower.
    spill: Option<Box<Spill<T>>>,
    mark: MarkRef,
    /// The pushed items are weighed when they are marked.
    weighs: bool,
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
    fn with(ring: RingId, mark: MarkRef, push: usize, spill: Option<Spill<T>>) -> Self {
        let (slots, mut spill) = (Slots::none(), spill.map(Box::new));
        let weighing = spill.as_deref_mut().and_then(Spill::weighing);
        let weighs = weighing.is_some();
        let mark = match weighing {
            // SAFETY: the marks lie in a box of their own, which the cursor owns and drops with itself.
            Some(weighing) => unsafe { weighing.unread.of(0) },
            None => mark,
        };
        Out {
            slots,
            at: 0,
            limit: 0,
            pause: 0,
            pause_at: 0,
            base: 0,
            push,
            spill,
            mark,
            weighs,
            ring,
            firing: PhantomData,
        }
    }

    /// The cursor of a sequential node's dynamic output.
    pub(crate) fn overflowing(ring: RingId, mark: MarkRef) -> Self {
        Out::with(ring, mark, DYNAMIC, Some(Spill::Overflow(VecDeque::new())))
    }

    /// The cursor of a parallel node's dynamic output.
    pub(crate) fn chunk(ring: RingId, mark: MarkRef, weigh: Option<Weigh<T>>) -> Self {
        let weighing = Weighing::new(weigh, mark);
        Out::with(
            ring,
            mark,
            DYNAMIC,
            Some(Spill::Chunk { items: Vec::new(), outgrown: Vec::new(), weighing, exact: false }),
        )
    }

    /// The cursor of the static output of a parallel node whose tickets reserve no slots: they are published in any order, or
    /// wait for room once they are computed.
    pub(crate) fn exact_chunk(ring: RingId, mark: MarkRef, push: usize, weigh: Option<Weigh<T>>) -> Self {
        let weighing = Weighing::new(weigh, mark);
        Out::with(
            ring,
            mark,
            push,
            Some(Spill::Chunk { items: Vec::new(), outgrown: Vec::new(), weighing, exact: true }),
        )
    }

    /// The cursor of a static output.
    pub(crate) fn exact(ring: RingId, mark: MarkRef, push: usize, weigh: Option<Weigh<T>>) -> Self {
        Out::with(ring, mark, push, Weighing::new(weigh, mark).map(Spill::Weighed))
    }

    /// Points the cursor at slots `[at, limit)` of a ring; it owns what it writes there.
    ///
    /// # Safety
    /// The slots are empty and the caller's; `slots` stays valid while the cursor is used. The cursor owns no items yet.
    #[inline]
    pub(crate) unsafe fn open(&mut self, slots: Slots<T>, at: usize, limit: usize) {
        self.slots = slots;
        (self.at, self.limit, self.base) = (at, limit, at);
        self.reset_weighing(at);
    }

    /// Points the cursor at the buffer of its own empty chunk, for `firings` firings.
    pub(crate) fn open_chunk(&mut self, firings: usize) {
        let Some(Spill::Chunk { items, exact, .. }) = self.spill.as_deref_mut() else {
            unreachable!("not a chunk")
        };
        debug_assert!(items.is_empty());
        if *exact {
            items.reserve_exact(self.push.saturating_mul(firings));
        }
        self.slots = Slots::buffer(items.as_mut_ptr());
        (self.at, self.limit, self.base) = (0, items.capacity(), 0);
        let buffer = items.as_mut_ptr();
        let mark = self.shared_mark();
        debug_assert_eq!(mark.taken(), 0, "the chunk is empty");
        mark.set_buffer(buffer);
        mark.set(0);
        self.reset_weighing(0);
    }

    /// Begins a firing; false if it must wait for a free slot.
    ///
    /// Invariant: an overflow holds the items of one firing at most. Hence a dynamic firing of a sequential node needs a
    /// free slot to begin: no firing begins after one that spilled. A static firing may write exactly its rate.
    #[inline(always)]
    pub(crate) fn step(&mut self) -> bool {
        if self.push != DYNAMIC {
            // SAFETY: an index counts the items of a stream: 2^63 of them take centuries. A static rate is below 2^32. The
            // compiler thus sees that a firing with a rate of 1 has room for one item and is complete after it.
            self.limit = unsafe { self.at.unchecked_add(self.push) };
            return true;
        }
        self.has_slot()
    }

    /// Whether a firing with a dynamic rate may begin: [`Out::step`].
    #[inline(always)]
    pub(crate) fn has_slot(&self) -> bool {
        self.at < self.limit
    }

    /// The free slots, for a firing with a dynamic rate.
    #[inline(always)]
    pub(crate) fn slots_left(&self) -> usize {
        self.limit - self.at
    }

    /// Pushes `rounds` rounds of items: in each round the next `weights[i]` items of each input `i`, in order. Input by input, so
    /// that the cursors of one input at a time are in registers.
    ///
    /// # Panics
    /// If the cursor has no slots for them, or an input fewer items.
    pub(crate) fn push_rounds(&mut self, inputs: &mut [In<'_, T>], weights: &[usize], rounds: usize) {
        if rounds == 0 {
            return;
        }
        let stride = weights.iter().fold(0, |sum: usize, weight| sum.saturating_add(*weight));
        let count = rounds.saturating_mul(stride);
        assert!(count <= self.slots_left(), "pushed {count} items into {} slots", self.slots_left());
        // No product below overflows: each is at most `count`.
        let has_items = |(input, weight): (&In<'_, T>, &usize)| rounds * weight <= input.len();
        assert!(inputs.iter().zip(weights).all(has_items), "an input lacks items");
        assert!(inputs.len() == weights.len(), "a weight for each input");
        let (slots, mut first) = (self.slots, self.at);
        for (input, weight) in inputs.iter_mut().zip(weights) {
            // SAFETY: the loops below read each index of the run once, and nothing in between panics or is user code: the input
            // has the items.
            let (from, at) = unsafe { input.take_run(rounds * weight) };
            for item in 0..*weight {
                for round in 0..rounds {
                    // SAFETY: the item is one of the run. The slot is one of `[at, at + count)`, which lies below `limit`, so it
                    // is empty and this cursor's; the sums of the turns before tell the inputs' slots apart, so each is
                    // written once.
                    unsafe {
                        slots.write(first + round * stride + item, from.read(at + round * weight + item));
                    }
                }
            }
            first += weight;
        }
        self.at += count;
    }

    /// Marks the items of the firings that have ended: see [`mark`](super::mark). If items are weighed they must be weighed
    /// first, by [`Out::weigh_pushed`], and this has no effect.
    #[inline(always)]
    pub(crate) fn mark(&self) {
        self.mark.set(self.at);
    }

    /// Weighs and marks the items of the firings that have ended, if the ticket's items are weighed.
    pub(crate) fn weigh_pushed(&mut self) {
        if self.weighs
            && let Some(spill) = self.spill.as_deref_mut()
        {
            // SAFETY: slots `[base, at)` are written, and those from the mark on are this cursor's.
            unsafe { spill.weigh_to(self.slots, self.at) };
        }
    }

    /// The mark that other threads read.
    fn shared_mark(&self) -> &Mark {
        match self.spill.as_deref() {
            Some(Spill::Weighed(weighing) | Spill::Chunk { weighing: Some(weighing), .. }) => &weighing.mark,
            _ => &self.mark,
        }
    }

    /// Begins to weigh with the item at `next`.
    #[inline]
    fn reset_weighing(&mut self, next: usize) {
        if self.weighs
            && let Some(weighing) = self.spill.as_deref_mut().and_then(Spill::weighing)
        {
            (weighing.next, weighing.bytes, weighing.pause) = (next, 0, usize::MAX);
        }
    }

    /// Makes the next call of [`Out::fill`] or [`Out::fill_chunk`] pause after `items` items, or before where there is no
    /// room in the ring, or soon after `time`, in ticks; if items are weighed, also once they have `bytes` bytes.
    pub(crate) fn pause_after(&mut self, items: usize, time: Ticks, bytes: usize) {
        self.pause_at = time;
        let pause = self.at.saturating_add(items);
        self.pause = match self.spill.as_deref() {
            Some(Spill::Overflow(_)) => pause.min(self.limit),
            _ => pause,
        };
        if let Some(weighing) = self.spill.as_deref_mut().and_then(Spill::weighing) {
            weighing.pause = weighing.bytes.saturating_add(bytes);
        }
        self.set_bound();
    }

    /// Pushes items of an iterator, as far as [`Out::pause_after`] allows, on the output of a sequential node. True if the
    /// iterator has ended.
    ///
    /// Each item is marked when it is pushed: the firing has no results but these, so they may leave before it ends.
    #[inline]
    pub(crate) fn fill(&mut self, items: &mut impl Iterator<Item = T>) -> bool {
        loop {
            // One comparison for an item, since many firings have one or two.
            while self.at < self.mark.bound() {
                let Some(item) = items.next() else { return true };
                // SAFETY: `at < bound <= limit`, so as in `push`.
                unsafe { self.put(item) };
            }
            if self.at >= self.pause {
                return self.has_ended(items);
            }
            if !self.goes_on() {
                return false;
            }
        }
    }

    /// [`Out::fill`] for a chunk, which has room for any number of items. With `PLAIN` they are not weighed.
    #[inline]
    pub(crate) fn fill_chunk<const PLAIN: bool>(&mut self, items: &mut impl Iterator<Item = T>) -> bool {
        loop {
            // If items are weighed, the inner loop stops after each of them.
            let weighed = if PLAIN { usize::MAX } else { self.weighed_end() };
            while self.at < weighed && self.at < self.mark.bound() {
                let Some(item) = items.next() else { return true };
                // SAFETY: `at < bound <= limit`, so as in `push`.
                unsafe { self.put(item) };
            }
            if !PLAIN {
                self.weigh_pushed();
                if self.shared_mark().stops() {
                    return false;
                }
                self.pause_if_heavy();
            }
            if self.at >= self.pause {
                return self.has_ended(items);
            }
            if self.at >= self.limit {
                let place = (self.slots, self.at, self.limit);
                let spill = self.spill.as_deref_mut().expect("a chunk");
                (self.slots, self.at, self.limit) = spill.enlarge(place, &self.mark);
                self.set_bound();
            } else if self.at >= self.mark.bound() && !self.goes_on() {
                return false;
            }
        }
    }

    /// Raises the bound of a firing in pieces; false if it pauses before its next item: no more results are wanted, or an
    /// iterator that was fast has become slow.
    #[cold]
    #[inline(never)]
    fn goes_on(&self) -> bool {
        let goes_on = !self.mark.stops() && ticks() < self.pause_at;
        if goes_on {
            self.set_bound();
        }
        goes_on
    }

    /// Sets the bound of a firing in pieces: up to the next look at the clock. Invariant: it is at most `limit`.
    fn set_bound(&self) {
        self.mark.set_bound(self.pause.min(self.limit).min(self.at.saturating_add(LOOK_EVERY)));
    }

    /// Pauses the firing here, and later firings of the ticket before their first item, if the ticket has the bytes of
    /// [`Out::pause_after`].
    fn pause_if_heavy(&mut self) {
        let weighing = self.spill.as_deref_mut().and_then(Spill::weighing);
        if self.at < self.pause && weighing.is_some_and(|weighing| weighing.bytes >= weighing.pause) {
            self.pause = self.at;
            self.set_bound();
        }
    }

    /// The end of the items that may be pushed before the pushed ones are weighed.
    #[inline]
    fn weighed_end(&self) -> usize {
        if self.weighs { self.at + 1 } else { usize::MAX }
    }

    /// Whether the items of a ticket are weighed.
    pub(crate) fn is_weighed(&self) -> bool {
        self.weighs
    }

    /// Writes and marks an item.
    ///
    /// # Safety
    /// `at < limit`.
    #[inline(always)]
    unsafe fn put(&mut self, item: T) {
        // SAFETY: as in `push`.
        unsafe { self.slots.write(self.at, item) };
        self.at += 1;
        self.mark();
    }

    /// Whether an iterator that pauses has no further item: then the firing must not wait for room. A hint may be wrong, so
    /// it decides only whether to ask.
    #[inline(always)]
    fn has_ended(&mut self, items: &mut impl Iterator<Item = T>) -> bool {
        items.size_hint().1 == Some(0) && items.next().map(|item| self.push(item)).is_none()
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

    /// Items written and not handed over: in an open chunk, or in a stretch of the ring.
    #[inline]
    pub(crate) fn pushed(&self) -> usize {
        self.at - self.base
    }

    /// Points the open cursor at the same indices of other slots.
    ///
    /// # Safety
    /// The slots hold, by index, what those before held; they stay valid as `open` demands.
    pub(crate) unsafe fn reopen(&mut self, slots: Slots<T>) {
        self.slots = slots;
    }

    /// Whether this cursor was made for `ring`.
    #[inline]
    pub(crate) fn is_of(&self, ring: RingId) -> bool {
        self.ring == ring
    }

    /// Hands over the items written, `[from, to)`: the caller owns them from then on, but for those that another thread
    /// has published by the mark.
    #[inline]
    pub(crate) fn hand_over(&mut self) -> (usize, usize) {
        (std::mem::replace(&mut self.base, self.at), self.at)
    }

    /// Whether a firing pushed items that found no room, and some are still here.
    #[inline]
    pub(crate) fn overflows(&self) -> bool {
        matches!(self.spill.as_deref(), Some(Spill::Overflow(items)) if !items.is_empty())
    }

    /// The items that found no room, in order; `None` for other cursors than those of sequential dynamic outputs.
    #[inline]
    pub(crate) fn overflow(&mut self) -> Option<&mut VecDeque<T>> {
        match self.spill.as_deref_mut() {
            Some(Spill::Overflow(items)) => Some(items),
            _ => None,
        }
    }

    /// Frees the buffer of a large overflow that is empty.
    pub(crate) fn shrink_overflow(&mut self) {
        if let Some(Spill::Overflow(items)) = self.spill.as_deref_mut()
            && items.is_empty()
            && items.capacity().saturating_mul(size_of::<T>()) > KEPT
        {
            *items = VecDeque::new();
        }
    }

    /// Closes the chunk: the vector owns its items from then on, and the cursor none.
    pub(crate) fn close_chunk(&mut self) {
        let written = self.at;
        if let Some(Spill::Chunk { items, .. }) = self.spill.as_deref_mut() {
            // SAFETY: the first `at` elements were written through `slots`, which is the vector's buffer since
            // `open_chunk`, and `at <= limit <= capacity`. `at` becomes 0 below, so each item has one owner.
            unsafe { items.set_len(written) };
            (self.at, self.limit, self.base) = (0, 0, 0);
        }
    }

    /// The items of a closed chunk that have not been moved to the ring. The caller holds the retirement, or no thread
    /// publishes by the mark.
    pub(crate) fn unsent(&self) -> &[T] {
        match self.spill.as_deref() {
            Some(Spill::Chunk { items, .. }) => &items[self.shared_mark().taken()..],
            _ => &[],
        }
    }

    /// Bytes of the items that a ticket's firings have pushed: their weights if items are weighed. Otherwise the slots that
    /// they take, if they own memory, and the size of the ticket's own buffer, if not.
    pub(crate) fn pushed_bytes(&self) -> usize {
        match self.spill.as_deref() {
            Some(Spill::Weighed(weighing) | Spill::Chunk { weighing: Some(weighing), .. }) => weighing.bytes,
            Some(Spill::Chunk { items, weighing: None, .. }) if std::mem::needs_drop::<T>() => {
                // Of an open chunk the cursor has the number, of a closed one the vector.
                let pushed = self.at.max(items.len()).saturating_sub(self.shared_mark().taken());
                pushed.saturating_mul(size_of::<T>())
            }
            Some(Spill::Chunk { items, weighing: None, .. }) => {
                items.capacity().saturating_mul(size_of::<T>())
            }
            _ => 0,
        }
    }

    /// Moves the items of an open chunk that have not been moved to the ring to the beginning of its buffer. Returns their
    /// number. The caller holds the retirement and the ticket, so no other thread reads the buffer.
    pub(crate) fn rewind(&mut self) -> usize {
        let taken = self.shared_mark().taken();
        let left = self.at - taken;
        let mark = &*self.mark;
        let Some(Spill::Chunk { items, outgrown, weighing, .. }) = self.spill.as_deref_mut() else {
            return 0;
        };
        if taken > 0 {
            // SAFETY: elements `[taken, at)` of the buffer are written and this cursor's; those before were moved out. The
            // bits move within the buffer, and `at` and the mark say from here on where they are.
            unsafe { std::ptr::copy(items.as_ptr().add(taken), items.as_mut_ptr(), left) };
            self.at = left;
            let mark = weighing.as_ref().map_or(mark, |weighing| &weighing.mark);
            mark.take(0);
            mark.set(left);
            outgrown.clear();
            if let Some(weighing) = weighing {
                // Items that are left keep the bytes of all that were pushed with them.
                weighing.next = left;
                weighing.bytes = if left == 0 { 0 } else { weighing.bytes };
            }
        }
        left
    }

    /// Moves up to `room` items of a closed chunk to the slots from `at`, and returns their number. The caller owns them
    /// from then on.
    ///
    /// # Safety
    /// Slots `[at, at + room)` are empty and the caller's.
    pub(crate) unsafe fn send(&mut self, slots: Slots<T>, at: usize, room: usize) -> usize {
        let sent = self.shared_mark().taken();
        let mark = &*self.mark;
        let Some(Spill::Chunk { items, outgrown, weighing, .. }) = self.spill.as_deref_mut() else {
            return 0;
        };
        let mark = weighing.as_ref().map_or(mark, |weighing| &weighing.mark);
        let count = room.min(items.len() - sent);
        // SAFETY: `[sent, sent + count)` lies in the vector, and the slots are empty and the caller's, hence disjoint from
        // it. The mark passes the items below, and no user code runs between, so they have one owner.
        unsafe { slots.copy_in(at, items.as_ptr().add(sent), count) };
        mark.take(sent + count);
        if sent + count == items.len() {
            // SAFETY: all items were moved out, so none is left to be dropped.
            unsafe { items.set_len(0) };
            mark.take(0);
            outgrown.clear();
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
            let place = (self.slots, self.at, self.limit);
            (self.slots, self.at, self.limit) =
                Spill::put(self.spill.as_deref_mut(), item, place, &self.mark);
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
    /// Drops the items written and not published: in the ring, in a chunk or in the overflow. No thread publishes by the
    /// mark any more.
    fn drop(&mut self) {
        struct Spilled<'a, T>(Option<&'a mut Spill<T>>, usize);
        impl<T> Drop for Spilled<'_, T> {
            fn drop(&mut self) {
                if let Some(spill) = &mut self.0 {
                    spill.drop_items(self.1);
                }
            }
        }
        let taken = self.shared_mark().taken();
        let (from, to) = self.hand_over();
        // Its drop runs also if the drop of an item below panics.
        let _spilled = Spilled(self.spill.as_deref_mut(), taken);
        // SAFETY: `[from, to)` is written, and without the items below `taken` it is not published and this cursor's;
        // `hand_over` has moved `base` past it. In an open chunk these items lie in the buffer of the vector, whose length is
        // 0, so `Spill::drop_items` drops none of them. In a closed one the range is empty.
        unsafe { self.slots.drop_items(from.max(taken), to) };
    }
}
