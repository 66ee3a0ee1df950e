//! Queues between threads: a lock, and a condition variable that each item signals.

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
    /// Its consumer waits for it, and is counted.
    waits: bool,
    over: bool,
}

/// What all threads of a run see.
#[derive(Default)]
pub(super) struct Links {
    /// Items that nobody has taken, besides those that are to be written.
    items: AtomicI64,
    /// Threads that wait or have ended.
    rest: AtomicUsize,
    /// For whoever waits until all rest.
    idle: Mutex<()>,
    all_rest: Condvar,
}

/// How often whoever feeds the threads looks, besides being told that all rest.
const LOOK: Duration = Duration::from_micros(200);

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Link {
    /// Puts in an item, and wakes who waits for it.
    pub(super) fn push(&self, links: &Links, item: &[u8], counts: bool) {
        let mut pipe = locked(&self.pipe);
        pipe.bytes.extend(item);
        links.items.fetch_add(i64::from(counts), Ordering::Relaxed);
        // Who is woken is counted as awake before it is, so that all never seem to rest.
        if std::mem::take(&mut pipe.waits) {
            links.rest.fetch_sub(1, Ordering::SeqCst);
        }
        self.there.notify_one();
    }

    /// Takes an item of so many bytes; waits for it, until there are no more.
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

    /// There are no more items.
    pub(super) fn end(&self) {
        locked(&self.pipe).over = true;
        self.there.notify_one();
    }

    /// All that is there.
    pub(super) fn take(&self) -> Vec<u8> {
        locked(&self.pipe).bytes.drain(..).collect()
    }
}

impl Links {
    /// A thread waits, or has ended.
    pub(super) fn rests(&self, threads: usize) {
        if self.rest.fetch_add(1, Ordering::SeqCst) + 1 == threads {
            let _idle = locked(&self.idle);
            self.all_rest.notify_all();
        }
    }

    /// Waits until there are few items on their way, or all threads rest; whether they do. Meanwhile it looks now
    /// and then.
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
