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
//!
//! Details appear where they exist: the place of a node in a source text as file and bytes, a splitter or joiner with
//! its weights in place of its ports, declared bounds of a dynamic rate, the rates of a first firing, `prework` where no port has any, and after the
//! channels the pairs of nodes that send messages.
//!
//! ```text
//! "Main.split": sequential, split roundrobin(1, 2), at 0:10-19
//! "Main.Pick": sequential, in pop [1, *] first 3, out push [0, 1, 4], at 0:30-52
//! "Main.split".0 -> "Main.Pick".in: int
//! "Main.Pick" sends messages to "Main.Sink"
//! ```

use crate::{Bounds, Channel, GraphData, InPort, NodeId, OutPort, Port, Rate, Router, Weights};
use std::fmt;

impl fmt::Display for GraphData {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (nodes, channels) = (self.nodes().len(), self.channels().len());
        writeln!(f, "{nodes} node{}, {channels} channel{}", plural(nodes), plural(channels))?;
        for id in self.node_ids() {
            write_node(self, id, f)?;
        }
        for channel in self.channels() {
            write_channel(self, channel, f)?;
        }
        let name = |node| Name(&self.node(node).name);
        self.messages().iter().try_for_each(|messages| {
            writeln!(f, "{} sends messages to {}", name(messages.from), name(messages.to))
        })
    }
}

/// `duplicate`, `roundrobin(1, 2)`, or `roundrobin(1 x 64)` where more than three in a row are equal.
impl fmt::Display for Weights {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Weights::RoundRobin(weights) = self else { return f.write_str("duplicate") };
        let run = |run: &[u32]| match run.len() {
            0..=3 => run.iter().map(u32::to_string).collect::<Vec<String>>().join(", "),
            more => format!("{} x {more}", run[0]),
        };
        let runs: Vec<String> = weights.chunk_by(|a, b| a == b).map(run).collect();
        write!(f, "roundrobin({})", runs.join(", "))
    }
}

/// `split duplicate`, `join roundrobin(1, 2)`
impl fmt::Display for Router {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Router::Split(weights) => write!(f, "split {weights}"),
            Router::Join(weights) => write!(f, "join {weights}"),
        }
    }
}

fn plural(count: usize) -> &'static str {
    if count == 1 { "" } else { "s" }
}

fn write_node(graph: &GraphData, id: NodeId, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let node = graph.node(id);
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
    if node.timed {
        write!(f, ", timed")?;
    }
    if let Some(router) = graph.router(id) {
        write!(f, ", {router}")?;
    }
    if graph.router(id).is_none() {
        node.inputs.iter().try_for_each(|port| write!(f, ", {} pop {}", Name(&port.name), Pop(port)))?;
        node.outputs.iter().try_for_each(|port| write!(f, ", {} push {}", Name(&port.name), Push(port)))?;
    }
    if graph.is_set_prework(id) {
        write!(f, ", prework")?;
    }
    if let Some(span) = graph.span(id) {
        write!(f, ", at {}:{}-{}", span.file, span.start, span.end)?;
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

/// The rates of an input port: `2`, `1 peek 4`, `[1, *] first 3 peek 5`.
pub(crate) struct Pop<'a>(pub(crate) &'a InPort);

impl fmt::Display for Pop<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Pop(port) = self;
        write!(f, "{}{}", Declared(port.pop, port.bounds), Peek(port.pop, port.peek))?;
        port.first.map_or(Ok(()), |first| write!(f, " first {}{}", first.pop, Peek(first.pop, first.peek)))
    }
}

/// The rates of an output port: `2`, `[0, 1] first 3`.
pub(crate) struct Push<'a>(pub(crate) &'a OutPort);

impl fmt::Display for Push<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Push(port) = self;
        Declared(port.push, port.bounds).fmt(f)?;
        port.first.map_or(Ok(()), |first| write!(f, " first {first}"))
    }
}

/// ` peek N` where a firing reads more items than it pops, otherwise nothing.
struct Peek(Rate, u64);

impl fmt::Display for Peek {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // With a dynamic pop rate, a peek of one only means that a firing needs an item.
        let plain = self.0.fixed().unwrap_or(1);
        if self.1 > plain { write!(f, " peek {}", self.1) } else { Ok(()) }
    }
}

/// A rate with its bounds: `[1, 5]`, `[1, 2, *]` with an average, or the rate alone.
struct Declared(Rate, Option<Bounds>);

impl fmt::Display for Declared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Declared(Rate::Dynamic, Some(Bounds { least, average, most })) = self else {
            return self.0.fmt(f);
        };
        write!(f, "[{least}, ")?;
        average.map_or(Ok(()), |average| write!(f, "{average}, "))?;
        match most {
            Some(most) => write!(f, "{most}]"),
            None => f.write_str("*]"),
        }
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
