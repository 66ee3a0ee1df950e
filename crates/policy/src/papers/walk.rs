//! The choices of Algorithm 1 of the DANBI paper that [`qes`](super::qes), [`pss`](super::pss) and [`prs`](super::prs) share.

use crate::pick::{below, consumer, producer};
use crate::{Event, Host, WorkerId};
use thalweg_graph::{GraphData, Kind, NodeId};

/// Random tries of [`reselect`] before it examines every node.
const TRIES: usize = 8;

/// True with probability `p`.
pub(crate) fn chance<H: Host>(host: &mut H, p: f64) -> bool {
    let unit = (host.random() >> 11) as f64 / (1u64 << 53) as f64;
    unit < p
}

/// The node that Algorithm 1 (section III-A2) chooses after `event`, if it chooses one: the producer of an empty
/// channel, the consumer of a full one, the same kernel where the thread waits. The end of a run of firings keeps
/// the kernel (section III-A, before 1). A refused claim of a parallel kernel is a wait for a ticket; one of a
/// sequential kernel means that the kernel has a running thread elsewhere.
pub(crate) fn by_event(graph: &GraphData, node: NodeId, event: Event) -> Option<NodeId> {
    match event {
        Event::Empty(channel) => Some(producer(graph, channel)),
        Event::Full(channel) => Some(consumer(graph, channel)),
        Event::Waiting | Event::Budget => Some(node),
        Event::Refused => (graph.node(node).kind() == Kind::Parallel).then_some(node),
        Event::Done => None,
    }
}

/// Marks of the nodes that a walk has passed. Made once, so that a decision allocates nothing.
#[derive(Clone, Debug)]
pub(crate) struct Walk {
    /// By node: the number of the latest walk that has passed it; 0 for none.
    passed: Vec<u64>,
    walks: u64,
}

impl Walk {
    pub(crate) fn new(graph: &GraphData) -> Walk {
        Walk { passed: vec![0; graph.nodes().len()], walks: 0 }
    }

    /// The first claimable node of the walk from `node` on (Algorithm 1, lines 11 to 22, for threads that block again).
    ///
    /// In the paper a new thread of a kernel that lacks items or room runs, meets the queue event, and is deleted; the
    /// event then chooses the next kernel. Here the worker follows what each node lacks, without activating it. The
    /// walk passes a node at most once. `None` if it comes to a node that lacks nothing that a neighbour brings (the
    /// node is held by another worker, waits for its tickets, or has ended), or to one that it has passed.
    pub(crate) fn claimable_from<H: Host>(&mut self, node: NodeId, host: &H) -> Option<NodeId> {
        self.walks += 1;
        let mut node = node;
        while !host.claimable(node) {
            let passed = &mut self.passed[node.index()];
            if std::mem::replace(passed, self.walks) == self.walks {
                return None;
            }
            node = by_event(host.graph(), node, host.lack(node)?)?;
        }
        Some(node)
    }
}

/// Randomly re-selects a claimable node (Algorithm 1, line 20).
///
/// The paper repeats until a kernel can run. Here a bounded number of random tries precedes one scan of all nodes
/// from a random start, so `None` means that no node was claimable.
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

/// The initial schedule (section III-A1): each worker gets a starting kernel that no other worker got; if none is
/// left, a random parallel kernel that is not a starting one; without parallel kernels, a random node.
///
/// Worker `i` gets the `i`-th starting kernel, so the workers need no shared state. Nodes with a thread of their own
/// are left out.
pub(crate) fn initial<H: Host>(worker: WorkerId, host: &mut H) -> NodeId {
    let graph = host.graph();
    let for_workers = |n: &NodeId| !graph.node(*n).blocking();
    let starts = |n: NodeId| graph.node(n).is_source() || graph.node(n).starting();
    let starting = graph.node_ids().filter(for_workers).filter(|&n| starts(n)).nth(worker);
    if let Some(node) = starting {
        return node;
    }
    let others = |n: &NodeId| graph.node(*n).kind() == Kind::Parallel && !starts(*n);
    let parallel: Vec<NodeId> = graph.node_ids().filter(for_workers).filter(others).collect();
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
    use thalweg_graph::ChannelId;

    #[test]
    fn workers_get_the_starting_kernels_then_parallel_ones() {
        let mut host = Mock::new(graphs::two_sources());
        assert_eq!(initial(0, &mut host), NodeId(0));
        assert_eq!(initial(1, &mut host), NodeId(1));
        let later: BTreeSet<NodeId> = (2..40).map(|w| initial(w, &mut host)).collect();
        assert!(later.iter().all(|&n| host.graph().node(n).kind() == Kind::Parallel));
        assert_eq!(later.len(), 2, "both parallel nodes are chosen: {later:?}");
    }

    #[test]
    fn a_kernel_with_inputs_may_be_a_starting_one() {
        let mut graph = graphs::chain(4);
        *graph.node_mut(NodeId(2)).starting_mut() = true;
        let mut host = Mock::new(graph);
        assert_eq!([0, 1].map(|worker| initial(worker, &mut host)), [NodeId(0), NodeId(2)]);
    }

    #[test]
    fn without_parallel_kernels_any_node_is_chosen() {
        let mut host = Mock::new(graphs::chain(4));
        let chosen: BTreeSet<NodeId> = (1..60).map(|w| initial(w, &mut host)).collect();
        assert_eq!(chosen.len(), 4);
    }

    #[test]
    fn blocking_nodes_are_left_out() {
        let mut graph = graphs::chain(3);
        *graph.node_mut(NodeId(0)).blocking_mut() = true;
        *graph.node_mut(NodeId(1)).kind_mut() = Kind::Parallel;
        assert_eq!(initial(0, &mut Mock::new(graph)), NodeId(1));
    }

    /// Where a walk from a node ends, in a mock whose nodes lack these.
    fn walk(host: &mut Mock, from: u32, claimable: &[u32], lacks: &[(u32, Event)]) -> Option<u32> {
        host.only(claimable);
        host.lacks.fill(None);
        for &(node, event) in lacks {
            host.lacks[node as usize] = Some(event);
        }
        let mut walk = Walk::new(host.graph());
        let found = walk.claimable_from(NodeId(from), host).map(|node| node.0);
        assert_eq!(
            walk.claimable_from(NodeId(from), host).map(|node| node.0),
            found,
            "marks of an earlier walk"
        );
        found
    }

    fn empty(channel: u32) -> Event {
        Event::Empty(ChannelId(channel))
    }

    fn full(channel: u32) -> Event {
        Event::Full(ChannelId(channel))
    }

    #[test]
    fn a_walk_follows_lacks_to_a_claimable_node() {
        let mut host = Mock::new(graphs::graph("spppps", &[(0, 1), (1, 2), (2, 3), (3, 4), (4, 5)]));
        assert_eq!(walk(&mut host, 3, &[3, 0], &[(3, empty(2))]), Some(3), "claimable itself");
        assert_eq!(walk(&mut host, 3, &[0, 5], &[(3, empty(2)), (2, empty(1)), (1, empty(0))]), Some(0));
        assert_eq!(walk(&mut host, 2, &[0, 5], &[(2, full(2)), (3, full(3)), (4, full(4))]), Some(5));
        assert_eq!(
            walk(&mut host, 3, &[5], &[(3, empty(2)), (2, empty(1)), (1, empty(0))]),
            None,
            "0 is held"
        );
    }

    #[test]
    fn a_walk_ends_where_it_has_been() {
        let mut farm = Mock::new(graphs::farm());
        assert_eq!(walk(&mut farm, 1, &[2], &[(1, empty(0)), (0, full(0))]), None);
        let mut ring = Mock::new(graphs::graph("ppp", &[(0, 1), (1, 2), (2, 0)]));
        let lacks = [(0, empty(2)), (1, empty(0)), (2, empty(1))];
        assert_eq!(walk(&mut ring, 1, &[], &lacks), None);
        assert_eq!(walk(&mut ring, 1, &[2], &lacks), Some(2));
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
    fn chance_has_the_given_probability() {
        let mut host = Mock::new(graphs::chain(2));
        let hits = (0..20_000).filter(|_| chance(&mut host, 0.3)).count();
        assert!((5_700..6_300).contains(&hits), "{hits}");
        assert!(!(0..1000).any(|_| chance(&mut host, 0.0)));
        assert!((0..1000).all(|_| chance(&mut host, 1.0)));
    }
}
