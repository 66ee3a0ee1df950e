//! All inputs of a node as one value. Each method of [`Inputs`] applies the method of the port ([`Input`]) to all ports in
//! order; [`shapes`](super::shapes) has the shapes.
//!
//! Two rules hold for the combinations:
//!
//! - A claim is granted for the least number of firings that any port allows. `firings` and `room` claim nothing, so a
//!   port that refuses leaves nothing to be undone on the ports before it.
//! - A condition to wait for ([`Lack`]) is that of the first port that has one. The node examines all ports again when
//!   it has been met.

use super::shapes::{Many, One, borrow, each, iterate, map};
use crate::channel::{Glance, Lack};
use crate::coroutine::Ends;
use crate::net::Owner;
use crate::port::{Input, InputCursor};
use crate::process::Rx;
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
    /// Claims the items of `firings` firings that pop `pops` each, and opens the cursors for them.
    #[doc(hidden)]
    fn open_framed(&mut self, cursors: &mut Self::Cursors<'static>, pops: &[usize], firings: usize);
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

/// Implements [`Inputs`] for the ports `$set`, which have the shape `$shape`.
macro_rules! inputs {
    ([$($P:ident),*] $set:ty, $shape:tt, $($types:tt)*) => {
        #[allow(unused_variables, unused_mut, clippy::unused_unit)] // a tuple of no ports
        impl<$($P: Input),*> Inputs for $set {
            $($types)*

            fn cursors(&self) -> Self::Cursors<'static> {
                map!($shape cursors; _, port of ref self => port.cursor())
            }
            #[inline]
            fn firings(&mut self, limit: usize) -> Result<usize, Lack> {
                let mut firings = limit;
                each!($shape; _, port of mut self => firings = port.side().firings(firings)?);
                Ok(firings)
            }
            #[inline]
            fn open(&mut self, cursors: &mut Self::Cursors<'static>, firings: usize) {
                each!($shape; _, port of mut self, cursor in mut cursors => {
                    let items = port.side().rates.pop * firings;
                    port.open(cursor, items);
                });
            }
            fn open_framed(&mut self, cursors: &mut Self::Cursors<'static>, pops: &[usize], firings: usize) {
                each!($shape; at, port of mut self, cursor in mut cursors => port.open(cursor, pops[at] * firings));
            }
            fn extend_framed(&mut self, cursors: &mut Self::Cursors<'static>, pops: &[usize]) {
                each!($shape; at, port of mut self, cursor in mut cursors => port.extend(cursor, pops[at]));
            }
            fn rates(&mut self) -> Self::Limits {
                map!($shape list; _, port of mut self => { let rates = port.side().rates; (rates.pop, rates.peek) })
            }
            #[inline(always)]
            fn step(cursors: &mut Self::Cursors<'static>, limits: &Self::Limits) {
                each!($shape; at, cursor in mut cursors => cursor.begin(limits[at]));
            }
            #[inline(always)]
            fn finish(cursors: &mut Self::Cursors<'static>) {
                each!($shape; _, cursor in mut cursors => cursor.end());
            }
            #[inline]
            fn unclaim(&mut self, cursors: &mut Self::Cursors<'static>) {
                each!($shape; _, port of mut self, cursor in mut cursors => port.unclaim(cursor));
            }
            fn reopen(&self, cursors: &mut Self::Cursors<'static>) {
                each!($shape; _, port of ref self, cursor in mut cursors => port.reopen(cursor));
            }
            #[inline]
            fn release(&self, cursors: &Self::Cursors<'static>) {
                each!($shape; _, port of ref self, cursor in ref cursors => port.release(cursor));
            }
            fn glances(&self) -> Self::Glances {
                map!($shape ends; _, port of ref self => port.glance())
            }
            fn wanted(glances: &Self::Glances, wanted: &mut [usize]) {
                each!($shape; at, glance in ref glances => wanted[at] = glance.wanted());
            }
            fn refresh(&mut self) {
                each!($shape; _, port of mut self => port.side().refresh());
            }
            fn lack(&mut self, wanted: &[usize]) -> Option<Lack> {
                each!($shape; at, port of mut self => if let lack @ Some(_) = lack_of(port, wanted[at]) { return lack; });
                None
            }
            fn short_of(&mut self, pops: &[usize]) -> Option<Lack> {
                each!($shape; at, port of mut self => if let lack @ Some(_) = short_of(port, pops[at]) { return lack; });
                None
            }
            fn exhausted(&mut self) -> bool {
                each!($shape; _, port of mut self => if port.side().exhausted() { return true; });
                false
            }
            fn leave(&mut self) {
                each!($shape; _, port of mut self => port.side().meter.leave());
            }
            fn twin(&self) -> Self {
                map!($shape ports; _, port of ref self => port.twin())
            }
            fn count(&self) -> usize {
                let mut count = 0;
                each!($shape; _, _ of ref self => count += 1);
                count
            }
            fn receivers(&self, owner: Owner) -> Self::Receivers {
                map!($shape ends; _, port of ref self => port.receiver(owner))
            }
        }
    };
}

/// [`inputs!`] for a tuple of `$n` ports.
macro_rules! tuple {
    ($n:literal; $($P:ident $i:tt),*) => {
        inputs! {
            [$($P),*] ($($P,)*), [$($i)*],
            type Cursors<'f> = ($($P::Cursor<'f>,)*);
            type Glances = ($(Glance<$P::Item>,)*);
            type PopCounts = [usize; $n];
            type Limits = [(usize, usize); $n];
            type Receivers = ($(Rx<$P::Item>,)*);
            fn framed(pops: &[usize]) -> Self::Limits {
                [$((pops[$i], pops[$i])),*]
            }
        }
    };
}

inputs! {
    [P] One<P>, one,
    type Cursors<'f> = P::Cursor<'f>;
    type Glances = Glance<P::Item>;
    type PopCounts = usize;
    type Limits = [(usize, usize); 1];
    type Receivers = Rx<P::Item>;
    fn framed(pops: &[usize]) -> Self::Limits {
        [(pops[0], pops[0])]
    }
}
inputs! {
    [P] Vec<P>, many,
    type Cursors<'f> = Many<P::Cursor<'f>>;
    type Glances = Vec<Glance<P::Item>>;
    type PopCounts = Vec<usize>;
    type Limits = Vec<(usize, usize)>;
    type Receivers = Vec<Rx<P::Item>>;
    fn framed(pops: &[usize]) -> Self::Limits {
        pops.iter().map(|pop| (*pop, *pop)).collect()
    }
}
tuple!(0;);
tuple!(2; A 0, B 1);
tuple!(3; A 0, B 1, C 2);
tuple!(4; A 0, B 1, C 2, D 3);
tuple!(5; A 0, B 1, C 2, D 3, E 4);
tuple!(6; A 0, B 1, C 2, D 3, E 4, F 5);
