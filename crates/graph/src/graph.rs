//! The graph itself: a vector of nodes and a vector of channels, which refer to each other by id.

use crate::details::Details;
use crate::names::Names;
use crate::shapes::Shapes;
use crate::{Channel, ChannelId, Fault, Footprint, Link, Messages, Node, NodeId, Port, Router, Span};
use std::time::Duration;

/// Nodes and the channels between them.
#[derive(Clone, Default, Debug)]
pub struct GraphData {
    nodes: Vec<Node>,
    channels: Vec<Channel>,
    names: Names,
    shapes: Shapes,
    details: Details,
}

impl PartialEq for GraphData {
    /// Whether the nodes with their details and the channels are equal, with their ids. The index of names and the
    /// sharing of shapes depend on how a graph was made, and count for nothing.
    fn eq(&self, other: &GraphData) -> bool {
        self.nodes == other.nodes && self.channels == other.channels && self.details == other.details
    }
}

impl Eq for GraphData {}

impl GraphData {
    /// A graph without nodes.
    pub fn new() -> GraphData {
        GraphData::default()
    }

    /// Adds a node. A name that is already in use gets the first free suffix `-2`, `-3`, ...
    pub fn add(&mut self, mut node: Node) -> NodeId {
        node.name = self.names.take(std::mem::take(&mut node.name));
        self.shapes.share(&mut node);
        self.nodes.push(node);
        NodeId((self.nodes.len() - 1) as u32)
    }

    /// Renames a node, with a suffix where [`GraphData::add`] would add one.
    pub fn rename(&mut self, node: NodeId, name: &str) {
        let node = &mut self.nodes[node.index()];
        if node.name != name {
            self.names.release(&node.name);
            node.name = self.names.take(name.into());
        }
    }

    /// Connects an output port to an input port.
    ///
    /// # Errors
    /// One of the ports already has a channel, or the item types differ.
    pub fn connect(&mut self, from: Port, to: Port, link: Link) -> Result<ChannelId, Fault> {
        let output = &self.nodes[from.0.index()].outputs[from.1];
        let input = &self.nodes[to.0.index()].inputs[to.1];
        if output.channel.is_some() {
            return Err(Fault::SecondConsumer { output: self.output_name(from) });
        }
        if input.channel.is_some() {
            return Err(Fault::SecondProducer { input: self.input_name(to) });
        }
        if output.item != input.item {
            return Err(Fault::Types {
                output: self.output_name(from),
                pushes: output.item.name,
                input: self.input_name(to),
                pops: input.item.name,
            });
        }
        let id = ChannelId(self.channels.len() as u32);
        let item = output.item;
        self.channels.push(Channel { from, to, item, link });
        self.nodes[from.0.index()].outputs[from.1].channel = Some(id);
        self.nodes[to.0.index()].inputs[to.1].channel = Some(id);
        Ok(id)
    }

    /// Removes all channels and returns them, in the order of their ids. The nodes' ports are unconnected then.
    pub fn disconnect(&mut self) -> Vec<Channel> {
        let channels = std::mem::take(&mut self.channels);
        for channel in &channels {
            self.nodes[channel.from.0.index()].outputs[channel.from.1].channel = None;
            self.nodes[channel.to.0.index()].inputs[channel.to.1].channel = None;
        }
        channels
    }

    /// All nodes, indexed by id.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// All channels, indexed by id.
    pub fn channels(&self) -> &[Channel] {
        &self.channels
    }

    /// The node with this id.
    pub fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id.index()]
    }

    /// The node with this id, to change its settings. Use [`GraphData::rename`] to change its name.
    pub fn node_mut(&mut self, id: NodeId) -> &mut Node {
        &mut self.nodes[id.index()]
    }

    /// The channel with this id.
    pub fn channel(&self, id: ChannelId) -> &Channel {
        &self.channels[id.index()]
    }

    /// The channel with this id, to change its settings.
    pub fn channel_mut(&mut self, id: ChannelId) -> &mut Channel {
        &mut self.channels[id.index()]
    }

    /// The place of a node in a source text, if it has one.
    pub fn span(&self, node: NodeId) -> Option<Span> {
        self.details.spans.get(node).copied()
    }

    /// Sets the place of a node in a source text.
    pub fn set_span(&mut self, node: NodeId, span: Span) {
        self.details.spans.set(node, span);
    }

    /// How a node moves items, if it is a splitter or joiner.
    pub fn router(&self, node: NodeId) -> Option<&Router> {
        self.details.routers.get(node)
    }

    /// Makes a node, which has the ports and rates of [`Router::node`], a splitter or joiner.
    pub fn set_router(&mut self, node: NodeId, router: Router) {
        self.details.routers.set(node, router);
    }

    /// Whether the first firing of a node differs from all others (StreamIt's `prework`): a port says so, or the node
    /// itself.
    pub fn has_prework(&self, node: NodeId) -> bool {
        let Node { inputs, outputs, .. } = self.node(node);
        inputs.iter().any(|port| port.first.is_some())
            || outputs.iter().any(|port| port.first.is_some())
            || self.is_set_prework(node)
    }

    /// Whether [`GraphData::set_prework`] was called for a node.
    pub fn is_set_prework(&self, node: NodeId) -> bool {
        self.details.preworks.get(node).is_some()
    }

    /// Records that the first firing of a node differs. A node without ports has no other place for that.
    pub fn set_prework(&mut self, node: NodeId) {
        self.details.preworks.set(node, ());
    }

    /// The memory that a node's firings use again and again, as far as it is known.
    pub fn footprint(&self, node: NodeId) -> Footprint {
        self.details.footprints.get(node).copied().unwrap_or_default()
    }

    /// Sets what is known of the memory that a node's firings use.
    pub fn set_footprint(&mut self, node: NodeId, footprint: Footprint) {
        self.details.footprints.set(node, footprint);
    }

    /// The time of a firing that the user has declared, for plans of a graph that never ran.
    pub fn declared_time(&self, node: NodeId) -> Option<Duration> {
        self.details.times.get(node).copied()
    }

    /// Declares the time of a firing.
    pub fn declare_time(&mut self, node: NodeId, time: Duration) {
        self.details.times.set(node, time);
    }

    /// The pairs of nodes that send each other messages, past the channels.
    pub fn messages(&self) -> &[Messages] {
        &self.details.messages
    }

    /// Records that a node sends messages to another.
    pub fn add_messages(&mut self, messages: Messages) {
        self.details.messages.push(messages);
    }

    /// All node ids.
    pub fn node_ids(&self) -> impl Iterator<Item = NodeId> + Clone + use<> {
        (0..self.nodes.len() as u32).map(NodeId)
    }

    /// All channel ids.
    pub fn channel_ids(&self) -> impl Iterator<Item = ChannelId> + Clone + use<> {
        (0..self.channels.len() as u32).map(ChannelId)
    }

    /// The name of an output in messages: `node.port`.
    pub fn output_name(&self, port: Port) -> String {
        let node = self.node(port.0);
        format!("{}.{}", node.name, node.outputs[port.1].name)
    }

    /// The name of an input in messages: `node.port`.
    pub fn input_name(&self, port: Port) -> String {
        let node = self.node(port.0);
        format!("{}.{}", node.name, node.inputs[port.1].name)
    }

    /// The name of a channel in messages: `a.out -> b.in`.
    pub fn channel_name(&self, id: ChannelId) -> String {
        let channel = self.channel(id);
        format!("{} -> {}", self.output_name(channel.from), self.input_name(channel.to))
    }
}
