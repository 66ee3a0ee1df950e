//! Mistakes in a user's calls, kept until the graph is built.

use thalweg_graph::{Fault, GraphData, NodeId, Port};

/// A mistake. Its message is made when the graph is built, since nodes may be renamed until then.
#[derive(Debug)]
pub(crate) enum Mistake {
    /// Settings of a node that exclude each other.
    Node(NodeId, String),
    /// An input was given a stream of another graph.
    Foreign(Port),
    /// The feedback channel of this edge was misused.
    Feedback(usize, String),
}

impl Mistake {
    /// The mistake as a fault. `ends` returns the producing and the consuming port of an edge, if it has them.
    pub(crate) fn into_fault(
        self,
        graph: &GraphData,
        ends: &dyn Fn(usize) -> (Option<Port>, Option<Port>),
    ) -> Fault {
        match self {
            Mistake::Node(node, detail) => {
                Fault::Setting { node: graph.node(node).name().to_string(), detail }
            }
            Mistake::Foreign(port) => Fault::Foreign { input: graph.input_name(port) },
            Mistake::Feedback(edge, detail) => {
                let (from, to) = ends(edge);
                let input = to.map(|port| format!("into input `{}`", graph.input_name(port)));
                let output = || from.map(|port| format!("from output `{}`", graph.output_name(port)));
                Fault::Feedback { port: input.or_else(output), detail }
            }
        }
    }
}
