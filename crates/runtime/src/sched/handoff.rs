//! Direct handoffs: an activation that makes one process ready and ends with a wait hands the worker over to that
//! process, without a queue or a decision of the policy between. (Other runtimes have a LIFO slot for this.)
//!
//! Two processes that exchange messages, a ring with one token, a pipeline of short channels: each activation makes
//! the next process ready. A policy that keeps communicating processes together would take that process out of an
//! otherwise empty queue at once. So the policy says beforehand how many activations may follow without a decision
//! ([`Policy::handoffs`]), and learns afterwards how many did. The order of activations is the same
//! (`thalweg/tests/handoffs.rs`).
//!
//! # Protocol
//!
//! An activation *hands off* if its process waits at the end of it and, of the processes that its turn has touched,
//! exactly one has become claimable and ran on this worker last. The token is acquired as any other: after the
//! activation has released its own, and after the fence ([`ready`](crate::sched::ready)). This worker holds it, and the
//! next activation uses it. If another node becomes claimable as well, all tokens go to the policy, in the order in
//! which it would have been notified.
//!
//! **No wake-up is lost.** Every activation of a series releases its token, fences, and checks the processes it has
//! touched and its own node, as the protocols of `ready` and `sleep` require. A series leaves out only what the worker
//! does between two decisions: waking sleepers for tokens left in the queues, draining external events, reading the
//! clock. A thread that queues a token or injects an event wakes a sleeper itself; to that thread a series is one long
//! activation.
//!
//! **No node starves.** A series ends before the next activation that is sampled (of which one in
//! [`SAMPLE`](crate::measure::sampler::SAMPLE) is); earlier, where the policy's next fair decision is due earlier; where
//! all activations are stamped, when the clock is due; and at once when the run stops.
//!
//! # Runs of one thread
//!
//! Where one worker is the only thread of a run no fence is needed, and no other thread changes a channel while a
//! process is polled. So a channel between processes notes whether its other end waits (`channel::WaitFlag`), and an
//! operation whose other end does not wait notifies no node.

use crate::channel::operation::sends;
use crate::measure::clock::{Ticks, ticks};
use crate::measure::waits;
use crate::net::{ActivationContext, NodeCell};
use crate::sched::worker::Worker;
use thalweg_graph::NodeId;
use thalweg_policy::{Event, Policy};

impl<'a, P: Policy> Worker<'a, P> {
    /// The number of activations that may follow the latest one by handoff. Called before the policy is notified of
    /// what that activation has made ready.
    #[inline]
    pub(crate) fn handoffs_allowed(&mut self) -> u32 {
        self.policy.handoffs(&mut self.local, 0).min(self.sampler.plain())
    }

    /// Activates the process that was handed off to, and those that follow it in the series. This worker holds the
    /// token of `first`. Returns the last activation with its event, and the latest time stamp.
    ///
    /// The account gets the series as a whole: `most - left` activations.
    #[inline(never)]
    pub(crate) fn run_handoffs(
        &mut self,
        cx: &mut ActivationContext<'a>,
        first: NodeId,
        mut now: Ticks,
    ) -> (Option<(NodeId, Event)>, Ticks) {
        let (net, due, stamped) = (self.host.net, self.due(), self.config.stamped);
        let signals = &*net.signals;
        let (most, mut left, mut node, mut cell) =
            (self.handoffs_left, self.handoffs_left, first, &net.cells.nodes[first.index()]);
        let last = loop {
            left -= 1;
            self.sampler.step_plain();
            let Some(body) = &cell.body else { break None };
            let is_counted = stamped && waits::is_counted(cell, now, self.sampler.is_frequent());
            let waited = is_counted.then(|| waits::ended(cell, now));
            let batch = self.watched(cell.kind, self.batch(cell, node));
            cx.begin(node, &cell.state, batch, cell.state.take_alert());
            self.running.begin(node, false); // a process
            let event = body.activate(cx);
            self.running.end();
            if let Some(waited) = waited.filter(|_| event != Event::Refused) {
                waits::count(net, node, waited);
            }
            let mut span = (0, 0);
            if stamped {
                let after = ticks();
                span = (now, after);
                self.account.busy += after.saturating_sub(now);
                now = after;
            }
            self.handoffs_left = left;
            match self.end_in_series(cx, cell, event, span) {
                Some(next) if left > 0 && now < due && !signals.stopped() => (node, cell) = next,
                // The series ends here, and the policy gets the token that was acquired for the next activation.
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

    /// Ends an activation of a series, in the order of steps of [`Worker::settle`]: statistics, token, fence,
    /// notifications, suspect. Returns the process that it hands off to, whose token this worker then holds.
    #[inline(always)]
    fn end_in_series(
        &mut self,
        cx: &mut ActivationContext<'a>,
        cell: &'a NodeCell<'a>,
        event: Event,
        span: (Ticks, Ticks),
    ) -> Option<(NodeId, &'a NodeCell<'a>)> {
        let ready = &self.host.net.sched.ready;
        if cx.touched_all || !matches!(event, Event::Empty(_) | Event::Full(_)) {
            self.settle_last(cx, cell, event, span);
            return None;
        }
        // Before the token is released: a process has one token, so until then this worker is the only writer.
        self.note_firings(cx, cell, event, span, true);
        cell.state.tokens.release_unique();
        let next = match cx.turn.touched().only() {
            Some(operation) if ready.is_alone() => self.acquire_across(operation),
            _ => self.acquire_any(cx),
        };
        if let Event::Full(channel) = event {
            self.suspect(cx.node, cell, channel);
        }
        next
    }

    /// Acquires the token of the process at the other end of an operation's channel, if that process is claimable and
    /// may be handed off to; notifies the policy of any other node. This worker is the only thread of the run, so
    /// neither a fence nor a compare-and-swap is needed.
    #[inline(always)]
    fn acquire_across(&mut self, operation: u64) -> Option<(NodeId, &'a NodeCell<'a>)> {
        let net = self.host.net;
        let peer = net.peer(operation);
        let cell = &net.cells.nodes[peer.index()];
        if !(cell.is_free_process || cell.pinned) || !self.ran_last(cell) {
            self.handoffs_left = 0;
            self.notify_across(operation);
            return None;
        }
        // A process that waits for a message on this channel began to wait before the message was sent, since no other
        // thread ran meanwhile. So the message suffices, and the counters need not be read.
        let is_satisfied = || {
            (sends(operation) && cell.state.waits_for(operation))
                || cell.state.satisfied_by(net, peer, operation)
        };
        if !cell.state.tokens.is_empty() || !is_satisfied() {
            return None;
        }
        cell.state.tokens.acquire_unique();
        Some((peer, cell))
    }

    /// Acquires tokens of all processes that the turn has touched, for any number of them and any number of threads.
    /// Returns one if exactly one process is claimable and may be handed off to; the others go to the policy.
    #[inline(never)]
    fn acquire_any(&mut self, cx: &ActivationContext<'a>) -> Option<(NodeId, &'a NodeCell<'a>)> {
        self.host.net.sched.ready.fence();
        self.notify_turn(cx);
        self.handoff.take().map(|node| (node, &self.host.net.cells.nodes[node.index()]))
    }

    /// Ends the last activation of a series with [`Worker::settle`]. That adds it to the account, as `run_handoffs`
    /// does for every activation of the series, so it is subtracted here.
    #[cold]
    #[inline(never)]
    fn settle_last(
        &mut self,
        cx: &mut ActivationContext<'_>,
        cell: &NodeCell<'_>,
        event: Event,
        span: (Ticks, Ticks),
    ) {
        self.account.activations -= 1;
        self.account.busy -= span.1.saturating_sub(span.0);
        self.handoffs_left = 0;
        self.settle(cx, cell, event, span);
    }
}
