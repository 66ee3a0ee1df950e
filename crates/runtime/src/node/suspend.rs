//! Tickets of interruptible firings: how a parallel kernel passes on the items of a firing that has many.
//!
//! The code of such a kernel ([`Flat`](super::Flat)) pushes a *piece* of items at a time. After each piece its worker
//! decides whether it goes on, or *suspends* the ticket: then the iterator and the claimed items that are left stay in
//! the ticket's slot, and any worker may resume it.
//!
//! # After a piece
//!
//! | the ticket | the worker | the ticket is suspended as |
//! |---|---|---|
//! | is the oldest (or the node is unordered) | publishes the piece | |
//! | and items found no room, or the output has reached its byte limit | ends the activation with `Full` | held |
//! | is a later one, and holds as many items as the output's capacity, or the bytes of completed and suspended tickets reach the node's share of the budget | ends the activation with `Waiting` | held |
//! | may publish, is refused the retirement, and its chunk is full | ends the activation with `Budget` | ready |
//! | is any, and the activation has lasted long enough | ends it with `Budget` | ready |
//! | is any, and no consumer of the node is left, or the node is cancelled | drops the iterator and the items that are left, and completes the ticket | |
//!
//! A ticket that begins with a full chunk makes the same decision before its first piece: while other threads hold the
//! retirement they publish its items, but only its own worker frees their place in the chunk.
//!
//! So the oldest ticket waits for what is in the channel only, never for the bytes of later tickets, and these hold a bounded
//! number of items and of bytes. A kernel that cannot be interrupted ([`Whole`](super::Whole)) has no such bound: all results
//! of a firing wait in its ticket.
//!
//! # Bytes
//!
//! Where items are weighed a piece also ends at the item with which the oldest ticket would fill its channel, or a later one
//! its part of what is left of the node's share: one item may weigh as much as the whole budget. The bytes of a ticket count
//! from the end of a piece on. So a channel exceeds its limit by one item at most, in an unordered node by one of each
//! worker, and the tickets together exceed the share by one item of each worker.
//!
//! # Counters
//!
//! The states of a slot are those of [`window`](super::window). [`NodeState`] has what other threads read:
//!
//! | field | meaning |
//! |---|---|
//! | `suspended` | suspended tickets |
//! | `ready` | those that may continue at once |
//! | `held` | by slot: whether its ticket is suspended and not ready |
//!
//! A suspended ticket *may continue* if it is ready; if it is held and the oldest ticket (or the node is unordered), and the
//! output has room for an item and is below its byte limit; or if no consumer is left. All of this follows from counters, so
//! it does not matter which event has made a ticket the oldest. Then the node is claimable (`NodeState::unstuck`), and an
//! activation resumes the ticket before it issues a new one.
//!
//! # Why no suspended ticket is forgotten
//!
//! ```text
//!   worker that suspends ticket t             thread that retires t - 1, or makes room
//!   1. held of t := true; stage of t := HELD  1. retired := t, or head := ..
//!   2. fence(SeqCst)                          2. fence(SeqCst)
//!   3. examines the node, at the end of       3. examines the node: a consumer after each change, the worker
//!      its activation                            that retires at the end of its activation, a looker at once
//! ```
//!
//! One of the two sees the other: each reads `held` of the ticket `retired`, and the head.
//!
//! *A count of an earlier suspension stays.* `held` and the numbers are written before `stage`, by the worker that
//! suspends, and after it has been read, by the one that resumes. So a ticket's writes are ordered, and when it is retired
//! its slot says that it is not held. A reader between the two sees a ticket that no worker can resume yet: it finds
//! nothing to do, and the worker that suspends examines the node afterwards. (An earlier design kept the oldest held ticket
//! in one word. The store that cleared it could overtake the search for the next one, and a ticket was forgotten.)
//!
//! # Storage that moves
//!
//! A suspended ticket keeps cursors over claimed items, and reserved slots of tallies, while no thread holds the node's
//! claims. Its channels may grow meanwhile. A ring keeps indices, and all its slots, when it grows; the cursors get the new
//! slots when the ticket is resumed ([`Inputs::reopen`]), and before the node is dropped.
//!
//! # Deadlocks
//!
//! A node whose tickets are all completed or suspended is quiescent, so a search may hold it. If the oldest ticket is held
//! and the output is full, the node has an edge to the consumer ([`waits`](crate::liveness::waits)).

use super::code::Code;
use super::issue::Front;
use super::parallel::{Parallel, Ran, Ticket};
use super::pieces::Pieces;
use super::tally::Count;
use crate::net::{ActivationContext, NodeState};
use crate::port::inputs::Inputs;
use crate::port::outputs::Outputs;
use crate::sched::make_ready::changed_by;
use crate::sync::Ordering;
use thalweg_policy::Event;

/// Why a ticket is suspended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Pause {
    /// It has no room for its items.
    Full,
    /// It is not the oldest, and holds enough.
    Holds,
    /// The activation has lasted long enough.
    Over,
}

impl<I, O, C> Parallel<'_, I, O, C>
where
    I: Inputs,
    O: Outputs,
    C: Code<I, O>,
{
    /// Runs the firings of a ticket that this thread has issued or resumed, piece by piece, until they have ended or the
    /// ticket is suspended.
    pub(super) fn run_in_pieces(&self, ticket: usize, cx: &mut ActivationContext<'_>) -> Ran {
        // SAFETY: this thread has issued or resumed the ticket, and has neither completed nor suspended it; the reference
        // that `issue` or `resume` had is gone, and this one is not used after `complete` and `suspend`.
        let slot = unsafe { self.window.body(ticket) };
        let mut pieces = Pieces::new(cx.timed, false);
        loop {
            if cx.net.stopped() {
                return Ran::Failed;
            }
            if cx.net.unheard(cx.node) || cx.state().is_cancelled() {
                self.abandon(slot);
                return self.complete(ticket, slot, cx);
            }
            // The chunk may be full: this thread was refused the retirement, and another one has published the items in it.
            if self.holds_enough(slot, cx)
                && let Some(pause) = self.pass_on(ticket, slot, cx)
            {
                return self.suspend(ticket, slot, pause, cx);
            }
            let (items, time) = pieces.begin(&self.piece);
            let bytes = self.bytes_of_piece(ticket, slot, cx);
            O::pause_after(&mut slot.outs, items, time, bytes);
            cx.begin_dilated();
            match self.fire_measured(slot, self.limits.clone(), slot.firings - slot.fired, cx) {
                Err(failure) => return failure.report(cx),
                Ok(true) => {
                    cx.end_dilated();
                    O::close_ticket(&mut slot.outs);
                    return self.complete(ticket, slot, cx);
                }
                Ok(false) => {}
            }
            cx.pieces += 1;
            let is_over = pieces.end(&self.piece);
            // Before other threads see the piece.
            cx.end_dilated();
            if let Some(pause) = self.pass_on(ticket, slot, cx).or(is_over.then_some(Pause::Over)) {
                return self.suspend(ticket, slot, pause, cx);
            }
        }
    }

    /// Publishes what the ticket holds, if it may, and decides whether it must be suspended for what it still holds.
    fn pass_on(
        &self,
        ticket: usize,
        slot: &mut Ticket<I, O, C::Rest>,
        cx: &mut ActivationContext<'_>,
    ) -> Option<Pause> {
        if self.may_publish(ticket) {
            self.settle(cx.net, cx.node, true);
            // Refused: the thread that holds the retirement may have missed the piece. The next round publishes it.
            let seen = self.window.completions();
            let left = self.back.with(None, |_| Some(Count::rewind::<O>(&mut slot.counts, &mut slot.outs)));
            if left.is_some() && self.window.completions_after() != seen {
                // The worker of that ticket may have been refused by this thread.
                self.settle(cx.net, cx.node, true);
            }
            self.count_bytes(slot, cx.state());
            changed_by(cx);
            return match left {
                Some(0) if self.is_below_byte_limit(cx) => None,
                Some(_) => Some(Pause::Full),
                None => self.holds_enough(slot, cx).then_some(Pause::Over),
            };
        }
        self.count_bytes(slot, cx.state());
        self.holds_enough(slot, cx).then_some(Pause::Holds)
    }

    /// Whether the ticket's items may enter the channel before it is complete.
    fn may_publish(&self, ticket: usize) -> bool {
        self.node.unordered || self.window.retired() == ticket
    }

    /// Whether the output holds fewer bytes than its limit, if its items are weighed.
    fn is_below_byte_limit(&self, cx: &ActivationContext<'_>) -> bool {
        let meter = self.node.weighed.map(|channel| cx.net.meter(channel));
        meter.is_none_or(|meter| meter.is_below_byte_limit() || meter.gone())
    }

    /// The bytes with which the ticket's next piece ends, if items are weighed.
    fn bytes_of_piece(
        &self,
        ticket: usize,
        slot: &Ticket<I, O, C::Rest>,
        cx: &ActivationContext<'_>,
    ) -> usize {
        let Some(meter) = self.node.weighed.map(|channel| cx.net.meter(channel)) else { return usize::MAX };
        let room = meter.byte_limit().saturating_sub(meter.bytes());
        if self.window.retired() == ticket {
            return room;
        }
        let held = self.weight.completed_bytes.load(Ordering::Relaxed);
        room.min(self.node.held).saturating_sub(held.max(slot.bytes)) / cx.net.threads()
    }

    /// Whether the ticket's chunks have as many items as its channel can, or the node's tickets as many bytes as their
    /// share.
    fn holds_enough(&self, slot: &Ticket<I, O, C::Rest>, cx: &ActivationContext<'_>) -> bool {
        let capacity = |channel| cx.net.meter(channel).capacity();
        let most =
            cx.net.outputs(cx.node).iter().map(|channel| capacity(*channel)).min().unwrap_or(usize::MAX);
        if O::buffered(&slot.outs) >= most {
            return true;
        }
        let bytes = self.weight.completed_bytes.load(Ordering::Relaxed).saturating_sub(slot.bytes);
        let bytes = bytes.saturating_add(O::pushed_bytes(&slot.outs));
        let weighed = self.node.weighed.map(|channel| cx.net.meter(channel));
        bytes >= self.held_most(cx.net)
            || weighed.is_some_and(|meter| meter.bytes().saturating_add(bytes) >= meter.byte_limit())
    }

    /// Drops what is left of a ticket whose results are not wanted: the rest of its firing, and the items of the firings
    /// that have not begun. Their tallies are 0.
    fn abandon(&self, slot: &mut Ticket<I, O, C::Rest>) {
        let mut has_popped = slot.rest.take().is_some();
        for _ in slot.fired..slot.firings {
            if !std::mem::take(&mut has_popped) {
                I::step(&mut slot.ins, &self.limits);
                I::finish(&mut slot.ins);
            }
            slot.counts.iter_mut().for_each(|count| count.record::<O>(&slot.outs));
        }
        slot.fired = slot.firings;
        O::close_ticket(&mut slot.outs);
    }

    /// Leaves the ticket to the worker that resumes it.
    fn suspend(
        &self,
        ticket: usize,
        slot: &mut Ticket<I, O, C::Rest>,
        pause: Pause,
        cx: &ActivationContext<'_>,
    ) -> Ran {
        self.count_bytes(slot, cx.state());
        if self.node.workers.is_some() {
            // It takes no worker until it is resumed.
            self.running.fetch_sub(1, Ordering::Relaxed);
        }
        let is_ready = pause == Pause::Over;
        cx.state().count_suspended(ticket, is_ready);
        self.window.suspend(ticket, is_ready);
        Ran::Suspended(match pause {
            Pause::Full => Event::Full(cx.net.outputs(cx.node)[0]),
            Pause::Holds => Event::Waiting,
            Pause::Over => Event::Budget,
        })
    }

    /// Resumes the oldest suspended ticket that may continue. The caller holds the issuing claim.
    pub(super) fn resume(&self, front: &mut Front<'_, I, O>, cx: &ActivationContext<'_>) -> Option<usize> {
        let state = cx.state();
        if !C::IS_INTERRUPTIBLE || state.suspended() == 0 || self.is_at_cap() {
            return None;
        }
        let (ticket, was_ready) = self.resumable(front.next_ticket, state, cx)?;
        self.ticket_workers.set(ticket, cx.worker());
        self.window.resume(ticket);
        state.count_resumed(ticket, was_ready);
        // SAFETY: this thread holds the issuing claim and has resumed the ticket. The reference ends with this call.
        let slot = unsafe { self.window.body(ticket) };
        front.ins.reopen(&mut slot.ins);
        front.tallies.reopen(&mut slot.counts);
        if self.node.workers.is_some() {
            self.running.fetch_add(1, Ordering::Relaxed);
        }
        // This activation may have taken an alert, and issues no ticket, so it does not see what the node lacks or that it
        // ends: the next one must.
        state.wait.ready();
        Some(ticket)
    }

    /// The oldest suspended ticket that may continue, and whether it is ready.
    fn resumable(
        &self,
        issued: usize,
        state: &NodeState,
        cx: &ActivationContext<'_>,
    ) -> Option<(usize, bool)> {
        let retired = self.window.retired();
        let is_unwanted = cx.net.unheard(cx.node) || state.is_cancelled();
        let has_room =
            cx.net.outputs(cx.node).first().is_none_or(|channel| cx.net.meter(*channel).has_room());
        let may_continue = |ticket: usize, is_ready: bool| {
            is_ready || is_unwanted || ((self.node.unordered || ticket == retired) && has_room)
        };
        (retired..issued)
            .filter_map(|ticket| Some((ticket, self.window.suspended(ticket)?)))
            .find(|(ticket, is_ready)| may_continue(*ticket, *is_ready))
    }
}
