//! [`Spill`]: the destination of pushed items that have no slot of the ring, and the bytes of items that are weighed.

#[cfg(doc)]
use super::Out;
use super::{Mark, MarkRef, Marks};
use crate::channel::Weigh;
use crate::channel::slots::Slots;
use crate::contain::drop_each;
use std::collections::VecDeque;

/// The destination of items that have no slot of the ring.
///
/// | node | rate | slots | variant |
/// |---|---|---|---|
/// | sequential | dynamic | free slots of the ring | `Overflow` |
/// | any | static | slots reserved in the ring | none, or `Weighed` |
/// | parallel | dynamic | a vector of the ticket | `Chunk` |
/// | parallel, whose tickets reserve no slots | static | a vector of the ticket | `Chunk`, `exact` |
pub(super) enum Spill<T> {
    /// The items of one firing that found no room. They leave before the next firing begins.
    Overflow(VecDeque<T>),
    /// All items of a claim's firings; those that the mark counts as taken have been moved to the ring.
    ///
    /// Invariant: while the chunk is open its length is 0, and the cursor owns what it has written in the vector's
    /// buffer; once closed, the vector owns items `[taken, len)`. With `exact` the buffer has room for the claim's static
    /// rate, and a push beyond it is an error.
    Chunk {
        items: Vec<T>,
        /// Buffers that the chunk has outgrown, without items, and that another thread was reading when they were
        /// replaced: see [`Mark::replace_buffer`].
        outgrown: Vec<Vec<T>>,
        weighing: Option<Weighing<T>>,
        exact: bool,
    },
    /// Nothing spills: the reserved slots hold the static rate, and a push beyond it is an error. The items are weighed.
    Weighed(Weighing<T>),
}

/// The bytes of the items that a ticket's firings have pushed.
pub(super) struct Weighing<T> {
    weigh: Weigh<T>,
    /// The mark that other threads read.
    pub(super) mark: MarkRef,
    /// The cursor's own mark, which no thread reads, so that no item is taken before it is weighed.
    pub(super) unread: Marks,
    /// Index of the first item that was not weighed.
    pub(super) next: usize,
    pub(super) bytes: usize,
    /// The bytes at which [`Out::fill_chunk`] pauses.
    pub(super) pause: usize,
}

impl<T> Weighing<T> {
    pub(super) fn new(weigh: Option<Weigh<T>>, mark: MarkRef) -> Option<Weighing<T>> {
        weigh.map(|weigh| Weighing {
            weigh,
            mark,
            unread: Marks::new(1),
            next: 0,
            bytes: 0,
            pause: usize::MAX,
        })
    }
}

/// The position at which an [`Out`] writes: slots, index, limit.
type Place<T> = (Slots<T>, usize, usize);

impl<T> Spill<T> {
    /// The bytes of a ticket's items, if they are weighed.
    pub(super) fn weighing(&mut self) -> Option<&mut Weighing<T>> {
        match self {
            Spill::Weighed(weighing) => Some(weighing),
            Spill::Chunk { weighing, .. } => weighing.as_mut(),
            Spill::Overflow(_) => None,
        }
    }

    /// Drops the overflow, or the items of a closed chunk without the first `done`, which were moved to the ring.
    pub(super) fn drop_items(&mut self, done: usize) {
        match self {
            Spill::Overflow(items) => drop_each(std::mem::take(items)),
            Spill::Chunk { items, .. } => {
                let mut rest = std::mem::take(items);
                let end = rest.len();
                // SAFETY: elements `[done, end)` are initialised and those before were moved out. With length 0 the
                // vector drops none itself, so each is dropped once, and its buffer is freed even if a drop panics.
                unsafe {
                    rest.set_len(0);
                    Slots::buffer(rest.as_mut_ptr()).drop_items(done, end);
                }
            }
            Spill::Weighed(_) => {}
        }
    }

    /// Weighs the items below `end` that are not weighed yet: before they are marked, since another thread may take them
    /// afterwards.
    ///
    /// # Safety
    /// The items from the mark on, below `end`, lie in `slots` and are the caller's.
    #[cold]
    #[inline(never)]
    pub(super) unsafe fn weigh_to(&mut self, slots: Slots<T>, end: usize) {
        let Some(weighing) = self.weighing() else { return };
        for at in weighing.next..end {
            // SAFETY: by the contract; items below `next` were weighed when they were marked.
            let weight = (weighing.weigh)(unsafe { slots.get(at) });
            weighing.bytes = weighing.bytes.saturating_add(weight);
        }
        weighing.next = end;
        weighing.mark.set(end);
    }

    /// Stores an item for which `place` has no room. Returns the place at which the cursor continues.
    #[cold]
    #[inline(never)]
    pub(super) fn put(spill: Option<&mut Spill<T>>, item: T, place: Place<T>, mark: &Mark) -> Place<T> {
        match spill {
            Some(Spill::Overflow(items)) => {
                items.push_back(item);
                place
            }
            Some(chunk @ Spill::Chunk { exact: false, .. }) => {
                let (slots, at, limit) = chunk.enlarge(place, mark);
                // SAFETY: `enlarge` has made room for one item at least: `at < limit`.
                unsafe { slots.write(at, item) };
                (slots, at + 1, limit)
            }
            None | Some(Spill::Chunk { .. } | Spill::Weighed(_)) => {
                drop(item);
                panic!(
                    "pushed more items than the port's declared push rate\nhelp: raise the push rate, or leave it out"
                );
            }
        }
    }

    /// Makes room for one item or more in a chunk that is full. Returns the place at which the cursor continues.
    #[cold]
    #[inline(never)]
    pub(super) fn enlarge(&mut self, place: Place<T>, mark: &Mark) -> Place<T> {
        match self {
            Spill::Chunk { items, outgrown, weighing, exact: false } => {
                let mark = weighing.as_ref().map_or(mark, |weighing| &weighing.mark);
                let written = place.1;
                let mut larger = Vec::with_capacity(written.saturating_mul(2).max(MIN_CHUNK));
                // SAFETY: the first `written` elements were written through `slots`, which is the buffer of `items` since
                // `open_chunk`, and `written <= limit <= capacity`; the new buffer has room for them and more. The
                // cursor owns the copies from here on: the length of both vectors is 0. Bits of items that were taken are
                // copied too, and nothing reads them.
                unsafe { std::ptr::copy_nonoverlapping(items.as_ptr(), larger.as_mut_ptr(), written) };
                let place = (Slots::buffer(larger.as_mut_ptr()), written, larger.capacity());
                let is_unread = mark.replace_buffer(larger.as_mut_ptr());
                let before = std::mem::replace(items, larger);
                match is_unread {
                    true => outgrown.clear(),
                    false => outgrown.push(before),
                }
                place
            }
            _ => unreachable!("not a chunk of a dynamic output"),
        }
    }
}

/// The items for which a chunk's first buffer has room.
const MIN_CHUNK: usize = if cfg!(loom) { 1 } else { 4 };
