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
//! 4. Otherwise the circle is a true deadlock, and the run fails, naming it.

use crate::error::{BlockedNode, Deadlock, Error};
use crate::net::Net;
use crate::node::{UNSTUCK, Waiting};
use crate::sync::{Ordering, fence, lock};
use std::collections::VecDeque;
use thalweg_graph::{ChannelId, NodeId};
use thalweg_trace::Growth;

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
    to: NodeId,
}

/// Looks at the resting graph; true if something can go on now. Called with the sleep lock held
/// and every other thread asleep, so it must neither wake nor wait.
pub(crate) fn examine(net: &Net<'_>) -> bool {
    fence(Ordering::SeqCst);
    if net.stopped() {
        return true;
    }
    if net.graph.node_ids().any(|node| net.actionable(node)) {
        return true;
    }
    match find_circle(net) {
        Some(circle) => open(net, &circle),
        // Nothing can go on and nothing waits in a circle: still an end with a cause.
        None => {
            let waits: Vec<_> = net
                .graph
                .node_ids()
                .flat_map(|node| edges(net, node).into_iter().map(move |e| (node, e)))
                .collect();
            net.record(Error::Deadlock(describe(net, &waits, None)));
            true
        }
    }
}

/// What a node waits for, as edges.
fn edges(net: &Net<'_>, node: NodeId) -> Vec<Edge> {
    let cell = &net.nodes[node.index()];
    if cell.state.is_done() {
        return Vec::new();
    }
    let items = |channel: ChannelId| Edge { channel, full: false, to: net.graph.channel(channel).from.0 };
    let room = |channel: ChannelId| Edge { channel, full: true, to: net.graph.channel(channel).to.0 };
    let mut edges = match cell.state.wait.read() {
        Waiting::Items { channel, .. } => vec![items(channel)],
        Waiting::Room { channel, .. } | Waiting::Bytes { channel } => vec![room(channel)],
        Waiting::Any { inputs } => {
            let wanted = cell.inputs.iter().enumerate().filter(|(i, _)| inputs >> i & 1 == 1);
            wanted.map(|(_, channel)| items(*channel)).collect()
        }
        Waiting::Ready | Waiting::Window { .. } | Waiting::Never => Vec::new(),
    };
    let stuck = cell.state.stuck.iter().zip(&cell.outputs);
    edges.extend(stuck.filter(|(s, _)| s.load(Ordering::Relaxed) != UNSTUCK).map(|(_, c)| room(*c)));
    edges
}

/// A circle in the wait-for graph; one with a full channel if there is any.
fn find_circle(net: &Net<'_>) -> Option<Vec<(NodeId, Edge)>> {
    let all: Vec<Vec<Edge>> = net.graph.node_ids().map(|node| edges(net, node)).collect();
    let every = |full: bool| {
        let all = &all;
        net.graph
            .node_ids()
            .flat_map(move |node| all[node.index()].iter().map(move |edge| (node, *edge)))
            .filter(move |(_, edge)| edge.full == full)
    };
    every(true).chain(every(false)).find_map(|(node, edge)| close(&all, node, edge))
}

/// The circle that begins with an edge: a shortest way back to where it starts.
fn close(all: &[Vec<Edge>], start: NodeId, first: Edge) -> Option<Vec<(NodeId, Edge)>> {
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

/// Opens a circle: growth, end of the loop, or failure. True if something can go on.
fn open(net: &Net<'_>, circle: &[(NodeId, Edge)]) -> bool {
    let full = circle.iter().map(|(_, edge)| edge).filter(|edge| edge.full);
    if let Some(edge) = full.min_by_key(|edge| net.meter(edge.channel).capacity()) {
        if grow(net, edge.channel, GROWTH_UNASKED) {
            return true;
        }
        net.record(Error::Deadlock(describe(net, circle, Some(net.plan.budget.unwrap_or(GROWTH_UNASKED)))));
        return true;
    }
    if end_feedback(net, circle) || feed(net, circle) {
        return true;
    }
    net.record(Error::Deadlock(describe(net, circle, None)));
    true
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
        meter.set_byte_limit(meter.byte_limit() * 2);
    } else {
        // SAFETY: the last thread awake of the run, which holds the sleep lock: nobody else
        // accesses a ring before it has come back through that lock, and slot pointers are read
        // anew at every claim.
        unsafe { net.rings[channel.index()].grow(from * 2) };
        lock(&net.growths).push(growth(channel, from, from * 2));
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

fn growth(channel: ChannelId, from: usize, to: usize) -> Growth {
    Growth { channel, from, to }
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
