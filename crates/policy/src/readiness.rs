//! How much a node could do now, and the node of a graph that could do most.
//!
//! The documentation of [`auto`](crate::auto) defines readiness and the order of equally ready nodes.

use crate::Host;
use crate::order::depths;
use crate::pick::{below, inputs, outputs};
use std::ops::Range;
use thalweg_graph::{ChannelId, GraphData, NodeId, Rate};

/// The highest readiness: a larger fill or more room is no better.
const MAX_READINESS: f64 = 0.5;

/// Maximum number of nodes compared with each other.
pub(crate) const WINDOW: usize = 64;

/// The rank of sources among the nodes from which a worker chooses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Sources {
    /// As their readiness says.
    Rated,
    /// Before all other nodes.
    First,
    /// After all other nodes.
    Last,
}

impl Sources {
    fn rate<S, H: Host<S>>(self, node: NodeId, host: &H) -> f64 {
        match self {
            // Of several, the one with the most room.
            Sources::First if host.graph().node(node).is_source() => 1.0 + readiness(node, host),
            Sources::Last if host.graph().node(node).is_source() => -1.0,
            _ => readiness(node, host),
        }
    }
}

/// How a worker orders nodes that are equally ready.
#[derive(Clone, Debug)]
pub(crate) struct Ranks {
    /// By node: its position in the data-flow order, sources low.
    depth: Vec<u32>,
    /// By node: whether the plan gives it to this worker. Empty if it gives none to any worker.
    planned: Vec<bool>,
}

impl Ranks {
    /// Those of a worker for which `planned` says which nodes the plan gives it.
    pub(crate) fn new(graph: &GraphData, planned: Vec<bool>) -> Ranks {
        Ranks { depth: depths(graph), planned }
    }

    /// The number of nodes.
    pub(crate) fn nodes(&self) -> usize {
        self.depth.len()
    }

    /// The position of a node in the data-flow order.
    pub(crate) fn depth(&self, node: NodeId) -> u32 {
        self.depth[node.index()]
    }

    /// The readiest claimable node of the first window, from a random one on, that contains a claimable node.
    pub(crate) fn readiest<S, H: Host<S>>(&self, sources: Sources, host: &mut H) -> Option<NodeId> {
        let nodes = self.nodes();
        let windows = nodes.div_ceil(WINDOW);
        let first = if windows > 1 { below(host, windows) } else { 0 };
        // Windows of nearly equal size: few nodes by themselves would be chosen however little they could do.
        let start = |window: usize| window * nodes / windows;
        let window = |i: usize| (first + i) % windows;
        (0..windows).find_map(|i| self.readiest_of(start(window(i))..start(window(i) + 1), sources, host))
    }

    fn readiest_of<S, H: Host<S>>(&self, window: Range<usize>, sources: Sources, host: &H) -> Option<NodeId> {
        let claimable = window.map(|i| NodeId(i as u32)).filter(|&n| host.claimable(n));
        let is_mine = |n: NodeId| self.planned.get(n.index()).copied().unwrap_or(false);
        let rated = claimable.map(|n| (sources.rate(n, host), (is_mine(n), self.depth(n)), n));
        rated.max_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1))).map(|(_, _, n)| n)
    }
}

/// How much a node could do now, from 0 to [`MAX_READINESS`].
pub(crate) fn readiness<S, H: Host<S>>(node: NodeId, host: &H) -> f64 {
    let room = 1.0 - fullest_output(node, host).map_or(0.0, |(_, fill)| fill);
    input_fill(node, host).min(room).min(MAX_READINESS)
}

/// The output of a node that is fullest, and its fill.
pub(crate) fn fullest_output<S, H: Host<S>>(node: NodeId, host: &H) -> Option<(ChannelId, f64)> {
    let fills = outputs(host.graph(), node).map(|channel| (channel, host.occupancy(channel).fill()));
    fills.max_by(|a, b| a.1.total_cmp(&b.1))
}

/// The fill of the emptiest input of static rate. An input of dynamic rate may stay empty while the others flow, so
/// dynamic inputs count, by the fullest, only where all are dynamic. 1 without inputs.
fn input_fill<S, H: Host<S>>(node: NodeId, host: &H) -> f64 {
    let graph = host.graph();
    let fill = |channel: ChannelId| host.occupancy(channel).fill();
    let ports = graph.node(node).inputs().iter().filter(|port| port.pop() != Rate::Dynamic);
    let fixed = ports.filter_map(|port| port.channel()).map(fill).min_by(f64::total_cmp);
    let any = || inputs(graph, node).map(fill).max_by(f64::total_cmp);
    fixed.or_else(any).unwrap_or(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graphs;
    use crate::mock::Mock;

    #[test]
    fn inputs_of_dynamic_rate_do_not_hold_back_the_others() {
        let mut graph = graphs::graph("sss", &[(0, 2), (1, 2)]);
        let join = NodeId(2);
        *graph.node_mut(join).inputs_mut()[1].pop_mut() = Rate::Dynamic;
        let mut host = Mock::new(graph);
        host.items = vec![40, 0];
        assert_eq!(input_fill(join, &host), 0.4);
        assert_eq!(input_fill(NodeId(0), &host), 1.0);
    }
}
