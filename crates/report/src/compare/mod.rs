//! What differs between two reports.

mod change;
mod matching;
mod show;

pub use change::{Change, ChannelChange, NodeChange};

use matching::Matches;
use std::cmp::Reverse;
use std::time::Duration;
use thalweg_graph::{NodeId, data};
use thalweg_trace::Report;

data! {
    /// What differs between the reports of two runs, as data. It prints as the settings that differ, the wall times, the
    /// categories of the workers' time, and the largest changes of nodes, of their waits, and of channels.
    ///
    /// Nodes and channels are matched by name, so the graphs need not be the same.
    ///
    /// ```
    /// use std::time::Duration;
    /// use thalweg_graph::{GraphData, Node};
    /// use thalweg_report::Comparison;
    /// use thalweg_trace::Report;
    ///
    /// let mut graph = GraphData::new();
    /// graph.add(Node::sequential("clock"));
    /// let mut before = Report::new(graph, "auto", 1);
    /// *before.wall_mut() = Duration::from_millis(10);
    /// let mut after = before.clone();
    /// *after.wall_mut() = Duration::from_millis(5);
    ///
    /// let comparison = Comparison::new(&before, &after);
    /// assert_eq!(comparison.wall().ratio(), Some(0.5));
    /// assert!(comparison.to_string().starts_with("wall time 10 ms -> 5 ms, ratio 0.50\n"));
    /// ```
    #[derive(Clone, Debug, PartialEq)]
    pub struct Comparison {
        /// Names of the policies.
        view policy: Change<String> => &Change<String>;
        /// Numbers of workers.
        view threads: Change<usize> => &Change<usize>;
        /// Wall times of the runs.
        view wall: Change<Duration> => &Change<Duration>;
        /// Tries to steal, and nodes stolen, of all workers.
        view steals: Change<[u64; 2]> => &Change<[u64; 2]>;
        /// Fractions of the workers' time by category ([`Report::breakdown`]).
        view breakdown: Change<[f64; 5]> => &Change<[f64; 5]>;
        /// The nodes that both reports have. Those whose busy times differ most come first.
        view nodes: Vec<NodeChange> => &[NodeChange];
        /// The channels that both reports have. Those whose capacity or mean occupancy changed by the largest factor come
        /// first ([`ChannelChange::factor`]).
        view channels: Vec<ChannelChange> => &[ChannelChange];
        /// Names of the nodes that only one of the reports has, in its order.
        view other_nodes: Change<Vec<String>> => &Change<Vec<String>>;
        /// Names of the channels that only one of the reports has, in its order.
        view other_channels: Change<Vec<String>> => &Change<Vec<String>>;
    }
}

impl Comparison {
    /// Compares the report of one run with that of a later run, or of a run with other settings.
    ///
    /// Entries that a report has for no node or channel of its graph are left out.
    pub fn new(before: &Report, after: &Report) -> Comparison {
        let both = |of: fn(&Report) -> Vec<String>| Change { before: of(before), after: of(after) };
        let (nodes, channels) = (Matches::of(both(node_names)), Matches::of(both(channel_names)));
        Comparison {
            policy: Change { before: before.policy().to_owned(), after: after.policy().to_owned() },
            threads: Change { before: before.threads(), after: after.threads() },
            wall: Change { before: before.wall(), after: after.wall() },
            steals: Change { before: steals(before), after: steals(after) },
            breakdown: Change { before: before.breakdown(), after: after.breakdown() },
            nodes: node_changes(nodes.pairs, before, after),
            channels: channel_changes(channels.pairs, before, after),
            other_nodes: nodes.others,
            other_channels: channels.others,
        }
    }
}

fn node_names(report: &Report) -> Vec<String> {
    let nodes = report.graph().nodes().iter().zip(report.nodes());
    nodes.map(|(node, _)| node.name().to_string()).collect()
}

fn channel_names(report: &Report) -> Vec<String> {
    let channels = report.graph().channel_ids().zip(report.channels());
    channels.map(|(id, _)| report.graph().channel_name(id)).collect()
}

/// Tries to steal, and nodes stolen.
fn steals(report: &Report) -> [u64; 2] {
    let all = report.all_counts();
    [all.steal_attempts(), all.steals()]
}

/// What a node waited for longest, and the total of its waits.
fn longest(report: &Report, node: usize) -> (Option<String>, Duration) {
    let waits = report.known_waits(NodeId(node as u32));
    let longest = waits.first().map(|(cause, _)| cause.describe(report.graph()));
    (longest, waits.iter().map(|(_, time)| *time).sum())
}

fn node_changes(pairs: Vec<(String, Change<usize>)>, before: &Report, after: &Report) -> Vec<NodeChange> {
    let change = |(name, at): (String, Change<usize>)| {
        let waits = Change { before: longest(before, at.before), after: longest(after, at.after) };
        NodeChange {
            name,
            node: Change {
                before: before.nodes()[at.before].clone(),
                after: after.nodes()[at.after].clone(),
            },
            waited: waits.map(|(_, waited)| *waited),
            longest_wait: waits.map(|(cause, _)| cause.clone()),
        }
    };
    let mut changes: Vec<NodeChange> = pairs.into_iter().map(change).collect();
    changes.sort_by_key(|change| Reverse(change.node.after.busy().abs_diff(change.node.before.busy())));
    changes
}

fn channel_changes(
    pairs: Vec<(String, Change<usize>)>,
    before: &Report,
    after: &Report,
) -> Vec<ChannelChange> {
    let change = |(name, at): (String, Change<usize>)| ChannelChange {
        name,
        channel: Change { before: before.channels()[at.before], after: after.channels()[at.after] },
    };
    let mut changes: Vec<ChannelChange> = pairs.into_iter().map(change).collect();
    changes.sort_by(|a, b| b.factor().total_cmp(&a.factor()));
    changes
}
