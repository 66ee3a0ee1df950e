//! A plan: all decisions of a run.

use crate::passes::{self, Given};
use crate::{Fingerprint, Profile, Units, Wishes};
use std::collections::{BTreeMap, BTreeSet};
use thalweg_graph::{ChannelId, GraphData, NodeId, data};

data! {
    /// All decisions that a run needs in addition to the graph.
    ///
    /// A decision that few nodes or channels have is in a map, which holds nothing for the others.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct Plan {
        /// The graph that the plan was made for.
        copy graph: Fingerprint, graph_mut;
        /// Number of workers, from 1 to [`MOST_THREADS`](crate::MOST_THREADS).
        copy threads: usize, threads_mut;
        /// Name of the scheduling policy. The host that runs the plan checks that it has one of this name.
        view policy: String => &str, policy_mut;
        /// The name of the mapper that has decided segments, workers and capacities, if one has: a record, which changes no run.
        option mapper: Option<String> => Option<&str>, mapper_mut;
        /// Remarks of the mapper, a sentence each, for example that an assumption of its bounds does not hold. They change no run; its
        /// report repeats them.
        view notes: Vec<String> => &[String], notes_mut;
        /// The maximum number of bytes that all channels together may hold. `None` is no limit.
        copy budget: Option<usize>, budget_mut;
        /// The maximum number of firings of an activation, at least 1. Where activations end by count, an activation has four claims,
        /// and no more firings than this. In a compiled graph: the steady states in a batch, which the compiler sets.
        copy batch: usize, batch_mut;
        /// The tickets of a parallel node's reorder window, a power of two.
        copy window: usize, window_mut;
        /// The maximum number of bytes that completed tickets of one parallel node hold. Beyond it the node makes no claim.
        copy held: usize, held_mut;
        /// The maximum number of bytes that the gate of one fork-join keeps.
        copy kept: usize, kept_mut;
        /// The maximum number of firings in a claim of each node, by id. At least 1.
        view claim_lengths: Vec<usize> => &[usize], claim_lengths_mut;
        /// The maximum number of workers that may fire a parallel node at the same time, for nodes with such a limit. The graph's own
        /// limit ([`Node::workers`](thalweg_graph::Node::workers)) holds too.
        view replicas: BTreeMap<NodeId, u32> => &BTreeMap<NodeId, u32>, replicas_mut;
        /// The workers that serve a parallel node, for nodes with such a list. Under the policy `pools` each worker serves the one node
        /// that it is listed for, here or in [`Plan::affinity`], and no other; under `static` the listed workers alone run the node, with
        /// `spare=help` also others that have nothing to do. Other policies use no list.
        view pools: BTreeMap<NodeId, Vec<u32>> => &BTreeMap<NodeId, Vec<u32>>, pools_mut;
        /// How the items of a parallel node are divided among its workers, in the order of its list in [`Plan::pools`], for nodes
        /// with such a division: relative parts, each at least 1. The policy `static` claims by it, without `spare=help`; others do
        /// not.
        view shares: BTreeMap<NodeId, Vec<u32>> => &BTreeMap<NodeId, Vec<u32>>, shares_mut;
        /// The worker that a node belongs to at the start of the run, for sequential nodes and processes that have one
        /// ([`Plan::workers`] adds those of segments and regions). Which policies use it:
        ///
        /// | policy | use |
        /// |---|---|
        /// | `ws-cur`, `ws-last`, `random` | the node's first token is dealt to that worker; other workers may steal it |
        /// | `partition` | the node belongs to the worker until the graph is divided again |
        /// | `auto` | a tie-break: among nodes that are equally ready the worker takes its own first; with processes in the graph as `ws-cur` |
        /// | `pools` | the only worker that runs the node |
        /// | `static` | the only worker that runs the node; with `spare=help` the one that runs it while it has time |
        /// | `qes`, `pss`, `prs` | none |
        view affinity: BTreeMap<NodeId, u32> => &BTreeMap<NodeId, u32>, affinity_mut;
        /// The nodes with a thread of their own: all that block, and others that are not parallel. A run whose plan the engine has
        /// made may have an additional worker in place of the thread of a source.
        view own_threads: BTreeSet<NodeId> => &BTreeSet<NodeId>, own_threads_mut;
        /// Capacity of each channel at the start, in items, by id. The run may raise it. In a compiled graph: the least that
        /// firings need; the compiler sizes buffers.
        view capacities: Vec<usize> => &[usize], capacities_mut;
        /// The capacity up to which the run may widen a channel, for channels that it may widen.
        view slots: BTreeMap<ChannelId, usize> => &BTreeMap<ChannelId, usize>, slots_mut;
        /// The maximum number of bytes that a channel of weighed items may hold, for channels with such a limit.
        view byte_limits: BTreeMap<ChannelId, usize> => &BTreeMap<ChannelId, usize>, byte_limits_mut;
        /// The user's capacities that were too small for a single firing, and were raised when the plan was made: a record.
        /// A capacity that was edited later differs from it, so [`Plan::check`] does not compare the two.
        view raised: Vec<Raised> => &[Raised], raised_mut;
        /// Segments: lists of nodes, each for one worker at a time, or in a compiled graph for as many as its nodes have
        /// replicas. Data that leaves a segment does not return to it, except around cycles of the graph and through nodes with
        /// threads of their own.
        view segments: Vec<Vec<NodeId>> => &[Vec<NodeId>], segments_mut;
        /// Regions to fuse: sets of nodes that channels of static rates join. The engine cannot fuse closures; the nodes
        /// of a region count as one segment, so that one worker runs them.
        view regions: Vec<Vec<NodeId>> => &[Vec<NodeId>], regions_mut;
    }
}

data! {
    /// A capacity set by the user that was too small for a single firing.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct Raised {
        /// The channel.
        copy channel: ChannelId, channel_mut;
        /// The capacity that the user set, in items.
        copy asked: usize, asked_mut;
        /// The capacity that the plan got instead, in items.
        copy given: usize, given_mut;
    }
}

impl Raised {
    /// A capacity of `asked` items that was raised to `given`.
    pub fn new(channel: ChannelId, asked: usize, given: usize) -> Raised {
        Raised { channel, asked, given }
    }
}

impl Plan {
    /// Makes a plan that follows `wishes` and chooses everything that they leave open, from the graph alone.
    pub fn new(graph: &GraphData, wishes: &Wishes) -> Plan {
        passes::run(&Given { graph, profile: None, units: None, wishes })
    }

    /// Makes a plan as [`Plan::new`] does, and decides by the profile of an earlier run also the replicas of parallel
    /// nodes, segments, affinity and regions.
    ///
    /// ```
    /// use std::time::Duration;
    /// use thalweg_graph::{GraphData, InPort, Item, Link, Node, NodeId, OutPort, Rate};
    /// use thalweg_plan::{NodeProfile, Plan, Profile, Wishes};
    ///
    /// let item = Item::of::<u64>();
    /// let mut graph = GraphData::new();
    /// let a = graph.add(Node::sequential("a").output(OutPort::new("out", item).with_push(Rate::Static(1))));
    /// let b = graph.add(Node::sequential("b").input(InPort::new("in", item)));
    /// graph.connect((a, 0), (b, 0), Link::default()).unwrap();
    ///
    /// let node = NodeProfile::new(1000, Duration::from_millis(5));
    /// let profile = Profile::new(Duration::from_millis(6), vec![node, node], Vec::new());
    /// let plan = Plan::with_profile(&graph, &profile, &Wishes::default().threads(2));
    /// assert_eq!(plan.segments(), [[NodeId(0)], [NodeId(1)]]);
    /// assert_eq!(plan.affinity()[&NodeId(1)], 1);
    /// ```
    pub fn with_profile(graph: &GraphData, profile: &Profile, wishes: &Wishes) -> Plan {
        passes::run(&Given { graph, profile: Some(profile), units: None, wishes })
    }

    /// Makes a plan for a graph that a compiler executes, in which `units` decide the segments, the replicas of their
    /// nodes and the worker of each node. [`Plan::bodies`] reads them. The compiler's code has no claims, channels, windows
    /// or threads of nodes, so what the plan says of these, and of regions, has no effect.
    ///
    /// ```
    /// use thalweg_graph::{GraphData, InPort, Item, Link, Node, NodeId, OutPort};
    /// use thalweg_plan::{Body, Division, Plan, Unit, Units, Wishes};
    ///
    /// let item = Item::of::<f32>();
    /// let mut graph = GraphData::new();
    /// let scale = graph.add(Node::parallel("scale").output(OutPort::new("out", item)));
    /// let sum = graph.add(Node::sequential("sum").input(InPort::new("in", item)));
    /// graph.connect((scale, 0), (sum, 0), Link::default()).unwrap();
    ///
    /// let all = vec![Unit::new(vec![scale], 30, true), Unit::new(vec![sum], 10, false)];
    /// let units = Units::new(all, Division::Copies);
    /// let plan = Plan::compiled(&graph, &units, &Wishes::default().threads(2));
    /// let bodies = plan.bodies(&graph, units.all()).unwrap();
    /// assert_eq!(bodies, [Body::new(0..1, 2), Body::new(1..2, 1)]);
    /// ```
    pub fn compiled(graph: &GraphData, units: &Units, wishes: &Wishes) -> Plan {
        passes::run(&Given { graph, profile: None, units: Some(units), wishes })
    }

    /// The plan for the next run of the same graph: replicas of parallel nodes, segments, affinity and regions are
    /// decided anew by the profile, and all else stays; under the policy `pools` these stay too. The plan must fit the graph.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use thalweg_graph::{GraphData, InPort, Item, Link, Node, OutPort};
    /// # use thalweg_plan::{NodeProfile, Plan, Profile, Wishes};
    /// # let item = Item::of::<u64>();
    /// # let mut graph = GraphData::new();
    /// # let a = graph.add(Node::sequential("a").output(OutPort::new("out", item)));
    /// # let b = graph.add(Node::sequential("b").input(InPort::new("in", item)));
    /// # graph.connect((a, 0), (b, 0), Link::default()).unwrap();
    /// let wishes = Wishes::default().threads(2).claim_length(1);
    /// let plan = Plan::new(&graph, &wishes);
    /// let node = NodeProfile::new(1000, Duration::from_millis(5));
    /// let profile = Profile::new(Duration::from_millis(6), vec![node, node], Vec::new());
    /// let next = plan.refined(&graph, &profile);
    /// assert_eq!((next.segments().len(), next.claim_lengths()[0]), (2, 1));
    /// ```
    pub fn refined(&self, graph: &GraphData, profile: &Profile) -> Plan {
        let mut plan = self.clone();
        passes::refine(
            &Given { graph, profile: Some(profile), units: None, wishes: &Wishes::default() },
            &mut plan,
        );
        plan
    }

    /// Whether the plan's policy is [`POOLS`](crate::POOLS), under which each worker serves one node.
    pub fn has_pools(&self) -> bool {
        self.policy.split(':').next() == Some(crate::POOLS)
    }

    /// The capacity up to which the run may widen a channel: the number of slots to allocate.
    pub fn slots_of(&self, channel: ChannelId) -> usize {
        let capacity = self.capacities.get(channel.index()).copied().unwrap_or(0);
        self.slots.get(&channel).copied().unwrap_or(capacity)
    }
}
