//! A node of a run: its code, its shared state, and which threads may run it.

use crate::net::NO_WORKER;
use crate::net::{Body, NodeState};
use crate::sched::roaming::Roaming;
use crate::sync::Ordering;
use thalweg_graph::{ChannelId, Kind};
use thalweg_policy::WorkerId;

/// A node.
///
/// | the node is | `body` | `dedicated` | `pinned` | activated by |
/// |---|---|---|---|---|
/// | run by workers, also if it is `roaming` | some | none | false | any worker |
/// | pinned | some | none | true | the worker that began it |
/// | dedicated | some | some | false | its own thread |
/// | an outside end | none | some | false | no thread: code outside of the run holds the end |
pub(crate) struct NodeCell<'env> {
    pub(crate) state: NodeState,
    pub(crate) kind: Kind,
    /// The node is a process that any worker may activate: neither pinned nor dedicated.
    pub(crate) is_free_process: bool,
    /// The node is pinned to the worker that begins it, since its stack is there: see [`coroutine`](crate::coroutine).
    pub(crate) pinned: bool,
    /// `None` for an end of the graph that code outside of the run holds.
    pub(crate) body: Option<Box<dyn Body + 'env>>,
    /// The items and the room that every firing needs, if all rates are static and no framing function decides: then
    /// any thread can tell from the counters that an activation would do nothing. Empty otherwise.
    pub(crate) needs: Box<[Need]>,
    /// The number, as a sleeper, of the node's own thread or of the code that holds the end.
    pub(crate) dedicated: Option<u32>,
    /// Present for a blocking source that workers fire, instead of a thread of its own.
    pub(crate) roaming: Option<Box<Roaming>>,
    /// Whether a neighbour is dedicated or an outside end.
    pub(crate) dedicated_peers: bool,
}

impl NodeCell<'_> {
    /// The worker that the node is pinned to; `None` if it is not pinned, or has not begun.
    #[inline]
    pub(crate) fn pinned_to(&self) -> Option<WorkerId> {
        if self.pinned { self.state.last_worker() } else { None }
    }

    /// Whether the worker may activate the node. If the node is to be pinned and no worker has begun it, it is pinned
    /// to this one: of several workers that try, the compare-and-swap lets one win. `Relaxed`, since `last` carries no
    /// data: the node's claim orders its activations.
    #[inline]
    pub(crate) fn try_pin(&self, worker: WorkerId) -> bool {
        let (pinned_to, me) = (&self.state.last, worker as u32);
        let pin = || pinned_to.compare_exchange(NO_WORKER, me, Ordering::Relaxed, Ordering::Relaxed);
        !self.pinned || pinned_to.load(Ordering::Relaxed) == me || pin().is_ok()
    }
}

/// The items, or the room, that every firing of a node needs on one channel.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Need {
    /// At least this many items, peeked ones included.
    Items(ChannelId, usize),
    /// Room for at least this many items.
    Room(ChannelId, usize),
}
