//! The loads that the workers have measured together, and the decision when to partition again.
//!
//! The idle time of all workers is examined in *windows*. A window ends with a partition when idle time has
//! exceeded the share `tau` of the workers' time in it, and otherwise, after a longer while, without one. The load
//! of a node or channel is a decaying sum over windows: the current window counts in full, the one before by half,
//! and so on. So a load rests on more than one window, although windows are short.
//!
//! A partition costs time and warm caches, and does not help a graph with too little parallelism. So the minimum
//! length of a window grows with the graph, and doubles after each partition that moved no node or did not reduce
//! idle time.

use super::weighted::Weighted;
use crate::{Host, Shared};
use thalweg_graph::{ChannelId, GraphData, Kind, NodeId};

/// The minimum length of a window in nanoseconds is this, plus [`WINDOW_PER_ELEMENT`] for each node and channel. A
/// partition takes about a hundredth of it (`cargo test --release -p thalweg-policy --lib split_tests::large`
/// partitions two graphs of 400 000 nodes and channels).
const WINDOW_BASE: u64 = 2_000_000;
const WINDOW_PER_ELEMENT: u64 = 25_000;
/// The factor up to which the minimum length of a window doubles.
const MAX_BACKOFF: u64 = 256;
/// Minimum lengths after which a window without excessive idle time ends.
const BUSY_WINDOWS: u64 = 16;
/// A partition has helped if the share of idle time is then less than this fraction of the share before.
const IMPROVEMENT: f64 = 0.9;
/// The cost of moving a node, in messages: its state and its waiting messages are in another cache.
const MOVE_COST: u64 = 16;

/// The state of a run under [`Partition`](super::Partition) that its workers share, by [`Host::try_shared`].
#[derive(Clone, Debug, Default)]
pub struct Ledger {
    /// The start of the window, and the idle time of all workers at that time.
    window_start: u64,
    idle_at_start: u64,
    /// The minimum length of the window, as a multiple of the graph's minimum; 0 counts as 1.
    backoff: u64,
    /// The share of idle time that caused the latest partition.
    latest_share: Option<f64>,
    /// By node: its busy time at the start of the window.
    busy_at_start: Vec<u64>,
    /// By channel: its traffic at the start of the window.
    traffic_at_start: Vec<u64>,
    /// By node: the decaying sum of its busy times.
    loads: Vec<u64>,
    /// By channel: the decaying sum of its traffic.
    volumes: Vec<u64>,
    partitions: u64,
}

/// The result of an examination of the window.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Verdict {
    /// The window goes on.
    Early,
    /// The window is over, and the workers were not idle.
    Busy,
    /// The workers were idle for this share of their time.
    Idle(f64),
}

impl Shared for Ledger {
    fn partitions(&self) -> u64 {
        self.partitions
    }
}

impl Ledger {
    /// Examines the window. `min_window` is its minimum length in nanoseconds, by default that of the graph.
    pub(super) fn examine<H: Host<Ledger>>(&self, tau: f64, min_window: Option<u64>, host: &H) -> Verdict {
        let min_window = min_window.unwrap_or_else(|| default_window(host.graph()));
        let elapsed = host.now().saturating_sub(self.window_start);
        if elapsed < min_window * self.backoff.max(1) {
            return Verdict::Early;
        }
        let idle = host.idle_time().saturating_sub(self.idle_at_start);
        let share = idle as f64 / (elapsed as f64 * host.workers() as f64);
        match share > tau {
            true => Verdict::Idle(share),
            false if elapsed > min_window * BUSY_WINDOWS => Verdict::Busy,
            false => Verdict::Early,
        }
    }

    /// Begins the next window after [`Verdict::Busy`].
    pub(super) fn end_window<H: Host<Ledger>>(&mut self, host: &H) {
        self.sample(host);
        (self.latest_share, self.backoff) = (None, 1);
    }

    /// Notes a partition that this share of idle time caused and that moved this number of nodes.
    pub(super) fn record_partition(&mut self, share: f64, moved: usize) {
        let helped = self.latest_share.is_none_or(|before| share < before * IMPROVEMENT);
        self.backoff = if helped && moved > 0 { 1 } else { (self.backoff.max(1) * 2).min(MAX_BACKOFF) };
        self.latest_share = Some(share);
        self.partitions += 1;
    }

    /// Adds the measurements of the window to the loads, and begins the next window.
    pub(super) fn sample<H: Host<Ledger>>(&mut self, host: &H) {
        let graph = host.graph();
        let (busy, traffic) = (&mut self.busy_at_start, &mut self.traffic_at_start);
        accumulate(&mut self.loads, busy, graph.node_ids().map(|node| host.busy_time(node)));
        accumulate(&mut self.volumes, traffic, graph.channel_ids().map(|channel| host.traffic(channel)));
        (self.window_start, self.idle_at_start) = (host.now(), host.idle_time());
    }

    /// The graph, weighted with the loads. Parallel nodes have no affinity, so they and their channels weigh nothing.
    pub(super) fn weighted(&self, graph: &GraphData) -> Weighted {
        let is_bound = |node: NodeId| graph.node(node).kind() != Kind::Parallel;
        let weight = |node: NodeId| if is_bound(node) { self.loads[node.index()] } else { 0 };
        let edge = |id: ChannelId| {
            let channel = graph.channel(id);
            let (from, to) = (channel.from().0, channel.to().0);
            (is_bound(from) && is_bound(to)).then(|| (from.0, to.0, self.volumes[id.index()]))
        };
        let edges: Vec<_> = graph.channel_ids().filter_map(edge).collect();
        Weighted::new(graph.node_ids().map(weight).collect(), MOVE_COST, &edges)
    }
}

/// The minimum length of a window for a graph, in nanoseconds.
fn default_window(graph: &GraphData) -> u64 {
    WINDOW_BASE + (graph.nodes().len() + graph.channels().len()) as u64 * WINDOW_PER_ELEMENT
}

/// Halves each sum and adds the growth of its counter since `before`, which becomes the counter's value.
fn accumulate(sums: &mut Vec<u64>, before: &mut Vec<u64>, counters: impl Iterator<Item = u64>) {
    for (at, count) in counters.enumerate() {
        if at == before.len() {
            sums.push(0);
            before.push(0);
        }
        sums[at] = sums[at] / 2 + count.saturating_sub(before[at]);
        before[at] = count;
    }
}
