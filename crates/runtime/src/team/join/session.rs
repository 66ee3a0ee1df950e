//! What the members of a session share.

use super::Half;
use crate::sync::{AtomicBool, AtomicUsize, CachePadded, Condvar, Mutex, Ordering, fence, lock};
use crate::team::deque::Seat;

/// The seats of a session's members, and the members that sleep.
pub(crate) struct Session {
    pub(super) seats: Box<[Seat<Half>]>,
    /// The members that sleep, or are about to.
    sleepers: CachePadded<AtomicUsize>,
    /// The first join is over: helpers leave.
    is_over: AtomicBool,
    lock: Mutex<()>,
    changed: Condvar,
}

impl Session {
    /// For members with numbers below `members`.
    pub(crate) fn new(members: usize) -> Session {
        Session {
            seats: (0..members).map(|_| Seat::new()).collect(),
            sleepers: CachePadded::new(AtomicUsize::new(0)),
            is_over: AtomicBool::new(false),
            lock: Mutex::new(()),
            changed: Condvar::new(),
        }
    }

    /// Whether a half is offered.
    pub(crate) fn has_work(&self) -> bool {
        self.seats.iter().any(|seat| !seat.is_empty())
    }

    /// Whether the first join is over.
    pub(super) fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Relaxed)
    }

    /// Tells helpers that nothing comes any more.
    pub(crate) fn end(&self) {
        self.is_over.store(true, Ordering::Relaxed);
    }

    /// Sleeps until the half is done or some half is offered.
    pub(super) fn sleep(&self, is_done: &dyn Fn() -> bool) {
        let mut guard = lock(&self.lock);
        self.sleepers.fetch_add(1, Ordering::Relaxed);
        fence(Ordering::SeqCst); // pairs with the fence of `wake`
        while !is_done() && !self.has_work() {
            guard = self.changed.wait(guard).unwrap_or_else(|poison| poison.into_inner());
        }
        self.sleepers.fetch_sub(1, Ordering::Relaxed);
    }

    /// Wakes the members that sleep, after a half was offered or executed.
    pub(super) fn wake(&self) {
        fence(Ordering::SeqCst); // pairs with the fence of `sleep`
        if self.sleepers.load(Ordering::Relaxed) > 0 {
            // A sleeper that has counted itself waits by now, or has not checked yet.
            drop(lock(&self.lock));
            self.changed.notify_all();
        }
    }
}
