//! The contract between policies and the worlds they run in.

use crate::partition::Ledger;
use thalweg_graph::{ChannelId, GraphData, Kind, NodeId};

/// A worker, by its index.
pub type WorkerId = usize;

/// Why an activation ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Event {
    /// The input channel has fewer items than the next firing needs.
    Empty(ChannelId),
    /// The output channel has less room than the next firing needs.
    Full(ChannelId),
    /// A parallel node can claim no more until a ticket under way is retired: its reorder window is
    /// full, or what they may give fills its outputs, or they are its last.
    Waiting,
    /// The batch budget is spent and there may be more to do. For a parallel node: the run of
    /// firings it had claimed is done (the end of a thread's execution in DANBI, section III-A).
    Budget,
    /// The node has ended, now or before.
    Done,
    /// Another worker holds the node (or its claim).
    Refused,
}

/// What a worker does next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Decision {
    /// Activate this node.
    Activate(NodeId),
    /// Nothing to do that this policy would do now: the host looks for a claimable node for a little, and parks if there is none.
    Idle,
}

/// How full a channel is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Occupancy {
    /// Items in it.
    pub items: usize,
    /// Items it can hold.
    pub capacity: usize,
}

impl Occupancy {
    /// Fill ratio, 0 to 1.
    pub fn fill(self) -> f64 {
        (self.items as f64 / self.capacity.max(1) as f64).min(1.0)
    }
}

/// What a policy may see and ask of the world.
pub trait Host {
    /// The graph being run.
    fn graph(&self) -> &GraphData;
    /// Workers in this run.
    fn workers(&self) -> usize;
    /// The next number of this worker's seeded random sequence.
    fn random(&mut self) -> u64;
    /// How full a channel is, as last published.
    fn occupancy(&self, channel: ChannelId) -> Occupancy;
    /// Whether an activation of the node would, as far as is known, do something: fire, or end the
    /// node. Nodes that have a thread of their own, or have ended, are never claimable.
    fn claimable(&self, node: NodeId) -> bool;
    /// Puts a node at the back of a worker's queue. One that has to stay on a worker joins that one's,
    /// whichever is named, and nobody steals it.
    fn push(&mut self, to: WorkerId, node: NodeId);
    /// Takes the node at the front of this worker's own queue.
    fn pop(&mut self) -> Option<NodeId>;
    /// Takes the node at the back of this worker's own queue, the one pushed last.
    fn pop_newest(&mut self) -> Option<NodeId>;
    /// Takes the node at the front of another worker's queue.
    fn steal(&mut self, from: WorkerId) -> Option<NodeId>;
    /// The worker that activated the node last, if any has.
    fn last_worker(&self, node: NodeId) -> Option<WorkerId>;

    // What follows is for policies whose nodes have homes: see `Policy::has_homes`.

    /// The worker that is to run a node, as set last and at the start as dealt by [`dealt`]; of a parallel
    /// node, which any may run, none.
    fn home(&self, node: NodeId) -> Option<WorkerId> {
        let bound = self.graph().node(node).kind != Kind::Parallel;
        bound.then(|| dealt(node, self.graph().nodes().len(), self.workers()))
    }
    /// Makes a worker the home of a node that has one. Whoever reads it meanwhile may see the old one.
    fn set_home(&mut self, _node: NodeId, _worker: WorkerId) {}
    /// Nanoseconds from the run's start to the end of this worker's latest activation or rest.
    fn now(&self) -> u64 {
        0
    }
    /// Nanoseconds that all workers together have had nothing to do so far, those that sleep included.
    fn idle(&self) -> u64 {
        0
    }
    /// Nanoseconds that a node's activations have taken so far.
    fn used(&self, _node: NodeId) -> u64 {
        0
    }
    /// Items that have gone into a channel so far.
    fn traffic(&self, _channel: ChannelId) -> u64 {
        0
    }
    /// The ledger that all workers share, unless one of them has it: to be given back.
    fn take_ledger(&mut self) -> Option<Ledger> {
        None
    }
    /// Gives back the ledger that was taken.
    fn put_ledger(&mut self, _ledger: Ledger) {}
}

/// The worker that a node is dealt to, where workers get runs of neighbours.
pub fn dealt(node: NodeId, nodes: usize, workers: usize) -> WorkerId {
    ((node.index() + 1) * workers - 1) / nodes
}

/// A scheduling policy.
///
/// Law: when some node is claimable and no other worker acts, asking again after
/// [`Decision::Idle`] must, after a bounded number of times, activate a claimable node; where nodes
/// have homes, asking its home must. The policies
/// of this crate keep a stricter one, so that a worker may park after any idle answer: they answer
/// so only if they have looked at every node (`random`: at every token that is in no other worker's
/// hand; those that are told: at every queue, or where nodes have homes at their own) and found none
/// claimable.
pub trait Policy: Sync {
    /// Plain data of one worker.
    type Local: Send;

    /// The state of a worker at the start. Called for worker 0 first, then 1, ..., before any
    /// `next`; queues may be filled through the host.
    fn start<H: Host>(&self, worker: WorkerId, host: &mut H) -> Self::Local;

    /// Whether this policy wants to be told of nodes that become claimable, in a run of this graph.
    /// It then need not look for them.
    ///
    /// Whoever is told holds a *token* of the node: one there is of a sequential node or a process,
    /// as many as workers of a parallel one. A token is in a queue, in a worker's hand, or with a
    /// running activation, with whose end it is gone. Then the policy is told of neighbours that
    /// have become claimable, and at last of the node itself, if it still is.
    /// At the start each node that is claimable has one token, and it is the policy's.
    fn is_told(&self, _graph: &GraphData) -> bool {
        false
    }

    /// Whether a worker of this policy, which is told, takes nodes from its own queue only, of which each
    /// is at one worker's ([`Host::home`]). Then a push wakes the worker it is for, and a worker sleeps
    /// though others have something in their queues. Tokens that the host has to give it gives to the
    /// node's home; of nodes that have none, to any worker, by [`Host::pop`] and [`Host::pop_newest`].
    /// Activations are accounted, whatever the run's options are.
    fn has_homes(&self, _graph: &GraphData) -> bool {
        false
    }

    /// A node has become claimable by what this worker's latest activation did, and its token is
    /// the policy's.
    fn ready<H: Host>(&self, _me: &mut Self::Local, _node: NodeId, _host: &mut H) {}

    /// So many activations at most may follow the worker's latest without [`Policy::next`] being asked, each of
    /// the one process that the one before made ready while it came to wait itself. It was run on this worker last, and is
    /// neither told nor asked of. To be given only where `ready` and `next` would choose the same, and where
    /// the bound serves the others as they would.
    fn relays(&self, _me: &Self::Local) -> u32 {
        0
    }

    /// So many have followed.
    fn relayed(&self, _me: &mut Self::Local, _count: u32) {}

    /// What the worker does next; `last` is its latest activation and what ended it, if any. Asked
    /// again after [`Decision::Idle`], it is given the same `last` once more.
    fn next<H: Host>(&self, me: &mut Self::Local, last: Option<(NodeId, Event)>, host: &mut H) -> Decision;
}

impl<P: Policy> Policy for &P {
    type Local = P::Local;

    fn start<H: Host>(&self, worker: WorkerId, host: &mut H) -> P::Local {
        (**self).start(worker, host)
    }

    fn is_told(&self, graph: &GraphData) -> bool {
        (**self).is_told(graph)
    }

    fn has_homes(&self, graph: &GraphData) -> bool {
        (**self).has_homes(graph)
    }

    fn ready<H: Host>(&self, me: &mut P::Local, node: NodeId, host: &mut H) {
        (**self).ready(me, node, host);
    }

    fn relays(&self, me: &P::Local) -> u32 {
        (**self).relays(me)
    }

    fn relayed(&self, me: &mut P::Local, count: u32) {
        (**self).relayed(me, count);
    }

    fn next<H: Host>(&self, me: &mut P::Local, last: Option<(NodeId, Event)>, host: &mut H) -> Decision {
        (**self).next(me, last, host)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_are_dealt_in_runs_of_neighbours() {
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
