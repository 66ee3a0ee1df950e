//! Sequential kernels: one firing at a time, with state of its own.

use super::{Flow, IntoFlow};
use crate::channel::Lack;
use crate::measure::clock::Part;
use crate::net::{Body, Cx, Held, NodeState};
use crate::node::claim::Claim;
use crate::port::tuple::{Inputs, Lent, Outputs, Takes};
use crate::sched::ending::ended;
use crate::sched::make_ready::changed_by;
use thalweg_policy::Event;

/// What the next firing takes from each input, decided at claim time.
pub(crate) enum Framing {
    /// The firing takes these numbers of items.
    Take,
    /// The node can never fire again.
    End,
    /// Wait.
    Lack(Lack),
}

/// A framing function in the engine's terms: fills `takes`.
pub(crate) trait FrameFn<I: Inputs>: Send {
    fn frame(&mut self, ins: &mut I, wanted: &mut [usize], takes: &mut [usize]) -> Framing;
}

/// A framing function that asks with [`crate::Glance::peek`] and so is determinate.
impl<I, F> FrameFn<I> for F
where
    I: Inputs,
    F: FnMut(&I::Glances) -> Result<Option<I::Takes>, crate::NotYet> + Send,
{
    fn frame(&mut self, ins: &mut I, wanted: &mut [usize], takes: &mut [usize]) -> Framing {
        loop {
            let glances = ins.glances();
            match self(&glances) {
                Ok(None) => return Framing::End,
                Ok(Some(said)) => {
                    takes.copy_from_slice(said.by_input());
                    // A firing may take more than the function looked at.
                    return match ins.short_of(takes) {
                        Some(Lack::Ended { .. }) => Framing::End,
                        Some(lack) => Framing::Lack(lack),
                        None => Framing::Take,
                    };
                }
                Err(_) => {
                    I::wanted(&glances, wanted);
                    assert!(
                        wanted.iter().any(|items| *items > 0),
                        "the framing function gave back a `NotYet` that no peek of this call has given it"
                    );
                    if let Some(lack) = ins.lack(wanted) {
                        return Framing::Lack(lack);
                    }
                }
            }
        }
    }
}

/// A framing function that may see what has arrived: for nodes that are not determinate. It says
/// what to take, or which inputs (a mask) to wait for; an empty mask ends the node.
pub(crate) struct AnyFrame<F>(pub(crate) F);

impl<I, F> FrameFn<I> for AnyFrame<F>
where
    I: Inputs,
    F: FnMut(&I::Glances, &mut [usize]) -> u64 + Send,
{
    fn frame(&mut self, ins: &mut I, _wanted: &mut [usize], takes: &mut [usize]) -> Framing {
        ins.refresh();
        takes.fill(0);
        let inputs = self.0(&ins.glances(), takes);
        match (takes.iter().any(|take| *take > 0), inputs) {
            (true, _) => Framing::Take,
            (false, 0) => Framing::End,
            (false, inputs) => Framing::Lack(Lack::Any { inputs }),
        }
    }
}

/// How far a node has come.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Phase {
    Running,
    /// No firing will follow; what it gave last may still have to go out.
    Ending,
    Done,
}

/// What the claim guards.
struct Core<'env, I: Inputs, O: Outputs, F> {
    // Cursors first: they drop their items before the ports say what is the ring's to drop.
    in_cursors: I::Cursors<'static>,
    out_cursors: O::Cursors<'static>,
    ins: I,
    outs: O,
    fire: F,
    finish: Option<Finish<'env, O>>,
    frame: Option<Box<dyn FrameFn<I> + 'env>>,
    limits: I::Limits,
    takes: Vec<usize>,
    wanted: Vec<usize>,
    phase: Phase,
    /// Publish after each firing: its bytes count against a limit.
    weighed: bool,
}

/// Called once, after the last firing, to push what is left.
pub(crate) type Finish<'env, O> = Box<dyn for<'f> FnOnce(&mut <O as Outputs>::Cursors<'f>) + Send + 'env>;

/// A sequential kernel.
pub(crate) struct Sequential<'env, I: Inputs, O: Outputs, F> {
    core: Claim<Core<'env, I, O, F>>,
    framed: bool,
}

/// Why a stretch of firings stopped.
enum Stop {
    Spent,
    Lack(Lack),
    End,
}

impl<'env, I, O, F, R> Sequential<'env, I, O, F>
where
    I: Inputs,
    O: Outputs,
    R: IntoFlow,
    F: for<'f> FnMut(&mut I::Cursors<'f>, &mut O::Cursors<'f>) -> R + Send,
{
    pub(crate) fn new(
        mut ins: I,
        outs: O,
        fire: F,
        finish: Option<Finish<'env, O>>,
        frame: Option<Box<dyn FrameFn<I> + 'env>>,
    ) -> Self {
        let count = ins.count();
        let core = Core {
            in_cursors: ins.cursors(),
            out_cursors: outs.sequential_cursors(),
            limits: ins.rates(),
            takes: vec![0; count],
            wanted: vec![0; count],
            weighed: outs.weighed(),
            phase: Phase::Running,
            ins,
            outs,
            fire,
            finish,
            frame,
        };
        Sequential { framed: core.frame.is_some(), core: Claim::new(core) }
    }

    fn run(&self, core: &mut Core<'env, I, O, F>, cx: &mut Cx<'_>) -> Event {
        let mut left = cx.budget;
        if cx.alerted && cx.net.liveness.closes_loops {
            // A stream may have been cut short: see `starve`.
            core.ins.refresh();
        }
        loop {
            if cx.net.stopped() {
                return Event::Done;
            }
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
                core.finish = None;
                core.phase = Phase::Ending;
                continue;
            }
            if cx.net.draining() && core.ins.count() == 0 {
                self.begin_end(core);
                continue;
            }
            if left == 0 {
                self.announce_more(core, cx);
                return Event::Budget;
            }
            let limit = if core.weighed { 1 } else { left.min(cx.slice) };
            let (fired, stop) = match &core.frame {
                None => self.fire_static(core, cx, limit),
                Some(_) => self.fire_framed(core, cx, limit),
            };
            cx.fired += fired;
            left -= fired;
            if fired > 0 {
                core.outs.publish_sequential(&mut core.out_cursors);
                core.ins.release(&core.in_cursors);
                changed_by(cx);
            }
            cx.lap(Part::Queue);
            match stop {
                Stop::Spent => {}
                Stop::End if cx.net.stopped() => return Event::Done,
                Stop::End => self.begin_end(core),
                Stop::Lack(Lack::Ended { .. }) => self.begin_end(core),
                Stop::Lack(lack) if fired == 0 => {
                    if core.frame.is_none() && core.ins.exhausted() {
                        self.begin_end(core);
                    } else if !self.purge(core, lack) {
                        return lacking(cx, lack);
                    }
                }
                Stop::Lack(_) => {}
            }
        }
    }

    /// Sets the wait word by whether there is more to do, so that no thread activates the node for nothing.
    fn announce_more(&self, core: &mut Core<'env, I, O, F>, cx: &Cx<'_>) {
        let wait = &cx.state().wait;
        let lack = match &core.frame {
            None => core.ins.firings(1).err().or_else(|| core.outs.room(1).err()),
            Some(_) => core.outs.room(1).err(),
        };
        match lack {
            Some(lack) if core.frame.is_some() || !core.ins.exhausted() => wait.lack(lack),
            _ => wait.ready(),
        }
    }

    /// Where the consumer of a full channel has left, empties it: true if that made room.
    fn purge(&self, core: &mut Core<'env, I, O, F>, lack: Lack) -> bool {
        if !matches!(lack, Lack::Room { .. } | Lack::Bytes { .. }) {
            return false;
        }
        core.outs.purge_if_gone();
        core.outs.room(1).is_ok()
    }

    /// Fires as often as items and room allow, at most `limit` times.
    fn fire_static(&self, core: &mut Core<'env, I, O, F>, cx: &mut Cx<'_>, limit: usize) -> (usize, Stop) {
        let firings = match core.ins.firings(limit) {
            Ok(firings) => firings,
            Err(lack) => return (0, Stop::Lack(lack)),
        };
        let firings = match core.outs.room(firings) {
            Ok(firings) => firings,
            Err(lack) => return (0, Stop::Lack(lack)),
        };
        cx.lap(Part::Application);
        let Core { ins, outs, in_cursors, out_cursors, fire, limits, .. } = core;
        ins.open(in_cursors, firings);
        outs.open_sequential(out_cursors);
        let (fired, end) = fire_run::<I, O, F, R>(in_cursors, out_cursors, fire, limits.clone(), firings);
        let stop = match end {
            None => Stop::Spent,
            Some(end) => {
                note_end(cx, end);
                Stop::End
            }
        };
        ins.unclaim(in_cursors);
        (fired, stop)
    }

    /// Fires a node whose framing function says what each firing takes.
    fn fire_framed(&self, core: &mut Core<'env, I, O, F>, cx: &mut Cx<'_>, limit: usize) -> (usize, Stop) {
        let firings = match core.outs.room(limit) {
            Ok(firings) => firings,
            Err(lack) => return (0, Stop::Lack(lack)),
        };
        cx.lap(Part::Application);
        let Core { ins, outs, in_cursors, out_cursors, fire, frame, takes, wanted, .. } = core;
        let frame = frame.as_mut().expect("a framed node");
        outs.open_sequential(out_cursors);
        let mut fired = 0;
        while fired < firings && O::step(out_cursors) {
            match frame.frame(ins, wanted, takes) {
                Framing::Take => {}
                Framing::End => return (fired, Stop::End),
                Framing::Lack(lack) => return (fired, Stop::Lack(lack)),
            }
            ins.open_framed(in_cursors, takes);
            let (_, end) = fire_run::<I, O, F, R>(in_cursors, out_cursors, fire, I::framed(takes), 1);
            fired += 1;
            if let Some(end) = end {
                note_end(cx, end);
                return (fired, Stop::End);
            }
        }
        (fired, Stop::Spent)
    }

    /// Calls the finishing function, which pushes what is left; no firing follows.
    fn begin_end(&self, core: &mut Core<'env, I, O, F>) {
        core.phase = Phase::Ending;
        if let Some(finish) = core.finish.take() {
            // Dynamic outputs take it whatever the room; a node with static ones has no `finish`.
            core.outs.open_sequential(&mut core.out_cursors);
            finish(&mut core.out_cursors);
            core.outs.publish_sequential(&mut core.out_cursors);
        }
    }

    fn end(&self, core: &mut Core<'env, I, O, F>, cx: &mut Cx<'_>) -> Event {
        core.phase = Phase::Done;
        // The end of a cancelled node is none of its streams': see `useful`.
        if !cx.state().is_cancelled() {
            core.outs.end();
        }
        core.ins.leave();
        ended(cx.net, cx.node);
        Event::Done
    }
}

/// Why a node ends in the middle of a stretch.
enum End {
    Said,
    Failed(Box<dyn std::error::Error + Send + Sync>),
    Short(usize),
}

fn note_end(cx: &Cx<'_>, end: End) {
    match end {
        End::Said => {}
        End::Failed(error) => cx.net.fail_node(cx.node, error),
        End::Short(port) => cx.net.fail_short(cx.node, port),
    }
}

/// The inner loop: up to `firings` firings, fewer where a dynamic output fills up.
fn fire_run<I, O, F, R>(
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
    // SAFETY: both are borrowed mutably for the whole function and used through the loan only.
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
            Flow::End => return (fired + 1, Some(End::Said)),
            Flow::Fail(error) => return (fired + 1, Some(End::Failed(error))),
        }
        if let Some(port) = O::short(&outs.here) {
            return (fired + 1, Some(End::Short(port)));
        }
    }
    (firings, None)
}

/// Leaves word of what the node waits for.
pub(super) fn lacking(cx: &Cx<'_>, lack: Lack) -> Event {
    cx.state().wait.lack(lack);
    match lack {
        Lack::Items { channel, .. } | Lack::Ended { channel } => Event::Empty(channel),
        Lack::Room { channel, .. } | Lack::Bytes { channel } => Event::Full(channel),
        Lack::Any { inputs } => {
            let first = inputs.trailing_zeros() as usize;
            Event::Empty(cx.net.inputs(cx.node)[first])
        }
    }
}

impl<I, O, F, R> Body for Sequential<'_, I, O, F>
where
    I: Inputs,
    O: Outputs,
    R: IntoFlow,
    F: for<'f> FnMut(&mut I::Cursors<'f>, &mut O::Cursors<'f>) -> R + Send,
{
    fn activate(&self, cx: &mut Cx<'_>) -> Event {
        match self.core.try_claim() {
            Some(mut core) => self.run(&mut core, cx),
            None => Event::Refused,
        }
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
