//! What a process awaits that is no channel's, and so asks nobody to look at the graph.

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

/// Ready once somebody has opened it.
#[derive(Clone, Default)]
pub struct Gate(Arc<Mutex<(bool, Vec<Waker>)>>);

impl Gate {
    fn state(&self) -> MutexGuard<'_, (bool, Vec<Waker>)> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn is_open(&self) -> bool {
        self.state().0
    }

    /// Lets all pass.
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
