//! A future that is not a channel operation: only its own wakers wake the processes that await it.

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

/// A future that is ready after [`open`](Gate::open).
#[derive(Clone, Default)]
pub struct Gate(Arc<Mutex<(bool, Vec<Waker>)>>);

impl Gate {
    fn state(&self) -> MutexGuard<'_, (bool, Vec<Waker>)> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn is_open(&self) -> bool {
        self.state().0
    }

    /// Makes the gate ready and wakes all tasks that wait for it.
    pub fn open(&self) {
        self.state().0 = true;
        let wakers = std::mem::take(&mut self.state().1);
        wakers.into_iter().for_each(Waker::wake);
    }
}

impl Future for Gate {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let mut state = self.state();
        if state.0 {
            return Poll::Ready(());
        }
        state.1.push(cx.waker().clone());
        Poll::Pending
    }
}
