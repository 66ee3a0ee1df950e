//! Regions: the parts of a graph whose rates are static.

use crate::rates::rates;
use thalweg_graph::{ChannelId, GraphData, NodeId};

/// Nodes that are connected, whatever the direction, through channels whose two rates are static.
///
/// A node may have dynamic ports besides: they lead out of the region. A node without any static
/// channel is a region alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Region {
    /// The nodes, in order of their ids.
    pub nodes: Vec<NodeId>,
    /// The static channels among them, in order of their ids.
    pub channels: Vec<ChannelId>,
}

impl Region {
    /// Where a node stands in `nodes`.
    pub(crate) fn position(&self, node: NodeId) -> Option<usize> {
        self.nodes.binary_search(&node).ok()
    }
}

/// Divides the nodes of `graph` into regions, in order of their first nodes.
///
/// Channels to and from a node marked `merge` are not static, nor does a channel tie its ends
/// together where both rates are 0.
pub fn regions(graph: &GraphData) -> Vec<Region> {
    let mut sets = Sets::new(graph.nodes().len());
    let channels: Vec<ChannelId> = graph.channel_ids().filter(|id| rates(graph, *id).is_some()).collect();
    for &id in &channels {
        let channel = graph.channel(id);
        sets.join(channel.from.0, channel.to.0);
    }
    let mut regions: Vec<Region> = Vec::new();
    let mut region_of = vec![usize::MAX; graph.nodes().len()];
    for node in graph.node_ids() {
        let root = sets.root(node).index();
        if region_of[root] == usize::MAX {
            region_of[root] = regions.len();
            regions.push(Region { nodes: Vec::new(), channels: Vec::new() });
        }
        regions[region_of[root]].nodes.push(node);
    }
    for id in channels {
        let root = sets.root(graph.channel(id).from.0).index();
        regions[region_of[root]].channels.push(id);
    }
    regions
}

/// Disjoint sets of nodes.
struct Sets {
    parent: Vec<NodeId>,
}

impl Sets {
    fn new(count: usize) -> Sets {
        Sets { parent: (0..count as u32).map(NodeId).collect() }
    }

    /// The one node that stands for the set of `node`.
    fn root(&mut self, mut node: NodeId) -> NodeId {
        while self.parent[node.index()] != node {
            // Halving the path on the way keeps later walks short.
            let above = self.parent[node.index()];
            self.parent[node.index()] = self.parent[above.index()];
            node = self.parent[node.index()];
        }
        node
    }

    fn join(&mut self, a: NodeId, b: NodeId) {
        let (a, b) = (self.root(a), self.root(b));
        self.parent[a.max(b).index()] = a.min(b);
    }
}
