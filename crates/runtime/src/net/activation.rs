//! An activation: the code of a node ([`Body`]), and the context in which a thread runs it.
//!
//! A thread has one [`ActivationContext`] for all its activations. [`ActivationContext::begin`] sets its input for one
//! activation; the body writes its output, which the thread reads before the next `begin`:
//!
//! | field | written by | read by |
//! |---|---|---|
//! | `node`, `budget`, `slice`, `alerted`, `checks_end` | `begin` | the body |
//! | `turn` | the body of a process | the body, and the thread, for the processes to notify |
//! | `fired`, `pieces`, `touched_all` | the body | the thread |
//! | `timed` | the thread, once | the body |
//! | `tickets` | the body | the thread, for the waits of the firing that has ended, and the time stalled |
//! | `dilation` | the body | the thread, for the time slept |
//! | `laps` | both | the thread, of a sampled activation |

use crate::channel::Marks;
use crate::measure::clock::Ticks;
use crate::measure::dilation::Dilation;
use crate::measure::tickets::TicketWaits;
use crate::net::{Net, NodeState};
use crate::node::claim::Claimed;
use crate::process::drops::{ends as dropped, notes};
use crate::process::turn::Turn;
use crate::sync::Ordering;
use std::time::Instant;
use thalweg_graph::NodeId;
use thalweg_policy::{Event, WorkerId};

/// The pace from which on a firing is measured for itself: 100 ns. Shorter ones are measured in blocks, whose variance is
/// that of their means. In the unit of `NodeState::pace`.
const SINGLE_PACE: u32 = 100 * 16;

/// The code of a node, which threads activate.
///
/// Several threads may call its methods at once: a body protects its state by a claim, and refuses the others.
pub(crate) trait Body: Send + Sync {
    /// Fires the node until the budget is spent or a firing lacks something, or refuses with `Event::Refused`. Before
    /// it releases the claim it writes what the node waits for into its wait word. It does not release a token.
    fn activate(&self, cx: &mut ActivationContext<'_>) -> Event;
    /// Publishes what ended firings of activations under way have pushed, for the threads that fire. From any thread;
    /// the caller then makes the neighbours ready. True if there was something. May call user code: weights, and drops of
    /// items whose consumer has left.
    fn publish_marked(&self, _net: &Net<'_>, _node: NodeId) -> bool {
        false
    }
    /// The marks of the node's cursors, if its firings have pieces: by them other threads end a firing at its next item.
    fn pieces(&self) -> Option<Marks> {
        None
    }
    /// Whether an activation would be refused now. A hint.
    fn is_held(&self) -> bool;
    /// Whether a thread runs the node's code, or is about to. A hint, for snapshots.
    fn is_running(&self) -> bool {
        self.is_held()
    }
    /// Locks a quiescent node: no other thread can activate it until the result is dropped. The error, if the node is
    /// not quiescent, says whether a thread that was refused meanwhile may have left something undone; then the caller
    /// must make the node claimable ([`NodeState::look_again`]).
    fn hold(&self, state: &NodeState) -> Result<Box<dyn Held + '_>, bool>;
    /// Whether the node's own code decides what firings take, and when the node ends: a framing function, or a process.
    fn is_framed(&self) -> bool;
    /// Whether the node, once begun, must be activated and dropped by one thread: see [`coroutine`](crate::coroutine).
    fn is_pinned(&self) -> bool {
        false
    }
    /// Drops what must be dropped by the thread that the node is pinned to. Called by that thread when the run is over.
    #[cfg(feature = "coroutines")]
    fn leave(&self) {}
}

/// A guard: while it lives no other thread can activate the node. See [`Body::hold`].
pub(crate) trait Held {}

impl<T> Held for Claimed<'_, T> {}

/// The context of the activations of one thread, one after the other.
pub(crate) struct ActivationContext<'a> {
    pub(crate) net: &'a Net<'a>,
    /// The node that is activated.
    pub(crate) node: NodeId,
    /// Its shared half. `None` before the first activation.
    state: Option<&'a NodeState>,
    /// The maximum number of firings of this activation; for a process, operations.
    pub(crate) budget: usize,
    /// The number of firings after which it publishes.
    pub(crate) slice: usize,
    /// The number of its firings (operations) so far.
    pub(crate) fired: usize,
    /// The number of pieces that interrupted firings have passed on.
    pub(crate) pieces: usize,
    /// Limits may depend on the clock; otherwise they are counts, so that a run can be repeated exactly.
    pub(crate) timed: bool,
    /// The laps of a sampled activation; `None` for another.
    pub(crate) laps: Option<crate::measure::clock::Laps>,
    /// The kind of thread that activates.
    pub(crate) by: By,
    /// The node's alert was set, and this activation has cleared it: the node must check all its channels.
    pub(crate) alerted: bool,
    /// `alerted`, or the run drains: a process must check whether it ends.
    pub(crate) checks_end: bool,
    /// The poll of a process, which its ends access.
    pub(crate) turn: Turn<'a>,
    /// A process's activation may have changed other channels than those of its turn's operations.
    pub(crate) touched_all: bool,
    /// A firing of a roaming source took so long that its worker was excused.
    pub(crate) was_long: bool,
    /// The dilation of this thread's claims, if the run is dilated.
    pub(crate) dilation: Option<Box<Dilation>>,
    /// The waits of this thread's firings, where they wait for their tickets.
    pub(crate) tickets: Option<Box<TicketWaits>>,
    /// This thread's counts of dropped ends, and of all noted drops, when they were last read.
    dropped: u64,
    noted: u64,
}

impl<'a> ActivationContext<'a> {
    /// The context of a thread, for activations on it only: it has the thread's counts of drops.
    pub(crate) fn new(net: &'a Net<'a>, by: By) -> ActivationContext<'a> {
        ActivationContext {
            net,
            node: NodeId(0),
            state: None,
            budget: 0,
            slice: 0,
            fired: 0,
            pieces: 0,
            timed: cfg!(not(loom)),
            laps: None,
            by,
            alerted: false,
            checks_end: false,
            turn: Turn::new(net),
            touched_all: false,
            was_long: false,
            dilation: net.sched.dilation.map(|scale| Box::new(Dilation::new(scale))),
            tickets: net.sched.suspended.as_ref().map(|_| Box::new(TicketWaits::new(net.sched.dilation))),
            dropped: dropped(),
            noted: notes(),
        }
    }

    /// Prepares the activation of a node, of at most `budget` firings, which publishes after every `slice` firings.
    /// `alerted` says that the caller has cleared the node's alert.
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
        (self.fired, self.pieces) = (0, 0);
        self.alerted = alerted;
        self.checks_end = alerted || self.net.draining();
        self.touched_all = false;
        self.was_long = false;
        if let Some(dilation) = &mut self.dilation {
            dilation.begin_activation();
        }
        if let Some(tickets) = &mut self.tickets {
            tickets.begin_activation();
        }
    }

    /// The worker that activates; `None` for a dedicated thread.
    pub(crate) fn worker(&self) -> Option<WorkerId> {
        match self.by {
            By::Worker(worker) => Some(worker),
            By::Dedicated => None,
        }
    }

    /// Notes that the items which the node publishes from here on come from this thread. The caller is the producing side
    /// of the node's outputs.
    #[inline]
    pub(crate) fn note_origin(&self) {
        for channel in self.net.outputs(self.node) {
            let meter = self.net.meter(*channel);
            if let Some(origins) = meter.origins() {
                origins.note(meter.tail_here(), self.worker());
            }
        }
    }

    /// Whether this thread has dropped ends, or released lent messages, since the previous call.
    #[inline]
    pub(crate) fn any_drops(&mut self) -> bool {
        let noted = notes();
        std::mem::replace(&mut self.noted, noted) != noted
    }

    /// Whether this thread has dropped ends of processes since the previous call.
    #[inline]
    pub(crate) fn ends_dropped(&mut self) -> bool {
        let dropped = dropped();
        std::mem::replace(&mut self.dropped, dropped) != dropped
    }
}

/// The kind of thread that activates.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum By {
    /// A worker, under a policy.
    Worker(WorkerId),
    /// A thread of one node, which is no worker.
    Dedicated,
}

impl ActivationContext<'_> {
    /// The shared half of the node that is activated.
    #[inline]
    pub(crate) fn state(&self) -> &NodeState {
        self.state.unwrap_or_else(|| &self.net.cells.nodes[self.node.index()].state)
    }

    /// Says that this thread has got a ticket of the parallel node that it activates.
    #[inline]
    pub(crate) fn begin_firing(&self) {
        if let By::Worker(worker) = self.by {
            self.net.team.running[worker].begin_firing(self.node);
        }
    }

    /// The maximum number of firings of the next run of firings, which is at most `limit`. Fewer in a sampled activation, so that a
    /// single firing can be measured.
    #[inline]
    pub(crate) fn next_run(&mut self, limit: usize) -> usize {
        let single = || self.state().pace.load(Ordering::Relaxed) >= SINGLE_PACE;
        let single = self.laps.is_some() && single();
        self.laps.as_mut().map_or(limit, |laps| laps.next_run(limit, single))
    }

    /// Ends a run of `fired` firings. No effect in an activation that is not sampled.
    #[inline]
    pub(crate) fn end_run(&mut self, fired: usize) {
        if let Some(laps) = &mut self.laps {
            laps.end_run(fired);
        }
    }

    /// Begins the firings of a claim, whose length a dilated run stretches. No effect in another run.
    #[inline]
    pub(crate) fn begin_dilated(&mut self) {
        if let Some(dilation) = &mut self.dilation {
            dilation.begin();
        }
    }

    /// Ends the firings of a claim, before other threads see that. In a dilated run it sleeps. Returns the time slept.
    #[inline]
    pub(crate) fn end_dilated(&mut self) -> Ticks {
        let Some(dilation) = &mut self.dilation else { return 0 };
        let net = self.net;
        let slept = dilation.end(|| net.stopped());
        if let Some(laps) = &mut self.laps {
            laps.sleep(slept);
        }
        slept
    }

    /// Sets the deadline of the run, at which sleeps of dilated claims and stalls end.
    pub(crate) fn set_deadline(&mut self, deadline: Option<Instant>) {
        if let Some(dilation) = &mut self.dilation {
            dilation.set_deadline(deadline);
        }
        if let Some(tickets) = &mut self.tickets {
            tickets.set_deadline(deadline);
        }
    }

    /// The length of the sleeps of this activation: 0 in a run that is not dilated.
    #[inline]
    pub(crate) fn slept(&self) -> Ticks {
        self.dilation.as_ref().map_or(0, |dilation| dilation.slept)
    }

    /// The time for which this activation has stalled: 0 where firings do not wait for their tickets.
    #[inline]
    pub(crate) fn stalled(&self) -> Ticks {
        self.tickets.as_ref().map_or(0, |waits| waits.stalled())
    }

    /// The time of firings that were measured before their claim slept.
    pub(crate) fn dilated(&self, ns: f64) -> f64 {
        self.dilation.as_ref().map_or(ns, |dilation| dilation.dilated(ns))
    }

    /// Ends the current lap and begins one of category `into`. No effect in an activation that is not sampled.
    #[inline]
    pub(crate) fn lap(&mut self, into: crate::measure::clock::Part) {
        if let Some(laps) = &mut self.laps {
            laps.lap(into);
        }
    }
}
