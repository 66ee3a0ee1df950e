//! Graphviz output: filters as boxes, splitters and joiners as trapezia, composites as clusters.

use super::blocks::{Block, Blocks};
use super::labels::{enqueued, of_node, shape};
use crate::flat::{ChannelId, Flat, NodeId, NodeKind};
use crate::tree::Tree;

/// The graph in the DOT language.
pub(super) fn dot(tree: &Tree, flat: &Flat, blocks: &Blocks) -> String {
    let mut dot = String::from("digraph streamit {\n  node [shape=box];\n");
    let mut open = 0;
    for (place, block) in blocks.all.iter().enumerate() {
        close(&mut dot, &mut open, block.depth);
        match (block.node, block.stream) {
            (Some(id), _) => dot += &indented(block.depth, &node(tree, flat, id, &title(flat, block))),
            (None, Some(stream)) if is_cluster(blocks, place) => {
                dot += &indented(block.depth, &format!("subgraph cluster{place} {{"));
                dot += &indented(block.depth + 1, &format!("label={};", quoted(&stream.name)));
                open = block.depth + 1;
            }
            _ => {}
        }
    }
    close(&mut dot, &mut open, 0);
    let unplaced = (0..flat.nodes.len()).filter(|node| blocks.of_node[*node].is_none());
    for id in unplaced.map(|node| NodeId(node as u32)) {
        dot += &indented(0, &node(tree, flat, id, &flat.node(id).name));
    }
    (0..flat.channels.len()).for_each(|channel| dot += &indented(0, &edge(tree, flat, channel)));
    dot + "}\n"
}

/// Whether a block is a composite with parts.
fn is_cluster(blocks: &Blocks, place: usize) -> bool {
    !blocks.all[place].children.is_empty()
}

/// Closes clusters down to a depth.
fn close(dot: &mut String, open: &mut usize, depth: usize) {
    while *open > depth {
        *open -= 1;
        *dot += &indented(*open, "}");
    }
}

fn indented(depth: usize, line: &str) -> String {
    format!("{:indent$}{line}\n", "", indent = 2 + 2 * depth)
}

/// The title of a block: the stream's own name, or `split` or `join`.
fn title(flat: &Flat, block: &Block) -> String {
    if let Some(stream) = block.stream {
        return stream.name.to_string();
    }
    let kind = block.node.map(|node| &flat.node(node).kind);
    if matches!(kind, Some(NodeKind::Split(_))) { "split".into() } else { "join".into() }
}

fn node(tree: &Tree, flat: &Flat, id: NodeId, title: &str) -> String {
    let node = flat.node(id);
    let shape = match node.kind {
        NodeKind::Filter(_) => "",
        NodeKind::Split(_) => ", shape=trapezium",
        NodeKind::Join(_) => ", shape=invtrapezium",
    };
    let mut lines = vec![title.to_owned()];
    lines.extend(of_node(tree, node));
    format!("n{} [label={}{shape}];", id.0, quoted(&lines.join("\n")))
}

fn edge(tree: &Tree, flat: &Flat, id: usize) -> String {
    let channel = &flat.channels[id];
    let mut attributes = format!("tooltip={}", quoted(&shape(&channel.item)));
    if flat.is_dynamic(tree, ChannelId(id as u32)) {
        attributes += ", style=dashed";
    }
    if channel.back {
        attributes += ", constraint=false";
    }
    if let Some(labels) = enqueued(flat, id) {
        attributes += &format!(", label={}", quoted(&labels));
    }
    format!("n{} -> n{} [{attributes}];", channel.from.0, channel.to.0)
}

/// Text as a DOT string.
fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => quoted += "\\\"",
            '\\' => quoted += "\\\\",
            '\n' => quoted += "\\n",
            // Graphviz decodes HTML entities in labels.
            '&' => quoted += "&amp;",
            c if c.is_control() => quoted += &format!("\\\\u{{{:x}}}", u32::from(c)),
            c => quoted.push(c),
        }
    }
    quoted + "\""
}
