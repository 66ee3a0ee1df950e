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

mod glance;
mod mark;
mod pop;
mod push;
mod spill;
mod view;

pub use glance::{Glance, NotYet};
pub(crate) use mark::Consumers;
pub(crate) use mark::MarkRef;
pub use mark::{Mark, Marks};
pub use pop::In;
pub use push::Out;
pub use view::View;

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

#[cfg(all(test, not(loom)))]
mod tests;
