//! An activation: the code of a node, and the context in which a thread runs it.

use crate::net::{Net, NodeState};
use crate::node::claim::Claimed;
use crate::process::drops::{ends as dropped, notes};
use crate::process::turn::Turn;
use thalweg_graph::NodeId;
use thalweg_policy::{Event, WorkerId};

/// The code of a node, which threads activate.
pub(crate) trait Body: Send + Sync {
    /// Fires the node until the budget is spent or a firing lacks something.
    fn activate(&self, cx: &mut ActivationContext<'_>) -> Event;
    /// Whether another thread holds what an activation would need.
    fn is_held(&self) -> bool;
    /// Locks a quiescent node: no other thread can activate it. The error, where the node is not quiescent, says whether
    /// a thread that was refused may have left something undone.
    fn hold(&self, state: &NodeState) -> Result<Box<dyn Held + '_>, bool>;
    /// Whether a framing function decides what firings take, and when the node ends.
    fn is_framed(&self) -> bool;
    /// Whether, once begun, it must be activated and dropped by one thread: see [`coroutine`](crate::coroutine).
    fn is_pinned(&self) -> bool {
        false
    }
    /// The thread that the node is pinned to leaves, and the run is over.
    fn leave(&self) {}
}

/// While this lives no other thread can activate the node: see [`Body::hold`].
pub(crate) trait Held {}

impl<T> Held for Claimed<'_, T> {}

/// The context of the activations of one thread, one after the other: what they may use, and what they report.
pub(crate) struct ActivationContext<'a> {
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
    pub(crate) laps: Option<crate::measure::clock::Laps>,
    /// The kind of thread that activates.
    pub(crate) by: By,
    /// A neighbour has ended since the latest activation.
    pub(crate) alerted: bool,
    /// `alerted`, or the run drains: the node must check whether it goes on.
    pub(crate) checks_end: bool,
    /// What a process's ends must know of the poll they are in.
    pub(crate) turn: Turn<'a>,
    /// A process's activation may have changed more than its turn has touched.
    pub(crate) touched_all: bool,
    /// Ends dropped on this thread before, and those with what else is noted of drops.
    dropped: u64,
    noted: u64,
}

impl<'a> ActivationContext<'a> {
    /// For activations by this thread.
    pub(crate) fn new(net: &'a Net<'a>, by: By) -> ActivationContext<'a> {
        ActivationContext {
            net,
            node: NodeId(0),
            state: None,
            budget: 0,
            slice: 0,
            fired: 0,
            laps: None,
            by,
            alerted: false,
            checks_end: false,
            turn: Turn::new(net),
            touched_all: false,
            dropped: dropped(),
            noted: notes(),
        }
    }

    /// Prepares the activation of a node, for at most `budget` firings that are published every `slice` firings.
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
        self.checks_end = alerted || self.net.draining();
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

/// The kind of thread that activates.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum By {
    Worker(WorkerId),
    /// A thread of one node, which is no worker.
    Dedicated,
}

impl ActivationContext<'_> {
    #[inline]
    pub(crate) fn state(&self) -> &NodeState {
        self.state.unwrap_or_else(|| &self.net.cells.nodes[self.node.index()].state)
    }

    /// Marks the boundary between queue operations and application code.
    #[inline]
    pub(crate) fn lap(&mut self, into: crate::measure::clock::Part) {
        if let Some(laps) = &mut self.laps {
            laps.lap(into);
        }
    }
}
