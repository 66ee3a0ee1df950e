//! Errors of a graph, and the checks of its ports. Rates and cycles are checked by `thalweg-analysis`.

use crate::{GraphData, NodeId};
use std::fmt;

/// A reason to refuse a graph. Messages name ports as `node.port`.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fault {
    /// An output port has no channel.
    DanglingOutput {
        /// The port.
        output: String,
    },
    /// An input port has no channel.
    DanglingInput {
        /// The port.
        input: String,
    },
    /// A second channel would begin at an output port.
    SecondConsumer {
        /// The port.
        output: String,
    },
    /// A second channel would end at an input port.
    SecondProducer {
        /// The port.
        input: String,
    },
    /// The two ports of a channel have different item types.
    Types {
        /// The output port.
        output: String,
        /// Its item type.
        pushes: &'static str,
        /// The input port.
        input: String,
        /// Its item type.
        pops: &'static str,
    },
    /// A node with inputs pops no item from any of them, so it would fire without end.
    ZeroRate {
        /// The node.
        node: String,
    },
    /// Two inputs, or two outputs, of a node have the same name.
    PortName {
        /// The node.
        node: String,
        /// The name.
        port: String,
    },
    /// The graph has no nodes.
    Empty,
    /// A setting that the node cannot have.
    Setting {
        /// The node.
        node: String,
        /// The setting, and the reason.
        detail: String,
    },
    /// An input was connected to a stream of another graph.
    Foreign {
        /// The port.
        input: String,
    },
    /// A feedback channel is unused, was closed with a stream that cannot close it, or has settings that only
    /// nodes can have.
    Feedback {
        /// A port of the channel, if it has one yet: ``into input `b.in` ``.
        port: Option<String>,
        /// The mistake.
        detail: String,
    },
    /// The graph was already built.
    Built,
    /// The balance equations of a region have no solution: a channel's producer and consumer do not agree.
    Rates {
        /// The channel where the equations contradict each other.
        channel: String,
        /// Items pushed and popped in a period, and what to do.
        detail: String,
    },
    /// A cycle of static rates with too few initial items: it deadlocks, however many items arrive from
    /// outside.
    DeadCycle {
        /// The nodes of the cycle, each followed by its consumer.
        nodes: Vec<String>,
        /// The channels of the cycle and the items they lack.
        detail: String,
    },
}

/// Nodes of a cycle that a message names at most.
const MAX_NAMED: usize = 10;

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fault::DanglingOutput { output } => {
                write!(
                    f,
                    "output `{output}` is connected to nothing\n  help: connect a consumer, or `discard` its stream"
                )
            }
            Fault::DanglingInput { input } => {
                write!(
                    f,
                    "input `{input}` is connected to nothing\n  help: close its feedback channel, or remove the port"
                )
            }
            Fault::SecondConsumer { output } => {
                write!(
                    f,
                    "output `{output}` already has a consumer\n  help: copy its items with a node of two outputs"
                )
            }
            Fault::SecondProducer { input } => {
                write!(
                    f,
                    "input `{input}` already has a producer\n  help: join the two producers with `merge` or `zip`"
                )
            }
            Fault::Types { output, pushes, input, pops } => {
                write!(
                    f,
                    "output `{output}` has items of type {pushes}, input `{input}` expects {pops}\n  help: convert the items with a `map` between them"
                )
            }
            Fault::ZeroRate { node } => {
                write!(
                    f,
                    "node `{node}` pops no item from any input, so it would fire without end\n  \
                     help: pop at least one item a firing"
                )
            }
            Fault::PortName { node, port } => {
                write!(
                    f,
                    "node `{node}` has two inputs or two outputs named `{port}`\n  help: rename one of them"
                )
            }
            Fault::Empty => {
                write!(f, "the graph has no nodes\n  help: add a source and a consumer of its stream")
            }
            Fault::Setting { node, detail } => write!(f, "node `{node}` cannot have {detail}"),
            Fault::Foreign { input } => {
                write!(
                    f,
                    "input `{input}` is connected to a stream of another graph\n  \
                     help: make both with the same `Graph`"
                )
            }
            Fault::Feedback { port: Some(port), detail } => {
                write!(f, "the feedback channel {port} {detail}")
            }
            Fault::Feedback { port: None, detail } => write!(f, "a feedback channel {detail}"),
            Fault::Built => write!(f, "the graph was already built, which consumed its nodes"),
            Fault::Rates { channel, detail } => {
                write!(f, "rates of channel `{channel}` are inconsistent: {detail}")
            }
            Fault::DeadCycle { nodes, detail } => {
                let more = nodes.len().saturating_sub(MAX_NAMED);
                let mut names: Vec<String> = nodes.iter().take(MAX_NAMED).cloned().collect();
                if more > 0 {
                    names.push(format!("({more} more nodes)"));
                }
                names.extend(nodes.first().cloned());
                write!(f, "the cycle {} deadlocks: {detail}", names.join(" -> "))
            }
        }
    }
}

crate::error_type!(Fault);

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
        let twice = [ins, outs].into_iter().filter_map(|names| duplicate(names).map(str::to_owned));
        faults.extend(twice.map(|port| Fault::PortName { node: node.name.to_string(), port }));
        faults
    }
}

/// The first name, in alphabetical order, that occurs more than once.
fn duplicate(mut names: Vec<&str>) -> Option<&str> {
    names.sort_unstable();
    names.windows(2).find(|pair| pair[0] == pair[1]).map(|pair| pair[0])
}
