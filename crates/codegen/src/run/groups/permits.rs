//! A counting semaphore that limits the threads at work to the number requested.
//!
//! A member takes a permit for each packet and returns it before it sends the packet on, so no permit is held
//! while a thread waits for a packet or for room in a stream.

use std::sync::{Condvar, Mutex, PoisonError};

/// The semaphore.
pub(super) struct Permits {
    free: Mutex<usize>,
    given_back: Condvar,
}

/// The right to work, until it is dropped.
pub(super) struct Permit<'p>(&'p Permits);

impl Permits {
    pub(super) fn new(count: usize) -> Permits {
        Permits { free: Mutex::new(count), given_back: Condvar::new() }
    }

    /// Blocks until a permit is free.
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
