//! A coroutine's ends of its channels: those of a process, with operations that block.
//!
//! An operation is the process's future, which [`wait`] runs until it is ready: while it is pending the coroutine
//! leaves its stack, and the worker runs other nodes. The ends are not `Send`, like the stack that they lie on.

use super::fiber::wait;
use crate::process::{Message, Rx, Tx};
use crate::seal::Sealed;
use std::iter::FusedIterator;
use std::marker::PhantomData;
use std::mem::MaybeUninit;

/// The receiving end of a channel, held by one coroutine ([`Graph::coroutine`](crate::Graph::coroutine)), which alone
/// can use it. As an iterator it yields all messages.
///
/// After its drop the messages that are left, and those that still arrive, are discarded; the sender cannot observe it.
#[derive(Debug)]
pub struct BlockingRx<T> {
    rx: Rx<T>,
    /// Makes the type `!Send`: its coroutine is pinned to one thread.
    not_send: PhantomData<*const ()>,
}

impl<T: Send> BlockingRx<T> {
    /// Receives the next message, waiting for it; `None` after the last one.
    ///
    /// While the coroutine is unwound (by a panic, or because the run has ended before it) it returns `None`.
    ///
    /// # Panics
    /// Outside its coroutine, and inside of a parallel loop, [`join`](crate::join), a task graph or a run that it calls.
    #[inline]
    pub fn recv(&mut self) -> Option<T> {
        wait(self.rx.recv()).flatten()
    }

    /// Receives the next message by reference, in its slot: for large messages. The drop of the guard drops the message
    /// and releases the slot.
    ///
    /// # Panics
    /// Outside its coroutine, and inside of a parallel loop, [`join`](crate::join), a task graph or a run that it calls.
    #[inline]
    pub fn recv_ref(&mut self) -> Option<Message<'_, T>> {
        wait(self.rx.recv_ref()).flatten()
    }
}

impl<T: Send> Iterator for BlockingRx<T> {
    type Item = T;

    #[inline]
    fn next(&mut self) -> Option<T> {
        self.recv()
    }
}

impl<T: Send> FusedIterator for BlockingRx<T> {}

/// The sending end of a channel, held by one coroutine ([`Graph::coroutine`](crate::Graph::coroutine)), which alone can
/// use it. Its drop ends the stream.
#[derive(Debug)]
pub struct BlockingTx<T> {
    tx: Tx<T>,
    /// Makes the type `!Send`: its coroutine is pinned to one thread.
    not_send: PhantomData<*const ()>,
}

impl<T: Send> BlockingTx<T> {
    /// Sends a message, waiting for room. The message is discarded if the receiver has left, and while the coroutine is
    /// unwound.
    ///
    /// # Panics
    /// Outside its coroutine, and inside of a parallel loop, [`join`](crate::join), a task graph or a run that it calls.
    #[inline]
    pub fn send(&mut self, message: T) {
        wait(self.tx.send(message));
    }

    /// Sends a message that `make` writes into its slot: for large messages. `make` must return its argument,
    /// initialised. It is not called if the message would be discarded.
    ///
    /// # Panics
    /// As [`BlockingTx::send`]; if `make` sends or receives; and if it returns a reference to another place.
    #[inline]
    pub fn send_with<F>(&mut self, make: F)
    where
        F: FnOnce(&mut MaybeUninit<T>) -> &mut T,
    {
        wait(self.tx.send_with(make));
    }
}

/// Ends of a process that a coroutine can have: one, a tuple of up to six, or a vector.
pub trait Ends: Sealed {
    /// The same ends with operations that block.
    type Blocking;
    /// Converts the ends. For the thread on which the coroutine begins.
    #[doc(hidden)]
    fn blocking(self) -> Self::Blocking;
}

impl<T> Sealed for Rx<T> {}
impl<T> Sealed for Tx<T> {}

impl<T> Ends for Rx<T> {
    type Blocking = BlockingRx<T>;

    fn blocking(self) -> BlockingRx<T> {
        BlockingRx { rx: self, not_send: PhantomData }
    }
}

impl<T> Ends for Tx<T> {
    type Blocking = BlockingTx<T>;

    fn blocking(self) -> BlockingTx<T> {
        BlockingTx { tx: self, not_send: PhantomData }
    }
}

impl<E: Ends> Ends for Vec<E> {
    type Blocking = Vec<E::Blocking>;

    fn blocking(self) -> Self::Blocking {
        self.into_iter().map(E::blocking).collect()
    }
}

macro_rules! tuples {
    ($($E:ident $i:tt),*) => {
        #[allow(clippy::unused_unit)]
        impl<$($E: Ends),*> Ends for ($($E,)*) {
            type Blocking = ($($E::Blocking,)*);

            fn blocking(self) -> Self::Blocking {
                ($(self.$i.blocking(),)*)
            }
        }
    };
}

tuples!();
tuples!(A 0, B 1);
tuples!(A 0, B 1, C 2);
tuples!(A 0, B 1, C 2, D 3);
tuples!(A 0, B 1, C 2, D 3, E 4);
tuples!(A 0, B 1, C 2, D 3, E 4, F 5);
