//! Processes written as plain closures that wait: each has a stack of its own, and what waits is the
//! stack.
//!
//! Such a process is a [`Fiber`], which is a future, in a node like that of any process: channels,
//! wait words, policies and the search for deadlocks know nothing of stacks. And so all rules of
//! processes ([`process`](crate::process)) hold as they stand.
//!
//! # What stays where it began
//!
//! A stack holds what its closure has there while it waits, and that need not be `Send`. So a node
//! with a stack, once begun, stays on the worker that began it, its *home*: that worker alone
//! activates it, and drops it before it leaves. `NodeCell::stays` marks such nodes, and
//! `NodeState::last`, who activated it last, is the home.
//!
//! ```text
//!   who would begin it                     who has a token of it, or makes one
//!   1. home = me, by compare-and-swap      1. home is set: into the home's queue of those that
//!      from none                              stay, where nobody steals; fence
//!   2. won: activates                      2. the home is announced asleep: wakes it
//!      lost: passes it on to the home
//! ```
//!
//! **Policies need not know.** For those that look, a node is not claimable by another worker than
//! its home. For those that are told, tokens pass the policy by where the home is another worker,
//! and a token pushed into the home's queue by whichever worker comes out of its `pop`s, in turn with the others',
//! and of nobody's `steal`.
//! A worker whose policy gives it a node of another home all the same passes it on.
//!
//! **No wake-up is lost.** The protocols of `sleep` and `ready` hold with two words changed. *Which
//! sleeper is woken:* for such a node its home, and no other would do. Hence the changer does not
//! rely on one that searches, either: the searcher may be another. *Where a sleeper looks* before it
//! commits: at what it could take, so at its own queue of those that stay and at nobody else's. The pair
//! is as before: the changer changes (pushes), fences, reads who is announced; the home announces,
//! fences, looks. A changer that sees no home yet looks for any sleeper; whoever then begins the
//! node is awake, has set the home before it announces sleep, and looks after its fence.
//!
//! **No token goes round.** It is passed on at most once: from then on the home has it, and a home is
//! set once.
//!
//! **At the end.** A worker that leaves, however, ends the run; then it drops what it is home of,
//! which unwinds the stacks that wait ([`fiber`]). Nobody else can: a stack whose home has left
//! would be stranded. The ends that are dropped then end no stream: other workers may still be in the
//! middle of an activation, and must not take a failure for the end of what was sent. A node with a
//! thread of its own is dropped by that.

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
use crate::sync::{AtomicBool, Ordering};
use std::panic::{AssertUnwindSafe, catch_unwind};
use thalweg_graph::NodeId;
use thalweg_policy::{Event, WorkerId};

/// The code of a node with a stack.
pub(crate) struct PinnedProcess<F> {
    process: Process<Fiber<F>>,
    /// It has panicked: nobody can claim it any more, and it has nothing left to unwind.
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
        net.fail_panic(node, panic);
    }
}
