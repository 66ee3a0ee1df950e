//! A node of a run: its code, its shared state, and which threads may run it.

use crate::net::NO_WORKER;
use crate::net::{Body, NodeState};
use crate::sync::Ordering;
use thalweg_graph::{ChannelId, Kind};
use thalweg_policy::WorkerId;

/// A node.
pub(crate) struct NodeCell<'env> {
    pub(crate) state: NodeState,
    pub(crate) kind: Kind,
    /// A process that any worker may activate at any time.
    pub(crate) is_free_process: bool,
    /// Pinned to the worker that began it, since its stack is there: see [`coroutine`](crate::coroutine).
    pub(crate) pinned: bool,
    /// None for an end of the graph that code outside of the run holds.
    pub(crate) body: Option<Box<dyn Body + 'env>>,
    /// What every firing moves, where all rates are static and no framing function decides: any thread can
    /// then tell from the counters that an activation would do nothing. Empty otherwise.
    pub(crate) needs: Box<[Need]>,
    /// The sleeper's number of the node's own thread, if it has one.
    pub(crate) dedicated: Option<u32>,
    /// Whether some peer has a thread of its own.
    pub(crate) dedicated_peers: bool,
}

impl NodeCell<'_> {
    /// The worker that a pinned node was begun on.
    #[inline]
    pub(crate) fn pinned_to(&self) -> Option<WorkerId> {
        if self.pinned { self.state.last_worker() } else { None }
    }

    /// Whether a worker may activate the node. A pinned node that no worker has begun is pinned to this one.
    #[inline]
    pub(crate) fn try_pin(&self, worker: WorkerId) -> bool {
        let (pinned_to, me) = (&self.state.last, worker as u32);
        let pin = || pinned_to.compare_exchange(NO_WORKER, me, Ordering::Relaxed, Ordering::Relaxed);
        !self.pinned || pinned_to.load(Ordering::Relaxed) == me || pin().is_ok()
    }
}

/// Items that every firing of a node finds, or room that it needs, on one channel.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Need {
    /// At least this many items, peeked ones included.
    Items(ChannelId, usize),
    /// Room for at least this many items.
    Room(ChannelId, usize),
}
