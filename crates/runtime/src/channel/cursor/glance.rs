//! [`Glance`]: a framing function's view of an input.

use crate::channel::slots::Slots;
use std::cell::Cell;
use std::marker::PhantomData;

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
