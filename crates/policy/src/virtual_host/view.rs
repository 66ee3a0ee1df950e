//! What a policy sees of a virtual run: its workers, and what they know together.

use super::world::{Claim, World};
use crate::partition::Ledger;
use crate::random::XorShift;
use crate::{Event, Host, Occupancy, WorkerId, dealt};
use std::collections::VecDeque;
use thalweg_graph::{ChannelId, GraphData, Kind, NodeId};

#[derive(Debug)]
pub(super) struct Worker {
    pub(super) random: XorShift,
    pub(super) queue: VecDeque<NodeId>,
    pub(super) last: Option<(NodeId, Event)>,
    /// Its node, until the policy was told what has come of it.
    pub(super) news: Option<NodeId>,
    /// The running activation: its node, the claimed run, and firings left of the budget.
    pub(super) active: Option<(NodeId, Claim, u64)>,
    /// Idle answers in a row.
    pub(super) idle: u32,
    pub(super) asleep: bool,
    /// Something was put into its queue while it slept.
    pub(super) rung: bool,
    /// Since when it has had nothing to do, if it has not, and for how long before that.
    pub(super) idle_since: Option<u64>,
    pub(super) idle_before: u64,
}

impl Worker {
    pub(super) fn new(seed: u64, worker: WorkerId) -> Worker {
        Worker {
            random: XorShift::new(seed, worker),
            queue: VecDeque::new(),
            last: None,
            news: None,
            active: None,
            idle: 0,
            asleep: false,
            rung: false,
            idle_since: None,
            idle_before: 0,
        }
    }
}

/// What workers share, beside the world.
pub(super) struct Notes {
    /// By node.
    pub(super) homes: Vec<Option<WorkerId>>,
    pub(super) used: Vec<u64>,
    pub(super) ledger: Option<Ledger>,
    /// Tokens that no worker has made, for any worker.
    pub(super) outside: VecDeque<NodeId>,
}

impl Notes {
    pub(super) fn new(nodes: usize) -> Notes {
        Notes {
            homes: vec![None; nodes],
            used: vec![0; nodes],
            ledger: Some(Ledger::default()),
            outside: VecDeque::new(),
        }
    }
}

/// The world as one worker's policy sees it.
pub(super) struct View<'a, 'm> {
    pub(super) world: &'a World<'m>,
    pub(super) workers: &'a mut [Worker],
    pub(super) owners: &'a [Option<WorkerId>],
    pub(super) notes: &'a mut Notes,
    pub(super) now: u64,
    pub(super) worker: WorkerId,
}

impl Host for View<'_, '_> {
    fn graph(&self) -> &GraphData {
        self.world.graph()
    }
    fn workers(&self) -> usize {
        self.workers.len()
    }
    fn random(&mut self) -> u64 {
        self.workers[self.worker].random.number()
    }
    fn occupancy(&self, channel: ChannelId) -> Occupancy {
        self.world.occupancy(channel)
    }
    fn claimable(&self, node: NodeId) -> bool {
        self.world.claimable(node)
    }
    fn push(&mut self, to: WorkerId, node: NodeId) {
        self.workers[to].queue.push_back(node);
        self.workers[to].rung = self.workers[to].asleep;
    }
    fn pop(&mut self) -> Option<NodeId> {
        self.notes.outside.pop_front().or_else(|| self.workers[self.worker].queue.pop_front())
    }
    fn pop_newest(&mut self) -> Option<NodeId> {
        self.workers[self.worker].queue.pop_back().or_else(|| self.notes.outside.pop_front())
    }
    fn steal(&mut self, from: WorkerId) -> Option<NodeId> {
        self.workers[from].queue.pop_front()
    }
    fn last_worker(&self, node: NodeId) -> Option<WorkerId> {
        self.owners[node.index()]
    }
    fn home(&self, node: NodeId) -> Option<WorkerId> {
        let bound = self.graph().node(node).kind != Kind::Parallel;
        bound.then(|| {
            self.notes.homes[node.index()]
                .unwrap_or_else(|| dealt(node, self.notes.homes.len(), self.workers.len()))
        })
    }
    fn set_home(&mut self, node: NodeId, worker: WorkerId) {
        self.notes.homes[node.index()] = Some(worker);
    }
    fn now(&self) -> u64 {
        self.now
    }
    fn idle(&self) -> u64 {
        let of = |worker: &Worker| worker.idle_before + worker.idle_since.map_or(0, |since| self.now - since);
        self.workers.iter().map(of).sum()
    }
    fn used(&self, node: NodeId) -> u64 {
        self.notes.used[node.index()]
    }
    fn traffic(&self, channel: ChannelId) -> u64 {
        self.world.traffic(channel)
    }
    fn take_ledger(&mut self) -> Option<Ledger> {
        self.notes.ledger.take()
    }
    fn put_ledger(&mut self, ledger: Ledger) {
        self.notes.ledger = Some(ledger);
    }
}
