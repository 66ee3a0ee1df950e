//! Small choices that several policies share.

use crate::Host;
use thalweg_graph::{ChannelId, GraphData, NodeId};

/// A random number below `n`, which must not be 0.
pub(crate) fn below<S, H: Host<S>>(host: &mut H, n: usize) -> usize {
    (((host.random() >> 32) * n as u64) >> 32) as usize
}

/// The producer of a channel.
pub(crate) fn producer(graph: &GraphData, channel: ChannelId) -> NodeId {
    graph.channel(channel).from().0
}

/// The consumer of a channel.
pub(crate) fn consumer(graph: &GraphData, channel: ChannelId) -> NodeId {
    graph.channel(channel).to().0
}

/// The input channels of a node.
pub(crate) fn inputs(graph: &GraphData, node: NodeId) -> impl Iterator<Item = ChannelId> + '_ {
    graph.node(node).inputs().iter().filter_map(|port| port.channel())
}

/// The output channels of a node.
pub(crate) fn outputs(graph: &GraphData, node: NodeId) -> impl Iterator<Item = ChannelId> + '_ {
    graph.node(node).outputs().iter().filter_map(|port| port.channel())
}

/// `node` if it is claimable.
pub(crate) fn if_claimable<H: Host>(host: &H, node: NodeId) -> Option<NodeId> {
    host.claimable(node).then_some(node)
}
