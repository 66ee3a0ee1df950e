//! Starved loops: every node of a cycle waits for an item that only the cycle could bring.
//!
//! No growth helps such a loop. It either *ends*, or it is a *deadlock*, and which of the two is a
//! property of the graph and its input:
//!
//! | the loop | ends if | otherwise |
//! |---|---|---|
//! | has outside inputs | all of them have ended, and hold less than a firing needs: no firing is possible any more | a deadlock: an input holds what the next firing of the waiting node needs (for a process or a dynamic rate: any item), or an input is still open |
//! | has no outside input | it is *done*, as a work-list is that has done all its work: see below | a deadlock: an item was lost in the loop, or the loop began with too few |
//!
//! A loop here is a strongly connected component of the graph, so a nested loop is part of the one around it. Its feedback
//! channels end in one step, and its nodes drain ([`close`]).
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
//!
//! # Loops without outside inputs
//!
//! Such a loop is *done* if all of this holds at one moment ([`is_done`]):
//!
//! - each of its nodes that has not ended is a kernel and waits for items; none waits for room or a ticket;
//! - each waits for nodes of the loop that have not ended;
//! - the inputs of these nodes are empty, except the channels of counts and tokens that `in_flight` has added. So a
//!   kernel that waits for more items than have arrived, or that peeks at items which it does not pop, keeps its loop
//!   from being done.
//!
//! | the loop | meaning | entered by | left by |
//! |---|---|---|---|
//! | works | a node can fire or end, or waits for something outside: room, a thread, a reader | the start | its last activation |
//! | waits | each of its nodes that has not ended waits for one of the others | the last activation of its nodes | [`close`], if it is done; the error of a deadlock, if not; a cancellation, if no live end of the graph needs it |
//! | drains | its feedback channels have ended (`NodeState::drains`) | `close` | the end of its last node |
//!
//! *A loop that waits never works again by itself.* Each of its nodes waits for a channel that only another of them
//! fills, and an activation does nothing while its node waits. No thread outside the loop can bring items, since there
//! is no outside input, and a node that waits for items is not woken by room. Thus the loop stays as it is until it is
//! closed, and closing it early or late, before or after any growth elsewhere, makes no difference to any other node.
//! It is closed first, before any channel grows.
//!
//! *It is judged at one moment.* `quiesce` has the whole graph to itself. A search adds all nodes of a loop that seems to
//! be done to its candidates, holds the claims of those that have not ended, and reads everything again
//! (`search::confirm`). The claims cover both ends of each channel that it reads.
//!
//! *No wake-up is lost.* `close` sets the ends and the alerts while it excludes all activations of the loop's nodes. The
//! caller then releases the claims or the sleep lock, fences, and makes the nodes ready, as after growth. A thread that
//! has taken an alert and is refused the claim sets the alert again (`sched::worker`).
//!
//! *Every loop that is done is closed.* One of its nodes was activated last, and the thread of that activation searches
//! afterwards, from every suspect; all nodes on cycles are suspects. See [`search`](crate::liveness::search).
//!
//! *The verdict is a function of the graph and its input.* Let all kernels be determinate. By Kahn's theorem the items that
//! pass through each channel are the same in every run that goes on for as long as a node can fire with channels of any
//! size. A loop that waits has done that: none of its nodes lacks room. Whether it holds items, and whether a process
//! waits in it, is then the same in every run. If it holds some, the loop is a deadlock at any capacity: a full channel
//! on the way grows, and the node that waits for items never pops the others. With a merge or an unordered node inside,
//! the same holds for the items that the functions of the user have received in this run: the verdict does not depend on
//! anything else.
//!
//! *A search may see a part of the loop.* A cycle that waits for itself is a deadlock while other nodes of its loop
//! work, if it can never be part of a loop that is done: a process waits in it, or an input of one of its nodes holds
//! items ([`remains`]). Otherwise the verdict waits for the rest of the loop ([`is_undecided`]).
//!
//! # How a loop drains
//!
//! A node of a loop ends when an input that its next firing needs has ended, calls its finishing function, and ends its
//! outputs. Feedback channels apart a loop has no cycle, so every node ends: producers before consumers. What finishing
//! functions push is consumed as usual, up to the ended feedback channels: nothing behind the end of a stream is ever
//! delivered, and the report counts it as left over.
//!
//! *The result does not depend on timing.* The consumer of an ended feedback channel may leave it before the producer has
//! drained, and the readers of the loop's results may end. Elsewhere a node whose consumers have all left ends at once,
//! and a node that no live end needs is cancelled. A node that drains does neither (`NodeState::drains`): whether its
//! finishing function is called would depend on which of them comes first. It drains in finite time, since it has no
//! items but those in its channels. Only firings of a `flat_map`, whose iterators may be endless, end early once no
//! consumer is left, as elsewhere: of a `par_flat_map` all those of the claim. What they would still push is not counted.
//!
//! *No node waits for a cancelled one.* A cancelled node does not end its streams, so either all nodes of a loop ignore a
//! cancellation or none ([`may_drain`]). None does if one has ended by it, or if a process has not ended, which may send
//! for ever and must be cancelled. A flag `cancelled` that another thread sets while the loop is closed has not been acted
//! on by any node that has not ended, since `close` excludes activations; from then on all ignore it.
//!
//! *Nested loops of operators end by themselves.* The gate of `par_iterate` ends when its input has ended and no item is
//! under way. Its feedback channel (`OperatorChannels::rounds`) stays open, so what a finishing function pushes into
//! such a loop goes round as any other item.

use crate::error::Remains;
use crate::liveness::search::rests;
use crate::liveness::waits::{Cycle, Edge, WaitGraph, edges};
use crate::net::Net;
use crate::sync::Ordering;
use std::collections::BTreeMap;
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

/// Ends the feedback channels of the loop that a cycle runs through: [`close`]. With `discard`, cuts its outside inputs at
/// the positions of their consumers.
pub(crate) fn close_cycle(net: &Net<'_>, cycle: &Cycle, discard: bool) -> bool {
    let Some((member, _)) = cycle.first() else { return false };
    let components = net.components();
    let closed = close(net, components.members(components.of(*member)));
    if closed && discard {
        for id in outside(net, *member) {
            net.cells.rings[id.index()].cut();
            alert_consumer(net, id);
        }
    }
    closed
}

/// Ends the feedback channels of a loop, given by its nodes, and alerts their consumers; false if all of them have ended
/// before. Its nodes drain from now on, if all of them can.
///
/// The caller excludes activations of these nodes: it does what only the producing side may otherwise do.
fn close(net: &Net<'_>, members: &[NodeId]) -> bool {
    let is_open = |id: &ChannelId| is_feedback(net, *id) && is_inside(net, *id) && !net.meter(*id).ended();
    let inputs = members.iter().flat_map(|member| net.inputs(*member)).copied();
    let open: Vec<ChannelId> = inputs.filter(is_open).collect();
    if !open.is_empty() && may_drain(net, members) {
        members.iter().for_each(|member| net.node(*member).state.drains.store(true, Ordering::Relaxed));
    }
    for id in &open {
        net.meter(*id).end();
        alert_consumer(net, *id);
    }
    !open.is_empty()
}

/// Whether the nodes of a loop call their finishing functions whatever ends first: see the module.
fn may_drain(net: &Net<'_>, members: &[NodeId]) -> bool {
    members.iter().all(|member| {
        let cell = net.node(*member);
        match cell.state.is_done() {
            true => !cell.state.is_cancelled(),
            false => cell.kind != Kind::Process,
        }
    })
}

/// Whether the channel is a feedback channel of the user. Those of operators end by themselves: see the module.
fn is_feedback(net: &Net<'_>, channel: ChannelId) -> bool {
    net.topology.graph.channel(channel).link().feedback() && !net.liveness.operators.rounds.contains(&channel)
}

/// Closes all loops without outside inputs that are done. True if there was one. No node of the graph is active.
pub(crate) fn close_done(net: &Net<'_>) -> bool {
    let loops = net.topology.closed_loops().iter().map(|at| net.components().members(*at));
    loops.filter(|members| is_done(net, members) && close(net, members)).count() > 0
}

/// [`close_done`] of the loops that some of `held` are nodes of. The caller has the claims of `held`; a loop with a node
/// that has not ended and is not among them stays as it is.
pub(crate) fn close_held(net: &Net<'_>, held: &BTreeMap<NodeId, Vec<Edge>>) -> bool {
    let is_held = |members: &[NodeId]| waiting(net, members).all(|node| held.contains_key(&node));
    let loops = closed_loops_of(net, held.keys().copied()).into_iter();
    loops.filter(|members| is_held(members) && is_done(net, members) && close(net, members)).count() > 0
}

/// Adds to a search's candidates the nodes that have not ended of each loop that some of them are nodes of, if the loop
/// seems to be done. Without claims, so the caller confirms the result.
pub(crate) fn complete(net: &Net<'_>, candidates: &mut BTreeMap<NodeId, Vec<Edge>>) {
    for members in closed_loops_of(net, candidates.keys().copied()) {
        if is_done(net, members) {
            let others = waiting(net, members).map(|node| (node, edges(net, node)));
            candidates.extend(others);
        }
    }
}

/// Whether the node's loop has no outside inputs and may be done once more of its nodes wait. `stuck` are nodes that wait
/// for each other only, and the caller has their claims.
pub(crate) fn is_undecided(net: &Net<'_>, stuck: &BTreeMap<NodeId, Vec<Edge>>, node: NodeId) -> bool {
    let Some(members) = closed_loop_of(net, node) else { return false };
    let (held, others): (Vec<NodeId>, Vec<_>) =
        waiting(net, members).partition(|node| stuck.contains_key(node));
    !others.is_empty() && remains(net, held).is_none()
}

/// What keeps a loop without outside inputs from being done although these of its nodes wait for each other: a process
/// among them, or items on an input of one.
pub(crate) fn remains(net: &Net<'_>, nodes: impl IntoIterator<Item = NodeId>) -> Option<Remains> {
    let nodes: Vec<NodeId> = nodes.into_iter().collect();
    if let Some(process) = nodes.iter().find(|node| net.node(**node).kind == Kind::Process) {
        let process = net.topology.graph.node(*process).name().to_string();
        return Some(Remains::Process { process });
    }
    let mut inputs = nodes.iter().flat_map(|node| net.inputs(*node)).copied();
    let channel = inputs.find(|id| holds(net, *id, 1) && !net.liveness.operators.counts.contains(id))?;
    let items = net.cells.rings[channel.index()].unreceived();
    Some(Remains::Items { channel: net.topology.graph.channel_name(channel), items })
}

/// [`remains`] of the whole loop that a cycle runs through, if the loop has no outside inputs.
pub(crate) fn remains_in(net: &Net<'_>, cycle: &[(NodeId, Edge)]) -> Option<Remains> {
    let members = closed_loop_of(net, cycle.first()?.0)?;
    remains(net, waiting(net, members))
}

/// Whether a loop without outside inputs, given by its nodes, is done: see the module. Exact if the caller excludes
/// activations of those that have not ended; otherwise a hint.
fn is_done(net: &Net<'_>, members: &[NodeId]) -> bool {
    let mut nodes = waiting(net, members).peekable();
    let is_waiting = |edge: &Edge| !edge.full && !net.node(edge.to).state.is_done();
    let starves = |node: NodeId| {
        let edges = edges(net, node);
        rests(net, node) && !edges.is_empty() && edges.iter().all(is_waiting)
    };
    nodes.peek().is_some() && nodes.all(starves) && remains(net, waiting(net, members)).is_none()
}

/// The nodes among `members` that have not ended.
fn waiting<'a>(net: &'a Net<'_>, members: &'a [NodeId]) -> impl Iterator<Item = NodeId> + 'a {
    members.iter().copied().filter(|node| !net.node(*node).state.is_done())
}

/// The nodes of the loop without outside inputs that a node is part of.
fn closed_loop_of<'a>(net: &'a Net<'_>, node: NodeId) -> Option<&'a [NodeId]> {
    let loops = net.topology.closed_loops();
    let component = (!loops.is_empty()).then(|| net.components().of(node))?;
    loops.binary_search(&component).is_ok().then(|| net.components().members(component))
}

/// The loops without outside inputs that some of `nodes` are part of, each as its nodes.
fn closed_loops_of<'a>(net: &'a Net<'_>, nodes: impl Iterator<Item = NodeId>) -> Vec<&'a [NodeId]> {
    if net.topology.closed_loops().is_empty() {
        return Vec::new();
    }
    let mut found: Vec<&[NodeId]> = nodes.filter_map(|node| closed_loop_of(net, node)).collect();
    found.sort_unstable_by_key(|members| members.first().copied());
    found.dedup_by_key(|members| members.first().copied());
    found
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
    match (data.kind(), data.inputs()[port].pop()) {
        (Kind::Process, _) | (_, Rate::Dynamic) => 1,
        (_, Rate::Static(pop)) => pop.max(data.inputs()[port].peek()) as usize,
    }
}

/// Alerts the consumer of a channel: it reads its inputs again, whatever it waits for.
fn alert_consumer(net: &Net<'_>, channel: ChannelId) {
    net.cells.nodes[net.ends(channel).1.index()].state.alert.store(true, Ordering::Relaxed);
}
