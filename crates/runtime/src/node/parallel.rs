//! Parallel kernels: any number of firings at a time, results in the order of the inputs.
//!
//! An activation claims a run of firings under the node's claim: it takes the items, reserves the room of static
//! outputs, and issues one ticket for the run. It releases the claim, runs the firings, and completes the ticket in the
//! reorder window ([`window`](crate::node::window) has the protocol). The thread that holds the retirement publishes
//! completed tickets in order, each output by itself and in pieces where room is short. A worker never waits for its
//! turn.
//!
//! **Dynamic outputs** reserve nothing. A claim is granted only for as many firings as the fullest
//! such channel has free slots, less one for each firing under way. Items that firings push beyond
//! one each wait in the reorder window.
//!
//! **Bytes.** A claim is granted only while the bytes of completed tickets (what weighed items
//! weigh; of others, the memory that their chunks take) stay below the node's share of the budget,
//! and, where an output is weighed, with those in its channel below the channel's limit. A claim
//! is of one firing where an estimate for those under way (for each, twice the mean of the heaviest
//! ticket so far) would exceed the limit. So a node exceeds it by one firing of each worker at most,
//! however large. The oldest ticket is never refused for the bytes of later ones: it needs no new
//! claim, and its publication waits for room in items only.
//!
//! **Unordered** nodes reserve no room either. The holder of the retirement publishes every
//! completed ticket that it finds in the window, in the order of completion; inputs are still released, and tickets
//! still retired, in ticket order. A claim takes as many firings as there is room for and ignores the firings under way,
//! since otherwise a long firing would keep others from being claimed until it ends. Completed
//! results that the channel has no room for are those of about one claim for each worker, since a full channel stops
//! claims.
//!
//! **Tallies** ([`tally`](super::tally)) are static outputs that the node's code does not see. Their ports come after
//! those of its outputs.
//!
//! **A cap on workers** counts tickets from their issue to their completion. At the cap the node
//! counts as held (`Body::is_held`), and the worker that completes a ticket looks at the node again.

use super::IntoResult;
use super::sequential::{FrameFn, Framing, lacking};
use super::tally::{Count, Tallies, Tally};
use crate::channel::Lack;
use crate::measure::clock::Part;
use crate::net::{Body, Cx, Held, NodeState, UNSTUCK};
use crate::node::claim::Claim;
use crate::node::window::Window;
use crate::port::tuple::{Inputs, Lent, Outputs};
use crate::sched::ending::ended;
use crate::sched::make_ready::{changed_by, share_claim};
use crate::sync::{AtomicUsize, Ordering};
use thalweg_graph::ChannelId;
use thalweg_policy::Event;

/// One ticket: the cursors over its inputs and outputs.
struct Ticket<I: Inputs, O: Outputs> {
    ins: I::Cursors<'static>,
    outs: O::Cursors<'static>,
    firings: usize,
    /// Items each firing takes from each input, firing by firing, where a framing function said so.
    frames: Vec<usize>,
    bytes: usize,
    /// By output of an unordered node: whether the ticket's items there are published.
    out: Box<[bool]>,
    /// By tally: how many items each firing pushed.
    tallied: Box<[Count]>,
}

/// The limits of a parallel node.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NodeLimits {
    /// Tickets of its window.
    pub(crate) tickets: usize,
    /// An output channel whose items are weighed, if there is one.
    pub(crate) weighed: Option<ChannelId>,
    /// Bytes that completed tickets may hold.
    pub(crate) held: usize,
    /// Workers that may fire it at the same time.
    pub(crate) workers: Option<u32>,
    /// Whether tickets are published in any order.
    pub(crate) unordered: bool,
}

/// State under the node's claim.
struct Front<'env, I: Inputs, O: Outputs> {
    ins: I,
    outs: O,
    tallies: Tallies,
    next_ticket: usize,
    /// Firings in all tickets issued.
    issued: usize,
    frame: Option<Box<dyn FrameFn<I> + 'env>>,
    takes: Vec<usize>,
    wanted: Vec<usize>,
    done: bool,
}

/// State under the retirement.
struct Back<I: Inputs, O: Outputs> {
    ins: I,
    outs: O,
    tallies: Tallies,
    /// The ticket that each output, and then each tally, publishes next.
    next: Vec<usize>,
    /// The ticket whose inputs are released next.
    next_in: usize,
}

impl<I: Inputs, O: Outputs> Back<I, O> {
    /// Publishes what a finished ticket pushed on one port. True if all of it is out.
    fn send(&self, port: usize, slot: &mut Ticket<I, O>) -> bool {
        match port.checked_sub(self.outs.count()) {
            None => self.outs.publish_ticket(port, &mut slot.outs),
            Some(tally) => self.tallies.publish(tally, &mut slot.tallied),
        }
    }

    fn tail(&self, port: usize) -> usize {
        match port.checked_sub(self.outs.count()) {
            None => self.outs.tail(port),
            Some(tally) => self.tallies.tail(tally),
        }
    }

    fn capacity(&self, port: usize) -> usize {
        match port.checked_sub(self.outs.count()) {
            None => self.outs.capacity(port),
            Some(tally) => self.tallies.capacity(tally),
        }
    }
}

/// Bytes of tickets that are not in the channel yet.
#[derive(Debug, Default)]
struct Weight {
    /// Of completed tickets.
    held: AtomicUsize,
    /// The largest mean of a ticket's firings so far.
    most: AtomicUsize,
    /// Firings under way.
    under_way: AtomicUsize,
}

/// A parallel kernel.
pub(crate) struct Parallel<'env, I: Inputs, O: Outputs, F> {
    // The window first: tickets drop their items before the ports say what is the ring's to drop.
    window: Window<Ticket<I, O>>,
    front: Claim<Front<'env, I, O>>,
    back: Claim<Back<I, O>>,
    fire: F,
    framed: bool,
    limits: I::Limits,
    inputs: usize,
    node: NodeLimits,
    /// Whether bytes are counted: an output is weighed, or has a dynamic rate.
    counts: bool,
    weight: Weight,
    /// Tickets issued and not completed, where there is a cap on workers.
    firing: AtomicUsize,
    /// Firings in all tickets retired.
    retired: AtomicUsize,
}

impl<'env, I, O, F, R> Parallel<'env, I, O, F>
where
    I: Inputs,
    O: Outputs,
    R: IntoResult,
    F: for<'f> Fn(&mut I::Cursors<'f>, &mut O::Cursors<'f>) -> R + Send + Sync,
{
    pub(crate) fn new(
        mut ins: I,
        mut outs: O,
        fire: F,
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
        let counts = node.weighed.is_some() || outs.dynamic_room().is_some();
        let ticket = || Ticket {
            ins: ins.cursors(),
            outs: outs.ticket_cursors(),
            firings: 0,
            frames: Vec::new(),
            bytes: 0,
            out: vec![false; if node.unordered { outs.count() } else { 0 }].into(),
            tallied: tallies.counts(),
        };
        let window = Window::new(node.tickets, retired, ticket);
        let next = vec![0; outs.count() + tallies.len()];
        let back = Back { ins: ins.twin(), outs: outs.twin(), tallies: tallies.twin(), next, next_in: 0 };
        let front = Front {
            ins,
            outs,
            tallies,
            next_ticket: 0,
            issued: 0,
            frame,
            takes: vec![0; count],
            wanted: vec![0; count],
            done: false,
        };
        Parallel {
            window,
            framed: front.frame.is_some(),
            front: Claim::new(front),
            back: Claim::new(back),
            fire,
            limits,
            inputs: count,
            node,
            counts,
            weight: Weight::default(),
            firing: AtomicUsize::new(0),
            retired: AtomicUsize::new(0),
        }
    }

    /// Claims a run of firings: its ticket, or why there is none.
    fn issue(&self, front: &mut Front<'_, I, O>, cx: &mut Cx<'_>) -> Result<usize, Event> {
        let ticket = front.next_ticket;
        if front.done {
            return Err(Event::Done);
        }
        if cx.alerted && cx.net.liveness.closes_loops {
            // A stream may have been cut short: see `starve`.
            front.ins.refresh();
        }
        if (front.outs.all_gone() && front.tallies.all_gone()) || cx.state().is_cancelled() {
            return Err(self.end_when_retired(front, cx));
        }
        if self.is_at_cap() {
            return Err(Event::Refused);
        }
        if !self.window.has_place(ticket) {
            cx.state().wait.window(self.window.place_at(ticket));
            return Err(Event::Waiting);
        }
        let limit = self.affordable(ticket, cx)?;
        let limit = self.unreserved(front, limit, cx)?;
        // Inputs first: a node whose input has ended ends even if its outputs are full.
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
        // SAFETY: this thread holds the claim and `has_place` said that the slot is free: it is
        // this issuer's until completed.
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
        front.tallies.open(&mut slot.tallied, firings);
        slot.firings = firings;
        slot.out.fill(false);
        front.next_ticket = ticket + 1;
        front.issued += firings;
        if self.counts {
            self.weight.under_way.fetch_add(firings, Ordering::Relaxed);
        }
        if self.node.workers.is_some() {
            self.firing.fetch_add(1, Ordering::Relaxed);
        }
        self.announce_more(front, cx);
        Ok(ticket)
    }

    /// Sets the wait word by whether there is input for another claim, so that no thread activates the node for
    /// nothing.
    fn announce_more(&self, front: &mut Front<'_, I, O>, cx: &Cx<'_>) {
        let wait = &cx.state().wait;
        match front.ins.firings(1) {
            Err(lack @ Lack::Items { .. }) if front.frame.is_none() && !front.ins.exhausted() => {
                wait.lack(lack)
            }
            _ => wait.ready(),
        }
    }

    /// The run length for which dynamic outputs have room, each firing under way counted as one
    /// item, except in unordered nodes. Items pushed beyond that wait in the reorder window.
    fn unreserved(&self, front: &mut Front<'_, I, O>, limit: usize, cx: &Cx<'_>) -> Result<usize, Event> {
        let retired = self.window.retired();
        let Some((room, lack)) = front.outs.dynamic_room() else { return Ok(limit) };
        let under_way = match self.node.unordered {
            true => 0,
            false => front.issued - self.retired.load(Ordering::Relaxed),
        };
        if room > under_way {
            return Ok(limit.min(room - under_way));
        }
        if room == 0 {
            return Err(lacking(cx, lack));
        }
        cx.state().wait.window(retired + 1);
        Err(Event::Waiting)
    }

    /// The run length that the byte limits allow; `ticket` is the one to be issued.
    fn affordable(&self, ticket: usize, cx: &Cx<'_>) -> Result<usize, Event> {
        if !self.counts {
            return Ok(cx.slice);
        }
        let retired = self.window.retired();
        let held = self.weight.held.load(Ordering::Relaxed);
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
                // Tickets are out: the next one to retire changes the sum.
                cx.state().wait.window(retired + 1);
                Err(Event::Waiting)
            }
        }
    }

    /// The run length for `room` bytes, at least 1.
    fn affordable_run(&self, room: usize, cx: &Cx<'_>) -> usize {
        // Firings differ: one may push twice the mean of the heaviest ticket.
        let most = self.weight.most.load(Ordering::Relaxed).saturating_mul(2);
        let under_way = self.weight.under_way.load(Ordering::Relaxed);
        let room = room.saturating_sub(most.saturating_mul(under_way));
        let share = room / most.max(1).saturating_mul(2 * cx.net.threads());
        // The run grows with the number of firings that the estimate is based on.
        let seen = 1 + self.retired.load(Ordering::Relaxed) / cx.net.threads();
        if most == 0 && seen == 1 { 1 } else { share.clamp(1, cx.slice.min(seen).max(1)) }
    }

    /// Whether the node is fired by as many workers as it may be.
    fn is_at_cap(&self) -> bool {
        self.node.workers.is_some_and(|most| self.firing.load(Ordering::Relaxed) >= most as usize)
    }

    /// Ends the node if its last ticket is retired, or waits for that. No claim follows.
    fn end_when_retired(&self, front: &mut Front<'_, I, O>, cx: &mut Cx<'_>) -> Event {
        if self.window.retired() < front.next_ticket {
            cx.state().wait.window(front.next_ticket);
            return Event::Waiting;
        }
        front.done = true;
        // The end of a cancelled node is none of its streams': see [`dead`](crate::liveness::dead).
        if !cx.state().is_cancelled() {
            front.outs.end();
            front.tallies.end();
        }
        front.ins.leave();
        ended(cx.net, cx.node);
        Event::Done
    }

    /// Runs the firings of a ticket and completes it; false if one of them failed.
    fn run(&self, ticket: usize, cx: &mut Cx<'_>) -> bool {
        // SAFETY: this thread issued the ticket and has not completed it.
        let slot = unsafe { self.window.body(ticket) };
        let ran = if slot.frames.is_empty() { self.run_static(slot) } else { self.run_framed(slot) };
        if let Err(failure) = ran {
            match failure {
                Failure::Error(error) => cx.net.fail_node(cx.node, error),
                Failure::Short(port) => cx.net.fail_short(cx.node, port),
            }
            return false;
        }
        slot.frames.clear();
        cx.fired += slot.firings;
        if self.counts {
            self.weigh(slot);
        }
        self.window.complete(ticket);
        if self.node.workers.is_some() {
            self.firing.fetch_sub(1, Ordering::Relaxed);
        }
        true
    }

    fn run_static(&self, slot: &mut Ticket<I, O>) -> Result<(), Failure> {
        self.fire(slot, self.limits.clone(), slot.firings)?;
        O::close_ticket(&mut slot.outs);
        Ok(())
    }

    fn run_framed(&self, slot: &mut Ticket<I, O>) -> Result<(), Failure> {
        for firing in 0..slot.firings {
            let limits = I::framed(&slot.frames[firing * self.inputs..][..self.inputs]);
            self.fire(slot, limits, 1)?;
        }
        O::close_ticket(&mut slot.outs);
        Ok(())
    }

    /// The inner loop. Not generic over what follows a firing: with several instances the compiler calls the node's code
    /// in place of inlining it, and keeps the cursors in memory.
    fn fire(&self, slot: &mut Ticket<I, O>, limits: I::Limits, firings: usize) -> Result<(), Failure> {
        // SAFETY: the slot is borrowed mutably and its cursors are used through the loan only.
        let (mut ins, mut outs) = unsafe { (Lent::new(&mut slot.ins), Lent::new(&mut slot.outs)) };
        for _ in 0..firings {
            O::step(&mut outs.here);
            I::step(&mut ins.here, &limits);
            let result = (self.fire)(&mut ins.here, &mut outs.here).into_result();
            I::finish(&mut ins.here);
            result.map_err(Failure::Error)?;
            if let Some(port) = O::short(&outs.here) {
                return Err(Failure::Short(port));
            }
            slot.tallied.iter_mut().for_each(|count| count.note::<O>(&outs.here));
        }
        Ok(())
    }

    /// Accounts the bytes of a finished ticket.
    fn weigh(&self, slot: &mut Ticket<I, O>) {
        slot.bytes = O::unsent_bytes(&slot.outs);
        let each = slot.bytes.div_ceil(slot.firings.max(1));
        self.weight.most.fetch_max(each, Ordering::Relaxed);
        self.weight.held.fetch_add(slot.bytes, Ordering::Relaxed);
        self.weight.under_way.fetch_sub(slot.firings, Ordering::Relaxed);
    }

    /// Publishes and releases what completed tickets hold, in order, for as long as there is
    /// something new. True if anything moved.
    fn settle(&self, cx: &mut Cx<'_>) -> bool {
        let mut moved = false;
        loop {
            let Some(mut back) = self.back.try_claim() else { return moved };
            let seen = self.window.completions();
            moved |= self.pass(&mut back, cx);
            drop(back);
            if self.window.completions_after() == seen {
                return moved;
            }
        }
    }

    /// One pass over the completed tickets.
    fn pass(&self, back: &mut Back<I, O>, cx: &mut Cx<'_>) -> bool {
        let mut moved = false;
        while self.is_done(back.next_in) {
            // SAFETY: this thread holds the retirement and the ticket is done.
            let slot = unsafe { self.window.body(back.next_in) };
            back.ins.release(&slot.ins);
            back.next_in += 1;
            moved = true;
        }
        back.outs.purge_if_gone();
        back.tallies.purge_if_gone();
        for port in 0..back.next.len() {
            moved |= match self.node.unordered {
                false => self.publish(back, port, cx),
                true => self.publish_any(back, port, cx),
            };
        }
        let out = back.next.iter().fold(back.next_in, |least, next| least.min(*next));
        for ticket in self.window.retired()..out {
            // SAFETY: as above.
            let slot = unsafe { self.window.body(ticket) };
            // Only the retirement holder writes it; `retire` makes it visible.
            self.retired.store(self.retired.load(Ordering::Relaxed) + slot.firings, Ordering::Relaxed);
            if self.counts {
                self.weight.held.fetch_sub(std::mem::take(&mut slot.bytes), Ordering::Relaxed);
            }
            self.window.retire(ticket);
        }
        moved
    }

    /// Publishes one output as far as tickets are done and room goes.
    fn publish(&self, back: &mut Back<I, O>, port: usize, cx: &mut Cx<'_>) -> bool {
        let mut moved = false;
        let stuck = &cx.state().stuck()[port];
        while self.is_done(back.next[port]) {
            // SAFETY: this thread holds the retirement and the ticket is done.
            let slot = unsafe { self.window.body(back.next[port]) };
            let before = back.tail(port);
            let out = back.send(port, slot);
            moved |= back.tail(port) != before || out;
            if !out {
                // The capacity may have been raised since: then 0, for a retry at once.
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

    /// Releases the bytes of a ticket of an unordered node when all of it is published: its retirement may come much
    /// later, and a claim that waits for these bytes must not wait for that.
    fn unhold(&self, slot: &mut Ticket<I, O>, cx: &Cx<'_>) {
        let held = self.weight.held.fetch_sub(std::mem::take(&mut slot.bytes), Ordering::Relaxed);
        if held >= self.node.held {
            cx.state().look_again();
        }
    }

    /// Publishes one output of every ticket that is done, as far as room goes.
    fn publish_any(&self, back: &mut Back<I, O>, port: usize, cx: &mut Cx<'_>) -> bool {
        let mut moved = false;
        let stuck = &cx.state().stuck()[port];
        let mut ticket = back.next[port];
        while self.window.has_place(ticket) {
            if self.window.is_done(ticket) {
                // SAFETY: this thread holds the retirement and the ticket is done.
                let slot = unsafe { self.window.body(ticket) };
                if !slot.out[port] {
                    let before = back.outs.tail(port);
                    let out = back.outs.publish_ticket(port, &mut slot.outs);
                    moved |= back.outs.tail(port) != before || out;
                    if !out {
                        let until = (back.outs.tail(port) + 1).saturating_sub(back.outs.capacity(port));
                        stuck.store(until, Ordering::Relaxed);
                        return moved;
                    }
                    slot.out[port] = true;
                    if slot.out.iter().all(|out| *out) {
                        self.unhold(slot, cx);
                    }
                }
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

    /// Whether a ticket is done: never for one that this window has no place for yet, whose slot
    /// still belongs to an older one.
    fn is_done(&self, ticket: usize) -> bool {
        self.window.has_place(ticket) && self.window.is_done(ticket)
    }
}

/// Why a run of firings ended early.
enum Failure {
    Error(Box<dyn std::error::Error + Send + Sync>),
    /// A firing pushed fewer items on a static output than its rate.
    Short(usize),
}

/// Frames up to `limit` firings and notes in the ticket what each takes. Returns how many it framed.
fn frame_run<I: Inputs, O: Outputs>(
    front: &mut Front<'_, I, O>,
    slot: &mut Ticket<I, O>,
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

/// Keeps other threads from issuing and from retiring tickets.
struct AtRest<F, B> {
    _front: F,
    _back: B,
}

impl<F, B> Held for AtRest<F, B> {}

impl<I, O, F, R> Body for Parallel<'_, I, O, F>
where
    I: Inputs,
    O: Outputs,
    R: IntoResult,
    F: for<'f> Fn(&mut I::Cursors<'f>, &mut O::Cursors<'f>) -> R + Send + Sync,
{
    fn activate(&self, cx: &mut Cx<'_>) -> Event {
        if cx.net.stopped() {
            return Event::Done;
        }
        let unsettled = cx.state().unsettled().is_some_and(|unsettled| {
            unsettled.load(Ordering::Relaxed) && unsettled.swap(false, Ordering::Acquire)
        });
        if self.settle(cx) {
            changed_by(cx);
        }
        let Some(mut front) = self.front.try_claim() else {
            if unsettled {
                // The holder may have looked before the change that this flag reports, and be about to wait.
                cx.state().look_again();
            }
            return Event::Refused;
        };
        let issued = self.issue(&mut front, cx);
        drop(front);
        let ticket = match issued {
            Ok(ticket) => ticket,
            Err(event) => return event,
        };
        share_claim(cx);
        cx.lap(Part::Application);
        let ran = self.run(ticket, cx);
        cx.lap(Part::Queue);
        if ran && self.settle(cx) {
            changed_by(cx);
        }
        Event::Budget
    }

    fn is_held(&self) -> bool {
        self.front.is_held() || self.is_at_cap()
    }

    fn hold(&self, state: &NodeState) -> Result<Box<dyn Held + '_>, bool> {
        let Some(front) = self.front.try_claim() else { return Err(false) };
        let Some(back) = self.back.try_claim() else { return Err(false) };
        let issued = front.next_ticket;
        let published = |(next, stuck): (&usize, &AtomicUsize)| {
            *next == issued || stuck.load(Ordering::Relaxed) != UNSTUCK
        };
        let rests = back.next_in == issued
            && back.next.iter().zip(state.stuck()).all(published)
            && (self.window.retired()..issued).all(|ticket| self.is_done(ticket));
        // A ticket under way may be completed while this thread holds the retirement: its worker is then refused.
        if rests { Ok(Box::new(AtRest { _front: front, _back: back })) } else { Err(true) }
    }

    fn is_framed(&self) -> bool {
        self.framed
    }
}
