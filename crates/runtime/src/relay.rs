//! Runs of activations that hand the worker on, each to the next, without a queue or a policy between.
//!
//! Two processes that send a message to and fro, a ring with one token, a pipeline of short channels:
//! an activation makes one process ready, which is run next, and comes to wait itself. A policy that
//! keeps together who talk to each other would take that process in an empty hand, and give it back
//! when it is asked. So it says beforehand how often it would ([`Policy::relays`]), and is told afterwards
//! how often it was taken at its word. The order is the same (`thalweg/tests/relays.rs`).
//!
//! # Protocol
//!
//! An activation *hands on* if it ends with its process waiting, and of all that its turn has touched
//! one process has become claimable, which this worker has run last. Its token is made as any other:
//! after the ending activation has given back its own, and after the fence (`ready`). It is in this worker's
//! hand, and the next activation takes it over: who finds the count at its most relies on somebody
//! awake, and a worker in a run of relays is. Where anything else becomes claimable as well, all of it
//! goes to the policy, in the order in which it would have been told of it.
//!
//! **No wake-up is lost.** Nothing of the protocols of `ready` and `sleep` is left out: every activation
//! of a run gives back its token, fences, and looks at whom it has touched and at its own node.
//! Between two of them the worker does not look at what it looks at between decisions: the queues for
//! sleepers to be woken, the list of processes woken from outside, the clock. Whoever puts something
//! there looks for sleepers himself; to him a run of relays is one long activation.
//!
//! **Nobody starves.** A run is of [`SAMPLE`] activations at most, and of fewer than there are
//! decisions left to the policy's next fair one, which comes after as many activations as without
//! relays. It ends before the next activation that is looked at closely or stamped; where all are stamped,
//! when the clock asks for something; and when the network's run is over, at once.
//!
//! # One worker and nobody else
//!
//! There no fence is needed, and nobody can do anything while a process is polled. So a channel between
//! processes can say whether its other end waits (`channel::Waits`): an operation whose other end
//! does not is nothing to tell of.

use crate::clock::{SAMPLE, Ticks, ticks};
use crate::net::NodeCell;
use crate::node::Cx;
use crate::process::sends;
use crate::worker::{UNSTAMPED, Worker};
use thalweg_graph::NodeId;
use thalweg_policy::{Event, Policy};

const _: () = assert!(SAMPLE == UNSTAMPED && SAMPLE > CLOSELY);

/// Of so many activations this is looked at closely.
pub(crate) const CLOSELY: u32 = 2;

/// Activations from the one of this number to the next that is not for a run of relays.
#[inline]
fn plain_after(count: u32) -> u32 {
    let at = count % SAMPLE;
    if at < CLOSELY { CLOSELY - 1 - at } else { SAMPLE - 1 - at }
}

impl<'a, P: Policy> Worker<'a, P> {
    /// How many activations may follow the latest by relay.
    #[inline]
    pub(crate) fn relays(&self) -> u32 {
        self.policy.relays(&self.local).min(plain_after(self.count))
    }

    /// Activates the process whose token was handed on, and those that it is handed on to.
    #[inline(never)]
    pub(crate) fn relay(
        &mut self,
        cx: &mut Cx<'a>,
        first: NodeId,
        mut now: Ticks,
    ) -> (Option<(NodeId, Event)>, Ticks) {
        let (net, due, stamped) = (self.host.net, self.due(), self.habits.stamped);
        let signals = &*net.signals;
        let (most, mut left, mut node, mut cell) =
            (self.relays, self.relays, first, &net.nodes[first.index()]);
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
            self.relays = left;
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
        self.policy.relayed(&mut self.local, most - left);
        (last, now)
    }

    /// What an activation in a run leaves to be done: as [`Worker::settle`], and faster where it hands on.
    #[inline(always)]
    fn hand_on(
        &mut self,
        cx: &Cx<'a>,
        cell: &'a NodeCell<'a>,
        event: Event,
        spent: Ticks,
    ) -> Option<(NodeId, &'a NodeCell<'a>)> {
        let ready = &self.host.net.ready;
        if cx.touched_all || !matches!(event, Event::Empty(_) | Event::Full(_)) {
            self.settle_in_run(cx, cell, event, spent);
            return None;
        }
        self.note_firings(cx, cell, spent, true);
        cell.state.tokens.drop_only();
        let next = match cx.turn.touched().only() {
            Some(operation) if ready.is_alone() => self.take_across(operation),
            _ => self.take_any(cx),
        };
        if matches!(event, Event::Full(_)) {
            self.suspect(cx.node, cell);
        }
        next
    }

    /// The process at the other end of an operation's channel, if it has become claimable and is one to be
    /// handed on to. Where one worker does everything.
    #[inline(always)]
    fn take_across(&mut self, operation: u64) -> Option<(NodeId, &'a NodeCell<'a>)> {
        let net = self.host.net;
        let peer = net.peer(operation);
        let cell = &net.nodes[peer.index()];
        if !(cell.is_plain || cell.stays) || !self.ran_last(cell) {
            self.relays = 0;
            self.tell_across(operation);
            return None;
        }
        // Who waits for a message now did so before this one was sent: nobody else ran meanwhile.
        let is_met = || {
            (sends(operation) && cell.state.waits_for(operation)) || cell.state.is_met(net, peer, operation)
        };
        if !cell.state.tokens.is_there_none() || !is_met() {
            return None;
        }
        cell.state.tokens.make_only();
        Some((peer, cell))
    }

    /// One that has become claimable, if it is the only one: of several, or with other workers about.
    #[inline(never)]
    fn take_any(&mut self, cx: &Cx<'a>) -> Option<(NodeId, &'a NodeCell<'a>)> {
        self.host.net.ready.fence();
        self.tell_turn(cx);
        self.baton.take().map(|node| (node, &self.host.net.nodes[node.index()]))
    }

    /// What is done after an activation that ends a run.
    #[cold]
    #[inline(never)]
    fn settle_in_run(&mut self, cx: &Cx<'_>, cell: &NodeCell<'_>, event: Event, spent: Ticks) {
        // They are counted with the run.
        self.account.activations -= 1;
        self.account.busy -= spent;
        self.relays = 0;
        self.settle(cx, cell, event, spent);
    }
}
