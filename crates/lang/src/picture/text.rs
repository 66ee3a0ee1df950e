//! Text output: one line per stream, or per node and channel.

use super::blocks::{Block, Blocks, Role};
use super::labels::{ends, enqueued, of_node, plain, shape};
use crate::flat::{ChannelId, Flat, NodeKind};
use crate::tree::{StreamKind, Tree};

/// Nested streams.
pub(super) fn tree(tree: &Tree, flat: &Flat, blocks: &Blocks) -> String {
    let mut text = String::new();
    for block in &blocks.all {
        text.extend(std::iter::repeat_n("  ", block.depth));
        text += match block.role {
            Role::Body => "body ",
            Role::Back => "loop ",
            Role::Split => "split ",
            Role::Join => "join ",
            Role::Child => "",
        };
        text += &line(tree, flat, block);
        text.push('\n');
    }
    text
}

fn line(tree: &Tree, flat: &Flat, block: &Block) -> String {
    let labels = block.node.map(|node| of_node(tree, flat.node(node)).join(", ")).unwrap_or_default();
    let Some(stream) = block.stream else { return labels };
    let name = plain(&stream.name);
    let ends = ends(&stream.input, &stream.output);
    match &stream.kind {
        StreamKind::Filter(_) => format!("{name}: {ends} filter, {labels}"),
        StreamKind::Pipeline(_) => format!("{name}: {ends} pipeline"),
        StreamKind::SplitJoin { .. } => format!("{name}: {ends} splitjoin"),
        StreamKind::FeedbackLoop { enqueued, .. } => {
            format!("{name}: {ends} feedbackloop, {} enqueued", enqueued.len())
        }
    }
}

/// Nodes and channels.
pub(super) fn flat(tree: &Tree, flat: &Flat) -> String {
    let (nodes, channels) = (flat.nodes.len(), flat.channels.len());
    let plural = |count: usize| if count == 1 { "" } else { "s" };
    let mut text = format!("{nodes} node{}, {channels} channel{}\n", plural(nodes), plural(channels));
    for node in &flat.nodes {
        let kind = match node.kind {
            NodeKind::Filter(_) => "",
            NodeKind::Split(_) => "split ",
            NodeKind::Join(_) => "join ",
        };
        text += &format!("{}: {kind}{}\n", plain(&node.name), of_node(tree, node).join(", "));
    }
    for (id, channel) in flat.channels.iter().enumerate() {
        let (from, to) = (&flat.node(channel.from).name, &flat.node(channel.to).name);
        text += &format!("{} -> {}: {}", plain(from), plain(to), shape(&channel.item));
        let dynamic = flat.is_dynamic(tree, ChannelId(id as u32)).then(|| "dynamic".to_owned());
        let back = channel.back.then(|| "back".to_owned());
        for word in dynamic.into_iter().chain(back).chain(enqueued(flat, id)) {
            text += &format!(", {word}");
        }
        text.push('\n');
    }
    text
}
