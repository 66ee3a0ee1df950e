//! The idle threads of a pool: a stack of seats, under a lock. A caller pops a seat or starts a thread, and never
//! waits.

use super::StackSize;
use super::seat::{Seat, State};
use crate::sync::{AtomicUsize, Mutex, Ordering, lock, thread};
use std::io;
use std::sync::Arc;

/// The number of idle threads that are kept. Miri must find no thread alive at exit.
pub(super) const KEPT: usize = if cfg!(miri) { 0 } else { 64 };

/// The part of a pool that its threads share.
#[derive(Default)]
pub(super) struct IdleThreads {
    pub(super) list: Mutex<List>,
    /// The number of spins that members have begun. It bounds wasted processor time and orders nothing, so it is `Relaxed`.
    spins: AtomicUsize,
}

/// Invariant: each seat is in the list or in one caller's hand, never both. So only the thread that takes a seat out of
/// the list changes its state, and a listed seat is idle.
#[derive(Default)]
pub(super) struct List {
    /// A stack: the seat that became idle last has the warmest cache.
    pub(super) seats: Vec<Arc<Seat>>,
    /// The pool has been dropped: a seat that comes back is closed.
    pub(super) closed: bool,
}

impl List {
    /// Takes the seat that became idle last, of those whose stacks suffice.
    fn pop(&mut self, stack: StackSize) -> Option<Arc<Seat>> {
        let at = self.seats.iter().rposition(|seat| seat.stack >= stack)?;
        Some(self.seats.remove(at))
    }
}

/// A thread that is about to be started.
#[cfg(not(loom))]
fn builder(name: &str, stack: StackSize) -> thread::Builder {
    stack.set(thread::Builder::new().name(name.into()))
}

#[cfg(loom)]
fn builder(name: &str, _: StackSize) -> thread::Builder {
    thread::Builder::new().name(name.into())
}

impl IdleThreads {
    /// The seat of an idle member with a stack of this size or more, or of a new one; it is in the caller's hand.
    pub(super) fn acquire(self: &Arc<Self>, stack: StackSize) -> io::Result<Arc<Seat>> {
        if let Some(seat) = lock(&self.list).pop(stack) {
            return Ok(seat);
        }
        let (seat, idle) = (Seat::new(stack), self.clone());
        let own = seat.clone();
        builder("thalweg", stack).spawn(move || own.serve(&idle))?;
        Ok(seat)
    }

    /// This seat, if its member is idle; it is in the caller's hand then.
    pub(super) fn take(&self, seat: &Arc<Seat>) -> Option<Arc<Seat>> {
        let mut list = lock(&self.list);
        // The seats that became idle last come first: of a team's threads usually one of these is asked for.
        let at = list.seats.iter().rposition(|other| Arc::ptr_eq(other, seat))?;
        Some(list.seats.remove(at))
    }

    /// Returns an idle seat from the caller's hand to the list, or closes it.
    ///
    /// `closed` is read under the lock that the pool's drop sets it under: a seat is either closed here or found in the
    /// list there.
    pub(super) fn put_back(&self, seat: Arc<Seat>) {
        let mut list = lock(&self.list);
        if list.closed || list.seats.len() >= KEPT {
            drop(list);
            seat.set(State::Closed);
        } else {
            list.seats.push(seat);
        }
    }

    /// The number of a spin that a member begins.
    pub(super) fn begin_spin(&self) -> usize {
        if cfg!(loom) { 0 } else { self.spins.fetch_add(1, Ordering::Relaxed) }
    }

    /// Whether this spin may go on: it is one of the latest, of which there are one fewer than cores. The latest, since the
    /// next caller takes the seat that became idle last.
    #[cfg(not(loom))]
    pub(super) fn may_spin(&self, spin: usize) -> bool {
        self.spins.load(Ordering::Relaxed).wrapping_sub(spin) < crate::threads::cores::last_parallelism()
    }

    /// A model has no clock, so no member spins.
    #[cfg(loom)]
    pub(super) fn may_spin(&self, _: usize) -> bool {
        false
    }
}
