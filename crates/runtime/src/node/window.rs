//! The reorder window of a parallel node: tickets are issued in order, completed in any order, retired in order.
//!
//! A ticket whose firing is interrupted may be suspended: its worker leaves it, and another one continues it
//! ([`suspend`](super::suspend)).
//!
//! # States of a slot
//!
//! Ticket `t` has slot `t mod size`. Two claims ([`claim`](crate::node::claim)) guard the window: the *issuing claim*,
//! whose holder issues tickets, and the *retirement*, whose holder retires them.
//!
//! | the slot of `t` is | condition | accessed by | entered by | left by |
//! |---|---|---|---|---|
//! | free | `t - size < retired`, `t` not issued, `stage` is `OPEN` | holder of the issuing claim | `retire(t - size)` | that holder, when it issues `t` |
//! | running | `t` issued, `stage` is `OPEN` | the worker that issued or resumed `t` | issue, `resume(t)` | that worker, by `complete(t)` or `suspend(t)` |
//! | suspended | `stage` is `HELD` or `READY` | holder of the issuing claim | `suspend(t)` | that holder, by `resume(t)` for its own worker |
//! | done | `stage` is `DONE` | holder of the retirement | `complete(t)` | that holder, by `retire(t)` |
//!
//! Each claim has one holder at a time, so tickets are issued in order and retired in order. The number of the next
//! ticket lies under the issuing claim, outside this module.
//!
//! # Counters and orderings
//!
//! | field | written by | store | pairs with | so that |
//! |---|---|---|---|---|
//! | `stage` | worker, in `complete` | `Release` | `Acquire` in `is_done` | the retirement holder sees the worker's last access to the slot |
//! | `stage` | worker, in `suspend` | `Release` | `Acquire` in `suspended` | the worker that resumes the ticket sees the last access of the one that has suspended it |
//! | `stage` | holder of the issuing claim, in `resume` | `Relaxed` | none | its own later `complete` or `suspend` is the next store that another thread acts on |
//! | `stage` | retirement holder, in `retire` | `Relaxed` | none | the store of `retired`, which follows, orders it before the next issue |
//! | `retired` | retirement holder, in `retire` | `Release` | `Acquire` in `retired` | the next issuer of the slot sees the retirement holder's last access |
//! | `completed` | issuer, in `complete` | `Release` add | `Acquire` in `completions` | a ticket that is counted is seen done |
//!
//! # Races, and why they cannot happen
//!
//! *An issuer and the retirement holder access one slot.* The holder of the issuing claim accesses the slot of `t` only
//! if `has_slot(t)`, so `retire(t - size)` precedes the access. The retirement holder accesses it only if `is_done(t)`,
//! so `complete(t)` precedes the access. `is_done(t)` may be called only if `has_slot(t)`: otherwise the slot's `stage`
//! may be that of ticket `t - size`.
//!
//! *Two workers resume one ticket.* Both hold the issuing claim, one after the other; the second sees `OPEN`.
//!
//! *A completed ticket is left behind: its worker is refused the retirement, and the holder has passed the ticket.*
//!
//! ```text
//!   worker that completes                     holder of the retirement
//!   1. done := true                           1. reads completed
//!   2. completed += 1                         2. passes over the tickets that are done
//!   3. fence(SeqCst)                          3. releases the retirement
//!   4. tries to claim the retirement          4. fence(SeqCst)
//!                                             5. reads completed again; starts over if it has changed
//! ```
//!
//! If the worker's fence comes before the holder's in the order of fences, read 5 sees addition 2. Otherwise attempt 4
//! sees release 3, and the worker retires the ticket itself, unless a later holder refuses it; then the argument
//! applies to that holder. Tickets interact in no other way: a worker never waits for its turn. (Where the options let firings
//! wait, slots and claims are the same, and [`turns`](super::turns) says which worker publishes a ticket that is done.)

use crate::sync::{AtomicU32, AtomicUsize, CachePadded, Ordering, UnsafeCell, fence};
use std::ops::Range;
use std::sync::Arc;

/// Free, or the ticket is running.
const OPEN: u32 = 0;
/// The ticket is suspended until its node's output has room for it.
const HELD: u32 = 1;
/// The ticket is suspended and may continue at once.
const READY: u32 = 2;
/// The ticket is completed and not retired.
const DONE: u32 = 3;

/// A slot, which one ticket at a time has.
#[derive(Debug)]
struct Slot<S> {
    /// `OPEN`, `HELD`, `READY` or `DONE`: see the module.
    stage: AtomicU32,
    /// Accessed by the one thread that the module's table names for the slot's state.
    body: UnsafeCell<S>,
}

/// A ring of tickets. The module's protocol says which thread may call which method.
#[derive(Debug)]
pub(crate) struct Window<S> {
    slots: Box<[CachePadded<Slot<S>>]>,
    /// Tickets retired, hence the number of the oldest ticket that is not.
    retired: Arc<CachePadded<AtomicUsize>>,
    /// Tickets completed.
    completed: CachePadded<AtomicUsize>,
}

// SAFETY: `Window::body` is the only access to a slot's cell, and its contract admits one thread at a time, in the
// order of the module's table. Each hand-over is a pair of `Release` and `Acquire`, so a body is sent from thread to
// thread: `S: Send` suffices.
unsafe impl<S: Send> Sync for Window<S> {}

impl<S> Window<S> {
    /// A window of `size` tickets, a power of two, with a `body` for each slot. The node's shared state has `retired`
    /// too, where any thread reads whether a wait for it is over; only the window writes it.
    pub(crate) fn new(
        size: usize,
        retired: Arc<CachePadded<AtomicUsize>>,
        mut body: impl FnMut() -> S,
    ) -> Window<S> {
        assert!(size.is_power_of_two());
        let slot = |body| CachePadded::new(Slot { stage: AtomicU32::new(OPEN), body: UnsafeCell::new(body) });
        let slots = (0..size).map(|_| slot(body())).collect();
        Window { slots, retired, completed: CachePadded::new(AtomicUsize::new(0)) }
    }

    fn slot(&self, ticket: usize) -> &Slot<S> {
        &self.slots[ticket & (self.slots.len() - 1)]
    }

    /// Tickets retired.
    pub(crate) fn retired(&self) -> usize {
        self.retired.load(Ordering::Acquire) // pairs with `retire`: the slots of these tickets are free
    }

    /// Whether the window has a slot for `ticket`, which is not retired. If the caller holds the issuing claim and
    /// `ticket` is the next one, the caller may issue it.
    pub(crate) fn has_slot(&self, ticket: usize) -> bool {
        ticket - self.retired() < self.slots.len()
    }

    /// The least value of `retired` at which the window has a slot for `ticket`.
    pub(crate) fn has_slot_at(&self, ticket: usize) -> usize {
        ticket + 1 - self.slots.len().min(ticket + 1)
    }

    /// The slot of a ticket.
    ///
    /// # Safety
    /// The caller holds the issuing claim, and either `ticket` is the next one and the window has a slot for it, or the
    /// caller has resumed it; or the caller is the worker that has issued or resumed the ticket, and has neither completed
    /// nor suspended it; or it holds the retirement and has seen the ticket done. No other reference to the slot's body is
    /// alive.
    #[inline]
    #[allow(clippy::mut_from_ref)]
    pub(crate) unsafe fn body(&self, ticket: usize) -> &mut S {
        // SAFETY: by the contract the caller is the one thread that the module's table admits to the slot in its
        // present state, and it has no second reference.
        self.slot(ticket).body.with_mut(|body| unsafe { &mut *body })
    }

    /// Hands the ticket's slot to the retirement holder. The ticket's issuer calls this once, after its last access to
    /// the slot, and then tries to claim the retirement.
    #[inline]
    pub(crate) fn complete(&self, ticket: usize) {
        // Before the addition: a holder that counts this completion must find the ticket done.
        self.slot(ticket).stage.store(DONE, Ordering::Release); // pairs with `is_done`
        self.completed.fetch_add(1, Ordering::Release); // pairs with `completions`
        fence(Ordering::SeqCst); // pairs with the fence in `completions_after`
    }

    /// Whether the ticket is completed and not retired. The caller holds the retirement, and the window has a slot for
    /// the ticket.
    #[inline]
    pub(crate) fn is_done(&self, ticket: usize) -> bool {
        self.slot(ticket).stage.load(Ordering::Acquire) == DONE // pairs with `complete`
    }

    /// Leaves a ticket to the worker that resumes it: at once if it is `ready`, otherwise when there is room for it. The
    /// ticket's worker calls this after its last access to the slot.
    pub(crate) fn suspend(&self, ticket: usize, ready: bool) {
        let stage = if ready { READY } else { HELD };
        self.slot(ticket).stage.store(stage, Ordering::Release); // pairs with `suspended`
    }

    /// Whether a ticket is suspended, and then whether it is ready. The ticket is issued and not retired.
    pub(crate) fn suspended(&self, ticket: usize) -> Option<bool> {
        match self.slot(ticket).stage.load(Ordering::Acquire) {
            HELD => Some(false), // pairs with `suspend`
            READY => Some(true),
            _ => None,
        }
    }

    /// If no ticket of `tickets` is running: the first that is not completed, or the end. These are the tickets that are
    /// issued and not retired, and the caller holds both claims, so none of them is resumed or retired meanwhile.
    ///
    /// Invariant: the first pass ends before the second begins. Once no ticket is running none changes. In the other order
    /// a ticket that is completed between the passes is suspended in the one and at rest in the other, and the caller
    /// overlooks that it is not settled, although its worker was refused the retirement.
    pub(crate) fn at_rest(&self, tickets: Range<usize>) -> Option<usize> {
        let is_running = |ticket: usize| !self.is_done(ticket) && self.suspended(ticket).is_none();
        if tickets.clone().any(is_running) {
            return None;
        }
        tickets.clone().find(|ticket| !self.is_done(*ticket)).or(Some(tickets.end))
    }

    /// Makes a suspended ticket the caller's. The caller holds the issuing claim and has seen the ticket suspended.
    pub(crate) fn resume(&self, ticket: usize) {
        self.slot(ticket).stage.store(OPEN, Ordering::Relaxed);
    }

    /// The bodies of all slots, by the number of their tickets modulo the size.
    pub(crate) fn bodies_mut(&mut self) -> impl Iterator<Item = &mut S> {
        // SAFETY: `&mut self` excludes all other references to the bodies.
        self.slots.iter_mut().map(|slot| slot.body.with_mut(|body| unsafe { &mut *body }))
    }

    /// Tickets completed. The retirement holder reads it before a pass over the window.
    #[inline]
    pub(crate) fn completions(&self) -> usize {
        self.completed.load(Ordering::Acquire) // pairs with `complete`
    }

    /// Tickets completed. The thread that has released the retirement reads it, and makes another pass if the number
    /// differs from the one before its pass.
    #[inline]
    pub(crate) fn completions_after(&self) -> usize {
        fence(Ordering::SeqCst); // pairs with the fence in `complete`
        self.completed.load(Ordering::Relaxed)
    }

    /// Frees the ticket's slot. The caller holds the retirement, has seen the ticket done, and calls in ticket order.
    #[inline]
    pub(crate) fn retire(&self, ticket: usize) {
        // Before `retired` is stored: from then on the next issuer may complete the slot's next ticket.
        self.slot(ticket).stage.store(OPEN, Ordering::Relaxed);
        self.retired.store(ticket + 1, Ordering::Release); // pairs with `retired`
    }
}
