//! Kahn processes: sequential code with state of its own that receives and sends, one message at a time,
//! and waits where there is no message or no room (Vrba et al., *Nornir*, sections 3 and 4).
//!
//! A process is a future, and a node like any other: its ends belong to the same channels that kernels use, an
//! activation polls it until it lacks something, and the process then writes what it lacks into its wait word, as a
//! kernel does. So every policy can run it, and to block is one store.
//!
//! # Why the answer cannot depend on timing
//!
//! Kahn's condition is that a process cannot test whether a channel is empty. A future could be tested, by polling it
//! and turning to another. So a process has one operation at a time:
//!
//! - An operation that has returned `Pending` is the process's *pending* one, across polls, until
//!   it completes. Another operation started meanwhile fails the process.
//! - A pending operation that is dropped never completes: it fails the process at its next
//!   operation, or at its end.
//! - Ends work in the polls of their own process only. They may be dropped anywhere ([`drops`]); ends that
//!   outlive the process end with it.
//!
//! The failures are panics, and so name the process. Which of them happens first may depend on
//! timing; that one does is a property of the code.
//!
//! **Foreign futures** (timers, sockets) may be awaited: the process's waker, cloned, wakes it from
//! any thread. What the process does then may depend on when that was; this is the only way out of determinacy.
//! While a process waits for such a future, no node that it could make claimable counts as part of a deadlock.

pub(crate) mod drops;
mod ends;
pub(crate) mod turn;

pub(crate) use drops::{Cause, apart, drop_all, end_streams, here};
pub use ends::{Message, Recv, RecvRef, Rx, Send, Tx};
pub(crate) use turn::Turn;

use crate::channel::Lack;
use crate::channel::operation::channel;
use crate::measure::clock::Part;
use crate::net::{Body, Cx, Held, NodeState};
use crate::node::Flow;
use crate::node::claim::Claim;
use crate::sched::ending::ended;
use crate::sched::injector::{self, end_ends};
use crate::sync::{Ordering, fence};
use std::pin::Pin;
use std::task::Poll;
use thalweg_graph::ChannelId;
use thalweg_policy::Event;
use turn::{NONE, Rest};

/// What a process's future resolves to.
pub(crate) trait Ending<S> {
    /// How the node ends; a value that the process returns goes into the slot.
    fn settle(self, slot: &S) -> Flow;
}

/// Under the claim.
struct Core<F> {
    /// Gone once it has ended: with it go its ends, which ends the streams they are ends of.
    future: Option<F>,
    /// The operation that has returned `Pending` and not completed.
    pending: u64,
    /// Polls so far.
    turns: u64,
}

/// A process. It stays where it was made: its future is pinned there.
pub(crate) struct Process<F, S = ()> {
    core: Claim<Core<F>>,
    /// Where its value goes, if it returns one.
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
    fn poll(&self, core: &mut Core<F>, cx: &mut Cx<'_>) -> Event {
        if cx.looks && must_end(cx) {
            let cancelled = cx.state().is_cancelled();
            return self.end(core, cx, if cancelled { Cause::Cancelled } else { Cause::Said });
        }
        let Some(running) = core.future.as_mut() else { return self.end(core, cx, Cause::Said) };
        cx.lap(Part::Application);
        core.turns += 1;
        let owner = cx.turn.begin(cx.node, core.turns, cx.budget, core.pending);
        let polling = drops::Polling::begin(owner);
        // SAFETY: the future is never moved: it lies in the node's box, which `Process` is made
        // in, and is dropped in place.
        let poll = cx.turn.poll(unsafe { Pin::new_unchecked(running) });
        std::mem::drop(polling);
        core.pending = cx.turn.pending();
        cx.fired = cx.budget - cx.turn.left();
        cx.lap(Part::Queue);
        if cx.any_drops() {
            look_at_drops(cx, poll.is_pending());
        }
        match poll {
            Poll::Pending => self.rest(core, cx),
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
                        self.end(core, cx, Cause::Said)
                    }
                }
            }
        }
    }

    /// Sets the wait word. The activating thread notifies others after it has released the claim.
    #[inline]
    fn rest(&self, core: &Core<F>, cx: &mut Cx<'_>) -> Event {
        let (rest, until) = cx.turn.rest();
        let channel = channel(core.pending);
        let wait = &cx.state().wait;
        if rest == Rest::Items {
            wait.lack(Lack::Items { channel, until });
            return Event::Empty(channel);
        }
        if rest == Rest::Room {
            wait.lack(Lack::Room { channel, until });
            return Event::Full(channel);
        }
        rest_otherwise(cx, rest, channel)
    }

    /// Drops the future, and so its ends.
    #[cold]
    fn end(&self, core: &mut Core<F>, cx: &mut Cx<'_>, cause: Cause) -> Event {
        if core.future.is_some() {
            // In place, as it is pinned.
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
    pub(crate) fn abandon(&self) -> bool {
        let claimed = self.core.try_claim();
        claimed.map(|mut core| core.future = None).is_some()
    }
}

impl<F, R, S> Body for Process<F, S>
where
    F: Future<Output = R> + std::marker::Send,
    R: Ending<S>,
    S: std::marker::Send + Sync,
{
    fn activate(&self, cx: &mut Cx<'_>) -> Event {
        match cx.net.sched.ready.is_alone() {
            // SAFETY: one worker, and no thread besides that activates nodes.
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

/// The rest of a process that waits for neither a message nor room for one.
#[cold]
#[inline(never)]
fn rest_otherwise(cx: &Cx<'_>, rest: Rest, channel: ChannelId) -> Event {
    let wait = &cx.state().wait;
    match rest {
        Rest::Bytes => {
            wait.lack(Lack::Bytes { channel });
            Event::Full(channel)
        }
        Rest::Foreign => {
            assert!(cx.turn.was_cloned(), "it awaits something that will never wake it");
            wait.foreign();
            Event::Waiting
        }
        Rest::Yielded | Rest::Items | Rest::Room => {
            wait.ready();
            Event::Budget
        }
    }
}

/// A poll has dropped ends, or messages that were lent out.
#[cold]
#[inline(never)]
fn look_at_drops(cx: &mut Cx<'_>, goes_on: bool) {
    if let Some(operation) = drops::take_release() {
        // It may have been received in an earlier turn.
        cx.turn.touch(operation);
    }
    cx.touched_all = cx.ends_dropped();
    if goes_on && cx.touched_all {
        ends_were_dropped(cx);
    }
}

/// A poll has dropped ends.
#[cold]
fn ends_were_dropped(cx: &Cx<'_>) {
    drops::end_streams(cx.net.owners.of(cx.node), Cause::Said);
    injector::ends_were_dropped(cx.net, cx.node);
}

/// Whether the process is to end early: nothing it sends can reach a live node, or the run drains.
#[cold]
#[inline(never)]
fn must_end(cx: &Cx<'_>) -> bool {
    (cx.alerted && is_unheard(cx)) || (cx.net.draining() && cx.net.inputs(cx.node).is_empty())
}

/// Whether no live node reads what the process sends. A cancelled node is alerted after its flag is set.
fn is_unheard(cx: &Cx<'_>) -> bool {
    // In a graph with loops `liveness::dead` decides: a loop reads its own outputs.
    cx.state().is_cancelled()
        || (!cx.net.topology.has_loops && cx.net.unheard(cx.node) && !cx.net.is_end(cx.node))
}
