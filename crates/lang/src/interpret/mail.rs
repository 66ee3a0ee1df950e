//! Messages: when they arrive.

use super::wavefront::Wavefront;
use super::world::{Mail, World};
use crate::flat::{ChannelId, Flat, NodeId, NodeKind};
use crate::value::Value;
use std::collections::HashMap;
use std::collections::hash_map::Entry;

/// The ways that messages have gone so far, by sender and receiver.
pub(super) type Ways = HashMap<(NodeId, NodeId), Way>;

/// The way of messages from one node to another.
pub(super) struct Way {
    /// Whether the receiver is the one downstream.
    down: bool,
    wavefront: Wavefront,
}

impl World {
    /// Sends a message from a firing to all who hear a portal.
    pub(super) fn send(
        &self,
        from: NodeId,
        portal: u32,
        handler: u32,
        latency: Option<i32>,
        args: Vec<Value>,
    ) -> Result<(), String> {
        for filter in &self.compiled.tree.portals[portal as usize] {
            let to = self.node_of(filter.0);
            let before = match latency {
                None => 0,
                Some(latency) => self.arrival(from, to, latency)?,
            };
            self.mail[to.0 as usize].borrow_mut().push(Mail { before, handler, args: args.clone() });
        }
        Ok(())
    }

    fn node_of(&self, filter: u32) -> NodeId {
        let is_it = |node: &crate::flat::Node| matches!(node.kind, NodeKind::Filter(id) if id.0 == filter);
        NodeId(self.compiled.flat.nodes.iter().position(is_it).expect("each filter is a node") as u32)
    }

    /// The firing of the receiver, counted from 1, before which a message is handled that the sender
    /// sends in the firing it is in.
    fn arrival(&self, from: NodeId, to: NodeId, latency: i32) -> Result<u64, String> {
        let mut ways = self.ways.borrow_mut();
        let Way { down, wavefront } = match ways.entry((from, to)) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(new) => new.insert(self.way(from, to)?),
        };
        let receiver = &self.compiled.flat.node(to).name;
        let sent = self.firings[from.0 as usize].get() + 1;
        let never = || format!("`{receiver}` can never fire so often");
        if *down {
            let firing = sent.saturating_add_signed(i64::from(latency));
            return wavefront.first_needing(firing).ok_or_else(never);
        }
        let after = wavefront.wave(sent + u64::from(latency.unsigned_abs())).ok_or_else(never)?;
        let fired = self.firings[to.0 as usize].get();
        if fired > after {
            return Err(format!(
                "this message comes too late: it should be handled after firing {after} of \
                 `{receiver}`, which has fired {fired} times; it needs a greater latency than {latency}"
            ));
        }
        Ok(after + 1)
    }

    /// The way from one node to another.
    fn way(&self, from: NodeId, to: NodeId) -> Result<Way, String> {
        let flat = &self.compiled.flat;
        let down = leads(flat, from, to);
        if !down && !leads(flat, to, from) {
            let receiver = &flat.node(to).name;
            return Err(format!("no stream leads from here to `{receiver}`, or from there to here"));
        }
        let (upstream, downstream) = if down { (from, to) } else { (to, from) };
        if let Some((one, other)) = self.dynamic_between(upstream, downstream) {
            let (one, other) = (&flat.node(one).name, &flat.node(other).name);
            return Err(format!(
                "a message with a latency needs static rates on its way, but those between `{one}` and \
                 `{other}` are dynamic"
            ));
        }
        Ok(Way { down, wavefront: Wavefront::new(&self.compiled, upstream, downstream) })
    }

    /// Two nodes on the way from one node to another with a dynamic rate between them.
    fn dynamic_between(&self, up: NodeId, down: NodeId) -> Option<(NodeId, NodeId)> {
        let flat = &self.compiled.flat;
        let (after, before) = (reached(flat, up, false), reached(flat, down, true));
        let dynamic = |(at, channel): (usize, &crate::flat::Channel)| {
            let on_way = after[channel.from.0 as usize] && before[channel.to.0 as usize];
            (on_way && flat.is_dynamic(&self.compiled.tree, ChannelId(at as u32)))
                .then_some((channel.from, channel.to))
        };
        flat.channels.iter().enumerate().find_map(dynamic)
    }

    /// Whether the program has portals that somebody hears.
    pub(super) fn has_messages(&self) -> bool {
        self.compiled.tree.portals.iter().any(|hearers| !hearers.is_empty())
    }
}

/// Whether a stream leads from one node to another, without a way back.
fn leads(flat: &Flat, from: NodeId, to: NodeId) -> bool {
    reached(flat, from, false)[to.0 as usize]
}

/// The nodes that streams lead to from one, or, against the stream, from which they lead to it; without
/// ways back.
fn reached(flat: &Flat, from: NodeId, against: bool) -> Vec<bool> {
    let mut reached = vec![false; flat.nodes.len()];
    let mut open = vec![from];
    while let Some(node) = open.pop() {
        if std::mem::replace(&mut reached[node.0 as usize], true) {
            continue;
        }
        let ports = flat.node(node);
        let channels = if against { &ports.inputs } else { &ports.outputs };
        let forward = channels.iter().map(|id| flat.channel(*id)).filter(|channel| !channel.back);
        open.extend(forward.map(|channel| if against { channel.from } else { channel.to }));
    }
    reached
}
