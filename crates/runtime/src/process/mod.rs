//! Kahn processes: sequential code with state of its own that receives and sends, one message at a time,
//! and waits where there is no message or no room (Vrba et al., *Nornir*, sections 3 and 4).
//!
//! A process is a future, and a node like any other: its ends belong to the same channels that kernels use, an
//! activation polls it until an operation has to wait, and the process then writes the condition into its wait word, as a
//! kernel does. So every policy can run it, and blocking costs one store.
//!
//! # Why the result cannot depend on timing
//!
//! Kahn's condition is that a process cannot test whether a channel is empty. With futures it could: it could poll one
//! receive, find it pending, and poll another. So a process has one operation at a time:
//!
//! - An operation that has returned `Pending` is the process's *pending* one, across polls, until
//!   it completes. Another operation started meanwhile fails the process.
//! - A pending operation that is dropped never completes: it fails the process at its next
//!   operation, or at its end.
//! - Ends work in the polls of their own process only. They may be dropped anywhere ([`drops`]); ends that
//!   outlive the process end with it.
//!
//! The failures are panics, so the error names the process. Which of several happens first may depend on timing; whether
//! one happens does not.
//!
//! A process may await **foreign futures** (timers, sockets): a clone of its waker wakes it from any thread. Such
//! a future must register the waker of its *latest* poll, as `Future::poll` demands: a process is also polled when a
//! neighbour ends. A poll that registers none fails the process, since it might never be woken. What the
//! process does then may depend on timing; no other construct is indeterminate.
//! While a process waits for such a future, no node that it could make claimable counts as part of a deadlock.

pub(crate) mod drops;
mod ends;
pub(crate) mod turn;

#[cfg(feature = "coroutines")]
pub(crate) use drops::here;
pub(crate) use drops::{Cause, apart, drop_all, end_streams};
pub use ends::{Message, Recv, RecvRef, Rx, SendFuture, Tx};
#[cfg(feature = "coroutines")]
pub(crate) use turn::Turn;

use crate::channel::Lack;
use crate::channel::operation::channel;
use crate::measure::clock::Part;
use crate::net::{ActivationContext, Body, Held, NodeState};
use crate::node::Flow;
use crate::node::claim::Claim;
use crate::sched::ending::ended;
use crate::sched::injector::{self, end_ends};
use crate::sync::{Ordering, fence};
use std::pin::Pin;
use std::task::Poll;
use thalweg_graph::ChannelId;
use thalweg_policy::Event;
use turn::{NONE, Suspended};

/// The result of a process's future.
pub(crate) trait Ending<S> {
    /// The way in which the node ends. A value that the process returns is put into the slot.
    fn settle(self, slot: &S) -> Flow;
}

/// The state of a process, protected by the claim.
struct Core<F> {
    /// `None` once the process has ended. Dropping the future drops its ends, which ends their streams.
    future: Option<F>,
    /// The operation that has returned `Pending` and has not completed.
    pending: u64,
    /// The number of polls.
    turns: u64,
}

/// A process. Invariant: it is never moved, because its future is pinned in it.
pub(crate) struct Process<F, S = ()> {
    core: Claim<Core<F>>,
    /// The destination of its value, if it returns one.
    slot: S,
}

impl<F, R, S> Process<F, S>
where
    F: Future<Output = R> + std::marker::Send,
    R: Ending<S>,
{
    pub(crate) fn new(future: F, slot: S) -> Self {
        Process { core: Claim::new(Core { future: Some(future), pending: NONE, turns: 0 }), slot }
    }

    #[inline]
    fn poll(&self, core: &mut Core<F>, cx: &mut ActivationContext<'_>) -> Event {
        if cx.checks_end && must_end(cx) {
            let cancelled = cx.state().is_cancelled();
            return self.end(core, cx, if cancelled { Cause::Cancelled } else { Cause::Returned });
        }
        let Some(running) = core.future.as_mut() else { return self.end(core, cx, Cause::Returned) };
        cx.lap(Part::Application);
        core.turns += 1;
        let owner = cx.turn.begin(cx.node, core.turns, cx.budget, core.pending);
        let polling = drops::Polling::begin(owner);
        // SAFETY: the future is never moved: it lies in the node's box, in which the `Process` is made, and it is dropped in
        // place.
        let poll = cx.turn.poll(unsafe { Pin::new_unchecked(running) });
        std::mem::drop(polling);
        core.pending = cx.turn.pending();
        cx.fired = cx.budget - cx.turn.left();
        cx.lap(Part::Queue);
        if cx.any_drops() {
            handle_drops(cx, poll.is_pending());
        }
        match poll {
            Poll::Pending => self.suspend(core, cx),
            Poll::Ready(ending) => {
                cx.turn.assert_nothing_pending();
                match ending.settle(&self.slot) {
                    Flow::Fail(error) => {
                        cx.net.fail_node(cx.node, error);
                        drops::end_streams(owner, Cause::Failed);
                        self.end(core, cx, Cause::Failed)
                    }
                    Flow::More | Flow::End => {
                        ends_were_dropped(cx);
                        self.end(core, cx, Cause::Returned)
                    }
                }
            }
        }
    }

    /// Sets the wait word. The activating thread makes other nodes ready after it has released the claim.
    #[inline]
    fn suspend(&self, core: &Core<F>, cx: &mut ActivationContext<'_>) -> Event {
        let (suspended, until) = cx.turn.suspended();
        let channel = channel(core.pending);
        let wait = &cx.state().wait;
        if suspended == Suspended::Items {
            wait.lack(Lack::Items { channel, until });
            return Event::Empty(channel);
        }
        if suspended == Suspended::Room {
            wait.lack(Lack::Room { channel, until });
            return Event::Full(channel);
        }
        suspend_otherwise(cx, suspended, channel)
    }

    /// Drops the future, and its ends with it.
    #[cold]
    fn end(&self, core: &mut Core<F>, cx: &mut ActivationContext<'_>, cause: Cause) -> Event {
        if core.future.is_some() {
            // In place, because it is pinned.
            drops::drop_all(cx.net.owners.of(cx.node), cause, || core.future = None);
            // These drops belong to this process.
            cx.ends_dropped();
            if cause != Cause::Failed {
                // A thread that drops a message lent by this process then checks whether the process is done.
                cx.state().done.store(true, Ordering::Release);
                fence(Ordering::SeqCst); // pairs with the fence of `Signals::inject`
                end_ends(cx.net, cx.node);
            }
            ended(cx.net, cx.node);
        }
        Event::Done
    }

    /// Drops the future when the run is over; false while another thread has the claim.
    #[cfg(feature = "coroutines")]
    pub(crate) fn abandon(&self) -> bool {
        self.core.with(false, |core| {
            core.future = None;
            true
        })
    }
}

impl<F, R, S> Body for Process<F, S>
where
    F: Future<Output = R> + std::marker::Send,
    R: Ending<S>,
    S: std::marker::Send + Sync,
{
    fn activate(&self, cx: &mut ActivationContext<'_>) -> Event {
        match cx.net.sched.ready.is_alone() {
            // SAFETY: the run has one worker, and no other thread activates nodes.
            true => unsafe { self.core.with_alone(Event::Refused, |core| self.poll(core, cx)) },
            false => self.core.with(Event::Refused, |core| self.poll(core, cx)),
        }
    }

    fn is_held(&self) -> bool {
        self.core.is_held()
    }

    fn hold(&self, _state: &NodeState) -> Result<Box<dyn Held + '_>, bool> {
        self.core.try_claim().map_or(Err(false), |core| Ok(Box::new(core)))
    }

    fn is_framed(&self) -> bool {
        true
    }
}

/// Sets the wait word of a process that waits for neither a message nor a free slot.
#[cold]
#[inline(never)]
fn suspend_otherwise(cx: &ActivationContext<'_>, suspended: Suspended, channel: ChannelId) -> Event {
    let wait = &cx.state().wait;
    match suspended {
        Suspended::Bytes => {
            wait.lack(Lack::Bytes { channel });
            Event::Full(channel)
        }
        Suspended::Foreign => {
            assert!(cx.turn.was_cloned(), "the future returned `Pending` without registering its waker");
            wait.foreign();
            Event::Waiting
        }
        Suspended::Yielded | Suspended::Items | Suspended::Room => {
            wait.ready();
            Event::Budget
        }
    }
}

/// Handles the ends and lent messages that a poll has dropped.
#[cold]
#[inline(never)]
fn handle_drops(cx: &mut ActivationContext<'_>, goes_on: bool) {
    if let Some(operation) = drops::take_release() {
        // The message may have been received in an earlier turn.
        cx.turn.touch(operation);
    }
    cx.touched_all = cx.ends_dropped();
    if goes_on && cx.touched_all {
        ends_were_dropped(cx);
    }
}

/// Handles the ends that a poll has dropped.
#[cold]
fn ends_were_dropped(cx: &ActivationContext<'_>) {
    drops::end_streams(cx.net.owners.of(cx.node), Cause::Returned);
    injector::ends_were_dropped(cx.net, cx.node);
}

/// Whether the process must end early: no message that it sends can reach a live node, or the run drains.
#[cold]
#[inline(never)]
fn must_end(cx: &ActivationContext<'_>) -> bool {
    (cx.alerted && is_unheard(cx)) || (cx.net.draining() && cx.net.inputs(cx.node).is_empty())
}

/// Whether no live node reads what the process sends. A cancelled node is alerted after its flag is set.
fn is_unheard(cx: &ActivationContext<'_>) -> bool {
    // In a graph with loops `liveness::dead` decides: a loop reads its own outputs.
    cx.state().is_cancelled()
        || (!cx.net.topology.has_loops
            && cx.net.unheard(cx.node)
            && !cx.net.is_end(cx.node)
            && !has_ended_all(cx))
}

/// Whether the process has ended all its streams. Their consumers have left because of that, so it goes on for what else it
/// does, as a node without outputs does. Otherwise it would depend on timing how far it comes.
fn has_ended_all(cx: &ActivationContext<'_>) -> bool {
    cx.net.outputs(cx.node).iter().all(|channel| cx.net.meter(*channel).ended())
}
