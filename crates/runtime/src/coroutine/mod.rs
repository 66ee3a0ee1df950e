//! Coroutines: processes written as plain closures that block. Each has a stack of its own, and leaves it to wait.
//!
//! Such a process is a [`Fiber`], which is a future, in a node like that of any process: channels, wait words, policies
//! and the search for deadlocks do not depend on stacks. So all rules of processes ([`process`](crate::process)) hold.
//!
//! | module | has |
//! |---|---|
//! | [`fiber`] | the future that runs a closure on a stack, and its end |
//! | [`ends`] | the ends of channels whose operations block |
//! | [`stack`] | pools of stacks |
//! | [`overflow`] | the report of a stack overflow |
//!
//! # Pinned nodes
//!
//! While a closure waits its values are on its stack, and they need not be `Send`. So a node with a stack, once begun,
//! is *pinned* to the worker that began it: only that worker activates it, and it drops the node before it leaves.
//!
//! | the node is | `NodeState::last` | entered by | left by |
//! |---|---|---|---|
//! | not begun | `NO_WORKER` | creation | a worker that is about to begin it, by compare-and-swap (`NodeCell::try_pin`) |
//! | pinned | that worker | that worker | never |
//!
//! `NodeCell::pinned` marks the nodes that can be pinned. A node with a thread of its own is begun, activated and
//! dropped by that thread.
//!
//! ```text
//!   worker that would begin the node          thread that has, or acquires, a token of the node
//!   1. pins: compare-and-swap of `last`       1. if the node is pinned: pushes the token into the
//!      from none to itself                       worker's queue of pinned nodes, which only that
//!   2. if that succeeds: activates               worker pops; fences
//!      otherwise: delivers the token to       2. if that worker is announced asleep: wakes it
//!      the worker
//! ```
//!
//! A token is delivered at most once, since a node is pinned once, to the worker that then has the token.
//!
//! # Policies
//!
//! A policy needs no knowledge of pins. If it scans, a pinned node is not claimable by other workers. If it is
//! notified, tokens of nodes pinned to another worker bypass it; a token in a queue of pinned nodes comes out of its
//! worker's `pop`, in turn with the worker's other nodes, and of no `steal`. If a worker's policy nevertheless chooses
//! a node that is pinned to another worker, the worker delivers the token.
//!
//! # Why no wake-up is lost
//!
//! The protocols of [`sleep`](crate::sched::sleep) and [`ready`](crate::sched::ready) hold with two changes:
//!
//! - The changer wakes the worker that the node is pinned to, and relies on no searching worker: that may be another
//!   one.
//! - Before it commits to sleep, a worker reads its own queue of pinned nodes, and no other worker's.
//!
//! The pair of fences is the same: the changer changes (or pushes), fences, and reads which workers are announced; the
//! worker announces, fences, and reads. A changer that reads that the node is not pinned wakes any sleeper; the worker
//! that then begins the node is awake, pins it before it announces sleep, and reads the node after its fence.
//!
//! # The end of a run
//!
//! A worker leaves only when the run ends. It drops the nodes pinned to it, which unwinds their closures ([`fiber`]);
//! no other thread may drop them. The ends that are dropped then end no stream: other workers may be in the middle of
//! an activation, and must not observe a failure as the end of a stream.

mod ends;
mod fiber;
mod overflow;
mod stack;

pub use ends::{BlockingRx, BlockingTx, Ends};
pub(crate) use fiber::Fiber;
pub(crate) use stack::{BYTES as STACK, LEAST, Stacks, Wanted};

use crate::net::{ActivationContext, Body, Held, Net, NodeState};
use crate::node::Flow;
use crate::process::{Cause, Process, drop_all};
use crate::sched::ending::fail_panic;
use crate::sync::{AtomicBool, Ordering};
use std::panic::{AssertUnwindSafe, catch_unwind};
use thalweg_graph::NodeId;
use thalweg_policy::{Event, WorkerId};

/// Whether the calling thread runs a coroutine, on its stack.
#[doc(hidden)]
#[inline]
pub fn in_coroutine() -> bool {
    fiber::current().is_some()
}

/// The code of a node with a stack.
pub(crate) struct PinnedProcess<F> {
    process: Process<Fiber<F>>,
    /// An activation has panicked. Its claim is never released, and nothing is left to unwind, so `leave` must not wait
    /// for the claim. Written and read by the thread that the node is pinned to.
    poisoned: AtomicBool,
}

impl<F: FnOnce() -> Flow + Send> PinnedProcess<F> {
    /// A process whose closure has not begun.
    pub(crate) fn new(fiber: Fiber<F>) -> Self {
        PinnedProcess { process: Process::new(fiber, ()), poisoned: AtomicBool::new(false) }
    }
}

impl<F: FnOnce() -> Flow + Send> Body for PinnedProcess<F> {
    fn activate(&self, cx: &mut ActivationContext<'_>) -> Event {
        let poisoned = PoisonOnUnwind(&self.poisoned);
        let event = self.process.activate(cx);
        std::mem::forget(poisoned);
        event
    }

    fn is_held(&self) -> bool {
        self.process.is_held()
    }

    fn hold(&self, state: &NodeState) -> Result<Box<dyn Held + '_>, bool> {
        self.process.hold(state)
    }

    fn is_framed(&self) -> bool {
        true
    }

    fn is_pinned(&self) -> bool {
        true
    }

    fn leave(&self) {
        // A search on another thread may hold the claim for a moment. No activation does: this thread runs them all.
        while !self.poisoned.load(Ordering::Relaxed) && !self.process.abandon() {
            std::thread::yield_now();
        }
    }
}

/// Sets a flag when it is dropped: by an unwinding activation, since others forget it.
struct PoisonOnUnwind<'a>(&'a AtomicBool);

impl Drop for PoisonOnUnwind<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Drops the code of all nodes that are pinned to a worker. That worker calls this when it leaves, after the run has
/// been stopped.
#[cold]
pub(crate) fn leave(net: &Net<'_>, worker: WorkerId) {
    for node in net.topology.graph.node_ids() {
        let cell = &net.cells.nodes[node.index()];
        if cell.pinned_to() == Some(worker) {
            leave_node(net, node);
        }
    }
}

/// Drops the code of a node whose code must be dropped by this thread; other code stays. A panic fails the run.
pub(crate) fn leave_node(net: &Net<'_>, node: NodeId) {
    if let Some(body) = &net.cells.nodes[node.index()].body
        && let Err(panic) =
            catch_unwind(AssertUnwindSafe(|| drop_all(net.owners.of(node), Cause::Failed, || body.leave())))
    {
        fail_panic(net, node, panic);
    }
}
