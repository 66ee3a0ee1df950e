//! Letters on their way, and when they arrive.

use super::wavefront::Wavefront;
use crate::Compiled;
use crate::flat::{ChannelId, Flat, NodeId, NodeKind};
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;

/// The way of messages from one node to another.
struct Way {
    /// Whether the receiver is the one downstream.
    down: bool,
    wavefront: Wavefront<Arc<Compiled>>,
}

/// A message that is to be handled before a firing, counted from 1.
#[derive(Clone, PartialEq, Debug)]
pub struct Letter<A> {
    /// Before which.
    pub before: u64,
    /// By which of its filter's handlers.
    pub handler: u32,
    /// What it is given.
    pub args: A,
}

/// A message that is being sent.
#[derive(Clone, PartialEq, Debug)]
pub struct Sent<A> {
    /// By whom.
    pub from: NodeId,
    /// In which firing, counted from 1.
    pub firing: u64,
    /// To all who hear this.
    pub portal: u32,
    /// For which of their handlers.
    pub handler: u32,
    /// None where it is handled whenever it can be.
    pub latency: Option<i32>,
    /// What the handler is given.
    pub args: A,
}

/// The letters of a run, with arguments in whatever form it keeps them.
pub struct Post<A> {
    compiled: Arc<Compiled>,
    /// The nodes that hear each portal.
    hearers: Vec<Vec<NodeId>>,
    /// Letters that have not been handled, by node, in the order they were sent in.
    boxes: Vec<Vec<Letter<A>>>,
    /// The ways that messages have gone so far, by sender and receiver.
    ways: HashMap<(NodeId, NodeId), Way>,
}

impl<A: Clone> Post<A> {
    /// Before anything is sent.
    pub fn new(compiled: &Arc<Compiled>) -> Post<A> {
        let flat = &compiled.flat;
        Post {
            hearers: hearers(compiled),
            boxes: flat.nodes.iter().map(|_| Vec::new()).collect(),
            ways: HashMap::new(),
            compiled: compiled.clone(),
        }
    }

    /// Sends a message to all who hear its portal, where nodes have fired so often.
    ///
    /// # Errors
    /// It cannot arrive when it should.
    pub fn send(&mut self, sent: Sent<A>, fired: &dyn Fn(NodeId) -> u64) -> Result<(), String> {
        for at in 0..self.hearers[sent.portal as usize].len() {
            let to = self.hearers[sent.portal as usize][at];
            let before = match sent.latency {
                None => 0,
                Some(latency) => self.arrival((sent.from, sent.firing), to, latency, fired)?,
            };
            let letter = Letter { before, handler: sent.handler, args: sent.args.clone() };
            self.boxes[to.0 as usize].push(letter);
        }
        Ok(())
    }

    /// The nodes that hear a portal.
    pub fn hearers(&self, portal: u32) -> &[NodeId] {
        &self.hearers[portal as usize]
    }

    /// Takes the letters that are to be handled before a firing.
    pub fn arrived(&mut self, node: NodeId, firing: u64) -> Vec<Letter<A>> {
        let letters = &mut self.boxes[node.0 as usize];
        if letters.is_empty() {
            return Vec::new();
        }
        let (now, later) = letters.drain(..).partition(|letter| letter.before <= firing);
        *letters = later;
        now
    }

    /// The firing before which a node's next letter is to be handled.
    pub fn due(&self, node: NodeId) -> Option<u64> {
        self.boxes[node.0 as usize].iter().map(|letter| letter.before).min()
    }

    /// The firing of the receiver, counted from 1, before which a message is handled that the sender
    /// sends in this firing.
    fn arrival(
        &mut self,
        (from, sent): (NodeId, u64),
        to: NodeId,
        latency: i32,
        fired: &dyn Fn(NodeId) -> u64,
    ) -> Result<u64, String> {
        let Way { down, wavefront } = match self.ways.entry((from, to)) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(new) => new.insert(way(&self.compiled, from, to)?),
        };
        let receiver = &self.compiled.flat.node(to).name;
        let never = || format!("`{receiver}` can never fire so often");
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

/// The nodes that hear each portal.
pub fn hearers(compiled: &Compiled) -> Vec<Vec<NodeId>> {
    let nodes = compiled.flat.nodes.iter().enumerate();
    let of = nodes.filter_map(|(at, node)| match node.kind {
        NodeKind::Filter(id) => Some((id, NodeId(at as u32))),
        NodeKind::Split(_) | NodeKind::Join(_) => None,
    });
    let of: HashMap<_, _> = of.collect();
    let nodes = |filters: &Vec<crate::tree::FilterId>| filters.iter().map(|filter| of[filter]).collect();
    compiled.tree.portals.iter().map(nodes).collect()
}

/// Whether messages from one node to another, both of which are there, go down the stream; or why there is no
/// way for them.
///
/// # Errors
/// No stream leads from one to the other, or one whose rates are dynamic does.
pub fn is_down(compiled: &Compiled, from: NodeId, to: NodeId) -> Result<bool, String> {
    let flat = &compiled.flat;
    let down = has_way(flat, from, to)?;
    let (upstream, downstream) = if down { (from, to) } else { (to, from) };
    if let Some((one, other)) = dynamic_between(compiled, upstream, downstream) {
        let (one, other) = (&flat.node(one).name, &flat.node(other).name);
        return Err(format!(
            "a message with a latency needs static rates on its way, but those between `{one}` and \
             `{other}` are dynamic"
        ));
    }
    Ok(down)
}

/// Whether a stream leads from one node to another, and not the other way round.
///
/// # Errors
/// None does in either direction.
fn has_way(flat: &Flat, from: NodeId, to: NodeId) -> Result<bool, String> {
    let down = leads(flat, from, to);
    if !down && !leads(flat, to, from) {
        let receiver = &flat.node(to).name;
        return Err(format!("no stream leads from here to `{receiver}`, or from there to here"));
    }
    Ok(down)
}

fn way(compiled: &Arc<Compiled>, from: NodeId, to: NodeId) -> Result<Way, String> {
    let down = is_down(compiled, from, to)?;
    let (upstream, downstream) = if down { (from, to) } else { (to, from) };
    Ok(Way { down, wavefront: Wavefront::new(compiled.clone(), upstream, downstream) })
}

/// Two nodes on the way from one node to another with a dynamic rate between them.
fn dynamic_between(compiled: &Compiled, up: NodeId, down: NodeId) -> Option<(NodeId, NodeId)> {
    let flat = &compiled.flat;
    let (after, before) = (reached(flat, up, false), reached(flat, down, true));
    let dynamic = |(at, channel): (usize, &crate::flat::Channel)| {
        let on_way = after[channel.from.0 as usize] && before[channel.to.0 as usize];
        (on_way && flat.is_dynamic(&compiled.tree, ChannelId(at as u32)))
            .then_some((channel.from, channel.to))
    };
    flat.channels.iter().enumerate().find_map(dynamic)
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
