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
//! for each ticket, and the protocol that passes the slots between workers. A worker never waits for its turn, unless the
//! run's options ask for that: it leaves a ticket that cannot be published yet to the next retirement holder.
//!
//! | step | file |
//! |---|---|
//! | 1, 6 | [`publish`](super::publish): how results get into the channels, and what happens if there is no room |
//! | 2 to 4 | [`issue`](super::issue): how many firings a ticket gets |
//! | 3, 6 in runs whose firings wait for their tickets | [`turns`](super::turns), [`wait`](super::wait): a worker may take a computed firing in place of step 3, and does not settle but waits after step 6 |
//! | 5 | this file; [`suspend`](super::suspend) for firings that may be interrupted |
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
//! | `weight.completed_bytes` | a ticket's worker, before it completes or suspends it and after each piece; retirement holder (subtracts) | `Relaxed` | lets a claim exceed the limit by tickets completed just now |
//! | `weight.heaviest_mean`, `weight.under_way` | issuers; front holder | `Relaxed` | makes an estimate worse |
//! | `running` | front holder (adds); issuer, after it completes (subtracts) | `Relaxed` | refuses a claim that the cap allows |
//! | `issued` | front holder | `Relaxed` | makes a snapshot out of date |
//! | `NodeState::stuck` | retirement holder; `growth::grow`, with both claims or as the last thread awake | `Relaxed` | see [`publish`](super::publish) |
//! | `NodeState::unsettled` | see below | `Release`, `Acquire` | see below |
//!
//! Only the front holder increments `running`, after it has compared it with the cap, so the cap is never exceeded. At
//! the cap the node counts as held (`Body::is_held`); the worker that then completes a ticket is awake, and examines
//! the node when its activation ends.
//!
//! # A race, and why it cannot happen
//!
//! *A refused thread's change is missed.* The wait word shows what the next claim lacks, and `stuck` what a publication
//! lacks. `unsettled` stands for all other changes, and makes the node claimable whatever it waits for
//! (`NodeState::look_again`). Three threads set it:
//!
//! - a search, after it held the retirement while a ticket was under way: the worker that completed that ticket was
//!   refused the retirement, and no counter shows it (`Parallel::hold`);
//! - the retirement holder of an unordered node, and the worker of a ticket that has ended a piece, after bytes that a
//!   claim may wait for have entered the channel (`Parallel::release_bytes`);
//! - an activation that has cleared the flag and is then refused the front: the holder may have read the counters
//!   before the change, and may be about to set the wait word.
//!
//! # Tallies
//!
//! Tallies ([`tally`](super::tally)) are static outputs that the node's code does not see. Their ports have the numbers
//! after those of the outputs.

use super::IntoResult;
use super::code::{Code, Parts};
use super::framing::FrameFn;
use super::issue::Front;
use super::pieces::PieceLength;
use super::publish::{Back, TicketWorkers};
use super::tally::{Count, Tallies, Tally};
use super::turns::{Firing, Turns};
use crate::channel::Marks;
use crate::measure::clock::Part;
use crate::net::{ActivationContext, Body, Held, Net, NodeState};
use crate::node::claim::Claim;
use crate::node::window::Window;
use crate::port::inputs::Inputs;
use crate::port::loan::Lent;
use crate::port::outputs::Outputs;
use crate::sched::make_ready::{changed_by, share_claim};
use crate::sync::{AtomicUsize, Ordering};
use thalweg_graph::{ChannelId, NodeId};
use thalweg_policy::Event;

/// The slot of one ticket.
pub(super) struct Ticket<I: Inputs, O: Outputs, R> {
    /// Over the claimed items.
    pub(super) ins: I::Cursors<'static>,
    /// Over the reserved slots, or chunks.
    pub(super) outs: O::Cursors<'static>,
    pub(super) firings: usize,
    /// Firings that have ended, of a ticket that may be interrupted.
    pub(super) fired: usize,
    /// What is left of an interrupted firing.
    pub(super) rest: Option<R>,
    /// Items that each firing pops from each input, firing after firing, if the node has a framing function; otherwise
    /// empty.
    pub(super) frames: Vec<usize>,
    /// Its share of `Weight::completed_bytes`; 0 before its first piece ends or it is completed, and once it is published.
    pub(super) bytes: usize,
    /// By output of an unordered node: whether the ticket's items there are published.
    pub(super) published: Box<[bool]>,
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
    /// An output channel whose items own memory, if the node has one, and the size of an item of each output together.
    /// Completed tickets hold about as many items as the channel has room for, and those of one claim of each worker beyond
    /// ([`Parallel::held_most`]).
    pub(crate) owned: Option<(ChannelId, usize)>,
    /// Workers that may fire it at the same time; `None` for any number.
    pub(crate) workers: Option<u32>,
    /// Whether tickets are published in any order.
    pub(crate) unordered: bool,
    /// Whether firings wait for their tickets, if the code cannot be interrupted: see [`turns`](super::turns).
    pub(crate) waits: bool,
}

/// Bytes of items that are not in a channel yet. Counted only if `Parallel::counts_bytes`.
#[derive(Debug, Default)]
pub(super) struct Weight {
    /// Bytes of completed tickets whose items are not all published, and of the ended pieces of the others.
    pub(super) completed_bytes: AtomicUsize,
    /// The largest mean, over the firings of one ticket, of the bytes that a firing pushed.
    pub(super) heaviest_mean: AtomicUsize,
    /// Firings in tickets that are issued and not completed.
    pub(super) under_way: AtomicUsize,
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
    /// Present if firings wait for their tickets.
    pub(super) turns: Option<Turns>,
    code: C,
    /// The length of the pieces of firings that may be interrupted.
    pub(super) piece: PieceLength,
    /// By ticket of the window and port: how far its firings have come.
    pub(super) marks: Marks,
    /// The number of outputs and tallies.
    pub(super) ports: usize,
    framed: bool,
    /// The static rates of the inputs.
    pub(super) limits: I::Limits,
    /// The number of inputs.
    inputs: usize,
    pub(super) node: NodeLimits,
    /// Whether bytes are counted: an output is weighed, or has a dynamic rate.
    pub(super) counts_bytes: bool,
    pub(super) weight: Weight,
    /// By ticket of the window: the worker that runs it.
    pub(super) ticket_workers: TicketWorkers,
    /// Tickets that workers run. Counted only if the node has a cap on workers.
    pub(super) running: AtomicUsize,
    /// Tickets issued: the `next_ticket` of the front, for threads without the claim.
    pub(super) issued: AtomicUsize,
    /// Firings in all tickets retired.
    pub(super) firings_retired: AtomicUsize,
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
        retired: std::sync::Arc<crate::sync::CachePadded<AtomicUsize>>,
        node: NodeLimits,
        tallies: Vec<Tally>,
    ) -> Self {
        let tallies = Tallies::new(tallies);
        let count = ins.count();
        let limits = ins.rates();
        let waits = node.waits && !C::IS_INTERRUPTIBLE;
        if node.unordered || waits {
            outs.unreserve();
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
        let back = Back::new(&ins, &outs, &tallies);
        let framed = frame.is_some();
        let front = Front::new(ins, outs, tallies, frame);
        Parallel {
            window,
            marks,
            ports,
            framed,
            front: Claim::new(front),
            back: Claim::new(back),
            turns: waits.then(|| Turns::new(ports)),
            code,
            piece: PieceLength::new(),
            limits,
            inputs: count,
            node,
            counts_bytes,
            weight: Weight::default(),
            ticket_workers: TicketWorkers::new(node.tickets),
            running: AtomicUsize::new(0),
            issued: AtomicUsize::new(0),
            firings_retired: AtomicUsize::new(0),
        }
    }

    /// What the holder of the issuing claim does: a ticket that may be resumed comes first, then a queued firing.
    ///
    /// # Errors
    /// As [`Parallel::issue`].
    fn claim(&self, front: &mut Front<'env, I, O>, cx: &mut ActivationContext<'_>) -> Result<Work, Event> {
        if let Some(ticket) = self.resume(front, cx) {
            return Ok(Work::Run(ticket));
        }
        match self.take(cx) {
            Some(firing) => Ok(Work::Leave(firing)),
            None => self.issue(front, cx).map(Work::Run),
        }
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
        cx.begin_dilated();
        let ran = if slot.frames.is_empty() { self.run_static(slot, cx) } else { self.run_framed(slot, cx) };
        match ran {
            Ok(()) => {
                cx.end_dilated();
                self.complete(ticket, slot, cx)
            }
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
            self.weigh(slot, cx.state());
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
    fn run_static(
        &self,
        slot: &mut Ticket<I, O, C::Rest>,
        cx: &mut ActivationContext<'_>,
    ) -> Result<(), Failure> {
        if self.node.weighed.is_none() {
            self.fire_measured(slot, self.limits.clone(), slot.firings, cx)?;
        } else {
            // Outside of the inner loop, since weighing calls a function of the user.
            for _ in 0..slot.firings {
                self.fire_measured(slot, self.limits.clone(), 1, cx)?;
                O::weigh_pushed(&mut slot.outs);
            }
        }
        O::close_ticket(&mut slot.outs);
        Ok(())
    }

    /// Runs the firings of a ticket, each with the rates that the framing function has decided.
    fn run_framed(
        &self,
        slot: &mut Ticket<I, O, C::Rest>,
        cx: &mut ActivationContext<'_>,
    ) -> Result<(), Failure> {
        for firing in 0..slot.firings {
            let limits = I::framed(&slot.frames[firing * self.inputs..][..self.inputs]);
            self.fire_measured(slot, limits, 1, cx)?;
            O::weigh_pushed(&mut slot.outs);
        }
        O::close_ticket(&mut slot.outs);
        Ok(())
    }

    /// [`fire`](Self::fire), and in a sampled activation measures one of the firings, unless a part of it ran before. False if
    /// one is interrupted.
    #[inline]
    pub(super) fn fire_measured(
        &self,
        slot: &mut Ticket<I, O, C::Rest>,
        limits: I::Limits,
        firings: usize,
        cx: &mut ActivationContext<'_>,
    ) -> Result<bool, Failure> {
        if cx.laps.is_none() || slot.rest.is_some() {
            return self.fire(slot, limits, firings);
        }
        let end = slot.fired + firings;
        while slot.fired < end {
            let before = slot.fired;
            let run = cx.next_run(end - before);
            if !self.fire(slot, limits.clone(), run)? {
                return Ok(false);
            }
            cx.end_run(slot.fired - before);
            cx.lap(Part::Application);
        }
        Ok(true)
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
    fn weigh(&self, slot: &mut Ticket<I, O, C::Rest>, state: &NodeState) {
        self.count_bytes(slot, state);
        let each = slot.bytes.div_ceil(slot.firings.max(1));
        self.weight.heaviest_mean.fetch_max(each, Ordering::Relaxed);
        self.weight.under_way.fetch_sub(slot.firings, Ordering::Relaxed);
    }

    /// Counts the bytes that a ticket holds now: it is about to be completed or suspended, or has ended a piece.
    pub(super) fn count_bytes(&self, slot: &mut Ticket<I, O, C::Rest>, state: &NodeState) {
        let now = O::pushed_bytes(&slot.outs);
        let before = std::mem::replace(&mut slot.bytes, now);
        if now > before {
            self.weight.completed_bytes.fetch_add(now - before, Ordering::Relaxed);
        } else if now < before {
            self.release_bytes(before - now, state);
        }
    }
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

/// What a worker does in an activation.
pub(super) enum Work {
    /// It runs a ticket that it has issued or resumed.
    Run(usize),
    /// It has taken a firing from the queue.
    Leave(Firing),
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
        let Some(claimed) = self.front.with(None, |front| Some(self.claim(front, cx))) else {
            if unsettled {
                // This activation has cleared the flag and cannot act on it. The holder may have read the counters
                // before the change that the flag stands for, and may be about to set the wait word: restore the flag.
                cx.state().look_again();
            }
            return Event::Refused;
        };
        let ticket = match claimed {
            Ok(Work::Run(ticket)) => ticket,
            Ok(Work::Leave(firing)) => return self.leave_queue(firing, cx),
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
                match &self.turns {
                    None => Event::Budget,
                    Some(turns) => self.leave(turns, Firing::new(ticket), cx),
                }
            }
            Ran::Suspended(event) => event,
            Ran::Failed => Event::Budget,
        }
    }

    fn publish_marked(&self, net: &Net<'_>, node: NodeId) -> bool {
        self.settle(net, node, true)
    }

    fn pieces(&self) -> Option<Marks> {
        C::IS_INTERRUPTIBLE.then(|| self.marks.shared())
    }

    fn is_held(&self) -> bool {
        self.front.is_held() || self.is_at_cap()
    }

    fn is_running(&self) -> bool {
        let issued = self.issued.load(Ordering::Relaxed);
        let has_firing = |turns: &Turns| self.window.retired() + turns.queued() < issued;
        self.front.is_held()
            || self.window.completions() < issued
            || self.turns.as_ref().is_some_and(has_firing)
    }

    fn hold(&self, state: &NodeState) -> Result<Box<dyn Held + '_>, bool> {
        let Some(front) = self.front.try_claim() else { return Err(false) };
        let Some(back) = self.back.try_claim() else { return Err(false) };
        // No worker runs a ticket. Tickets from the first suspended one on are not published.
        let issued = self.window.retired()..front.next_ticket;
        let is_quiescent = self.window.at_rest(issued.clone()).is_some_and(|done| match &self.turns {
            None => back.is_settled(done, state),
            // No worker has a firing.
            Some(turns) => back.has_released(done) && turns.queued() == issued.len(),
        });
        // Otherwise a ticket may be completed while this thread holds the retirement. Its worker is then refused, and
        // no counter shows the ticket: the caller must set `unsettled`.
        if is_quiescent { Ok(Box::new(Quiescent { _front: front, _back: back })) } else { Err(true) }
    }

    fn is_framed(&self) -> bool {
        self.framed
    }
}
