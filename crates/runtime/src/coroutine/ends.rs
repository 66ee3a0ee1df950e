//! A coroutine's ends of its channels: those of a process, with operations that wait.

use super::fiber::wait;
use crate::process::{Message, Rx, Tx};
use crate::seal::Sealed;
use std::iter::FusedIterator;
use std::marker::PhantomData;
use std::mem::MaybeUninit;

/// The receiving end of a channel, held by one coroutine ([`Graph::coroutine`](crate::Graph::coroutine)), and of
/// use in it alone. As an iterator it yields all messages.
///
/// After its drop what is left and what still comes is discarded; the sender cannot observe it.
#[derive(Debug)]
pub struct BlockingRx<T> {
    rx: Rx<T>,
    /// Its coroutine stays on one thread, and so does it.
    stays: PhantomData<*const ()>,
}

impl<T: Send> BlockingRx<T> {
    /// The next message, or `None` after the last one.
    ///
    /// While the coroutine is unwound (by a panic, or because the run has ended before it) it gives
    /// `None`.
    ///
    /// # Panics
    /// Outside of its coroutine.
    #[inline]
    pub fn recv(&mut self) -> Option<T> {
        wait(self.rx.recv()).flatten()
    }

    /// The next message where it lies, not moved: for large ones. It is taken when the guard is
    /// dropped.
    ///
    /// # Panics
    /// As [`BlockingRx::recv`].
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

/// The sending end of a channel, held by one coroutine ([`Graph::coroutine`](crate::Graph::coroutine)), and of
/// use in it alone. Dropped, it ends the stream.
#[derive(Debug)]
pub struct BlockingTx<T> {
    tx: Tx<T>,
    stays: PhantomData<*const ()>,
}

impl<T: Send> BlockingTx<T> {
    /// Sends a message, waiting for room. Where the receiver has left, the message is discarded; so
    /// it is while the coroutine is unwound.
    ///
    /// # Panics
    /// Outside of its coroutine.
    #[inline]
    pub fn send(&mut self, message: T) {
        wait(self.tx.send(message));
    }

    /// Sends a message that `make` writes where it will lie, not moved: for large ones. It must
    /// return its own argument, written. It is not called where the message would be discarded.
    ///
    /// # Panics
    /// As [`BlockingTx::send`]; and if `make` returns another place.
    #[inline]
    pub fn send_with<F>(&mut self, make: F)
    where
        F: FnOnce(&mut MaybeUninit<T>) -> &mut T,
    {
        wait(self.tx.send_with(make));
    }
}

/// Ends of a process as a coroutine has them.
pub trait Ends: Sealed {
    /// Converts ends of futures to ends whose operations block.
    type Blocking;
    #[doc(hidden)]
    fn blocking(self) -> Self::Blocking;
}

impl<T> Sealed for Rx<T> {}
impl<T> Sealed for Tx<T> {}

impl<T> Ends for Rx<T> {
    type Blocking = BlockingRx<T>;

    fn blocking(self) -> BlockingRx<T> {
        BlockingRx { rx: self, stays: PhantomData }
    }
}

impl<T> Ends for Tx<T> {
    type Blocking = BlockingTx<T>;

    fn blocking(self) -> BlockingTx<T> {
        BlockingTx { tx: self, stays: PhantomData }
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
