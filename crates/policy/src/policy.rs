//! The trait of policies, and what it exchanges with a host. The documentation of the crate states the protocol.

use crate::{Host, Needs, Shared, WorkerId};
use thalweg_graph::{ChannelId, GraphData, NodeId};

/// Why an activation ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Event {
    /// The input channel has fewer items than the next firing needs.
    Empty(ChannelId),
    /// The output channel has less room than the next firing needs.
    Full(ChannelId),
    /// A parallel node can claim no more firings until a ticket in flight retires: the reorder window is full, or the
    /// output of the tickets in flight may fill the output channels, or they are the last.
    Waiting,
    /// The batch budget is spent, and there may be more to do. For a parallel node: the claimed run of firings is
    /// done (the end of a thread's execution in DANBI, section III-A).
    Budget,
    /// The node has ended, in this activation or before.
    Done,
    /// Another worker holds the node (or its claim).
    Refused,
}

/// What a worker does next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Decision {
    /// Activate this node.
    Activate(NodeId),
    /// The policy has nothing for this worker now. The host looks for a claimable node for a while, and parks the
    /// worker if it finds none.
    Idle,
}

/// A scheduling policy. The [documentation of the crate](crate) states the order of calls, the protocol of tokens and
/// the liveness law.
///
/// A worker of the engine may refuse a choice and leave the node to a free worker, while a node that only it can activate
/// is ready. So a notified policy that assigns no nodes to workers must let free workers steal.
pub trait Policy: Sync {
    /// State of one worker.
    type Local: Send;

    /// State that the workers share, by [`Host::try_shared`]; `()` for none.
    type Shared: Shared;

    /// What this policy needs from the host in a run of this graph. The answer must not change during a run.
    fn needs(&self, _graph: &GraphData) -> Needs {
        Needs::Scans
    }

    /// The state of a worker at the start. Called for worker 0 first, then 1, and so on, before any other call; may
    /// push to any queue.
    fn start<H: Host<Self::Shared>>(&self, worker: WorkerId, host: &mut H) -> Self::Local;

    /// Passes the token of a node that this worker's latest activation made claimable to the policy. Called only
    /// where the policy needs notifications.
    fn ready<H: Host<Self::Shared>>(&self, _me: &mut Self::Local, _node: NodeId, _host: &mut H) {}

    /// Bounds direct handoffs. A process that comes to wait and has made exactly one other process ready, which this
    /// worker ran last, may hand the worker over to it without `ready` and `next` between.
    ///
    /// The host calls `handoffs(me, 0)` after an activation that `next` chose, before `ready`. The result is the
    /// number of activations that may follow by handoff. After a series of `followed` such activations the host
    /// calls `handoffs(me, followed)` once and ignores the result: the policy accounts for the decisions that the
    /// series replaced.
    ///
    /// A policy returns more than 0 only where `ready` and `next` would choose the same node, and where the bound
    /// is as fair to other nodes as `next` is.
    fn handoffs(&self, _me: &mut Self::Local, _followed: u32) -> u32 {
        0
    }

    /// Whether the host may adapt the lengths of activations to the workers that items come from, and the number of
    /// workers to the throughput: [`auto`](crate::auto) leaves both to it, the policies of the papers do not.
    fn adapts(&self) -> bool {
        false
    }

    /// Gives up the nodes that this worker keeps outside of its queue: it is about to sleep though there may be work, since the
    /// run needs fewer workers. The host moves what the policy pushes, and what is in the worker's queue, to other workers.
    fn stand_down<H: Host<Self::Shared>>(&self, _me: &mut Self::Local, _host: &mut H) {}

    /// Decides what the worker does next. `last` is the worker's latest activation and the event that ended it, if
    /// there was one; a call after [`Decision::Idle`] passes the same `last` again.
    fn next<H: Host<Self::Shared>>(
        &self,
        me: &mut Self::Local,
        last: Option<(NodeId, Event)>,
        host: &mut H,
    ) -> Decision;
}

impl<P: Policy> Policy for &P {
    type Local = P::Local;
    type Shared = P::Shared;

    fn needs(&self, graph: &GraphData) -> Needs {
        (**self).needs(graph)
    }

    fn start<H: Host<P::Shared>>(&self, worker: WorkerId, host: &mut H) -> P::Local {
        (**self).start(worker, host)
    }

    fn ready<H: Host<P::Shared>>(&self, me: &mut P::Local, node: NodeId, host: &mut H) {
        (**self).ready(me, node, host);
    }

    fn handoffs(&self, me: &mut P::Local, followed: u32) -> u32 {
        (**self).handoffs(me, followed)
    }

    fn adapts(&self) -> bool {
        (**self).adapts()
    }

    fn stand_down<H: Host<P::Shared>>(&self, me: &mut P::Local, host: &mut H) {
        (**self).stand_down(me, host);
    }

    fn next<H: Host<P::Shared>>(
        &self,
        me: &mut P::Local,
        last: Option<(NodeId, Event)>,
        host: &mut H,
    ) -> Decision {
        (**self).next(me, last, host)
    }
}
