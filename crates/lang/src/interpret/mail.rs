//! Messages: when they arrive.

use super::wavefront::Wavefront;
use super::world::{Mail, World};
use crate::flat::{ChannelId, Flat, NodeId, NodeKind};
use crate::value::Value;
use std::collections::HashMap;

/// The wavefronts that messages have needed so far, by the one upstream and the one downstream.
pub(super) type Wavefronts = HashMap<(NodeId, NodeId), Wavefront>;

/// The way from one node to another.
enum Way {
    Down,
    Up,
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
        let flat = &self.compiled.flat;
        let receiver = &flat.node(to).name;
        let way = if leads(flat, from, to) {
            Way::Down
        } else if leads(flat, to, from) {
            Way::Up
        } else {
            return Err(format!("no stream leads from here to `{receiver}`, or from there to here"));
        };
        let (up, down) = if matches!(way, Way::Down) { (from, to) } else { (to, from) };
        if let Some(channel) = self.dynamic_between(up, down) {
            let (one, other) = (&flat.node(channel.0).name, &flat.node(channel.1).name);
            return Err(format!(
                "a message with a latency needs static rates on its way, but those between `{one}` and \
                 `{other}` are dynamic"
            ));
        }
        let mut wavefronts = self.wavefronts.borrow_mut();
        let wavefront =
            wavefronts.entry((up, down)).or_insert_with(|| Wavefront::new(&self.compiled, up, down));
        let sent = self.firings[from.0 as usize].get() + 1;
        let never = || format!("`{receiver}` can never fire so often");
        match way {
            Way::Down => {
                let firing = sent.saturating_add_signed(i64::from(latency));
                wavefront.first_needing(firing).ok_or_else(never)
            }
            Way::Up => {
                let firing = sent + u64::from(latency.unsigned_abs());
                let after = wavefront.wave(firing).ok_or_else(never)?;
                let fired = self.firings[to.0 as usize].get();
                if fired > after {
                    return Err(format!(
                        "this message comes too late: it should be handled after firing {after} of \
                         `{receiver}`, which has fired {fired} times; it needs a greater latency than {latency}"
                    ));
                }
                Ok(after + 1)
            }
        }
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
