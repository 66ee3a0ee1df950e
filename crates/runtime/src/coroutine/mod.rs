//! Processes written as plain closures that block: each has a stack of its own, and to wait is to leave the stack.
//!
//! Such a process is a [`Fiber`], which is a future, in a node like that of any process: channels,
//! wait words, policies and the search for deadlocks know nothing of stacks. So all rules of
//! processes ([`process`](crate::process)) hold.
//!
//! # Pinned nodes
//!
//! A stack holds the closure's values while it waits, and these need not be `Send`. So a node with a stack, once
//! begun, is *pinned* to the worker that began it: that worker alone activates it, and drops it before it leaves.
//! `NodeCell::pinned` marks such nodes; `NodeState::last`, the worker that activated the node last, is the one it is
//! pinned to.
//!
//! ```text
//!   a worker that would begin the node        a thread that has a token of it, or acquires one
//!   1. pins: compare-and-swap from none       1. the node is pinned: pushes the token into that worker's
//!      to itself                                 queue of pinned nodes, where no other worker takes; fences
//!   2. won: activates                         2. the worker is announced asleep: wakes it
//!      lost: delivers the token to the worker
//! ```
//!
//! **Policies need not know.** To a policy that scans, a pinned node is not claimable by another worker. For a policy that
//! is notified, tokens of nodes pinned to another worker bypass the policy; a token pushed into the queue of pinned
//! nodes comes out of that worker's `pop`, alternating with its other nodes, and of no other worker's `steal`. A worker
//! whose policy chooses a node pinned to another worker all the same delivers the token.
//!
//! **No wake-up is lost.** The protocols of [`sleep`](crate::sched::sleep) and [`ready`](crate::sched::ready) hold with
//! two changes. *Which sleeper is woken:* the worker that the node is pinned to. So the changer does not rely on a
//! searching worker, which may be another. *Where a sleeper looks* before it commits: at what it may take, so at its own
//! queue of pinned nodes and at no other worker's. The pair is as before: the changer changes (pushes), fences, reads
//! which workers are announced; the worker announces, fences, looks. A changer that reads that the node is not pinned
//! yet looks for any sleeper; the worker that then begins the node is awake, has pinned it before it announces sleep,
//! and looks after its fence.
//!
//! **No token circulates.** A token is delivered at most once: from then on the right worker has it, and a node is pinned
//! once.
//!
//! **At the end.** A worker that leaves drops the nodes pinned to it, which unwinds the stacks that wait ([`fiber`]). No
//! other thread can: a stack whose worker has left would be stranded. A worker leaves only when the run ends. The
//! ends that are dropped then end no stream: other workers may still be in the middle of an activation, and must not
//! observe a failure as the end of a stream. A node with a thread of its own is dropped by that thread.

mod ends;
mod fiber;
mod overflow;
mod stack;

pub use ends::{BlockingRx, BlockingTx, Ends};
pub(crate) use fiber::Fiber;
pub(crate) use stack::{BYTES as STACK, LEAST, Stacks, Wanted};

use crate::net::{Body, Cx, Held, Net, NodeState};
use crate::node::Flow;
use crate::process::{Cause, Process, drop_all};
use crate::sched::ending::fail_panic;
use crate::sync::{AtomicBool, Ordering};
use std::panic::{AssertUnwindSafe, catch_unwind};
use thalweg_graph::NodeId;
use thalweg_policy::{Event, WorkerId};

/// The code of a node with a stack.
pub(crate) struct PinnedProcess<F> {
    process: Process<Fiber<F>>,
    /// It has panicked: no thread can claim it any more, and it has nothing left to unwind.
    poisoned: AtomicBool,
}

impl<F: FnOnce() -> Flow + Send> PinnedProcess<F> {
    pub(crate) fn new(fiber: Fiber<F>) -> Self {
        PinnedProcess { process: Process::new(fiber, ()), poisoned: AtomicBool::new(false) }
    }
}

impl<F: FnOnce() -> Flow + Send> Body for PinnedProcess<F> {
    fn activate(&self, cx: &mut Cx<'_>) -> Event {
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
        // A search may have the claim for a moment.
        while !self.poisoned.load(Ordering::Relaxed) && !self.process.abandon() {
            std::thread::yield_now();
        }
    }
}

/// Notes a panic.
struct PoisonOnUnwind<'a>(&'a AtomicBool);

impl Drop for PoisonOnUnwind<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// A worker leaves: drops what must be dropped by it.
#[cold]
pub(crate) fn leave(net: &Net<'_>, worker: WorkerId) {
    for node in net.topology.graph.node_ids() {
        let cell = &net.cells.nodes[node.index()];
        if cell.pinned_to() == Some(worker) {
            leave_node(net, node);
        }
    }
}

/// Drops a node's code, if it must be dropped by this thread.
pub(crate) fn leave_node(net: &Net<'_>, node: NodeId) {
    if let Some(body) = &net.cells.nodes[node.index()].body
        && let Err(panic) =
            catch_unwind(AssertUnwindSafe(|| drop_all(net.owners.of(node), Cause::Failed, || body.leave())))
    {
        fail_panic(net, node, panic);
    }
}
