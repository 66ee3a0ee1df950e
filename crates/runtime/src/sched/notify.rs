//! What a worker reports to its policy after an activation, where the policy is notified: the nodes that have become
//! claimable by it. The protocol of tokens is in [`ready`](crate::sched::ready).

use crate::channel::operation::{channel, sends};
use crate::net::{Cx, NodeCell};
use crate::sched::make_ready::{acquire_token, deliver_pinned, make_ready};
use crate::sched::worker::Worker;
use crate::sync::Ordering;
use thalweg_graph::{ChannelId, Kind, NodeId};
use thalweg_policy::{Event, Policy};

impl<P: Policy> Worker<'_, P> {
    /// Counts a message on a channel as local or remote, by the worker that ran the consumer last.
    #[inline]
    fn count_sent(&self, channel: ChannelId, to: NodeId) {
        let net = self.host.net;
        let last = net.cells.nodes[to.index()].state.last_worker();
        net.meter(channel).count(last.is_some_and(|last| last != self.host.worker));
    }

    /// Releases the activation's token, and notifies the policy of what has become claimable by the activation.
    #[inline(always)]
    pub(crate) fn notify(&mut self, cx: &Cx<'_>, cell: &NodeCell<'_>, event: Event) {
        let net = self.host.net;
        cell.state.tokens.release(net.sched.ready.is_alone());
        net.sched.ready.fence();
        if !matches!(event, Event::Empty(_) | Event::Full(_)) || cell.kind != Kind::Process || cx.touched_all
        {
            return self.notify_otherwise(cx, cell, event);
        }
        self.notify_turn(cx);
    }

    /// Notifies of what a process's turn has changed before the process came to wait.
    #[inline]
    pub(crate) fn notify_turn(&mut self, cx: &Cx<'_>) {
        let (net, touched) = (self.host.net, cx.turn.touched());
        for at in 0..touched.len() {
            self.notify_across(touched.get(at));
        }
        // Where another thread may have changed something since the process looked, look again.
        if !net.sched.ready.is_alone() && !cx.state().still_waits(net, cx.turn.pending()) {
            self.notify_of(cx.node);
        }
    }

    /// The same for all other activations.
    #[inline(never)]
    fn notify_otherwise(&mut self, cx: &Cx<'_>, cell: &NodeCell<'_>, event: Event) {
        self.handoffs_left = 0;
        match event {
            _ if cell.kind != Kind::Process || cx.touched_all || event == Event::Done => {
                self.notify_all(cx.node, cell);
            }
            // A refused activation has had no turn.
            Event::Refused => {}
            _ => (0..cx.turn.touched().len()).for_each(|at| self.notify_across(cx.turn.touched().get(at))),
        }
        self.notify_of(cx.node);
    }

    /// Whether this worker ran the node last.
    #[inline]
    pub(crate) fn ran_last(&self, cell: &NodeCell<'_>) -> bool {
        cell.state.last.load(Ordering::Relaxed) == self.host.worker as u32
    }

    /// Gives a token to the policy, after the one that was to be handed off.
    #[inline(never)]
    fn give(&mut self, node: NodeId) {
        self.handoffs_left = 0;
        if let Some(before) = self.handoff.take() {
            self.policy.ready(&mut self.local, before, &mut self.host);
        }
        self.policy.ready(&mut self.local, node, &mut self.host);
    }

    /// Notifies of the node at the other end of an operation's channel, if it has become claimable.
    #[inline(always)]
    pub(crate) fn notify_across(&mut self, operation: u64) {
        let net = self.host.net;
        let (channel, peer) = (channel(operation), net.peer(operation));
        if self.habits.stamped && sends(operation) {
            self.count_sent(channel, peer);
        }
        let cell = &net.cells.nodes[peer.index()];
        if !cell.is_free_process {
            return self.notify_of(peer);
        }
        // If the process waits for something else, the thread that brings that notifies of it.
        if !cell.state.tokens.has_capacity()
            || !cell.state.is_met(net, peer, operation)
            || !cell.state.tokens.acquire(net.sched.ready.is_alone())
        {
            return;
        }
        if self.handoffs_left > 0 && self.ran_last(cell) && self.handoff.is_none() {
            self.handoff = Some(peer);
        } else {
            self.give(peer);
        }
    }

    /// Notifies of all neighbours that have become claimable.
    #[cold]
    fn notify_all(&mut self, node: NodeId, cell: &NodeCell<'_>) {
        let net = self.host.net;
        if cell.kind == Kind::Process && self.habits.stamped {
            net.outputs(node).iter().for_each(|channel| self.count_sent(*channel, net.ends(*channel).1));
        }
        net.peers(node).for_each(|peer| self.notify_of(peer));
    }

    /// Notifies of a node, if it has become claimable.
    #[inline(never)]
    pub(crate) fn notify_of(&mut self, node: NodeId) {
        let net = self.host.net;
        if net.node(node).dedicated.is_some() {
            make_ready(net, node);
        } else if acquire_token(net, node)
            && (net.may_run(node, self.host.worker) || !deliver_pinned(net, node, Some(self.host.worker)))
        {
            self.give(node);
        }
    }
}
