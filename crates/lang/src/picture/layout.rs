//! Where everything stands in a drawing.
//!
//! Streams are made of streams one after the other, side by side, or round a loop, and so is the drawing:
//! a box for each, with the boxes of what it is made of inside. No line crosses another but for joiners'
//! sake. The way back of a loop stands beside its body and is drawn upwards, from bottom to top.

use super::blocks::{Blocks, Role};
use super::words::of_node;
use crate::flat::Flat;
use crate::tree::{StreamKind, Tree};

/// A box: its upper left corner and its size, in pixels.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub(super) struct Area {
    pub x: i64,
    pub y: i64,
    pub width: i64,
    pub height: i64,
}

/// Areas of all blocks, by place.
pub(super) struct Layout {
    pub areas: Vec<Area>,
    /// Blocks that are drawn upwards.
    pub upwards: Vec<bool>,
}

/// Height of a line of text.
pub(super) const LINE: i64 = 16;
/// What a composite has above its parts, for its name.
const HEAD: i64 = 22;
const MARGIN: i64 = 12;
const GAP: i64 = 36;
/// Room for lines that turn, above and below a loop.
const TURN: i64 = 30;
/// Width of a letter, about.
const LETTER: i64 = 8;

/// Lays a program out.
pub(super) fn layout(tree: &Tree, flat: &Flat, blocks: &Blocks) -> Layout {
    let count = blocks.all.len();
    let mut layout = Layout { areas: vec![Area::default(); count], upwards: vec![false; count] };
    // What a block is made of comes after it.
    for place in (0..count).rev() {
        let size = if blocks.all[place].node.is_some() {
            leaf(tree, flat, blocks, place)
        } else {
            layout.composite(blocks, place)
        };
        (layout.areas[place].width, layout.areas[place].height) = size;
    }
    for place in 0..count {
        layout.put(blocks, place);
    }
    layout
}

/// The lines in a node's box.
pub(super) fn lines(tree: &Tree, flat: &Flat, blocks: &Blocks, place: usize) -> Vec<String> {
    let block = &blocks.all[place];
    let name = block.stream.map(|stream| stream.name.to_string());
    let words = block.node.map(|node| of_node(tree, flat.node(node))).unwrap_or_default();
    name.into_iter().chain(words).collect()
}

fn leaf(tree: &Tree, flat: &Flat, blocks: &Blocks, place: usize) -> (i64, i64) {
    let lines = lines(tree, flat, blocks, place);
    let letters = lines.iter().map(|line| line.chars().count()).max().unwrap_or(0);
    (letters as i64 * LETTER + 24, lines.len() as i64 * LINE + 10)
}

impl Layout {
    /// A composite's size; its parts get their places in it, from its upper left corner.
    fn composite(&mut self, blocks: &Blocks, place: usize) -> (i64, i64) {
        let block = &blocks.all[place];
        let name = block.stream.map_or(0, |stream| stream.name.chars().count());
        let inner = match block.stream.map(|stream| &stream.kind) {
            Some(StreamKind::FeedbackLoop { .. }) => self.round(blocks, &block.children),
            Some(StreamKind::SplitJoin { .. }) => self.beside(blocks, &block.children),
            _ => self.column(&block.children, 0),
        };
        for part in &block.children {
            self.areas[*part].x += MARGIN;
        }
        (inner.0.max(name as i64 * LETTER) + 2 * MARGIN, inner.1 + HEAD + MARGIN)
    }

    /// One below the other, each in the middle.
    fn column(&mut self, parts: &[usize], top: i64) -> (i64, i64) {
        let width = parts.iter().map(|part| self.areas[*part].width).max().unwrap_or(0);
        let mut y = top;
        for part in parts {
            let area = &mut self.areas[*part];
            (area.x, area.y) = ((width - area.width) / 2, y);
            y += area.height + GAP;
        }
        (width, (y - GAP).max(top))
    }

    /// Side by side between a splitter and a joiner.
    fn beside(&mut self, blocks: &Blocks, parts: &[usize]) -> (i64, i64) {
        let of = |role: Role| parts.iter().copied().find(|part| blocks.all[*part].role == role);
        let row: Vec<usize> =
            parts.iter().copied().filter(|part| blocks.all[*part].role == Role::Child).collect();
        let (split, join) = (of(Role::Split), of(Role::Join));
        let size = |layout: &Layout, part: Option<usize>| {
            part.map_or((0, 0), |part| (layout.areas[part].width, layout.areas[part].height + GAP))
        };
        let (above, below) = (size(self, split), size(self, join));
        let inner: i64 = row.iter().map(|part| self.areas[*part].width + GAP).sum::<i64>() - GAP;
        let width = inner.max(above.0).max(below.0).max(0);
        let height = row.iter().map(|part| self.areas[*part].height).max().unwrap_or(0);
        let mut x = (width - inner) / 2;
        for part in row {
            let area = &mut self.areas[part];
            (area.x, area.y) = (x, above.1 + (height - area.height) / 2);
            x += area.width + GAP;
        }
        for (part, y) in
            split.map(|part| (part, 0)).into_iter().chain(join.map(|part| (part, above.1 + height + GAP)))
        {
            (self.areas[part].x, self.areas[part].y) = ((width - self.areas[part].width) / 2, y);
        }
        (width, above.1 + height + below.1)
    }

    /// Joiner, body and splitter one below the other, and the way back beside them.
    fn round(&mut self, blocks: &Blocks, parts: &[usize]) -> (i64, i64) {
        let (back, down): (Vec<usize>, Vec<usize>) =
            parts.iter().partition(|part| blocks.all[**part].role == Role::Back);
        let (width, height) = self.column(&down, TURN);
        let Some(back) = back.first() else { return (width, height + TURN) };
        let area = &mut self.areas[*back];
        let inside = (height - TURN).max(area.height);
        (area.x, area.y) = (width + GAP, TURN + (inside - area.height) / 2);
        (width + GAP + area.width, TURN + inside + TURN)
    }

    /// Moves a composite's parts to where it stands itself.
    fn put(&mut self, blocks: &Blocks, place: usize) {
        let (area, upwards) = (self.areas[place], self.upwards[place]);
        if blocks.all[place].node.is_some() {
            return;
        }
        for part in &blocks.all[place].children {
            let inside = &mut self.areas[*part];
            let room = area.height - HEAD - MARGIN;
            let y = if upwards { room - inside.y - inside.height } else { inside.y };
            (inside.x, inside.y) = (area.x + inside.x, area.y + HEAD + y);
            self.upwards[*part] = upwards != (blocks.all[*part].role == Role::Back);
        }
    }
}
