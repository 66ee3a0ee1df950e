//! Ports: a node's ends of its channels. A [`Consumer`] or [`Producer`] has the private counters of one port; the traits
//! [`Input`], [`Inputs`](inputs::Inputs) and [`Outputs`](outputs::Outputs) are what a node does with its ports whatever the
//! item types.
//!
//! | port | cursor of a firing | access |
//! |---|---|---|
//! | [`PopPort`] | [`In`] | pops items by value |
//! | [`PeekPort`] | [`View`] | peeks at items by reference, and drops those that leave the window |
//! | [`PushPort`] | [`Out`] | pushes items |
//!
//! # A claim, step by step
//!
//! | step | input | output | thread |
//! |---|---|---|---|
//! | how many firings | `firings` compares `next` with the tail | `room` compares `next` with `head + capacity` | the claim's holder |
//! | open | moves `next` past the items | moves `next` past the slots (static rate) | the claim's holder |
//! | fire | `step`, user code, `finish` | `step`, user code | the holder, or the ticket's worker |
//! | close | `unclaim` moves `next` back (sequential nodes) | | the claim's holder |
//! | hand over | `release` moves the head | `publish` moves the tail | the claim's holder, or the holder of the retirement, in ticket order |
//!
//! Invariant: `next` is private to the claim, and `head`, `tail` to the side of [`channel`](mod@crate::channel) that hands
//! over. In a parallel node these are two threads at a time; each has a handle of its own (`twin`), and they share
//! counters through the meter alone.

pub(crate) mod inputs;
pub(crate) mod loan;
pub(crate) mod outputs;
pub(crate) mod shapes;

use crate::channel::Lack;
use crate::channel::{Glance, In, InputRates, Mark, MarkRef, Meter, Out, Ring, View};
use crate::net::Owner;
use crate::process::{Rx, Tx};
use crate::seal::Sealed;
use std::sync::Arc;
use thalweg_graph::ChannelId;

/// The panic message of the identity check: see "Why safe code cannot exchange cursors" in `channel/cursor/mod.rs`.
const EXCHANGED: &str = "a firing exchanged the cursors of two ports";

/// The consuming side's private counters of a channel.
#[derive(Debug)]
pub struct Consumer {
    pub(crate) meter: Arc<Meter>,
    pub(crate) channel: ChannelId,
    /// First item not claimed. Invariant: `next <= seen`.
    pub(crate) next: usize,
    /// The tail when it was last read.
    pub(crate) seen: usize,
    /// Whether `seen` is the final tail.
    pub(crate) ended: bool,
    /// The static rates; with a dynamic rate the framing function decides instead.
    pub(crate) rates: InputRates,
}

impl Consumer {
    fn new(meter: Arc<Meter>, channel: ChannelId, rates: InputRates) -> Consumer {
        Consumer { meter, channel, next: 0, seen: 0, ended: false, rates }
    }

    /// Reads the tail again. `ended` is read first: if it is true, `end` is the final tail, and if it is false, a
    /// final tail that is missed here is found by the next refresh.
    #[inline]
    pub(crate) fn refresh(&mut self) {
        // Not the tail: a stream may be ended before it (`liveness::starve`).
        self.ended = self.meter.ended();
        let tail = if self.ended { self.meter.end_tail() } else { self.meter.tail() };
        // Items that were claimed before the stream was cut stay claimed.
        self.seen = tail.max(self.next);
    }

    /// Items that are not claimed, of those that had arrived when the tail was last read.
    #[inline]
    pub(crate) fn arrived(&self) -> usize {
        self.seen - self.next
    }

    /// Firings for which the known items suffice: the windows of `peek` items, `pop` apart.
    #[inline]
    fn ready(&self) -> usize {
        let items = self.arrived();
        if items < self.rates.peek {
            0
        } else {
            (items - self.rates.peek).checked_div(self.rates.pop).map_or(usize::MAX, |more| more + 1)
        }
    }

    /// Firings for which the published items suffice, at most `limit`. The tail is read only if the known items do not
    /// suffice for `limit` firings.
    #[inline]
    pub(crate) fn firings(&mut self, limit: usize) -> Result<usize, Lack> {
        let mut ready = self.ready();
        if ready < limit {
            self.refresh();
            ready = self.ready();
        }
        if ready == 0 {
            return Err(self.lack(self.rates.peek));
        }
        Ok(ready.min(limit))
    }

    /// Whether the stream has ended with too few items left for a firing.
    pub(crate) fn exhausted(&mut self) -> bool {
        self.refresh();
        self.ended && self.ready() == 0
    }

    /// The condition to wait for if a firing needs `items`.
    pub(crate) fn lack(&self, items: usize) -> Lack {
        if self.ended {
            Lack::Ended { channel: self.channel }
        } else {
            Lack::Items { channel: self.channel, until: self.next.saturating_add(items) }
        }
    }
}

/// The producing side's private counters of a channel.
#[derive(Debug)]
pub struct Producer {
    pub(crate) meter: Arc<Meter>,
    pub(crate) channel: ChannelId,
    /// First slot not written (sequential) or not reserved (parallel, static rate).
    pub(crate) next: usize,
    /// `head + capacity` when they were last read: the first slot not known to be free.
    pub(crate) limit: usize,
    /// The static push rate; `None` if it is dynamic.
    pub(crate) push: Option<usize>,
}

impl Producer {
    fn new(meter: Arc<Meter>, channel: ChannelId, push: Option<usize>) -> Producer {
        let next = meter.tail();
        Producer { meter, channel, next, limit: next, push }
    }

    /// Reads the head and the capacity again.
    #[inline]
    pub(crate) fn refresh(&mut self) {
        self.limit = self.meter.head() + self.meter.capacity();
    }

    /// Firings for which the free slots suffice, at most `limit`. A dynamic firing needs one free slot.
    #[inline]
    pub(crate) fn room(&mut self, limit: usize) -> Result<usize, Lack> {
        let need = self.push.unwrap_or(1);
        if need == 0 {
            return Ok(limit);
        }
        // After a static firing of more than the capacity `limit` may lie behind `next`.
        let free = |side: &Producer| side.limit.saturating_sub(side.next);
        if free(self) < need.saturating_mul(limit) {
            self.refresh();
        }
        if free(self) < need {
            return Err(Lack::Room {
                channel: self.channel,
                until: self.next + need - self.meter.capacity().min(self.next + need),
            });
        }
        if !self.meter.is_below_byte_limit() {
            return Err(Lack::Bytes { channel: self.channel });
        }
        if self.push.is_some() { Ok((free(self) / need).min(limit)) } else { Ok(limit) }
    }
}

/// A firing's view of an input: [`In`] or [`View`].
pub trait InputCursor: Sealed {
    /// Begins a firing that pops and peeks as many items as the pair `rates` says.
    #[doc(hidden)]
    fn begin(&mut self, rates: (usize, usize));
    /// Ends a firing.
    #[doc(hidden)]
    fn end(&mut self);
}

impl<T> Sealed for In<'_, T> {}
impl<T> Sealed for View<'_, T> {}

impl<T> InputCursor for In<'_, T> {
    #[inline(always)]
    fn begin(&mut self, (pop, _): (usize, usize)) {
        self.step(pop);
    }
    #[inline(always)]
    fn end(&mut self) {
        self.finish();
    }
}

impl<T> InputCursor for View<'_, T> {
    #[inline(always)]
    fn begin(&mut self, (pop, peek): (usize, usize)) {
        self.step(InputRates { pop, peek });
    }
    #[inline(always)]
    fn end(&mut self) {
        self.finish();
    }
}

/// A consuming port.
pub trait Input: Sealed + Send {
    /// The firing's view of the port.
    type Cursor<'f>: InputCursor + Send;
    /// The items.
    type Item: Send;

    #[doc(hidden)]
    fn side(&mut self) -> &mut Consumer;
    /// A closed cursor for this port.
    #[doc(hidden)]
    fn cursor(&self) -> Self::Cursor<'static>;
    /// Claims `items` items and opens the cursor for them. They must be published (`firings`).
    #[doc(hidden)]
    fn open(&mut self, cursor: &mut Self::Cursor<'static>, items: usize);
    /// Claims `items` more items and extends the open cursor to them.
    #[doc(hidden)]
    fn extend(&mut self, cursor: &mut Self::Cursor<'static>, items: usize);
    /// Returns the items claimed beyond the last firing to the port (sequential nodes).
    #[doc(hidden)]
    fn unclaim(&mut self, cursor: &mut Self::Cursor<'static>);
    /// Points an open cursor at the slots, which may have moved since it was opened.
    #[doc(hidden)]
    fn reopen(&self, cursor: &mut Self::Cursor<'static>);
    /// Releases the slots of ended firings to the producer.
    #[doc(hidden)]
    fn release(&self, cursor: &Self::Cursor<'static>);
    /// The framing function's view of the items not claimed.
    #[doc(hidden)]
    fn glance(&self) -> Glance<Self::Item>;
    /// A second handle of the port, for the thread that releases in ticket order.
    #[doc(hidden)]
    fn twin(&self) -> Self;
    /// This end of the channel for a process.
    #[doc(hidden)]
    fn receiver(&self, owner: Owner) -> Rx<Self::Item>;
}

/// A port whose firings pop items by value.
#[derive(Debug)]
pub struct PopPort<T> {
    ring: RingRef<T>,
    side: Consumer,
    /// False for a `twin`, whose `next` does not count: it must not release on drop.
    owner: bool,
}

/// A port whose firings peek at items by reference.
#[derive(Debug)]
pub struct PeekPort<T> {
    ring: RingRef<T>,
    side: Consumer,
}

/// A shared ring whose `Debug` output omits the contents.
pub(crate) struct RingRef<T>(pub(crate) Arc<Ring<T>>);

impl<T> std::fmt::Debug for RingRef<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Ring")
    }
}

impl<T> PopPort<T> {
    pub(crate) fn new(ring: Arc<Ring<T>>, channel: ChannelId, rates: InputRates) -> PopPort<T> {
        let side = Consumer::new(ring.meter.clone(), channel, rates);
        PopPort { ring: RingRef(ring), side, owner: true }
    }
}

impl<T> Sealed for PopPort<T> {}
impl<T> Sealed for PeekPort<T> {}
impl<T> Sealed for PushPort<T> {}

impl<T: Send> Input for PopPort<T> {
    type Cursor<'f> = In<'f, T>;
    type Item = T;

    #[inline]
    fn side(&mut self) -> &mut Consumer {
        &mut self.side
    }

    fn cursor(&self) -> In<'static, T> {
        In::new(self.ring.0.id())
    }

    #[inline]
    fn open(&mut self, cursor: &mut In<'static, T>, items: usize) {
        assert!(cursor.is_of(self.ring.0.id()) && cursor.is_spent(), "{EXCHANGED}");
        let start = self.side.next;
        self.side.next += items;
        // SAFETY: `[next, seen)` is published and unclaimed, and `firings` has granted no more items than these; `next` has
        // moved on, so the cursor alone has them. The cursor is this ring's and owns nothing, by the assertion. The ring
        // grows only while no claim is open, so the slot pointer outlives the claim.
        unsafe { cursor.open(self.ring.0.slots(), start, self.side.next) };
    }

    fn extend(&mut self, cursor: &mut In<'static, T>, items: usize) {
        self.side.next += items;
        // SAFETY: as in `open`; the new items follow those that the cursor has.
        unsafe { cursor.extend(self.side.next) };
    }

    #[inline]
    fn unclaim(&mut self, cursor: &mut In<'static, T>) {
        assert!(cursor.is_of(self.ring.0.id()), "{EXCHANGED}");
        cursor.close();
        self.side.next = cursor.at();
    }

    fn reopen(&self, cursor: &mut In<'static, T>) {
        assert!(cursor.is_of(self.ring.0.id()), "{EXCHANGED}");
        // SAFETY: items keep their indices when a ring grows, and the cursor's are not released, so the new slots hold them.
        // The caller holds a claim of this node, so the ring does not grow.
        unsafe { cursor.reopen(self.ring.0.slots()) };
    }

    #[inline]
    fn release(&self, cursor: &In<'static, T>) {
        assert!(cursor.is_of(self.ring.0.id()) && cursor.is_spent(), "{EXCHANGED}");
        self.ring.0.release(cursor.at());
    }

    fn glance(&self) -> Glance<T> {
        // SAFETY: items `[next, seen)` are published and not claimed. The node claims them only after the framing function
        // has returned, and the function has its glances by reference.
        unsafe { Glance::new(self.ring.0.slots(), self.side.next, self.side.seen, self.side.ended) }
    }

    fn twin(&self) -> PopPort<T> {
        let side = Consumer::new(self.side.meter.clone(), self.side.channel, self.side.rates);
        PopPort { ring: RingRef(self.ring.0.clone()), side, owner: false }
    }

    fn receiver(&self, owner: Owner) -> Rx<T> {
        Rx::new(self.ring.0.clone(), self.side.channel, owner)
    }
}

impl<T> Drop for PopPort<T> {
    /// Releases the items below `next`: they were popped or belong to a cursor, so the ring must not drop them again. After
    /// `gone` both ends are the producer's, and the head with them.
    fn drop(&mut self) {
        if self.owner && !self.side.meter.gone() {
            self.side.meter.release(self.side.next);
        }
    }
}

impl<T> PeekPort<T> {
    pub(crate) fn new(ring: Arc<Ring<T>>, channel: ChannelId, rates: InputRates) -> PeekPort<T> {
        let side = Consumer::new(ring.meter.clone(), channel, rates);
        PeekPort { ring: RingRef(ring), side }
    }
}

impl<T: Send + Sync> Input for PeekPort<T> {
    type Cursor<'f> = View<'f, T>;
    type Item = T;

    #[inline]
    fn side(&mut self) -> &mut Consumer {
        &mut self.side
    }

    fn cursor(&self) -> View<'static, T> {
        View::new(self.ring.0.id())
    }

    #[inline]
    fn open(&mut self, cursor: &mut View<'static, T>, items: usize) {
        assert!(cursor.is_of(self.ring.0.id()) && cursor.is_spent(), "{EXCHANGED}");
        let start = self.side.next;
        self.side.next += items;
        // SAFETY: `firings` has granted only firings whose whole windows lie below `seen`. Items are released in ticket order,
        // after the firings that cover them have ended, so none of `[start, seen)` is released before this claim ends.
        unsafe { cursor.open(self.ring.0.slots(), (start, self.side.next), self.side.seen) };
    }

    fn extend(&mut self, cursor: &mut View<'static, T>, items: usize) {
        self.side.next += items;
        // SAFETY: as in `open`, for the items up to the `seen` of now.
        unsafe { cursor.extend(self.side.next, self.side.seen) };
    }

    #[inline]
    fn unclaim(&mut self, cursor: &mut View<'static, T>) {
        assert!(cursor.is_of(self.ring.0.id()), "{EXCHANGED}");
        cursor.close();
        self.side.next = cursor.at();
    }

    fn reopen(&self, cursor: &mut View<'static, T>) {
        assert!(cursor.is_of(self.ring.0.id()), "{EXCHANGED}");
        // SAFETY: as in `PopPort::reopen`.
        unsafe { cursor.reopen(self.ring.0.slots()) };
    }

    #[inline]
    fn release(&self, cursor: &View<'static, T>) {
        assert!(cursor.is_of(self.ring.0.id()) && cursor.is_spent(), "{EXCHANGED}");
        // SAFETY: items below `at` have left the window of this claim. Releases are in ticket order and by one thread at a
        // time, and windows of later firings begin at `at` or after it, so no view reads these items any more.
        unsafe { self.ring.0.drop_and_release(cursor.at()) };
    }

    fn glance(&self) -> Glance<T> {
        // SAFETY: as in `PopPort::glance`.
        unsafe { Glance::new(self.ring.0.slots(), self.side.next, self.side.seen, self.side.ended) }
    }

    fn twin(&self) -> PeekPort<T> {
        PeekPort::new(self.ring.0.clone(), self.side.channel, self.side.rates)
    }

    fn receiver(&self, owner: Owner) -> Rx<T> {
        Rx::new(self.ring.0.clone(), self.side.channel, owner)
    }
}

/// A producing port.
#[derive(Debug)]
pub struct PushPort<T> {
    ring: RingRef<T>,
    side: Producer,
    /// The static rate of a node whose tickets reserve no slots. `side.push` is `None` then, as for a dynamic rate.
    unreserved: Option<usize>,
}

impl<T: Send> PushPort<T> {
    pub(crate) fn new(ring: Arc<Ring<T>>, channel: ChannelId, push: Option<usize>) -> PushPort<T> {
        let side = Producer::new(ring.meter.clone(), channel, push);
        PushPort { ring: RingRef(ring), side, unreserved: None }
    }

    /// Lets tickets reserve no slots: those of an unordered node, which are published in any order, and those that wait for
    /// room once they are computed. Before the port has cursors.
    pub(crate) fn unreserve(&mut self) {
        self.unreserved = self.side.push.take();
    }

    #[inline]
    pub(crate) fn side(&mut self) -> &mut Producer {
        &mut self.side
    }

    pub(crate) fn meter(&self) -> &Meter {
        &self.side.meter
    }

    pub(crate) fn weighed(&self) -> bool {
        self.ring.0.weighed()
    }

    /// Drops what the channel holds if its consumer has left. The caller is the one that publishes.
    pub(crate) fn purge_if_gone(&self) {
        self.ring.0.purge_if_gone();
    }

    /// The cursor of a sequential node.
    pub(crate) fn sequential_cursor(&self, mark: MarkRef) -> Out<'static, T> {
        let ring = self.ring.0.id();
        match self.side.push {
            None => Out::overflowing(ring, mark),
            Some(push) => Out::exact(ring, mark, push, None),
        }
    }

    /// The cursor of one ticket of a parallel node.
    pub(crate) fn ticket_cursor(&self, mark: MarkRef) -> Out<'static, T> {
        let (ring, weigh) = (self.ring.0.id(), self.ring.0.weigher());
        match (self.side.push, self.unreserved) {
            (Some(push), _) => Out::exact(ring, mark, push, weigh),
            (None, Some(push)) => Out::exact_chunk(ring, mark, push, weigh),
            (None, None) => Out::chunk(ring, mark, weigh),
        }
    }

    /// Opens a sequential node's cursor for all slots known to be free.
    #[inline]
    pub(crate) fn open_sequential(&mut self, cursor: &mut Out<'static, T>) {
        // SAFETY: slots `[next, limit)` are free, and this node is the only producer of the channel. All items written
        // before are published, so the cursor owns none.
        unsafe { cursor.open(self.ring.0.slots(), self.side.next, self.side.limit.max(self.side.next)) };
    }

    /// Free slots after the tail of a parallel node's dynamic output, and the condition to wait for if there are none.
    /// `None` for a static rate.
    pub(crate) fn dynamic_room(&mut self) -> Option<(usize, Lack)> {
        if self.side.push.is_some() {
            return None;
        }
        self.side.next = self.side.meter.tail();
        self.side.refresh();
        let free = self.side.limit.saturating_sub(self.side.next);
        let until = self.side.next + 1 - self.side.meter.capacity().min(self.side.next + 1);
        Some((free, Lack::Room { channel: self.side.channel, until }))
    }

    /// Opens a ticket's cursor for `firings` firings: reserves the slots of a static rate, or opens the chunk of a dynamic
    /// one.
    #[inline]
    pub(crate) fn open_ticket(&mut self, cursor: &mut Out<'static, T>, firings: usize) {
        match self.side.push {
            Some(push) => {
                let start = self.side.next;
                self.side.next += push * firings;
                // SAFETY: `room` has granted no more firings than fit below `limit`, so `[start, next)` is free; `next` has
                // moved on, so this ticket alone has it.
                unsafe { cursor.open(self.ring.0.slots(), start, self.side.next) };
            }
            None => cursor.open_chunk(firings),
        }
    }

    /// Points the open cursor of a ticket at the slots of a static output again: see [`Inputs::reopen`](inputs::Inputs).
    pub(crate) fn reopen(&self, cursor: &mut Out<'static, T>) {
        assert!(cursor.is_of(self.ring.0.id()), "{EXCHANGED}");
        if self.side.push.is_some() {
            // SAFETY: a ring that grows keeps the contents of all its slots by their indices (`Ring::grow`), so the reserved
            // ones hold what the cursor has written. The caller holds the issuing claim, so the ring does not grow.
            unsafe { cursor.reopen(self.ring.0.slots()) };
        }
    }

    /// Publishes the items that a sequential node wrote.
    #[inline]
    pub(crate) fn publish_sequential(&mut self, cursor: &mut Out<'static, T>) {
        assert!(cursor.is_of(self.ring.0.id()), "{EXCHANGED}");
        if cursor.at() != self.side.next {
            let (from, to) = cursor.hand_over();
            debug_assert_eq!(from, self.side.next, "a cursor opens at the port's next slot");
            self.side.next = to;
            self.ring.0.publish(from, to);
        }
    }

    /// Moves overflow into free slots of the ring; returns the condition that the rest waits for.
    #[inline]
    pub(crate) fn flush(&mut self, cursor: &mut Out<'static, T>) -> Option<Lack> {
        match cursor.overflow() {
            Some(items) if !items.is_empty() => self.flush_items(cursor),
            _ => None,
        }
    }

    #[cold]
    fn flush_items(&mut self, cursor: &mut Out<'static, T>) -> Option<Lack> {
        self.ring.0.purge_if_gone();
        loop {
            self.side.refresh();
            let slots = self.ring.0.slots();
            let (start, limit) = (self.side.next, self.side.limit);
            let items = cursor.overflow()?;
            let mut at = start;
            while at < limit {
                let Some(item) = items.pop_front() else { break };
                // SAFETY: slots `[next, limit)` are free, and this node is the only producer of the channel.
                unsafe { slots.write(at, item) };
                at += 1;
            }
            let left = items.len();
            if at > start {
                self.side.next = at;
                self.ring.0.publish(start, at);
            }
            if left == 0 {
                cursor.shrink_overflow();
                return None;
            }
            if !self.side.meter.gone() {
                let until = self.side.next + 1 - self.side.meter.capacity().min(self.side.next + 1);
                return Some(Lack::Room { channel: self.side.channel, until });
            }
            self.ring.0.purge_if_gone();
        }
    }

    /// Publishes the items that a finished ticket wrote; true once all of them are in the ring. The caller holds the
    /// retirement, so it is the producing side, and calls in ticket order (in any order if the node is unordered).
    pub(crate) fn publish_ticket(&self, cursor: &mut Out<'static, T>) -> bool {
        assert!(cursor.is_of(self.ring.0.id()), "{EXCHANGED}");
        if self.side.push.is_some() {
            let (from, to) = cursor.hand_over();
            let tail = self.side.meter.tail_here();
            debug_assert!(from <= tail && tail <= to, "tickets are published in order");
            self.ring.0.publish(tail, to);
            return true;
        }
        loop {
            let tail = self.side.meter.tail();
            let room = (self.side.meter.head() + self.side.meter.capacity()).saturating_sub(tail);
            // SAFETY: slots `[tail, tail + room)` are free: the caller alone moves the tail, and no slots are reserved on an
            // output with chunks.
            let sent = unsafe { cursor.send(self.ring.0.slots(), tail, room) };
            if sent > 0 {
                self.ring.0.publish(tail, tail + sent);
            }
            if cursor.unsent().is_empty() {
                return true;
            }
            if !self.side.meter.gone() {
                return false;
            }
            self.ring.0.purge_if_gone();
        }
    }

    /// Publishes the items below the mark of a ticket's cursor that is open, as far as the channel has room. The caller
    /// holds the retirement; the ticket is not done, and the next one on this port unless the node is unordered. True if
    /// the channel has changed.
    pub(crate) fn publish_marked(&self, mark: &Mark) -> bool {
        let (end, tail) = (mark.marked(), self.side.meter.tail_here());
        if self.side.push.is_some() {
            // A mark of an earlier ticket in the same slot of the window is below the tail.
            if end > tail {
                mark.take(end);
                self.ring.0.publish(tail, end);
            }
            return end > tail;
        }
        let taken = mark.taken();
        let room = (self.side.meter.head() + self.side.meter.capacity()).saturating_sub(tail);
        let count = end.saturating_sub(taken).min(room);
        if count > 0 {
            // SAFETY: `[taken, end)` is written, and by the mark's table the caller may take these items from the buffer,
            // which the cursor keeps while it is read. Slots `[tail, tail + room)` are free, as in `publish_ticket`.
            mark.read::<T>(|buffer| unsafe { self.ring.0.slots().copy_in(tail, buffer.add(taken), count) });
            // Before the publication, which may panic: see `Ring::publish`.
            mark.take(taken + count);
            self.ring.0.publish(tail, tail + count);
        }
        count > 0
    }

    /// This end of the channel for a process.
    pub(crate) fn sender(&self, owner: Owner) -> Tx<T> {
        Tx::new(self.ring.0.clone(), self.side.channel, owner)
    }

    /// A second handle of the port, for the thread that publishes in ticket order.
    pub(crate) fn twin(&self) -> PushPort<T> {
        let twin = PushPort::new(self.ring.0.clone(), self.side.channel, self.side.push);
        PushPort { unreserved: self.unreserved, ..twin }
    }
}
