//! Starved loops: every node of a cycle waits for an item that only the cycle could bring.
//!
//! No growth helps such a loop. It either *ends*, or it is a *deadlock*, and which of the two is a
//! property of the graph and its input:
//!
//! - It ends if all its outside inputs have ended and hold less than a firing needs: no firing is possible any more.
//!   Its feedback channels end in one step, and its nodes drain.
//! - It is a deadlock if an outside input holds what the next firing of the waiting node needs (for a process or a
//!   dynamic rate: any item), if an outside input is still open, or if it has no outside input: an item was lost in the
//!   loop, or the loop began with too few.
//!
//! # Why the verdict does not depend on capacities, budget or timing
//!
//! Call a cycle *firm* if each of its nodes waits for exactly one channel (a merge waits for any of several). No node
//! outside a firm cycle can make one of its nodes claimable, so it waits for ever, and an outside input that holds
//! enough for one of its nodes holds enough for ever. With channels of any size the same cycle starves after the same
//! items have been popped, so the input holds enough there too. If an end of the graph waits for the cycle, directly or
//! through nodes that lack items, that end waits for ever as well. Hence this deadlock is reported at once, before any
//! channel grows.
//!
//! Otherwise the producers of outside inputs get more room first (`growth::grant`): with channels of any size they
//! would continue, and either end or bring what an end of the graph waits for.
//!
//! That takes memory. If the byte budget is exhausted first, the run fails with an error that names the budget; with a
//! larger one the loop may end.
//!
//! With [`Options::close_starved_loops`](crate::Options::close_starved_loops) a loop that would be a deadlock ends
//! instead, once the whole graph is at rest and no full channel may grow. Its outside inputs are cut at the positions of
//! their consumers; the items in these channels, and those that still arrive, are discarded.
//!
//! Growth comes first, since a search may grow the same channels before the graph is at rest. So each node of the loop
//! has done all that it could do with channels of any size, and the positions do not depend on capacities or timing. If
//! the budget is exhausted first, a node that lacks room stops where the budget left it.

use crate::liveness::waits::{Cycle, Edge, WaitGraph, edges};
use crate::net::Net;
use crate::sync::Ordering;
use thalweg_graph::{ChannelId, Kind, NodeId, Rate};

/// An outside input that holds enough for the next firing of a node, while that node waits for its own loop.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Unread {
    pub(crate) node: NodeId,
    pub(crate) channel: ChannelId,
}

/// Whether each node of the cycle waits for exactly one channel.
pub(crate) fn is_firm(cycle: &[(NodeId, Edge)]) -> bool {
    cycle.iter().all(|(_, edge)| !edge.any)
}

/// An outside input by which a starved cycle is a deadlock, whatever the nodes outside it do.
///
/// The caller keeps the nodes of the cycle from being activated. Producers outside it may run: they only add to what an
/// input holds.
pub(crate) fn unread_now(net: &Net<'_>, waits: &WaitGraph, cycle: &[(NodeId, Edge)]) -> Option<Unread> {
    let is_live = |node: NodeId| net.is_live_end(node) || net.has_side_effects(node);
    let is_awaited = || net.liveness.search.has_no_ends() || waits.starved_by(cycle).any(is_live);
    if !is_firm(cycle) || !is_awaited() {
        return None;
    }
    cycle.iter().find_map(|(node, edge)| is_inside(net, edge.channel).then(|| unread_by(net, *node))?)
}

/// An outside input of the loop that a cycle runs through, which holds enough for a node that waits for the loop. The
/// whole graph is at rest.
pub(crate) fn unread_at_rest(net: &Net<'_>, cycle: &[(NodeId, Edge)]) -> Option<Unread> {
    let components = net.components();
    let members = components.members(components.of(cycle.first()?.0));
    let starves = |node: &NodeId| {
        let mut waits = edges(net, *node).into_iter();
        waits.any(|edge| !edge.full && is_inside(net, edge.channel))
    };
    members.iter().filter(|node| starves(node)).find_map(|node| unread_by(net, *node))
}

/// Ends the feedback channels of the loop that a cycle runs through, and alerts their consumers; false if all of them
/// have ended before. With `discard`, cuts its outside inputs at the positions of their consumers.
///
/// The caller is the only thread that accesses the graph: it does what only the producing side may otherwise do.
pub(crate) fn close(net: &Net<'_>, cycle: &Cycle, discard: bool) -> bool {
    let Some((member, _)) = cycle.first() else { return false };
    let mut closed = false;
    for id in net.topology.graph.channel_ids().filter(|id| is_in_loop_of(net, *member, *id)) {
        if net.topology.graph.channel(id).link.feedback && !net.meter(id).ended() {
            net.meter(id).end();
            alert_consumer(net, id);
            closed = true;
        }
    }
    if closed && discard {
        for id in outside(net, *member) {
            net.cells.rings[id.index()].cut();
            alert_consumer(net, id);
        }
    }
    closed
}

/// Whether the loop of a cycle has outside inputs, and all of them have ended.
pub(crate) fn outside_has_ended(net: &Net<'_>, cycle: &[(NodeId, Edge)]) -> bool {
    let Some((member, _)) = cycle.first() else { return false };
    let mut outside = outside(net, *member).peekable();
    outside.peek().is_some() && outside.all(|id| net.meter(id).ended())
}

/// The channels that lead into the loop of a node.
fn outside<'a>(net: &'a Net<'_>, member: NodeId) -> impl Iterator<Item = ChannelId> + 'a {
    let components = net.components();
    let inside = move |node: NodeId| components.of(node) == components.of(member);
    let members = components.members(components.of(member)).iter();
    members.flat_map(|node| net.inputs(*node)).copied().filter(move |id| !inside(net.ends(*id).0))
}

/// Whether both ends of a channel lie in one component: it is part of a loop.
fn is_inside(net: &Net<'_>, channel: ChannelId) -> bool {
    let (from, to) = net.ends(channel);
    net.components().of(from) == net.components().of(to)
}

/// Whether both ends of a channel lie in the component of `member`.
fn is_in_loop_of(net: &Net<'_>, member: NodeId, channel: ChannelId) -> bool {
    is_inside(net, channel) && net.components().of(net.ends(channel).0) == net.components().of(member)
}

/// The first outside input of the node that holds enough for its next firing.
fn unread_by(net: &Net<'_>, node: NodeId) -> Option<Unread> {
    let ports = net.inputs(node).iter().enumerate();
    let mut outside = ports.filter(|(_, id)| !is_inside(net, **id));
    let held = outside.find(|(port, id)| holds(net, **id, needed(net, node, *port)));
    held.map(|(_, channel)| Unread { node, channel: *channel })
}

/// Whether a channel holds at least `items` items that its consumer can still pop.
fn holds(net: &Net<'_>, channel: ChannelId, items: usize) -> bool {
    net.cells.rings[channel.index()].unreceived() >= items
}

/// Items that the next firing of a node needs on an input, or the smallest number that it may need.
fn needed(net: &Net<'_>, node: NodeId, port: usize) -> usize {
    let data = net.topology.graph.node(node);
    match (data.kind, data.inputs[port].pop) {
        (Kind::Process, _) | (_, Rate::Dynamic) => 1,
        (_, Rate::Static(pop)) => pop.max(data.inputs[port].peek) as usize,
    }
}

/// Alerts the consumer of a channel: it reads its inputs again, whatever it waits for.
fn alert_consumer(net: &Net<'_>, channel: ChannelId) {
    net.cells.nodes[net.ends(channel).1.index()].state.alert.store(true, Ordering::Relaxed);
}
