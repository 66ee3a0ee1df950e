//! All inputs, and all outputs, of a node at once: tuples of ports, and vectors of equal ones.

use crate::channel::Lack;
use crate::channel::{Glance, Out};
use crate::coroutine::Ends;
use crate::net::Owner;
use crate::port::{Give, Input};
use crate::process::{Rx, Tx};
use crate::seal::Sealed;

/// What a framing function answers: items to take from each input. A number for one input, an array
/// for a tuple, a vector for a vector.
pub trait Takes: Sealed {
    /// By input.
    fn by_input(&self) -> &[usize];
}

impl Sealed for usize {}
impl<const N: usize> Sealed for [usize; N] {}

impl Takes for usize {
    fn by_input(&self) -> &[usize] {
        std::slice::from_ref(self)
    }
}

impl<const N: usize> Takes for [usize; N] {
    fn by_input(&self) -> &[usize] {
        self
    }
}

impl Takes for Vec<usize> {
    fn by_input(&self) -> &[usize] {
        self
    }
}

/// The inputs of a node: one port, a tuple of two to six, or a vector of equal ones.
pub trait Inputs: Sealed + Send {
    /// One cursor for each.
    type Cursors<'f>: Send;
    /// What a framing function gets.
    type Glances;
    /// Items to take from each, as a framing function says.
    type Takes: Takes;
    /// Items a firing takes from and sees on each.
    type Limits: Clone + Send + Sync;
    /// A process's ends.
    type Receivers: Ends + Send;

    #[doc(hidden)]
    fn cursors(&self) -> Self::Cursors<'static>;
    #[doc(hidden)]
    fn firings(&mut self, limit: usize) -> Result<usize, Lack>;
    #[doc(hidden)]
    fn open(&mut self, cursors: &mut Self::Cursors<'static>, firings: usize);
    /// Claims for one firing that takes `takes`.
    #[doc(hidden)]
    fn open_framed(&mut self, cursors: &mut Self::Cursors<'static>, takes: &[usize]);
    /// Claims for one firing more, behind those the cursors are open for.
    #[doc(hidden)]
    fn extend_framed(&mut self, cursors: &mut Self::Cursors<'static>, takes: &[usize]);
    #[doc(hidden)]
    fn rates(&mut self) -> Self::Limits;
    /// Limits of a firing that takes, and sees, `takes`.
    #[doc(hidden)]
    fn framed(takes: &[usize]) -> Self::Limits;
    #[doc(hidden)]
    fn step(cursors: &mut Self::Cursors<'static>, limits: &Self::Limits);
    #[doc(hidden)]
    fn finish(cursors: &mut Self::Cursors<'static>);
    #[doc(hidden)]
    fn unclaim(&mut self, cursors: &mut Self::Cursors<'static>);
    #[doc(hidden)]
    fn release(&self, cursors: &Self::Cursors<'static>);
    #[doc(hidden)]
    fn glances(&self) -> Self::Glances;
    /// How far each was looked at in vain.
    #[doc(hidden)]
    fn wanted(glances: &Self::Glances, wanted: &mut [usize]);
    /// Looks at all inputs again.
    #[doc(hidden)]
    fn refresh(&mut self);
    /// What is missing for the first input of which more than what is there is wanted; `None` if
    /// all that is wanted has arrived.
    #[doc(hidden)]
    fn lack(&mut self, wanted: &[usize]) -> Option<Lack>;
    /// What is missing for a firing that takes `takes`; the end of a stream is missing items, too.
    ///
    /// # Panics
    /// Where a port's rate is static and another than it says.
    #[doc(hidden)]
    fn short_of(&mut self, takes: &[usize]) -> Option<Lack>;
    /// Some input has ended short of what a static firing needs.
    #[doc(hidden)]
    fn exhausted(&mut self) -> bool;
    /// The node will read nothing more.
    #[doc(hidden)]
    fn leave(&mut self);
    #[doc(hidden)]
    fn twin(&self) -> Self;
    #[doc(hidden)]
    fn count(&self) -> usize;
    /// The ends as a process has them.
    #[doc(hidden)]
    fn receivers(&self, owner: Owner) -> Self::Receivers;
}

/// The outputs of a node: one port, a tuple of two to six, or a vector of equal ones.
pub trait Outputs: Sealed + Send {
    /// One cursor for each.
    type Cursors<'f>: Send;
    /// A process's ends.
    type Senders: Ends + Send;

    #[doc(hidden)]
    fn sequential_cursors(&self) -> Self::Cursors<'static>;
    #[doc(hidden)]
    fn ticket_cursors(&self) -> Self::Cursors<'static>;
    #[doc(hidden)]
    fn room(&mut self, limit: usize) -> Result<usize, Lack>;
    /// Whether a firing gave more than there was room for, and it is not all out yet.
    #[doc(hidden)]
    fn pending(cursors: &Self::Cursors<'static>) -> bool;
    #[doc(hidden)]
    fn flush(&mut self, cursors: &mut Self::Cursors<'static>) -> Option<Lack>;
    #[doc(hidden)]
    fn open_sequential(&mut self, cursors: &mut Self::Cursors<'static>);
    /// Free slots of the fullest dynamic output, and what to wait for where there are none; `None`
    /// where all rates are static. Parallel nodes only: their chunks have no place reserved, so
    /// `Parallel` counts firings under way against this, except in unordered nodes.
    #[doc(hidden)]
    fn dynamic_room(&mut self) -> Option<(usize, Lack)>;
    #[doc(hidden)]
    fn open_ticket(&mut self, cursors: &mut Self::Cursors<'static>, firings: usize);
    /// Begins a firing: room for a static one, and nothing spilled by those before it.
    #[doc(hidden)]
    fn step(cursors: &mut Self::Cursors<'static>) -> bool;
    /// Ends a firing: the index of a static output that was given too little, if any.
    #[doc(hidden)]
    fn short(cursors: &Self::Cursors<'static>) -> Option<usize>;
    #[doc(hidden)]
    fn publish_sequential(&mut self, cursors: &mut Self::Cursors<'static>);
    #[doc(hidden)]
    fn close_ticket(cursors: &mut Self::Cursors<'static>);
    #[doc(hidden)]
    fn publish_ticket(&self, port: usize, cursors: &mut Self::Cursors<'static>) -> bool;
    #[doc(hidden)]
    fn unsent_bytes(cursors: &Self::Cursors<'static>) -> usize;
    /// Items that the firings of a ticket have pushed on an output so far.
    #[doc(hidden)]
    fn pushed(cursors: &Self::Cursors<'static>, port: usize) -> usize;
    /// First index of an output that is not published.
    #[doc(hidden)]
    fn tail(&self, port: usize) -> usize;
    #[doc(hidden)]
    fn capacity(&self, port: usize) -> usize;
    #[doc(hidden)]
    fn purge_if_gone(&self);
    /// There are outputs, and nobody reads any of them.
    #[doc(hidden)]
    fn all_gone(&self) -> bool;
    /// Tickets are published in any order. Before there are cursors.
    #[doc(hidden)]
    fn unorder(&mut self);
    #[doc(hidden)]
    fn end(&self);
    #[doc(hidden)]
    fn weighed(&self) -> bool;
    #[doc(hidden)]
    fn twin(&self) -> Self;
    #[doc(hidden)]
    fn count(&self) -> usize;
    /// The ends as a process has them.
    #[doc(hidden)]
    fn senders(&self, owner: Owner) -> Self::Senders;
}

/// The cold parts, which need no type of their own per arity.
pub(crate) fn short_of<P: Input>(port: &mut P, take: usize) -> Option<Lack> {
    let side = port.side();
    let rate = side.rates.take;
    assert!(
        rate == 0 || take == rate,
        "the framing function takes {take} items from an input whose pop rate is {rate}"
    );
    if take > side.seen - side.next {
        side.refresh();
    }
    (take > side.seen - side.next).then(|| side.lack(take))
}

pub(crate) fn lack_of<P: Input>(port: &mut P, wanted: usize) -> Option<Lack> {
    port.side().refresh();
    let side = port.side();
    (wanted > side.seen - side.next && !side.ended).then(|| side.lack(wanted))
}

/// The cursors of a vector of ports: a slice that cannot be taken apart.
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

/// Cursors lent to the stack for a stretch of firings, so that they can live in registers; they go
/// home when the stretch ends, also by a panic.
pub(crate) struct Lent<C> {
    home: *mut C,
    pub(crate) here: std::mem::ManuallyDrop<C>,
}

impl<C> Lent<C> {
    /// # Safety
    /// `home` is the caller's alone and is not touched while the loan lives.
    #[inline(always)]
    pub(crate) unsafe fn new(home: *mut C) -> Lent<C> {
        // SAFETY: `home` is valid by the contract; its bits are overwritten, not dropped, on return.
        Lent { home, here: std::mem::ManuallyDrop::new(unsafe { home.read() }) }
    }
}

impl<C> Drop for Lent<C> {
    #[inline(always)]
    fn drop(&mut self) {
        // SAFETY: the one place where the value returns; `here` is not used afterwards.
        unsafe { self.home.write(std::mem::ManuallyDrop::take(&mut self.here)) };
    }
}

macro_rules! tuples {
    ($n:literal; $($P:ident $C:ident $i:tt),*) => {
        #[allow(unused_variables, unused_mut, clippy::unused_unit)]
        impl<$($P: Input),*> Inputs for ($($P,)*) {
            type Cursors<'f> = ($($P::Cursor<'f>,)*);
            type Glances = ($(Glance<$P::Item>,)*);
            type Takes = [usize; $n];
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
                    let items = self.$i.side().rates.take * firings;
                    self.$i.open(&mut cursors.$i, items);
                )*
            }
            fn open_framed(&mut self, cursors: &mut Self::Cursors<'static>, takes: &[usize]) {
                $(self.$i.open(&mut cursors.$i, takes[$i]);)*
            }
            fn extend_framed(&mut self, cursors: &mut Self::Cursors<'static>, takes: &[usize]) {
                $(self.$i.extend(&mut cursors.$i, takes[$i]);)*
            }
            fn rates(&mut self) -> Self::Limits {
                [$({ let rates = self.$i.side().rates; (rates.take, rates.see) }),*]
            }
            fn framed(takes: &[usize]) -> Self::Limits {
                [$((takes[$i], takes[$i])),*]
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
            fn short_of(&mut self, takes: &[usize]) -> Option<Lack> {
                $(if let Some(lack) = short_of(&mut self.$i, takes[$i]) { return Some(lack); })*
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
        impl<$($C: Send),*> Outputs for ($(Give<$C>,)*) {
            type Cursors<'f> = ($(Out<'f, $C>,)*);
            type Senders = ($(Tx<$C>,)*);

            fn sequential_cursors(&self) -> Self::Cursors<'static> {
                ($(self.$i.sequential_cursor(),)*)
            }
            fn ticket_cursors(&self) -> Self::Cursors<'static> {
                ($(self.$i.ticket_cursor(),)*)
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
            #[inline(always)]
            fn short(cursors: &Self::Cursors<'static>) -> Option<usize> {
                $(if cursors.$i.is_short() { return Some($i); })*
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
            fn unsent_bytes(cursors: &Self::Cursors<'static>) -> usize {
                0 $(+ cursors.$i.unsent_bytes())*
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
    type Takes = Vec<usize>;
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
            let items = port.side().rates.take * firings;
            port.open(cursor, items);
        }
    }
    fn open_framed(&mut self, cursors: &mut Self::Cursors<'static>, takes: &[usize]) {
        for ((port, cursor), take) in self.iter_mut().zip(cursors.iter_mut()).zip(takes) {
            port.open(cursor, *take);
        }
    }
    fn extend_framed(&mut self, cursors: &mut Self::Cursors<'static>, takes: &[usize]) {
        for ((port, cursor), take) in self.iter_mut().zip(cursors.iter_mut()).zip(takes) {
            port.extend(cursor, *take);
        }
    }
    fn rates(&mut self) -> Self::Limits {
        self.iter_mut().map(|port| (port.side().rates.take, port.side().rates.see)).collect()
    }
    fn framed(takes: &[usize]) -> Self::Limits {
        takes.iter().map(|take| (*take, *take)).collect()
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
    fn short_of(&mut self, takes: &[usize]) -> Option<Lack> {
        self.iter_mut().zip(takes).find_map(|(port, take)| short_of(port, *take))
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

impl<T: Send> Outputs for Vec<Give<T>> {
    type Cursors<'f> = Many<Out<'f, T>>;
    type Senders = Vec<Tx<T>>;

    fn sequential_cursors(&self) -> Self::Cursors<'static> {
        Many(self.iter().map(Give::sequential_cursor).collect())
    }
    fn ticket_cursors(&self) -> Self::Cursors<'static> {
        Many(self.iter().map(Give::ticket_cursor).collect())
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
        self.iter_mut().filter_map(Give::dynamic_room).min_by_key(|(room, _)| *room)
    }
    fn open_ticket(&mut self, cursors: &mut Self::Cursors<'static>, firings: usize) {
        self.iter_mut().zip(cursors.iter_mut()).for_each(|(port, cursor)| port.open_ticket(cursor, firings));
    }
    fn step(cursors: &mut Self::Cursors<'static>) -> bool {
        cursors.iter_mut().fold(true, |all, cursor| cursor.step() & all)
    }
    fn short(cursors: &Self::Cursors<'static>) -> Option<usize> {
        cursors.iter().position(Out::is_short)
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
    fn unsent_bytes(cursors: &Self::Cursors<'static>) -> usize {
        cursors.iter().map(Out::unsent_bytes).sum()
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
        self.iter().for_each(Give::purge_if_gone);
    }
    fn unorder(&mut self) {
        self.iter_mut().for_each(Give::unorder);
    }
    fn all_gone(&self) -> bool {
        !self.is_empty() && self.iter().all(|port| port.meter().gone())
    }
    fn end(&self) {
        self.iter().for_each(|port| port.meter().end());
    }
    fn weighed(&self) -> bool {
        self.iter().any(Give::weighed)
    }
    fn twin(&self) -> Self {
        self.iter().map(Give::twin).collect()
    }
    fn count(&self) -> usize {
        self.len()
    }
    fn senders(&self, owner: Owner) -> Self::Senders {
        self.iter().map(|port| port.sender(owner)).collect()
    }
}
