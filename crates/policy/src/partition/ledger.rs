//! What the workers know together of the loads, and when they may part the graph anew.
//!
//! The idle time of all workers is looked at in *windows*: a window ends with a partition when idleness
//! has exceeded `tau` as a share of the workers' time in it, and otherwise, after a while, without one.
//! What each node and channel did in a window counts in full, in the one before by half, and so on:
//! windows are short, and a load is known from more than one.
//!
//! A partition costs time and warm caches, and where the graph has too little to do at once it does not
//! help. So a window lasts a time that grows with the graph, and twice as long after a partition that
//! changed nothing, or did not make the workers less idle.

use super::weighted::Weighted;
use crate::{Host, Shared};
use thalweg_graph::{ChannelId, GraphData, Kind, NodeId};

/// The shortest window, in nanoseconds: this, and so much for each node and channel. A partition takes
/// about a hundredth of it (`cargo test --release -p thalweg-policy --lib split_tests::large`, which parts
/// two graphs of 400 000 nodes and channels).
const LEAST: u64 = 2_000_000;
const EACH: u64 = 25_000;
/// The shortest window doubles up to this.
const MOST: u64 = 256;
/// Shortest windows after which one ends in which nothing was wrong.
const LONG: u64 = 16;
/// Share of idleness before a partition, of which less must be left after it if it was of use.
const BETTER: f64 = 0.9;
/// What it costs to move a node, in messages: its state and what waits for it are in another cache.
const STAY: u64 = 16;

/// The state of a run under [`Partition`](super::Partition), of all its workers. A host keeps it and
/// gives it to one at a time: [`Host::try_shared`].
#[derive(Clone, Debug, Default)]
pub struct Ledger {
    /// When the window began, and the idle time of all workers by then.
    since: u64,
    idle: u64,
    /// The least time it lasts, as a multiple of the shortest there is.
    wait: u64,
    /// The share of idleness that led to the latest partition.
    share: Option<f64>,
    /// By node and by channel: what was read at the window's begin.
    used: Vec<u64>,
    traffic: Vec<u64>,
    /// And what they did, the windows before counting less and less.
    weights: Vec<u64>,
    volumes: Vec<u64>,
    partitions: u64,
}

/// What a look at a window says.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Verdict {
    /// It has to go on for a while.
    Early,
    /// It is long enough, and the workers were not idle.
    Fine,
    /// They were, for this share of their time.
    Idle(f64),
}

impl Shared for Ledger {
    fn partitions(&self) -> u64 {
        self.partitions
    }
}

impl Ledger {
    /// What is to be said of the window, where one lasts `least` nanoseconds, or as its graph suggests.
    pub(super) fn look<H: Host<Ledger>>(&self, tau: f64, least: Option<u64>, host: &H) -> Verdict {
        let least = least.unwrap_or_else(|| shortest(host.graph()));
        let elapsed = host.now().saturating_sub(self.since);
        if elapsed < least * self.wait.max(1) {
            return Verdict::Early;
        }
        let idle = host.idle_time().saturating_sub(self.idle);
        let share = idle as f64 / (elapsed as f64 * host.workers() as f64);
        match share > tau {
            true => Verdict::Idle(share),
            false if elapsed > least * LONG => Verdict::Fine,
            false => Verdict::Early,
        }
    }

    /// Begins another window after one that was fine.
    pub(super) fn renew<H: Host<Ledger>>(&mut self, host: &H) {
        self.read(host);
        (self.share, self.wait) = (None, 1);
    }

    /// Begins another window after a partition that a share of idleness led to, and that has moved so
    /// many nodes.
    pub(super) fn settle(&mut self, share: f64, moved: usize) {
        let better = self.share.is_none_or(|before| share < before * BETTER);
        self.wait = if better && moved > 0 { 1 } else { (self.wait.max(1) * 2).min(MOST) };
        self.share = Some(share);
        self.partitions += 1;
    }

    /// Adds what was done in the window to what was known, and begins another.
    pub(super) fn read<H: Host<Ledger>>(&mut self, host: &H) {
        let graph = host.graph();
        let (used, traffic) = (&mut self.used, &mut self.traffic);
        add(&mut self.weights, used, graph.node_ids().map(|node| host.busy_time(node)));
        add(&mut self.volumes, traffic, graph.channel_ids().map(|channel| host.traffic(channel)));
        (self.since, self.idle) = (host.now(), host.idle_time());
    }

    /// The graph with these loads. Parallel nodes have no home, so they are left out of account.
    pub(super) fn weigh(&self, graph: &GraphData) -> Weighted {
        let is_bound = |node: NodeId| graph.node(node).kind != Kind::Parallel;
        let weight = |node: NodeId| if is_bound(node) { self.weights[node.index()] } else { 0 };
        let edge = |id: ChannelId| {
            let channel = graph.channel(id);
            let (from, to) = (channel.from.0, channel.to.0);
            (is_bound(from) && is_bound(to)).then(|| (from.0, to.0, self.volumes[id.index()]))
        };
        let edges: Vec<_> = graph.channel_ids().filter_map(edge).collect();
        Weighted::new(graph.node_ids().map(weight).collect(), STAY, &edges)
    }
}

/// The shortest window, in nanoseconds.
fn shortest(graph: &GraphData) -> u64 {
    LEAST + (graph.nodes().len() + graph.channels().len()) as u64 * EACH
}

/// Halves the sums, and adds to each what its count has grown by.
fn add(sums: &mut Vec<u64>, before: &mut Vec<u64>, counts: impl Iterator<Item = u64>) {
    for (at, count) in counts.enumerate() {
        if at == before.len() {
            sums.push(0);
            before.push(0);
        }
        sums[at] = sums[at] / 2 + count.saturating_sub(before[at]);
        before[at] = count;
    }
}
