//! Regions: the parts of a graph with static rates.

use crate::rates::rates;
use thalweg_graph::{ChannelId, GraphData, NodeId};

/// A set of nodes connected, in either direction, by channels with static rates at both ends.
///
/// Ports of a node with dynamic rates lead out of its region. A node without static channels is a region of its
/// own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Region {
    /// The nodes, in order of their ids.
    pub nodes: Vec<NodeId>,
    /// The static channels among them, in order of their ids.
    pub channels: Vec<ChannelId>,
}

impl Region {
    /// The index of a node in `nodes`.
    pub(crate) fn position(&self, node: NodeId) -> Option<usize> {
        self.nodes.binary_search(&node).ok()
    }
}

/// Partitions the nodes of `graph` into regions, in order of their first nodes.
///
/// Channels to and from a node marked `merge` count as dynamic. A channel with a push rate and a pop rate of 0
/// does not connect its ends.
pub fn regions(graph: &GraphData) -> Vec<Region> {
    regions_through(graph, |_| true)
}

/// The regions of the subgraph with only the channels for which `counts` returns true, in order of their first nodes.
///
/// A plan uses it to look for regions inside a set of nodes: it counts only the channels between them.
pub fn regions_through(graph: &GraphData, counts: impl Fn(ChannelId) -> bool) -> Vec<Region> {
    let mut sets = Sets::new(graph.nodes().len());
    let is_static = |id: &ChannelId| counts(*id) && rates(graph, *id).is_some();
    let channels: Vec<ChannelId> = graph.channel_ids().filter(is_static).collect();
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

/// Disjoint sets of nodes (union-find).
struct Sets {
    parent: Vec<NodeId>,
}

impl Sets {
    fn new(count: usize) -> Sets {
        Sets { parent: (0..count as u32).map(NodeId).collect() }
    }

    /// The representative of the set of `node`.
    fn root(&mut self, mut node: NodeId) -> NodeId {
        while self.parent[node.index()] != node {
            // Path halving keeps later walks short.
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
