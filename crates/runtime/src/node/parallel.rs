//! Parallel kernels: any number of firings at a time, results in the order of the inputs.
//!
//! # An activation
//!
//! ```text
//!   1. settle: publish and retire completed tickets, if this worker gets the retirement
//!   2. claim the front, or return `Refused`
//!   3. issue: claim items, reserve the slots of static outputs, take the next ticket
//!   4. release the front; another worker may now issue the next ticket
//!   5. run the firings of the ticket
//!   6. complete the ticket, and settle as in 1
//! ```
//!
//! A ticket stands for a run of consecutive firings. The reorder window ([`window`](crate::node::window)) has a slot
//! for each ticket, and the protocol that passes the slots between workers. A worker never waits for its turn: it
//! leaves a ticket that cannot be published yet to the next retirement holder.
//!
//! # What each claim guards
//!
//! | state | guarded by | fields |
//! |---|---|---|
//! | [`Front`] | the issuing claim, `front` | consuming ports, producing ports (reservation), number of the next ticket, framing function |
//! | [`Back`] | the retirement, `back` | twins of the ports (release, publication), next ticket to publish on each port |
//! | [`Ticket`] | the state of its slot | cursors over the claimed items and reserved slots |
//!
//! The front is the producing side's reservation and the consuming side's claim; the back is the only one that moves
//! `tail` and `head` of the node's channels.
//!
//! # Shared counters
//!
//! | field | written by | ordering | a stale value |
//! |---|---|---|---|
//! | `firings_retired` | retirement holder, before the window's `retired` | `Relaxed`, read after an `Acquire` of `retired` | overstates the firings under way |
//! | `weight.completed_bytes` | issuer, before it completes (adds); retirement holder (subtracts) | `Relaxed` | lets a claim exceed the limit by tickets completed just now |
//! | `weight.heaviest_mean`, `weight.under_way` | issuers; front holder | `Relaxed` | makes an estimate worse |
//! | `running` | front holder (adds); issuer, after it completes (subtracts) | `Relaxed` | refuses a claim that the cap allows |
//! | `issued` | front holder | `Relaxed` | makes a snapshot out of date |
//! | `NodeState::stuck` | retirement holder; `growth::grow`, with both claims or as the last thread awake | `Relaxed` | see below |
//! | `NodeState::unsettled` | see below | `Release`, `Acquire` | see below |
//!
//! Only the front holder increments `running`, after it has compared it with the cap, so the cap is never exceeded. At
//! the cap the node counts as held (`Body::is_held`); the worker that then completes a ticket is awake, and examines
//! the node when its activation ends.
//!
//! # Races, and why they cannot happen
//!
//! *A publication without room is forgotten.* The retirement holder stores the head that it waits for in `stuck` of the
//! port, so the node becomes claimable when the consumer has released that far (`NodeState::unstuck`). The consumer
//! releases, fences and then reads `stuck`; the worker stores `stuck` and, when its activation ends, fences and reads
//! the head ([`sched::ready`](crate::sched::ready), [`sched::sleep`](crate::sched::sleep)). One of the two sees the
//! other.
//!
//! *A refused thread's change is missed.* The wait word shows what the next claim lacks, and `stuck` what a publication
//! lacks. `unsettled` stands for all other changes, and makes the node claimable whatever it waits for
//! (`NodeState::look_again`). Three threads set it:
//!
//! - a search, after it held the retirement while a ticket was under way: the worker that completed that ticket was
//!   refused the retirement, and no counter shows it (`Parallel::hold`);
//! - the retirement holder of an unordered node, after it has released bytes that a claim may wait for
//!   (`release_bytes`);
//! - an activation that has cleared the flag and is then refused the front: the holder may have read the counters
//!   before the change, and may be about to set the wait word.
//!
//! # Dynamic outputs
//!
//! A ticket reserves no slots on a dynamic output; its firings push into a chunk of memory. A claim is granted only for
//! as many firings as the fullest such channel has free slots, less one for each firing under way. Items that a firing
//! pushes beyond the first wait in the reorder window.
//!
//! # Bytes
//!
//! A claim is granted only while the bytes of completed tickets (the weights of weighed items; for others, the memory
//! of their chunks) are below the node's share of the budget and, if an output is weighed, below its channel's byte
//! limit together with the bytes in that channel. If an estimate for the firings under way (for each, twice the mean of
//! the heaviest ticket) would exceed the limit, a claim has one firing. So a node exceeds its limit by at most one
//! firing of each worker, however large. The bytes of later tickets never stop the oldest one: it needs no claim, and
//! its publication waits for slots only.
//!
//! # Unordered nodes
//!
//! Unordered nodes reserve no slots either. The retirement holder publishes every completed ticket in the window;
//! inputs are still released, and tickets still retired, in ticket order. A claim ignores the firings under way, since
//! otherwise a long firing would prevent claims until it ends. Completed results without room in the channel are those
//! of about one claim for each worker, since a full channel stops claims.
//!
//! # Tallies
//!
//! Tallies ([`tally`](super::tally)) are static outputs that the node's code does not see. Their ports have the numbers
//! after those of the outputs.

use super::IntoResult;
use super::code::{Code, Parts};
use super::pieces::PieceLength;
use super::sequential::{FrameFn, Framing, lacking};
use super::tally::{Count, Tallies, Tally};
use crate::channel::{Lack, Mark, Marks, Origins};
use crate::measure::clock::Part;
use crate::net::{ActivationContext, Body, Held, Net, NodeState, UNSTUCK};
use crate::node::claim::Claim;
use crate::node::window::Window;
use crate::port::tuple::{Inputs, Lent, Outputs};
use crate::sched::ending::ended;
use crate::sched::make_ready::{changed_by, share_claim};
use crate::sync::{AtomicUsize, Ordering};
use thalweg_graph::{ChannelId, NodeId};
use thalweg_policy::{Event, WorkerId};

/// The slot of one ticket.
pub(super) struct Ticket<I: Inputs, O: Outputs, R> {
    /// Over the claimed items.
    pub(super) ins: I::Cursors<'static>,
    /// Over the reserved slots, or chunks.
    pub(super) outs: O::Cursors<'static>,
    pub(super) firings: usize,
    /// The worker that runs it.
    worker: Option<WorkerId>,
    /// Firings that have ended, of a ticket that may be interrupted.
    pub(super) fired: usize,
    /// What is left of an interrupted firing.
    pub(super) rest: Option<R>,
    /// Items that each firing pops from each input, firing after firing, if the node has a framing function; otherwise
    /// empty.
    frames: Vec<usize>,
    /// Its share of `Weight::completed_bytes`; 0 before it is completed or suspended, and once it is published.
    pub(super) bytes: usize,
    /// By output of an unordered node: whether the ticket's items there are published.
    published: Box<[bool]>,
    /// By tally: the number of items that each firing pushed.
    pub(super) counts: Box<[Count]>,
}

/// The limits of a parallel node.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NodeLimits {
    /// Tickets of its window, a power of two.
    pub(crate) tickets: usize,
    /// An output channel whose items are weighed, if the node has one.
    pub(crate) weighed: Option<ChannelId>,
    /// Bytes that completed tickets may hold: the node's share of the budget.
    pub(crate) held: usize,
    /// Workers that may fire it at the same time; `None` for any number.
    pub(crate) workers: Option<u32>,
    /// Whether tickets are published in any order.
    pub(crate) unordered: bool,
}

/// State under the issuing claim.
pub(super) struct Front<'env, I: Inputs, O: Outputs> {
    pub(super) ins: I,
    outs: O,
    pub(super) tallies: Tallies,
    pub(super) next_ticket: usize,
    /// Firings in all tickets issued.
    firings_issued: usize,
    frame: Option<Box<dyn FrameFn<I> + 'env>>,
    /// By input, for a framing function: items that the firing pops.
    takes: Vec<usize>,
    /// By input, for a framing function: items that it waits for.
    wanted: Vec<usize>,
    /// The node has ended: no ticket follows.
    done: bool,
}

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

/// Bytes of items that are not in a channel yet. Counted only if `Parallel::counts_bytes`.
#[derive(Debug, Default)]
pub(super) struct Weight {
    /// Bytes of completed and suspended tickets whose items are not all published.
    pub(super) completed_bytes: AtomicUsize,
    /// The largest mean, over the firings of one ticket, of the bytes that a firing pushed.
    heaviest_mean: AtomicUsize,
    /// Firings in tickets that are issued and not completed.
    under_way: AtomicUsize,
}

/// A parallel kernel.
pub(crate) struct Parallel<'env, I: Inputs, O: Outputs, C: Code<I, O>> {
    // Declared first, hence dropped first: the cursors of the tickets drop the items that they own before the drop of
    // the ports in `front` moves the heads past these slots. The ring drops only items from its head on.
    pub(super) window: Window<Ticket<I, O, C::Rest>>,
    /// The issuing claim.
    front: Claim<Front<'env, I, O>>,
    /// The retirement.
    pub(super) back: Claim<Back<I, O>>,
    code: C,
    /// The length of the pieces of firings that may be interrupted.
    pub(super) piece: PieceLength,
    /// By ticket of the window and port: how far its firings have come.
    marks: Marks,
    /// The number of outputs and tallies.
    ports: usize,
    framed: bool,
    /// The static rates of the inputs.
    pub(super) limits: I::Limits,
    /// The number of inputs.
    inputs: usize,
    pub(super) node: NodeLimits,
    /// Whether bytes are counted: an output is weighed, or has a dynamic rate.
    counts_bytes: bool,
    pub(super) weight: Weight,
    /// Tickets that workers run. Counted only if the node has a cap on workers.
    pub(super) running: AtomicUsize,
    /// Tickets issued: the `next_ticket` of the front, for threads without the claim.
    issued: AtomicUsize,
    /// Firings in all tickets retired.
    firings_retired: AtomicUsize,
}

impl<'env, I, O, C> Parallel<'env, I, O, C>
where
    I: Inputs,
    O: Outputs,
    C: Code<I, O>,
{
    /// A parallel kernel without tickets. The node's shared state has `retired` too.
    pub(crate) fn new(
        mut ins: I,
        mut outs: O,
        code: C,
        frame: Option<Box<dyn FrameFn<I> + 'env>>,
        retired: std::sync::Arc<crossbeam_utils::CachePadded<AtomicUsize>>,
        node: NodeLimits,
        tallies: Vec<Tally>,
    ) -> Self {
        let tallies = Tallies::new(tallies);
        let count = ins.count();
        let limits = ins.rates();
        if node.unordered {
            outs.unorder();
        }
        let counts_bytes = node.weighed.is_some() || outs.dynamic_room().is_some();
        let ports = outs.count() + tallies.len();
        let marks = Marks::new(node.tickets * ports);
        let mut next_mark = 0;
        let ticket = || {
            let first = next_mark;
            next_mark += ports;
            Ticket {
                ins: ins.cursors(),
                // SAFETY: the node has the marks, and drops its cursors first.
                outs: unsafe { outs.ticket_cursors(&marks, first) },
                firings: 0,
                worker: None,
                fired: 0,
                rest: None,
                frames: Vec::new(),
                bytes: 0,
                published: vec![false; if node.unordered { outs.count() } else { 0 }].into(),
                // SAFETY: as above.
                counts: unsafe { tallies.counts(&marks, first + outs.count()) },
            }
        };
        let window = Window::new(node.tickets, retired, ticket);
        let next = vec![0; outs.count() + tallies.len()];
        let back = Back { ins: ins.twin(), outs: outs.twin(), tallies: tallies.twin(), next, next_in: 0 };
        let front = Front {
            ins,
            outs,
            tallies,
            next_ticket: 0,
            firings_issued: 0,
            frame,
            takes: vec![0; count],
            wanted: vec![0; count],
            done: false,
        };
        Parallel {
            window,
            marks,
            ports,
            framed: front.frame.is_some(),
            front: Claim::new(front),
            back: Claim::new(back),
            code,
            piece: PieceLength::new(),
            limits,
            inputs: count,
            node,
            counts_bytes,
            weight: Weight::default(),
            running: AtomicUsize::new(0),
            issued: AtomicUsize::new(0),
            firings_retired: AtomicUsize::new(0),
        }
    }

    /// Claims a run of firings and returns its ticket. The caller holds the issuing claim.
    ///
    /// # Errors
    /// No firing can be claimed now. The wait word is set to the condition for the next attempt, unless the node is
    /// done or at its cap of workers.
    fn issue(&self, front: &mut Front<'_, I, O>, cx: &mut ActivationContext<'_>) -> Result<usize, Event> {
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
        if (front.outs.all_gone() && front.tallies.all_gone()) || cx.state().is_cancelled() {
            return Err(self.end_when_retired(front, cx));
        }
        if self.is_at_cap() {
            return Err(Event::Refused);
        }
        if !self.window.has_slot(ticket) {
            cx.state().wait.window(self.window.has_slot_at(ticket));
            return Err(Event::Waiting);
        }
        let limit = self.affordable(ticket, cx)?;
        let limit = self.unreserved(front, limit, cx)?;
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
        let room = front.outs.room(limit).and_then(|room| front.tallies.room(room));
        let room = room.map_err(|lack| lacking(cx, lack))?;
        // SAFETY: this thread holds the issuing claim, `ticket` is the next one, and the window has a slot for it. The
        // reference ends with this call.
        let slot = unsafe { self.window.body(ticket) };
        let firings = match front.frame {
            None => {
                front.ins.open(&mut slot.ins, room);
                room
            }
            Some(_) => match frame_run(front, slot, room) {
                Ok(firings) => firings,
                Err(Lack::Ended { .. }) => return Err(self.end_when_retired(front, cx)),
                Err(lack) => return Err(lacking(cx, lack)),
            },
        };
        front.outs.open_ticket(&mut slot.outs, firings);
        front.tallies.open(&mut slot.counts, firings);
        (slot.firings, slot.fired, slot.worker) = (firings, 0, cx.worker());
        slot.published.fill(false);
        front.next_ticket = ticket + 1;
        // Pairs with `publish_running`: a thread that sees the ticket issued sees its marks reset.
        self.issued.store(ticket + 1, Ordering::Release);
        front.firings_issued += firings;
        if let Some(origins) = cx.net.inputs(cx.node).first().and_then(|input| cx.net.meter(*input).origins())
        {
            origins.claim(firings);
        }
        if self.counts_bytes {
            self.weight.under_way.fetch_add(firings, Ordering::Relaxed);
        }
        if self.node.workers.is_some() {
            // Only the holder of this claim adds, so the number cannot exceed the cap that `is_at_cap` has checked.
            self.running.fetch_add(1, Ordering::Relaxed);
        }
        self.set_wait_for_next(front, cx);
        Ok(ticket)
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
        if full.is_none() && (held < self.node.held || retired == ticket) {
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

    /// Runs the firings of a ticket that this thread has issued or resumed, and completes it, unless the ticket is
    /// suspended. If a firing fails, the run fails too, and the ticket is never completed.
    fn run(&self, ticket: usize, cx: &mut ActivationContext<'_>) -> Ran {
        if C::IS_INTERRUPTIBLE {
            return self.run_in_pieces(ticket, cx);
        }
        // SAFETY: this thread issued the ticket and has not completed it; the reference that `issue` had is gone, and
        // this one is not used after `complete`.
        let slot = unsafe { self.window.body(ticket) };
        let ran = if slot.frames.is_empty() { self.run_static(slot) } else { self.run_framed(slot) };
        match ran {
            Ok(()) => self.complete(ticket, slot, cx),
            Err(failure) => failure.report(cx),
        }
    }

    /// Completes a ticket whose firings have ended. The caller is its worker, and does not use the slot afterwards.
    pub(super) fn complete(
        &self,
        ticket: usize,
        slot: &mut Ticket<I, O, C::Rest>,
        cx: &mut ActivationContext<'_>,
    ) -> Ran {
        slot.frames.clear();
        cx.fired += slot.firings;
        if self.counts_bytes {
            // Before `complete`: the retirement holder may subtract the bytes from then on.
            self.weigh(slot);
        }
        self.window.complete(ticket);
        // After the ticket is completed, and before the activation ends and this worker examines the node: see the
        // module.
        if self.node.workers.is_some() {
            self.running.fetch_sub(1, Ordering::Relaxed);
        }
        Ran::Completed
    }

    /// Runs the firings of a ticket with the static rates of the inputs.
    fn run_static(&self, slot: &mut Ticket<I, O, C::Rest>) -> Result<(), Failure> {
        if self.node.weighed.is_none() {
            self.fire(slot, self.limits.clone(), slot.firings)?;
        } else {
            // Outside of the inner loop, since weighing calls a function of the user.
            for _ in 0..slot.firings {
                self.fire(slot, self.limits.clone(), 1)?;
                O::weigh_pushed(&mut slot.outs);
            }
        }
        O::close_ticket(&mut slot.outs);
        Ok(())
    }

    /// Runs the firings of a ticket, each with the rates that the framing function has decided.
    fn run_framed(&self, slot: &mut Ticket<I, O, C::Rest>) -> Result<(), Failure> {
        for firing in 0..slot.firings {
            let limits = I::framed(&slot.frames[firing * self.inputs..][..self.inputs]);
            self.fire(slot, limits, 1)?;
            O::weigh_pushed(&mut slot.outs);
        }
        O::close_ticket(&mut slot.outs);
        Ok(())
    }

    /// Runs `firings` firings of the ticket, each with the rates `limits`. False if one is interrupted.
    pub(super) fn fire(
        &self,
        slot: &mut Ticket<I, O, C::Rest>,
        limits: I::Limits,
        firings: usize,
    ) -> Result<bool, Failure> {
        let Ticket { ins, outs, rest, counts, .. } = slot;
        let fired = self.code.run((ins, outs, counts), rest, limits, firings)?;
        slot.fired += fired;
        Ok(fired == firings)
    }

    /// Adds the bytes of a ticket whose firings have ended, and which is not completed yet, to the node's counts.
    fn weigh(&self, slot: &mut Ticket<I, O, C::Rest>) {
        self.count_bytes(slot);
        let each = slot.bytes.div_ceil(slot.firings.max(1));
        self.weight.heaviest_mean.fetch_max(each, Ordering::Relaxed);
        self.weight.under_way.fetch_sub(slot.firings, Ordering::Relaxed);
    }

    /// Counts the bytes of a ticket that is about to be completed or suspended.
    pub(super) fn count_bytes(&self, slot: &mut Ticket<I, O, C::Rest>) {
        let before = std::mem::replace(&mut slot.bytes, O::pushed_bytes(&slot.outs));
        self.weight.completed_bytes.fetch_add(slot.bytes, Ordering::Relaxed);
        self.weight.completed_bytes.fetch_sub(before, Ordering::Relaxed);
    }

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
                if marked || C::IS_INTERRUPTIBLE {
                    changed |= self.publish_running(back);
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
            moved |= match self.node.unordered {
                false => self.publish(back, port, state, origins(net, node, port)),
                true => self.publish_any(back, port, state, origins(net, node, port)),
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
        let stuck = &state.stuck()[port];
        while self.is_done(back.next[port]) {
            // SAFETY: this thread holds the retirement and the ticket is done; the reference ends in this round.
            let slot = unsafe { self.window.body(back.next[port]) };
            let before = back.tail(port);
            if let Some(origins) = origins {
                origins.note(before, slot.worker);
            }
            let is_published = back.publish(port, slot);
            moved |= back.tail(port) != before || is_published;
            if !is_published {
                // The head at which one slot is free. If the capacity has been raised since, the head may be there
                // already, and the node is claimable at once.
                let until = (back.tail(port) + 1).saturating_sub(back.capacity(port));
                stuck.store(until, Ordering::Relaxed);
                return moved;
            }
            back.next[port] += 1;
        }
        if stuck.load(Ordering::Relaxed) != UNSTUCK {
            stuck.store(UNSTUCK, Ordering::Relaxed);
        }
        moved
    }

    /// Subtracts the bytes of a wholly published ticket of an unordered node. The ticket's retirement may come much
    /// later, behind a long firing, and a claim that waits for these bytes must not wait for that.
    fn release_bytes(&self, slot: &mut Ticket<I, O, C::Rest>, state: &NodeState) {
        let bytes = std::mem::take(&mut slot.bytes);
        let held = self.weight.completed_bytes.fetch_sub(bytes, Ordering::Relaxed);
        if held >= self.node.held {
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
        let stuck = &state.stuck()[port];
        let mut ticket = back.next[port];
        while self.window.has_slot(ticket) {
            if self.window.is_done(ticket) {
                // SAFETY: this thread holds the retirement and the ticket is done; the reference ends in this round.
                let slot = unsafe { self.window.body(ticket) };
                if !slot.published[port] {
                    let before = back.outs.tail(port);
                    if let Some(origins) = origins {
                        origins.note(before, slot.worker);
                    }
                    let is_published = back.outs.publish_ticket(port, &mut slot.outs);
                    moved |= back.outs.tail(port) != before || is_published;
                    if !is_published {
                        let until = (back.outs.tail(port) + 1).saturating_sub(back.outs.capacity(port));
                        stuck.store(until, Ordering::Relaxed);
                        return moved;
                    }
                    slot.published[port] = true;
                    if slot.published.iter().all(|published| *published) {
                        self.release_bytes(slot, state);
                    }
                }
                // `next` passes a ticket only if all before it are published, since tickets retire in order.
                if ticket == back.next[port] {
                    back.next[port] += 1;
                }
            }
            ticket += 1;
        }
        if stuck.load(Ordering::Relaxed) != UNSTUCK {
            stuck.store(UNSTUCK, Ordering::Relaxed);
        }
        moved
    }

    /// Publishes what ended firings of tickets under way have pushed: on each port those of the next ticket, of an
    /// unordered node those of all. True if a channel has changed. The caller holds the retirement, and has published all
    /// completed tickets.
    fn publish_running(&self, back: &Back<I, O>) -> bool {
        let mut moved = false;
        // `Acquire` pairs with `issue`.
        let issued = self.issued.load(Ordering::Acquire);
        for (port, next) in back.next.iter().enumerate() {
            let last = if self.node.unordered { issued } else { issued.min(next + 1) };
            for ticket in (*next..last).filter(|ticket| !self.is_done(*ticket)) {
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

/// The log of the workers that an output's items come from, if its channel has one.
fn origins<'a>(net: &'a Net<'_>, node: NodeId, port: usize) -> Option<&'a Origins> {
    net.outputs(node).get(port).and_then(|channel| net.meter(*channel).origins())
}

/// The inner loop of code that cannot be interrupted: [`Code::run`]. One instance for all callers and for nodes with and
/// without tallies: with several instances the compiler calls the node's code instead of inlining it, and keeps the cursors
/// in memory.
#[inline(never)]
pub(super) fn fire_run<I: Inputs, O: Outputs, R: IntoResult>(
    (ins, outs, counts): Parts<'_, I, O>,
    fire: &impl Fn(&mut I::Cursors<'static>, &mut O::Cursors<'static>) -> R,
    limits: I::Limits,
    firings: usize,
) -> Result<usize, Failure> {
    // SAFETY: both are borrowed mutably for the whole call, so no other code has them; below they are used only through
    // the loans, which end before the borrows.
    let (mut ins, mut outs) = unsafe { (Lent::new(ins), Lent::new(outs)) };
    for _ in 0..firings {
        O::step(&mut outs.here);
        I::step(&mut ins.here, &limits);
        let result = fire(&mut ins.here, &mut outs.here).into_result();
        I::finish(&mut ins.here);
        result.map_err(Failure::Error)?;
        if let Some(short) = O::short(&outs.here) {
            return Err(Failure::Short(short));
        }
        counts.iter_mut().for_each(|count| count.record::<O>(&outs.here));
        O::mark(&outs.here);
    }
    Ok(firings)
}

/// How a worker has left a ticket.
pub(super) enum Ran {
    /// All its firings have ended.
    Completed,
    /// It is suspended; the activation ends with this event.
    Suspended(Event),
    /// A firing has failed, or the run is over. The ticket is never completed.
    Failed,
}

/// The failure of a firing.
pub(crate) enum Failure {
    /// The node's code has returned an error.
    Error(Box<dyn std::error::Error + Send + Sync>),
    /// The firing pushed fewer items than its rate on this static output.
    Short((usize, usize)),
}

impl Failure {
    /// Fails the run.
    pub(super) fn report(self, cx: &ActivationContext<'_>) -> Ran {
        match self {
            Failure::Error(error) => cx.net.fail_node(cx.node, error),
            Failure::Short(port) => cx.net.fail_short(cx.node, port),
        }
        Ran::Failed
    }
}

/// Calls the framing function for up to `limit` firings; claims their items, and records in the ticket how many each
/// pops. Returns the number of firings, at least one.
///
/// # Errors
/// The first firing lacks items; [`Lack::Ended`] if the node ends.
fn frame_run<I: Inputs, O: Outputs, R>(
    front: &mut Front<'_, I, O>,
    slot: &mut Ticket<I, O, R>,
    limit: usize,
) -> Result<usize, Lack> {
    let Front { ins, frame, takes, wanted, .. } = front;
    let frame = frame.as_mut().expect("a framed node");
    let mut framed = 0;
    slot.frames.clear();
    while framed < limit {
        match frame.frame(ins, wanted, takes) {
            Framing::Take => {}
            Framing::End if framed == 0 => return Err(Lack::Ended { channel: ChannelId(0) }),
            Framing::Lack(lack) if framed == 0 => return Err(lack),
            _ => break,
        }
        if framed == 0 {
            ins.open_framed(&mut slot.ins, takes);
        } else {
            ins.extend_framed(&mut slot.ins, takes);
        }
        slot.frames.extend_from_slice(takes);
        framed += 1;
    }
    Ok(framed)
}

/// Both claims of a quiescent node: no other thread can issue or retire tickets.
struct Quiescent<F, B> {
    _front: F,
    _back: B,
}

impl<F, B> Held for Quiescent<F, B> {}

impl<I: Inputs, O: Outputs, C: Code<I, O>> Drop for Parallel<'_, I, O, C> {
    /// A suspended ticket's cursors drop the items that it has not popped. Its channel may have grown since.
    fn drop(&mut self) {
        if C::IS_INTERRUPTIBLE {
            let ins = &self.front.get_mut().ins;
            self.window.bodies_mut().for_each(|ticket| ins.reopen(&mut ticket.ins));
        }
    }
}

impl<I, O, C> Body for Parallel<'_, I, O, C>
where
    I: Inputs,
    O: Outputs,
    C: Code<I, O>,
{
    fn activate(&self, cx: &mut ActivationContext<'_>) -> Event {
        if cx.net.stopped() {
            return Event::Done;
        }
        // Cleared before the state is read below: a change that comes later sets the flag again. Pairs with
        // `look_again`.
        let unsettled = cx.state().unsettled().is_some_and(|unsettled| {
            unsettled.load(Ordering::Relaxed) && unsettled.swap(false, Ordering::Acquire)
        });
        // Before the claim, which may need a slot of the window or the bytes of tickets that are completed.
        if self.settle(cx.net, cx.node, false) {
            changed_by(cx);
        }
        let mut claim = |front: &mut Front<'_, I, O>| match self.resume(front, cx) {
            Some(ticket) => Ok(ticket),
            None => self.issue(front, cx),
        };
        let Some(issued) = self.front.with(None, |front| Some(claim(front))) else {
            if unsettled {
                // This activation has cleared the flag and cannot act on it. The holder may have read the counters
                // before the change that the flag stands for, and may be about to set the wait word: restore the flag.
                cx.state().look_again();
            }
            return Event::Refused;
        };
        let ticket = match issued {
            Ok(ticket) => ticket,
            Err(event) => return event,
        };
        cx.begin_firing();
        // Before the firings: another worker may issue the next ticket while this one runs.
        share_claim(cx);
        cx.lap(Part::Application);
        let ran = self.run(ticket, cx);
        cx.lap(Part::Queue);
        match ran {
            // As the window's protocol demands after each completion.
            Ran::Completed => {
                if self.settle(cx.net, cx.node, false) {
                    changed_by(cx);
                }
                Event::Budget
            }
            Ran::Suspended(event) => event,
            Ran::Failed => Event::Budget,
        }
    }

    fn publish_marked(&self, net: &Net<'_>, node: NodeId) -> bool {
        self.settle(net, node, true)
    }

    fn is_held(&self) -> bool {
        self.front.is_held() || self.is_at_cap()
    }

    fn is_running(&self) -> bool {
        self.front.is_held() || self.window.completions() < self.issued.load(Ordering::Relaxed)
    }

    fn hold(&self, state: &NodeState) -> Result<Box<dyn Held + '_>, bool> {
        let Some(front) = self.front.try_claim() else { return Err(false) };
        let Some(back) = self.back.try_claim() else { return Err(false) };
        let published = |done, (next, stuck): (&usize, &AtomicUsize)| {
            *next == done || stuck.load(Ordering::Relaxed) != UNSTUCK
        };
        // No worker runs a ticket, every input of completed ones is released, and every port has published all or lacks
        // room. Tickets from the first suspended one on are not published.
        let is_quiescent =
            self.window.at_rest(self.window.retired()..front.next_ticket).is_some_and(|done| {
                back.next_in == done && back.next.iter().zip(state.stuck()).all(|port| published(done, port))
            });
        // Otherwise a ticket may be completed while this thread holds the retirement. Its worker is then refused, and
        // no counter shows the ticket: the caller must set `unsettled`.
        if is_quiescent { Ok(Box::new(Quiescent { _front: front, _back: back })) } else { Err(true) }
    }

    fn is_framed(&self) -> bool {
        self.framed
    }
}
