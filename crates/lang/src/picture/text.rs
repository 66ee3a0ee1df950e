//! Text output: one line per stream.

use super::blocks::{Block, Blocks, Role};
use super::labels::{ends, of_node, plain};
use crate::flat::Flat;
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
    let labels = block.node.map(|node| of_node(tree, flat, node).join(", ")).unwrap_or_default();
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
