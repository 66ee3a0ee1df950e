//! The message router: messages in flight and their arrival.

use super::wavefront::Wavefront;
use crate::Compiled;
use crate::flat::{ChannelId, Flat, NodeId};
use crate::tree::{FilterId, Tree};
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;

/// The route of messages from one node to another.
struct Route {
    /// Whether the receiver is downstream.
    down: bool,
    wavefront: Wavefront<Arc<Compiled>>,
}

/// A message in an inbox.
#[derive(Clone, PartialEq, Debug)]
pub struct Envelope<A> {
    /// The firing of the receiver, counted from 1, before which it is handled.
    pub before: u64,
    /// The handler's index in the receiver.
    pub handler: u32,
    /// The arguments.
    pub args: A,
}

/// A message being sent.
#[derive(Clone, PartialEq, Debug)]
pub struct SentMessage<A> {
    /// The sender.
    pub from: NodeId,
    /// The sender's firing, counted from 1.
    pub firing: u64,
    /// The portal.
    pub portal: u32,
    /// The handler's index in each receiver.
    pub handler: u32,
    /// The latency; `None` for best effort.
    pub latency: Option<i32>,
    /// The arguments.
    pub args: A,
}

/// The messages of a run; the engine chooses the form of arguments.
pub struct MessageRouter<A> {
    compiled: Arc<Compiled>,
    /// The receivers of each portal.
    receivers: Vec<Vec<NodeId>>,
    /// The inbox of each node: unhandled messages, in the order of sending.
    inboxes: Vec<Vec<Envelope<A>>>,
    /// Routes used so far, by sender and receiver.
    routes: HashMap<(NodeId, NodeId), Route>,
}

impl<A: Clone> MessageRouter<A> {
    /// A router without messages.
    pub fn new(compiled: &Arc<Compiled>) -> MessageRouter<A> {
        let flat = &compiled.flat;
        MessageRouter {
            receivers: receivers(&compiled.tree, flat),
            inboxes: flat.nodes().iter().map(|_| Vec::new()).collect(),
            routes: HashMap::new(),
            compiled: compiled.clone(),
        }
    }

    /// Sends a message to all receivers of its portal; `fired` returns the number of firings of a node.
    ///
    /// # Errors
    /// The message cannot arrive in time.
    pub fn send(&mut self, sent: SentMessage<A>, fired: &dyn Fn(NodeId) -> u64) -> Result<(), String> {
        for at in 0..self.receivers[sent.portal as usize].len() {
            let to = self.receivers[sent.portal as usize][at];
            let before = match sent.latency {
                None => 0,
                Some(latency) => self.arrival((sent.from, sent.firing), to, latency, fired)?,
            };
            let envelope = Envelope { before, handler: sent.handler, args: sent.args.clone() };
            self.inboxes[to.0 as usize].push(envelope);
        }
        Ok(())
    }

    /// The receivers of a portal.
    pub fn receivers(&self, portal: u32) -> &[NodeId] {
        &self.receivers[portal as usize]
    }

    /// Removes and returns the messages to handle before a firing.
    pub fn arrived(&mut self, node: NodeId, firing: u64) -> Vec<Envelope<A>> {
        let envelopes = &mut self.inboxes[node.0 as usize];
        if envelopes.is_empty() {
            return Vec::new();
        }
        let (now, later) = envelopes.drain(..).partition(|envelope| envelope.before <= firing);
        *envelopes = later;
        now
    }

    /// The firing before which a node must handle its next message.
    pub fn due(&self, node: NodeId) -> Option<u64> {
        self.inboxes[node.0 as usize].iter().map(|envelope| envelope.before).min()
    }

    /// The receiver's firing, counted from 1, before which it handles a message that the sender sends in its firing
    /// `sent`.
    fn arrival(
        &mut self,
        (from, sent): (NodeId, u64),
        to: NodeId,
        latency: i32,
        fired: &dyn Fn(NodeId) -> u64,
    ) -> Result<u64, String> {
        let Route { down, wavefront } = match self.routes.entry((from, to)) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(new) => new.insert(route(&self.compiled, from, to)?),
        };
        let receiver = &self.compiled.flat.node(to).name();
        let never = || format!("`{receiver}` never reaches the firing in which it would arrive");
        let before = if *down {
            let needs = sent.saturating_add_signed(i64::from(latency));
            wavefront.first_needing(needs).ok_or_else(never)?.max(1)
        } else {
            wavefront.wave(sent + u64::from(latency.unsigned_abs())).ok_or_else(never)? + 1
        };
        let fired = fired(to);
        if fired < before {
            return Ok(before);
        }
        let when =
            if *down { format!("before firing {before}") } else { format!("after firing {}", before - 1) };
        let often = if fired == 1 { "once".to_owned() } else { format!("{fired} times") };
        Err(format!(
            "this message comes too late: it should be handled {when} of `{receiver}`, which has fired {often}; \
             it needs a greater latency than {latency}"
        ))
    }
}

/// The receivers of each portal, as nodes.
pub fn receivers(tree: &Tree, flat: &Flat) -> Vec<Vec<NodeId>> {
    let nodes = flat.graph.node_ids();
    let of: HashMap<_, _> = nodes.filter_map(|node| flat.filter(node).map(|id| (id, node))).collect();
    let nodes = |filters: &Vec<FilterId>| filters.iter().map(|filter| of[filter]).collect();
    tree.portals.iter().map(nodes).collect()
}

/// Whether messages from one node to another travel downstream.
///
/// # Errors
/// No stream connects the nodes, or one with dynamic rates does.
pub fn is_downstream(compiled: &Compiled, from: NodeId, to: NodeId) -> Result<bool, String> {
    let flat = &compiled.flat;
    let down = is_route_downstream(flat, from, to)?;
    let (upstream, downstream) = if down { (from, to) } else { (to, from) };
    if let Some((one, other)) = dynamic_between(compiled, upstream, downstream) {
        let (one, other) = (&flat.node(one).name(), &flat.node(other).name());
        return Err(format!(
            "a message with a latency needs static rates along its route, but those between `{one}` and \
             `{other}` are dynamic"
        ));
    }
    Ok(down)
}

/// Whether a stream leads from one node to another, rather than in the opposite direction.
///
/// # Errors
/// No stream leads in either direction.
fn is_route_downstream(flat: &Flat, from: NodeId, to: NodeId) -> Result<bool, String> {
    let down = is_reachable(flat, from, to);
    if !down && !is_reachable(flat, to, from) {
        let receiver = &flat.node(to).name();
        return Err(format!("no stream connects this filter and `{receiver}`"));
    }
    Ok(down)
}

fn route(compiled: &Arc<Compiled>, from: NodeId, to: NodeId) -> Result<Route, String> {
    let down = is_downstream(compiled, from, to)?;
    let (upstream, downstream) = if down { (from, to) } else { (to, from) };
    Ok(Route { down, wavefront: Wavefront::new(compiled.clone(), upstream, downstream) })
}

/// Two adjacent nodes between one node and another with a dynamic rate between them.
fn dynamic_between(compiled: &Compiled, up: NodeId, down: NodeId) -> Option<(NodeId, NodeId)> {
    let flat = &compiled.flat;
    let (after, before) = (reachable(flat, up, false), reachable(flat, down, true));
    let dynamic = |id| {
        let channel = flat.channel(id);
        let on_way = after[channel.from().0.index()] && before[channel.to().0.index()];
        (on_way && flat.is_dynamic(id)).then_some((channel.from().0, channel.to().0))
    };
    flat.graph.channel_ids().find_map(dynamic)
}

/// Whether a stream leads from one node to another, without feedback channels.
fn is_reachable(flat: &Flat, from: NodeId, to: NodeId) -> bool {
    reachable(flat, from, false)[to.0 as usize]
}

/// The nodes reachable from a node downstream, or upstream with `against`, without feedback channels.
fn reachable(flat: &Flat, from: NodeId, against: bool) -> Vec<bool> {
    let mut reached = vec![false; flat.nodes().len()];
    let mut open = vec![from];
    while let Some(node) = open.pop() {
        if std::mem::replace(&mut reached[node.0 as usize], true) {
            continue;
        }
        let forward = |id: &ChannelId| !flat.channel(*id).link().feedback();
        if against {
            open.extend(flat.inputs(node).filter(forward).map(|id| flat.channel(id).from().0));
        } else {
            open.extend(flat.outputs(node).filter(forward).map(|id| flat.channel(id).to().0));
        }
    }
    reached
}
