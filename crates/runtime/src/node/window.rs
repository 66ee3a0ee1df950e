//! The reorder window of a parallel node: tickets are issued in order, completed in any order, retired in order.
//!
//! # Protocol
//!
//! Ticket `t` has slot `t mod size`. A slot passes through `free -> issued -> done -> free`:
//!
//! ```text
//!   issue     claim holder       needs `t - retired < size`; then the slot is the issuer's alone
//!   complete  issuer             `done := true` (Release): the slot is the retirer's alone
//!   retire    retirement holder  reads `done` (Acquire), publishes, `done := false`,
//!                                `retired := t + 1` (Release): the slot is free
//! ```
//!
//! `issue` reads `retired` with `Acquire`, so the retirer's last access to a slot comes before the
//! next issuer's first. Only the holder of the node's claim issues, so tickets are issued in
//! order; only the holder of its retirement retires, so they are retired in order.
//!
//! **No completed ticket is left behind.** Completing adds one to `completed` after `done`; then a
//! `SeqCst` fence; then the completing thread tries to claim the retirement. The thread
//! that holds it reads `completed` before its pass, releases the retirement, fences, reads `completed` again, and starts
//! over if it has changed. Either the completing thread's attempt comes after the release and succeeds, or the holder's
//! second read sees the completion. Tickets interact in no other way: a worker never waits for its turn.

use crate::sync::{AtomicBool, AtomicUsize, Ordering, UnsafeCell, fence};
use crossbeam_utils::CachePadded;
use std::sync::Arc;

/// The slot of one ticket at a time.
#[derive(Debug)]
struct Slot<S> {
    done: AtomicBool,
    body: UnsafeCell<S>,
}

/// A ring of tickets. The module's protocol says which thread may call what.
#[derive(Debug)]
pub(crate) struct Window<S> {
    slots: Box<[CachePadded<Slot<S>>]>,
    retired: Arc<CachePadded<AtomicUsize>>,
    completed: CachePadded<AtomicUsize>,
}

// SAFETY: each slot's body is accessed by one thread at a time, by the module's protocol.
unsafe impl<S: Send> Sync for Window<S> {}

impl<S> Window<S> {
    /// A window of `size` tickets, a power of two; `retired` is shared with the threads that wait for it.
    pub(crate) fn new(
        size: usize,
        retired: Arc<CachePadded<AtomicUsize>>,
        mut body: impl FnMut() -> S,
    ) -> Window<S> {
        assert!(size.is_power_of_two());
        let slot =
            |body| CachePadded::new(Slot { done: AtomicBool::new(false), body: UnsafeCell::new(body) });
        let slots = (0..size).map(|_| slot(body())).collect();
        Window { slots, retired, completed: CachePadded::new(AtomicUsize::new(0)) }
    }

    fn slot(&self, ticket: usize) -> &Slot<S> {
        &self.slots[ticket & (self.slots.len() - 1)]
    }

    /// Tickets wholly retired.
    pub(crate) fn retired(&self) -> usize {
        self.retired.load(Ordering::Acquire)
    }

    /// Whether `ticket`, the next one, may be issued now.
    pub(crate) fn has_place(&self, ticket: usize) -> bool {
        ticket - self.retired() < self.slots.len()
    }

    /// First value of `retired` at which `ticket` may be issued.
    pub(crate) fn place_at(&self, ticket: usize) -> usize {
        ticket + 1 - self.slots.len().min(ticket + 1)
    }

    /// Access to the slot of a ticket.
    ///
    /// # Safety
    /// The caller is the ticket's issuer and has not completed it, or holds the retirement and has
    /// seen it done; and there is no other reference to the slot's body.
    #[inline]
    #[allow(clippy::mut_from_ref)]
    pub(crate) unsafe fn body(&self, ticket: usize) -> &mut S {
        // SAFETY: exclusive by this function's contract.
        self.slot(ticket).body.with_mut(|body| unsafe { &mut *body })
    }

    /// The issuer is done with the ticket's slot.
    #[inline]
    pub(crate) fn complete(&self, ticket: usize) {
        self.slot(ticket).done.store(true, Ordering::Release);
        self.completed.fetch_add(1, Ordering::Release); // pairs with `completions`: counted is done
        fence(Ordering::SeqCst); // pairs with the one in `completions_after`
    }

    /// Whether the ticket is completed and not retired. Retirement holder only.
    #[inline]
    pub(crate) fn is_done(&self, ticket: usize) -> bool {
        self.slot(ticket).done.load(Ordering::Acquire)
    }

    /// Completions so far, read before a pass over the window.
    #[inline]
    pub(crate) fn completions(&self) -> usize {
        self.completed.load(Ordering::Acquire)
    }

    /// Completions so far, read after the retirement was released.
    #[inline]
    pub(crate) fn completions_after(&self) -> usize {
        fence(Ordering::SeqCst); // pairs with the one in `complete`
        self.completed.load(Ordering::Relaxed)
    }

    /// Frees the ticket's slot. Retirement holder only, in ticket order.
    #[inline]
    pub(crate) fn retire(&self, ticket: usize) {
        self.slot(ticket).done.store(false, Ordering::Relaxed);
        self.retired.store(ticket + 1, Ordering::Release);
    }
}
