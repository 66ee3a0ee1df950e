//! The end of an activation, where the policy is notified: the worker releases the activation's token and reports the
//! nodes that the activation has left claimable.
//!
//! # Order of steps
//!
//! 1. The body has written the node's wait word and released its claim.
//! 2. The worker releases the token (`Tokens::release`).
//! 3. It fences. The fence has two partners: that of a thread that changes what this node waits for, which then reads
//!    the token count ([`ready`](crate::sched::ready)); and that of a worker that announces sleep, which then reads the
//!    queues ([`sleep`](crate::sched::sleep)).
//! 4. For each neighbour that the activation may have made claimable, it acquires a token and passes it to the policy.
//! 5. It does the same for the node itself, after the neighbours: the order that [`thalweg_policy`] promises.
//!
//! Step 2 must precede step 5, or the node's own token would suppress its notification. The fence must lie between
//! steps 2 and 5, since otherwise this worker may read a counter from before a change whose author read the token as in
//! use. Where one worker is the only thread of the run, no other thread changes anything, and the fence is left out.
//!
//! # Which neighbours
//!
//! | the activation | neighbours examined | the node itself examined |
//! |---|---|---|
//! | of a process that waits for items or room, and has dropped no end | those of its turn's operations | only if the condition it waits for may be true |
//! | of a process that yields, or awaits a foreign future | those of its turn's operations | yes |
//! | of a process whose poll has dropped ends (`touched_all`), or has ended | all | yes |
//! | of a process, refused | none: it has had no turn | yes |
//! | of a kernel | all | yes |
//!
//! A neighbour that is not examined has not been affected: a process changes channels by its operations and its drops
//! only.

use crate::channel::operation::{channel, sends};
use crate::net::{ActivationContext, NodeCell};
use crate::sched::make_ready::{acquire_token, deliver_pinned, make_ready};
use crate::sched::worker::Worker;
use crate::sync::Ordering;
use thalweg_graph::{ChannelId, Kind, NodeId};
use thalweg_policy::{Event, Policy};

impl<P: Policy> Worker<'_, P> {
    /// Counts a message on a channel as remote if another worker ran the consumer last, and as local otherwise, where no log
    /// says more. A statistic of the report.
    #[inline]
    fn count_sent(&self, channel: ChannelId, to: NodeId) {
        let net = self.host.net;
        if self.host.carries {
            return; // the worker that runs the consumer counts, by the log
        }
        let last = net.cells.nodes[to.index()].state.last_worker();
        net.meter(channel).count(last.is_some_and(|last| last != self.host.worker));
    }

    /// Releases the activation's token, and notifies the policy of the nodes that the activation has left claimable.
    /// The caller has written the node's statistics, which it may do only while it has the token.
    #[inline(always)]
    pub(crate) fn notify(&mut self, cx: &ActivationContext<'_>, cell: &NodeCell<'_>, event: Event) {
        let net = self.host.net;
        cell.state.tokens.release(net.sched.ready.is_alone());
        net.sched.ready.fence();
        if !matches!(event, Event::Empty(_) | Event::Full(_)) || cell.kind != Kind::Process || cx.touched_all
        {
            return self.notify_otherwise(cx, cell, event);
        }
        self.notify_turn(cx);
    }

    /// Notifies the policy after a turn that has ended with a wait for items or room. The caller has released the token
    /// and fenced.
    #[inline]
    pub(crate) fn notify_turn(&mut self, cx: &ActivationContext<'_>) {
        let (net, touched) = (self.host.net, cx.turn.touched());
        for at in 0..touched.len() {
            self.notify_across(touched.get(at));
        }
        // Another thread may have met the condition after the process checked it and before the token was released.
        // That thread found no free token, so this one must notify. In a run of one thread there is no such change.
        if !net.sched.ready.is_alone() && !cx.state().still_waits(net, cx.turn.pending()) {
            self.notify_of(cx.node);
        }
    }

    /// Notifies the policy after any other activation; none of these hands off. The caller has released the token and
    /// fenced.
    #[inline(never)]
    fn notify_otherwise(&mut self, cx: &ActivationContext<'_>, cell: &NodeCell<'_>, event: Event) {
        self.handoffs_left = 0;
        match event {
            _ if cell.kind != Kind::Process || cx.touched_all || event == Event::Done => {
                self.notify_all(cx.node, cell);
            }
            // A refused activation has had no turn: the touched operations are those of another activation.
            Event::Refused => {}
            _ => (0..cx.turn.touched().len()).for_each(|at| self.notify_across(cx.turn.touched().get(at))),
        }
        self.notify_of(cx.node);
    }

    /// Whether this worker activated the node last.
    #[inline]
    pub(crate) fn ran_last(&self, cell: &NodeCell<'_>) -> bool {
        cell.state.last.load(Ordering::Relaxed) == self.host.worker as u32
    }

    /// Passes an acquired token to the policy. A token kept for a handoff goes first, since the policy must get tokens
    /// in the order in which they were acquired; no handoff follows, because the policy now has a choice.
    #[inline(never)]
    fn report(&mut self, node: NodeId) {
        self.handoffs_left = 0;
        if let Some(before) = self.handoff.take() {
            self.policy.ready(&mut self.local, before, &mut self.host);
        }
        self.policy.ready(&mut self.local, node, &mut self.host);
    }

    /// Notifies the policy of the node at the other end of an operation's channel, if that node is claimable. A process
    /// that may be handed off to is kept in `handoff` instead, if it is the first.
    #[inline(always)]
    pub(crate) fn notify_across(&mut self, operation: u64) {
        let net = self.host.net;
        let (channel, peer) = (channel(operation), net.peer(operation));
        if self.config.stamped && sends(operation) {
            self.count_sent(channel, peer);
        }
        let cell = &net.cells.nodes[peer.index()];
        if !cell.is_free_process {
            return self.notify_of(peer);
        }
        // This operation matters only to a process that waits for it: if the process waits for something else, the
        // thread that brings that notifies the policy.
        if !cell.state.tokens.has_capacity()
            || !cell.state.satisfied_by(net, peer, operation)
            || !cell.state.tokens.acquire(net.sched.ready.is_alone())
        {
            return;
        }
        if self.handoffs_left > 0 && self.ran_last(cell) && self.handoff.is_none() {
            self.handoff = Some(peer);
        } else {
            self.report(peer);
        }
    }

    /// Notifies the policy of all neighbours that are claimable.
    #[cold]
    fn notify_all(&mut self, node: NodeId, cell: &NodeCell<'_>) {
        let net = self.host.net;
        if cell.kind == Kind::Process && self.config.stamped {
            net.outputs(node).iter().for_each(|channel| self.count_sent(*channel, net.ends(*channel).1));
        }
        net.peers(node).for_each(|peer| self.notify_of(peer));
    }

    /// Notifies the policy of a node, if the node is claimable and has a free token. A dedicated node's thread is woken
    /// instead, and the token of a node that is pinned to another worker goes to that worker.
    #[inline(never)]
    pub(crate) fn notify_of(&mut self, node: NodeId) {
        let net = self.host.net;
        if net.node(node).dedicated.is_some() {
            make_ready(net, node);
        // `deliver_pinned` returns false if the node is not pinned; then the token is this worker's.
        } else if acquire_token(net, node)
            && (net.may_run(node, self.host.worker) || !deliver_pinned(net, node, Some(self.host.worker)))
        {
            self.report(node);
        }
    }
}
