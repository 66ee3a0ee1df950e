//! The traceback: recomputes the blocks that the alignment crosses, from the borders that entered them.

use super::Inflow;
use crate::Scoring;

/// Where the `H` of a cell comes from.
const SOURCE: u8 = 3;
/// Bits of a cell: `H` is 0, and an alignment begins after it.
pub(super) const STOP: u8 = 0;
/// `H` comes from the diagonal.
pub(super) const DIAGONAL: u8 = 1;
/// `H` is `E`.
pub(super) const ABOVE: u8 = 2;
/// `H` is `F`.
pub(super) const LEFT: u8 = 3;
/// The `E` of the cell below extends a gap instead of opening one. Of equal ones the shorter gap is taken.
pub(super) const ABOVE_EXTENDS: u8 = 4;
/// The same for the `F` of the cell at the right.
pub(super) const LEFT_EXTENDS: u8 = 8;

/// Where the values of the cells of a block come from.
pub(super) struct Sources {
    columns: usize,
    cells: Vec<u8>,
}

impl Sources {
    /// Computes the cells of a block. `query` and `target` are its letters, up to the last cell that matters. Calls
    /// `visit` with row, column and `H` of each, by row, until it returns `false`.
    pub fn compute(
        scoring: &Scoring,
        (open, extend): (i32, i32),
        query: &[u8],
        target: &[u8],
        inflow: &Inflow,
        mut visit: impl FnMut(usize, usize, i32) -> bool,
    ) -> Sources {
        let mut sources = Sources { columns: query.len(), cells: vec![STOP; query.len() * target.len()] };
        let mut above = inflow.above.clone();
        let mut corner = inflow.corner;
        for (row, letter) in target.iter().enumerate() {
            let mut diagonal = corner;
            corner = inflow.left.score[row];
            let mut gap = inflow.left.gap[row];
            let cells = sources.cells.chunks_mut(query.len().max(1)).nth(row).unwrap_or_default();
            for (column, cell) in cells.iter_mut().enumerate() {
                let paired = diagonal + scoring.of_codes(query[column], *letter);
                diagonal = above.score[column];
                let down = above.gap[column];
                let score = paired.max(down).max(gap).max(0);
                let opened = score - open;
                *cell = source(score, paired, down);
                *cell |= if down - extend > opened { ABOVE_EXTENDS } else { 0 };
                *cell |= if gap - extend > opened { LEFT_EXTENDS } else { 0 };
                above.score[column] = score;
                above.gap[column] = opened.max(down - extend);
                gap = opened.max(gap - extend);
                if !visit(row, column, score) {
                    return sources;
                }
            }
        }
        sources
    }

    /// Where `H` of a cell comes from.
    pub fn source(&self, row: usize, column: usize) -> u8 {
        self.cells[row * self.columns + column] & SOURCE
    }

    /// Whether a cell has one of the bits for gaps that extend.
    pub fn has(&self, row: usize, column: usize, bit: u8) -> bool {
        self.cells[row * self.columns + column] & bit != 0
    }
}

fn source(score: i32, paired: i32, down: i32) -> u8 {
    if score == 0 {
        STOP
    } else if score == paired {
        DIAGONAL
    } else if score == down {
        ABOVE
    } else {
        LEFT
    }
}
