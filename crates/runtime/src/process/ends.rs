//! A process's ends of its channels.

use super::turn::{Rest, Turn};
use crate::channel::Ring;
use crate::net::Net;
use std::cell::Cell;
use std::future::Future;
use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::ops::{Deref, DerefMut};
use std::pin::Pin;
use std::ptr::NonNull;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use thalweg_graph::{ChannelId, NodeId};

/// What an operation is known by while it is pending: its channel, and which end.
fn operation(channel: ChannelId, sends: bool) -> u64 {
    u64::from(channel.0) << 1 | u64::from(sends)
}

/// An operation's channel.
#[inline]
pub(crate) fn channel(operation: u64) -> ChannelId {
    ChannelId((operation >> 1) as u32)
}

/// Whether an operation is a send.
#[inline]
pub(crate) fn sends(operation: u64) -> bool {
    operation & 1 == 1
}

/// The node at the other end of an operation's channel.
#[inline]
pub(crate) fn peer(net: &Net<'_>, operation: u64) -> NodeId {
    let (from, to) = net.ends(channel(operation));
    if sends(operation) { to } else { from }
}

thread_local! {
    /// Ends dropped on this thread so far: a turn in which there were some has changed more than
    /// it has touched.
    static DROPPED: Cell<u64> = const { Cell::new(0) };
}

thread_local! {
    /// Ends dropped on this thread now end no stream.
    static SILENT: Cell<bool> = const { Cell::new(false) };
}

/// Drops ends when the run is over, but others may still be in the middle of an activation: they must
/// not take it for the end of what was sent.
pub(crate) fn silently<R>(drop: impl FnOnce() -> R) -> R {
    struct Before(bool);
    impl Drop for Before {
        fn drop(&mut self) {
            SILENT.set(self.0);
        }
    }
    let _before = Before(SILENT.replace(true));
    drop()
}

fn note_drop() {
    // At the end of a thread nobody counts any more.
    let _ = DROPPED.try_with(|count| count.set(count.get() + 1));
}

/// Ends dropped on this thread so far.
pub(super) fn dropped() -> u64 {
    DROPPED.with(Cell::get)
}

/// The receiving end of a channel, held by one process.
///
/// Dropped, it discards what is left and what still comes; the sender cannot tell.
pub struct Rx<T> {
    ring: Arc<Ring<T>>,
    channel: ChannelId,
    node: NodeId,
    /// First message not taken.
    next: usize,
    /// The tail as last read.
    seen: usize,
    /// The latest turn that received here.
    mark: u64,
    /// Where the first message not taken lies while it is lent out ([`Rx::recv_ref`]): there it stays,
    /// though the ring should grow meanwhile, for the process may point to it across awaits.
    lent: Option<NonNull<T>>,
}

// SAFETY: `lent` points to an item of the ring, which moves between threads as the end does.
unsafe impl<T: std::marker::Send> std::marker::Send for Rx<T> {}
// SAFETY: a shared end gives nothing but, through a message lent out, a shared item.
unsafe impl<T: std::marker::Send + Sync> Sync for Rx<T> {}

impl<T> std::fmt::Debug for Rx<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Rx").field("channel", &self.channel).field("next", &self.next).finish_non_exhaustive()
    }
}

impl<T: std::marker::Send> Rx<T> {
    pub(crate) fn new(ring: Arc<Ring<T>>, channel: ChannelId, node: NodeId) -> Rx<T> {
        Rx { ring, channel, node, next: 0, seen: 0, mark: 0, lent: None }
    }

    /// The next message, or `None` after the last one.
    ///
    /// # Panics
    /// Polled while another operation of the process is pending, or by anything but the process.
    #[inline]
    pub fn recv(&mut self) -> Recv<'_, T> {
        Recv { rx: self }
    }

    /// The next message where it lies, not moved: for large ones. It is taken when the guard is
    /// dropped.
    ///
    /// # Panics
    /// As [`Rx::recv`].
    #[inline]
    pub fn recv_ref(&mut self) -> RecvRef<'_, T> {
        RecvRef { rx: Some(self) }
    }

    /// Ready when there is a message (true), or none will follow.
    #[inline]
    fn poll_message(&mut self, cx: &mut Context<'_>) -> Poll<bool> {
        let turn = Turn::of(cx, self.node);
        let operation = operation(self.channel, false);
        if !turn.admit(operation) {
            return Poll::Pending;
        }
        if self.next == self.seen && !self.look() {
            let meter = &self.ring.meter;
            if meter.ended() && meter.end_tail() <= self.next {
                turn.complete(operation, &mut self.mark);
                return Poll::Ready(false);
            }
            turn.wait(operation, Rest::Items, self.next + 1);
            return Poll::Pending;
        }
        turn.complete(operation, &mut self.mark);
        Poll::Ready(true)
    }

    /// Looks again at what was sent; true if there is a message.
    #[inline]
    fn look(&mut self) -> bool {
        let meter = &self.ring.meter;
        // The end first: what was sent before it is seen after it.
        self.seen = if meter.ended() { meter.end_tail() } else { meter.tail() };
        self.next < self.seen
    }

    /// The slot of the message that `poll_message` found.
    #[inline]
    fn slot(&self) -> *mut T {
        if let Some(lent) = self.lent {
            return lent.as_ptr();
        }
        let (slots, mask) = self.ring.slots();
        // SAFETY: the index is within the ring.
        unsafe { slots.add(self.next & mask) }
    }

    #[inline]
    fn release(&mut self) {
        self.lent = None;
        self.next += 1;
        self.ring.release(self.next);
    }
}

impl<T> Drop for Rx<T> {
    fn drop(&mut self) {
        if let Some(lent) = self.lent.take() {
            // A message whose guard was forgotten: what drops the ring's items finds it as it is now.
            let (slots, mask) = self.ring.slots();
            // SAFETY: slot `next` is this side's until `leave`; the message lies in it, or in storage
            // that the ring has outgrown, of which the slot has an older copy that is no item.
            unsafe { std::ptr::copy(lent.as_ptr(), slots.add(self.next & mask), 1) };
        }
        self.ring.meter.leave();
        note_drop();
    }
}

/// See [`Rx::recv`].
#[must_use = "nothing is received before it is awaited"]
#[derive(Debug)]
pub struct Recv<'a, T> {
    rx: &'a mut Rx<T>,
}

impl<T: std::marker::Send> Future for Recv<'_, T> {
    type Output = Option<T>;

    #[inline]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<T>> {
        if !ready!(self.rx.poll_message(cx)) {
            return Poll::Ready(None);
        }
        // SAFETY: slot `next < seen` holds a message of this side's; `release` moves past it.
        let message = unsafe { self.rx.slot().read() };
        self.rx.release();
        Poll::Ready(Some(message))
    }
}

/// See [`Rx::recv_ref`].
#[must_use = "nothing is received before it is awaited"]
#[derive(Debug)]
pub struct RecvRef<'a, T> {
    /// Handed on to the message.
    rx: Option<&'a mut Rx<T>>,
}

impl<'a, T: std::marker::Send> Future for RecvRef<'a, T> {
    type Output = Option<Message<'a, T>>;

    #[inline]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let rx = self.rx.as_mut().expect("polled after it was ready");
        if !ready!(rx.poll_message(cx)) {
            return Poll::Ready(None);
        }
        Poll::Ready(self.rx.take().map(|rx| {
            rx.lent = NonNull::new(rx.slot());
            Message { rx }
        }))
    }
}

/// A message in its channel. Dropped, it is taken: its place is free for another.
#[derive(Debug)]
pub struct Message<'a, T: std::marker::Send> {
    rx: &'a mut Rx<T>,
}

impl<T: std::marker::Send> Deref for Message<'_, T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: slot `next < seen` holds a message of this side's until it is released.
        unsafe { &*self.rx.slot() }
    }
}

impl<T: std::marker::Send> DerefMut for Message<'_, T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: as in `deref`, and the end is borrowed mutably.
        unsafe { &mut *self.rx.slot() }
    }
}

impl<T: std::marker::Send> Drop for Message<'_, T> {
    #[inline]
    fn drop(&mut self) {
        let slot = self.rx.slot();
        let next = self.rx.next;
        self.rx.lent = None;
        // Past it first: should the message's own drop panic, nobody drops it again.
        self.rx.next = next + 1;
        // SAFETY: as in `deref`; no reference is left, and `next` has moved past it.
        unsafe { slot.drop_in_place() };
        self.rx.ring.release(next + 1);
    }
}

/// The sending end of a channel, held by one process. Dropped, it ends the stream.
pub struct Tx<T> {
    ring: Arc<Ring<T>>,
    channel: ChannelId,
    node: NodeId,
    /// First slot not written.
    next: usize,
    /// First slot that is not free, as last seen.
    limit: usize,
    /// The latest turn that sent here.
    mark: u64,
}

impl<T> std::fmt::Debug for Tx<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Tx").field("channel", &self.channel).field("next", &self.next).finish_non_exhaustive()
    }
}

impl<T: std::marker::Send> Tx<T> {
    pub(crate) fn new(ring: Arc<Ring<T>>, channel: ChannelId, node: NodeId) -> Tx<T> {
        let next = ring.meter.tail();
        Tx { ring, channel, node, next, limit: next, mark: 0 }
    }

    /// Sends a message, waiting for room. Where the receiver has left, the message is discarded.
    ///
    /// # Panics
    /// Polled while another operation of the process is pending, or by anything but the process.
    #[inline]
    pub fn send(&mut self, message: T) -> Send<'_, T, impl FnOnce(&mut MaybeUninit<T>) -> &mut T> {
        self.send_with(move |place| place.write(message))
    }

    /// Sends a message that `make` writes where it will lie, not moved: for large ones. It must
    /// give back its own argument, written.
    ///
    /// # Panics
    /// As [`Tx::send`]; and where `make` gives back another place.
    #[inline]
    pub fn send_with<F>(&mut self, make: F) -> Send<'_, T, F>
    where
        F: FnOnce(&mut MaybeUninit<T>) -> &mut T,
    {
        Send { tx: self, make: Some(make), item: PhantomData }
    }

    /// Ready when there is room (true), or nobody will read.
    #[inline]
    fn poll_room(&mut self, cx: &mut Context<'_>) -> Poll<bool> {
        let turn = Turn::of(cx, self.node);
        let operation = operation(self.channel, true);
        if !turn.admit(operation) {
            return Poll::Pending;
        }
        let meter = &self.ring.meter;
        if self.next >= self.limit {
            if meter.gone() {
                self.ring.purge_if_gone();
                turn.complete(operation, &mut self.mark);
                return Poll::Ready(false);
            }
            self.limit = meter.head() + meter.capacity();
            if self.next >= self.limit {
                let until = self.next + 1 - meter.capacity();
                turn.wait(operation, Rest::Room, until);
                return Poll::Pending;
            }
        }
        if self.ring.weighed() && !meter.light() && !meter.gone() {
            turn.wait(operation, Rest::Bytes, 0);
            return Poll::Pending;
        }
        turn.complete(operation, &mut self.mark);
        Poll::Ready(true)
    }

    #[inline]
    fn put(&mut self, make: impl FnOnce(&mut MaybeUninit<T>) -> &mut T) {
        let (slots, mask) = self.ring.slots();
        // SAFETY: slot `next < limit` is free and this side's, and as good as uninitialised.
        let place = unsafe { &mut *slots.add(self.next & mask).cast::<MaybeUninit<T>>() };
        let address = place.as_ptr();
        let made: *const T = make(place);
        assert!(std::ptr::eq(made, address), "`send_with` got another place back than it gave");
        self.ring.publish(self.next, self.next + 1);
        self.next += 1;
    }
}

impl<T> Drop for Tx<T> {
    fn drop(&mut self) {
        // At the end of a thread nobody is silent any more.
        if !SILENT.try_with(Cell::get).unwrap_or(false) {
            self.ring.meter.end();
        }
        note_drop();
    }
}

/// See [`Tx::send`].
#[must_use = "nothing is sent before it is awaited"]
pub struct Send<'a, T, F> {
    tx: &'a mut Tx<T>,
    make: Option<F>,
    item: PhantomData<fn(T)>,
}

impl<T, F> std::fmt::Debug for Send<'_, T, F> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Send").field("tx", &self.tx).finish_non_exhaustive()
    }
}

// Nothing in it is pinned: what makes the message is called by value.
impl<T, F> Unpin for Send<'_, T, F> {}

impl<T, F> Future for Send<'_, T, F>
where
    T: std::marker::Send,
    F: FnOnce(&mut MaybeUninit<T>) -> &mut T,
{
    type Output = ();

    #[inline]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let room = ready!(self.tx.poll_room(cx));
        let make = self.make.take().expect("polled after it was ready");
        if room {
            self.tx.put(make);
        }
        Poll::Ready(())
    }
}
