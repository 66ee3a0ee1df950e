//! The states of nodes: which exist, what they wait for, and which nodes wait for them.
//!
//! | state | entered by | left by |
//! |---|---|---|
//! | absent | the start | the first visit |
//! | created | the first visit, which also adds the visiting node to the successors | the last notification |
//! | ready | the last notification, or the first visit of a node without predecessors | computing |
//! | computed | the end of computing, which takes the successors to notify | - |

use super::TaskGraph;

/// What one step found out about a node.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Visit {
    /// The node is new: its predecessors are to be visited.
    Created,
    /// The node exists, and the visiting node waits for it now.
    Waits,
    /// The node is computed already: the visiting node has one predecessor less to wait for.
    Computed,
}

/// The states of all nodes of a run.
pub(super) struct Nodes {
    states: Vec<State>,
}

#[derive(Clone, Default)]
struct State {
    created: bool,
    computed: bool,
    /// Predecessors that have not notified the node.
    waits_for: u32,
    /// The nodes to notify.
    successors: Vec<u32>,
}

impl Nodes {
    pub(super) fn new(graph: &TaskGraph) -> Nodes {
        Nodes { states: vec![State::default(); graph.nodes().len()] }
    }

    /// Creates the node if it is absent. `successor` waits for it, unless it is computed.
    pub(super) fn visit(&mut self, graph: &TaskGraph, node: u32, successor: Option<u32>) -> Visit {
        let state = &mut self.states[node as usize];
        if state.computed {
            return Visit::Computed;
        }
        state.successors.extend(successor);
        if state.created {
            return Visit::Waits;
        }
        state.created = true;
        state.waits_for = graph.predecessors(node).len() as u32;
        Visit::Created
    }

    /// One predecessor of the node is computed. Returns whether it was the last.
    pub(super) fn notify(&mut self, node: u32) -> bool {
        let state = &mut self.states[node as usize];
        state.waits_for -= 1;
        state.waits_for == 0
    }

    /// The node is computed. Returns the nodes to notify.
    pub(super) fn computed(&mut self, node: u32) -> Vec<u32> {
        let state = &mut self.states[node as usize];
        assert!(
            state.created && state.waits_for == 0 && !state.computed,
            "node {node} is computed once, when ready"
        );
        state.computed = true;
        std::mem::take(&mut state.successors)
    }
}
