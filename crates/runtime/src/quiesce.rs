//! What the last thread awake does before it sleeps: nothing runs, nothing can, and it alone looks
//! at the graph.
//!
//! Every live node waits for one thing, so "waits for" is a graph of at most one claim edge (a
//! merge: one for each open input) and some publication edges per node: towards the producer where
//! items lack, towards the consumer where room lacks. Then, in this order:
//!
//! 1. A circle with a full channel: the smallest full one doubles, within the byte budget (Parks;
//!    Geilen and Basten). Artificial deadlocks end here.
//! 2. A circle whose outside inputs have all ended, there being some: its feedback channels end in
//!    one step, and the loop drains.
//! 3. A circle with an outside input that is held up by a full channel: that channel doubles, as in 1.
//! 4. Where a process awaits a future that is no channel's, nothing: it may set the rest going.
//! 5. Otherwise a circle is a true deadlock, and the run fails, naming it.
//!
//! There may be several circles, and what one lacks may come once another is opened: no circle is
//! called a deadlock before 2 and 3 were tried on all. One through a merge is the last to be: the
//! merge waits for any of its inputs, and another may be the one that matters.

use crate::error::{BlockedNode, Deadlock, Error};
use crate::net::{Need, Net};
use crate::node::{UNSTUCK, Waiting};
use crate::sync::{Ordering, fence, lock};
use std::collections::VecDeque;
use thalweg_graph::{ChannelId, NodeId};
use thalweg_trace::{Growth, Limit};

/// Bytes that channels may take in all, grown ones included, where no budget was given: nothing is
/// unbounded by default.
const GROWTH_UNASKED: usize = 1 << 30;

/// The same, for growth of a channel into a loop that starves: an endless source would fill any.
const FEED_UNASKED: usize = 16 << 20;

/// One reason why a node does not go on.
#[derive(Clone, Copy, Debug)]
struct Edge {
    channel: ChannelId,
    full: bool,
    /// One of several that would do.
    any: bool,
    to: NodeId,
}

/// Nodes that wait for each other, each with the edge to the next; the last for the first.
type Circle = Vec<(NodeId, Edge)>;

/// Looks at the resting graph; true if something can go on now. Called with the sleep lock held
/// and every other thread asleep, so it must neither wake nor wait.
pub(crate) fn examine(net: &Net<'_>) -> bool {
    fence(Ordering::SeqCst);
    if net.stopped() {
        return true;
    }
    let waits: Vec<Vec<Edge>> = net.graph.node_ids().map(|node| edges(net, node)).collect();
    // Looked at after the edges: outside ends come and go while the workers sleep, and nothing is
    // judged that has changed since.
    if net.graph.node_ids().any(|node| net.actionable(node)) {
        return true;
    }
    if let Some(circle) = circles(&waits, true).next() {
        open_full(net, &circle);
        return true;
    }
    let starved: Vec<Circle> = circles(&waits, false).collect();
    let opened = starved.iter().any(|circle| end_feedback(net, circle))
        || starved.iter().any(|circle| feed(net, circle));
    if !opened && net.graph.node_ids().any(|node| is_foreign(net, node)) {
        // Somebody outside may set all of it going.
        return false;
    }
    if !opened {
        net.record(Error::Deadlock(describe(net, &worst(starved, &waits), None)));
    }
    true
}

/// Whether a process waits for a future of its own.
fn is_foreign(net: &Net<'_>, node: NodeId) -> bool {
    let state = &net.nodes[node.index()].state;
    !state.is_done() && state.wait.read() == Waiting::Foreign
}

/// The circle to name: one that no merge could get out of, if there is such a one. Nothing can go
/// on where nothing waits in a circle, too, and then all that waits is named.
fn worst(circles: Vec<Circle>, waits: &[Vec<Edge>]) -> Circle {
    let firm = |circle: &Circle| circle.iter().all(|(_, edge)| !edge.any);
    let at = circles.iter().position(firm).unwrap_or(0);
    circles.into_iter().nth(at).unwrap_or_else(|| every_edge(waits).collect())
}

fn every_edge(waits: &[Vec<Edge>]) -> impl Iterator<Item = (NodeId, Edge)> {
    let nodes = waits.iter().enumerate();
    nodes.flat_map(|(node, edges)| edges.iter().map(move |edge| (NodeId(node as u32), *edge)))
}

/// What a node waits for, as edges.
fn edges(net: &Net<'_>, node: NodeId) -> Vec<Edge> {
    let cell = &net.nodes[node.index()];
    if cell.state.is_done() {
        return Vec::new();
    }
    let any = matches!(cell.state.wait.read(), Waiting::Any { .. });
    let items =
        |channel: ChannelId| Edge { channel, full: false, any, to: net.graph.channel(channel).from.0 };
    let room =
        |channel: ChannelId| Edge { channel, full: true, any: false, to: net.graph.channel(channel).to.0 };
    let mut edges = match cell.state.wait.read() {
        Waiting::Items { channel, .. } => vec![items(channel)],
        Waiting::Room { channel, .. } | Waiting::Bytes { channel } => vec![room(channel)],
        Waiting::Any { inputs } => {
            let wanted = cell.inputs.iter().enumerate().filter(|(i, _)| inputs >> i & 1 == 1);
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
    let stuck = cell.state.stuck.iter().zip(&cell.outputs);
    edges.extend(stuck.filter(|(s, _)| s.load(Ordering::Relaxed) != UNSTUCK).map(|(_, c)| room(*c)));
    edges
}

/// Circles in the wait-for graph: those that begin with an edge that is `full`, or is not, one for
/// all nodes that lie on it.
fn circles(waits: &[Vec<Edge>], full: bool) -> impl Iterator<Item = Circle> {
    let mut seen = vec![false; waits.len()];
    every_edge(waits).filter(move |(_, edge)| edge.full == full).filter_map(move |(node, edge)| {
        if seen[node.index()] {
            return None;
        }
        let circle = close(waits, node, edge)?;
        circle.iter().for_each(|(node, _)| seen[node.index()] = true);
        Some(circle)
    })
}

/// The circle that begins with an edge: a shortest way back to where it starts.
fn close(all: &[Vec<Edge>], start: NodeId, first: Edge) -> Option<Circle> {
    let mut before: Vec<Option<(NodeId, Edge)>> = vec![None; all.len()];
    let mut queue = VecDeque::from([first.to]);
    while let Some(node) = queue.pop_front().filter(|_| before[start.index()].is_none()) {
        for edge in &all[node.index()] {
            if edge.to != first.to && before[edge.to.index()].is_none() {
                before[edge.to.index()] = Some((node, *edge));
                queue.push_back(edge.to);
            }
        }
    }
    let mut circle = Vec::new();
    let mut at = start;
    while at != first.to {
        let step = before[at.index()]?;
        circle.push(step);
        at = step.0;
    }
    circle.push((start, first));
    circle.reverse();
    Some(circle)
}

/// Opens a circle with full channels: growth, or failure where there may be none.
fn open_full(net: &Net<'_>, circle: &[(NodeId, Edge)]) {
    let full = circle.iter().map(|(_, edge)| edge).filter(|edge| edge.full);
    let least = full.min_by_key(|edge| net.meter(edge.channel).capacity()).expect("a full channel");
    if !grow(net, least.channel, GROWTH_UNASKED) {
        let limit = net.plan.budget.unwrap_or(GROWTH_UNASKED);
        net.record(Error::Deadlock(describe(net, circle, Some(limit))));
    }
}

/// Doubles a channel, if the byte budget allows, or `unasked` bytes in all where none was given.
fn grow(net: &Net<'_>, channel: ChannelId, unasked: usize) -> bool {
    let meter = net.meter(channel);
    let data = net.graph.channel(channel);
    let from = meter.capacity();
    let heavy = !meter.light();
    let cost = if heavy { meter.byte_limit() } else { from * data.item.bytes };
    let spent = net.spent.load(Ordering::Relaxed) + cost;
    if spent > net.plan.budget.unwrap_or(unasked) {
        return false;
    }
    net.spent.store(spent, Ordering::Relaxed);
    if heavy {
        meter.set_byte_limit(cost * 2);
        lock(&net.growths).push(Growth { channel, limit: Limit::Bytes, from: cost, to: cost * 2 });
    } else {
        // SAFETY: the last thread awake of the run, which holds the sleep lock: nobody else
        // accesses a ring before it has come back through that lock, and slot pointers are read
        // anew at every claim.
        unsafe { net.rings[channel.index()].grow(from * 2) };
        lock(&net.growths).push(Growth { channel, limit: Limit::Items, from, to: from * 2 });
    }
    let producer = &net.nodes[data.from.0.index()].state;
    producer.wait.ready();
    producer
        .stuck
        .iter()
        .filter(|s| s.load(Ordering::Relaxed) != UNSTUCK)
        .for_each(|s| s.store(0, Ordering::Relaxed));
    true
}

/// Ends the feedback channels of the loop that a circle runs through, if its outside inputs have
/// ended and there are some.
fn end_feedback(net: &Net<'_>, circle: &[(NodeId, Edge)]) -> bool {
    let components = thalweg_analysis::components(&net.graph);
    let inside = |node: NodeId| components.of(node) == components.of(circle[0].0);
    let entering = |id: &ChannelId| {
        let channel = net.graph.channel(*id);
        inside(channel.to.0) && !inside(channel.from.0)
    };
    let mut outside = net.graph.channel_ids().filter(entering).peekable();
    if outside.peek().is_none() || !outside.all(|id| net.meter(id).ended()) {
        return false;
    }
    let mut closed = false;
    for id in net.graph.channel_ids() {
        let channel = net.graph.channel(id);
        let feedback = channel.link.feedback && inside(channel.to.0) && inside(channel.from.0);
        if feedback && !net.meter(id).ended() {
            net.meter(id).end();
            net.nodes[channel.to.0.index()].state.alert.store(true, Ordering::Relaxed);
            closed = true;
        }
    }
    closed
}

/// Grows the smallest full channel that leads into the loop of a circle, if there is one: with
/// room enough its outside inputs would have gone on, perhaps to their end, so whether the loop
/// starves must not be decided before.
fn feed(net: &Net<'_>, circle: &[(NodeId, Edge)]) -> bool {
    let components = thalweg_analysis::components(&net.graph);
    let inside = |node: NodeId| components.of(node) == components.of(circle[0].0);
    let waits_at = |id: &ChannelId| {
        let channel = net.graph.channel(*id);
        let waits = |edge: &Edge| edge.full && edge.channel == *id;
        inside(channel.to.0) && !inside(channel.from.0) && edges(net, channel.from.0).iter().any(waits)
    };
    let full = net.graph.channel_ids().filter(waits_at);
    full.min_by_key(|id| net.meter(*id).capacity()).is_some_and(|id| grow(net, id, FEED_UNASKED))
}

/// The circle in words.
fn describe(net: &Net<'_>, circle: &[(NodeId, Edge)], over_budget: Option<usize>) -> Deadlock {
    let waits = circle
        .iter()
        .map(|(node, edge)| BlockedNode {
            node: net.graph.node(*node).name.clone(),
            channel: net.graph.channel_name(edge.channel),
            full: edge.full,
            items: net.meter(edge.channel).items(),
            capacity: net.meter(edge.channel).capacity(),
        })
        .collect();
    Deadlock { waits, over_budget }
}
