//! The wait-for graph: waiting nodes, an edge to each node that one of them waits for, and the cycles.
//!
//! A node that has not ended waits for one thing, so it has one edge for its next firing (a merge: one for each open
//! input): to the producer if it lacks items, to the consumer if it lacks room. A parallel node also has an edge for
//! each output whose publication is stuck.

use crate::error::{BlockedNode, Deadlock, UnreadInput};
use crate::liveness::starve::{Unread, is_firm};
use crate::net::{Need, Net, UNSTUCK, Waiting};
use crate::sync::Ordering;
use std::collections::VecDeque;
use thalweg_graph::{ChannelId, NodeId};

/// One reason why a node waits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Edge {
    pub(crate) channel: ChannelId,
    pub(crate) full: bool,
    /// One of several channels, any of which would do.
    pub(crate) any: bool,
    pub(crate) to: NodeId,
}

/// Nodes that wait for each other, each with the edge to the next, and the last with one to the first.
pub(crate) type Cycle = Vec<(NodeId, Edge)>;

/// What a node waits for, as edges; none for a node that waits for nothing in the graph.
pub(crate) fn edges(net: &Net<'_>, node: NodeId) -> Vec<Edge> {
    let cell = &net.cells.nodes[node.index()];
    if cell.state.is_done() {
        return Vec::new();
    }
    let wait = cell.state.wait.read();
    let any = matches!(wait, Waiting::Any { .. });
    let items = |channel: ChannelId| Edge { channel, full: false, any, to: net.ends(channel).0 };
    let room = |channel: ChannelId| Edge { channel, full: true, any: false, to: net.ends(channel).1 };
    let mut edges = match wait {
        Waiting::Items { channel, .. } => vec![items(channel)],
        Waiting::Room { channel, .. } | Waiting::Bytes { channel } => vec![room(channel)],
        Waiting::Any { inputs } => {
            let wanted = net.inputs(node).iter().enumerate().filter(|(i, _)| inputs >> i & 1 == 1);
            wanted.map(|(_, channel)| items(*channel)).collect()
        }
        Waiting::Ready | Waiting::Window { .. } | Waiting::Never | Waiting::Foreign => Vec::new(),
    };
    // The wait word may be out of date: what it names has come, and something else is missing.
    if cell.state.satisfied(net, node) {
        let missing = net.missing(node).map(|need| match need {
            Need::Items(channel, _) => items(channel),
            Need::Room(channel, _) => room(channel),
        });
        edges = missing.into_iter().collect();
    }
    let stuck = cell.state.stuck().iter().zip(net.outputs(node));
    edges.extend(stuck.filter(|(s, _)| s.load(Ordering::Relaxed) != UNSTUCK).map(|(_, c)| room(*c)));
    edges
}

/// Waiting nodes with their edges.
#[derive(Debug)]
pub(crate) struct Waits {
    /// In order of their ids.
    nodes: Vec<NodeId>,
    edges: Vec<Vec<Edge>>,
    /// By place: whether the node may lie on a cycle. The others lead to one, or away from one.
    looped: Vec<bool>,
}

impl Waits {
    /// The wait-for graph of these nodes, which come in order of their ids.
    pub(crate) fn new(of: impl IntoIterator<Item = (NodeId, Vec<Edge>)>) -> Waits {
        let (nodes, edges): (Vec<NodeId>, Vec<_>) = of.into_iter().unzip();
        let mut waits = Waits { looped: vec![true; nodes.len()], nodes, edges };
        waits.trim();
        waits
    }

    fn at(&self, node: NodeId) -> Option<usize> {
        self.nodes.binary_search(&node).ok()
    }

    /// Marks the nodes that cannot lie on a cycle, by removing nodes without incoming or without outgoing edges until
    /// none is left.
    fn trim(&mut self) {
        let mut into = vec![Vec::new(); self.nodes.len()];
        let mut out = vec![0; self.nodes.len()];
        for (from, edges) in self.edges.iter().enumerate() {
            for to in edges.iter().filter_map(|edge| self.at(edge.to)) {
                into[to].push(from);
                out[from] += 1;
            }
        }
        let mut reached: Vec<usize> = into.iter().map(Vec::len).collect();
        let mut loose: Vec<usize> = (0..out.len()).filter(|at| out[*at] == 0 || reached[*at] == 0).collect();
        while let Some(at) = loose.pop() {
            if !std::mem::replace(&mut self.looped[at], false) {
                continue;
            }
            for &from in &into[at] {
                out[from] -= 1;
                if out[from] == 0 {
                    loose.push(from);
                }
            }
            for to in self.edges[at].iter().filter_map(|edge| self.at(edge.to)) {
                reached[to] -= 1;
                if reached[to] == 0 {
                    loose.push(to);
                }
            }
        }
    }

    /// Cycles that begin with an edge for room (`full`) or for items, one for all nodes that lie on it.
    pub(crate) fn cycles(&self, full: bool) -> impl Iterator<Item = Cycle> {
        let mut seen = vec![false; self.nodes.len()];
        let looped = (0..self.nodes.len()).filter(|at| self.looped[*at]);
        let edges = looped.flat_map(|at| self.edges[at].iter().map(move |edge| (at, *edge)));
        edges.filter(move |(_, edge)| edge.full == full).filter_map(move |(at, edge)| {
            if seen[at] {
                return None;
            }
            let cycle = self.close(at, edge)?;
            cycle.iter().filter_map(|(node, _)| self.at(*node)).for_each(|at| seen[at] = true);
            Some(cycle)
        })
    }

    /// The cycle that begins with an edge: a shortest path back to its start.
    fn close(&self, start: usize, first: Edge) -> Option<Cycle> {
        let mut before: Vec<Option<(usize, Edge)>> = vec![None; self.nodes.len()];
        let second = self.at(first.to).filter(|to| self.looped[*to])?;
        let mut queue = VecDeque::from([second]);
        while let Some(at) = queue.pop_front().filter(|_| before[start].is_none()) {
            for edge in &self.edges[at] {
                let Some(to) = self.at(edge.to).filter(|to| self.looped[*to]) else { continue };
                if to != second && before[to].is_none() {
                    before[to] = Some((at, *edge));
                    queue.push_back(to);
                }
            }
        }
        let mut cycle = Vec::new();
        let mut at = start;
        while at != second {
            let (from, edge) = before[at]?;
            cycle.push((self.nodes[from], edge));
            at = from;
        }
        cycle.push((self.nodes[start], first));
        cycle.reverse();
        Some(cycle)
    }

    /// Full channels in front of a cycle: the node that waits for room there leads, by edges, to the cycle. With more room
    /// the node would go on, and might bring what the cycle waits for.
    pub(crate) fn full_before(&self, cycle: &[(NodeId, Edge)]) -> Vec<ChannelId> {
        let leads = self.leads_to(cycle, |_| true);
        let leading = |leads: &[bool], edge: &Edge| self.at(edge.to).is_some_and(|to| leads[to]);
        let edges = self.edges.iter().flatten();
        edges.filter(|edge| edge.full && leading(&leads, edge)).map(|edge| edge.channel).collect()
    }

    /// The nodes of a cycle, and those that wait for its items, or for items of such, and for nothing
    /// else.
    pub(crate) fn starved_by(&self, cycle: &[(NodeId, Edge)]) -> impl Iterator<Item = NodeId> {
        let leads = self.leads_to(cycle, |edge| !edge.full && !edge.any);
        self.nodes.iter().zip(leads).filter(|(_, leads)| *leads).map(|(node, _)| *node)
    }

    /// By place: whether edges that pass a test lead from the node to a cycle.
    fn leads_to(&self, cycle: &[(NodeId, Edge)], test: impl Fn(&Edge) -> bool) -> Vec<bool> {
        let mut waiting = vec![Vec::new(); self.nodes.len()];
        for (from, edges) in self.edges.iter().enumerate() {
            let edges = edges.iter().filter(|edge| test(edge));
            edges.filter_map(|edge| self.at(edge.to)).for_each(|to| waiting[to].push(from));
        }
        let mut leads = vec![false; self.nodes.len()];
        let mut open: Vec<usize> = cycle.iter().filter_map(|(node, _)| self.at(*node)).collect();
        while let Some(at) = open.pop() {
            if !std::mem::replace(&mut leads[at], true) {
                open.extend(&waiting[at]);
            }
        }
        leads
    }

    /// The cycle to report: one without a merge, if there is one. If nothing can go on though there is no cycle, all
    /// edges.
    pub(crate) fn worst(&self, cycles: Vec<Cycle>) -> Cycle {
        let at = cycles.iter().position(|cycle| is_firm(cycle)).unwrap_or(0);
        cycles.into_iter().nth(at).unwrap_or_else(|| self.all())
    }

    fn all(&self) -> Cycle {
        let nodes = self.nodes.iter().zip(&self.edges);
        nodes.flat_map(|(node, edges)| edges.iter().map(|edge| (*node, *edge))).collect()
    }
}

/// Describes a cycle for the error.
pub(crate) fn describe(net: &Net<'_>, cycle: &[(NodeId, Edge)], over_budget: Option<usize>) -> Deadlock {
    describe_with(net, cycle, over_budget, None)
}

/// Describes a starved loop, with an outside input that it cannot read, for the error.
pub(crate) fn describe_unread(net: &Net<'_>, cycle: &[(NodeId, Edge)], unread: Unread) -> Deadlock {
    describe_with(net, cycle, None, Some(unread))
}

fn describe_with(
    net: &Net<'_>,
    cycle: &[(NodeId, Edge)],
    over_budget: Option<usize>,
    unread: Option<Unread>,
) -> Deadlock {
    let waits = cycle
        .iter()
        .map(|(node, edge)| BlockedNode {
            node: net.topology.graph.node(*node).name.to_string(),
            channel: net.topology.graph.channel_name(edge.channel),
            full: edge.full,
            items: net.meter(edge.channel).items(),
            capacity: net.meter(edge.channel).capacity(),
        })
        .collect();
    let unread = unread.map(|unread| UnreadInput {
        node: net.topology.graph.node(unread.node).name.to_string(),
        channel: net.topology.graph.channel_name(unread.channel),
    });
    Deadlock { waits, over_budget, unread }
}
