//! The wait-for graph: waiting nodes, an edge to each node that one of them waits for, and the cycles.
//!
//! # Edges
//!
//! | the node | edges |
//! |---|---|
//! | lacks items on a channel | one, to the channel's producer |
//! | lacks room, or bytes, on a channel | one, to the channel's consumer |
//! | waits for any of several inputs (a merge) | one for each of these inputs, to its producer (`any`) |
//! | is parallel, and publications are stuck | also one for each such output, to its consumer |
//! | is parallel, and firings are queued that wait for their tickets or for room | only one for each output of which a publication is stuck, to its consumer |
//! | is parallel, and the oldest ticket is suspended for lack of room | also one to the consumer of that output |
//! | waits for a ticket or a foreign future, or has an alarm set (`batch_timeout`), is claimable, or has ended | none |
//!
//! A node's wait word names one thing that it lacks. The other things are not waited for: if another is missing once
//! the first has come, the next edge is the one to that ([`Net::missing`]).
//!
//! # Callers
//!
//! [`edges`] reads a wait word, counters of channels and `stuck` of outputs, which activations and consumers change.
//!
//! | caller | the nodes are kept still by | the result is |
//! |---|---|---|
//! | `search::candidates` | nothing | a guess: `search::confirm` reads again under the claims |
//! | `search::stuck` | the claims of all nodes of the set | exact for a set that no edge leaves |
//! | `quiesce::examine` | the sleep lock, while all threads of the run sleep | exact, unless a thread outside the run has changed a counter: then some node is actionable, which is read afterwards |
//!
//! # Cost
//!
//! [`WaitGraph::new`] removes, in linear time, all nodes that cannot lie on a cycle. The search for cycles visits only the
//! remaining nodes, with one breadth-first search for each edge that may begin a cycle not seen before.

use crate::error::{BlockedNode, ChannelRoom, Deadlock, UnreadInput};
use crate::liveness::starve::{Unread, is_firm, remains_in};
use crate::net::{Need, Net, Waiting};
use std::collections::VecDeque;
use thalweg_graph::{ChannelId, NodeId};

/// One reason why a node waits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Edge {
    /// The channel on which the node lacks items, room or bytes.
    pub(crate) channel: ChannelId,
    /// The node lacks room or bytes; otherwise items.
    pub(crate) full: bool,
    /// The node waits for items on any of several channels, and this is one of them.
    pub(crate) any: bool,
    /// The node at the other end of the channel.
    pub(crate) to: NodeId,
}

/// Nodes that wait for each other, each with the edge to the next, and the last with one to the first.
pub(crate) type Cycle = Vec<(NodeId, Edge)>;

/// The edges of a node: see the module. Exact only if no other thread changes the node's wait word or channels.
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
        Waiting::Ready
        | Waiting::Window { .. }
        | Waiting::Never
        | Waiting::Foreign
        | Waiting::Timed { .. } => Vec::new(),
    };
    // The wait word may be out of date: the thing that it names has come, and another is missing. No thread updates the
    // word then, as an activation would do nothing.
    if cell.state.satisfied(net, node) {
        let missing = net.missing(node).map(|need| match need {
            Need::Items(channel, _) => items(channel),
            Need::Room(channel, _) => room(channel),
        });
        edges = missing.into_iter().collect();
    }
    if cell.state.has_waiting() {
        edges.clear(); // it issues no ticket, whatever its wait word says
    }
    edges.extend(net.stuck_outputs(node).map(room));
    edges.extend(cell.state.held_by(net, node).map(room));
    edges
}

/// The wait-for graph of some nodes. Its nodes have *positions*: the index of the node in `nodes`.
#[derive(Debug)]
pub(crate) struct WaitGraph {
    /// In order of their ids.
    nodes: Vec<NodeId>,
    /// By position. Edges to nodes that are not in `nodes` are ignored.
    edges: Vec<Vec<Edge>>,
    /// By position: whether the node may lie on a cycle. The other nodes lead to a cycle, or away from one.
    looped: Vec<bool>,
}

impl WaitGraph {
    /// The wait-for graph of these nodes, with their edges. The caller passes them in order of their ids.
    pub(crate) fn new(nodes: impl IntoIterator<Item = (NodeId, Vec<Edge>)>) -> WaitGraph {
        let (nodes, edges): (Vec<NodeId>, Vec<_>) = nodes.into_iter().unzip();
        let mut waits = WaitGraph { looped: vec![true; nodes.len()], nodes, edges };
        waits.trim();
        waits
    }

    /// The position of a node.
    fn at(&self, node: NodeId) -> Option<usize> {
        self.nodes.binary_search(&node).ok()
    }

    /// Marks the nodes that cannot lie on a cycle: removes nodes without incoming or without outgoing edges until every
    /// remaining node has both. Linear in nodes and edges, since each edge is removed at most once from either end.
    fn trim(&mut self) {
        let mut into = vec![Vec::new(); self.nodes.len()];
        let mut out = vec![0; self.nodes.len()];
        for (from, edges) in self.edges.iter().enumerate() {
            for to in edges.iter().filter_map(|edge| self.at(edge.to)) {
                into[to].push(from);
                out[from] += 1;
            }
        }
        // Edges that are left: `out` by their beginning, `reached` by their end.
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

    /// Cycles that begin with an edge for room or bytes (`full`), or with one for items. A node that lies on a returned
    /// cycle begins no other one, so the cycles are not all that there are.
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

    /// The cycle that an edge from position `start` begins: the edge, and a shortest path from its end back to `start`.
    /// `None` if no path leads back.
    fn close(&self, start: usize, first: Edge) -> Option<Cycle> {
        // By position: the node before it on a shortest path from `second`, and the edge between them. `second` itself
        // has none, where the walk back below ends; so a node that waits for itself is a cycle of one edge.
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

    /// The full channels in front of a cycle: those whose consumer leads, by edges, to the cycle. With more room their
    /// producers would continue, and might bring what the cycle waits for.
    pub(crate) fn full_before(&self, cycle: &[(NodeId, Edge)]) -> Vec<ChannelId> {
        let leads = self.leads_to(cycle, |_| true);
        let leading = |leads: &[bool], edge: &Edge| self.at(edge.to).is_some_and(|to| leads[to]);
        let edges = self.edges.iter().flatten();
        edges.filter(|edge| edge.full && leading(&leads, edge)).map(|edge| edge.channel).collect()
    }

    /// The nodes of a cycle, and the nodes that lack items which, directly or through other such nodes, only the cycle
    /// could bring.
    pub(crate) fn starved_by(&self, cycle: &[(NodeId, Edge)]) -> impl Iterator<Item = NodeId> {
        let leads = self.leads_to(cycle, |edge| !edge.full && !edge.any);
        self.nodes.iter().zip(leads).filter(|(_, leads)| *leads).map(|(node, _)| *node)
    }

    /// By position: whether edges that pass a test lead from the node to a cycle.
    fn leads_to(&self, cycle: &[(NodeId, Edge)], test: impl Fn(&Edge) -> bool) -> Vec<bool> {
        let mut waiting = vec![Vec::new(); self.nodes.len()];
        for (from, edges) in self.edges.iter().enumerate() {
            let edges = edges.iter().filter(|edge| test(edge));
            edges.filter_map(|edge| self.at(edge.to)).for_each(|to| waiting[to].push(from));
        }
        // Against the edges, from the nodes of the cycle.
        let mut leads = vec![false; self.nodes.len()];
        let mut open: Vec<usize> = cycle.iter().filter_map(|(node, _)| self.at(*node)).collect();
        while let Some(at) = open.pop() {
            if !std::mem::replace(&mut leads[at], true) {
                open.extend(&waiting[at]);
            }
        }
        leads
    }

    /// The cycle to report of several: the first without a merge, or the first. All edges if there is no cycle, though
    /// no node can continue.
    pub(crate) fn worst(&self, cycles: Vec<Cycle>) -> Cycle {
        let at = cycles.iter().position(|cycle| is_firm(cycle)).unwrap_or(0);
        cycles.into_iter().nth(at).unwrap_or_else(|| self.all())
    }

    /// All nodes with all their edges.
    fn all(&self) -> Cycle {
        let nodes = self.nodes.iter().zip(&self.edges);
        nodes.flat_map(|(node, edges)| edges.iter().map(|edge| (*node, *edge))).collect()
    }
}

/// Describes a cycle for the error message. `over_budget`: the byte budget, if it is what prevents growth.
pub(crate) fn describe(net: &Net<'_>, cycle: &[(NodeId, Edge)], over_budget: Option<usize>) -> Deadlock {
    describe_with(net, cycle, over_budget, None)
}

/// Describes a starved loop for the error message, with an outside input that it cannot read.
pub(crate) fn describe_unread(net: &Net<'_>, cycle: &[(NodeId, Edge)], unread: Unread) -> Deadlock {
    describe_with(net, cycle, None, Some(unread))
}

/// Names the nodes and channels of a cycle, with the numbers of items at this moment.
fn describe_with(
    net: &Net<'_>,
    cycle: &[(NodeId, Edge)],
    over_budget: Option<usize>,
    unread: Option<Unread>,
) -> Deadlock {
    let waits = cycle
        .iter()
        .map(|(node, edge)| BlockedNode {
            node: net.topology.graph.node(*node).name().to_string(),
            channel: net.topology.graph.channel_name(edge.channel),
            full: edge.full,
            items: net.meter(edge.channel).items(),
            capacity: net.meter(edge.channel).capacity(),
        })
        .collect();
    let unread = unread.map(|unread| {
        Box::new(UnreadInput {
            node: net.topology.graph.node(unread.node).name().to_string(),
            channel: net.topology.graph.channel_name(unread.channel),
        })
    });
    let remains = if over_budget.is_none() { remains_in(net, cycle).map(Box::new) } else { None };
    let largest = if over_budget.is_some() { largest_channels(net) } else { Vec::new() };
    Deadlock { waits, over_budget, largest, unread, remains }
}

/// The maximum number of channels named where the budget is exhausted.
const MAX_NAMED: usize = 3;

/// The channels that take most of the byte budget: their slots, and the bytes that weighed items may weigh.
fn largest_channels(net: &Net<'_>) -> Vec<ChannelRoom> {
    let bytes = |id: ChannelId| {
        let (meter, item) = (net.meter(id), net.topology.graph.channel(id).item().bytes());
        let limit = Some(meter.byte_limit()).filter(|limit| *limit != usize::MAX).unwrap_or(0);
        meter.capacity().saturating_mul(item).saturating_add(limit)
    };
    let mut all: Vec<_> = net.topology.graph.channel_ids().map(|id| (bytes(id), id)).collect();
    all.sort_unstable_by_key(|(bytes, id)| (std::cmp::Reverse(*bytes), id.index()));
    let named = all.into_iter().take(MAX_NAMED).filter(|(bytes, _)| *bytes > 0);
    let room = |(bytes, id): (usize, ChannelId)| ChannelRoom {
        channel: net.topology.graph.channel_name(id),
        bytes,
        items: net.meter(id).items(),
    };
    named.map(room).collect()
}
