//! A process's ends of its channels.

use super::drops;
use super::turn::{Rest, Turn};
use crate::channel::Ring;
use crate::channel::operation::channel;
use crate::net::Owner;
use std::future::Future;
use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::ops::{Deref, DerefMut};
use std::pin::Pin;
use std::ptr::null_mut;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::{Context, Poll, ready};
use thalweg_graph::ChannelId;

/// What a receive is known by: its channel above bit 0, which is 0. See `Net::peer`.
#[inline]
fn receiving<T>(ring: &Ring<T>) -> u64 {
    u64::from(ring.known.operation.load(Ordering::Relaxed))
}

/// What a send is known by: its channel above bit 0, which is 1.
#[inline]
fn sending<T>(ring: &Ring<T>) -> u64 {
    receiving(ring) | 1
}

#[inline]
fn receiver<T>(ring: &Ring<T>) -> Owner {
    Owner(ring.known.receiver.load(Ordering::Relaxed))
}

#[inline]
fn sender<T>(ring: &Ring<T>) -> Owner {
    Owner(ring.known.sender.load(Ordering::Relaxed))
}

/// # Panics
/// With 2^31 channels.
fn doubled(channel: ChannelId) -> u32 {
    channel.0.checked_mul(2).expect("fewer than 2^31 channels")
}

/// The receiving end of a channel, held by one process.
///
/// After its drop what is left and what still comes is discarded; the sender cannot observe it. It may be dropped
/// anywhere, but is of use in its own process alone, and no longer than that.
pub struct Rx<T>(Arc<Ring<T>>);

impl<T> std::fmt::Debug for Rx<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Rx").field("channel", &channel(sending(&self.0))).finish_non_exhaustive()
    }
}

impl<T: std::marker::Send> Rx<T> {
    pub(crate) fn new(ring: Arc<Ring<T>>, channel: ChannelId, owner: Owner) -> Rx<T> {
        ring.known.operation.store(doubled(channel), Ordering::Relaxed);
        ring.known.receiver.store(owner.0, Ordering::Relaxed);
        Rx(ring)
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

    /// Ready with the index of a message, or where none will follow.
    #[inline(always)]
    fn poll_message(&mut self, cx: &mut Context<'_>) -> Poll<Option<usize>> {
        let (known, meter) = (&self.0.known, &*self.0.meter);
        let operation = receiving(&self.0);
        let turn = Turn::of(cx, receiver(&self.0), operation);
        if !turn.admit(operation) {
            return Poll::Pending;
        }
        // First message not taken: this side's own counter.
        let next = meter.head_here();
        // Beyond it where the stream was cut while a lent message was released (`Ring::cut`).
        if next >= known.seen.load(Ordering::Relaxed) {
            let tail = meter.tail();
            // Of what a feedback channel gets after its end nothing counts.
            if meter.ended() {
                return self.at_end(turn, operation, next);
            }
            if next == tail {
                turn.wait(operation, Rest::Items, next + 1, &known.receiver_waits);
                return Poll::Pending;
            }
            known.seen.store(tail, Ordering::Relaxed);
        }
        turn.complete(operation, &known.received, &known.sender_waits);
        Poll::Ready(Some(next))
    }

    /// The stream has ended: what was sent before is seen after.
    #[inline(never)]
    fn at_end(&self, turn: &Turn<'_>, operation: u64, next: usize) -> Poll<Option<usize>> {
        let (known, seen) = (&self.0.known, self.0.meter.end_tail());
        known.seen.store(seen, Ordering::Relaxed);
        turn.complete(operation, &known.received, &known.sender_waits);
        Poll::Ready((next < seen).then_some(next))
    }

    /// The slot of the message that `poll_message` found.
    #[inline(always)]
    fn slot(&self, next: usize) -> *mut T {
        let lent = self.lent();
        if !lent.is_null() {
            return lent;
        }
        let (slots, mask) = self.0.slots();
        // SAFETY: the index is within the ring.
        unsafe { slots.add(next & mask) }
    }

    /// Where the message that was lent out lies; null without one.
    #[inline]
    fn lent(&self) -> *mut T {
        self.0.known.lent.load(Ordering::Relaxed)
    }

    /// The message lent last, if its guard was forgotten.
    #[cold]
    #[inline(never)]
    fn take_lent(&mut self, next: usize) -> T {
        // SAFETY: it holds message `next` of this side's; `release` moves past it.
        let message = unsafe { self.slot(next).read() };
        self.release(next);
        // It was received in an earlier turn, and there is room only now.
        drops::note_release(receiver(&self.0), receiving(&self.0));
        message
    }

    #[inline]
    fn lend(&self, message: *mut T) {
        self.0.known.lent.store(message, Ordering::Release);
    }

    #[inline(always)]
    fn release(&mut self, next: usize) {
        if !self.lent().is_null() {
            self.lend(null_mut());
        }
        self.0.release(next + 1);
    }
}

impl<T> Drop for Rx<T> {
    fn drop(&mut self) {
        // A message whose guard was forgotten is dropped with the ring's items.
        drops::leave_stream(receiver(&self.0), receiving(&self.0), &self.0.meter);
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

    #[inline(always)]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<T>> {
        let Some(next) = ready!(self.rx.poll_message(cx)) else { return Poll::Ready(None) };
        if !self.rx.lent().is_null() {
            return Poll::Ready(Some(self.rx.take_lent(next)));
        }
        let ring = &*self.rx.0;
        let (slots, mask) = ring.slots();
        // SAFETY: slot `next` is within the ring and holds a message of this side's, which moves past it.
        let message = unsafe { slots.add(next & mask).read() };
        ring.release(next + 1);
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
        let Some(next) = ready!(rx.poll_message(cx)) else { return Poll::Ready(None) };
        Poll::Ready(self.rx.take().map(|rx| {
            rx.lend(rx.slot(next));
            Message { bytes: rx.0.bytes_below(next + 1), rx, item: PhantomData }
        }))
    }
}

/// A message in its channel. Dropped, on whatever thread, it is taken: its place is free for another.
#[derive(Debug)]
pub struct Message<'a, T: std::marker::Send> {
    rx: &'a mut Rx<T>,
    /// What weighs the channel's messages has come to with it.
    bytes: usize,
    /// It gives what a reference gives.
    item: PhantomData<&'a mut T>,
}

impl<T: std::marker::Send> Message<'_, T> {
    /// Where it was lent out.
    #[inline]
    fn place(&self) -> *mut T {
        self.rx.0.known.lent.load(Ordering::Relaxed)
    }
}

impl<T: std::marker::Send> Deref for Message<'_, T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: what is lent is a message of this side's until it is released.
        unsafe { &*self.place() }
    }
}

impl<T: std::marker::Send> DerefMut for Message<'_, T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: as in `deref`, and the end is borrowed mutably.
        unsafe { &mut *self.place() }
    }
}

impl<T: std::marker::Send> Drop for Message<'_, T> {
    #[inline]
    fn drop(&mut self) {
        struct Release<'a, T: std::marker::Send>(&'a Ring<T>, usize);
        impl<T: std::marker::Send> Drop for Release<'_, T> {
            fn drop(&mut self) {
                self.0.take_lent(self.1);
                drops::note_release(receiver(self.0), receiving(self.0));
            }
        }
        let slot = self.place();
        // Advanced first, so that a message whose drop panics is not dropped again.
        let _past = Release(&self.rx.0, self.bytes);
        // SAFETY: as in `deref`; no reference is left, and the slot is released after this.
        unsafe { slot.drop_in_place() };
    }
}

/// The sending end of a channel, held by one process. Dropped, it ends the stream. It may be dropped
/// anywhere, but is of use in its own process alone, and no longer than that.
pub struct Tx<T>(Arc<Ring<T>>);

impl<T> std::fmt::Debug for Tx<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Tx").field("channel", &channel(sending(&self.0))).finish_non_exhaustive()
    }
}

impl<T: std::marker::Send> Tx<T> {
    pub(crate) fn new(ring: Arc<Ring<T>>, channel: ChannelId, owner: Owner) -> Tx<T> {
        ring.known.operation.store(doubled(channel), Ordering::Relaxed);
        ring.known.sender.store(owner.0, Ordering::Relaxed);
        Tx(ring)
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
    /// return its own argument, written.
    ///
    /// # Panics
    /// As [`Tx::send`]; and if `make` returns another place.
    #[inline]
    pub fn send_with<F>(&mut self, make: F) -> Send<'_, T, F>
    where
        F: FnOnce(&mut MaybeUninit<T>) -> &mut T,
    {
        Send { tx: self, make: Some(make), item: PhantomData }
    }

    /// Ready with the index of a free slot, or with none if the receiver has left.
    #[inline(always)]
    fn poll_room(&mut self, cx: &mut Context<'_>) -> Poll<Option<usize>> {
        let (known, meter) = (&self.0.known, &*self.0.meter);
        let operation = sending(&self.0);
        let turn = Turn::of(cx, sender(&self.0), operation);
        if !turn.admit(operation) {
            return Poll::Pending;
        }
        // First slot not written: this side's own counter.
        let next = meter.tail_here();
        if next >= known.limit.load(Ordering::Relaxed) {
            let limit = meter.head() + meter.capacity();
            known.limit.store(limit, Ordering::Relaxed);
            if next >= limit {
                return self.look_closely(turn, operation, next);
            }
        }
        if self.0.weighed() {
            return self.look_closely(turn, operation, next);
        }
        turn.complete(operation, &known.sent, &known.receiver_waits);
        Poll::Ready(Some(next))
    }

    /// There was no room, or the receiver has left, or messages are weighed.
    #[inline(never)]
    fn look_closely(&self, turn: &Turn<'_>, operation: u64, next: usize) -> Poll<Option<usize>> {
        let (meter, known) = (&self.0.meter, &self.0.known);
        let gone = meter.gone();
        let full = next >= known.limit.load(Ordering::Relaxed);
        if full && !gone {
            turn.wait(operation, Rest::Room, next + 1 - meter.capacity(), &known.sender_waits);
            return Poll::Pending;
        }
        if !full && !gone && !meter.light() {
            turn.wait(operation, Rest::Bytes, 0, &known.sender_waits);
            return Poll::Pending;
        }
        turn.complete(operation, &known.sent, &known.receiver_waits);
        if full {
            self.0.purge_if_gone();
        }
        Poll::Ready((!full).then_some(next))
    }

    #[inline(always)]
    fn put(&mut self, next: usize, make: impl FnOnce(&mut MaybeUninit<T>) -> &mut T) {
        let (slots, mask) = self.0.slots();
        // SAFETY: slot `next` is free and this side's, and as good as uninitialised.
        let place = unsafe { &mut *slots.add(next & mask).cast::<MaybeUninit<T>>() };
        let address = place.as_ptr();
        let made: *const T = make(place);
        assert!(std::ptr::eq(made, address), "`send_with` got another place back than it gave");
        self.0.publish(next, next + 1);
    }
}

impl<T> Drop for Tx<T> {
    fn drop(&mut self) {
        drops::end_stream(sender(&self.0), sending(&self.0), &self.0.meter);
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

    #[inline(always)]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let room = ready!(self.tx.poll_room(cx));
        let make = self.make.take().expect("polled after it was ready");
        if let Some(next) = room {
            self.tx.put(next, make);
        }
        Poll::Ready(())
    }
}
