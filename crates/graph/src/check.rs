//! What makes a graph ill-formed whatever its rates: ports without, or with two, partners.

use crate::{GraphData, NodeId};
use std::fmt;

/// A reason to refuse a graph. Each names nodes and ports as `node.port`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fault {
    /// An output port feeds no channel.
    DanglingOutput {
        /// The port.
        output: String,
    },
    /// An input port is fed by no channel.
    DanglingInput {
        /// The port.
        input: String,
    },
    /// A second channel was to leave one output port.
    SecondConsumer {
        /// The port.
        output: String,
    },
    /// A second channel was to enter one input port.
    SecondProducer {
        /// The port.
        input: String,
    },
    /// The ends of a channel disagree on the type of its items.
    Types {
        /// The output port.
        output: String,
        /// Its item type.
        gives: &'static str,
        /// The input port.
        input: String,
        /// Its item type.
        takes: &'static str,
    },
    /// A port's rate is zero where that can never make progress.
    ZeroRate {
        /// The node.
        node: String,
    },
    /// Two inputs, or two outputs, of a node have one name.
    PortName {
        /// The node.
        node: String,
        /// The name.
        port: String,
    },
    /// The graph has no nodes.
    Empty,
    /// Settings of a node that exclude each other.
    Setting {
        /// The node.
        node: String,
        /// The setting, and why the node cannot have it.
        detail: String,
    },
    /// An input was given a stream of another graph.
    Foreign {
        /// The port.
        input: String,
    },
    /// A feedback channel is not used, was closed with a stream that cannot close it, or was given settings of a node.
    Feedback {
        /// The port at one of the channel's ends, where it has one: ``into input `b.in` ``.
        port: Option<String>,
        /// What is wrong.
        detail: String,
    },
    /// The graph was built before.
    Built,
    /// Rates around two paths that meet cannot be made equal.
    Rates {
        /// The channel where the two disagree.
        channel: String,
        /// Items a period puts in and takes out, and what to do.
        detail: String,
    },
    /// A cycle of static rates with too few initial items: however much comes in from outside, it
    /// ends up waiting for itself.
    DeadCycle {
        /// Its nodes, in the order of the items' way.
        nodes: Vec<String>,
        /// Its channels and what they lack.
        detail: String,
    },
}

/// Nodes of a cycle that a message names.
const SHOWN: usize = 10;

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fault::DanglingOutput { output } => {
                write!(
                    f,
                    "output `{output}` is connected to nothing: give it a consumer, or `discard` its stream"
                )
            }
            Fault::DanglingInput { input } => {
                write!(
                    f,
                    "input `{input}` is connected to nothing: close its feedback channel, or remove the port"
                )
            }
            Fault::SecondConsumer { output } => {
                write!(
                    f,
                    "output `{output}` has a consumer already: copy its items with a node of two outputs"
                )
            }
            Fault::SecondProducer { input } => {
                write!(f, "input `{input}` has a producer already: join the two with `merge` or a zip")
            }
            Fault::Types { output, gives, input, takes } => {
                write!(f, "output `{output}` gives {gives}, but input `{input}` takes {takes}")
            }
            Fault::ZeroRate { node } => {
                write!(
                    f,
                    "node `{node}` takes no item on any input at a firing, so it would fire for ever: pop at least one"
                )
            }
            Fault::PortName { node, port } => {
                write!(f, "node `{node}` has two ports of the name `{port}` on one side: give each its own")
            }
            Fault::Empty => write!(f, "the graph has no nodes"),
            Fault::Setting { node, detail } => write!(f, "node `{node}` cannot have {detail}"),
            Fault::Foreign { input } => {
                write!(f, "input `{input}` was given a stream of another graph: make both with one graph")
            }
            Fault::Feedback { port: Some(port), detail } => {
                write!(f, "the feedback channel {port} {detail}")
            }
            Fault::Feedback { port: None, detail } => write!(f, "a feedback channel {detail}"),
            Fault::Built => write!(f, "the graph was built already, and its nodes taken"),
            Fault::Rates { channel, detail } => {
                write!(f, "rates of channel `{channel}` are inconsistent: {detail}")
            }
            Fault::DeadCycle { nodes, detail } => {
                let more = nodes.len().saturating_sub(SHOWN);
                let mut round: Vec<String> = nodes.iter().take(SHOWN).cloned().collect();
                if more > 0 {
                    round.push(format!("({more} more nodes)"));
                }
                round.extend(nodes.first().cloned());
                write!(f, "the cycle {} waits for itself: {detail}", round.join(" -> "))
            }
        }
    }
}

impl std::error::Error for Fault {}

impl GraphData {
    /// Checks every port of every node.
    ///
    /// # Errors
    /// All faults found, in order of nodes.
    pub fn check(&self) -> Result<(), Vec<Fault>> {
        let mut faults: Vec<Fault> = self.node_ids().flat_map(|id| self.faults_of(id)).collect();
        if self.nodes().is_empty() {
            faults.push(Fault::Empty);
        }
        if faults.is_empty() { Ok(()) } else { Err(faults) }
    }

    fn faults_of(&self, id: NodeId) -> Vec<Fault> {
        let node = self.node(id);
        let mut faults = Vec::new();
        for (i, port) in node.inputs.iter().enumerate() {
            if port.channel.is_none() {
                faults.push(Fault::DanglingInput { input: self.input_name((id, i)) });
            }
        }
        for (i, port) in node.outputs.iter().enumerate() {
            if port.channel.is_none() {
                faults.push(Fault::DanglingOutput { output: self.output_name((id, i)) });
            }
        }
        if !node.is_source() && node.inputs.iter().all(|p| p.pop.fixed() == Some(0)) {
            faults.push(Fault::ZeroRate { node: node.name.to_string() });
        }
        let ins: Vec<&str> = node.inputs.iter().map(|port| &*port.name).collect();
        let outs: Vec<&str> = node.outputs.iter().map(|port| &*port.name).collect();
        let twice = [ins, outs].into_iter().filter_map(|names| twice(names).map(str::to_owned));
        faults.extend(twice.map(|port| Fault::PortName { node: node.name.to_string(), port }));
        faults
    }
}

/// A name that stands twice among these.
fn twice(mut names: Vec<&str>) -> Option<&str> {
    names.sort_unstable();
    names.windows(2).find(|pair| pair[0] == pair[1]).map(|pair| pair[0])
}
