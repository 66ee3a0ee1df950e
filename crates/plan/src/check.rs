//! Checks that a plan, which may have been edited, fits a graph.

use crate::{Plan, size};
use std::fmt;
use thalweg_graph::GraphData;

/// A reason why a plan cannot run a graph.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PlanError {
    /// The plan and the graph have different numbers of nodes.
    Nodes {
        /// Nodes in the plan.
        plan: usize,
        /// Nodes in the graph.
        graph: usize,
    },
    /// The plan and the graph have different numbers of channels.
    Channels {
        /// Channels in the plan.
        plan: usize,
        /// Channels in the graph.
        graph: usize,
    },
    /// A single firing does not fit into a channel.
    Capacity {
        /// The channel, as `a.out -> b.in`.
        channel: String,
        /// Capacity in the plan, in items.
        planned: usize,
        /// Capacity that one firing needs, in items.
        needed: usize,
    },
    /// The claims of a node have no firing.
    Run {
        /// The node.
        node: String,
    },
    /// The plan has no thread.
    Threads,
}

impl fmt::Display for PlanError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PlanError::Nodes { plan, graph } => {
                write!(
                    f,
                    "the plan has {plan} nodes, the graph has {graph}\nhelp: make a new plan for this graph"
                )
            }
            PlanError::Channels { plan, graph } => {
                write!(
                    f,
                    "the plan has {plan} channels, the graph has {graph}\nhelp: make a new plan for this graph"
                )
            }
            PlanError::Capacity { channel, planned, needed } => {
                write!(
                    f,
                    "channel `{channel}` has capacity {planned} in the plan, a firing needs {needed}\nhelp: raise the capacity to {needed}"
                )
            }
            PlanError::Run { node } => {
                write!(f, "node `{node}` has `run 0` in the plan, at least 1 is needed")
            }
            PlanError::Threads => write!(f, "the plan has 0 threads, at least 1 is needed"),
        }
    }
}

impl std::error::Error for PlanError {}

impl Plan {
    /// Checks that the plan can run `graph`. A plan that [`Plan::new`] has made for `graph` always can.
    ///
    /// # Errors
    /// The first mismatch found.
    pub fn check(&self, graph: &GraphData) -> Result<(), PlanError> {
        if self.threads == 0 {
            return Err(PlanError::Threads);
        }
        self.check_counts(graph)?;
        for (id, run) in graph.node_ids().zip(&self.run) {
            if *run == 0 {
                return Err(PlanError::Run { node: graph.node(id).name.to_string() });
            }
        }
        for (id, planned) in graph.channel_ids().zip(self.capacities.iter().copied()) {
            let needed = size::min_capacity(graph, graph.channel(id));
            if planned < needed {
                return Err(PlanError::Capacity { channel: graph.channel_name(id), planned, needed });
            }
        }
        Ok(())
    }

    fn check_counts(&self, graph: &GraphData) -> Result<(), PlanError> {
        let (nodes, channels) = (graph.nodes().len(), graph.channels().len());
        if self.run.len() != nodes {
            return Err(PlanError::Nodes { plan: self.run.len(), graph: nodes });
        }
        if self.capacities.len() != channels {
            return Err(PlanError::Channels { plan: self.capacities.len(), graph: channels });
        }
        Ok(())
    }
}
