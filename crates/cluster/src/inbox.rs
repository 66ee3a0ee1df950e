//! The pieces that have arrived for a stage of this process, which takes whole batches in order.

use std::future::{Future, poll_fn};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use crate::group::{Group, MAX_GROUP};
use crate::order::{Expected, Order, Whole};
use crate::piece::Piece;
use crate::ticket::Ticket;

/// How long a stage waits for the news that the run ends early when no piece comes any more and a batch is missing: processes
/// that have heard that the sink needs no more end their stages, and the news may reach this one later than their end.
const GRACE: Duration = Duration::from_secs(5);

/// Pieces go in as they arrive, by the thread of the dataflow; a node of the graph takes batches, and waits for them without
/// a thread.
///
/// No wake-up is lost: the node leaves its waker under the lock under which it has found nothing, and what may end its wait
/// ([`add`](Inbox::add), [`end`](Inbox::end), [`stop`](Inbox::stop)) changes the state and takes the waker under the lock.
pub(crate) struct Inbox {
    /// The stage that takes, for messages.
    name: &'static str,
    state: Mutex<State>,
}

struct State {
    order: Order,
    /// No piece comes any more.
    ended: bool,
    /// The run ends early.
    stopped: bool,
    /// Of the node that waits for the next batch.
    waker: Option<Waker>,
    /// Since when it waits although no piece comes any more.
    misses: Option<Instant>,
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
    pub fn new(name: &'static str, expected: Expected) -> Inbox {
        let order = Order::new(expected);
        let state = State { order, ended: false, stopped: false, waker: None, misses: None };
        Inbox { name, state: Mutex::new(state) }
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
        pieces.for_each(|piece| state.order.add(piece));
        if state.waker.is_some() && state.order.is_ready() {
            wake(state);
        }
    }

    /// No piece comes any more.
    pub fn end(&self) {
        let mut state = self.lock();
        if !state.ended {
            state.ended = true;
            wake(state);
        }
    }

    /// Ends the waiting of the stage, early.
    pub fn stop(&self) {
        let mut state = self.lock();
        state.stopped = true;
        wake(state);
    }

    /// Wakes a stage that has waited in vain for long. Called now and then.
    pub fn look(&self) {
        let state = self.lock();
        if state.misses.is_some_and(|since| since.elapsed() > GRACE) {
            wake(state);
        }
    }

    /// Takes batches that are whole, at most this number and [`MAX_GROUP`], and waits for the first.
    pub fn batches(&self, most: usize) -> impl Future<Output = Result<Group<Whole>, NoBatch>> {
        poll_fn(move |cx| self.poll(cx, most.min(MAX_GROUP)))
    }

    fn poll(&self, cx: &Context<'_>, most: usize) -> Poll<Result<Group<Whole>, NoBatch>> {
        let mut state = self.lock();
        state.waker = None;
        let misses = state.misses.take();
        if state.stopped {
            return Poll::Ready(Err(NoBatch::Stopped));
        }
        let mut group = Group::new();
        while group.len() < most
            && let Some(whole) = state.order.pop()
        {
            group.push(whole);
        }
        if !group.is_empty() {
            return Poll::Ready(Ok(group));
        }
        if state.order.is_complete() {
            return Poll::Ready(Err(NoBatch::Complete));
        }
        if state.ended {
            let Some(missing) = state.order.missing() else { return Poll::Ready(Err(NoBatch::Complete)) };
            let since = misses.unwrap_or_else(Instant::now);
            if since.elapsed() > GRACE {
                return Poll::Ready(Err(NoBatch::Missing(missing)));
            }
            state.misses = Some(since);
        }
        state.waker = Some(cx.waker().clone());
        Poll::Pending
    }

    /// Whether all batches were taken.
    pub fn is_complete(&self) -> bool {
        self.lock().order.is_complete()
    }

    /// The batch that the stage waits for, if it does.
    pub fn wants(&self) -> Option<(&'static str, Ticket)> {
        let state = self.lock();
        (state.waker.is_some() && !state.stopped).then(|| (self.name, state.order.next()))
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Wakes the node if it waits, after the lock.
fn wake(mut state: MutexGuard<'_, State>) {
    let waker = state.waker.take();
    drop(state);
    if let Some(waker) = waker {
        waker.wake();
    }
}
