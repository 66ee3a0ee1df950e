//! A process's ends of its channels: the futures that receive and send.
//!
//! An operation is named by a number: its channel times two, plus one for a send
//! ([`operation`](crate::channel::operation)). Each poll finds the [`Turn`] of its process through the waker, and the turn
//! decides whether the operation may complete. Counters, slots and lent messages are those of [`mod@crate::channel`].

use super::drops;
use super::turn::{Suspended, Turn};
use crate::channel::Ring;
use crate::channel::operation::channel;
use crate::contain::Contained;
use crate::net::Owner;
use std::future::Future;
use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::ops::{Deref, DerefMut};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::{Context, Poll, ready};
use thalweg_graph::ChannelId;

/// The number of the ring's receive operation.
#[inline]
fn receiving<T>(ring: &Ring<T>) -> u64 {
    u64::from(ring.known.operation.load(Ordering::Relaxed))
}

/// The number of the ring's send operation.
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

/// The number of a channel's receive operation.
///
/// # Panics
/// From 2^31 channels on.
fn doubled(channel: ChannelId) -> u32 {
    channel.0.checked_mul(2).expect("fewer than 2^31 channels")
}

/// The receiving end of a channel, held by one process.
///
/// Dropping it discards the messages left in the channel and those sent afterwards; the sender cannot observe that. It
/// may be dropped on any thread, but receives only in the polls of its own process.
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

    /// Receives the next message, or `None` after the last one.
    ///
    /// # Panics
    /// The future panics if it is polled while another operation of the process is pending, outside the process's own poll,
    /// or inside of a parallel loop, [`join`](crate::join), a task graph or a run.
    #[inline]
    pub fn recv(&mut self) -> Recv<'_, T> {
        Recv { rx: self }
    }

    /// Receives the next message by reference, where it lies in the channel: for large messages. Dropping the guard drops
    /// the message.
    ///
    /// # Panics
    /// As [`Rx::recv`].
    #[inline]
    pub fn recv_ref(&mut self) -> RecvRef<'_, T> {
        RecvRef { rx: Some(self) }
    }

    /// Resolves to the index of the next message, or to `None` at the end of the stream.
    #[inline(always)]
    fn poll_message(&mut self, cx: &mut Context<'_>) -> Poll<Option<usize>> {
        let (known, meter) = (&self.0.known, &*self.0.meter);
        let operation = receiving(&self.0);
        let turn = Turn::of(cx, receiver(&self.0), operation);
        if !turn.admit(operation) {
            return Poll::Pending;
        }
        // The first message not received: this side's own counter.
        let next = meter.head_here();
        // `next` exceeds `seen` if the stream was cut while a lent message was being released (`Ring::cut`).
        if next >= known.seen.load(Ordering::Relaxed) {
            let tail = meter.tail();
            // Messages that a feedback channel receives after its end are not delivered.
            if meter.ended() {
                return self.at_end(turn, operation, next);
            }
            if next == tail {
                turn.wait(operation, Suspended::Items, next + 1, &known.receiver_waits);
                return Poll::Pending;
            }
            let Some(seen) = turn.messages(operation, meter, next, tail) else { return Poll::Pending };
            known.seen.store(seen, Ordering::Relaxed);
        }
        turn.complete(operation, &known.received, &known.sender_waits);
        Poll::Ready(Some(next))
    }

    /// The stream has ended: delivers the messages sent before its end.
    #[inline(never)]
    fn at_end(&self, turn: &Turn<'_>, operation: u64, next: usize) -> Poll<Option<usize>> {
        let (known, seen) = (&self.0.known, self.0.meter.end_tail());
        known.seen.store(seen, Ordering::Relaxed);
        turn.complete(operation, &known.received, &known.sender_waits);
        Poll::Ready((next < seen).then_some(next))
    }
}

impl<T> Drop for Rx<T> {
    fn drop(&mut self) {
        // The ring drops a message whose guard was forgotten with its other items.
        drops::leave_stream(receiver(&self.0), receiving(&self.0), &self.0.meter);
    }
}

/// The future of [`Rx::recv`].
#[must_use = "nothing is received until the future is awaited"]
#[derive(Debug)]
pub struct Recv<'a, T> {
    rx: &'a mut Rx<T>,
}

impl<T: std::marker::Send> Future for Recv<'_, T> {
    type Output = Option<T>;

    #[inline(always)]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<T>> {
        let Some(next) = ready!(self.rx.poll_message(cx)) else { return Poll::Ready(None) };
        let ring = &*self.rx.0;
        if ring.lends() {
            return Poll::Ready(Some(receive_forgotten(ring, next)));
        }
        // SAFETY: message `next` is published and this side's; `release` moves past it, so it is read once.
        let message = unsafe { ring.slots().read(next) };
        ring.release(next + 1);
        Poll::Ready(Some(message))
    }
}

/// Receives message `next`, which was lent to a guard that has been forgotten.
#[cold]
#[inline(never)]
fn receive_forgotten<T>(ring: &Ring<T>, next: usize) -> T {
    // SAFETY: this is the receiving process, and it has `&mut Rx`: the guard that borrowed it can no longer be used.
    let message = unsafe { ring.read_lent(next) };
    // The operation completed in an earlier turn, but only now is there room.
    drops::note_release(receiver(ring), receiving(ring));
    message
}

/// The future of [`Rx::recv_ref`].
#[must_use = "nothing is received until the future is awaited"]
#[derive(Debug)]
pub struct RecvRef<'a, T> {
    /// Moves into the guard.
    rx: Option<&'a mut Rx<T>>,
}

impl<'a, T: std::marker::Send> Future for RecvRef<'a, T> {
    type Output = Option<Message<'a, T>>;

    #[inline]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let rx = self.rx.as_mut().expect("polled after it was ready");
        let Some(next) = ready!(rx.poll_message(cx)) else { return Poll::Ready(None) };
        Poll::Ready(self.rx.take().map(|rx| {
            // SAFETY: this is the receiving process, and message `next`, the first not received, is published.
            unsafe { rx.0.lend(next) };
            Message { bytes: rx.0.bytes_below(next + 1), rx, item: PhantomData }
        }))
    }
}

/// The guard of a message that lies in its channel. Dropping it, on any thread, drops the message and frees its slot.
#[derive(Debug)]
pub struct Message<'a, T: std::marker::Send> {
    rx: &'a mut Rx<T>,
    /// Bytes of all messages of the channel up to this one: see `Ring::drop_lent`.
    bytes: usize,
    /// The guard dereferences to the item.
    item: PhantomData<&'a mut T>,
}

impl<T: std::marker::Send> Deref for Message<'_, T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: this is the guard of the lent message, and the reference borrows it.
        unsafe { &*self.rx.0.lent() }
    }
}

impl<T: std::marker::Send> DerefMut for Message<'_, T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: as in `deref`; the guard is borrowed mutably.
        unsafe { &mut *self.rx.0.lent() }
    }
}

impl<T: std::marker::Send> Drop for Message<'_, T> {
    #[inline]
    fn drop(&mut self) {
        struct Note<'a, T: std::marker::Send>(&'a Ring<T>);
        impl<T: std::marker::Send> Drop for Note<'_, T> {
            fn drop(&mut self) {
                drops::note_release(receiver(self.0), receiving(self.0));
            }
        }
        // After the slot has been released, also if the drop of the message panics.
        let _note = Note(&self.rx.0);
        // SAFETY: this guard is being dropped, so no reference to the message is left.
        unsafe { self.rx.0.drop_lent(self.bytes) };
    }
}

/// The sending end of a channel, held by one process. Dropping it ends the stream. It may be dropped on any thread, but
/// sends only in the polls of its own process.
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

    /// Sends a message, and waits for room first. If the receiver has been dropped, the message is discarded.
    ///
    /// # Panics
    /// The future panics if it is polled while another operation of the process is pending, outside the process's own poll,
    /// or inside of a parallel loop, [`join`](crate::join), a task graph or a run.
    #[inline]
    pub fn send(&mut self, message: T) -> SendFuture<'_, T, impl FnOnce(&mut MaybeUninit<T>) -> &mut T> {
        self.send_with(move |place| place.write(message))
    }

    /// Sends a message that `make` writes in place, in its slot of the channel: for large messages. `make` must write its
    /// argument and return it.
    ///
    /// # Panics
    /// As [`Tx::send`]; also if `make` returns another reference than its argument.
    #[inline]
    pub fn send_with<F>(&mut self, make: F) -> SendFuture<'_, T, F>
    where
        F: FnOnce(&mut MaybeUninit<T>) -> &mut T,
    {
        SendFuture { tx: self, make: Some(Contained::new(make)), item: PhantomData }
    }

    /// Resolves to the index of a free slot, or to `None` if the receiver has been dropped.
    #[inline(always)]
    fn poll_room(&mut self, cx: &mut Context<'_>) -> Poll<Option<usize>> {
        let (known, meter) = (&self.0.known, &*self.0.meter);
        let operation = sending(&self.0);
        let turn = Turn::of(cx, sender(&self.0), operation);
        if !turn.admit(operation) {
            return Poll::Pending;
        }
        // The first slot not written: this side's own counter.
        let next = meter.tail_here();
        if next >= known.limit.load(Ordering::Relaxed) {
            let limit = meter.head() + meter.capacity();
            known.limit.store(limit, Ordering::Relaxed);
            if next >= limit {
                return self.poll_room_slowly(turn, operation, next);
            }
        }
        if self.0.weighed() {
            return self.poll_room_slowly(turn, operation, next);
        }
        turn.complete(operation, &known.sent, &known.receiver_waits);
        Poll::Ready(Some(next))
    }

    /// There is no room, or the receiver has been dropped, or messages are weighed.
    #[inline(never)]
    fn poll_room_slowly(&self, turn: &Turn<'_>, operation: u64, next: usize) -> Poll<Option<usize>> {
        let (meter, known) = (&self.0.meter, &self.0.known);
        let gone = meter.gone();
        let full = next >= known.limit.load(Ordering::Relaxed);
        if full && !gone {
            // Another thread may have raised the capacity since `limit` was read. Then the wait is over at once.
            let until = (next + 1).saturating_sub(meter.capacity());
            turn.wait(operation, Suspended::Room, until, &known.sender_waits);
            return Poll::Pending;
        }
        if !full && !gone && !meter.is_below_byte_limit() {
            turn.wait(operation, Suspended::Bytes, 0, &known.sender_waits);
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
        // SAFETY: slot `next` is free and this side's until `publish`.
        let place = unsafe { self.0.slots().place(next) };
        let address = place.as_ptr();
        let made: *const T = make(place);
        assert!(
            std::ptr::eq(made, address),
            "the function of `send_with` returned another reference than its argument"
        );
        self.0.publish(next, next + 1);
    }
}

impl<T> Drop for Tx<T> {
    fn drop(&mut self) {
        drops::end_stream(sender(&self.0), sending(&self.0), &self.0.meter);
    }
}

/// The future of [`Tx::send`] and [`Tx::send_with`].
#[must_use = "nothing is sent until the future is awaited"]
pub struct SendFuture<'a, T, F> {
    tx: &'a mut Tx<T>,
    /// Has the message. It may lie on the stack of a coroutine that is unwound.
    make: Option<Contained<F>>,
    item: PhantomData<fn(T)>,
}

impl<T, F> std::fmt::Debug for SendFuture<'_, T, F> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SendFuture").field("tx", &self.tx).finish_non_exhaustive()
    }
}

// No field is pinned: `make` is called by value.
impl<T, F> Unpin for SendFuture<'_, T, F> {}

impl<T, F> Future for SendFuture<'_, T, F>
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
            self.tx.put(next, make.into_inner());
        }
        Poll::Ready(())
    }
}
