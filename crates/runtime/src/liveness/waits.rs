//! Who waits for whom: a graph of the waiting nodes, and the circles in it.
//!
//! Every live node waits for one thing, so it has one edge for its next firing (a merge: one for
//! each open input), towards the producer where items lack and towards the consumer where room
//! lacks; and of a parallel node, one for each output whose publication is stuck.

use crate::error::{BlockedNode, Deadlock, UnreadInput};
use crate::liveness::starve::{Unread, is_firm};
use crate::net::{Need, Net, UNSTUCK, Waiting};
use crate::sync::Ordering;
use std::collections::VecDeque;
use thalweg_graph::{ChannelId, NodeId};

/// One reason why a node does not go on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Edge {
    pub(crate) channel: ChannelId,
    pub(crate) full: bool,
    /// One of several that would do.
    pub(crate) any: bool,
    pub(crate) to: NodeId,
}

/// Nodes that wait for each other, each with the edge to the next; the last for the first.
pub(crate) type Circle = Vec<(NodeId, Edge)>;

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
    // The word may be out of date: what it names is there, and something else is missing.
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
    /// Those that may lie on a circle: the others lead to one, or away from it.
    looped: Vec<bool>,
}

impl Waits {
    /// Of these nodes, in order of their ids.
    pub(crate) fn new(of: impl IntoIterator<Item = (NodeId, Vec<Edge>)>) -> Waits {
        let (nodes, edges): (Vec<NodeId>, Vec<_>) = of.into_iter().unzip();
        let mut waits = Waits { looped: vec![true; nodes.len()], nodes, edges };
        waits.trim();
        waits
    }

    fn at(&self, node: NodeId) -> Option<usize> {
        self.nodes.binary_search(&node).ok()
    }

    /// Finds the nodes that no edge leads to, or from, other than from or to such nodes.
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

    /// Circles that begin with an edge that is `full`, or is not, one for all nodes that lie on it.
    pub(crate) fn circles(&self, full: bool) -> impl Iterator<Item = Circle> {
        let mut seen = vec![false; self.nodes.len()];
        let looped = (0..self.nodes.len()).filter(|at| self.looped[*at]);
        let edges = looped.flat_map(|at| self.edges[at].iter().map(move |edge| (at, *edge)));
        edges.filter(move |(_, edge)| edge.full == full).filter_map(move |(at, edge)| {
            if seen[at] {
                return None;
            }
            let circle = self.close(at, edge)?;
            circle.iter().filter_map(|(node, _)| self.at(*node)).for_each(|at| seen[at] = true);
            Some(circle)
        })
    }

    /// The circle that begins with an edge: a shortest way back to where it starts.
    fn close(&self, start: usize, first: Edge) -> Option<Circle> {
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
        let mut circle = Vec::new();
        let mut at = start;
        while at != second {
            let (from, edge) = before[at]?;
            circle.push((self.nodes[from], edge));
            at = from;
        }
        circle.push((self.nodes[start], first));
        circle.reverse();
        Some(circle)
    }

    /// Channels whose fullness keeps somebody waiting who in turn waits for the circle: with more room
    /// there he would go on, and what he does then might be what the circle waits for.
    pub(crate) fn full_before(&self, circle: &[(NodeId, Edge)]) -> Vec<ChannelId> {
        let leads = self.leads_to(circle, |_| true);
        let leading = |leads: &[bool], edge: &Edge| self.at(edge.to).is_some_and(|to| leads[to]);
        let edges = self.edges.iter().flatten();
        edges.filter(|edge| edge.full && leading(&leads, edge)).map(|edge| edge.channel).collect()
    }

    /// The nodes of a cycle, and those that wait for its items, or for items of such, and for nothing
    /// else.
    pub(crate) fn starved_by(&self, circle: &[(NodeId, Edge)]) -> impl Iterator<Item = NodeId> {
        let leads = self.leads_to(circle, |edge| !edge.full && !edge.any);
        self.nodes.iter().zip(leads).filter(|(_, leads)| *leads).map(|(node, _)| *node)
    }

    /// By place: whether edges that pass a test lead from the node to a cycle.
    fn leads_to(&self, circle: &[(NodeId, Edge)], test: impl Fn(&Edge) -> bool) -> Vec<bool> {
        let mut waiting = vec![Vec::new(); self.nodes.len()];
        for (from, edges) in self.edges.iter().enumerate() {
            let edges = edges.iter().filter(|edge| test(edge));
            edges.filter_map(|edge| self.at(edge.to)).for_each(|to| waiting[to].push(from));
        }
        let mut leads = vec![false; self.nodes.len()];
        let mut open: Vec<usize> = circle.iter().filter_map(|(node, _)| self.at(*node)).collect();
        while let Some(at) = open.pop() {
            if !std::mem::replace(&mut leads[at], true) {
                open.extend(&waiting[at]);
            }
        }
        leads
    }

    /// The circle to name: one that no merge could get out of, if there is such a one. Nothing can
    /// go on where nothing waits in a circle, too, and then all that waits is named.
    pub(crate) fn worst(&self, circles: Vec<Circle>) -> Circle {
        let at = circles.iter().position(|circle| is_firm(circle)).unwrap_or(0);
        circles.into_iter().nth(at).unwrap_or_else(|| self.all())
    }

    fn all(&self) -> Circle {
        let nodes = self.nodes.iter().zip(&self.edges);
        nodes.flat_map(|(node, edges)| edges.iter().map(|edge| (*node, *edge))).collect()
    }
}

/// A circle in words.
pub(crate) fn describe(net: &Net<'_>, circle: &[(NodeId, Edge)], over_budget: Option<usize>) -> Deadlock {
    describe_with(net, circle, over_budget, None)
}

/// A starving loop in words, with an outside input that it cannot read.
pub(crate) fn describe_unread(net: &Net<'_>, circle: &[(NodeId, Edge)], unread: Unread) -> Deadlock {
    describe_with(net, circle, None, Some(unread))
}

fn describe_with(
    net: &Net<'_>,
    circle: &[(NodeId, Edge)],
    over_budget: Option<usize>,
    unread: Option<Unread>,
) -> Deadlock {
    let waits = circle
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
