//! Kahn processes: sequential code of its own state that receives and sends, one message at a time,
//! and waits where there is none or no room (Vrba et al., *Nornir*, sections 3 and 4).
//!
//! A process is a future, and a node like any other: its ends are the same channels that kernels
//! have, an activation polls it until it lacks something, and what it lacks it leaves in its wait
//! word, as they do. So every policy runs it, and blocking is a store.
//!
//! # Why the answer cannot depend on timing
//!
//! Kahn's condition is that a process cannot ask whether a channel is empty. Futures could be asked
//! just that, by polling one and turning to another. So a process has one operation at a time:
//!
//! - An operation that has returned `Pending` is the process's *pending* one, across polls, until
//!   it completes. Another that is started meanwhile fails the process.
//! - A pending operation that is dropped never completes: it fails the process at its next
//!   operation, or at its end.
//! - Ends work in their own process only.
//!
//! The failures are panics, and so name the process. Which of them happens first may depend on
//! timing; that one does is a property of the code.
//!
//! **Foreign futures** (timers, sockets) may be awaited: the process's waker, cloned, wakes it from
//! any thread. What it then does may depend on when that was: this is the door out of determinacy.
//! While a process waits for one, nothing is called a deadlock.

mod ends;
mod turn;

pub(crate) use ends::peer;
pub use ends::{Message, Recv, RecvRef, Rx, Send, Tx};
pub(crate) use turn::Turn;

use crate::claim::Claim;
use crate::node::{Body, By, Cx, Flow, IntoFlow, lacking};
use std::cell::Cell;
use std::pin::Pin;
use std::task::Poll;
use thalweg_policy::Event;

/// No operation is pending.
const NONE: u64 = u64::MAX;

/// Under the claim.
struct Core<F> {
    /// Gone once it has ended: with it go its ends, which ends the streams they are ends of.
    future: Option<F>,
    /// The operation that has returned `Pending` and not completed.
    pending: Cell<u64>,
    /// Polls so far.
    turns: u64,
}

/// A process. It stays where it was made: its future is pinned there.
pub(crate) struct Process<F> {
    core: Claim<Core<F>>,
}

impl<F, R> Process<F>
where
    F: Future<Output = R> + std::marker::Send,
    R: IntoFlow,
{
    pub(crate) fn new(future: F) -> Self {
        Process { core: Claim::new(Core { future: Some(future), pending: Cell::new(NONE), turns: 0 }) }
    }

    fn poll(&self, core: &mut Core<F>, cx: &mut Cx<'_>) -> Event {
        let Core { future, pending, turns } = core;
        let drained = cx.net.draining() && cx.net.inputs(cx.node).is_empty();
        // In a graph with cycles it is for `cancel_useless` to say: it knows whom nobody ever heard.
        let useless = cx.state().is_cancelled() || (!cx.net.has_cycles && cx.net.unheard(cx.node));
        let Some(running) = future.as_mut().filter(|_| !drained && !useless) else {
            return self.end(core, cx);
        };
        cx.lap(crate::clock::Part::Application);
        *turns += 1;
        let (touched, dropped) = (std::mem::take(&mut cx.touched), ends::dropped());
        let turn = Turn::new(cx.net, cx.node, cx.budget, *turns, pending, touched);
        // SAFETY: the future is never moved: it lies in the node's box, which `Process` is made
        // in, and is dropped in place.
        let poll = turn.poll(unsafe { Pin::new_unchecked(running) });
        cx.fired += turn.operations();
        let (lack, yielded, cloned) = (turn.lack(), turn.yielded(), turn.was_cloned());
        if poll.is_ready() {
            turn.assert_nothing_pending();
        }
        cx.touched = turn.into_touched();
        cx.touched_all = ends::dropped() != dropped;
        cx.lap(crate::clock::Part::Queue);
        match poll {
            Poll::Ready(flow) => {
                if let Flow::Fail(error) = flow.into_flow() {
                    cx.net.fail_node(cx.node, error);
                }
                self.end(core, cx)
            }
            Poll::Pending => {
                let event = match lack {
                    Some(lack) => lacking(cx, lack),
                    None if yielded => {
                        cx.state().wait.ready();
                        Event::Budget
                    }
                    None => {
                        assert!(cloned, "it awaits something that will never wake it");
                        cx.state().wait.foreign();
                        Event::Waiting
                    }
                };
                // Who tells does so when the claim is back.
                if !matches!(cx.by, By::Teller(_)) {
                    cx.changed();
                }
                event
            }
        }
    }

    /// Drops the future, and so its ends.
    fn end(&self, core: &mut Core<F>, cx: &mut Cx<'_>) -> Event {
        if core.future.take().is_some() {
            cx.net.ended(cx.node);
        }
        Event::Done
    }
}

impl<F, R> Body for Process<F>
where
    F: Future<Output = R> + std::marker::Send,
    R: IntoFlow,
{
    fn activate(&self, cx: &mut Cx<'_>) -> Event {
        if cx.net.stopped() {
            return Event::Done;
        }
        match self.core.try_claim() {
            Some(mut core) => self.poll(&mut core, cx),
            None => Event::Refused,
        }
    }

    fn is_held(&self) -> bool {
        self.core.is_held()
    }

    fn is_framed(&self) -> bool {
        true
    }
}
