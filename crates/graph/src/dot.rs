//! A graph as a drawing for Graphviz.
//!
//! A sequential node is a box, a parallel node a 3D box, a process an ellipse and a merge a trapezium. A
//! blocking node has a dashed outline, an unordered node a dotted one. An edge is labelled at its ends with
//! the rates of its ports, preceded by the port's name where the node has several, and in the middle with
//! its initial items and its capacity.

use crate::text::Peek;
use crate::{Channel, GraphData, Kind, Node};
use std::fmt::{self, Write};

impl GraphData {
    /// The graph in the DOT language of Graphviz.
    pub fn to_dot(&self) -> String {
        let mut dot = String::new();
        write_graph(self, &mut dot).expect("writing to a String cannot fail");
        dot
    }
}

fn write_graph(graph: &GraphData, dot: &mut String) -> fmt::Result {
    writeln!(dot, "digraph thalweg {{")?;
    writeln!(dot, "  rankdir=LR;")?;
    for (id, node) in graph.node_ids().zip(graph.nodes()) {
        writeln!(dot, "  {id:?} [label={}, {}];", Quoted(&node.name), outline(node))?;
    }
    for channel in graph.channels() {
        writeln!(dot, "  {}", edge(graph, channel))?;
    }
    writeln!(dot, "}}")
}

fn outline(node: &Node) -> String {
    let shape = match node.kind {
        _ if node.merge => "trapezium",
        Kind::Sequential => "box",
        Kind::Parallel => "box3d",
        Kind::Process => "ellipse",
    };
    let style = match node {
        Node { blocking: true, .. } => ", style=dashed",
        Node { unordered: true, .. } => ", style=dotted",
        _ => "",
    };
    format!("shape={shape}{style}")
}

fn edge(graph: &GraphData, channel: &Channel) -> String {
    let (from, to) = (channel.from.0, channel.to.0);
    let tail = tail_label(graph.node(from), channel.from.1);
    let head = head_label(graph.node(to), channel.to.1);
    let mut attributes = format!("taillabel={}, headlabel={}", Quoted(&tail), Quoted(&head));
    if let Some(middle) = middle_label(channel) {
        attributes += &format!(", label={}", Quoted(&middle));
    }
    attributes += &format!(", tooltip={}", Quoted(channel.item.name));
    format!("{from:?} -> {to:?} [{attributes}];")
}

fn tail_label(node: &Node, port: usize) -> String {
    let output = &node.outputs[port];
    named(&output.name, node.outputs.len(), output.push.to_string())
}

fn head_label(node: &Node, port: usize) -> String {
    let input = &node.inputs[port];
    named(&input.name, node.inputs.len(), format!("{}{}", input.pop, Peek(input)))
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
