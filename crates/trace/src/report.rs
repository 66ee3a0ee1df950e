//! The report of a run.

use crate::{ChannelReport, Counts, Growth, NodeReport, TicketReport, Timeline, WorkerReport};
use std::sync::Arc;
use std::time::Duration;
use thalweg_graph::{GraphData, NodeId, data};
use thalweg_plan::{Plan, Program};

data! {
    /// The measurements of one run.
    #[derive(Clone, Default, Debug, PartialEq)]
    pub struct Report {
        /// The graph that was run.
        view graph: GraphData => &GraphData, graph_mut;
        /// Name of the policy.
        view policy: String => &str, policy_mut;
        /// Number of workers.
        copy threads: usize, threads_mut;
        /// The plan that the run followed, if it followed one.
        option plan: Option<Arc<Plan>> => Option<&Plan>, plan_mut;
        /// How many times as long as its processor time each claim lasted, if the run was dilated. Then all times of the report are
        /// dilated, but for those of the queue, the scheduler and the operating system.
        copy dilation: Option<u32>, dilation_mut;
        /// How firings have waited for their tickets, if they did.
        copy tickets: Option<TicketReport>, tickets_mut;
        /// Wall time from start to end of the run.
        copy wall: Duration, wall_mut;
        /// The workers, by index.
        view workers: Vec<WorkerReport> => &[WorkerReport], workers_mut;
        /// The nodes, by id.
        view nodes: Vec<NodeReport> => &[NodeReport], nodes_mut;
        /// The channels, by id.
        view channels: Vec<ChannelReport> => &[ChannelReport], channels_mut;
        /// Channels that grew, in chronological order.
        view growths: Vec<Growth> => &[Growth], growths_mut;
        /// Candidate deadlocks examined.
        copy searches: u64, searches_mut;
        /// Times that the policy partitioned the graph. Only `partition` does so.
        copy partitions: u64, partitions_mut;
        /// Where a compiler has divided a program into the nodes of the graph: the program, and its plan.
        option program: Option<Arc<Program>> => Option<&Program>, program_mut;
        /// Remarks about decisions that no count shows, for a reader: why one thread ran everything, for example.
        view notes: Vec<String> => &[String], notes_mut;
        /// What each thread did, and when, if the run's options asked for it. Not part of the report's JSON: it has a
        /// file of its own.
        option timeline: Option<Box<Timeline>> => Option<&Timeline>, timeline_mut;
    }
}

impl Report {
    /// A report with an empty entry for each worker, node and channel.
    pub fn new(graph: GraphData, policy: impl Into<String>, threads: usize) -> Report {
        Report {
            policy: policy.into(),
            threads,
            plan: None,
            dilation: None,
            tickets: None,
            wall: Duration::ZERO,
            workers: vec![WorkerReport::default(); threads],
            nodes: vec![NodeReport::default(); graph.nodes().len()],
            channels: vec![ChannelReport::default(); graph.channels().len()],
            growths: Vec::new(),
            searches: 0,
            partitions: 0,
            program: None,
            notes: Vec::new(),
            timeline: None,
            graph,
        }
    }

    /// The dilation of the run's time in words, if it was dilated.
    pub fn dilated(&self) -> Option<String> {
        self.dilation.map(|scale| format!("time dilated {scale} times"))
    }

    /// How the run's firings have waited for their tickets, in words, if they did.
    pub fn ticket_waits(&self) -> Option<String> {
        self.tickets.map(|tickets| {
            format!(
                "firings waited for their tickets: {} waits, {} suspended for lack of room, workers and suspended firings \
                 {:.1} in the mean and {} at most",
                tickets.waits, tickets.suspensions, tickets.mean_under_way, tickets.max_under_way
            )
        })
    }

    /// The node with the most busy time, the first one if several have the same. `None` if no node was busy.
    pub fn busiest_node(&self) -> Option<NodeId> {
        self.busiest(|_| true)
    }

    /// The busiest of the nodes for which `counts` returns true, if one was busy.
    pub fn busiest(&self, counts: impl Fn(NodeId) -> bool) -> Option<NodeId> {
        let busy = |id: &NodeId| self.nodes.get(id.index()).map_or(Duration::ZERO, |n| n.busy);
        let ids = self.graph.node_ids().filter(|id| counts(*id) && !busy(id).is_zero());
        // Reversed, because `max_by_key` returns the last of several maxima.
        ids.collect::<Vec<_>>().into_iter().rev().max_by_key(busy)
    }

    /// Fractions of the time of all workers, by category, in the order of [`WorkerReport::CATEGORIES`]. Their sum is
    /// 1, or 0 if no time was measured.
    pub fn breakdown(&self) -> [f64; 5] {
        let mut parts = [0.0; 5];
        let all: Duration = self.workers.iter().map(WorkerReport::total).sum();
        if all.is_zero() {
            return parts;
        }
        for (i, part) in parts.iter_mut().enumerate() {
            let sum: Duration = self.workers.iter().map(|w| w.categories()[i]).sum();
            *part = sum.as_nanos() as f64 / all.as_nanos() as f64;
        }
        parts
    }

    /// Fractions of the time of all workers in the categories of DANBI's Figure 4, in the order of
    /// [`WorkerReport::WITH_KERNEL`]. See [`WorkerReport::with_kernel`]: they do not add up to 1.
    pub fn with_kernel(&self) -> [f64; 5] {
        let all: Duration = self.workers.iter().map(WorkerReport::total).sum();
        std::array::from_fn(|i| {
            let sum: Duration = self.workers.iter().map(|w| w.with_kernel()[i]).sum();
            if all.is_zero() { 0.0 } else { sum.as_nanos() as f64 / all.as_nanos() as f64 }
        })
    }

    /// The nodes whose firings executed parallel loops or task graphs, by id: the name of each, and what was counted.
    pub fn jobs(&self) -> impl Iterator<Item = (&str, &Counts)> {
        let nodes = self.graph.nodes().iter().zip(&self.nodes);
        nodes.filter_map(|(node, stats)| Some((node.name(), stats.jobs.as_deref()?)))
    }

    /// Items that were never consumed, over all channels. `u64::MAX` if there were more.
    pub fn leftover(&self) -> u64 {
        self.channels.iter().fold(0, |sum, channel| sum.saturating_add(channel.leftover))
    }
}
