//! What a host offers to a policy: queues, measurements, and state that the workers share.

use crate::Event;
use thalweg_graph::{ChannelId, GraphData, Kind, NodeId, data};
use thalweg_plan::Plan;

/// A worker, by its index.
pub type WorkerId = usize;

data! {
    /// How full a channel is.
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub struct Occupancy {
        /// Items in the channel.
        copy items: usize;
        /// Items that the channel can hold.
        copy capacity: usize;
    }
}

impl Occupancy {
    /// A channel that has this many items, and can hold `capacity`.
    #[inline]
    pub fn new(items: usize, capacity: usize) -> Occupancy {
        Occupancy { items, capacity }
    }

    /// Fill ratio, 0 to 1.
    pub fn fill(self) -> f64 {
        (self.items as f64 / self.capacity.max(1) as f64).min(1.0)
    }
}

/// One end of a worker's own queue.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum End {
    /// The front: the node that was pushed first.
    Oldest,
    /// The back: the node that was pushed last.
    Newest,
}

/// State that the workers of a policy share: [`Host::try_shared`]. A run begins with the default value, and the host
/// locks it.
pub trait Shared: Default + Send {
    /// Partitions of the graph computed so far, for the report.
    fn partitions(&self) -> u64 {
        0
    }
}

impl Shared for () {}

/// What a host has measured so far. Reading it changes nothing.
///
/// The methods with a default are measured where the policy needs affinity ([`Needs`](crate::Needs)), and may be 0
/// elsewhere.
pub trait Measurements {
    /// How full a channel is, as last published.
    fn occupancy(&self, channel: ChannelId) -> Occupancy;

    /// Whether the producer of a channel may still push items.
    fn has_producer(&self, _channel: ChannelId) -> bool {
        true
    }

    /// Whether the consumer of a channel may still take items.
    fn has_consumer(&self, _channel: ChannelId) -> bool {
        true
    }

    /// The worker that activated the node last, if any has.
    fn last_worker(&self, node: NodeId) -> Option<WorkerId>;

    /// The worker that has pushed the next item of a channel that the consumer has not taken. `None` if no worker has, if
    /// the host does not know, or in a run of one worker.
    fn origin(&self, _channel: ChannelId) -> Option<WorkerId> {
        None
    }

    /// Whether items that this worker has pushed wait in a channel. False where [`Measurements::origin`] is not known.
    fn any_waiting(&self, _channel: ChannelId) -> bool {
        false
    }

    /// Whether workers are to carry their items on, since some own memory or are large. True only where
    /// [`Measurements::origin`] is known and the graph has few channels. Constant during a run.
    fn carries(&self) -> bool {
        false
    }

    /// Whether workers that carry their items on wait for their turn in a graph of kernels: the engine's do not while firings are long
    /// beside the moves of their items, those of the virtual host always do. May change during a run.
    fn waits(&self) -> bool {
        true
    }

    /// How often the firing that this worker's latest activation has ended has waited for its ticket since it was computed or
    /// last suspended for room, at all outputs together; 0 if the activation has ended none. `None` in a run whose firings do not wait for their tickets.
    fn ticket_waits(&self) -> Option<u64> {
        None
    }

    /// Nanoseconds from the start of the run to the end of this worker's latest activation or rest.
    fn now(&self) -> u64 {
        0
    }

    /// Nanoseconds without work so far, summed over all workers, sleeping ones included.
    fn idle_time(&self) -> u64 {
        0
    }

    /// Nanoseconds that the activations of a node have taken so far.
    fn busy_time(&self, _node: NodeId) -> u64 {
        0
    }

    /// Items published to a channel so far.
    fn traffic(&self, _channel: ChannelId) -> u64 {
        0
    }
}

/// What a policy may see and ask for when it decides, from the view of one worker. `S` is the policy's
/// [`Policy::Shared`](crate::Policy::Shared).
///
/// Each worker has a queue of nodes, first in first out, which any worker may push to and steal from. Under a policy
/// with notifications an entry of a queue is a token: see [`Policy`](crate::Policy).
pub trait Host<S = ()>: Measurements {
    /// The graph of the run.
    fn graph(&self) -> &GraphData;

    /// The plan of the run. Its policy and threads are wishes that the caller of the run may have replaced:
    /// [`Host::workers`] counts the workers.
    fn plan(&self) -> &Plan;

    /// The number of workers in the run.
    fn workers(&self) -> usize;

    /// The next number of this worker's seeded random sequence.
    fn random(&mut self) -> u64;

    /// Whether, as far as the host knows, an activation of the node would do something: fire, or end the node. A
    /// node with a thread of its own, or one that has ended, is never claimable.
    fn claimable(&self, node: NodeId) -> bool;

    /// What keeps a node that is not claimable from firing, as far as the host knows: [`Event::Empty`] for the first
    /// input, by port, without the items of the next firing, else [`Event::Full`] for the first output without room.
    /// So it is the event with which an activation would end.
    ///
    /// `None` where no channel is the reason: another worker holds the node, its own tickets must retire first, it
    /// has ended, or it has a thread of its own.
    fn lack(&self, node: NodeId) -> Option<Event>;

    /// Appends a node to the back of a worker's queue. A node that is pinned to a worker goes to a queue of that
    /// worker whatever `to` is, and cannot be stolen.
    fn push(&mut self, to: WorkerId, node: NodeId);

    /// Takes a node from one end of this worker's own queue. The host delivers here, too, the tokens of nodes that
    /// became claimable outside of all activations.
    fn pop(&mut self, end: End) -> Option<NodeId>;

    /// Takes the oldest node of another worker's queue.
    fn steal(&mut self, from: WorkerId) -> Option<NodeId>;

    /// As [`Host::steal`], for a worker that carries items on: the oldest node whose next item the other worker has not pushed.
    fn steal_new(&mut self, from: WorkerId) -> Option<NodeId> {
        self.steal(from)
    }

    /// Takes the first claimable node of a worker's queue, this worker's or another's. The nodes before it go to the
    /// back, in their order. No other node leaves the queue, not even for the moment of the search: other workers
    /// never miss a node that this one only examines.
    fn take_claimable(&mut self, from: WorkerId) -> Option<NodeId>;

    /// Takes the oldest node of another worker's queue, as [`Host::steal`] does, for a policy that deals the nodes of that
    /// queue anew: it counts as no steal.
    fn reclaim(&mut self, from: WorkerId) -> Option<NodeId> {
        self.steal(from)
    }

    /// The worker that a node belongs to: the latest [`Host::set_affinity`], or at the start the one of the plan
    /// ([`Plan::workers`]), or else the one of [`dealt`]. `None` for a parallel node, which any worker may run.
    ///
    /// The default reads the plan alone, of which it finds only the node's own entry.
    fn affinity(&self, node: NodeId) -> Option<WorkerId> {
        let planned = || self.plan().affinity().get(&node).map(|worker| *worker as WorkerId);
        let bound = self.graph().node(node).kind() != Kind::Parallel;
        bound.then(|| planned().unwrap_or_else(|| dealt(node, self.graph().nodes().len(), self.workers())))
    }

    /// Moves a node, which is not parallel, to a worker. Another worker that reads the affinity at the same time may
    /// see the old value.
    fn set_affinity(&mut self, _node: NodeId, _worker: WorkerId) {}

    /// Calls `act` with the shared state locked. Returns `None`, without calling `act`, while another worker holds
    /// the lock: no worker waits for it.
    fn try_shared<R>(&mut self, act: impl FnOnce(&mut S, &mut Self) -> R) -> Option<R>;
}

/// The worker that a node is dealt to at the start: each worker gets a run of consecutive nodes.
pub fn dealt(node: NodeId, nodes: usize, workers: usize) -> WorkerId {
    ((node.index() + 1) * workers - 1) / nodes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_worker_gets_a_run_of_consecutive_nodes() {
        for nodes in 1..40 {
            for workers in 1..20 {
                for worker in 0..workers {
                    let run = worker * nodes / workers..(worker + 1) * nodes / workers;
                    let mine = (0..nodes).filter(|at| dealt(NodeId(*at as u32), nodes, workers) == worker);
                    assert!(mine.eq(run), "{nodes} nodes, {workers} workers");
                }
            }
        }
    }
}
