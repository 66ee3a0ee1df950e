//! The idle threads of a team.

use super::seat::{Seat, State};
use crate::sync::{AtomicUsize, Mutex, Ordering, lock, thread};
use std::io;
use std::sync::Arc;

/// Idle threads that are kept.
pub(super) const KEPT: usize = if cfg!(miri) { 0 } else { 64 };

/// The idle members of a team.
#[derive(Default)]
pub(super) struct Pool {
    pub(super) idle: Mutex<Idle>,
    /// Idle members that look for a call.
    looking: AtomicUsize,
}

#[derive(Default)]
pub(super) struct Idle {
    /// The latest last: it has the warmest cache.
    pub(super) seats: Vec<Arc<Seat>>,
    /// The team is gone.
    pub(super) over: bool,
}

impl Pool {
    /// An idle member, or a new one.
    pub(super) fn take(self: &Arc<Self>) -> io::Result<Arc<Seat>> {
        if let Some(seat) = lock(&self.idle).seats.pop() {
            return Ok(seat);
        }
        let (seat, pool) = (Seat::new(), self.clone());
        let own = seat.clone();
        thread::Builder::new().name("thalweg".into()).spawn(move || own.serve(&pool))?;
        Ok(seat)
    }

    /// A seat that is idle goes back.
    pub(super) fn put_back(&self, seat: Arc<Seat>) {
        let mut idle = lock(&self.idle);
        if idle.over || idle.seats.len() >= KEPT {
            drop(idle);
            seat.set(State::Over);
        } else {
            idle.seats.push(seat);
        }
    }

    #[cfg(not(loom))]
    pub(super) fn may_look(&self) -> bool {
        let may =
            self.looking.fetch_add(1, Ordering::Relaxed) + 1 < crate::threads::cores::known_parallelism();
        if !may {
            self.has_looked();
        }
        may
    }

    #[cfg(loom)]
    pub(super) fn may_look(&self) -> bool {
        false
    }

    pub(super) fn has_looked(&self) {
        self.looking.fetch_sub(1, Ordering::Relaxed);
    }
}
