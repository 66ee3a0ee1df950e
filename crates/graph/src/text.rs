//! A graph as text: one line for each node and each channel, in order of their ids.
//!
//! ```text
//! 2 nodes, 1 channel
//! numbers: sequential, out push 1
//! window: parallel, in pop 1 peek 4, out push *
//! numbers.out -> window.in: u64, initial 3, capacity 64
//! ```
//!
//! `*` is a dynamic rate. A name with other characters than letters, digits, `_` and `-` is quoted and escaped.

use crate::{Channel, GraphData, InPort, Kind, Node, OutPort, Port, Rate};
use std::fmt;

impl fmt::Display for GraphData {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (nodes, channels) = (self.nodes().len(), self.channels().len());
        writeln!(f, "{nodes} node{}, {channels} channel{}", plural(nodes), plural(channels))?;
        for node in self.nodes() {
            write_node(node, f)?;
        }
        for channel in self.channels() {
            write_channel(self, channel, f)?;
        }
        Ok(())
    }
}

impl fmt::Display for Rate {
    /// Writes the number of a static rate, `*` for a dynamic one.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Rate::Static(n) => n.fmt(f),
            Rate::Dynamic => f.pad("*"),
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Kind::Sequential => "sequential",
            Kind::Parallel => "parallel",
            Kind::Process => "process",
        })
    }
}

fn plural(count: usize) -> &'static str {
    if count == 1 { "" } else { "s" }
}

fn write_node(node: &Node, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    write!(f, "{}: {}", Name(&node.name), node.kind)?;
    if node.blocking {
        write!(f, ", blocking")?;
    }
    if node.starting {
        write!(f, ", starting")?;
    }
    if node.unordered {
        write!(f, ", unordered")?;
    }
    if let Some(workers) = node.workers {
        write!(f, ", at most {workers} workers")?;
    }
    if node.merge {
        write!(f, ", merge")?;
    }
    for port in &node.inputs {
        write!(f, ", {} pop {}{}", Name(&port.name), port.pop, Peek(port))?;
    }
    for port in &node.outputs {
        write!(f, ", {} push {}", Name(&port.name), port.push)?;
    }
    writeln!(f)
}

fn write_channel(graph: &GraphData, channel: &Channel, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let output: &OutPort = &graph.node(channel.from.0).outputs[channel.from.1];
    let input: &InPort = &graph.node(channel.to.0).inputs[channel.to.1];
    write_port(graph, channel.from, &output.name, f)?;
    write!(f, " -> ")?;
    write_port(graph, channel.to, &input.name, f)?;
    write!(f, ": {}", channel.item.name)?;
    if channel.link.initial > 0 {
        write!(f, ", initial {}", channel.link.initial)?;
    }
    if let Some(capacity) = channel.link.capacity {
        write!(f, ", capacity {capacity}")?;
    }
    if channel.link.weighed {
        write!(f, ", weighed")?;
    }
    writeln!(f)
}

fn write_port(graph: &GraphData, port: Port, name: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    write!(f, "{}.{}", Name(&graph.node(port.0).name), Name(name))
}

/// ` peek N` where a port reads more items than it pops, otherwise nothing.
pub(crate) struct Peek<'a>(pub(crate) &'a InPort);

impl fmt::Display for Peek<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // With a dynamic pop rate, a peek of one only means that a firing needs an item.
        let plain = self.0.pop.fixed().unwrap_or(1);
        if self.0.peek > plain { write!(f, " peek {}", self.0.peek) } else { Ok(()) }
    }
}

/// A name, quoted and escaped where it is not plain.
struct Name<'a>(&'a str);

impl fmt::Display for Name<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plain = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
        if !self.0.is_empty() && self.0.chars().all(plain) {
            f.write_str(self.0)
        } else {
            write!(f, "{:?}", self.0)
        }
    }
}
