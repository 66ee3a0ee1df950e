//! How the results of a parallel kernel get into the channels.
//!
//! The holder of the retirement releases the inputs of completed tickets and publishes their outputs, on each port in
//! ticket order. A ticket that is published on all ports is *retired*: its slot of the window is free for a later one. The
//! holder also publishes, when an idle worker asks for it and for interruptible code always, what ended firings of tickets
//! under way have pushed ([`mark`](crate::channel::Mark)).
//!
//! # A race, and why it cannot happen
//!
//! *A publication without room is forgotten.* The retirement holder stores the head that it waits for in `stuck` of the
//! port, so the node becomes claimable when the consumer has released that far (`NodeState::unstuck`). The consumer
//! releases, fences and then reads `stuck`; the worker stores `stuck` and, when its activation ends, fences and reads
//! the head ([`sched::ready`](crate::sched::ready), [`sched::sleep`](crate::sched::sleep)). One of the two sees the
//! other.
//!
//! # Firings that wait for their tickets
//!
//! The holder releases inputs and retires tickets, and publishes nothing: each firing leaves by itself
//! ([`turns`](super::turns)).
//!
//! # Unordered nodes
//!
//! The holder publishes every completed ticket in the window. Inputs are still released, and tickets still retired, in
//! ticket order.

use super::code::Code;
use super::parallel::{Parallel, Ticket};
use super::tally::Tallies;
use crate::channel::{Mark, Origins};
use crate::net::{Net, NodeState, UNSTUCK};
use crate::port::inputs::Inputs;
use crate::port::outputs::Outputs;
use crate::sync::{AtomicUsize, Ordering};
use thalweg_graph::NodeId;
use thalweg_policy::WorkerId;

/// State under the retirement. The node's *ports* here are its outputs, then its tallies.
pub(super) struct Back<I: Inputs, O: Outputs> {
    ins: I,
    outs: O,
    tallies: Tallies,
    /// By port: the ticket that it publishes next.
    next: Vec<usize>,
    /// The ticket whose inputs are released next.
    next_in: usize,
}

impl<I: Inputs, O: Outputs> Back<I, O> {
    /// The state before the first ticket, with twins of these ports.
    pub(super) fn new(ins: &I, outs: &O, tallies: &Tallies) -> Back<I, O> {
        let next = vec![0; outs.count() + tallies.len()];
        Back { ins: ins.twin(), outs: outs.twin(), tallies: tallies.twin(), next, next_in: 0 }
    }

    /// Whether the inputs of all tickets below `done` are released, and every port has published these tickets or lacks
    /// room.
    pub(super) fn is_settled(&self, done: usize, state: &NodeState) -> bool {
        let published =
            |(next, stuck): (&usize, &AtomicUsize)| *next == done || stuck.load(Ordering::Relaxed) != UNSTUCK;
        self.has_released(done) && self.next.iter().zip(state.stuck()).all(published)
    }

    /// Whether the inputs of all tickets below `done` are released.
    pub(super) fn has_released(&self, done: usize) -> bool {
        self.next_in == done
    }

    /// Publishes the items of a completed ticket on one port. True once all of them are in the channel.
    fn publish<R>(&self, port: usize, slot: &mut Ticket<I, O, R>) -> bool {
        match port.checked_sub(self.outs.count()) {
            None => self.outs.publish_ticket(port, &mut slot.outs),
            Some(tally) => self.tallies.publish(tally, &mut slot.counts),
        }
    }

    /// Publishes the items below the mark of a ticket that is not completed, as far as the channel has room. The ticket
    /// is the next one on the port, or the node is unordered. True if the channel has changed.
    fn publish_marked(&self, port: usize, mark: &Mark) -> bool {
        match port.checked_sub(self.outs.count()) {
            None => self.outs.publish_marked(port, mark),
            Some(tally) => self.tallies.publish_marked(tally, mark),
        }
    }

    /// The index of the first item of a port that is not published.
    fn tail(&self, port: usize) -> usize {
        match port.checked_sub(self.outs.count()) {
            None => self.outs.tail(port),
            Some(tally) => self.tallies.tail(tally),
        }
    }

    /// The capacity of a port's channel, in items.
    fn capacity(&self, port: usize) -> usize {
        match port.checked_sub(self.outs.count()) {
            None => self.outs.capacity(port),
            Some(tally) => self.tallies.capacity(tally),
        }
    }
}

impl<I, O, C> Parallel<'_, I, O, C>
where
    I: Inputs,
    O: Outputs,
    C: Code<I, O>,
{
    /// Publishes and retires completed tickets, as the retirement holder, until no further ticket is completed during a
    /// pass. Does nothing if another thread holds the retirement: that thread sees this one's completion. True if a
    /// channel has changed; the caller must then make the neighbours ready.
    pub(super) fn settle(&self, net: &Net<'_>, node: NodeId, marked: bool) -> bool {
        let mut moved = false;
        loop {
            let pass = self.back.with(None, |back| {
                // Before the pass, and again after the release: see the window's protocol.
                let seen = self.window.completions();
                let mut changed = self.pass(back, net, node);
                if (marked || C::IS_INTERRUPTIBLE) && self.turns.is_none() {
                    changed |= self.publish_running(back, net, node);
                }
                Some((seen, changed))
            });
            let Some((seen, changed)) = pass else { return moved };
            moved |= changed;
            if self.window.completions_after() == seen {
                return moved;
            }
        }
    }

    /// One pass over the completed tickets: releases their inputs, publishes their outputs, retires those that are
    /// wholly published. True if a channel has changed. The caller holds the retirement.
    fn pass(&self, back: &mut Back<I, O>, net: &Net<'_>, node: NodeId) -> bool {
        let (mut moved, state) = (false, &net.node(node).state);
        // Inputs do not wait for the outputs: their producers get room as early as possible.
        while self.is_done(back.next_in) {
            // SAFETY: this thread holds the retirement and the ticket is done; the reference ends in this round.
            let slot = unsafe { self.window.body(back.next_in) };
            back.ins.release(&slot.ins);
            back.next_in += 1;
            moved = true;
        }
        back.outs.purge_if_gone();
        back.tallies.purge_if_gone();
        for port in 0..back.next.len() {
            moved |= match (&self.turns, self.node.unordered) {
                // The worker that has a firing publishes it.
                (Some(turns), _) => {
                    back.next[port] = turns.turn_at(port);
                    false
                }
                (None, false) => self.publish(back, port, state, origins(net, node, port)),
                (None, true) => self.publish_any(back, port, state, origins(net, node, port)),
            };
        }
        let published = back.next.iter().fold(back.next_in, |least, next| least.min(*next));
        for ticket in self.window.retired()..published {
            // SAFETY: this thread holds the retirement, and the tickets below `published` are done; the reference ends
            // before `retire`.
            let slot = unsafe { self.window.body(ticket) };
            // Only the retirement holder writes it, so load and store need not be one; `retire` makes it visible.
            let firings = self.firings_retired.load(Ordering::Relaxed) + slot.firings;
            self.firings_retired.store(firings, Ordering::Relaxed);
            if self.counts_bytes {
                self.weight.completed_bytes.fetch_sub(std::mem::take(&mut slot.bytes), Ordering::Relaxed);
            }
            self.window.retire(ticket);
        }
        moved
    }

    /// Publishes a completed ticket on one port, as far as the channel has room. Returns whether the channel has changed, and
    /// whether all items are in it; if not, `stuck` has what the rest waits for.
    pub(super) fn publish_ticket(
        &self,
        back: &Back<I, O>,
        (port, ticket): (usize, usize),
        slot: &mut Ticket<I, O, C::Rest>,
        state: &NodeState,
        origins: Option<&Origins>,
    ) -> (bool, bool) {
        let before = back.tail(port);
        if let Some(origins) = origins {
            origins.note(before, self.ticket_workers.of(ticket));
        }
        let is_published = back.publish(port, slot);
        let after = back.tail(port);
        if !is_published {
            // The head at which one slot is free. If the capacity has been raised since, the head may be there already, and
            // the node is claimable at once.
            state.stuck()[port].store((after + 1).saturating_sub(back.capacity(port)), Ordering::Relaxed);
        }
        (after != before || is_published, is_published)
    }

    /// Publishes the completed tickets on one port, in ticket order, until one is not done or the channel has no room.
    /// True if the channel has changed.
    fn publish(
        &self,
        back: &mut Back<I, O>,
        port: usize,
        state: &NodeState,
        origins: Option<&Origins>,
    ) -> bool {
        let mut moved = false;
        while self.is_done(back.next[port]) {
            // SAFETY: this thread holds the retirement and the ticket is done; the reference ends in this round.
            let slot = unsafe { self.window.body(back.next[port]) };
            let ticket = back.next[port];
            let (changed, is_published) = self.publish_ticket(back, (port, ticket), slot, state, origins);
            moved |= changed;
            if !is_published {
                return moved;
            }
            back.next[port] += 1;
        }
        clear_stuck(state, port);
        moved
    }

    /// Subtracts bytes that are in the channel now. The ticket's retirement may come much later (the ticket goes on, or the
    /// node is unordered and an earlier one runs), and a claim that waits for these bytes must not wait for that.
    pub(super) fn release_bytes(&self, bytes: usize, state: &NodeState) {
        let held = self.weight.completed_bytes.fetch_sub(bytes, Ordering::Relaxed);
        // Of items that own memory the limit rises with the capacity. It may have been lower when a claim was refused.
        if held >= self.node.held || self.node.owned.is_some() {
            // A claim may have been refused for these bytes. Its wait word names a retirement, so it shows no change.
            state.look_again();
        }
    }

    /// Publishes every completed ticket of an unordered node on one output, until the channel has no room. True if the
    /// channel has changed.
    fn publish_any(
        &self,
        back: &mut Back<I, O>,
        port: usize,
        state: &NodeState,
        origins: Option<&Origins>,
    ) -> bool {
        let mut moved = false;
        let mut ticket = back.next[port];
        while self.window.has_slot(ticket) {
            if self.window.is_done(ticket) {
                // SAFETY: this thread holds the retirement and the ticket is done; the reference ends in this round.
                let slot = unsafe { self.window.body(ticket) };
                if !slot.published[port] {
                    let (changed, is_published) =
                        self.publish_ticket(back, (port, ticket), slot, state, origins);
                    moved |= changed;
                    if !is_published {
                        return moved;
                    }
                    slot.published[port] = true;
                    if slot.published.iter().all(|published| *published) {
                        self.release_bytes(std::mem::take(&mut slot.bytes), state);
                    }
                }
                // `next` passes a ticket only if all before it are published, since tickets retire in order.
                if ticket == back.next[port] {
                    back.next[port] += 1;
                }
            }
            ticket += 1;
        }
        clear_stuck(state, port);
        moved
    }

    /// Publishes what ended firings of tickets under way have pushed: on each port those of the next ticket, of an
    /// unordered node those of all. True if a channel has changed. The caller holds the retirement, and has published all
    /// completed tickets.
    fn publish_running(&self, back: &Back<I, O>, net: &Net<'_>, node: NodeId) -> bool {
        let mut moved = false;
        // `Acquire` pairs with `issue`.
        let issued = self.issued.load(Ordering::Acquire);
        for (port, next) in back.next.iter().enumerate() {
            let last = if self.node.unordered { issued } else { issued.min(next + 1) };
            for ticket in (*next..last).filter(|ticket| !self.is_done(*ticket)) {
                if let Some(origins) = origins(net, node, port) {
                    origins.note(back.tail(port), self.ticket_workers.of(ticket));
                }
                moved |= back.publish_marked(port, self.mark_of(ticket, port));
            }
        }
        moved
    }

    /// The mark of a ticket on a port.
    fn mark_of(&self, ticket: usize, port: usize) -> &Mark {
        self.marks.at((ticket & (self.node.tickets - 1)) * self.ports + port)
    }

    /// Whether a ticket is done. False for one that the window has no slot for yet: the slot of its number belongs to
    /// an older ticket.
    fn is_done(&self, ticket: usize) -> bool {
        self.window.has_slot(ticket) && self.window.is_done(ticket)
    }
}

/// No publication on the port waits for room. The caller holds the retirement.
pub(super) fn clear_stuck(state: &NodeState, port: usize) {
    let stuck = &state.stuck()[port];
    if stuck.load(Ordering::Relaxed) != UNSTUCK {
        stuck.store(UNSTUCK, Ordering::Relaxed);
    }
}

/// The log of the workers that an output's items come from, if its channel has one.
pub(super) fn origins<'a>(net: &'a Net<'_>, node: NodeId, port: usize) -> Option<&'a Origins> {
    net.outputs(node).get(port).and_then(|channel| net.meter(*channel).origins())
}

/// By ticket of the window: the worker that runs it.
pub(super) struct TicketWorkers(Box<[AtomicUsize]>);

impl TicketWorkers {
    /// For a window of `tickets`, a power of two.
    pub(super) fn new(tickets: usize) -> TicketWorkers {
        TicketWorkers((0..tickets).map(|_| AtomicUsize::new(0)).collect())
    }

    /// Sets the worker of a ticket, before the ticket counts as issued or resumed. A hint for publishers.
    pub(super) fn set(&self, ticket: usize, worker: Option<WorkerId>) {
        let number = worker.map_or(0, |worker| worker + 1);
        self.0[ticket & (self.0.len() - 1)].store(number, Ordering::Relaxed);
    }

    fn of(&self, ticket: usize) -> Option<WorkerId> {
        self.0[ticket & (self.0.len() - 1)].load(Ordering::Relaxed).checked_sub(1)
    }
}
