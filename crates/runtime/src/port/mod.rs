//! A node's ends of its channels: the private counters of one port, and what a node can do with
//! a port whatever its item type.

pub(crate) mod one;
pub(crate) mod tuple;

use crate::channel::Lack;
use crate::channel::{Glance, In, Limits, Meter, Out, Ring, View};
use crate::net::Owner;
use crate::process::{Rx, Tx};
use crate::seal::Sealed;
use std::sync::Arc;
use thalweg_graph::ChannelId;

/// Two ports of one firing may have cursors of one type, which its code can swap: see
/// [`crate::channel::In`].
const EXCHANGED: &str = "a firing exchanged the cursors of two ports";

/// The consuming side's private counters of a channel.
#[derive(Debug)]
pub struct Consumer {
    pub(crate) meter: Arc<Meter>,
    pub(crate) channel: ChannelId,
    /// First item not claimed.
    pub(crate) next: usize,
    /// The tail as last read.
    pub(crate) seen: usize,
    /// `seen` is the last tail there will be.
    pub(crate) ended: bool,
    /// Static rates; where the rate is dynamic, a framing function decides.
    pub(crate) rates: Limits,
}

impl Consumer {
    fn new(meter: Arc<Meter>, channel: ChannelId, rates: Limits) -> Consumer {
        Consumer { meter, channel, next: 0, seen: 0, ended: false, rates }
    }

    /// Looks again at what the producer has published.
    #[inline]
    pub(crate) fn refresh(&mut self) {
        // An ended stream may be cut short: see `starve`.
        self.ended = self.meter.ended();
        self.seen = if self.ended { self.meter.end_tail() } else { self.meter.tail() };
    }

    #[inline]
    fn ready(&self) -> usize {
        let items = self.seen - self.next;
        if items < self.rates.see {
            0
        } else {
            (items - self.rates.see).checked_div(self.rates.take).map_or(usize::MAX, |more| more + 1)
        }
    }

    /// Firings that the items there are suffice for, at most `limit`.
    #[inline]
    pub(crate) fn firings(&mut self, limit: usize) -> Result<usize, Lack> {
        let mut ready = self.ready();
        if ready < limit {
            self.refresh();
            ready = self.ready();
        }
        if ready == 0 {
            return Err(self.lack(self.rates.see));
        }
        Ok(ready.min(limit))
    }

    /// The stream has ended and what is left of it is too little for a firing.
    pub(crate) fn exhausted(&mut self) -> bool {
        self.refresh();
        self.ended && self.ready() == 0
    }

    /// What is missing where a firing needs `items`.
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
    /// First slot that is not free, as last seen.
    pub(crate) limit: usize,
    /// Items per firing; `None` where dynamic.
    pub(crate) push: Option<usize>,
}

impl Producer {
    fn new(meter: Arc<Meter>, channel: ChannelId, push: Option<usize>) -> Producer {
        let next = meter.tail();
        Producer { meter, channel, next, limit: next, push }
    }

    /// Looks again at what the consumer has released.
    #[inline]
    pub(crate) fn refresh(&mut self) {
        self.limit = self.meter.head() + self.meter.capacity();
    }

    /// Firings that the room suffices for, at most `limit`. A dynamic firing needs one slot.
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
        if !self.meter.light() {
            return Err(Lack::Bytes { channel: self.channel });
        }
        if self.push.is_some() { Ok((free(self) / need).min(limit)) } else { Ok(limit) }
    }
}

/// A consuming port.
pub trait Input: Sealed + Send {
    /// What a firing sees.
    type Cursor<'f>: Send;
    /// The items.
    type Item: Send;

    #[doc(hidden)]
    fn side(&mut self) -> &mut Consumer;
    #[doc(hidden)]
    fn cursor(&self) -> Self::Cursor<'static>;
    /// Claims `items` items for the cursor; `see` are visible from the start.
    #[doc(hidden)]
    fn open(&mut self, cursor: &mut Self::Cursor<'static>, items: usize);
    /// Claims `items` more, behind those the cursor is open for.
    #[doc(hidden)]
    fn extend(&mut self, cursor: &mut Self::Cursor<'static>, items: usize);
    #[doc(hidden)]
    fn step(cursor: &mut Self::Cursor<'static>, limits: (usize, usize));
    #[doc(hidden)]
    fn finish(cursor: &mut Self::Cursor<'static>);
    /// Puts back what was claimed beyond the last firing (sequential nodes).
    #[doc(hidden)]
    fn unclaim(&mut self, cursor: &mut Self::Cursor<'static>);
    /// Gives the slots of ended firings back to the producer.
    #[doc(hidden)]
    fn release(&self, cursor: &Self::Cursor<'static>);
    #[doc(hidden)]
    fn glance(&self) -> Glance<Self::Item>;
    /// A second handle for the side that releases in ticket order.
    #[doc(hidden)]
    fn twin(&self) -> Self;
    /// The same end as a process has it.
    #[doc(hidden)]
    fn receiver(&self, owner: Owner) -> Rx<Self::Item>;
}

/// A port whose firings take items by value.
#[derive(Debug)]
pub struct Take<T> {
    ring: RingRef<T>,
    side: Consumer,
    owner: bool,
}

/// A port whose firings look at items by reference.
#[derive(Debug)]
pub struct Look<T> {
    ring: RingRef<T>,
    side: Consumer,
}

/// A shared ring that prints nothing.
pub(crate) struct RingRef<T>(pub(crate) Arc<Ring<T>>);

impl<T> std::fmt::Debug for RingRef<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Ring")
    }
}

impl<T> Take<T> {
    pub(crate) fn new(ring: Arc<Ring<T>>, channel: ChannelId, rates: Limits) -> Take<T> {
        let side = Consumer::new(ring.meter.clone(), channel, rates);
        Take { ring: RingRef(ring), side, owner: true }
    }
}

impl<T> Sealed for Take<T> {}
impl<T> Sealed for Look<T> {}
impl<T> Sealed for Give<T> {}

impl<T: Send> Input for Take<T> {
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
        // SAFETY: `[next, seen)` is published and unclaimed; `next` has moved on, so the cursor
        // alone has these items. The ring grows only while no claim is open.
        unsafe { cursor.open(self.ring.0.slots(), start, self.side.next) };
    }

    fn extend(&mut self, cursor: &mut In<'static, T>, items: usize) {
        self.side.next += items;
        // SAFETY: as in `open`; the new items follow those the cursor has.
        unsafe { cursor.extend(self.side.next) };
    }

    #[inline(always)]
    fn step(cursor: &mut In<'static, T>, (take, _): (usize, usize)) {
        cursor.step(take);
    }

    #[inline(always)]
    fn finish(cursor: &mut In<'static, T>) {
        cursor.finish();
    }

    #[inline]
    fn unclaim(&mut self, cursor: &mut In<'static, T>) {
        assert!(cursor.is_of(self.ring.0.id()), "{EXCHANGED}");
        cursor.close();
        self.side.next = cursor.at();
    }

    #[inline]
    fn release(&self, cursor: &In<'static, T>) {
        assert!(cursor.is_of(self.ring.0.id()) && cursor.is_spent(), "{EXCHANGED}");
        self.ring.0.release(cursor.at());
    }

    fn glance(&self) -> Glance<T> {
        // SAFETY: items from `next` to `seen` are published and not claimed, and are claimed only
        // after the framing function has returned its glances.
        unsafe { Glance::new(self.ring.0.slots(), self.side.next, self.side.seen, self.side.ended) }
    }

    fn twin(&self) -> Take<T> {
        let side = Consumer::new(self.side.meter.clone(), self.side.channel, self.side.rates);
        Take { ring: RingRef(self.ring.0.clone()), side, owner: false }
    }

    fn receiver(&self, owner: Owner) -> Rx<T> {
        Rx::new(self.ring.0.clone(), self.side.channel, owner)
    }
}

impl<T> Drop for Take<T> {
    /// Items below `next` were taken, or belong to a cursor: the ring must not drop them again.
    fn drop(&mut self) {
        if self.owner && !self.side.meter.gone() {
            self.side.meter.release(self.side.next);
        }
    }
}

impl<T> Look<T> {
    pub(crate) fn new(ring: Arc<Ring<T>>, channel: ChannelId, rates: Limits) -> Look<T> {
        let side = Consumer::new(ring.meter.clone(), channel, rates);
        Look { ring: RingRef(ring), side }
    }
}

impl<T: Send + Sync> Input for Look<T> {
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
        // SAFETY: the claim was granted only for firings whose whole windows are published, and
        // items are released in ticket order, by ended firings.
        unsafe { cursor.open(self.ring.0.slots(), (start, self.side.next), self.side.seen) };
    }

    fn extend(&mut self, cursor: &mut View<'static, T>, items: usize) {
        self.side.next += items;
        // SAFETY: as in `open`.
        unsafe { cursor.extend(self.side.next, self.side.seen) };
    }

    #[inline(always)]
    fn step(cursor: &mut View<'static, T>, (take, see): (usize, usize)) {
        cursor.step(Limits { take, see });
    }

    #[inline(always)]
    fn finish(cursor: &mut View<'static, T>) {
        cursor.finish();
    }

    #[inline]
    fn unclaim(&mut self, cursor: &mut View<'static, T>) {
        assert!(cursor.is_of(self.ring.0.id()), "{EXCHANGED}");
        cursor.close();
        self.side.next = cursor.at();
    }

    #[inline]
    fn release(&self, cursor: &View<'static, T>) {
        assert!(cursor.is_of(self.ring.0.id()) && cursor.is_spent(), "{EXCHANGED}");
        // SAFETY: every firing that covers an item below `at` has ended, and release is in ticket
        // order, by one thread at a time.
        unsafe { self.ring.0.drop_and_release(cursor.at()) };
    }

    fn glance(&self) -> Glance<T> {
        // SAFETY: as for `Take`.
        unsafe { Glance::new(self.ring.0.slots(), self.side.next, self.side.seen, self.side.ended) }
    }

    fn twin(&self) -> Look<T> {
        Look::new(self.ring.0.clone(), self.side.channel, self.side.rates)
    }

    fn receiver(&self, owner: Owner) -> Rx<T> {
        Rx::new(self.ring.0.clone(), self.side.channel, owner)
    }
}

/// A producing port.
#[derive(Debug)]
pub struct Give<T> {
    ring: RingRef<T>,
    side: Producer,
    /// Items of a firing, where the rate is static and the node unordered: then `side` takes the rate
    /// for a dynamic one, as no place can be reserved.
    unordered: Option<usize>,
}

impl<T: Send> Give<T> {
    pub(crate) fn new(ring: Arc<Ring<T>>, channel: ChannelId, push: Option<usize>) -> Give<T> {
        let side = Producer::new(ring.meter.clone(), channel, push);
        Give { ring: RingRef(ring), side, unordered: None }
    }

    /// The node publishes tickets in any order.
    pub(crate) fn unorder(&mut self) {
        self.unordered = self.side.push.take();
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

    /// Drops what the channel holds if its consumer has left. By whoever publishes.
    pub(crate) fn purge_if_gone(&self) {
        self.ring.0.purge_if_gone();
    }

    /// The cursor of a sequential node.
    pub(crate) fn sequential_cursor(&self) -> Out<'static, T> {
        let ring = self.ring.0.id();
        self.side.push.map_or_else(|| Out::overflowing(ring), |push| Out::exact(ring, push, None))
    }

    /// The cursor of one ticket of a parallel node.
    pub(crate) fn ticket_cursor(&self) -> Out<'static, T> {
        let (ring, weigh) = (self.ring.0.id(), self.ring.0.weigh());
        match (self.side.push, self.unordered) {
            (Some(push), _) => Out::exact(ring, push, weigh),
            (None, Some(push)) => Out::exact_chunk(ring, push, weigh),
            (None, None) => Out::chunk(ring, weigh),
        }
    }

    /// Points a sequential node's cursor at all the room there is.
    #[inline]
    pub(crate) fn open_sequential(&mut self, cursor: &mut Out<'static, T>) {
        // SAFETY: slots `[next, limit)` are free and only this node writes to the channel; all
        // that was written before is published.
        unsafe { cursor.open(self.ring.0.slots(), self.side.next, self.side.limit.max(self.side.next)) };
    }

    /// Free slots beyond what is published, of a parallel node's dynamic output, and what to wait
    /// for where there are none.
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

    /// Reserves the room of `firings` static firings for a ticket; a dynamic one gets its chunk.
    #[inline]
    pub(crate) fn open_ticket(&mut self, cursor: &mut Out<'static, T>, firings: usize) {
        match self.side.push {
            Some(push) => {
                let start = self.side.next;
                self.side.next += push * firings;
                // SAFETY: `[start, next)` is free, and reserved for this ticket alone by moving
                // `next` on.
                unsafe { cursor.open(self.ring.0.slots(), start, self.side.next) };
            }
            None => cursor.open_chunk(firings),
        }
    }

    /// Publishes what a sequential node wrote.
    #[inline]
    pub(crate) fn publish_sequential(&mut self, cursor: &mut Out<'static, T>) {
        assert!(cursor.is_of(self.ring.0.id()), "{EXCHANGED}");
        if cursor.at() != self.side.next {
            let (from, to) = cursor.hand_over();
            debug_assert_eq!(from, self.side.next, "a cursor begins where its port stands");
            self.side.next = to;
            self.ring.0.publish(from, to);
        }
    }

    /// Moves overflow into the ring as far as there is room; says what the rest waits for.
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
            let (slots, mask) = self.ring.0.slots();
            let (start, limit) = (self.side.next, self.side.limit);
            let items = cursor.overflow()?;
            let mut at = start;
            while at < limit {
                let Some(item) = items.pop_front() else { break };
                // SAFETY: slots `[next, limit)` are free and this node's.
                unsafe { slots.add(at & mask).write(item) };
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

    /// Publishes what a finished ticket wrote, in ticket order. True if all of it is out.
    pub(crate) fn publish_ticket(&self, cursor: &mut Out<'static, T>) -> bool {
        assert!(cursor.is_of(self.ring.0.id()), "{EXCHANGED}");
        if self.side.push.is_some() {
            let (from, to) = cursor.hand_over();
            debug_assert_eq!(from, self.side.meter.tail(), "tickets are published in order");
            self.ring.0.publish(from, to);
            return true;
        }
        loop {
            let tail = self.side.meter.tail();
            let room = (self.side.meter.head() + self.side.meter.capacity()).saturating_sub(tail);
            // SAFETY: slots `[tail, tail + room)` are free; publication is by one thread at a time.
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

    /// The same end as a process has it.
    pub(crate) fn sender(&self, owner: Owner) -> Tx<T> {
        Tx::new(self.ring.0.clone(), self.side.channel, owner)
    }

    pub(crate) fn twin(&self) -> Give<T> {
        let twin = Give::new(self.ring.0.clone(), self.side.channel, self.side.push);
        Give { unordered: self.unordered, ..twin }
    }
}
