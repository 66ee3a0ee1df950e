//! Local alignment with affine gap costs, after Gotoh, "An improved algorithm for matching biological sequences", J.
//! Mol. Biol. 162 (1982), in blocks.
//!
//! Rows are letters of the target, columns letters of the query. A cell `(i, j)` has three values:
//! - `H(i, j)`: the best score of an alignment that ends with both letters, or 0;
//! - `E(i, j)`: the same for one that ends in a gap of the query, above: `max(E(i-1, j) - extend, H(i-1, j) - open)`;
//! - `F(i, j)`: the same for one that ends in a gap of the target, at the left, likewise from `(i, j-1)`.
//!
//! `H(i, j)` is the maximum of 0, `H(i-1, j-1)` plus the score of the pair, `E(i, j)` and `F(i, j)`.
//!
//! A block needs from its neighbours one [`Border`] above (the last row of `H`, and the `E` that enters its first row)
//! and one at the left. It replaces both by those of its own last row and column. A traceback needs the borders of all
//! blocks, which [`Grid::align`] keeps, and recomputes the blocks that it crosses.
//!
//! `skewed.rs` computes blocks of 8 and 16 bits where the processor has its instructions, and `kernel.rs` all others.
//!
//! The scores of one sequence with many of similar length are computed without blocks, in lanes (`lanes.rs`).

mod grid;
mod kernel;
#[cfg(target_arch = "x86_64")]
mod lanes;
#[cfg(not(target_arch = "x86_64"))]
#[path = "no_lanes.rs"]
mod lanes;
mod profile;
#[cfg(target_arch = "x86_64")]
mod scores;
#[cfg(target_arch = "x86_64")]
mod skewed;
#[cfg(all(test, target_arch = "x86_64"))]
mod testing;
mod trace;

pub(crate) use grid::{Grid, memory};
#[cfg(not(target_arch = "x86_64"))]
use lanes::Strips;
pub(crate) use lanes::{Tables, memory as memory_of_lanes};
pub(crate) use profile::Profile;
#[cfg(target_arch = "x86_64")]
use skewed::Strips;

/// The value of a gap before the first row or column. It is below all others, and nothing subtracts 2^30 from it.
pub(crate) const NONE: i32 = i32::MIN / 2;

/// The values that enter a block from one side, by row or column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Border {
    /// `H` of the last row or column before the block.
    pub score: Vec<i32>,
    /// `E` of the first row of the block, or `F` of its first column.
    pub gap: Vec<i32>,
}

impl Border {
    /// The border of `length` cells at the edge of the matrix.
    pub fn edge(length: usize) -> Border {
        Border { score: vec![0; length], gap: vec![NONE; length] }
    }
}

/// All that enters a block.
#[derive(Clone, Debug)]
pub(crate) struct Inflow {
    /// `H` of the cell above and at the left of the block's first.
    pub corner: i32,
    pub above: Border,
    pub left: Border,
}

impl Inflow {
    /// Whether all scores are below `limit`.
    pub fn is_below(&self, limit: i32) -> bool {
        let most = |border: &Border| border.score.iter().copied().max().unwrap_or(0);
        self.corner.max(most(&self.above)).max(most(&self.left)) < limit
    }
}
