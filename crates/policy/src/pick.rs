//! Small choices that several policies share.

use crate::{Event, Host, WorkerId};
use thalweg_graph::{ChannelId, GraphData, Kind, NodeId};

/// Random tries of [`reselect`] before it looks at every node.
const TRIES: usize = 8;

/// A random number below `n`, which is not 0.
pub(crate) fn below<S, H: Host<S>>(host: &mut H, n: usize) -> usize {
    (((host.random() >> 32) * n as u64) >> 32) as usize
}

/// True with probability `p`.
pub(crate) fn chance<H: Host>(host: &mut H, p: f64) -> bool {
    let unit = (host.random() >> 11) as f64 / (1u64 << 53) as f64;
    unit < p
}

/// The node that fills a channel.
pub(crate) fn producer(graph: &GraphData, channel: ChannelId) -> NodeId {
    graph.channel(channel).from.0
}

/// The node that drains a channel.
pub(crate) fn consumer(graph: &GraphData, channel: ChannelId) -> NodeId {
    graph.channel(channel).to.0
}

/// The channels a node takes from.
pub(crate) fn inputs(graph: &GraphData, node: NodeId) -> impl Iterator<Item = ChannelId> + '_ {
    graph.node(node).inputs.iter().filter_map(|port| port.channel)
}

/// The channels a node gives to.
pub(crate) fn outputs(graph: &GraphData, node: NodeId) -> impl Iterator<Item = ChannelId> + '_ {
    graph.node(node).outputs.iter().filter_map(|port| port.channel)
}

/// `node` if it is claimable.
pub(crate) fn if_claimable<H: Host>(host: &H, node: NodeId) -> Option<NodeId> {
    host.claimable(node).then_some(node)
}

/// The node that `event` points to by Algorithm 1 (section III-A2), if it points to one: the
/// producer of an empty channel, the consumer of a full one, the same kernel where the thread
/// waits. The end of a run of firings keeps the kernel (section III-A, before 1).
pub(crate) fn by_event(graph: &GraphData, node: NodeId, event: Event) -> Option<NodeId> {
    match event {
        Event::Empty(channel) => Some(producer(graph, channel)),
        Event::Full(channel) => Some(consumer(graph, channel)),
        Event::Waiting | Event::Budget => Some(node),
        Event::Done | Event::Refused => None,
    }
}

/// Randomly re-selects a claimable node (Algorithm 1, line 20).
///
/// The paper repeats until a kernel can run. Here a bounded number of random tries is followed by
/// one look at every node from a random start, so that `None` means that none was claimable.
pub(crate) fn reselect<H: Host>(host: &mut H) -> Option<NodeId> {
    let nodes = host.graph().nodes().len();
    for _ in 0..TRIES.min(nodes) {
        let pick = NodeId(below(host, nodes) as u32);
        if host.claimable(pick) {
            return Some(pick);
        }
    }
    let first = below(host, nodes);
    (0..nodes).map(|i| NodeId(((first + i) % nodes) as u32)).find(|&n| host.claimable(n))
}

/// The initial schedule (section III-A1): each worker one of the unchosen starting kernels; with
/// none left, a random parallel kernel that is not a starting one; with none at all, any node.
///
/// Unchosen is by the worker's index: worker `i` has the `i`-th starting kernel, so that nothing
/// need be shared. Nodes with a thread of their own are not for workers.
pub(crate) fn initial<H: Host>(worker: WorkerId, host: &mut H) -> NodeId {
    let graph = host.graph();
    let ours = |n: &NodeId| !graph.node(*n).blocking;
    let starts = |n: NodeId| graph.node(n).is_source() || graph.node(n).starting;
    let starting = graph.node_ids().filter(ours).filter(|&n| starts(n)).nth(worker);
    if let Some(node) = starting {
        return node;
    }
    let others = |n: &NodeId| graph.node(*n).kind == Kind::Parallel && !starts(*n);
    let parallel: Vec<NodeId> = graph.node_ids().filter(ours).filter(others).collect();
    if parallel.is_empty() {
        let nodes = graph.nodes().len();
        return NodeId(below(host, nodes) as u32);
    }
    parallel[below(host, parallel.len())]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graphs;
    use crate::mock::Mock;
    use std::collections::BTreeSet;

    #[test]
    fn workers_share_out_the_starting_kernels_then_take_parallel_ones() {
        let mut host = Mock::new(graphs::two_sources());
        assert_eq!(initial(0, &mut host), NodeId(0));
        assert_eq!(initial(1, &mut host), NodeId(1));
        let later: BTreeSet<NodeId> = (2..40).map(|w| initial(w, &mut host)).collect();
        assert!(later.iter().all(|&n| host.graph().node(n).kind == Kind::Parallel));
        assert_eq!(later.len(), 2, "both parallel nodes get chosen: {later:?}");
    }

    #[test]
    fn a_kernel_with_inputs_may_be_a_starting_one() {
        let mut graph = graphs::chain(4);
        graph.node_mut(NodeId(2)).starting = true;
        let mut host = Mock::new(graph);
        assert_eq!([0, 1].map(|worker| initial(worker, &mut host)), [NodeId(0), NodeId(2)]);
    }

    #[test]
    fn without_parallel_kernels_any_node_will_do() {
        let mut host = Mock::new(graphs::chain(4));
        let chosen: BTreeSet<NodeId> = (1..60).map(|w| initial(w, &mut host)).collect();
        assert_eq!(chosen.len(), 4);
    }

    #[test]
    fn blocking_nodes_are_not_for_workers() {
        let mut graph = graphs::chain(3);
        graph.node_mut(NodeId(0)).blocking = true;
        graph.node_mut(NodeId(1)).kind = Kind::Parallel;
        assert_eq!(initial(0, &mut Mock::new(graph)), NodeId(1));
    }

    #[test]
    fn reselection_finds_the_only_claimable_node_of_many() {
        let mut host = Mock::new(graphs::chain(200));
        for only in [0, 77, 199] {
            host.only(&[only]);
            assert_eq!(reselect(&mut host), Some(NodeId(only)));
        }
        host.only(&[]);
        assert_eq!(reselect(&mut host), None);
    }

    #[test]
    fn chance_is_what_it_says() {
        let mut host = Mock::new(graphs::chain(2));
        let hits = (0..20_000).filter(|_| chance(&mut host, 0.3)).count();
        assert!((5_700..6_300).contains(&hits), "{hits}");
        assert!(!(0..1000).any(|_| chance(&mut host, 0.0)));
        assert!((0..1000).all(|_| chance(&mut host, 1.0)));
    }
}
