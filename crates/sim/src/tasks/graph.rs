//! A task graph as data.

use thalweg_policy::tasks::Colour;

/// A node of a [`TaskGraph`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TaskNode {
    /// Ticks of computing, without access to memory.
    pub work: u64,
    /// Accesses to data of its own.
    pub accesses: u64,
    /// Accesses to the data of each predecessor.
    pub reads: u64,
    /// The worker that has initialised the node's data.
    pub data: Colour,
}

/// Nodes with their predecessors; the last node is the sink, for which the graph is run.
///
/// ```
/// use thalweg_policy::tasks::Colour;
/// use thalweg_sim::tasks::{TaskGraph, TaskNode};
///
/// let mut graph = TaskGraph::default();
/// let node = TaskNode { work: 10, accesses: 1, reads: 1, data: Colour(0) };
/// let (a, b) = (graph.add(node, &[]), graph.add(node, &[]));
/// let sink = graph.add(node, &[a, b]);
/// assert_eq!((graph.sink(), graph.predecessors(sink)), (2, &[0, 1][..]));
/// ```
#[derive(Clone, Debug, Default)]
pub struct TaskGraph {
    nodes: Vec<TaskNode>,
    /// The end of each node's predecessors in `edges`.
    ends: Vec<u32>,
    edges: Vec<u32>,
}

impl TaskGraph {
    /// Adds a node and returns its number.
    ///
    /// # Panics
    /// A predecessor is not in the graph. So no graph has a cycle.
    pub fn add(&mut self, node: TaskNode, predecessors: &[u32]) -> u32 {
        let key = self.nodes.len() as u32;
        for predecessor in predecessors {
            assert!(*predecessor < key, "predecessor {predecessor} of node {key} is not in the graph");
        }
        self.nodes.push(node);
        self.edges.extend_from_slice(predecessors);
        self.ends.push(self.edges.len() as u32);
        key
    }

    /// The nodes, by number.
    pub fn nodes(&self) -> &[TaskNode] {
        &self.nodes
    }

    /// The predecessors of a node.
    ///
    /// # Panics
    /// The node is not in the graph.
    pub fn predecessors(&self, node: u32) -> &[u32] {
        let node = node as usize;
        let start = node.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.edges[start as usize..self.ends[node] as usize]
    }

    /// The graph with `factor` times the work and the accesses of each node.
    ///
    /// ```
    /// use thalweg_sim::tasks::shapes;
    ///
    /// assert_eq!(shapes::chain(3, 7).scaled(5).nodes()[0].work, 35);
    /// ```
    pub fn scaled(mut self, factor: u64) -> TaskGraph {
        for TaskNode { work, accesses, reads, .. } in &mut self.nodes {
            for count in [work, accesses, reads] {
                *count *= factor;
            }
        }
        self
    }

    /// The number of edges.
    pub fn edges(&self) -> usize {
        self.edges.len()
    }

    /// The node added last.
    ///
    /// # Panics
    /// The graph has no nodes.
    pub fn sink(&self) -> u32 {
        assert!(!self.nodes.is_empty(), "the graph has no nodes");
        self.nodes.len() as u32 - 1
    }

    /// The nodes that the sink needs, itself included; by number.
    pub fn needed(&self) -> Vec<bool> {
        let mut needed = vec![false; self.nodes.len()];
        needed[self.sink() as usize] = true;
        for node in (0..self.nodes.len()).rev() {
            if needed[node] {
                self.predecessors(node as u32).iter().for_each(|&before| needed[before as usize] = true);
            }
        }
        needed
    }
}
