//! Sequential kernels: one firing at a time, with state of its own.
//!
//! # Phases
//!
//! The [`Core`] lies under the node's claim ([`claim`](crate::node::claim)), so one thread at a time fires the node and
//! changes its phase.
//!
//! | phase | meaning | entered by | left when |
//! |---|---|---|---|
//! | running | the node fires when its inputs and outputs allow it | creation | a stream that it needs has ended; its code or framing function ends it; all consumers have left; it is cancelled; the run drains and it is a source |
//! | ending | no firing follows; items of the last one may lack room | `begin_end`, after the finishing function | all items are published |
//! | done | the node has ended its outputs and left its inputs | `end` | never |
//!
//! # An activation
//!
//! The thread that holds the claim fires in *slices* of at most `cx.slice` firings, until the budget is spent or a
//! firing lacks something. After each slice it publishes the outputs, releases the inputs and makes the neighbours
//! ready (`changed_by`, which fences). It sets the wait word before it releases the claim, so that a thread which reads
//! the word knows what the next firing lacks. A node whose items count against a byte limit has slices of one firing,
//! so that it exceeds the limit by one firing at most.
//!
//! A thread that is refused the claim does nothing. Its change is not missed: the holder sets the wait word, releases
//! the claim, fences, and examines the node once more at the end of its activation
//! ([`sched::ready`](crate::sched::ready)) or before it sleeps ([`sched::sleep`](crate::sched::sleep)).
//!
//! # Interrupted firings
//!
//! The code of `flat_map` keeps the iterator of its latest item. It pushes a *piece* of its items ([`pieces`](super::pieces))
//! and returns [`End::Interrupted`] while the iterator is not at its end. The node publishes the piece and calls the
//! code again when there is room, with inputs that are closed: also after its inputs have ended. Until the iterator ends
//! the node lacks room only, never items, and does not end, unless its consumers have left or it is cancelled. The firing
//! counts when it ends.
//!
//! # Dynamic outputs
//!
//! A firing may push more items on a dynamic output than the channel has free slots. The remaining items overflow into
//! the cursor and are *pending* until the channel has room. The node fires, and ends, only without pending items.

use super::framing::{FrameFn, Framed, Framing};
use super::pieces::{PieceLength, Pieces};
use super::{Flow, IntoFlow, SequentialCode};
use crate::channel::{Lack, Marks};
use crate::measure::clock::Part;
use crate::net::{ActivationContext, Body, By, Held, Net, NodeState};
use crate::node::claim::Claim;
use crate::port::inputs::Inputs;
use crate::port::loan::Lent;
use crate::port::outputs::Outputs;
use crate::sched::ending::ended;
use crate::sched::make_ready::changed_by;
use crate::sched::roaming::Roaming;
use thalweg_graph::NodeId;
use thalweg_policy::Event;

/// The phase of a node: see the module.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Phase {
    Running,
    Ending,
    Done,
}

/// The state under the node's claim.
struct Core<'env, I: Inputs, O: Outputs, C> {
    // Declared first, hence dropped first: the cursors drop the items that they own before the drop of the ports moves
    // the heads past these slots. The ring drops only items from its head on.
    in_cursors: I::Cursors<'static>,
    out_cursors: O::Cursors<'static>,
    ins: I,
    outs: O,
    code: C,
    finish: Option<Finish<'env, O>>,
    frame: Option<Framed<'env, I>>,
    /// The static rates of the inputs.
    limits: I::Limits,
    phase: Phase,
    /// An output is weighed: the node publishes after each firing, as its bytes count against a limit.
    weighed: bool,
    /// The latest firing was interrupted: the node continues it before it pops another item.
    interrupted: bool,
}

/// A function that the node calls once, after its last firing, to push the items that its code still holds.
pub(crate) type Finish<'env, O> = Box<dyn for<'f> FnOnce(&mut <O as Outputs>::Cursors<'f>) + Send + 'env>;

/// A sequential kernel.
pub(crate) struct Sequential<'env, I: Inputs, O: Outputs, C> {
    core: Claim<Core<'env, I, O, C>>,
    /// The length of the pieces of a firing that may be interrupted.
    piece: PieceLength,
    /// By output: how far the firings under way have come.
    marks: Marks,
    framed: bool,
}

/// Why a slice of firings stopped.
enum Stop {
    /// It has as many firings as were allowed, or a dynamic output has no room for another.
    Spent,
    /// The next firing lacks something.
    Lack(Lack),
    /// A firing is interrupted.
    Interrupted,
    /// The node ends, or has failed.
    End,
}

impl<'env, I, O, C> Sequential<'env, I, O, C>
where
    I: Inputs,
    O: Outputs,
    C: SequentialCode<I, O>,
{
    pub(crate) fn new(
        mut ins: I,
        outs: O,
        code: C,
        finish: Option<Finish<'env, O>>,
        frame: Option<Box<dyn FrameFn<I> + 'env>>,
    ) -> Self {
        let count = ins.count();
        let marks = Marks::new(outs.count());
        let core = Core {
            in_cursors: ins.cursors(),
            // SAFETY: the node has the marks, and drops its cursors first.
            out_cursors: unsafe { outs.sequential_cursors(&marks) },
            limits: ins.rates(),
            weighed: outs.weighed(),
            phase: Phase::Running,
            interrupted: false,
            ins,
            outs,
            code,
            finish,
            frame: frame.map(|frame| Framed::new(frame, count)),
        };
        let piece = PieceLength::new();
        Sequential { framed: core.frame.is_some(), piece, marks, core: Claim::new(core) }
    }

    /// Fires in slices until the budget is spent or a firing lacks something. The caller holds the claim; this sets the
    /// wait word.
    fn run(&self, core: &mut Core<'env, I, O, C>, cx: &mut ActivationContext<'_>) -> Event {
        let mut left = cx.budget;
        // A node with a thread of its own that publishes after each firing has items from outside.
        let is_from_outside = cx.by == By::Dedicated && cx.slice == 1;
        let mut pieces = Pieces::new(cx.timed, core.weighed || is_from_outside);
        if cx.net.liveness.closes_loops {
            // `starve::close` may have cut a stream at the consumer's position, below the tail that the ports have read. Not
            // only after an alert: another worker may have taken that, and not hold the claim yet. No stream is cut while
            // a node is active, so once under the claim suffices.
            core.ins.refresh();
        }
        cx.note_origin();
        loop {
            if cx.net.stopped() {
                return Event::Done;
            }
            // Before any firing and before the end: the items of an earlier firing come first.
            if O::pending(&core.out_cursors) {
                let lack = core.outs.flush(&mut core.out_cursors);
                changed_by(cx);
                if let Some(lack) = lack {
                    return lacking(cx, lack);
                }
            }
            match core.phase {
                Phase::Running => {}
                Phase::Ending => return self.end(core, cx),
                Phase::Done => return Event::Done,
            }
            if core.outs.all_gone() || cx.state().is_cancelled() {
                // No consumer would read what it pushes.
                if std::mem::take(&mut core.interrupted) {
                    core.code.abandon();
                }
                if !cx.state().drains() {
                    core.finish = None;
                    core.phase = Phase::Ending;
                    continue;
                }
            }
            if cx.net.draining() && core.ins.count() == 0 {
                self.begin_end(core);
                continue;
            }
            if left == 0 {
                self.set_wait_for_next(core, cx);
                return Event::Budget;
            }
            let limit = if core.weighed { 1 } else { left.min(cx.slice) };
            let limit = cx.next_run(limit);
            cx.begin_dilated();
            let (fired, stop) = match &core.frame {
                None => self.fire_static(core, cx, limit, &mut pieces),
                Some(_) => self.fire_framed(core, cx, limit),
            };
            cx.end_run(fired);
            if fired > 0 || matches!(stop, Stop::Interrupted) {
                pieces.shift(cx.end_dilated());
            }
            cx.fired += fired;
            left -= fired;
            core.interrupted = match stop {
                Stop::Interrupted => true,
                Stop::Lack(_) => core.interrupted && fired == 0,
                Stop::Spent | Stop::End => false,
            };
            if fired > 0 || matches!(stop, Stop::Interrupted) {
                core.outs.publish_sequential(&mut core.out_cursors);
                core.ins.release(&core.in_cursors);
                changed_by(cx);
            }
            match stop {
                Stop::Spent => {}
                Stop::Interrupted => {
                    cx.pieces += 1;
                    if pieces.end(&self.piece) {
                        self.set_wait_for_next(core, cx);
                        return Event::Budget;
                    }
                }
                Stop::End if cx.net.stopped() => return Event::Done,
                Stop::End => self.begin_end(core),
                Stop::Lack(Lack::Ended { .. }) => self.begin_end(core),
                Stop::Lack(lack) if fired == 0 => {
                    // A node whose input has ended must end even if the first thing that it lacks is room.
                    if core.frame.is_none() && !core.interrupted && core.ins.exhausted() {
                        self.begin_end(core);
                    } else if !self.purge(core, lack) {
                        return lacking(cx, lack);
                    }
                }
                // Found before the publication. An overflow has to be flushed first; then the next round finds the lack
                // again.
                Stop::Lack(_) => {}
            }
        }
    }

    /// Sets the wait word to what the next firing lacks, or to ready, so that no thread activates the node in vain. For
    /// a framed node it checks the outputs only: what it lacks on its inputs is known only to the framing function.
    fn set_wait_for_next(&self, core: &mut Core<'env, I, O, C>, cx: &ActivationContext<'_>) {
        let wait = &cx.state().wait;
        let needs_items = core.frame.is_none() && !core.interrupted;
        let lack = match needs_items {
            true => core.ins.firings(1).err().or_else(|| core.outs.room(1).err()),
            false => core.outs.room(1).err(),
        };
        match lack {
            Some(lack) if !needs_items || !core.ins.exhausted() => wait.lack(lack),
            _ => wait.ready(),
        }
    }

    /// Empties full channels whose consumer has left; true if the node has room for a firing then. For a node that
    /// lacks room on one output and has consumers on others.
    fn purge(&self, core: &mut Core<'env, I, O, C>, lack: Lack) -> bool {
        if !matches!(lack, Lack::Room { .. } | Lack::Bytes { .. }) {
            return false;
        }
        core.outs.purge_if_gone();
        core.outs.room(1).is_ok()
    }

    /// Fires as often as items and room allow, at most `limit` times. Returns the number of firings, and why they
    /// stopped.
    fn fire_static(
        &self,
        core: &mut Core<'env, I, O, C>,
        cx: &mut ActivationContext<'_>,
        limit: usize,
        pieces: &mut Pieces,
    ) -> (usize, Stop) {
        let continues = core.interrupted;
        let firings = match continues {
            true => Ok(1),
            false => core.ins.firings(limit),
        };
        let firings = match firings.and_then(|firings| core.outs.room(firings)) {
            Ok(firings) => firings,
            Err(lack) => return (0, Stop::Lack(lack)),
        };
        cx.lap(Part::Application);
        let Core { ins, outs, in_cursors, out_cursors, code, limits, .. } = core;
        if !continues {
            ins.open(in_cursors, firings);
        }
        outs.open_sequential(out_cursors);
        if C::IS_INTERRUPTIBLE {
            let (items, time) = pieces.begin(&self.piece);
            // A node whose items are weighed has pieces of one item.
            O::pause_after(out_cursors, items, time, usize::MAX);
        }
        // An interrupted firing finds its inputs closed: it has popped its items.
        let (fired, end) = match &cx.net.node(cx.node).roaming {
            None => code.run(in_cursors, out_cursors, limits.clone(), firings),
            Some(roaming) => fire_one_by_one(code, (in_cursors, out_cursors), limits, firings, (roaming, cx)),
        };
        let stop = match end {
            None => Stop::Spent,
            Some(End::Interrupted) => Stop::Interrupted,
            Some(end) => {
                report_failure(cx, end);
                Stop::End
            }
        };
        // Items of firings that did not take place, since the node ends or a dynamic output is full.
        ins.unclaim(in_cursors);
        (fired, stop)
    }

    /// [`Self::fire_static`] for a node with a framing function, which decides what each firing pops, and may decide on several
    /// equal ones at a time.
    fn fire_framed(
        &self,
        core: &mut Core<'env, I, O, C>,
        cx: &mut ActivationContext<'_>,
        limit: usize,
    ) -> (usize, Stop) {
        let firings = match core.outs.room(limit) {
            Ok(firings) => firings,
            Err(lack) => return (0, Stop::Lack(lack)),
        };
        cx.lap(Part::Application);
        let Core { ins, outs, in_cursors, out_cursors, code, frame, .. } = core;
        let frame = frame.as_mut().expect("a framed node");
        outs.open_sequential(out_cursors);
        let mut fired = 0;
        // The step comes before the framing function: once that has decided, the firing must take place. `fire_run`
        // steps again, which changes nothing, as nothing is pushed in between.
        while fired < firings && O::step(out_cursors) {
            match frame.next(ins) {
                Framing::Take => {}
                Framing::End => return (fired, Stop::End),
                Framing::Lack(lack) | Framing::Short(lack) => return (fired, Stop::Lack(lack)),
            }
            let equal = frame.firings(ins, firings - fired);
            ins.open_framed(in_cursors, frame.takes(), equal);
            let (ended, end) = code.run(in_cursors, out_cursors, I::framed(frame.takes()), equal);
            fired += ended;
            if ended < equal {
                // Items of firings that did not take place. The function has not counted these firings.
                ins.unclaim(in_cursors);
            }
            if let Some(end) = end {
                debug_assert!(!matches!(end, End::Interrupted), "a framed kernel is not interruptible");
                report_failure(cx, end);
                return (fired, Stop::End);
            }
        }
        (fired, Stop::Spent)
    }

    /// Enters the phase `Ending`, and calls the finishing function.
    fn begin_end(&self, core: &mut Core<'env, I, O, C>) {
        core.phase = Phase::Ending;
        if let Some(finish) = core.finish.take() {
            // Without checking for room: dynamic outputs overflow into their cursors, and a node with static ones has
            // no finishing function.
            core.outs.open_sequential(&mut core.out_cursors);
            finish(&mut core.out_cursors);
            core.outs.publish_sequential(&mut core.out_cursors);
        }
    }

    /// Enters the phase `Done`: ends the outputs, leaves the inputs, and reports the end to the run. All items are
    /// published.
    fn end(&self, core: &mut Core<'env, I, O, C>, cx: &mut ActivationContext<'_>) -> Event {
        core.phase = Phase::Done;
        // A cancelled node ends without ending its streams: a consumer must not observe a difference to a node that
        // continues (`liveness::dead`).
        if !cx.state().is_cancelled() {
            core.outs.end();
        }
        core.ins.leave();
        ended(cx.net, cx.node);
        Event::Done
    }
}

/// Why a run of firings ends early.
pub(crate) enum End {
    /// The node's code has returned [`Flow::End`].
    Requested,
    /// The code has returned an error.
    Failed(Box<dyn std::error::Error + Send + Sync>),
    /// A firing pushed fewer items than its rate on this static output.
    Short((usize, usize)),
    /// The firing is interrupted. It does not count as one yet.
    Interrupted,
}

/// Fails the run, if the node ends by a failure.
fn report_failure(cx: &ActivationContext<'_>, end: End) {
    match end {
        End::Requested | End::Interrupted => {}
        End::Failed(error) => cx.net.fail_node(cx.node, error),
        End::Short(port) => cx.net.fail_short(cx.node, port),
    }
}

/// [`SequentialCode::run`] for a [roaming](crate::sched::roaming) source: up to the end of a firing that the looker has
/// found long. Then the source publishes after each firing until the activation ends.
fn fire_one_by_one<I: Inputs, O: Outputs, C: SequentialCode<I, O>>(
    code: &mut C,
    (ins, outs): (&mut I::Cursors<'static>, &mut O::Cursors<'static>),
    limits: &I::Limits,
    firings: usize,
    (roaming, cx): (&Roaming, &mut ActivationContext<'_>),
) -> (usize, Option<End>) {
    let mut fired = 0;
    while fired < firings {
        roaming.begin_firing();
        let (ended, end) = code.run(ins, outs, limits.clone(), 1);
        fired += ended;
        let was_long = roaming.end_firing(&cx.net.sleep);
        if was_long {
            (cx.was_long, cx.slice) = (true, 1);
        }
        if was_long || ended == 0 || end.is_some() {
            return (fired, end);
        }
    }
    (fired, None)
}

/// The inner loop of code that cannot be interrupted: [`SequentialCode::run`]. One instance for all callers: with several
/// the compiler calls the node's code instead of inlining it, and keeps the cursors in memory. So the code has no other
/// call either.
#[inline(never)]
pub(super) fn fire_run<I, O, F, R>(
    in_cursors: &mut I::Cursors<'static>,
    out_cursors: &mut O::Cursors<'static>,
    fire: &mut F,
    limits: I::Limits,
    firings: usize,
) -> (usize, Option<End>)
where
    I: Inputs,
    O: Outputs,
    R: IntoFlow,
    F: for<'f> FnMut(&mut I::Cursors<'f>, &mut O::Cursors<'f>) -> R + Send,
{
    // SAFETY: both are borrowed mutably for the whole call, so no other code has them; below they are used only through
    // the loans, which end before the borrows.
    let (mut ins, mut outs) = unsafe { (Lent::new(in_cursors), Lent::new(out_cursors)) };
    for fired in 0..firings {
        if !O::step(&mut outs.here) {
            return (fired, None);
        }
        I::step(&mut ins.here, &limits);
        let flow = fire(&mut ins.here, &mut outs.here).into_flow();
        I::finish(&mut ins.here);
        match flow {
            Flow::More => {}
            Flow::End => return (fired + 1, Some(End::Requested)),
            Flow::Fail(error) => return (fired + 1, Some(End::Failed(error))),
        }
        if let Some(short) = O::short(&outs.here) {
            return (fired + 1, Some(End::Short(short)));
        }
        O::mark(&outs.here);
    }
    (firings, None)
}

/// Sets the wait word of the activated node, and returns the event that ends the activation. The caller holds the
/// node's claim.
pub(super) fn lacking(cx: &ActivationContext<'_>, lack: Lack) -> Event {
    cx.state().wait.lack(lack);
    match lack {
        Lack::Items { channel, .. } | Lack::Timed { channel, .. } | Lack::Ended { channel } => {
            Event::Empty(channel)
        }
        Lack::Room { channel, .. } | Lack::Bytes { channel } => Event::Full(channel),
        Lack::Any { inputs } => {
            let first = inputs.trailing_zeros() as usize;
            Event::Empty(cx.net.inputs(cx.node)[first])
        }
    }
}

impl<I, O, C> Body for Sequential<'_, I, O, C>
where
    I: Inputs,
    O: Outputs,
    C: SequentialCode<I, O>,
{
    fn activate(&self, cx: &mut ActivationContext<'_>) -> Event {
        self.core.with(Event::Refused, |core| self.run(core, cx))
    }

    /// Weighed outputs are left out: a node with one publishes after each firing.
    fn publish_marked(&self, net: &Net<'_>, node: NodeId) -> bool {
        let outputs = net.outputs(node).iter().map(|channel| net.meter(*channel)).enumerate();
        let mut moved = false;
        for (port, meter) in outputs.filter(|(_, meter)| !meter.is_weighed()) {
            moved |= meter.publish_marked(self.marks.at(port));
        }
        moved
    }

    fn pieces(&self) -> Option<Marks> {
        C::IS_INTERRUPTIBLE.then(|| self.marks.shared())
    }

    fn is_held(&self) -> bool {
        self.core.is_held()
    }

    fn hold(&self, _state: &NodeState) -> Result<Box<dyn Held + '_>, bool> {
        self.core.try_claim().map_or(Err(false), |core| Ok(Box::new(core)))
    }

    fn is_framed(&self) -> bool {
        self.framed
    }
}
