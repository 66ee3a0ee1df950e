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
//! - Ends work in the polls of their own process only. They may be dropped anywhere (`drops`); what of
//!   them outlives the process ends with it.
//!
//! The failures are panics, and so name the process. Which of them happens first may depend on
//! timing; that one does is a property of the code.
//!
//! **Foreign futures** (timers, sockets) may be awaited: the process's waker, cloned, wakes it from
//! any thread. What it then does may depend on when that was: this is the door out of determinacy.
//! While a process waits for one, nothing that it could set going is called a deadlock.

mod drops;
mod ends;
mod owner;
mod turn;

pub(crate) use drops::{apart, drop_all, end_streams, ends as dropped, here};
pub use ends::{Message, Recv, RecvRef, Rx, Send, Tx};
pub(crate) use ends::{channel, sends};
pub(crate) use owner::{Owner, Owners};
pub(crate) use turn::Turn;

use crate::claim::Claim;
use crate::clock::Part;
use crate::node::{Body, By, Cx, Flow, Held, IntoFlow, NodeState};
use crate::port::Lack;
use std::pin::Pin;
use std::task::Poll;
use thalweg_policy::Event;
use turn::Rest;

/// No operation is pending.
const NONE: u64 = u64::MAX;

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
pub(crate) struct Process<F> {
    core: Claim<Core<F>>,
}

impl<F, R> Process<F>
where
    F: Future<Output = R> + std::marker::Send,
    R: IntoFlow,
{
    pub(crate) fn new(future: F) -> Self {
        Process { core: Claim::new(Core { future: Some(future), pending: NONE, turns: 0 }) }
    }

    #[inline]
    fn poll(&self, core: &mut Core<F>, cx: &mut Cx<'_>) -> Event {
        if is_useless(cx) {
            return self.end(core, cx, false);
        }
        let Some(running) = core.future.as_mut() else { return self.end(core, cx, false) };
        cx.lap(Part::Application);
        core.turns += 1;
        let owner = cx.turn.begin(cx.node, core.turns, cx.budget, core.pending);
        let polling = drops::Polling::begin(owner);
        // SAFETY: the future is never moved: it lies in the node's box, which `Process` is made
        // in, and is dropped in place.
        let poll = cx.turn.poll(unsafe { Pin::new_unchecked(running) });
        std::mem::drop(polling);
        core.pending = cx.turn.pending();
        cx.fired += cx.budget - cx.turn.left();
        cx.lap(Part::Queue);
        if let Some(operation) = drops::take_release() {
            // It may have been received in an earlier turn.
            cx.turn.touch(operation);
        }
        cx.touched_all = cx.ends_dropped();
        match poll {
            Poll::Pending => {
                if cx.touched_all {
                    ends_were_dropped(cx);
                }
                self.rest(core, cx)
            }
            Poll::Ready(flow) => {
                cx.turn.assert_nothing_pending();
                match flow.into_flow() {
                    Flow::Fail(error) => {
                        cx.net.fail_node(cx.node, error);
                        drops::end_streams(owner, true);
                        self.end(core, cx, true)
                    }
                    Flow::More | Flow::End => {
                        ends_were_dropped(cx);
                        self.end(core, cx, false)
                    }
                }
            }
        }
    }

    /// Leaves word of what the process waits for.
    #[inline]
    fn rest(&self, core: &Core<F>, cx: &mut Cx<'_>) -> Event {
        let (rest, until) = cx.turn.rest();
        let channel = ends::channel(core.pending);
        let wait = &cx.state().wait;
        let event = match rest {
            Rest::Items => {
                wait.lack(Lack::Items { channel, until });
                Event::Empty(channel)
            }
            Rest::Room => {
                wait.lack(Lack::Room { channel, until });
                Event::Full(channel)
            }
            Rest::Bytes => {
                wait.lack(Lack::Bytes { channel });
                Event::Full(channel)
            }
            Rest::Yielded => {
                wait.ready();
                Event::Budget
            }
            Rest::Foreign => {
                assert!(cx.turn.was_cloned(), "it awaits something that will never wake it");
                wait.foreign();
                Event::Waiting
            }
        };
        // Who tells does so when the claim is back.
        if !matches!(cx.by, By::Teller(_)) {
            cx.changed();
        }
        event
    }

    /// Drops the future, and so its ends.
    #[cold]
    fn end(&self, core: &mut Core<F>, cx: &mut Cx<'_>, failed: bool) -> Event {
        if core.future.is_some() {
            // In place, as it is pinned.
            drops::drop_all(cx.net.owners.of(cx.node), failed, || core.future = None);
            // They are not another's.
            cx.ends_dropped();
            if !failed {
                cx.net.end_ends(cx.node);
            }
            cx.net.ended(cx.node);
        }
        Event::Done
    }

    /// Drops the future when the run is over; false while another has the claim.
    pub(crate) fn abandon(&self) -> bool {
        let claimed = self.core.try_claim();
        claimed.map(|mut core| core.future = None).is_some()
    }
}

impl<F, R> Body for Process<F>
where
    F: Future<Output = R> + std::marker::Send,
    R: IntoFlow,
{
    fn activate(&self, cx: &mut Cx<'_>) -> Event {
        let claimed = match cx.net.ready.is_alone() {
            // SAFETY: one worker, and no thread besides that activates nodes.
            true => unsafe { self.core.try_claim_alone() },
            false => self.core.try_claim(),
        };
        match claimed {
            Some(mut core) => self.poll(&mut core, cx),
            None => Event::Refused,
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

/// A poll has dropped ends.
#[cold]
fn ends_were_dropped(cx: &Cx<'_>) {
    drops::end_streams(cx.net.owners.of(cx.node), false);
    cx.net.ends_were_dropped(cx.node);
}

/// Nothing it could still do would reach anybody, or it was asked to stop.
#[inline]
fn is_useless(cx: &Cx<'_>) -> bool {
    (cx.alerted && is_unheard(cx)) || (cx.net.draining() && cx.net.inputs(cx.node).is_empty())
}

/// Who is cancelled is alerted afterwards.
#[cold]
fn is_unheard(cx: &Cx<'_>) -> bool {
    // In a graph with cycles it is for `useful` to say: it knows whom nobody ever heard.
    cx.state().is_cancelled() || (!cx.net.has_cycles && cx.net.unheard(cx.node))
}
