//! A host whose answers a unit test sets by hand.

use crate::partition::Ledger;
use crate::random::XorShift;
use crate::{Host, Occupancy, WorkerId};
use std::collections::VecDeque;
use thalweg_graph::{ChannelId, GraphData, Kind, NodeId};

pub(crate) struct Mock {
    pub(crate) graph: GraphData,
    pub(crate) claimable: Vec<bool>,
    pub(crate) items: Vec<usize>,
    pub(crate) queues: Vec<VecDeque<NodeId>>,
    /// Who activated each node last.
    pub(crate) last: Vec<Option<WorkerId>>,
    /// The worker that asks.
    pub(crate) me: WorkerId,
    /// By node, for policies whose nodes have homes; the rest of what they ask for as well.
    pub(crate) homes: Vec<WorkerId>,
    pub(crate) now: u64,
    pub(crate) idle: u64,
    pub(crate) used: Vec<u64>,
    pub(crate) traffic: Vec<u64>,
    pub(crate) ledger: Option<Ledger>,
    random: XorShift,
}

/// Capacity of every channel of a mock.
pub(crate) const CAPACITY: usize = 100;

impl Mock {
    /// One worker, all nodes claimable, all channels half full.
    pub(crate) fn new(graph: GraphData) -> Mock {
        Mock::with_workers(graph, 1)
    }

    pub(crate) fn with_workers(graph: GraphData, workers: usize) -> Mock {
        Mock {
            claimable: vec![true; graph.nodes().len()],
            items: vec![CAPACITY / 2; graph.channels().len()],
            queues: vec![VecDeque::new(); workers],
            last: vec![None; graph.nodes().len()],
            me: 0,
            homes: vec![0; graph.nodes().len()],
            now: 0,
            idle: 0,
            used: vec![0; graph.nodes().len()],
            traffic: vec![0; graph.channels().len()],
            ledger: Some(Ledger::default()),
            random: XorShift::new(11, 0),
            graph,
        }
    }

    /// Makes these nodes, and no others, claimable.
    pub(crate) fn only(&mut self, nodes: &[u32]) {
        for (i, claimable) in self.claimable.iter_mut().enumerate() {
            *claimable = nodes.contains(&(i as u32));
        }
    }
}

impl Host for Mock {
    fn graph(&self) -> &GraphData {
        &self.graph
    }
    fn workers(&self) -> usize {
        self.queues.len()
    }
    fn random(&mut self) -> u64 {
        self.random.number()
    }
    fn occupancy(&self, channel: ChannelId) -> Occupancy {
        Occupancy { items: self.items[channel.index()], capacity: CAPACITY }
    }
    fn claimable(&self, node: NodeId) -> bool {
        self.claimable[node.index()]
    }
    fn push(&mut self, to: WorkerId, node: NodeId) {
        self.queues[to].push_back(node);
    }
    fn pop(&mut self) -> Option<NodeId> {
        self.queues[self.me].pop_front()
    }
    fn pop_newest(&mut self) -> Option<NodeId> {
        self.queues[self.me].pop_back()
    }
    fn last_worker(&self, node: NodeId) -> Option<WorkerId> {
        self.last[node.index()]
    }
    fn steal(&mut self, from: WorkerId) -> Option<NodeId> {
        assert_ne!(from, self.me, "a worker steals from others");
        self.queues[from].pop_front()
    }
    fn home(&self, node: NodeId) -> Option<WorkerId> {
        (self.graph.node(node).kind != Kind::Parallel).then_some(self.homes[node.index()])
    }
    fn set_home(&mut self, node: NodeId, worker: WorkerId) {
        self.homes[node.index()] = worker;
    }
    fn now(&self) -> u64 {
        self.now
    }
    fn idle(&self) -> u64 {
        self.idle
    }
    fn used(&self, node: NodeId) -> u64 {
        self.used[node.index()]
    }
    fn traffic(&self, channel: ChannelId) -> u64 {
        self.traffic[channel.index()]
    }
    fn take_ledger(&mut self) -> Option<Ledger> {
        self.ledger.take()
    }
    fn put_ledger(&mut self, ledger: Ledger) {
        self.ledger = Some(ledger);
    }
}
