//! The state of a run at one moment, while it runs.

use crate::{Cause, table::Table, units};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;
use thalweg_graph::{GraphData, NodeId, data, shown};

data! {
    /// The state of a run at one moment: what each node does or waits for, and how full each channel is.
    ///
    /// The run goes on while its numbers are read, one after the other. So numbers of different nodes and channels may
    /// differ by what happened in between, and the state of a node may be over when it is reported. Numbers that count
    /// what has happened never fall from one snapshot to a later one.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use std::time::Duration;
    /// use thalweg_graph::{GraphData, InPort, Item, Link, Node, NodeId, OutPort};
    /// use thalweg_trace::{Cause, ChannelSnapshot, NodeSnapshot, NodeStatus, Snapshot};
    ///
    /// let mut graph = GraphData::new();
    /// let read = graph.add(Node::sequential("read").output(OutPort::new("out", Item::of::<u8>())));
    /// let count = graph.add(Node::sequential("count").input(InPort::new("in", Item::of::<u8>())));
    /// let channel = graph.connect((read, 0), (count, 0), Link::default()).unwrap();
    ///
    /// let mut early = Snapshot::new(Arc::new(graph));
    /// *early.nodes_mut()[count.index()].status_mut() = NodeStatus::Waits(Cause::Items(channel));
    /// assert_eq!(early.blocked_by(count), Some(read));
    /// assert_eq!(early.describe(count), "waits for items of read.out");
    ///
    /// let mut late = early.clone();
    /// *late.at_mut() = Duration::from_secs(2);
    /// *late.nodes_mut()[read.index()].firings_mut() = 500;
    /// *late.nodes_mut()[read.index()].busy_mut() = Duration::from_secs(1);
    /// let rates = late.since(&early);
    /// assert_eq!((rates.nodes()[0].firings(), rates.nodes()[0].busy()), (250.0, 0.5));
    /// ```
    #[derive(Clone, Debug, PartialEq)]
    pub struct Snapshot {
        /// The graph, shared with the run.
        view graph: Arc<GraphData> => &Arc<GraphData>;
        /// The time since the start of the run.
        copy at: Duration, at_mut;
        /// The number of workers.
        copy workers: usize, workers_mut;
        /// The workers that sleep, or have not been needed yet. Threads of dedicated nodes are no workers.
        copy asleep: usize, asleep_mut;
        /// The nodes, by id.
        view nodes: Vec<NodeSnapshot> => &[NodeSnapshot], nodes_mut;
        /// The channels, by id.
        view channels: Vec<ChannelSnapshot> => &[ChannelSnapshot], channels_mut;
        /// The number of times so far that a channel grew.
        copy growths: u64, growths_mut;
        /// Candidate deadlocks examined so far.
        copy searches: u64, searches_mut;
    }
}

data! {
    /// A node at one moment.
    #[derive(Clone, Copy, Default, Debug, PartialEq, Eq)]
    pub struct NodeSnapshot {
        /// Firings so far, without those of activations that have not ended.
        copy firings: u64, firings_mut;
        /// Activations so far that have ended.
        copy activations: u64, activations_mut;
        /// Time in these activations, summed over all workers. 0 with `Options::untimed`.
        copy busy: Duration, busy_mut;
        /// What the node does.
        copy status: NodeStatus, status_mut;
    }
}

/// What a node does at one moment.
#[derive(Clone, Copy, Default, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NodeStatus {
    /// A thread activates it. An end that the caller reads as an iterator counts as running unless the caller waits for
    /// an item.
    Running,
    /// It could fire, and no thread has begun to activate it.
    #[default]
    Ready,
    /// It waits.
    Waits(Cause),
    /// It has ended.
    Ended,
}

data! {
    /// A channel at one moment.
    #[derive(Clone, Copy, Default, Debug, PartialEq, Eq)]
    pub struct ChannelSnapshot {
        /// Items pushed so far, without initial items.
        copy pushed: u64, pushed_mut;
        /// Items in the channel now.
        copy items: usize, items_mut;
        /// The maximum number of items that the channel can hold now.
        copy capacity: usize, capacity_mut;
    }
}

data! {
    /// What happened between two snapshots, by unit of time.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Rates {
        /// The nodes, by id.
        view nodes: Vec<NodeRate> => &[NodeRate];
        /// By channel: items pushed per second.
        view channels: Vec<f64> => &[f64];
    }
}

data! {
    /// What a node did between two snapshots.
    #[derive(Clone, Copy, Default, Debug, PartialEq)]
    pub struct NodeRate {
        /// Firings per second.
        copy firings: f64;
        /// The share of the time in which the node was active, summed over workers: above 1 for a parallel node that
        /// several workers fire. An activation counts when it ends, so the share also exceeds 1 after a long one.
        copy busy: f64;
    }
}

impl Snapshot {
    /// A snapshot of this graph at the start of a run without workers.
    pub fn new(graph: Arc<GraphData>) -> Snapshot {
        Snapshot {
            at: Duration::ZERO,
            workers: 0,
            asleep: 0,
            nodes: vec![NodeSnapshot::default(); graph.nodes().len()],
            channels: vec![ChannelSnapshot::default(); graph.channels().len()],
            growths: 0,
            searches: 0,
            graph,
        }
    }

    /// What happened since an earlier snapshot of the same run. All rates are 0 if no time has passed.
    pub fn since(&self, earlier: &Snapshot) -> Rates {
        let seconds = self.at.saturating_sub(earlier.at).as_secs_f64();
        let per_second = |amount: f64| if seconds == 0.0 { 0.0 } else { amount / seconds };
        let node = |(now, then): (&NodeSnapshot, &NodeSnapshot)| NodeRate {
            firings: per_second(now.firings.saturating_sub(then.firings) as f64),
            busy: per_second(now.busy.saturating_sub(then.busy).as_secs_f64()),
        };
        let channel = |(now, then): (&ChannelSnapshot, &ChannelSnapshot)| {
            per_second(now.pushed.saturating_sub(then.pushed) as f64)
        };
        Rates {
            nodes: self.nodes.iter().zip(&earlier.nodes).map(node).collect(),
            channels: self.channels.iter().zip(&earlier.channels).map(channel).collect(),
        }
    }

    /// The node that `node` waits for: the producer of the channel on which it lacks items, or the consumer of the one
    /// on which it lacks room. `None` if it waits for no single node. `node` must be one of the graph's.
    pub fn blocked_by(&self, node: NodeId) -> Option<NodeId> {
        match self.nodes[node.index()].status {
            NodeStatus::Waits(cause) => cause.other_end(&self.graph),
            _ => None,
        }
    }

    /// What a node does, in words. Names are escaped, so a terminal obeys none of them. `node` must be one of the
    /// graph's.
    pub fn describe(&self, node: NodeId) -> String {
        match self.nodes[node.index()].status {
            NodeStatus::Running => "runs".to_owned(),
            NodeStatus::Ready => "is ready".to_owned(),
            NodeStatus::Ended => "has ended".to_owned(),
            NodeStatus::Waits(cause) => format!("waits for {}", cause.describe(&self.graph)),
        }
    }
}

impl fmt::Display for Snapshot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (at, workers, asleep) = (units::time(self.at), self.workers, self.asleep);
        let (growths, searches) = (self.growths, self.searches);
        writeln!(f, "{at}: {workers} workers, {asleep} asleep; {growths} growths, {searches} searches\n")?;
        let mut nodes = Table::new(&["node", "firings", "activations", "busy", "state"]).text_last();
        for (id, node) in self.graph.node_ids().zip(&self.nodes) {
            nodes.row(vec![
                shown(self.graph.node(id).name()).to_string(),
                node.firings.to_string(),
                node.activations.to_string(),
                units::time(node.busy),
                self.describe(id),
            ]);
        }
        let mut channels = Table::new(&["channel", "pushed", "items", "capacity"]);
        for (id, channel) in self.graph.channel_ids().zip(&self.channels) {
            channels.row(vec![
                shown(self.graph.channel_name(id)).to_string(),
                channel.pushed.to_string(),
                channel.items.to_string(),
                channel.capacity.to_string(),
            ]);
        }
        write!(f, "{nodes}\n{channels}")
    }
}
