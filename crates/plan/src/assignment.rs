//! The workers that run each node under a policy that moves no node: [`Plan::assignment`].

use crate::Plan;
use crate::workers::Workers;
use thalweg_analysis::topological_order;
use thalweg_graph::{GraphData, NodeId, data};

/// The entry of a node that no worker runs.
const NONE: u32 = u32::MAX;

data! {
    /// Nodes that the same workers run: a segment, a part of one, or a single node.
    #[derive(Clone, PartialEq, Eq, Debug)]
    pub struct Part {
        /// The nodes, at least one.
        view nodes: Vec<NodeId> => &[NodeId];
        /// The workers, at least one. Several run the same node at the same time: then the part is one parallel node.
        view workers: Vec<u32> => &[u32];
    }
}

/// The parts of a graph, and the workers of each: made by [`Plan::assignment`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Assignment {
    parts: Vec<Part>,
    /// By node: its part, or [`NONE`].
    of: Vec<u32>,
}

impl Assignment {
    /// All parts. Each node that workers run is in one of them.
    pub fn parts(&self) -> &[Part] {
        &self.parts
    }

    /// The index of a node's part. `None` for a node with a thread of its own.
    pub fn part_of(&self, node: NodeId) -> Option<usize> {
        self.of.get(node.index()).filter(|part| **part != NONE).map(|part| *part as usize)
    }

    /// The workers that run a node. None for a node with a thread of its own.
    pub fn workers_of(&self, node: NodeId) -> &[u32] {
        self.part_of(node).map_or(&[], |part| self.parts[part].workers())
    }
}

impl Plan {
    /// The workers that run each node, where no worker runs another one's nodes. Of a plan that [`Plan::check`] accepts, each
    /// node without a thread of its own has a worker:
    ///
    /// 1. A parallel node with a list of workers ([`Plan::pools`]) has these. It is a part by itself, unless the list is the one
    ///    worker of its segment.
    /// 2. The other nodes of a segment, or of a region outside of all segments, have one worker: that of [`Plan::workers`].
    ///    If all of them are parallel, it is the worker of the first one whose list has one worker, or else the one whose number is
    ///    that of the segment or region, in turn.
    /// 3. A node in neither has the worker of [`Plan::affinity`]. Those without are dealt, in topological order, in runs of
    ///    consecutive nodes. Each is a part by itself.
    ///
    /// Takes time in proportion to the graph.
    ///
    /// ```
    /// use thalweg_graph::{GraphData, Node};
    /// use thalweg_plan::{Plan, Wishes};
    ///
    /// let mut graph = GraphData::new();
    /// let [a, b, c] = ["a", "b", "c"].map(|name| graph.add(Node::parallel(name)));
    /// let mut plan = Plan::new(&graph, &Wishes::default().threads(3));
    /// *plan.segments_mut() = vec![vec![a, b]];
    /// plan.pools_mut().insert(b, vec![1, 2]);
    /// let assignment = plan.assignment(&graph);
    /// assert_eq!([a, b, c].map(|node| assignment.workers_of(node)), [&[0][..], &[1, 2], &[0]]);
    /// ```
    pub fn assignment(&self, graph: &GraphData) -> Assignment {
        let of = vec![NONE; graph.nodes().len()];
        let made = Assignment { parts: Vec::new(), of };
        let mut maker = Maker { plan: self, graph, workers: self.workers(graph), made };
        for sets in [&self.segments, &self.regions] {
            for (i, set) in sets.iter().enumerate() {
                maker.add_set(i, set);
            }
        }
        maker.deal_rest();
        maker.made
    }

    /// The length of a worker's claims of a parallel node that has [`Plan::shares`], where the longest may have `length` firings: in
    /// proportion to the worker's share, so that workers that claim equally often take parts of the items as the shares say. The
    /// worker with the largest share has all of `length`, and each at least one firing. Without shares all have `length`.
    ///
    /// ```
    /// use thalweg_graph::{GraphData, Node};
    /// use thalweg_plan::{Plan, Wishes};
    ///
    /// let mut graph = GraphData::new();
    /// let node = graph.add(Node::parallel("node"));
    /// let mut plan = Plan::new(&graph, &Wishes::default().threads(3));
    /// plan.pools_mut().insert(node, vec![2, 0]);
    /// plan.shares_mut().insert(node, vec![1, 3]);
    /// assert_eq!([0, 2].map(|worker| plan.claim_for(node, worker, 60)), [60, 20]);
    /// ```
    pub fn claim_for(&self, node: NodeId, worker: usize, length: usize) -> usize {
        let at = || self.pools.get(&node)?.iter().position(|listed| *listed as usize == worker);
        match self.shares.get(&node) {
            Some(shares) => at().map_or(length, |at| part_of_claim(length, shares, at)),
            None => length,
        }
    }

    /// The length of the longest claim of a parallel node that has [`Plan::shares`], where firings take so long that a claim should have
    /// `length` of them: as many as let the least share have one, up to 16 times `length` and up to [`Plan::claim_lengths`].
    ///
    /// ```
    /// use thalweg_graph::{GraphData, Node};
    /// use thalweg_plan::{Plan, Wishes};
    ///
    /// let mut graph = GraphData::new();
    /// let node = graph.add(Node::parallel("node"));
    /// let mut plan = Plan::new(&graph, &Wishes::default().threads(3));
    /// plan.pools_mut().insert(node, vec![2, 0]);
    /// plan.shares_mut().insert(node, vec![1, 3]);
    /// plan.claim_lengths_mut()[0] = 64;
    /// assert_eq!([1, 2, 60].map(|length| plan.longest_claim(node, length)), [3, 3, 60]);
    /// ```
    pub fn longest_claim(&self, node: NodeId, length: usize) -> usize {
        let Some(shares) = self.shares.get(&node) else { return length };
        let least = shares.iter().min().copied().unwrap_or(1).max(1);
        let wanted = shares.iter().max().copied().unwrap_or(1).div_ceil(least) as usize;
        let planned = self.claim_lengths.get(node.index()).copied().unwrap_or(length);
        length.max(wanted.min(length.saturating_mul(MAX_CLAIM_GROWTH)).min(planned))
    }
}

/// How many times as long claims may become, so that the least share has one firing.
const MAX_CLAIM_GROWTH: usize = 16;

/// The part of `length` firings for the replica at this place of the list of shares, rounded to the nearest.
fn part_of_claim(length: usize, shares: &[u32], at: usize) -> usize {
    let (Some(own), Some(most)) = (shares.get(at), shares.iter().max()) else { return length };
    let most = u128::from((*most).max(1));
    let part = (length as u128 * u128::from(*own) + most / 2) / most;
    usize::try_from(part).unwrap_or(length).max(1)
}

/// An assignment that is being made.
struct Maker<'a> {
    plan: &'a Plan,
    graph: &'a GraphData,
    workers: Workers,
    made: Assignment,
}

impl Maker<'_> {
    /// Whether workers run the node, and no part has it yet.
    fn is_left(&self, node: NodeId) -> bool {
        let has_thread = self.plan.own_threads.contains(&node) || self.graph.node(node).blocking();
        !has_thread && self.made.part_of(node).is_none()
    }

    fn add(&mut self, nodes: Vec<NodeId>, workers: Vec<u32>) {
        let part = self.made.parts.len() as u32;
        nodes.iter().for_each(|node| self.made.of[node.index()] = part);
        self.made.parts.push(Part { nodes, workers });
    }

    /// Adds the nodes of a segment or region, of this number.
    fn add_set(&mut self, number: usize, set: &[NodeId]) {
        let left = set.iter().copied().filter(|node| self.is_left(*node));
        let left: Vec<NodeId> = left.collect();
        let worker = self.worker_of_set(number, &left);
        let has_others = |node: &NodeId| self.plan.pools.get(node).is_some_and(|listed| *listed != [worker]);
        let (listed, together): (Vec<_>, Vec<_>) = left.into_iter().partition(has_others);
        if !together.is_empty() {
            self.add(together, vec![worker]);
        }
        for node in listed {
            self.add(vec![node], self.plan.pools[&node].clone());
        }
    }

    fn worker_of_set(&self, number: usize, nodes: &[NodeId]) -> u32 {
        let planned = nodes.iter().find_map(|node| self.workers.of(*node));
        let single = |node: &NodeId| match self.plan.pools.get(node).map(Vec::as_slice) {
            Some([worker]) => Some(*worker),
            _ => None,
        };
        let in_turn = || (number % self.plan.threads.max(1)) as u32;
        planned.map(|worker| worker as u32).or_else(|| nodes.iter().find_map(single)).unwrap_or_else(in_turn)
    }

    /// Adds the nodes of no segment and no region.
    fn deal_rest(&mut self) {
        let left = topological_order(self.graph).into_iter().filter(|node| self.is_left(*node));
        let left: Vec<NodeId> = left.collect();
        let count = left.len();
        for (at, node) in left.into_iter().enumerate() {
            let dealt = at * self.plan.threads.max(1) / count;
            let one = || vec![self.workers.of(node).unwrap_or(dealt) as u32];
            let workers = self.plan.pools.get(&node).cloned().unwrap_or_else(one);
            self.add(vec![node], workers);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Wishes;
    use thalweg_graph::Node;

    /// The plan of a graph of sequential (`s`), parallel (`p`) and blocking (`b`) nodes without channels, for four workers.
    fn plan(kinds: &str) -> (GraphData, Plan) {
        let mut graph = GraphData::new();
        for (i, kind) in kinds.chars().enumerate() {
            let name = format!("node{i}");
            let mut node = if kind == 'p' { Node::parallel(name) } else { Node::sequential(name) };
            *node.blocking_mut() = kind == 'b';
            graph.add(node);
        }
        let plan = Plan::new(&graph, &Wishes::default().threads(4));
        (graph, plan)
    }

    fn ids(nodes: &[u32]) -> Vec<NodeId> {
        nodes.iter().map(|node| NodeId(*node)).collect()
    }

    /// By node: its workers, after [`Plan::check`] has accepted the plan.
    fn workers(graph: &GraphData, plan: &Plan) -> Vec<Vec<u32>> {
        plan.check(graph).unwrap();
        let assignment = plan.assignment(graph);
        for part in assignment.parts() {
            assert!(!part.workers().is_empty() && !part.nodes().is_empty());
            assert!(part.workers().len() == 1 || part.nodes().len() == 1);
        }
        graph.node_ids().map(|node| assignment.workers_of(node).to_vec()).collect()
    }

    #[test]
    fn nodes_of_no_segment_are_dealt_in_runs() {
        let (graph, mut plan) = plan("sspsspss");
        assert_eq!(workers(&graph, &plan).concat().len(), 8);
        let mut counts = [0; 4];
        workers(&graph, &plan).concat().iter().for_each(|worker| counts[*worker as usize] += 1);
        assert_eq!(counts, [2; 4]);
        plan.affinity_mut().insert(NodeId(0), 3);
        assert_eq!(workers(&graph, &plan)[0], [3]);
    }

    #[test]
    fn nodes_with_threads_of_their_own_have_no_worker() {
        let (graph, mut plan) = plan("bss");
        plan.own_threads_mut().insert(NodeId(2));
        assert_eq!(workers(&graph, &plan), [vec![], vec![0], vec![]]);
    }

    #[test]
    fn a_segment_has_one_worker_and_its_replicas_have_theirs() {
        let (graph, mut plan) = plan("spppsp");
        *plan.segments_mut() = vec![ids(&[5]), ids(&[0, 1, 2, 3, 4])];
        plan.affinity_mut().insert(NodeId(4), 2);
        plan.pools_mut().extend([(NodeId(1), vec![3, 0]), (NodeId(2), vec![2]), (NodeId(3), vec![1])]);
        let expected = [vec![2], vec![3, 0], vec![2], vec![1], vec![2], vec![0]];
        assert_eq!(workers(&graph, &plan), expected);
        let assignment = plan.assignment(&graph);
        let sizes: Vec<usize> = assignment.parts().iter().map(|part| part.nodes().len()).collect();
        assert_eq!(sizes, [1, 3, 1, 1]);
    }

    #[test]
    fn a_segment_of_parallel_nodes_has_the_worker_of_a_list_or_of_its_turn() {
        let (graph, mut plan) = plan("ppppss");
        *plan.segments_mut() = vec![ids(&[0, 1]), ids(&[2, 3])];
        *plan.regions_mut() = Vec::new();
        plan.pools_mut().insert(NodeId(1), vec![3]);
        assert_eq!(workers(&graph, &plan)[..4], [[3], [3], [1], [1]]);
    }

    #[test]
    fn the_longest_claim_lets_the_least_share_have_a_firing() {
        let (_, mut plan) = plan("p");
        let node = NodeId(0);
        plan.claim_lengths_mut()[0] = 512;
        assert_eq!(plan.longest_claim(node, 1), 1, "no shares");
        plan.shares_mut().insert(node, vec![2, 4, 9]);
        assert_eq!([1, 5, 9].map(|length| plan.longest_claim(node, length)), [5, 5, 9]);
        plan.shares_mut().insert(node, vec![1, 8, 1000]);
        assert_eq!(plan.longest_claim(node, 2), 32, "no more than 16 times");
        plan.claim_lengths_mut()[0] = 4;
        assert_eq!([2, 8].map(|length| plan.longest_claim(node, length)), [4, 8], "the plan's maximum");
        plan.shares_mut().insert(node, vec![0, u32::MAX]);
        assert_eq!(plan.longest_claim(node, usize::MAX), usize::MAX);
    }

    #[test]
    fn claims_are_in_proportion_to_shares() {
        let (_, mut plan) = plan("p");
        let node = NodeId(0);
        plan.pools_mut().insert(node, vec![0, 1, 2]);
        assert_eq!(plan.claim_for(node, 1, 64), 64);
        plan.shares_mut().insert(node, vec![1, 2, 4]);
        assert_eq!([0, 1, 2, 3].map(|worker| plan.claim_for(node, worker, 64)), [16, 32, 64, 64]);
        assert_eq!([0, 1, 2].map(|worker| plan.claim_for(node, worker, 1)), [1; 3]);
        *plan.shares_mut().get_mut(&node).unwrap() = vec![1, u32::MAX, u32::MAX];
        let lengths = [0, 1].map(|worker| plan.claim_for(node, worker, usize::MAX));
        assert_eq!(lengths, [usize::MAX / u32::MAX as usize, usize::MAX]);
    }
}
