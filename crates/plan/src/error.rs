//! The reasons why a plan does not fit a graph.

use crate::{Fingerprint, Plan};
use thalweg_graph::{ChannelId, GraphData, NodeId, data};

data! {
    /// A reason why a plan cannot run a graph: what does not fit, and where. It prints as a message with a line of help.
    #[derive(Clone, PartialEq, Eq)]
    pub struct PlanError {
        /// The part of the plan that does not fit.
        copy place: Place;
        /// The name of the node, channel or policy that it concerns; empty if it concerns none.
        view name: String => &str;
        /// What does not fit.
        view misfit: Misfit => &Misfit;
    }
}

impl PlanError {
    /// The error of a plan whose policy's name is refused. Plans do not know the policies: the host that runs them
    /// checks the name.
    pub fn policy(plan: &Plan, why: impl std::fmt::Display) -> PlanError {
        PlanError { place: Place::Policy, name: plan.policy.clone(), misfit: Misfit::Policy(why.to_string()) }
    }

    /// The error of a plan for which the system has no memory: a channel's slots would take `bytes` bytes.
    pub fn memory(graph: &GraphData, channel: ChannelId, bytes: usize) -> PlanError {
        let name = graph.channel_name(channel);
        PlanError { place: Place::Channel(channel), name, misfit: Misfit::Memory { bytes } }
    }
}

/// A part of a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Place {
    /// The fingerprint of the graph.
    Fingerprint,
    /// The number of workers.
    Threads,
    /// The policy.
    Policy,
    /// The maximum number of firings of an activation.
    Batch,
    /// The tickets of a reorder window.
    Window,
    /// What is decided for a node.
    Node(NodeId),
    /// What is decided for a channel.
    Channel(ChannelId),
    /// A segment, by its index.
    Segment(usize),
    /// A region, by its index.
    Region(usize),
}

/// What does not fit.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Misfit {
    /// The plan and the graph have different numbers of nodes.
    Nodes {
        /// Nodes in the plan.
        plan: usize,
        /// Nodes in the graph.
        graph: usize,
    },
    /// The plan and the graph have different numbers of channels.
    Channels {
        /// Channels in the plan.
        plan: usize,
        /// Channels in the graph.
        graph: usize,
    },
    /// The plan was made for another graph.
    Fingerprint {
        /// The fingerprint in the plan.
        plan: Fingerprint,
        /// The fingerprint of the graph.
        graph: Fingerprint,
    },
    /// The policy is unknown, or has another setting: what is wrong with it.
    Policy(String),
    /// The number of workers is out of range.
    Threads(usize),
    /// The maximum number of firings of an activation are out of range.
    Batch(usize),
    /// The number of tickets is out of range or no power of two.
    Window(usize),
    /// The graph has no such node or channel.
    Unknown,
    /// The claims of a node have no firing.
    Claim,
    /// A node may have no worker.
    Replicas,
    /// A node that is not parallel has a number of replicas.
    ReplicasOfSequential,
    /// A node belongs to a worker that the plan lacks.
    Worker {
        /// The worker.
        worker: u32,
        /// Workers in the plan.
        threads: usize,
    },
    /// A parallel node belongs to a worker.
    WorkerOfParallel,
    /// A parallel node has an empty list of workers.
    NoWorkers,
    /// A node that is not parallel has a list of workers.
    WorkersOfSequential,
    /// The shares of a node's items are not one for each worker of its list, each at least 1.
    Shares {
        /// Shares in the plan.
        shares: usize,
        /// Workers in its list.
        workers: usize,
    },
    /// A worker is twice in the list of a node.
    WorkerTwice(u32),
    /// A parallel node has more workers than may fire it at a time.
    TooManyWorkers {
        /// Workers in its list.
        workers: usize,
        /// The limit of the graph or the plan.
        limit: u32,
    },
    /// Under the policy `pools` a node that workers run has no worker.
    Unserved,
    /// Under the policy `pools` a worker serves two nodes.
    ServesTwo {
        /// The worker.
        worker: u32,
        /// The name of the other node.
        other: String,
    },
    /// Under the policy `pools` the nodes need more workers than a run may have.
    PoolThreads(usize),
    /// A node with a thread of its own belongs to a worker.
    WorkerAndOwnThread,
    /// A parallel node has a thread of its own.
    ThreadOfParallel,
    /// A node that blocks has no thread of its own.
    Blocks,
    /// A single firing, or the initial items, do not fit into a channel.
    Capacity {
        /// Capacity in the plan, in items.
        planned: usize,
        /// Capacity that is needed, in items.
        needed: usize,
    },
    /// A channel would take too many bytes.
    Bytes {
        /// Slots in the plan.
        items: usize,
        /// Bytes of an item.
        bytes: usize,
        /// Bytes with which the channel notes the weight of an item; 0 where items are not weighed.
        weights: usize,
    },
    /// The system has no memory for the slots of a channel.
    Memory {
        /// The bytes that they take.
        bytes: usize,
    },
    /// All channels together would take too many bytes. The error names the largest.
    BytesInAll {
        /// Bytes of all channels' slots.
        total: usize,
        /// The maximum number of bytes for this graph.
        most: usize,
        /// Bytes of the largest channel's slots.
        largest: usize,
    },
    /// A channel has fewer slots than capacity.
    Slots {
        /// Slots in the plan.
        slots: usize,
        /// Capacity in the plan, in items.
        capacity: usize,
    },
    /// The run cannot widen the channel.
    Widen,
    /// The items of a channel with a byte limit are not weighed.
    Unweighed,
    /// A channel may hold no byte.
    ByteLimit,
    /// A segment or a region has too few nodes.
    TooFew,
    /// A node is in two segments, in two regions, or twice in one.
    Twice,
    /// A node of a segment or region has a thread of its own.
    OwnThread,
    /// Data that leaves a segment returns to it at a node.
    Returns {
        /// The node from which it returns.
        from: String,
    },
    /// A node and this one are in different segments, though one piece of compiled code executes both.
    Together(String),
    /// A node that compiled code executes is in no segment.
    NoSegment,
    /// In the order of compiled code, units of other segments are between those of a segment.
    Scattered,
    /// Nodes of one segment or region belong to different workers.
    Workers {
        /// The worker of a node before.
        first: u32,
        /// The worker of this node.
        second: u32,
    },
    /// A node of a region is not joined to the others by channels of static rates inside the region.
    Unconnected,
    /// The nodes of a region are in different segments.
    OtherSegment,
}
