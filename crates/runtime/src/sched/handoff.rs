//! Direct handoffs: an activation that makes one process ready and comes to wait itself hands the worker on to that
//! process, without a queue or a policy between.
//!
//! Two processes that exchange messages, a ring with one token, a pipeline of short channels: each activation makes
//! the next process ready. A policy that keeps communicating processes together would take that process out of an
//! otherwise empty queue at once. So the policy says beforehand how many activations may follow without a decision
//! ([`Policy::handoffs`]), and learns afterwards how many did. The order of activations is the same
//! (`thalweg/tests/relays.rs`).
//!
//! # Protocol
//!
//! An activation *hands off* if its process ends it waiting and, of the processes that its turn has touched, exactly one
//! has become claimable and ran on this worker last. The token is acquired as any other: after the ending activation
//! has released its own, and after the fence ([`ready`](crate::sched::ready)). It is held by this worker, and the next
//! activation takes it over. If anything else becomes claimable as well, all of it goes to the policy, in the order
//! in which it would have been notified.
//!
//! **No wake-up is lost.** Every activation of a series releases its token, fences, and looks at the processes it has
//! touched and at its own node, as the protocols of `ready` and `sleep` require. Only what the worker does between
//! two decisions is left out: the look into the queues for sleepers to be woken, the drain of external events, the
//! clock. A thread that puts something there looks for sleepers itself; to it a series is one long activation.
//!
//! **No node starves.** A series has at most [`SAMPLE`] activations, and fewer where the policy's next fair decision is due
//! earlier. It ends before the next activation that is sampled or stamped; where all are stamped, when the clock is
//! due; and at once when the run stops.
//!
//! # One worker alone
//!
//! Where one worker is the only thread of a run no fence is needed, and nothing changes while a process is polled. So a
//! channel between processes knows whether its other end waits (`channel::Waits`), and an operation whose other end does
//! not wait notifies nothing.

use crate::channel::operation::sends;
use crate::measure::clock::{SAMPLE, Ticks, ticks};
use crate::net::{Cx, NodeCell};
use crate::sched::worker::{UNSTAMPED, Worker};
use thalweg_graph::NodeId;
use thalweg_policy::{Event, Policy};

const _: () = assert!(SAMPLE == UNSTAMPED && SAMPLE > CLOSELY);

/// The number, within [`SAMPLE`] activations, of the one that is sampled.
pub(crate) const CLOSELY: u32 = 2;

/// Activations between this one and the next that no series may contain.
#[inline]
fn plain_after(count: u32) -> u32 {
    let at = count % SAMPLE;
    if at < CLOSELY { CLOSELY - 1 - at } else { SAMPLE - 1 - at }
}

impl<'a, P: Policy> Worker<'a, P> {
    /// How many activations may follow the latest by handoff.
    #[inline]
    pub(crate) fn handoffs_allowed(&mut self) -> u32 {
        self.policy.handoffs(&mut self.local, 0).min(plain_after(self.count))
    }

    /// Activates the process whose token was handed off, and those that follow it in the series.
    #[inline(never)]
    pub(crate) fn run_handoffs(
        &mut self,
        cx: &mut Cx<'a>,
        first: NodeId,
        mut now: Ticks,
    ) -> (Option<(NodeId, Event)>, Ticks) {
        let (net, due, stamped) = (self.host.net, self.due(), self.habits.stamped);
        let signals = &*net.signals;
        let (most, mut left, mut node, mut cell) =
            (self.handoffs_left, self.handoffs_left, first, &net.cells.nodes[first.index()]);
        let last = loop {
            left -= 1;
            self.count = self.count.wrapping_add(1);
            let Some(body) = &cell.body else { break None };
            cx.begin(node, &cell.state, self.batch(cell, node), cell.state.take_alert());
            self.running = Some(node);
            let event = body.activate(cx);
            self.running = None;
            let mut spent = 0;
            if stamped {
                let after = ticks();
                (spent, now) = (after.saturating_sub(now), after);
                self.account.busy += spent;
            }
            self.handoffs_left = left;
            match self.hand_on(cx, cell, event, spent) {
                Some(next) if left > 0 && now < due && !signals.stopped() => (node, cell) = next,
                Some((next, _)) => {
                    self.policy.ready(&mut self.local, next, &mut self.host);
                    break Some((node, event));
                }
                None => break Some((node, event)),
            }
        };
        self.account.activations += u64::from(most - left);
        self.policy.handoffs(&mut self.local, most - left);
        (last, now)
    }

    /// Ends an activation of a series: as [`Worker::settle`], and faster where it hands off.
    #[inline(always)]
    fn hand_on(
        &mut self,
        cx: &Cx<'a>,
        cell: &'a NodeCell<'a>,
        event: Event,
        spent: Ticks,
    ) -> Option<(NodeId, &'a NodeCell<'a>)> {
        let ready = &self.host.net.sched.ready;
        if cx.touched_all || !matches!(event, Event::Empty(_) | Event::Full(_)) {
            self.settle_in_run(cx, cell, event, spent);
            return None;
        }
        self.note_firings(cx, cell, spent, true);
        cell.state.tokens.release_unique();
        let next = match cx.turn.touched().only() {
            Some(operation) if ready.is_alone() => self.take_across(operation),
            _ => self.take_any(cx),
        };
        if matches!(event, Event::Full(_)) {
            self.suspect(cx.node, cell);
        }
        next
    }

    /// The process at the other end of an operation's channel, if it has become claimable and may be handed off to.
    /// Where one worker is alone.
    #[inline(always)]
    fn take_across(&mut self, operation: u64) -> Option<(NodeId, &'a NodeCell<'a>)> {
        let net = self.host.net;
        let peer = net.peer(operation);
        let cell = &net.cells.nodes[peer.index()];
        if !(cell.is_free_process || cell.pinned) || !self.ran_last(cell) {
            self.handoffs_left = 0;
            self.notify_across(operation);
            return None;
        }
        // A process that waits for a message now did so before this one was sent: no other thread ran meanwhile.
        let is_met = || {
            (sends(operation) && cell.state.waits_for(operation)) || cell.state.is_met(net, peer, operation)
        };
        if !cell.state.tokens.is_empty() || !is_met() {
            return None;
        }
        cell.state.tokens.acquire_unique();
        Some((peer, cell))
    }

    /// A process that has become claimable, if it is the only one: of several touched, or beside other workers.
    #[inline(never)]
    fn take_any(&mut self, cx: &Cx<'a>) -> Option<(NodeId, &'a NodeCell<'a>)> {
        self.host.net.sched.ready.fence();
        self.notify_turn(cx);
        self.handoff.take().map(|node| (node, &self.host.net.cells.nodes[node.index()]))
    }

    /// Ends the last activation of a series.
    #[cold]
    #[inline(never)]
    fn settle_in_run(&mut self, cx: &Cx<'_>, cell: &NodeCell<'_>, event: Event, spent: Ticks) {
        // They are counted with the series.
        self.account.activations -= 1;
        self.account.busy -= spent;
        self.handoffs_left = 0;
        self.settle(cx, cell, event, spent);
    }
}
