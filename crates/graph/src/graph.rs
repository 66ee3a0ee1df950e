//! The graph itself: two vectors and how they refer to each other.

use crate::names::Names;
use crate::shapes::Shapes;
use crate::{Channel, ChannelId, Fault, Link, Node, NodeId, Port};

/// Nodes and the channels between them.
#[derive(Clone, Default, Debug)]
pub struct GraphData {
    nodes: Vec<Node>,
    channels: Vec<Channel>,
    names: Names,
    shapes: Shapes,
}

impl GraphData {
    /// A graph without nodes.
    pub fn new() -> GraphData {
        GraphData::default()
    }

    /// Adds a node. A name already taken gets the first free suffix `-2`, `-3`, ...
    pub fn add(&mut self, mut node: Node) -> NodeId {
        node.name = self.names.take(&node.name);
        self.shapes.share(&mut node);
        self.nodes.push(node);
        NodeId((self.nodes.len() - 1) as u32)
    }

    /// Renames a node, making the name unique as [`GraphData::add`] does.
    pub fn rename(&mut self, node: NodeId, name: &str) {
        let node = &mut self.nodes[node.index()];
        if node.name != name {
            self.names.release(&node.name);
            node.name = self.names.take(name);
        }
    }

    /// Joins an output port to an input port.
    ///
    /// # Errors
    /// Either port has a channel already, or the item types differ.
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
                gives: output.item.name,
                input: self.input_name(to),
                takes: input.item.name,
            });
        }
        let id = ChannelId(self.channels.len() as u32);
        let item = output.item;
        self.channels.push(Channel { from, to, item, link });
        self.nodes[from.0.index()].outputs[from.1].channel = Some(id);
        self.nodes[to.0.index()].inputs[to.1].channel = Some(id);
        Ok(id)
    }

    /// The nodes, by id.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// The channels, by id.
    pub fn channels(&self) -> &[Channel] {
        &self.channels
    }

    /// One node.
    pub fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id.index()]
    }

    /// One node, to change what the user says of it; its name is for [`GraphData::rename`] to change.
    pub fn node_mut(&mut self, id: NodeId) -> &mut Node {
        &mut self.nodes[id.index()]
    }

    /// One channel.
    pub fn channel(&self, id: ChannelId) -> &Channel {
        &self.channels[id.index()]
    }

    /// One channel, to change what the user says of it.
    pub fn channel_mut(&mut self, id: ChannelId) -> &mut Channel {
        &mut self.channels[id.index()]
    }

    /// All node ids.
    pub fn node_ids(&self) -> impl Iterator<Item = NodeId> + use<> {
        (0..self.nodes.len() as u32).map(NodeId)
    }

    /// All channel ids.
    pub fn channel_ids(&self) -> impl Iterator<Item = ChannelId> + use<> {
        (0..self.channels.len() as u32).map(ChannelId)
    }

    /// `node.port` of an output, for messages.
    pub fn output_name(&self, port: Port) -> String {
        let node = self.node(port.0);
        format!("{}.{}", node.name, node.outputs[port.1].name)
    }

    /// `node.port` of an input, for messages.
    pub fn input_name(&self, port: Port) -> String {
        let node = self.node(port.0);
        format!("{}.{}", node.name, node.inputs[port.1].name)
    }

    /// `a.out -> b.in` of a channel, for messages.
    pub fn channel_name(&self, id: ChannelId) -> String {
        let channel = self.channel(id);
        format!("{} -> {}", self.output_name(channel.from), self.input_name(channel.to))
    }
}
