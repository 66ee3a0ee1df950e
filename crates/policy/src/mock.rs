//! A host that returns what a unit test has set.

use crate::random::XorShift;
use crate::{End, Event, Host, Measurements, Occupancy, WorkerId};
use std::collections::VecDeque;
use thalweg_graph::{ChannelId, GraphData, Kind, NodeId};
use thalweg_plan::{Plan, Wishes};

pub(crate) struct Mock<S = ()> {
    pub(crate) graph: GraphData,
    pub(crate) plan: Plan,
    /// By node.
    pub(crate) claimable: Vec<bool>,
    /// By node: what it lacks, if it is not claimable.
    pub(crate) lacks: Vec<Option<Event>>,
    /// By channel.
    pub(crate) items: Vec<usize>,
    /// By channel: its producer and its consumer have not ended.
    pub(crate) ends: Vec<(bool, bool)>,
    /// By worker.
    pub(crate) queues: Vec<VecDeque<NodeId>>,
    /// The minimum number of nodes in all queues after a node was taken.
    pub(crate) fewest_queued: usize,
    /// By node: the worker that activated it last.
    pub(crate) last: Vec<Option<WorkerId>>,
    /// By channel: the worker that has pushed the next item.
    pub(crate) origins: Vec<Option<WorkerId>>,
    /// By channel: whether items of the calling worker wait.
    pub(crate) waiting: Vec<bool>,
    pub(crate) carries: bool,
    pub(crate) waits: bool,
    /// The waits of the firing that has ended; `None` where firings do not wait for their tickets.
    pub(crate) ticket_waits: Option<u64>,
    /// The worker that calls the policy.
    pub(crate) me: WorkerId,
    /// By node.
    pub(crate) affinity: Vec<WorkerId>,
    pub(crate) now: u64,
    pub(crate) idle_time: u64,
    /// By node.
    pub(crate) busy_time: Vec<u64>,
    /// By channel.
    pub(crate) traffic: Vec<u64>,
    /// `None` while another worker holds the lock.
    pub(crate) shared: Option<S>,
    /// Calls of `steal`.
    pub(crate) steals: usize,
    random: XorShift,
}

/// Capacity of every channel of a mock.
pub(crate) const CAPACITY: usize = 100;

impl Mock {
    /// One worker, no shared state, all nodes claimable, all channels half full.
    pub(crate) fn new(graph: GraphData) -> Mock {
        Mock::with_workers(graph, 1)
    }

    pub(crate) fn with_workers(graph: GraphData, workers: usize) -> Mock {
        Mock::sharing(graph, workers)
    }
}

impl<S: Default> Mock<S> {
    pub(crate) fn sharing(graph: GraphData, workers: usize) -> Mock<S> {
        Mock {
            claimable: vec![true; graph.nodes().len()],
            lacks: vec![None; graph.nodes().len()],
            items: vec![CAPACITY / 2; graph.channels().len()],
            ends: vec![(true, true); graph.channels().len()],
            queues: vec![VecDeque::new(); workers],
            fewest_queued: usize::MAX,
            last: vec![None; graph.nodes().len()],
            origins: vec![None; graph.channels().len()],
            waiting: vec![false; graph.channels().len()],
            carries: false,
            waits: true,
            ticket_waits: None,
            me: 0,
            affinity: vec![0; graph.nodes().len()],
            now: 0,
            idle_time: 0,
            busy_time: vec![0; graph.nodes().len()],
            traffic: vec![0; graph.channels().len()],
            shared: Some(S::default()),
            steals: 0,
            random: XorShift::new(11, 0),
            plan: Plan::new(&graph, &Wishes::default().threads(workers)),
            graph,
        }
    }
}

impl<S> Mock<S> {
    /// Makes these nodes, and no others, claimable.
    pub(crate) fn only(&mut self, nodes: &[u32]) {
        for (i, claimable) in self.claimable.iter_mut().enumerate() {
            *claimable = nodes.contains(&(i as u32));
        }
    }

    fn count_queued(&mut self, taken: Option<NodeId>) -> Option<NodeId> {
        self.fewest_queued = self.fewest_queued.min(self.queues.iter().map(VecDeque::len).sum());
        taken
    }
}

impl<S> Measurements for Mock<S> {
    fn occupancy(&self, channel: ChannelId) -> Occupancy {
        Occupancy::new(self.items[channel.index()], CAPACITY)
    }
    fn has_producer(&self, channel: ChannelId) -> bool {
        self.ends[channel.index()].0
    }
    fn has_consumer(&self, channel: ChannelId) -> bool {
        self.ends[channel.index()].1
    }
    fn last_worker(&self, node: NodeId) -> Option<WorkerId> {
        self.last[node.index()]
    }
    fn origin(&self, channel: ChannelId) -> Option<WorkerId> {
        self.origins[channel.index()]
    }
    fn any_waiting(&self, channel: ChannelId) -> bool {
        self.waiting[channel.index()]
    }
    fn carries(&self) -> bool {
        self.carries
    }
    fn waits(&self) -> bool {
        self.waits
    }
    fn ticket_waits(&self) -> Option<u64> {
        self.ticket_waits
    }
    fn now(&self) -> u64 {
        self.now
    }
    fn idle_time(&self) -> u64 {
        self.idle_time
    }
    fn busy_time(&self, node: NodeId) -> u64 {
        self.busy_time[node.index()]
    }
    fn traffic(&self, channel: ChannelId) -> u64 {
        self.traffic[channel.index()]
    }
}

impl<S> Host<S> for Mock<S> {
    fn graph(&self) -> &GraphData {
        &self.graph
    }
    fn plan(&self) -> &Plan {
        &self.plan
    }
    fn workers(&self) -> usize {
        self.queues.len()
    }
    fn random(&mut self) -> u64 {
        self.random.number()
    }
    fn claimable(&self, node: NodeId) -> bool {
        self.claimable[node.index()]
    }
    fn lack(&self, node: NodeId) -> Option<Event> {
        self.lacks[node.index()]
    }
    fn push(&mut self, to: WorkerId, node: NodeId) {
        self.queues[to].push_back(node);
    }
    fn pop(&mut self, end: End) -> Option<NodeId> {
        let queue = &mut self.queues[self.me];
        let taken = match end {
            End::Oldest => queue.pop_front(),
            End::Newest => queue.pop_back(),
        };
        self.count_queued(taken)
    }
    fn steal(&mut self, from: WorkerId) -> Option<NodeId> {
        self.steals += 1;
        self.reclaim(from)
    }
    fn reclaim(&mut self, from: WorkerId) -> Option<NodeId> {
        assert_ne!(from, self.me, "a worker steals from others");
        let taken = self.queues[from].pop_front();
        self.count_queued(taken)
    }
    fn steal_new(&mut self, from: WorkerId) -> Option<NodeId> {
        let is_new = |node: &NodeId| crate::auto::origin(*node, self) != Some(from);
        let found = self.queues[from].iter().position(is_new)?;
        self.queues[from].remove(found)
    }
    fn take_claimable(&mut self, from: WorkerId) -> Option<NodeId> {
        let found = self.queues[from].iter().position(|node| self.claimable[node.index()])?;
        self.queues[from].rotate_left(found);
        let taken = self.queues[from].pop_front();
        self.count_queued(taken)
    }
    fn affinity(&self, node: NodeId) -> Option<WorkerId> {
        (self.graph.node(node).kind() != Kind::Parallel).then_some(self.affinity[node.index()])
    }
    fn set_affinity(&mut self, node: NodeId, worker: WorkerId) {
        self.affinity[node.index()] = worker;
    }
    fn try_shared<R>(&mut self, act: impl FnOnce(&mut S, &mut Self) -> R) -> Option<R> {
        let mut shared = self.shared.take()?;
        let result = act(&mut shared, self);
        self.shared = Some(shared);
        Some(result)
    }
}
