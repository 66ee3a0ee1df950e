//! No more threads at work than were asked for.

use std::sync::{Condvar, Mutex, PoisonError};

/// So many may be at work at once.
pub(super) struct Permits {
    free: Mutex<usize>,
    given_back: Condvar,
}

/// Leave to be at work, until it is dropped.
pub(super) struct Permit<'p>(&'p Permits);

impl Permits {
    pub(super) fn new(count: usize) -> Permits {
        Permits { free: Mutex::new(count), given_back: Condvar::new() }
    }

    /// Waits until one is there.
    pub(super) fn take(&self) -> Permit<'_> {
        let free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        let mut free =
            self.given_back.wait_while(free, |free| *free == 0).unwrap_or_else(PoisonError::into_inner);
        *free -= 1;
        Permit(self)
    }
}

impl Drop for Permit<'_> {
    fn drop(&mut self) {
        *self.0.free.lock().unwrap_or_else(PoisonError::into_inner) += 1;
        self.0.given_back.notify_one();
    }
}
