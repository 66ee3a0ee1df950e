//! Whether a plan, read back or edited, suits a graph.

use crate::{Plan, size};
use std::fmt;
use thalweg_graph::GraphData;

/// A reason why a plan does not suit a graph.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Misfit {
    /// The plan is for another number of nodes.
    Nodes {
        /// Nodes in the plan.
        plan: usize,
        /// Nodes in the graph.
        graph: usize,
    },
    /// The plan is for another number of channels.
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
        /// Capacity one firing needs, in items.
        needed: usize,
    },
    /// A claim of a node would hold no firing.
    Run {
        /// The node.
        node: String,
    },
    /// There is no worker.
    Threads,
}

impl fmt::Display for Misfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Misfit::Nodes { plan, graph } => {
                write!(f, "the plan is for {plan} nodes, the graph has {graph}")
            }
            Misfit::Channels { plan, graph } => {
                write!(f, "the plan is for {plan} channels, the graph has {graph}")
            }
            Misfit::Capacity { channel, planned, needed } => {
                write!(
                    f,
                    "channel `{channel}` has room for {planned} items in the plan, a firing needs {needed}"
                )
            }
            Misfit::Run { node } => write!(f, "node `{node}` may do no firing in a claim: at least 1"),
            Misfit::Threads => write!(f, "the plan has no threads: at least 1"),
        }
    }
}

impl std::error::Error for Misfit {}

impl Plan {
    /// Checks that the plan can run `graph`. A plan fresh from [`Plan::new`] always can.
    ///
    /// # Errors
    /// The first reason found why it cannot.
    pub fn check(&self, graph: &GraphData) -> Result<(), Misfit> {
        if self.threads == 0 {
            return Err(Misfit::Threads);
        }
        self.check_counts(graph)?;
        for (id, run) in graph.node_ids().zip(&self.run) {
            if *run == 0 {
                return Err(Misfit::Run { node: graph.node(id).name.to_string() });
            }
        }
        for (id, planned) in graph.channel_ids().zip(self.capacities.iter().copied()) {
            let needed = size::need(graph, graph.channel(id));
            if planned < needed {
                return Err(Misfit::Capacity { channel: graph.channel_name(id), planned, needed });
            }
        }
        Ok(())
    }

    fn check_counts(&self, graph: &GraphData) -> Result<(), Misfit> {
        let (nodes, channels) = (graph.nodes().len(), graph.channels().len());
        if self.run.len() != nodes {
            return Err(Misfit::Nodes { plan: self.run.len(), graph: nodes });
        }
        if self.capacities.len() != channels {
            return Err(Misfit::Channels { plan: self.capacities.len(), graph: channels });
        }
        Ok(())
    }
}
