//! A graph as a drawing for Graphviz.
//!
//! A sequential node is a box, a parallel node a 3D box, a process an ellipse, a merge or splitter a trapezium and a
//! joiner an inverted one. A blocking node has a dashed outline, an unordered node a dotted one. An edge is labelled
//! at its ends with the rates of its ports, preceded by the port's name where the node has several, and in the middle
//! with its initial items and its capacity. A splitter or joiner has its weights instead of rates.

use crate::text::{Pop, Push};
use crate::{Channel, GraphData, Kind, Node, NodeId, Router};
use std::fmt::{self, Write};

impl GraphData {
    /// The graph in the DOT language of Graphviz.
    pub fn to_dot(&self) -> String {
        self.drawn(false)
    }

    /// As [`to_dot`](Self::to_dot), with a cluster for each nested stream: `Main.Band.2.split` is the node `split` in
    /// the cluster `Band.2` in the cluster `Main`. Nodes of a cluster must follow each other.
    pub fn to_nested_dot(&self) -> String {
        self.drawn(true)
    }

    fn drawn(&self, nested: bool) -> String {
        let mut dot = String::new();
        write_graph(self, nested, &mut dot).expect("writing to a String cannot fail");
        dot
    }
}

fn write_graph(graph: &GraphData, nested: bool, dot: &mut String) -> fmt::Result {
    writeln!(dot, "digraph thalweg {{")?;
    writeln!(dot, "  rankdir=LR;")?;
    let mut clusters = Clusters::default();
    for id in graph.node_ids() {
        let name = &graph.node(id).name;
        let title = if nested { clusters.enter(name, dot)? } else { name };
        let label = graph
            .router(id)
            .map_or_else(|| title.to_owned(), |router| format!("{title}\n{}", weights(router)));
        let indent = clusters.indent();
        writeln!(dot, "{:indent$}{id:?} [label={}, {}];", "", Quoted(&label), outline(graph, id))?;
    }
    clusters.leave(0, dot)?;
    for channel in graph.channels() {
        let back = if nested && channel.link.feedback { ", constraint=false" } else { "" };
        writeln!(dot, "  {}{back}];", edge(graph, channel))?;
    }
    writeln!(dot, "}}")
}

/// The clusters around the next node.
#[derive(Default)]
struct Clusters<'a> {
    open: Vec<&'a str>,
    /// Clusters begun so far.
    count: usize,
}

impl<'a> Clusters<'a> {
    fn indent(&self) -> usize {
        2 + 2 * self.open.len()
    }

    /// Closes and opens clusters so that those around a node are open; returns the rest of its name.
    fn enter(&mut self, name: &'a str, dot: &mut String) -> Result<&'a str, fmt::Error> {
        let mut around = path(name);
        let title = around.pop().unwrap_or(name);
        let same = self.open.iter().zip(&around).take_while(|(open, part)| open == part).count();
        self.leave(same, dot)?;
        for part in &around[same..] {
            writeln!(dot, "{:1$}subgraph cluster{2} {{", "", self.indent(), self.count)?;
            self.open.push(part);
            self.count += 1;
            writeln!(dot, "{:1$}label={2};", "", self.indent(), Quoted(part))?;
        }
        Ok(title)
    }

    /// Closes clusters down to this depth.
    fn leave(&mut self, depth: usize, dot: &mut String) -> fmt::Result {
        while self.open.len() > depth {
            self.open.pop();
            writeln!(dot, "{:1$}}}", "", self.indent())?;
        }
        Ok(())
    }
}

/// The parts of a name between dots. A number belongs to the part before it: `Band.2` is the second `Band`.
fn path(name: &str) -> Vec<&str> {
    let number = |at: usize| name[at + 1..].starts_with(|c: char| c.is_ascii_digit());
    let mut parts = Vec::new();
    let mut begin = 0;
    for (dot, _) in name.match_indices('.').filter(|(at, _)| !number(*at)) {
        parts.push(&name[begin..dot]);
        begin = dot + 1;
    }
    parts.push(&name[begin..]);
    parts
}

fn weights(router: &Router) -> String {
    let (Router::Split(weights) | Router::Join(weights)) = router;
    weights.to_string()
}

fn outline(graph: &GraphData, id: NodeId) -> String {
    let node = graph.node(id);
    let shape = match (graph.router(id), node.kind) {
        (Some(Router::Split(_)), _) => "trapezium",
        (Some(Router::Join(_)), _) => "invtrapezium",
        _ if node.merge => "trapezium",
        (None, Kind::Sequential) => "box",
        (None, Kind::Parallel) => "box3d",
        (None, Kind::Process) => "ellipse",
    };
    let style = match node {
        Node { blocking: true, .. } => ", style=dashed",
        Node { unordered: true, .. } | Node { timed: true, .. } => ", style=dotted",
        _ => "",
    };
    format!("shape={shape}{style}")
}

/// An edge, but for the end of its attributes.
fn edge(graph: &GraphData, channel: &Channel) -> String {
    let (from, to) = (channel.from.0, channel.to.0);
    let tail = graph.router(from).is_none().then(|| tail_label(graph.node(from), channel.from.1));
    let head = graph.router(to).is_none().then(|| head_label(graph.node(to), channel.to.1));
    let tail = tail.map(|tail| format!("taillabel={}", Quoted(&tail)));
    let head = head.map(|head| format!("headlabel={}", Quoted(&head)));
    let middle = middle_label(channel).map(|middle| format!("label={}", Quoted(&middle)));
    let tip = format!("tooltip={}", Quoted(channel.item.name));
    let attributes: Vec<String> = tail.into_iter().chain(head).chain(middle).chain([tip]).collect();
    format!("{from:?} -> {to:?} [{}", attributes.join(", "))
}

fn tail_label(node: &Node, port: usize) -> String {
    let output = &node.outputs[port];
    named(&output.name, node.outputs.len(), Push(output).to_string())
}

fn head_label(node: &Node, port: usize) -> String {
    let input = &node.inputs[port];
    named(&input.name, node.inputs.len(), Pop(input).to_string())
}

/// `rates`, preceded by the port's name where the node has several ports on this side.
fn named(name: &str, ports: usize, rates: String) -> String {
    if ports > 1 { format!("{name} {rates}") } else { rates }
}

fn middle_label(channel: &Channel) -> Option<String> {
    let link = &channel.link;
    let initial = (link.initial > 0).then(|| format!("initial {}", link.initial));
    let capacity = link.capacity.map(|capacity| format!("capacity {capacity}"));
    let lines: Vec<String> = initial.into_iter().chain(capacity).collect();
    (!lines.is_empty()).then(|| lines.join("\n"))
}

/// A string quoted and escaped for a DOT label.
struct Quoted<'a>(&'a str);

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_char('"')?;
        for c in self.0.chars() {
            match c {
                '"' => f.write_str("\\\"")?,
                '\\' => f.write_str("\\\\")?,
                '\n' => f.write_str("\\n")?,
                // Graphviz expands HTML entities in labels: it would draw `&lt;` as `<`.
                '&' => f.write_str("&amp;")?,
                c if c.is_control() => write!(f, "\\\\u{{{:x}}}", u32::from(c))?,
                c => f.write_char(c)?,
            }
        }
        f.write_char('"')
    }
}
