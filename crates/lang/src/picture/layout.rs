//! Positions of everything in a drawing.
//!
//! The drawing follows the structure of streams: a box for each, with the boxes of its parts in sequence, side by
//! side, or around a loop. Lines cross only at joiners. The loop stream of a feedback loop is beside its body and
//! drawn from bottom to top.

use super::blocks::{Blocks, Role};
use super::labels::of_node;
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

/// Areas of all blocks, by index.
pub(super) struct Layout {
    pub areas: Vec<Area>,
    /// Whether each block is drawn from bottom to top.
    pub upwards: Vec<bool>,
}

/// Height of a line of text.
pub(super) const LINE_HEIGHT: i64 = 16;
/// Space above the parts of a composite, for its name.
const TITLE_HEIGHT: i64 = 22;
const MARGIN: i64 = 12;
const GAP: i64 = 36;
/// Space above and below a loop, for lines that turn.
const TURN_SPACE: i64 = 30;
/// The approximate width of a letter.
const LETTER_WIDTH: i64 = 8;

/// Computes the layout of a program.
pub(super) fn layout(tree: &Tree, flat: &Flat, blocks: &Blocks) -> Layout {
    let count = blocks.all.len();
    let mut layout = Layout { areas: vec![Area::default(); count], upwards: vec![false; count] };
    // Parts follow their parent in the list, so reverse order computes them first.
    for place in (0..count).rev() {
        let size = if blocks.all[place].node.is_some() {
            leaf(tree, flat, blocks, place)
        } else {
            layout.composite(blocks, place)
        };
        (layout.areas[place].width, layout.areas[place].height) = size;
    }
    for place in 0..count {
        layout.place_children(blocks, place);
    }
    layout
}

/// The text lines in a node's box.
pub(super) fn lines(tree: &Tree, flat: &Flat, blocks: &Blocks, place: usize) -> Vec<String> {
    let block = &blocks.all[place];
    let name = block.stream.map(|stream| stream.name.to_string());
    let labels = block.node.map(|node| of_node(tree, flat, node)).unwrap_or_default();
    name.into_iter().chain(labels).collect()
}

fn leaf(tree: &Tree, flat: &Flat, blocks: &Blocks, place: usize) -> (i64, i64) {
    let lines = lines(tree, flat, blocks, place);
    let letters = lines.iter().map(|line| line.chars().count()).max().unwrap_or(0);
    (letters as i64 * LETTER_WIDTH + 24, lines.len() as i64 * LINE_HEIGHT + 10)
}

impl Layout {
    /// Sizes a composite; its parts get positions relative to its upper left corner.
    fn composite(&mut self, blocks: &Blocks, place: usize) -> (i64, i64) {
        let block = &blocks.all[place];
        let name = block.stream.map_or(0, |stream| stream.name.chars().count());
        let inner = match block.stream.map(|stream| &stream.kind) {
            Some(StreamKind::FeedbackLoop { .. }) => self.feedback_loop(blocks, &block.children),
            Some(StreamKind::SplitJoin { .. }) => self.parallel(blocks, &block.children),
            _ => self.column(&block.children, 0),
        };
        for part in &block.children {
            self.areas[*part].x += MARGIN;
        }
        (inner.0.max(name as i64 * LETTER_WIDTH) + 2 * MARGIN, inner.1 + TITLE_HEIGHT + MARGIN)
    }

    /// Parts below each other, centred.
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

    /// Parts side by side between a splitter and a joiner.
    fn parallel(&mut self, blocks: &Blocks, parts: &[usize]) -> (i64, i64) {
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

    /// Joiner, body and splitter below each other, and the loop stream beside them.
    fn feedback_loop(&mut self, blocks: &Blocks, parts: &[usize]) -> (i64, i64) {
        let (back, down): (Vec<usize>, Vec<usize>) =
            parts.iter().partition(|part| blocks.all[**part].role == Role::Back);
        let (width, height) = self.column(&down, TURN_SPACE);
        let Some(back) = back.first() else { return (width, height + TURN_SPACE) };
        let area = &mut self.areas[*back];
        let inside = (height - TURN_SPACE).max(area.height);
        (area.x, area.y) = (width + GAP, TURN_SPACE + (inside - area.height) / 2);
        (width + GAP + area.width, TURN_SPACE + inside + TURN_SPACE)
    }

    /// Moves the parts of a composite to its final position.
    fn place_children(&mut self, blocks: &Blocks, place: usize) {
        let (area, upwards) = (self.areas[place], self.upwards[place]);
        if blocks.all[place].node.is_some() {
            return;
        }
        for part in &blocks.all[place].children {
            let inside = &mut self.areas[*part];
            let room = area.height - TITLE_HEIGHT - MARGIN;
            let y = if upwards { room - inside.y - inside.height } else { inside.y };
            (inside.x, inside.y) = (area.x + inside.x, area.y + TITLE_HEIGHT + y);
            self.upwards[*part] = upwards != (blocks.all[*part].role == Role::Back);
        }
    }
}
