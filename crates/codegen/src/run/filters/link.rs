//! Queues between the threads of nodes: a lock, and a condition variable that each item signals.
//!
//! **Actors.** A queue ([`Link`]) has one producer and one consumer; the caller is the producer of
//! permissions and of file input, and the consumer of file output.
//!
//! **Counters** ([`Links`]). `rest` counts the threads that wait in `pop` or have ended; `items` counts the
//! items in queues with a thread as consumer. `items` only bounds the input approximately, so it is relaxed.
//!
//! **No false rest.** The caller acts when `rest` equals the number of threads. A consumer adds itself under
//! the queue's lock when it sets `waits`; a producer that finds `waits` set subtracts it under the same lock,
//! before it signals. So a consumer that has an item to process is never counted, and once all threads rest
//! only the caller can wake one.
//!
//! **No lost wake-up.** For consumers: `push` and `pop` hold the queue's lock. For the caller: `rests` locks
//! `idle` between its addition and the notification, and `settle` checks `rest` with `idle` locked; so
//! `settle` either sees the addition or already waits for the notification. It also wakes at intervals, to
//! check for interruption and for `items`.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// A queue between two threads.
#[derive(Default)]
pub(super) struct Link {
    pipe: Mutex<Pipe>,
    there: Condvar,
}

#[derive(Default)]
struct Pipe {
    bytes: VecDeque<u8>,
    /// Whether its consumer waits, and is counted as resting.
    waits: bool,
    over: bool,
}

/// The counters that all threads of a run share.
#[derive(Default)]
pub(super) struct Links {
    /// Items in queues, except those to be written to files.
    items: AtomicI64,
    /// Threads that wait or have ended.
    rest: AtomicUsize,
    /// The lock of the condition that all threads rest.
    idle: Mutex<()>,
    all_rest: Condvar,
}

/// The interval at which a settling caller checks, besides being notified.
const LOOK: Duration = Duration::from_micros(200);

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Link {
    /// Appends an item, and wakes the consumer.
    pub(super) fn push(&self, links: &Links, item: &[u8], counts: bool) {
        let mut pipe = locked(&self.pipe);
        pipe.bytes.extend(item);
        links.items.fetch_add(i64::from(counts), Ordering::Relaxed);
        // The consumer is counted as running before it wakes, so that threads never seem to rest while an
        // item is left.
        if std::mem::take(&mut pipe.waits) {
            links.rest.fetch_sub(1, Ordering::SeqCst);
        }
        self.there.notify_one();
    }

    /// Removes an item; blocks until there is one. Returns false where there are no more.
    pub(super) fn pop(&self, links: &Links, threads: usize, item: &mut [u8]) -> bool {
        let mut pipe = locked(&self.pipe);
        while pipe.bytes.len() < item.len() {
            if pipe.over {
                return false;
            }
            if !std::mem::replace(&mut pipe.waits, true) {
                links.rests(threads);
            }
            pipe = self.there.wait(pipe).unwrap_or_else(PoisonError::into_inner);
        }
        let bytes = item.len();
        for (to, from) in item.iter_mut().zip(pipe.bytes.drain(..bytes)) {
            *to = from;
        }
        links.items.fetch_sub(1, Ordering::Relaxed);
        true
    }

    /// Ends the queue: no more items come.
    pub(super) fn end(&self) {
        locked(&self.pipe).over = true;
        self.there.notify_one();
    }

    /// Removes all items.
    pub(super) fn take(&self) -> Vec<u8> {
        locked(&self.pipe).bytes.drain(..).collect()
    }
}

impl Links {
    /// Counts a thread that waits or has ended.
    pub(super) fn rests(&self, threads: usize) {
        if self.rest.fetch_add(1, Ordering::SeqCst) + 1 == threads {
            let _idle = locked(&self.idle);
            self.all_rest.notify_all();
        }
    }

    /// Blocks until there are few items on their way, or all threads rest; returns whether they do. Calls
    /// `look` at intervals.
    pub(super) fn settle(&self, threads: usize, few: i64, look: &dyn Fn()) -> bool {
        let mut idle = locked(&self.idle);
        loop {
            look();
            if self.rest.load(Ordering::SeqCst) == threads {
                return true;
            }
            if self.items.load(Ordering::Relaxed) < few {
                return false;
            }
            let waited = self.all_rest.wait_timeout(idle, LOOK);
            idle = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}
