//! A graph as a drawing for Graphviz.
//!
//! A sequential node is a box, a parallel one a box with depth; a blocking node has a dashed
//! outline and an unordered one a dotted one, a merge is a trapezium. Rates stand at the ends of an edge, where they apply, with the
//! port's name where the node has several; initial items and the capacity stand in its middle.

use crate::text::Peek;
use crate::{Channel, GraphData, Kind, Node};
use std::fmt::{self, Write};

impl GraphData {
    /// The graph in the DOT language of Graphviz.
    pub fn to_dot(&self) -> String {
        let mut dot = String::new();
        write_graph(self, &mut dot).expect("a String takes all");
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

/// A string as DOT takes it inside a label.
struct Quoted<'a>(&'a str);

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_char('"')?;
        for c in self.0.chars() {
            match c {
                '"' => f.write_str("\\\"")?,
                '\\' => f.write_str("\\\\")?,
                '\n' => f.write_str("\\n")?,
                // Labels know HTML's entities: `&lt;` would be drawn as `<`.
                '&' => f.write_str("&amp;")?,
                c if c.is_control() => write!(f, "\\\\u{{{:x}}}", u32::from(c))?,
                c => f.write_char(c)?,
            }
        }
        f.write_char('"')
    }
}
