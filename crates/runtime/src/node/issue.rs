//! How many firings the next ticket of a parallel kernel gets.
//!
//! The holder of the issuing claim takes as many firings as all of these allow: the cap on workers, the reorder window,
//! the bytes, the items of the inputs, and the room of the outputs. If one of them allows none, it sets the wait word to
//! what must change, and the node is not claimable before. At the cap the node counts as held instead.
//!
//! # Dynamic outputs
//!
//! A ticket reserves no slots on a dynamic output; its firings push into a chunk of memory. A claim is granted only for
//! as many firings as the fullest such channel has free slots, less one for each firing under way. Items that a firing
//! pushes beyond the first wait in the reorder window.
//!
//! An unordered node reserves no slots either. Its claims ignore the firings under way, since otherwise a long firing
//! would prevent claims until it ends. Completed results without room in the channel are those of about one claim for
//! each worker, since a full channel stops claims.
//!
//! A firing that waits for its ticket reserves nothing either, and no claim looks at the room: the firing waits for it once
//! it is computed ([`turns`](super::turns)).
//!
//! # Bytes
//!
//! A claim is granted only while the bytes of completed tickets (the weights of weighed items; for others, the memory
//! of their chunks) are below the node's share of the budget, below what the channel's capacity takes if items own memory, and,
//! if an output is weighed, below its channel's byte limit together with the bytes in that channel. If an estimate for the firings under way (for each, twice the mean of
//! the heaviest ticket) would exceed the limit, a claim has one firing. So a node exceeds its limit by at most one
//! firing of each worker, however large. The bytes of later tickets never stop the oldest one: it needs no claim, and
//! its publication waits for slots only.

use super::code::Code;
use super::framing::{FrameFn, Framed};
use super::parallel::Parallel;
use super::sequential::lacking;
use super::tally::Tallies;
use crate::channel::Lack;
use crate::net::{ActivationContext, Net};
use crate::port::inputs::Inputs;
use crate::port::outputs::Outputs;
use crate::sched::ending::ended;
use crate::sync::Ordering;
use thalweg_graph::ChannelId;
use thalweg_policy::Event;

/// State under the issuing claim.
pub(super) struct Front<'env, I: Inputs, O: Outputs> {
    pub(super) ins: I,
    outs: O,
    pub(super) tallies: Tallies,
    pub(super) next_ticket: usize,
    /// Firings in all tickets issued.
    firings_issued: usize,
    frame: Option<Framed<'env, I>>,
    /// The node has ended: no ticket follows.
    done: bool,
}

impl<'env, I: Inputs, O: Outputs> Front<'env, I, O> {
    /// The state before the first ticket.
    pub(super) fn new(
        ins: I,
        outs: O,
        tallies: Tallies,
        frame: Option<Box<dyn FrameFn<I> + 'env>>,
    ) -> Front<'env, I, O> {
        let frame = frame.map(|frame| Framed::new(frame, ins.count()));
        Front { ins, outs, tallies, next_ticket: 0, firings_issued: 0, frame, done: false }
    }
}

impl<I, O, C> Parallel<'_, I, O, C>
where
    I: Inputs,
    O: Outputs,
    C: Code<I, O>,
{
    /// Claims a run of firings and returns its ticket. The caller holds the issuing claim.
    ///
    /// # Errors
    /// No firing can be claimed now. The wait word is set to the condition for the next attempt, unless the node is
    /// done or at its cap of workers.
    pub(super) fn issue(
        &self,
        front: &mut Front<'_, I, O>,
        cx: &mut ActivationContext<'_>,
    ) -> Result<usize, Event> {
        let ticket = front.next_ticket;
        if front.done {
            return Err(Event::Done);
        }
        if cx.net.liveness.closes_loops {
            // `starve::close` may have cut a stream at the consumer's position, below the tail that the ports have read. Not
            // only after an alert: another worker may have taken that, and not hold the claim yet. No stream is cut while
            // a node is active, so once under the claim suffices.
            front.ins.refresh();
        }
        let is_unheard = front.outs.all_gone() && front.tallies.all_gone() && !cx.state().drains();
        if is_unheard || cx.state().is_cancelled() {
            return Err(self.end_when_retired(front, cx));
        }
        let room = self.claimable(front, cx)?;
        // SAFETY: this thread holds the issuing claim, `ticket` is the next one, and `claimable` has found that the window
        // has a slot for it. The reference ends with this call.
        let slot = unsafe { self.window.body(ticket) };
        let firings = match &mut front.frame {
            None => {
                front.ins.open(&mut slot.ins, room);
                room
            }
            Some(frame) => match frame.run(&mut front.ins, &mut slot.ins, &mut slot.frames, room) {
                Ok(firings) => firings,
                Err(Lack::Ended { .. }) => return Err(self.end_when_retired(front, cx)),
                Err(lack) => return Err(lacking(cx, lack)),
            },
        };
        front.outs.open_ticket(&mut slot.outs, firings);
        front.tallies.open(&mut slot.counts, firings);
        (slot.firings, slot.fired) = (firings, 0);
        self.ticket_workers.set(ticket, cx.worker());
        slot.published.fill(false);
        front.next_ticket = ticket + 1;
        // Pairs with `publish_running`: a thread that sees the ticket issued sees its marks reset.
        self.issued.store(ticket + 1, Ordering::Release);
        front.firings_issued += firings;
        self.count_issued(firings, cx);
        self.set_wait_for_next(front, cx);
        Ok(ticket)
    }

    /// The number of firings that the limits, the inputs and the room of the outputs allow, at least one. For a framed node
    /// the inputs are left out: its framing function decides.
    ///
    /// # Errors
    /// They allow none, or the node ends; see [`Parallel::issue`].
    fn claimable(&self, front: &mut Front<'_, I, O>, cx: &mut ActivationContext<'_>) -> Result<usize, Event> {
        let ticket = front.next_ticket;
        if self.is_at_cap() {
            return Err(Event::Refused);
        }
        if !self.window.has_slot(ticket) {
            cx.state().wait.window(self.window.has_slot_at(ticket));
            return Err(Event::Waiting);
        }
        let limit = self.affordable(ticket, cx)?;
        let limit = match self.turns {
            // A ticket is one firing, which waits for room when it is computed.
            Some(_) => limit.min(1),
            None => self.unreserved(front, limit, cx)?,
        };
        // Inputs before outputs, since a node whose input has ended must end even if its outputs are full.
        let limit = match front.frame {
            None => match front.ins.firings(limit) {
                Ok(firings) => firings,
                Err(lack) => {
                    let over = matches!(lack, Lack::Ended { .. }) || front.ins.exhausted();
                    return Err(if over { self.end_when_retired(front, cx) } else { lacking(cx, lack) });
                }
            },
            Some(_) => limit,
        };
        let room = if self.turns.is_some() { Ok(limit) } else { front.outs.room(limit) };
        room.and_then(|room| front.tallies.room(room)).map_err(|lack| lacking(cx, lack))
    }

    /// Counts a ticket that has been issued with this number of firings.
    fn count_issued(&self, firings: usize, cx: &ActivationContext<'_>) {
        for origins in cx.net.inputs(cx.node).iter().filter_map(|input| cx.net.meter(*input).origins()) {
            origins.claim(firings);
        }
        if self.counts_bytes {
            self.weight.under_way.fetch_add(firings, Ordering::Relaxed);
        }
        if self.node.workers.is_some() {
            // Only the holder of the issuing claim adds, so the number cannot exceed the cap that `is_at_cap` has checked.
            self.running.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Sets the wait word to the items that the next claim lacks, or to ready, so that no thread activates the node in
    /// vain. Not for a framed node, whose framing function decides.
    fn set_wait_for_next(&self, front: &mut Front<'_, I, O>, cx: &ActivationContext<'_>) {
        let wait = &cx.state().wait;
        match front.ins.firings(1) {
            Err(lack @ Lack::Items { .. }) if front.frame.is_none() && !front.ins.exhausted() => {
                wait.lack(lack)
            }
            _ => wait.ready(),
        }
    }

    /// The run length, at most `limit`, for which the dynamic outputs have free slots. Each firing under way counts as
    /// one item, except in unordered nodes.
    ///
    /// # Errors
    /// There is no room for a firing; the wait word says what would make some.
    fn unreserved(
        &self,
        front: &mut Front<'_, I, O>,
        limit: usize,
        cx: &ActivationContext<'_>,
    ) -> Result<usize, Event> {
        // Before the room is read, so that a ticket retired in between ends the wait for `retired + 1` at once.
        let retired = self.window.retired();
        let Some((room, lack)) = front.outs.dynamic_room() else { return Ok(limit) };
        let under_way = match self.node.unordered {
            true => 0,
            false => front.firings_issued - self.firings_retired.load(Ordering::Relaxed),
        };
        if room > under_way {
            return Ok(limit.min(room - under_way));
        }
        if room == 0 {
            return Err(lacking(cx, lack));
        }
        // The firings under way may fill the free slots. The next ticket to retire has published its items.
        cx.state().wait.window(retired + 1);
        Err(Event::Waiting)
    }

    /// The run length that the byte limits allow; `ticket` is the one to be issued.
    ///
    /// # Errors
    /// A limit is reached; the wait word says which change may end that.
    fn affordable(&self, ticket: usize, cx: &ActivationContext<'_>) -> Result<usize, Event> {
        if !self.counts_bytes {
            return Ok(cx.slice);
        }
        // Before the bytes are read, as in `unreserved`.
        let retired = self.window.retired();
        let held = self.weight.completed_bytes.load(Ordering::Relaxed);
        let weighed = self.node.weighed.map(|channel| (channel, cx.net.meter(channel)));
        let full = weighed.filter(|(_, meter)| meter.bytes().saturating_add(held) >= meter.byte_limit());
        if full.is_none() && (held < self.held_most(cx.net) || retired == ticket) {
            let room =
                weighed.map_or(usize::MAX, |(_, meter)| meter.byte_limit().saturating_sub(meter.bytes()));
            return Ok(self.affordable_run(room.min(self.node.held).saturating_sub(held), cx));
        }
        match full {
            Some((channel, _)) if retired == ticket => Err(lacking(cx, Lack::Bytes { channel })),
            _ => {
                // Some ticket is issued and not retired, and its retirement changes the sum.
                cx.state().wait.window(retired + 1);
                Err(Event::Waiting)
            }
        }
    }

    /// The bytes that completed tickets may hold: the node's share of the budget; of items that own memory also no more than
    /// their channel's capacity takes, since nothing counts the memory itself.
    pub(super) fn held_most(&self, net: &Net<'_>) -> usize {
        let slots =
            |(channel, bytes): (ChannelId, usize)| net.meter(channel).capacity().saturating_mul(bytes.max(1));
        self.node.owned.map_or(self.node.held, |owned| slots(owned).min(self.node.held))
    }

    /// The run length for `room` bytes, at least 1.
    fn affordable_run(&self, room: usize, cx: &ActivationContext<'_>) -> usize {
        // An estimate, as firings differ: one may push twice the mean of the heaviest ticket.
        let most = self.weight.heaviest_mean.load(Ordering::Relaxed).saturating_mul(2);
        let under_way = self.weight.under_way.load(Ordering::Relaxed);
        let room = room.saturating_sub(most.saturating_mul(under_way));
        let share = room / most.max(1).saturating_mul(2 * cx.net.threads());
        // The run grows with the number of firings that the estimate is based on. Before any there is no estimate.
        let seen = 1 + self.firings_retired.load(Ordering::Relaxed) / cx.net.threads();
        if most == 0 && seen == 1 { 1 } else { share.clamp(1, cx.slice.min(seen).max(1)) }
    }

    /// Whether as many workers fire the node as its cap allows.
    pub(super) fn is_at_cap(&self) -> bool {
        self.node.workers.is_some_and(|most| self.running.load(Ordering::Relaxed) >= most as usize)
    }

    /// Ends the node if its last ticket is retired; otherwise sets the wait word to that. The caller has found that no
    /// further ticket can be issued.
    fn end_when_retired(&self, front: &mut Front<'_, I, O>, cx: &mut ActivationContext<'_>) -> Event {
        if self.window.retired() < front.next_ticket {
            cx.state().wait.window(front.next_ticket);
            return Event::Waiting;
        }
        front.done = true;
        // A cancelled node ends without ending its streams: a consumer must not observe a difference to a node that
        // continues (`liveness::dead`).
        if !cx.state().is_cancelled() {
            front.outs.end();
            front.tallies.end();
        }
        front.ins.leave();
        ended(cx.net, cx.node);
        Event::Done
    }
}
