//! The pieces that have arrived for a stage of this process, which takes whole batches in order.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::engine::{self, Engine};
use crate::order::{Expected, Order, Whole};
use crate::piece::Piece;
use crate::ticket::Ticket;

/// How long a stage waits for the news that the run ends early when no piece comes any more and a batch is missing: processes
/// that have heard that the sink needs no more end their stages, and the news may reach this one later than their end.
const GRACE: Duration = Duration::from_secs(5);

/// Pieces go in as they arrive, by the thread of the dataflow; a stage takes batches, and waits for them.
pub(crate) struct Inbox {
    /// The stage that takes, for messages.
    name: &'static str,
    engine: Engine,
    state: Mutex<State>,
    ready: Condvar,
}

struct State {
    order: Order,
    /// No piece comes any more.
    ended: bool,
    /// The run ends early.
    stopped: bool,
    /// The stage waits for the next batch.
    waits: bool,
}

/// Why there is no batch.
pub(crate) enum NoBatch {
    /// All were taken.
    Complete,
    /// No piece comes any more, and this batch is not whole.
    Missing(Ticket),
    /// The run ends early.
    Stopped,
}

impl Inbox {
    pub fn new(name: &'static str, expected: Expected, engine: Engine) -> Inbox {
        let state = State { order: Order::new(expected), ended: false, stopped: false, waits: false };
        Inbox { name, engine, state: Mutex::new(state), ready: Condvar::new() }
    }

    /// Leaves out the batches before a ticket, which no process makes. Returns the first that is left. The run has not begun.
    pub fn begin_at(&self, ticket: Ticket) -> Ticket {
        let mut state = self.lock();
        state.order = Order::new(state.order.expected().from(ticket));
        state.order.next()
    }

    /// Puts pieces in, and wakes the stage if it waits for one of them.
    pub fn add(&self, pieces: impl Iterator<Item = Piece>) {
        let mut state = self.lock();
        if state.stopped {
            return;
        }
        let is_ready = pieces.fold(false, |_, piece| state.order.add(piece));
        if is_ready && state.waits {
            self.ready.notify_one();
        }
    }

    /// No piece comes any more.
    pub fn end(&self) {
        let mut state = self.lock();
        if !state.ended {
            state.ended = true;
            self.ready.notify_one();
        }
    }

    /// Ends the waiting of the stage, early.
    pub fn stop(&self) {
        self.lock().stopped = true;
        self.ready.notify_one();
    }

    /// Takes the next batch, as soon as it is whole.
    pub fn take(&self) -> Result<Whole, NoBatch> {
        let mut state = self.lock();
        // When this call saw that no piece comes any more.
        let mut ended: Option<Instant> = None;
        loop {
            if state.stopped || self.engine.is_over() {
                return Err(NoBatch::Stopped);
            }
            if let Some(whole) = state.order.pop() {
                return Ok(whole);
            }
            if state.order.is_complete() {
                return Err(NoBatch::Complete);
            }
            if state.ended {
                let Some(missing) = state.order.missing() else { return Err(NoBatch::Complete) };
                if ended.get_or_insert_with(Instant::now).elapsed() > GRACE {
                    return Err(NoBatch::Missing(missing));
                }
            }
            state.waits = true;
            state = self.ready.wait_timeout(state, engine::LOOK).unwrap_or_else(PoisonError::into_inner).0;
            state.waits = false;
        }
    }

    /// Whether all batches were taken.
    pub fn is_complete(&self) -> bool {
        self.lock().order.is_complete()
    }

    /// The batch that the stage waits for, if it does.
    pub fn wants(&self) -> Option<(&'static str, Ticket)> {
        let state = self.lock();
        (state.waits && !state.stopped).then(|| (self.name, state.order.next()))
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
