//! All inputs, or all outputs, of a node as one value: tuples of ports of different types, and vectors of ports of one
//! type.
//!
//! Each method of [`Inputs`] and [`Outputs`] applies the method of the port ([`Input`], [`PushPort`]) to all ports in
//! order. Two rules hold for the combinations:
//!
//! - A claim is granted for the least number of firings that any port allows. `firings` and `room` claim nothing, so a
//!   port that refuses leaves nothing to be undone on the ports before it.
//! - A condition to wait for ([`Lack`]) is that of the first port that has one. The node examines all ports again when
//!   it has been met.

use crate::channel::Lack;
use crate::channel::{Glance, Mark, Marks, Out};
use crate::coroutine::Ends;
use crate::net::Owner;
use crate::port::{Input, PushPort};
use crate::process::{Rx, Tx};
use crate::seal::Sealed;

/// The result of a framing function: the number of items that the firing pops from each input. A number for one input,
/// an array for a tuple, a vector for a vector.
pub trait PopCounts: Sealed {
    /// The numbers in the order of the inputs.
    fn by_input(&self) -> &[usize];
}

impl Sealed for usize {}
impl<const N: usize> Sealed for [usize; N] {}

impl PopCounts for usize {
    fn by_input(&self) -> &[usize] {
        std::slice::from_ref(self)
    }
}

impl<const N: usize> PopCounts for [usize; N] {
    fn by_input(&self) -> &[usize] {
        self
    }
}

impl PopCounts for Vec<usize> {
    fn by_input(&self) -> &[usize] {
        self
    }
}

/// The inputs of a node: one port, a tuple of two to six, or a vector of equal ones.
pub trait Inputs: Sealed + Send {
    /// The cursors of a firing, one for each port.
    type Cursors<'f>: Send;
    /// The argument of a framing function.
    type Glances;
    /// The result of a framing function.
    type PopCounts: PopCounts;
    /// For each port, the numbers of items that a firing pops and peeks.
    type Limits: Clone + Send + Sync;
    /// A process's ends of the channels.
    type Receivers: Ends + Send;

    /// Cursors that own no items.
    #[doc(hidden)]
    fn cursors(&self) -> Self::Cursors<'static>;
    /// The number of firings for which all inputs hold the items, at most `limit`. Claims nothing.
    ///
    /// # Errors
    /// An input holds too few items for a firing, or has ended so.
    #[doc(hidden)]
    fn firings(&mut self, limit: usize) -> Result<usize, Lack>;
    /// Claims the items of `firings` firings, which `firings` has granted, and opens the cursors for them.
    #[doc(hidden)]
    fn open(&mut self, cursors: &mut Self::Cursors<'static>, firings: usize);
    /// Claims the items of one firing that pops `pops`, and opens the cursors for them.
    #[doc(hidden)]
    fn open_framed(&mut self, cursors: &mut Self::Cursors<'static>, pops: &[usize]);
    /// Claims the items of one more firing, and extends the open cursors to them.
    #[doc(hidden)]
    fn extend_framed(&mut self, cursors: &mut Self::Cursors<'static>, pops: &[usize]);
    /// The static rates.
    #[doc(hidden)]
    fn rates(&mut self) -> Self::Limits;
    /// The rates of a firing that pops `pops`, and peeks no further.
    #[doc(hidden)]
    fn framed(pops: &[usize]) -> Self::Limits;
    /// Begins a firing with these rates.
    #[doc(hidden)]
    fn step(cursors: &mut Self::Cursors<'static>, limits: &Self::Limits);
    /// Ends a firing: the items that it has not popped are dropped.
    #[doc(hidden)]
    fn finish(cursors: &mut Self::Cursors<'static>);
    /// Returns the items claimed beyond the last firing to the ports (sequential nodes).
    #[doc(hidden)]
    fn unclaim(&mut self, cursors: &mut Self::Cursors<'static>);
    /// Points the cursors of an interrupted ticket at the slots again, which may have moved since: the channel may have
    /// grown. The caller holds the issuing claim and the ticket.
    #[doc(hidden)]
    fn reopen(&self, cursors: &mut Self::Cursors<'static>);
    /// Releases the slots of ended firings to the producers. The caller is the consuming side, and calls in ticket
    /// order.
    #[doc(hidden)]
    fn release(&self, cursors: &Self::Cursors<'static>);
    /// The framing function's view of the items that are not claimed.
    #[doc(hidden)]
    fn glances(&self) -> Self::Glances;
    /// For each input, the number of items that a glance needed and that had not arrived.
    #[doc(hidden)]
    fn wanted(glances: &Self::Glances, wanted: &mut [usize]);
    /// Reads the tails of all inputs again.
    #[doc(hidden)]
    fn refresh(&mut self);
    /// The condition to wait for until `wanted` items have arrived on each input, or its stream has ended; `None` if
    /// they have.
    #[doc(hidden)]
    fn lack(&mut self, wanted: &[usize]) -> Option<Lack>;
    /// The condition to wait for if a firing pops `pops`; the end of a stream counts as one.
    ///
    /// # Panics
    /// If a port has a static rate and `pops` is another number.
    #[doc(hidden)]
    fn short_of(&mut self, pops: &[usize]) -> Option<Lack>;
    /// Whether an input has ended with too few items for a static firing.
    #[doc(hidden)]
    fn exhausted(&mut self) -> bool;
    /// The node leaves its inputs: it will read no more items.
    #[doc(hidden)]
    fn leave(&mut self);
    /// Second handles of the ports, for the thread that releases in ticket order.
    #[doc(hidden)]
    fn twin(&self) -> Self;
    /// The number of inputs.
    #[doc(hidden)]
    fn count(&self) -> usize;
    /// The receiving ends for a process.
    #[doc(hidden)]
    fn receivers(&self, owner: Owner) -> Self::Receivers;
}

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
    /// Makes the ports those of an unordered node: see [`PushPort::unorder`]. Before they have cursors.
    #[doc(hidden)]
    fn unorder(&mut self);
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

/// [`Inputs::short_of`] for one port. A function, so that it is compiled once per port type and not once per arity.
pub(crate) fn short_of<P: Input>(port: &mut P, pop: usize) -> Option<Lack> {
    let side = port.side();
    let rate = side.rates.pop;
    assert!(
        rate == 0 || pop == rate,
        "the framing function returns {pop} for an input whose declared pop rate is {rate}"
    );
    if pop > side.seen - side.next {
        side.refresh();
    }
    (pop > side.seen - side.next).then(|| side.lack(pop))
}

/// [`Inputs::lack`] for one port.
pub(crate) fn lack_of<P: Input>(port: &mut P, wanted: usize) -> Option<Lack> {
    port.side().refresh();
    let side = port.side();
    (wanted > side.seen - side.next && !side.ended).then(|| side.lack(wanted))
}

/// The cursors of a vector of ports: a slice whose cursors cannot be moved out, so its length stays that of the ports.
#[derive(Debug)]
pub struct Many<C>(Box<[C]>);

impl<C> std::ops::Deref for Many<C> {
    type Target = [C];

    fn deref(&self) -> &[C] {
        &self.0
    }
}

impl<C> std::ops::DerefMut for Many<C> {
    fn deref_mut(&mut self) -> &mut [C] {
        &mut self.0
    }
}

/// Cursors moved to the stack for a run of firings, so that the compiler can keep their fields in registers. They move
/// back when the run ends, also by a panic.
///
/// Invariant: while the loan lives the bits exist twice, and only `here` is used: `origin` is neither read nor dropped.
pub(crate) struct Lent<C> {
    origin: *mut C,
    pub(crate) here: std::mem::ManuallyDrop<C>,
}

impl<C> Lent<C> {
    /// # Safety
    /// `origin` is valid, no other code has access to it, and it is not accessed while the loan lives.
    #[inline(always)]
    pub(crate) unsafe fn new(origin: *mut C) -> Lent<C> {
        // SAFETY: `origin` is valid by the contract; its bits are overwritten, not dropped, on return.
        Lent { origin, here: std::mem::ManuallyDrop::new(unsafe { origin.read() }) }
    }
}

impl<C> Drop for Lent<C> {
    #[inline(always)]
    fn drop(&mut self) {
        // SAFETY: `origin` is valid by the contract of `new`, and its old bits are a copy that must not be dropped.
        // This is the only `take`, and `here` is not used afterwards, so the value has one owner.
        unsafe { self.origin.write(std::mem::ManuallyDrop::take(&mut self.here)) };
    }
}

/// Implements [`Inputs`] and [`Outputs`] for tuples of `$n` ports. `$P` and `$C` are the port and item types.
macro_rules! tuples {
    ($n:literal; $($P:ident $C:ident $i:tt),*) => {
        #[allow(unused_variables, unused_mut, clippy::unused_unit)]
        impl<$($P: Input),*> Inputs for ($($P,)*) {
            type Cursors<'f> = ($($P::Cursor<'f>,)*);
            type Glances = ($(Glance<$P::Item>,)*);
            type PopCounts = [usize; $n];
            type Receivers = ($(Rx<$P::Item>,)*);
            type Limits = [(usize, usize); $n];

            fn cursors(&self) -> Self::Cursors<'static> {
                ($(self.$i.cursor(),)*)
            }
            #[inline]
            fn firings(&mut self, limit: usize) -> Result<usize, Lack> {
                let mut firings = limit;
                $(firings = self.$i.side().firings(firings)?;)*
                Ok(firings)
            }
            #[inline]
            fn open(&mut self, cursors: &mut Self::Cursors<'static>, firings: usize) {
                $(
                    let items = self.$i.side().rates.pop * firings;
                    self.$i.open(&mut cursors.$i, items);
                )*
            }
            fn open_framed(&mut self, cursors: &mut Self::Cursors<'static>, pops: &[usize]) {
                $(self.$i.open(&mut cursors.$i, pops[$i]);)*
            }
            fn extend_framed(&mut self, cursors: &mut Self::Cursors<'static>, pops: &[usize]) {
                $(self.$i.extend(&mut cursors.$i, pops[$i]);)*
            }
            fn rates(&mut self) -> Self::Limits {
                [$({ let rates = self.$i.side().rates; (rates.pop, rates.peek) }),*]
            }
            fn framed(pops: &[usize]) -> Self::Limits {
                [$((pops[$i], pops[$i])),*]
            }
            #[inline(always)]
            fn step(cursors: &mut Self::Cursors<'static>, limits: &Self::Limits) {
                $($P::step(&mut cursors.$i, limits[$i]);)*
            }
            #[inline(always)]
            fn finish(cursors: &mut Self::Cursors<'static>) {
                $($P::finish(&mut cursors.$i);)*
            }
            #[inline]
            fn unclaim(&mut self, cursors: &mut Self::Cursors<'static>) {
                $(self.$i.unclaim(&mut cursors.$i);)*
            }
            fn reopen(&self, cursors: &mut Self::Cursors<'static>) {
                $(self.$i.reopen(&mut cursors.$i);)*
            }
            #[inline]
            fn release(&self, cursors: &Self::Cursors<'static>) {
                $(self.$i.release(&cursors.$i);)*
            }
            fn glances(&self) -> Self::Glances {
                ($(self.$i.glance(),)*)
            }
            fn wanted(glances: &Self::Glances, wanted: &mut [usize]) {
                $(wanted[$i] = glances.$i.wanted();)*
            }
            fn refresh(&mut self) {
                $(self.$i.side().refresh();)*
            }
            fn lack(&mut self, wanted: &[usize]) -> Option<Lack> {
                $(if let Some(lack) = lack_of(&mut self.$i, wanted[$i]) { return Some(lack); })*
                None
            }
            fn short_of(&mut self, pops: &[usize]) -> Option<Lack> {
                $(if let Some(lack) = short_of(&mut self.$i, pops[$i]) { return Some(lack); })*
                None
            }
            fn exhausted(&mut self) -> bool {
                false $(|| self.$i.side().exhausted())*
            }
            fn leave(&mut self) {
                $({ let side = self.$i.side(); side.meter.leave(); })*
            }
            fn twin(&self) -> Self {
                ($(self.$i.twin(),)*)
            }
            fn count(&self) -> usize {
                $n
            }
            fn receivers(&self, owner: Owner) -> Self::Receivers {
                ($(self.$i.receiver(owner),)*)
            }
        }

        #[allow(unused_variables, unused_mut, clippy::unused_unit)]
        impl<$($C: Send),*> Outputs for ($(PushPort<$C>,)*) {
            type Cursors<'f> = ($(Out<'f, $C>,)*);
            type Senders = ($(Tx<$C>,)*);

            unsafe fn sequential_cursors(&self, marks: &Marks) -> Self::Cursors<'static> {
                // SAFETY: the contract is the caller's.
                ($(self.$i.sequential_cursor(unsafe { marks.of($i) }),)*)
            }
            unsafe fn ticket_cursors(&self, marks: &Marks, first: usize) -> Self::Cursors<'static> {
                // SAFETY: the contract is the caller's.
                ($(self.$i.ticket_cursor(unsafe { marks.of(first + $i) }),)*)
            }
            #[inline]
            fn room(&mut self, limit: usize) -> Result<usize, Lack> {
                let mut firings = limit;
                $(firings = self.$i.side().room(firings)?;)*
                Ok(firings)
            }
            #[inline]
            fn pending(cursors: &Self::Cursors<'static>) -> bool {
                false $(|| cursors.$i.overflows())*
            }
            fn flush(&mut self, cursors: &mut Self::Cursors<'static>) -> Option<Lack> {
                // Every port is flushed, though the first lack decides: `or` evaluates its argument.
                let mut stuck = None;
                $(stuck = stuck.or(self.$i.flush(&mut cursors.$i));)*
                stuck
            }
            #[inline]
            fn open_sequential(&mut self, cursors: &mut Self::Cursors<'static>) {
                $(self.$i.open_sequential(&mut cursors.$i);)*
            }
            fn dynamic_room(&mut self) -> Option<(usize, Lack)> {
                let all: [Option<(usize, Lack)>; $n] = [$(self.$i.dynamic_room()),*];
                all.into_iter().flatten().min_by_key(|(room, _)| *room)
            }
            #[inline]
            fn open_ticket(&mut self, cursors: &mut Self::Cursors<'static>, firings: usize) {
                $(self.$i.open_ticket(&mut cursors.$i, firings);)*
            }
            #[inline(always)]
            fn step(cursors: &mut Self::Cursors<'static>) -> bool {
                true $(& cursors.$i.step())*
            }
            fn pause_after(cursors: &mut Self::Cursors<'static>, items: usize, time: u64, bytes: usize) {
                $(cursors.$i.pause_after(items, time, bytes);)*
            }
            fn buffered(cursors: &Self::Cursors<'static>) -> usize {
                0 $(+ cursors.$i.pushed())*
            }
            fn rewind(cursors: &mut Self::Cursors<'static>) -> usize {
                0 $(+ cursors.$i.rewind())*
            }
            #[inline(always)]
            fn mark(cursors: &Self::Cursors<'static>) {
                $(cursors.$i.mark();)*
            }
            fn weigh_pushed(cursors: &mut Self::Cursors<'static>) {
                $(cursors.$i.weigh_pushed();)*
            }
            #[inline(always)]
            fn short(cursors: &Self::Cursors<'static>) -> Option<(usize, usize)> {
                $(if cursors.$i.is_short() { return Some(($i, cursors.$i.missing())); })*
                None
            }
            #[inline]
            fn publish_sequential(&mut self, cursors: &mut Self::Cursors<'static>) {
                $(self.$i.publish_sequential(&mut cursors.$i);)*
            }
            fn close_ticket(cursors: &mut Self::Cursors<'static>) {
                $(cursors.$i.close_chunk();)*
            }
            fn publish_ticket(&self, port: usize, cursors: &mut Self::Cursors<'static>) -> bool {
                match port {
                    $($i => self.$i.publish_ticket(&mut cursors.$i),)*
                    _ => true,
                }
            }
            fn publish_marked(&self, port: usize, mark: &Mark) -> bool {
                match port {
                    $($i => self.$i.publish_marked(mark),)*
                    _ => false,
                }
            }
            fn pushed_bytes(cursors: &Self::Cursors<'static>) -> usize {
                0 $(+ cursors.$i.pushed_bytes())*
            }
            fn pushed(cursors: &Self::Cursors<'static>, port: usize) -> usize {
                match port {
                    $($i => cursors.$i.pushed(),)*
                    _ => unreachable!("no such output"),
                }
            }
            fn tail(&self, port: usize) -> usize {
                match port {
                    $($i => self.$i.meter().tail(),)*
                    _ => unreachable!("no such output"),
                }
            }
            fn capacity(&self, port: usize) -> usize {
                match port {
                    $($i => self.$i.meter().capacity(),)*
                    _ => unreachable!("no such output"),
                }
            }
            fn purge_if_gone(&self) {
                $(self.$i.purge_if_gone();)*
            }
            fn unorder(&mut self) {
                $(self.$i.unorder();)*
            }
            #[inline]
            fn all_gone(&self) -> bool {
                $n > 0 $(&& self.$i.meter().gone())*
            }
            fn end(&self) {
                $(self.$i.meter().end();)*
            }
            fn weighed(&self) -> bool {
                false $(|| self.$i.weighed())*
            }
            fn twin(&self) -> Self {
                ($(self.$i.twin(),)*)
            }
            fn count(&self) -> usize {
                $n
            }
            fn senders(&self, owner: Owner) -> Self::Senders {
                ($(self.$i.sender(owner),)*)
            }
        }
    };
}

tuples!(0;);
tuples!(2; A A 0, B B 1);
tuples!(3; A A 0, B B 1, C C 2);
tuples!(4; A A 0, B B 1, C C 2, D D 3);
tuples!(5; A A 0, B B 1, C C 2, D D 3, E E 4);
tuples!(6; A A 0, B B 1, C C 2, D D 3, E E 4, F F 5);

impl<P: Input> Inputs for Vec<P> {
    type Cursors<'f> = Many<P::Cursor<'f>>;
    type Glances = Vec<Glance<P::Item>>;
    type PopCounts = Vec<usize>;
    type Limits = Vec<(usize, usize)>;
    type Receivers = Vec<Rx<P::Item>>;

    fn cursors(&self) -> Self::Cursors<'static> {
        Many(self.iter().map(P::cursor).collect())
    }
    fn firings(&mut self, limit: usize) -> Result<usize, Lack> {
        self.iter_mut().try_fold(limit, |firings, port| port.side().firings(firings))
    }
    fn open(&mut self, cursors: &mut Self::Cursors<'static>, firings: usize) {
        for (port, cursor) in self.iter_mut().zip(cursors.iter_mut()) {
            let items = port.side().rates.pop * firings;
            port.open(cursor, items);
        }
    }
    fn open_framed(&mut self, cursors: &mut Self::Cursors<'static>, pops: &[usize]) {
        for ((port, cursor), pop) in self.iter_mut().zip(cursors.iter_mut()).zip(pops) {
            port.open(cursor, *pop);
        }
    }
    fn extend_framed(&mut self, cursors: &mut Self::Cursors<'static>, pops: &[usize]) {
        for ((port, cursor), pop) in self.iter_mut().zip(cursors.iter_mut()).zip(pops) {
            port.extend(cursor, *pop);
        }
    }
    fn rates(&mut self) -> Self::Limits {
        self.iter_mut().map(|port| (port.side().rates.pop, port.side().rates.peek)).collect()
    }
    fn framed(pops: &[usize]) -> Self::Limits {
        pops.iter().map(|pop| (*pop, *pop)).collect()
    }
    fn step(cursors: &mut Self::Cursors<'static>, limits: &Self::Limits) {
        for (cursor, limit) in cursors.iter_mut().zip(limits) {
            P::step(cursor, *limit);
        }
    }
    fn finish(cursors: &mut Self::Cursors<'static>) {
        cursors.iter_mut().for_each(P::finish);
    }
    fn unclaim(&mut self, cursors: &mut Self::Cursors<'static>) {
        self.iter_mut().zip(cursors.iter_mut()).for_each(|(port, cursor)| port.unclaim(cursor));
    }
    fn reopen(&self, cursors: &mut Self::Cursors<'static>) {
        self.iter().zip(cursors.iter_mut()).for_each(|(port, cursor)| port.reopen(cursor));
    }
    fn release(&self, cursors: &Self::Cursors<'static>) {
        self.iter().zip(cursors.iter()).for_each(|(port, cursor)| port.release(cursor));
    }
    fn glances(&self) -> Self::Glances {
        self.iter().map(P::glance).collect()
    }
    fn wanted(glances: &Self::Glances, wanted: &mut [usize]) {
        glances.iter().zip(wanted).for_each(|(glance, wanted)| *wanted = glance.wanted());
    }
    fn refresh(&mut self) {
        self.iter_mut().for_each(|port| port.side().refresh());
    }
    fn lack(&mut self, wanted: &[usize]) -> Option<Lack> {
        self.iter_mut().zip(wanted).find_map(|(port, wanted)| lack_of(port, *wanted))
    }
    fn short_of(&mut self, pops: &[usize]) -> Option<Lack> {
        self.iter_mut().zip(pops).find_map(|(port, pop)| short_of(port, *pop))
    }
    fn exhausted(&mut self) -> bool {
        self.iter_mut().any(|port| port.side().exhausted())
    }
    fn leave(&mut self) {
        self.iter_mut().for_each(|port| port.side().meter.leave());
    }
    fn twin(&self) -> Self {
        self.iter().map(P::twin).collect()
    }
    fn count(&self) -> usize {
        self.len()
    }
    fn receivers(&self, owner: Owner) -> Self::Receivers {
        self.iter().map(|port| port.receiver(owner)).collect()
    }
}

impl<T: Send> Outputs for Vec<PushPort<T>> {
    type Cursors<'f> = Many<Out<'f, T>>;
    type Senders = Vec<Tx<T>>;

    unsafe fn sequential_cursors(&self, marks: &Marks) -> Self::Cursors<'static> {
        // SAFETY: the contract is the caller's.
        let mark = |at| unsafe { marks.of(at) };
        Many(self.iter().enumerate().map(|(at, port)| port.sequential_cursor(mark(at))).collect())
    }
    unsafe fn ticket_cursors(&self, marks: &Marks, first: usize) -> Self::Cursors<'static> {
        // SAFETY: the contract is the caller's.
        let mark = |at| unsafe { marks.of(at) };
        Many(self.iter().zip(first..).map(|(port, at)| port.ticket_cursor(mark(at))).collect())
    }
    fn room(&mut self, limit: usize) -> Result<usize, Lack> {
        self.iter_mut().try_fold(limit, |firings, port| port.side().room(firings))
    }
    fn pending(cursors: &Self::Cursors<'static>) -> bool {
        cursors.iter().any(Out::overflows)
    }
    fn flush(&mut self, cursors: &mut Self::Cursors<'static>) -> Option<Lack> {
        self.iter_mut()
            .zip(cursors.iter_mut())
            .fold(None, |stuck, (port, cursor)| stuck.or(port.flush(cursor)))
    }
    fn open_sequential(&mut self, cursors: &mut Self::Cursors<'static>) {
        self.iter_mut().zip(cursors.iter_mut()).for_each(|(port, cursor)| port.open_sequential(cursor));
    }
    fn dynamic_room(&mut self) -> Option<(usize, Lack)> {
        self.iter_mut().filter_map(PushPort::dynamic_room).min_by_key(|(room, _)| *room)
    }
    fn open_ticket(&mut self, cursors: &mut Self::Cursors<'static>, firings: usize) {
        self.iter_mut().zip(cursors.iter_mut()).for_each(|(port, cursor)| port.open_ticket(cursor, firings));
    }
    fn step(cursors: &mut Self::Cursors<'static>) -> bool {
        cursors.iter_mut().fold(true, |all, cursor| cursor.step() & all)
    }
    fn pause_after(cursors: &mut Self::Cursors<'static>, items: usize, time: u64, bytes: usize) {
        cursors.iter_mut().for_each(|cursor| cursor.pause_after(items, time, bytes));
    }
    fn buffered(cursors: &Self::Cursors<'static>) -> usize {
        cursors.iter().map(Out::pushed).sum()
    }
    fn rewind(cursors: &mut Self::Cursors<'static>) -> usize {
        cursors.iter_mut().map(Out::rewind).sum()
    }
    fn mark(cursors: &Self::Cursors<'static>) {
        cursors.iter().for_each(Out::mark);
    }
    fn weigh_pushed(cursors: &mut Self::Cursors<'static>) {
        cursors.iter_mut().for_each(Out::weigh_pushed);
    }
    fn short(cursors: &Self::Cursors<'static>) -> Option<(usize, usize)> {
        cursors.iter().position(Out::is_short).map(|port| (port, cursors[port].missing()))
    }
    fn publish_sequential(&mut self, cursors: &mut Self::Cursors<'static>) {
        self.iter_mut().zip(cursors.iter_mut()).for_each(|(port, cursor)| port.publish_sequential(cursor));
    }
    fn close_ticket(cursors: &mut Self::Cursors<'static>) {
        cursors.iter_mut().for_each(Out::close_chunk);
    }
    fn publish_ticket(&self, port: usize, cursors: &mut Self::Cursors<'static>) -> bool {
        self[port].publish_ticket(&mut cursors[port])
    }
    fn publish_marked(&self, port: usize, mark: &Mark) -> bool {
        self[port].publish_marked(mark)
    }
    fn pushed_bytes(cursors: &Self::Cursors<'static>) -> usize {
        cursors.iter().map(Out::pushed_bytes).sum()
    }
    fn pushed(cursors: &Self::Cursors<'static>, port: usize) -> usize {
        cursors[port].pushed()
    }
    fn tail(&self, port: usize) -> usize {
        self[port].meter().tail()
    }
    fn capacity(&self, port: usize) -> usize {
        self[port].meter().capacity()
    }
    fn purge_if_gone(&self) {
        self.iter().for_each(PushPort::purge_if_gone);
    }
    fn unorder(&mut self) {
        self.iter_mut().for_each(PushPort::unorder);
    }
    fn all_gone(&self) -> bool {
        !self.is_empty() && self.iter().all(|port| port.meter().gone())
    }
    fn end(&self) {
        self.iter().for_each(|port| port.meter().end());
    }
    fn weighed(&self) -> bool {
        self.iter().any(PushPort::weighed)
    }
    fn twin(&self) -> Self {
        self.iter().map(PushPort::twin).collect()
    }
    fn count(&self) -> usize {
        self.len()
    }
    fn senders(&self, owner: Owner) -> Self::Senders {
        self.iter().map(|port| port.sender(owner)).collect()
    }
}
