//! The pool's interface: [`ThreadPool`].

use super::StackSize;
use super::idle::IdleThreads;
#[cfg(not(loom))]
use super::per_process::PerProcess;
use super::seat::{Call, Seat, State};
use crate::sync::lock;
use std::fmt;
use std::io;
use std::sync::Arc;

/// Threads that stay from one job to the next, and sleep in between. Each is started when it is first needed.
/// [`ThreadPool::process`] is the pool that all runs of the process share.
#[derive(Default)]
pub(crate) struct ThreadPool {
    pub(super) idle: Arc<IdleThreads>,
}

impl fmt::Debug for ThreadPool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ThreadPool").finish_non_exhaustive()
    }
}

impl Drop for ThreadPool {
    /// Ends the idle threads; one with an owned job ends after it (`IdleThreads::put_back`). No caller has a seat in
    /// its hand: a roster that is open borrows the pool.
    fn drop(&mut self) {
        let mut list = lock(&self.idle.list);
        list.closed = true;
        let seats = std::mem::take(&mut list.seats);
        drop(list);
        seats.iter().for_each(|seat| seat.set(State::Closed));
    }
}

impl ThreadPool {
    /// The thread pool of this process.
    #[cfg(not(loom))]
    pub(crate) fn process() -> &'static ThreadPool {
        static POOL: PerProcess<ThreadPool> = PerProcess::new(ThreadPool::default);
        POOL.get()
    }

    /// A loom model has no statics. No model starts a whole run, so the leak is not reached.
    #[cfg(loom)]
    pub(crate) fn process() -> &'static ThreadPool {
        Box::leak(Box::default())
    }

    /// Runs a job on a thread of the pool, without a caller that waits for it. A panic of the job is dropped.
    /// It has a stack of this size or more.
    pub(crate) fn detach(&self, stack: StackSize, job: Box<dyn FnOnce() + Send>) -> io::Result<()> {
        let seat = self.idle.acquire(stack)?;
        seat.set(State::Called(Call::Owned(job)));
        Ok(())
    }

    /// Like [`ThreadPool::detach`], on this thread if it is idle, otherwise on any, with any stack. Returns the thread.
    pub(crate) fn detach_to(
        &self,
        thread: Option<&PoolThread>,
        job: Box<dyn FnOnce() + Send>,
    ) -> io::Result<PoolThread> {
        let seat = match thread.and_then(|thread| self.idle.take(&thread.0)) {
            Some(seat) => seat,
            None => self.idle.acquire(StackSize::default())?,
        };
        let called = PoolThread(seat.clone());
        seat.set(State::Called(Call::Owned(job)));
        Ok(called)
    }
}

/// A thread of a pool, by which a later caller asks for it. Its seat is not in the holder's hand.
#[derive(Clone)]
pub(crate) struct PoolThread(Arc<Seat>);

impl PartialEq for PoolThread {
    fn eq(&self, other: &PoolThread) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}
