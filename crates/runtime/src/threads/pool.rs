//! The pool's interface: [`ThreadPool`].

use super::idle::IdleThreads;
use super::seat::{Call, State};
use super::{Roster, name_thread};
use crate::sync::lock;
use crate::threads::cores::Cores;
use std::fmt;
use std::io;
use std::sync::Arc;

/// Threads that stay from one job to the next, and sleep in between. Each is started when it is first needed.
/// [`ThreadPool::process`] is the pool that all runs of the process share.
///
/// ```
/// use std::sync::atomic::{AtomicU64, Ordering};
///
/// // Each thread takes the next item, so the sum is complete even if a member starts late, or never.
/// let (items, sum) = (AtomicU64::new(0), AtomicU64::new(0));
/// let work = |_member: usize| loop {
///     let item = items.fetch_add(1, Ordering::Relaxed);
///     if item >= 100 {
///         break;
///     }
///     sum.fetch_add(item, Ordering::Relaxed);
/// };
/// thalweg_runtime::ThreadPool::process().fork_join(2, &work, || work(0), || {});
/// assert_eq!(sum.into_inner(), 4950);
/// ```
#[derive(Default)]
pub struct ThreadPool {
    pub(super) idle: Arc<IdleThreads>,
}

impl fmt::Debug for ThreadPool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ThreadPool").finish_non_exhaustive()
    }
}

impl Drop for ThreadPool {
    /// Ends the idle threads; one with an owned job ends after it (`IdleThreads::put_back`). No caller has a seat in
    /// its hand, since `fork_join` borrows the pool.
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
    pub fn process() -> &'static ThreadPool {
        static POOL: std::sync::LazyLock<ThreadPool> = std::sync::LazyLock::new(ThreadPool::default);
        &POOL
    }

    /// A loom model has no statics. No model starts a whole run, so the leak is not reached.
    #[cfg(loom)]
    pub fn process() -> &'static ThreadPool {
        Box::leak(Box::default())
    }

    /// Runs `own` on this thread, and `job` with the numbers 1 to `members` on as many threads of the pool, or on fewer
    /// if the system starts no more threads. Returns when `own` and all members that have begun are done: the call of a
    /// member that has not begun by the end of `own` is revoked. While this thread waits, it calls `while_waiting`
    /// periodically.
    ///
    /// # Panics
    /// If a member panics, after all others are done.
    pub fn fork_join<R>(
        &self,
        members: usize,
        job: &(dyn Fn(usize) + Sync),
        own: impl FnOnce() -> R,
        while_waiting: impl FnMut(),
    ) -> R {
        let (roster, refused) = (Roster::default(), std::sync::atomic::AtomicBool::new(false));
        let note = |_| refused.store(true, std::sync::atomic::Ordering::Relaxed);
        let call = || {
            for member in 1..=members {
                roster.summon(member);
                if refused.load(std::sync::atomic::Ordering::Relaxed) {
                    break;
                }
            }
            own()
        };
        let cores = Cores::here();
        let part = |member| {
            cores.adopt();
            name_thread("thalweg pool");
            job(member);
        };
        roster.with(self, &part, &note, call, Some(while_waiting))
    }

    /// Runs a job on a thread of the pool, without a caller that waits for it. A panic of the job is dropped.
    pub(crate) fn detach(&self, job: Box<dyn FnOnce() + Send>) -> io::Result<()> {
        self.idle.acquire()?.set(State::Called(Call::Owned(job)));
        Ok(())
    }
}
