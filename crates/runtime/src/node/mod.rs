//! Nodes as the engine sees them: something that can be activated, and the word that says what it
//! waits for.
//!
//! # Who looks again
//!
//! An activation that cannot go on, or sees as it ends that the next one could not, leaves in its
//! node's [`Wait`] the one thing it lacks, before it gives the claim back. From then on the node is claimable exactly when that thing is there, which
//! anybody can see from the channel's counters. A claim that was refused, or a wait word that was
//! read while it was being written, gives a wrong answer for a moment only: its writer is awake,
//! and looks at every node once more before it sleeps.

mod parallel;
mod sequential;
mod tally;

pub(crate) use parallel::{NodeLimits, Parallel};
pub(crate) use sequential::{AnyFrame, Finish, FrameFn, Sequential};
pub(crate) use tally::Tally;

use crate::channel::Meter;
use crate::claim::Claimed;
use crate::net::Net;
use crate::port::Lack;
use crate::process::{Turn, channel, dropped, notes, sends};
use crate::ready::Tokens;
use crate::sync::{AtomicBool, AtomicUsize, Ordering};
use crossbeam_utils::CachePadded;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64};
use thalweg_graph::{ChannelId, NodeId};
use thalweg_policy::Event;

/// What a firing says when it returns.
#[derive(Debug)]
pub enum Flow {
    /// Fire again when there is input.
    More,
    /// The node ends here, whatever its inputs still hold.
    End,
    /// The node, and with it the run, has failed.
    Fail(Box<dyn std::error::Error + Send + Sync>),
}

/// What a kernel may return: nothing, a [`std::ops::ControlFlow`] that ends the node, or a
/// `Result` of either.
#[diagnostic::on_unimplemented(
    message = "a kernel cannot return `{Self}`",
    label = "returns `{Self}`",
    note = "a kernel returns `()`, `ControlFlow<()>` (`Break` ends the node), or a `Result` of either; \
            results leave through its outputs: `out.push(..)`"
)]
pub trait IntoFlow {
    /// The same as a [`Flow`].
    fn into_flow(self) -> Flow;
}

/// What a parallel kernel may return: nothing, or a `Result<(), E>`. It cannot end its node: its
/// firings overlap, so none of them is the last.
#[diagnostic::on_unimplemented(
    message = "a parallel kernel cannot return `{Self}`",
    label = "returns `{Self}`",
    note = "a parallel kernel returns `()` or `Result<(), E>`; results leave through its outputs: `out.push(..)`",
    note = "only a sequential kernel can end its node (`ControlFlow`): firings of a parallel one overlap"
)]
pub trait IntoResult {
    /// The error that fails the node, if there is one.
    ///
    /// # Errors
    /// As the kernel says.
    fn into_result(self) -> Result<(), Box<dyn std::error::Error + Send + Sync>>;
}

impl IntoResult for () {
    #[inline(always)]
    fn into_result(self) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
        Ok(())
    }
}

impl<E: Into<Box<dyn std::error::Error + Send + Sync>>> IntoResult for Result<(), E> {
    #[inline(always)]
    fn into_result(self) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
        self.map_err(E::into)
    }
}

impl IntoFlow for () {
    #[inline(always)]
    fn into_flow(self) -> Flow {
        Flow::More
    }
}

impl IntoFlow for Flow {
    #[inline(always)]
    fn into_flow(self) -> Flow {
        self
    }
}

impl IntoFlow for std::ops::ControlFlow<()> {
    #[inline(always)]
    fn into_flow(self) -> Flow {
        if self.is_break() { Flow::End } else { Flow::More }
    }
}

impl<F: IntoFlow, E: Into<Box<dyn std::error::Error + Send + Sync>>> IntoFlow for Result<F, E> {
    #[inline(always)]
    fn into_flow(self) -> Flow {
        match self {
            Ok(flow) => flow.into_flow(),
            Err(error) => Flow::Fail(error.into()),
        }
    }
}

/// The code of a node.
pub(crate) trait Body: Send + Sync {
    /// Runs the node until its budget is spent or something is lacking.
    fn activate(&self, cx: &mut Cx<'_>) -> Event;
    /// Whether another thread holds what an activation would need.
    fn is_held(&self) -> bool;
    /// Keeps all others from activating the node, if it is at rest: nothing of it is under way.
    /// Without: whether there may be something to be done that a refused thread has left undone.
    fn hold(&self, state: &NodeState) -> Result<Box<dyn Held + '_>, bool>;
    /// Whether a framing function decides what firings take, and when the node ends.
    fn is_framed(&self) -> bool;
    /// Whether, once begun, it must be activated and dropped by one thread: see `coroutine`.
    fn stays(&self) -> bool {
        false
    }
    /// That thread leaves, and the run is over.
    fn leave(&self) {}
}

/// A node that nobody else can activate, until this is dropped: see [`Body::hold`].
pub(crate) trait Held {}

impl<T> Held for Claimed<'_, T> {}

/// What activations are given, one after the other by one thread, and what they report.
pub(crate) struct Cx<'a> {
    pub(crate) net: &'a Net<'a>,
    pub(crate) node: NodeId,
    /// Its shared half.
    state: Option<&'a NodeState>,
    /// Firings this activation may do.
    pub(crate) budget: usize,
    /// Firings after which it publishes.
    pub(crate) slice: usize,
    /// Firings it did.
    pub(crate) fired: usize,
    /// Where the time went, if this activation is a sampled one.
    pub(crate) laps: Option<crate::clock::Laps>,
    /// Who activates.
    pub(crate) by: By,
    /// A neighbour has ended since the latest activation.
    pub(crate) alerted: bool,
    /// So it has, or sources are to end: the node must see whether it goes on.
    pub(crate) looks: bool,
    /// What a process's ends must know of the poll they are in.
    pub(crate) turn: Turn<'a>,
    /// A process's activation may have changed more than its turn has touched.
    pub(crate) touched_all: bool,
    /// Ends dropped on this thread before, and those with what else is noted of drops.
    dropped: u64,
    noted: u64,
}

impl<'a> Cx<'a> {
    /// For activations by this thread.
    pub(crate) fn new(net: &'a Net<'a>, by: By) -> Cx<'a> {
        Cx {
            net,
            node: NodeId(0),
            state: None,
            budget: 0,
            slice: 0,
            fired: 0,
            laps: None,
            by,
            alerted: false,
            looks: false,
            turn: Turn::new(net),
            touched_all: false,
            dropped: dropped(),
            noted: notes(),
        }
    }

    /// The next activation is of this node, for so many firings.
    #[inline]
    pub(crate) fn begin(
        &mut self,
        node: NodeId,
        state: &'a NodeState,
        (budget, slice): (usize, usize),
        alerted: bool,
    ) {
        (self.node, self.budget, self.slice) = (node, budget, slice);
        self.state = Some(state);
        self.fired = 0;
        self.alerted = alerted;
        self.looks = alerted || self.net.draining();
        self.touched_all = false;
    }

    /// Whether this thread has dropped anything that matters since it was asked last.
    #[inline]
    pub(crate) fn any_drops(&mut self) -> bool {
        let noted = notes();
        std::mem::replace(&mut self.noted, noted) != noted
    }

    /// Whether this thread has dropped ends of processes since it was asked last.
    #[inline]
    pub(crate) fn ends_dropped(&mut self) -> bool {
        let dropped = dropped();
        std::mem::replace(&mut self.dropped, dropped) != dropped
    }
}

/// Who activates a node, and so who is told of what has changed by it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum By {
    /// A worker whose policy looks for itself.
    Worker,
    /// A worker that tells its policy when the activation has ended.
    Teller(usize),
    /// A thread that is no worker.
    Outsider,
}

impl Cx<'_> {
    #[inline]
    pub(crate) fn state(&self) -> &NodeState {
        self.state.unwrap_or_else(|| &self.net.nodes[self.node.index()].state)
    }

    /// After every change a neighbour may have waited for.
    #[inline]
    pub(crate) fn changed(&self) {
        match self.by {
            By::Outsider => self.net.changed_outside(self.node),
            By::Worker | By::Teller(_) => self.net.changed(self.node),
        }
    }

    /// The claim of a parallel node was given back: another worker may claim there too.
    #[inline]
    pub(crate) fn share_claim(&self) {
        match self.by {
            By::Teller(worker) => self.net.tell_worker(worker, self.node),
            By::Worker | By::Outsider => self.net.share_claim(self.node, self.slice),
        }
    }

    /// Marks the boundary between queue operations and application code.
    #[inline]
    pub(crate) fn lap(&mut self, into: crate::clock::Part) {
        if let Some(laps) = &mut self.laps {
            laps.lap(into);
        }
    }
}

const READY: usize = 0;
const ITEMS: usize = 1;
const ROOM: usize = 2;
const BYTES: usize = 3;
const WINDOW: usize = 4;
const ANY: usize = 5;
/// Nothing but an outside event makes the node claimable again: it has ended.
const NEVER: usize = 6;
/// Somebody outside the graph will set the node's alert.
const FOREIGN: usize = 7;

/// The wait word of a process that the operation at the other end of a channel serves.
#[inline]
fn waited_by(operation: u64) -> u64 {
    let kind = if sends(operation) { ITEMS } else { ROOM };
    kind as u64 | u64::from(channel(operation).0) << 3
}

/// What a node waits for, packed so that anybody may read it.
#[derive(Debug)]
pub(crate) struct Wait {
    /// Kind in the low three bits, channel above.
    what: AtomicUsize,
    until: AtomicUsize,
}

impl Wait {
    fn new() -> Wait {
        Wait { what: AtomicUsize::new(READY), until: AtomicUsize::new(0) }
    }

    #[inline]
    fn set(&self, kind: usize, channel: usize, until: usize) {
        self.until.store(until, Ordering::Relaxed);
        self.what.store(kind | channel << 3, Ordering::Release);
    }

    pub(crate) fn ready(&self) {
        if self.what.load(Ordering::Relaxed) != READY {
            self.set(READY, 0, 0);
        }
    }

    pub(crate) fn never(&self) {
        self.set(NEVER, 0, 0);
    }

    /// Waits for somebody outside the graph.
    pub(crate) fn foreign(&self) {
        self.set(FOREIGN, 0, 0);
    }

    /// Waits until that many tickets are retired.
    pub(crate) fn window(&self, retired: usize) {
        self.set(WINDOW, 0, retired);
    }

    #[inline]
    pub(crate) fn lack(&self, lack: Lack) {
        match lack {
            Lack::Items { channel, until } => self.set(ITEMS, channel.index(), until),
            Lack::Room { channel, until } => self.set(ROOM, channel.index(), until),
            Lack::Bytes { channel } => self.set(BYTES, channel.index(), 0),
            Lack::Any { inputs } => self.set(ANY, 0, inputs as usize),
            Lack::Ended { .. } => self.ready(),
        }
    }

    /// The wait as words, for messages and for the search for cycles.
    #[inline]
    pub(crate) fn read(&self) -> Waiting {
        let what = self.what.load(Ordering::Acquire);
        let until = self.until.load(Ordering::Relaxed);
        let channel = ChannelId((what >> 3) as u32);
        match what & 7 {
            ITEMS => Waiting::Items { channel, until },
            ROOM => Waiting::Room { channel, until },
            BYTES => Waiting::Bytes { channel },
            WINDOW => Waiting::Window { retired: until },
            ANY => Waiting::Any { inputs: until as u64 },
            NEVER => Waiting::Never,
            FOREIGN => Waiting::Foreign,
            _ => Waiting::Ready,
        }
    }
}

/// A wait, unpacked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Waiting {
    Ready,
    Items { channel: ChannelId, until: usize },
    Room { channel: ChannelId, until: usize },
    Bytes { channel: ChannelId },
    Window { retired: usize },
    Any { inputs: u64 },
    Never,
    Foreign,
}

/// No worker's number.
pub(crate) const NOBODY: u32 = u32::MAX;

/// The node's thread does not nap.
pub(crate) const NO_NAP: usize = usize::MAX;

/// No publication of this output is stuck.
pub(crate) const UNSTUCK: usize = usize::MAX;

/// The shared half of a node.
#[derive(Debug)]
pub(crate) struct NodeState {
    pub(crate) wait: Wait,
    pub(crate) done: AtomicBool,
    /// Nothing the node could still do would reach a live end.
    pub(crate) cancelled: AtomicBool,
    /// It was wanted, and is not any more: see [`crate::useful`].
    pub(crate) unwanted: AtomicBool,
    /// A neighbour has ended: look again, whatever the wait.
    pub(crate) alert: AtomicBool,
    /// A worker has noted that it waits for room: see [`crate::suspects`].
    pub(crate) suspected: AtomicBool,
    /// A dedicated thread is asleep, or about to be, until this node's wait is over.
    pub(crate) dozing: AtomicBool,
    /// The counter that ends a nap of that thread early; no nap, [`NO_NAP`].
    pub(crate) nap: AtomicUsize,
    /// The worker that activated the node last; none yet, [`NOBODY`].
    pub(crate) last: AtomicU32,
    /// Activations by another worker than the one before.
    pub(crate) moves: AtomicU64,
    /// Where the policy is told.
    pub(crate) tokens: Tokens,
    /// Nanoseconds a firing takes, smoothed, times 16.
    pub(crate) pace: AtomicU32,
    /// What follows from it: firings of an activation in the upper half, of a slice in the lower.
    pub(crate) batch: AtomicU64,
    pub(crate) firings: AtomicU64,
    pub(crate) activations: AtomicU64,
    pub(crate) busy: AtomicU64,
    /// Of a parallel node.
    parallel: Option<Box<ParallelState>>,
}

/// The shared half of a parallel node, beside what all have.
#[derive(Debug)]
struct ParallelState {
    /// For each output: the head at which a stuck publication can go on.
    stuck: Box<[AtomicUsize]>,
    /// Something may be left to do that the wait word does not show: a completed ticket whose worker found the
    /// retirement held by a search, or bytes given up that a claim may wait for.
    unsettled: AtomicBool,
    /// Tickets retired.
    retired: Arc<CachePadded<AtomicUsize>>,
}

impl NodeState {
    /// Of a node that is one thread's at a time.
    pub(crate) fn single() -> NodeState {
        NodeState::new(1)
    }

    /// Of a parallel node with so many outputs, for so many workers.
    pub(crate) fn parallel(outputs: usize, workers: usize) -> NodeState {
        let parallel = ParallelState {
            stuck: (0..outputs).map(|_| AtomicUsize::new(UNSTUCK)).collect(),
            unsettled: AtomicBool::new(false),
            retired: Arc::new(CachePadded::new(AtomicUsize::new(0))),
        };
        NodeState { parallel: Some(Box::new(parallel)), ..NodeState::new(workers) }
    }

    /// With so many tokens at most.
    fn new(tokens: usize) -> NodeState {
        NodeState {
            wait: Wait::new(),
            done: AtomicBool::new(false),
            cancelled: AtomicBool::new(false),
            unwanted: AtomicBool::new(false),
            alert: AtomicBool::new(false),
            suspected: AtomicBool::new(false),
            dozing: AtomicBool::new(false),
            nap: AtomicUsize::new(NO_NAP),
            last: AtomicU32::new(NOBODY),
            moves: AtomicU64::new(0),
            tokens: Tokens::new(tokens),
            pace: AtomicU32::new(0),
            batch: AtomicU64::new(0),
            firings: AtomicU64::new(0),
            activations: AtomicU64::new(0),
            busy: AtomicU64::new(0),
            parallel: None,
        }
    }

    /// For each output of a parallel node: the head at which a stuck publication can go on.
    pub(crate) fn stuck(&self) -> &[AtomicUsize] {
        self.parallel.as_ref().map_or(&[], |parallel| &parallel.stuck)
    }

    /// Makes a parallel node claimable, whatever it waits for.
    pub(crate) fn look_again(&self) {
        if let Some(unsettled) = self.unsettled() {
            unsettled.store(true, Ordering::Release);
        }
    }

    /// Something may be left to do at a parallel node that its wait word does not show.
    pub(crate) fn unsettled(&self) -> Option<&AtomicBool> {
        self.parallel.as_ref().map(|parallel| &parallel.unsettled)
    }

    /// Tickets retired, of a parallel node.
    pub(crate) fn retired(&self) -> Option<&Arc<CachePadded<AtomicUsize>>> {
        self.parallel.as_ref().map(|parallel| &parallel.retired)
    }

    /// The worker that activated the node last, if any has.
    #[inline]
    pub(crate) fn last_worker(&self) -> Option<usize> {
        let last = self.last.load(Ordering::Relaxed);
        (last != NOBODY).then_some(last as usize)
    }

    #[inline]
    pub(crate) fn is_done(&self) -> bool {
        self.done.load(Ordering::Acquire)
    }

    #[inline]
    pub(crate) fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed)
    }

    /// The alert, which is over with this.
    #[inline]
    pub(crate) fn take_alert(&self) -> bool {
        self.alert.load(Ordering::Relaxed) && self.alert.swap(false, Ordering::AcqRel)
    }

    /// Whether a process that workers run waits for what the operation at the other end of a channel has
    /// brought, and it is there; or was alerted. For what else it waits, somebody else sees.
    #[inline]
    pub(crate) fn is_met(&self, net: &Net<'_>, node: NodeId, operation: u64) -> bool {
        let what = self.wait.what.load(Ordering::Acquire);
        if what as u64 == waited_by(operation) {
            return self.is_counted(net, operation) || self.is_met_otherwise(net, node);
        }
        let maybe = what >> 3 == channel(operation).index() || self.alert.load(Ordering::Relaxed);
        maybe && self.is_met_otherwise(net, node)
    }

    /// Whether a process waits for what an operation at the other end of a channel brings.
    #[inline]
    pub(crate) fn waits_for(&self, operation: u64) -> bool {
        self.wait.what.load(Ordering::Acquire) as u64 == waited_by(operation)
    }

    /// Whether the counter that the operation moves has come as far as is waited for.
    #[inline]
    fn is_counted(&self, net: &Net<'_>, operation: u64) -> bool {
        let (meter, until) = (net.meter(channel(operation)), self.wait.until.load(Ordering::Relaxed));
        let now = if sends(operation) { meter.tail() } else { meter.head() };
        now >= until
    }

    /// Whether a process that has come to wait in an operation surely still does.
    #[inline]
    pub(crate) fn still_waits(&self, net: &Net<'_>, operation: u64) -> bool {
        let (meter, other) = (net.meter(channel(operation)), operation ^ 1);
        let is_over = if sends(operation) { meter.gone() } else { meter.ended() };
        self.waits_for(other)
            && !is_over
            && !self.alert.load(Ordering::Relaxed)
            && !self.is_counted(net, other)
    }

    #[cold]
    #[inline(never)]
    fn is_met_otherwise(&self, net: &Net<'_>, node: NodeId) -> bool {
        self.satisfied(net, node) && !self.is_done()
    }

    /// Whether what the node waits for is there, or something has happened that it must see.
    #[inline]
    pub(crate) fn satisfied(&self, net: &Net<'_>, node: NodeId) -> bool {
        if self.alert.load(Ordering::Relaxed) {
            return !self.is_done();
        }
        match self.wait.read() {
            Waiting::Ready => true,
            Waiting::Items { channel, until } => {
                let meter = net.meter(channel);
                meter.tail() >= until || meter.ended()
            }
            Waiting::Room { channel, until } => {
                let meter = net.meter(channel);
                meter.head() >= until || meter.gone()
            }
            Waiting::Bytes { channel } => {
                let meter = net.meter(channel);
                meter.light() || meter.gone()
            }
            Waiting::Window { retired: wanted } => {
                self.retired().is_some_and(|retired| retired.load(Ordering::Acquire) >= wanted)
            }
            Waiting::Any { inputs } => {
                net.any_input(node, inputs, |meter: &Meter| meter.items() > 0 || meter.ended())
            }
            Waiting::Never | Waiting::Foreign => false,
        }
    }

    /// Whether a nap until the counter is `until` is over: see `dedicated::Rest`.
    pub(crate) fn nap_is_over(&self, net: &Net<'_>, until: usize) -> bool {
        let over = match self.wait.read() {
            Waiting::Items { channel, .. } => {
                let meter = net.meter(channel);
                meter.tail() >= until || meter.ended()
            }
            Waiting::Room { channel, .. } => {
                let meter = net.meter(channel);
                meter.head() >= until || meter.gone()
            }
            _ => true,
        };
        over || self.alert.load(Ordering::Relaxed)
    }

    /// Whether a publication waits for room.
    pub(crate) fn is_stuck(&self) -> bool {
        self.stuck().iter().any(|stuck| stuck.load(Ordering::Relaxed) != UNSTUCK)
    }

    /// Whether a stuck publication can go on, or there may be one that nobody has tried.
    pub(crate) fn unstuck(&self, net: &Net<'_>, node: NodeId) -> bool {
        let Some(parallel) = &self.parallel else { return false };
        if parallel.unsettled.load(Ordering::Relaxed) {
            return true;
        }
        parallel.stuck.iter().zip(net.outputs(node)).any(|(stuck, channel)| {
            let until = stuck.load(Ordering::Relaxed);
            until != UNSTUCK && {
                let meter = net.meter(*channel);
                meter.head() >= until || meter.gone()
            }
        })
    }
}
