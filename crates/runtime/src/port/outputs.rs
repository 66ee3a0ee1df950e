//! All outputs of a node as one value, like its [`inputs`](super::inputs). Each method of [`Outputs`] applies the method of
//! the port ([`PushPort`]) to all ports in order, by the same two rules.

use super::shapes::{Many, One, borrow, each, iterate, map, pick};
use crate::channel::{Lack, Mark, Marks, Out};
use crate::coroutine::Ends;
use crate::net::Owner;
use crate::port::PushPort;
use crate::process::Tx;
use crate::seal::Sealed;

/// The outputs of a node: one port, a tuple of two to six, or a vector of equal ones.
pub trait Outputs: Sealed + Send {
    /// The cursors of a firing, one for each port.
    type Cursors<'f>: Send;
    /// A process's ends of the channels.
    type Senders: Ends + Send;

    /// The cursors of a sequential node. `marks` has one for each output.
    ///
    /// # Safety
    /// The cursors are not used after the drop of `marks`.
    #[doc(hidden)]
    unsafe fn sequential_cursors(&self, marks: &Marks) -> Self::Cursors<'static>;
    /// The cursors of one ticket of a parallel node, whose marks begin at position `first`.
    ///
    /// # Safety
    /// As for `sequential_cursors`.
    #[doc(hidden)]
    unsafe fn ticket_cursors(&self, marks: &Marks, first: usize) -> Self::Cursors<'static>;
    /// The number of firings for which all outputs have free slots, at most `limit`. Reserves nothing.
    ///
    /// # Errors
    /// An output has too few free slots for a firing, or its channel is at its byte limit.
    #[doc(hidden)]
    fn room(&mut self, limit: usize) -> Result<usize, Lack>;
    /// Whether a cursor has overflow: items of a firing that found no room (sequential nodes).
    #[doc(hidden)]
    fn pending(cursors: &Self::Cursors<'static>) -> bool;
    /// Publishes overflow; returns the condition that the items still in the cursors wait for.
    #[doc(hidden)]
    fn flush(&mut self, cursors: &mut Self::Cursors<'static>) -> Option<Lack>;
    /// Opens a sequential node's cursors for all slots known to be free.
    #[doc(hidden)]
    fn open_sequential(&mut self, cursors: &mut Self::Cursors<'static>);
    /// Free slots of the fullest dynamic output, and the condition to wait for if there are none; `None` if all rates
    /// are static. Parallel nodes only: chunks reserve no slots, so `Parallel` counts the firings under way against
    /// this number, except in unordered nodes.
    #[doc(hidden)]
    fn dynamic_room(&mut self) -> Option<(usize, Lack)>;
    /// Opens a ticket's cursors for `firings` firings: reserves the slots of static outputs, which `room` has granted.
    #[doc(hidden)]
    fn open_ticket(&mut self, cursors: &mut Self::Cursors<'static>, firings: usize);
    /// Begins a firing; false if a dynamic output has no free slot.
    #[doc(hidden)]
    fn step(cursors: &mut Self::Cursors<'static>) -> bool;
    /// Makes an interruptible firing pause after `items` items on each output, or after `time`, or with `bytes` more bytes:
    /// see [`Out::pause_after`].
    #[doc(hidden)]
    fn pause_after(cursors: &mut Self::Cursors<'static>, items: usize, time: u64, bytes: usize);
    /// The items in a ticket's open chunks, with those that have been published and not rewound.
    #[doc(hidden)]
    fn buffered(cursors: &Self::Cursors<'static>) -> usize;
    /// Frees the part of a ticket's open chunks whose items are in a channel. Returns the number of the others. The caller
    /// holds the retirement and the ticket.
    #[doc(hidden)]
    fn rewind(cursors: &mut Self::Cursors<'static>) -> usize;
    /// Marks what has been pushed, after a firing: see [`Marks`]. No effect where items are weighed.
    #[doc(hidden)]
    fn mark(cursors: &Self::Cursors<'static>);
    /// Weighs what the firings of a ticket have pushed, where items are weighed, and marks it.
    #[doc(hidden)]
    fn weigh_pushed(cursors: &mut Self::Cursors<'static>);
    /// Ends a firing: the index of the first static output on which it pushed fewer items than its rate, if any, and how
    /// many fewer.
    #[doc(hidden)]
    fn short(cursors: &Self::Cursors<'static>) -> Option<(usize, usize)>;
    /// Publishes the items that a sequential node has written. The caller is the producing side.
    #[doc(hidden)]
    fn publish_sequential(&mut self, cursors: &mut Self::Cursors<'static>);
    /// Closes the chunks of a ticket whose firings have all ended, before it is completed.
    #[doc(hidden)]
    fn close_ticket(cursors: &mut Self::Cursors<'static>);
    /// Publishes the items of a completed ticket on an output; true once all of them are in the channel. The caller is
    /// the producing side, and calls in ticket order (in any order if the node is unordered).
    #[doc(hidden)]
    fn publish_ticket(&self, port: usize, cursors: &mut Self::Cursors<'static>) -> bool;
    /// Publishes on an output the items below the mark of a ticket that is not completed, as far as the channel has
    /// room. True if the channel has changed. The caller is the producing side; the ticket is the next one, unless the node
    /// is unordered.
    #[doc(hidden)]
    fn publish_marked(&self, port: usize, mark: &Mark) -> bool;
    /// The bytes of the items that the firings of a ticket have pushed.
    #[doc(hidden)]
    fn pushed_bytes(cursors: &Self::Cursors<'static>) -> usize;
    /// Items that the firings of a ticket have pushed on an output so far.
    #[doc(hidden)]
    fn pushed(cursors: &Self::Cursors<'static>, port: usize) -> usize;
    /// The index of the first item of an output that is not published.
    #[doc(hidden)]
    fn tail(&self, port: usize) -> usize;
    /// The capacity of an output's channel, in items.
    #[doc(hidden)]
    fn capacity(&self, port: usize) -> usize;
    /// Drops the items in channels whose consumer has left. The caller is the producing side.
    #[doc(hidden)]
    fn purge_if_gone(&self);
    /// Whether there are outputs and the consumers of all of them have left.
    #[doc(hidden)]
    fn all_gone(&self) -> bool;
    /// Makes the ports those of a node whose tickets reserve no slots: see [`PushPort::unreserve`]. Before they have cursors.
    #[doc(hidden)]
    fn unreserve(&mut self);
    /// Ends the streams. The caller is the producing side, and everything is published.
    #[doc(hidden)]
    fn end(&self);
    /// Whether the items of an output are weighed.
    #[doc(hidden)]
    fn weighed(&self) -> bool;
    /// Second handles of the ports, for the thread that publishes in ticket order.
    #[doc(hidden)]
    fn twin(&self) -> Self;
    /// The number of outputs.
    #[doc(hidden)]
    fn count(&self) -> usize;
    /// The sending ends for a process.
    #[doc(hidden)]
    fn senders(&self, owner: Owner) -> Self::Senders;
}

/// Implements [`Outputs`] for the ports `$set`, which have the shape `$shape`.
macro_rules! outputs {
    ([$($T:ident),*] $set:ty, $shape:tt, $($types:tt)*) => {
        #[allow(unused_variables, unused_mut, clippy::unused_unit)] // a tuple of no ports
        impl<$($T: Send),*> Outputs for $set {
            $($types)*

            unsafe fn sequential_cursors(&self, marks: &Marks) -> Self::Cursors<'static> {
                // SAFETY: the contract is the caller's.
                map!($shape cursors; at, port of ref self => port.sequential_cursor(unsafe { marks.of(at) }))
            }
            unsafe fn ticket_cursors(&self, marks: &Marks, first: usize) -> Self::Cursors<'static> {
                // SAFETY: the contract is the caller's.
                map!($shape cursors; at, port of ref self => port.ticket_cursor(unsafe { marks.of(first + at) }))
            }
            #[inline]
            fn room(&mut self, limit: usize) -> Result<usize, Lack> {
                let mut firings = limit;
                each!($shape; _, port of mut self => firings = port.side().room(firings)?);
                Ok(firings)
            }
            #[inline]
            fn pending(cursors: &Self::Cursors<'static>) -> bool {
                each!($shape; _, cursor in ref cursors => if cursor.overflows() { return true; });
                false
            }
            fn flush(&mut self, cursors: &mut Self::Cursors<'static>) -> Option<Lack> {
                // Every port is flushed, though the first lack decides: `or` evaluates its argument.
                let mut stuck = None;
                each!($shape; _, port of mut self, cursor in mut cursors => stuck = stuck.or(port.flush(cursor)));
                stuck
            }
            #[inline]
            fn open_sequential(&mut self, cursors: &mut Self::Cursors<'static>) {
                each!($shape; _, port of mut self, cursor in mut cursors => port.open_sequential(cursor));
            }
            fn dynamic_room(&mut self) -> Option<(usize, Lack)> {
                let mut least: Option<(usize, Lack)> = None;
                each!($shape; _, port of mut self => if let Some(found) = port.dynamic_room()
                    && least.as_ref().is_none_or(|least| found.0 < least.0) {
                    least = Some(found);
                });
                least
            }
            #[inline]
            fn open_ticket(&mut self, cursors: &mut Self::Cursors<'static>, firings: usize) {
                each!($shape; _, port of mut self, cursor in mut cursors => port.open_ticket(cursor, firings));
            }
            #[inline(always)]
            fn step(cursors: &mut Self::Cursors<'static>) -> bool {
                let mut all = true;
                each!($shape; _, cursor in mut cursors => all &= cursor.step());
                all
            }
            fn pause_after(cursors: &mut Self::Cursors<'static>, items: usize, time: u64, bytes: usize) {
                each!($shape; _, cursor in mut cursors => cursor.pause_after(items, time, bytes));
            }
            fn buffered(cursors: &Self::Cursors<'static>) -> usize {
                let mut items = 0;
                each!($shape; _, cursor in ref cursors => items += cursor.pushed());
                items
            }
            fn rewind(cursors: &mut Self::Cursors<'static>) -> usize {
                let mut items = 0;
                each!($shape; _, cursor in mut cursors => items += cursor.rewind());
                items
            }
            #[inline(always)]
            fn mark(cursors: &Self::Cursors<'static>) {
                each!($shape; _, cursor in ref cursors => cursor.mark());
            }
            fn weigh_pushed(cursors: &mut Self::Cursors<'static>) {
                each!($shape; _, cursor in mut cursors => cursor.weigh_pushed());
            }
            #[inline(always)]
            fn short(cursors: &Self::Cursors<'static>) -> Option<(usize, usize)> {
                each!($shape; at, cursor in ref cursors => if cursor.is_short() { return Some((at, cursor.missing())); });
                None
            }
            #[inline]
            fn publish_sequential(&mut self, cursors: &mut Self::Cursors<'static>) {
                each!($shape; _, port of mut self, cursor in mut cursors => port.publish_sequential(cursor));
            }
            fn close_ticket(cursors: &mut Self::Cursors<'static>) {
                each!($shape; _, cursor in mut cursors => cursor.close_chunk());
            }
            fn publish_ticket(&self, port: usize, cursors: &mut Self::Cursors<'static>) -> bool {
                pick!($shape; port, out of ref self, cursor in mut cursors => out.publish_ticket(cursor))
            }
            fn publish_marked(&self, port: usize, mark: &Mark) -> bool {
                pick!($shape; port, out of ref self => out.publish_marked(mark))
            }
            fn pushed_bytes(cursors: &Self::Cursors<'static>) -> usize {
                let mut bytes = 0;
                each!($shape; _, cursor in ref cursors => bytes += cursor.pushed_bytes());
                bytes
            }
            #[inline]
            fn pushed(cursors: &Self::Cursors<'static>, port: usize) -> usize {
                pick!($shape; port, cursor in ref cursors => cursor.pushed())
            }
            fn tail(&self, port: usize) -> usize {
                pick!($shape; port, out of ref self => out.meter().tail())
            }
            fn capacity(&self, port: usize) -> usize {
                pick!($shape; port, out of ref self => out.meter().capacity())
            }
            fn purge_if_gone(&self) {
                each!($shape; _, port of ref self => port.purge_if_gone());
            }
            fn unreserve(&mut self) {
                each!($shape; _, port of mut self => port.unreserve());
            }
            #[inline]
            fn all_gone(&self) -> bool {
                each!($shape; _, port of ref self => if !port.meter().gone() { return false; });
                self.count() > 0
            }
            fn end(&self) {
                each!($shape; _, port of ref self => port.meter().end());
            }
            fn weighed(&self) -> bool {
                each!($shape; _, port of ref self => if port.weighed() { return true; });
                false
            }
            fn twin(&self) -> Self {
                map!($shape ports; _, port of ref self => port.twin())
            }
            fn count(&self) -> usize {
                let mut count = 0;
                each!($shape; _, _ of ref self => count += 1);
                count
            }
            fn senders(&self, owner: Owner) -> Self::Senders {
                map!($shape ends; _, port of ref self => port.sender(owner))
            }
        }
    };
}

/// [`outputs!`] for a tuple of ports.
macro_rules! tuple {
    ($($T:ident $i:tt),*) => {
        outputs! {
            [$($T),*] ($(PushPort<$T>,)*), [$($i)*],
            type Cursors<'f> = ($(Out<'f, $T>,)*);
            type Senders = ($(Tx<$T>,)*);
        }
    };
}

outputs! {
    [T] One<PushPort<T>>, one,
    type Cursors<'f> = Out<'f, T>;
    type Senders = Tx<T>;
}
outputs! {
    [T] Vec<PushPort<T>>, many,
    type Cursors<'f> = Many<Out<'f, T>>;
    type Senders = Vec<Tx<T>>;
}
tuple!();
tuple!(A 0, B 1);
tuple!(A 0, B 1, C 2);
tuple!(A 0, B 1, C 2, D 3);
tuple!(A 0, B 1, C 2, D 3, E 4);
tuple!(A 0, B 1, C 2, D 3, E 4, F 5);
