//! Who a worker tells of what an activation has changed, where the policy is told: the protocol is in
//! `ready`.

use crate::net::NodeCell;
use crate::node::Cx;
use crate::process::{channel, sends};
use crate::sync::Ordering;
use crate::worker::Worker;
use thalweg_graph::{ChannelId, Kind, NodeId};
use thalweg_policy::{Event, Policy};

impl<P: Policy> Worker<'_, P> {
    /// Counts what a process has sent on a channel, by where the other end was last.
    #[inline]
    fn count_sent(&self, channel: ChannelId, to: NodeId) {
        let net = self.host.net;
        let last = net.nodes[to.index()].state.last_worker();
        net.meter(channel).count(last.is_some_and(|last| last != self.host.worker));
    }

    /// Tells the policy of what has become claimable by an activation: see `ready`.
    #[inline(always)]
    pub(crate) fn tell(&mut self, cx: &Cx<'_>, cell: &NodeCell<'_>, event: Event) {
        let net = self.host.net;
        cell.state.tokens.drop_one(net.ready.is_alone());
        net.ready.fence();
        if !matches!(event, Event::Empty(_) | Event::Full(_)) || cell.kind != Kind::Process || cx.touched_all
        {
            return self.tell_otherwise(cx, cell, event);
        }
        self.tell_turn(cx);
    }

    /// Tells of what a process's turn has changed before it came to wait.
    #[inline]
    pub(crate) fn tell_turn(&mut self, cx: &Cx<'_>) {
        let (net, touched) = (self.host.net, cx.turn.touched());
        for at in 0..touched.len() {
            self.tell_across(touched.get(at));
        }
        // What it waits for has not come since it looked, where nobody else could bring it.
        if !net.ready.is_alone() && !cx.state().still_waits(net, cx.turn.pending()) {
            self.tell_of(cx.node);
        }
    }

    /// The same where it is no process that has come to wait.
    #[inline(never)]
    fn tell_otherwise(&mut self, cx: &Cx<'_>, cell: &NodeCell<'_>, event: Event) {
        self.relays = 0;
        match event {
            _ if cell.kind != Kind::Process || cx.touched_all || event == Event::Done => {
                self.tell_all(cx.node, cell);
            }
            // Who was refused has had no turn.
            Event::Refused => {}
            _ => (0..cx.turn.touched().len()).for_each(|at| self.tell_across(cx.turn.touched().get(at))),
        }
        self.tell_of(cx.node);
    }

    /// Whether this worker has run it last.
    #[inline]
    pub(crate) fn ran_last(&self, cell: &NodeCell<'_>) -> bool {
        cell.state.last.load(Ordering::Relaxed) == self.host.worker as u32
    }

    /// The policy gets a token, after the one that was to be handed on.
    #[inline(never)]
    fn give(&mut self, node: NodeId) {
        self.relays = 0;
        if let Some(before) = self.baton.take() {
            self.policy.ready(&mut self.local, before, &mut self.host);
        }
        self.policy.ready(&mut self.local, node, &mut self.host);
    }

    /// Tells of the node at the other end of an operation's channel.
    #[inline(always)]
    pub(crate) fn tell_across(&mut self, operation: u64) {
        let net = self.host.net;
        let (channel, peer) = (channel(operation), net.peer(operation));
        if self.habits.stamped && sends(operation) {
            self.count_sent(channel, peer);
        }
        let cell = &net.nodes[peer.index()];
        if !cell.is_plain {
            return self.tell_of(peer);
        }
        // What else a process waits for, somebody else tells of.
        if !cell.state.tokens.are_left()
            || !cell.state.is_met(net, peer, operation)
            || !cell.state.tokens.make(net.ready.is_alone())
        {
            return;
        }
        if self.relays > 0 && self.ran_last(cell) && self.baton.is_none() {
            self.baton = Some(peer);
        } else {
            self.give(peer);
        }
    }

    /// Tells of all neighbours.
    #[cold]
    fn tell_all(&mut self, node: NodeId, cell: &NodeCell<'_>) {
        let net = self.host.net;
        if cell.kind == Kind::Process && self.habits.stamped {
            net.outputs(node).iter().for_each(|channel| self.count_sent(*channel, net.ends(*channel).1));
        }
        net.peers(node).for_each(|peer| self.tell_of(peer));
    }

    /// Tells of a node, if it has become claimable.
    #[inline(never)]
    pub(crate) fn tell_of(&mut self, node: NodeId) {
        let net = self.host.net;
        if net.nodes[node.index()].dedicated.is_some() {
            net.ring_dedicated(node);
        } else if net.take_token(node)
            && (net.may_take(node, self.host.worker) || !net.pass_on(node, self.host.worker))
        {
            self.give(node);
        }
    }
}
