//! Workers, and the host that a policy sees.

use crate::turns::Firing;
use crate::world::{Claim, World};
use std::collections::VecDeque;
use thalweg_graph::{ChannelId, GraphData, Kind, NodeId};
use thalweg_plan::Plan;
use thalweg_policy::random::XorShift;
use thalweg_policy::{End, Event, Host, Measurements, Occupancy, WorkerId, dealt};

#[derive(Debug)]
pub(crate) struct Worker {
    pub(crate) random: XorShift,
    pub(crate) queue: VecDeque<NodeId>,
    pub(crate) last: Option<(NodeId, Event)>,
    /// The node of an activation that has ended, until the policy has been notified of its effects.
    pub(crate) unreported: Option<NodeId>,
    /// The running activation: its node, the claimed run, and firings left of the budget.
    pub(crate) active: Option<(NodeId, Claim, u64)>,
    /// The computed firing that it has, and its node.
    pub(crate) firing: Option<(NodeId, Firing)>,
    /// The waits of the firing that its latest activation has ended, 0 if it has ended none.
    pub(crate) ticket_waits: u64,
    /// Consecutive idle decisions.
    pub(crate) idle: u32,
    /// Consecutive idle decisions while some node was claimable, if workers carry items on.
    pub(crate) waits: u32,
    pub(crate) asleep: bool,
    /// Whether a node was pushed to its queue while it slept.
    pub(crate) wanted: bool,
    /// The time of the first of its consecutive idle decisions.
    pub(crate) idle_since: Option<u64>,
    /// Its idle time before `idle_since`.
    pub(crate) idle_before: u64,
}

impl Worker {
    pub(crate) fn new(seed: u64, worker: WorkerId) -> Worker {
        Worker {
            random: XorShift::new(seed, worker),
            queue: VecDeque::new(),
            last: None,
            unreported: None,
            active: None,
            firing: None,
            ticket_waits: 0,
            idle: 0,
            waits: 0,
            asleep: false,
            wanted: false,
            idle_since: None,
            idle_before: 0,
        }
    }
}

/// State that the workers share, except for the world.
pub(crate) struct Common<S> {
    pub(crate) plan: Plan,
    /// By node: as the plan says or as it was set later.
    pub(crate) affinity: Vec<Option<WorkerId>>,
    /// By node.
    pub(crate) busy_time: Vec<u64>,
    /// The shared state of the policy; `None` while a worker holds its lock.
    pub(crate) shared: Option<S>,
    /// Tokens of nodes that became claimable outside of all activations, for any worker.
    pub(crate) outside: VecDeque<NodeId>,
}

impl<S: Default> Common<S> {
    pub(crate) fn new(graph: &GraphData, plan: Plan) -> Common<S> {
        let workers = plan.workers(graph);
        Common {
            affinity: graph.node_ids().map(|node| workers.of(node)).collect(),
            plan,
            busy_time: vec![0; graph.nodes().len()],
            shared: Some(S::default()),
            outside: VecDeque::new(),
        }
    }
}

/// The host, as the policy of one worker sees it.
pub(crate) struct View<'a, 'm, S> {
    pub(crate) world: &'a World<'m>,
    pub(crate) workers: &'a mut [Worker],
    /// By node: the worker that activated it last.
    pub(crate) last_workers: &'a [Option<WorkerId>],
    pub(crate) common: &'a mut Common<S>,
    pub(crate) now: u64,
    pub(crate) worker: WorkerId,
    /// Workers carry their items on.
    pub(crate) carries: bool,
    /// Firings wait for their tickets.
    pub(crate) waits: bool,
}

impl<S> Measurements for View<'_, '_, S> {
    fn occupancy(&self, channel: ChannelId) -> Occupancy {
        self.world.occupancy(channel)
    }
    fn has_producer(&self, channel: ChannelId) -> bool {
        self.world.has_ends(channel).0
    }
    fn has_consumer(&self, channel: ChannelId) -> bool {
        self.world.has_ends(channel).1
    }
    fn last_worker(&self, node: NodeId) -> Option<WorkerId> {
        self.last_workers[node.index()]
    }
    fn origin(&self, channel: ChannelId) -> Option<WorkerId> {
        self.world.origins(channel).next().filter(|_| self.workers.len() > 1)
    }
    fn any_waiting(&self, channel: ChannelId) -> bool {
        self.workers.len() > 1 && self.world.origins(channel).any_waiting(self.worker)
    }
    fn carries(&self) -> bool {
        self.carries
    }
    fn ticket_waits(&self) -> Option<u64> {
        self.waits.then(|| self.workers[self.worker].ticket_waits)
    }
    fn now(&self) -> u64 {
        self.now
    }
    fn idle_time(&self) -> u64 {
        let of = |worker: &Worker| worker.idle_before + worker.idle_since.map_or(0, |since| self.now - since);
        self.workers.iter().map(of).sum()
    }
    fn busy_time(&self, node: NodeId) -> u64 {
        self.common.busy_time[node.index()]
    }
    fn traffic(&self, channel: ChannelId) -> u64 {
        self.world.traffic(channel)
    }
}

impl<S> Host<S> for View<'_, '_, S> {
    fn graph(&self) -> &GraphData {
        self.world.graph()
    }
    fn plan(&self) -> &Plan {
        &self.common.plan
    }
    fn workers(&self) -> usize {
        self.workers.len()
    }
    fn random(&mut self) -> u64 {
        self.workers[self.worker].random.number()
    }
    fn claimable(&self, node: NodeId) -> bool {
        self.world.claimable(node)
    }
    fn lack(&self, node: NodeId) -> Option<Event> {
        self.world.lack_of(node)
    }
    fn push(&mut self, to: WorkerId, node: NodeId) {
        self.workers[to].queue.push_back(node);
        self.workers[to].wanted = self.workers[to].asleep;
    }
    fn pop(&mut self, end: End) -> Option<NodeId> {
        let (own, outside) = (&mut self.workers[self.worker].queue, &mut self.common.outside);
        match end {
            End::Oldest => outside.pop_front().or_else(|| own.pop_front()),
            End::Newest => own.pop_back().or_else(|| outside.pop_front()),
        }
    }
    fn steal(&mut self, from: WorkerId) -> Option<NodeId> {
        self.workers[from].queue.pop_front()
    }
    fn take_claimable(&mut self, from: WorkerId) -> Option<NodeId> {
        let queue = &mut self.workers[from].queue;
        let found = queue.iter().position(|node| self.world.claimable(*node))?;
        queue.rotate_left(found);
        queue.pop_front()
    }
    fn affinity(&self, node: NodeId) -> Option<WorkerId> {
        let (nodes, workers) = (self.common.affinity.len(), self.workers.len());
        let bound = self.world.graph().node(node).kind() != Kind::Parallel;
        bound.then(|| self.common.affinity[node.index()].unwrap_or_else(|| dealt(node, nodes, workers)))
    }
    fn set_affinity(&mut self, node: NodeId, worker: WorkerId) {
        self.common.affinity[node.index()] = Some(worker);
    }
    fn try_shared<R>(&mut self, act: impl FnOnce(&mut S, &mut Self) -> R) -> Option<R> {
        let mut shared = self.common.shared.take()?;
        let result = act(&mut shared, self);
        self.common.shared = Some(shared);
        Some(result)
    }
}
