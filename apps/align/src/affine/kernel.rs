//! The computation of a block.
//!
//! A row is computed in two passes, after Khajeh-Saeed, Poole and Perot, "Acceleration of the Smith-Waterman algorithm
//! using single and multiple graphics processors", J. Comput. Phys. 229 (2010):
//! 1. `H` without `F`, and for each lane the `F` that leaves it at its right, without what enters it at its left;
//! 2. what enters each lane, by a scan over the lanes; then `H` and the `E` of the next row.
//!
//! `F` may leave out the gaps that begin in cells whose `H` is an `F`: such a gap extends another, and `open >=
//! extend`. Both passes are loops over vectors without branches, so their time does not depend on the data.

use std::array::from_fn;

use pulp::{Arch, NullaryFnOnce};

use super::Inflow;
use super::profile::Columns;
use crate::number::Number;

/// Cells that are computed at once: with 16-bit values two vector registers of 256 bits, so that the operations on one need
/// not wait for those on the other.
pub(crate) const LANES: usize = 32;

type Vector<T> = [T; LANES];

/// The numbers that a block has in common.
#[derive(Clone, Copy)]
struct Costs<T> {
    zero: T,
    open: T,
    extend: T,
}

/// The vectors of the current row.
struct Row<T> {
    score: Vec<Vector<T>>,
    /// `E` of the row to compute next.
    gap: Vec<Vector<T>>,
}

/// Computes a block: replaces the borders by those that leave the block, and the corner by that of the block at the
/// right. Returns the best score of a cell.
pub(crate) fn sweep<T: Number>(
    columns: &Columns<T>,
    target: &[u8],
    gaps: (i32, i32),
    inflow: &mut Inflow,
) -> i32 {
    Arch::new().dispatch(Sweep { columns, target, gaps, inflow })
}

/// The computation of a block, which is compiled for each set of vector instructions that processors may have.
struct Sweep<'a, T> {
    columns: &'a Columns<T>,
    target: &'a [u8],
    gaps: (i32, i32),
    inflow: &'a mut Inflow,
}

impl<T: Number> NullaryFnOnce for Sweep<'_, T> {
    type Output = i32;

    #[inline(always)]
    fn call(self) -> i32 {
        compute(self.columns, self.target, self.gaps, self.inflow)
    }
}

#[inline(always)]
fn compute<T: Number>(
    columns: &Columns<T>,
    target: &[u8],
    (open, extend): (i32, i32),
    inflow: &mut Inflow,
) -> i32 {
    let base = inflow.corner;
    let costs =
        Costs { zero: T::relative(0, base), open: T::relative(open, 0), extend: T::relative(extend, 0) };
    let corner = inflow.above.score[columns.count - 1];
    let mut row = Row {
        score: lanes(&inflow.above.score, columns.steps, base),
        gap: lanes(&inflow.above.gap, columns.steps, base),
    };
    let mut best = [T::LOWEST; LANES];
    let mut diagonal = T::relative(inflow.corner, base);
    let last = columns.count - 1;
    let left = inflow.left.score.iter_mut().zip(&mut inflow.left.gap);
    for (letter, (left, gap)) in target.iter().zip(left) {
        let enters = T::relative(*gap, base);
        let leaves = next_row(&mut row, columns, *letter, (diagonal, enters), costs, &mut best);
        diagonal = T::relative(*left, base);
        *left = row.score[last % columns.steps][last / columns.steps].absolute(base);
        *gap = leaves.absolute(base);
    }
    unlane(&row.score, &mut inflow.above.score, base);
    unlane(&row.gap, &mut inflow.above.gap, base);
    inflow.corner = corner;
    let best = best.into_iter().max().unwrap_or(T::LOWEST);
    best.max(costs.zero).absolute(base).max(0)
}

/// Computes a row, and returns the `F` that leaves the block at its right.
#[inline(always)]
fn next_row<T: Number>(
    row: &mut Row<T>,
    columns: &Columns<T>,
    letter: u8,
    (diagonal, enters): (T, T),
    costs: Costs<T>,
    best: &mut Vector<T>,
) -> T {
    let leaving = without_left(row, columns.of(letter), diagonal, costs);
    let steps = columns.steps;
    // What crosses a lane from its left to its right loses `extend` at each step. A block is too short for more
    // than 16 bits of it, or the numbers have 32 (see `Profile`).
    let across = T::relative(costs.extend.absolute(0).saturating_mul(steps as i32), 0);
    let mut gap = [T::LOWEST; LANES];
    let mut carry = enters;
    for (gap, leaving) in gap.iter_mut().zip(leaving) {
        *gap = carry;
        carry = carry.minus(across).max(leaving);
    }
    let (lane, step) = (columns.count / steps, columns.count % steps);
    let (before, after) = (0..step, step..steps);
    with_left(&mut row.score[before.clone()], &mut row.gap[before], &mut gap, costs, best);
    // The column after the last one is in a lane, unless the columns fill all lanes.
    let leaves = if lane < LANES { gap[lane] } else { carry };
    with_left(&mut row.score[after.clone()], &mut row.gap[after], &mut gap, costs, best);
    leaves
}

/// The first pass. Returns the `F` that leaves each lane.
#[inline(always)]
fn without_left<T: Number>(
    row: &mut Row<T>,
    scores: &[Vector<T>],
    diagonal: T,
    costs: Costs<T>,
) -> Vector<T> {
    let last = row.score[row.score.len() - 1];
    let mut above: Vector<T> = from_fn(|lane| if lane == 0 { diagonal } else { last[lane - 1] });
    let mut leaving = [T::LOWEST; LANES];
    for ((score, gap), scores) in row.score.iter_mut().zip(&row.gap).zip(scores) {
        let here: Vector<T> = from_fn(|lane| above[lane].plus(scores[lane]).max(gap[lane]).max(costs.zero));
        above = *score;
        *score = here;
        leaving = from_fn(|lane| leaving[lane].minus(costs.extend).max(here[lane].minus(costs.open)));
    }
    leaving
}

/// The second pass, over a part of the vectors. `gap` has the `F` of the first one, and then that of the one after the
/// last.
#[inline(always)]
fn with_left<T: Number>(
    scores: &mut [Vector<T>],
    below: &mut [Vector<T>],
    gap: &mut Vector<T>,
    costs: Costs<T>,
    best: &mut Vector<T>,
) {
    let (mut left, mut most) = (*gap, *best);
    for (score, below) in scores.iter_mut().zip(below) {
        let here: Vector<T> = from_fn(|lane| score[lane].max(left[lane]));
        *score = here;
        most = from_fn(|lane| most[lane].max(here[lane]));
        let opened: Vector<T> = from_fn(|lane| here[lane].minus(costs.open));
        *below = from_fn(|lane| below[lane].minus(costs.extend).max(opened[lane]));
        left = from_fn(|lane| left[lane].minus(costs.extend).max(opened[lane]));
    }
    (*gap, *best) = (left, most);
}

/// The vectors of the values of a row, relative to `base`.
fn lanes<T: Number>(values: &[i32], steps: usize, base: i32) -> Vec<Vector<T>> {
    let mut vectors = vec![[T::LOWEST; LANES]; steps];
    for (column, value) in values.iter().enumerate() {
        vectors[column % steps][column / steps] = T::relative(*value, base);
    }
    vectors
}

/// The values of the vectors of a row.
fn unlane<T: Number>(vectors: &[Vector<T>], values: &mut [i32], base: i32) {
    for (column, value) in values.iter_mut().enumerate() {
        *value = vectors[column % vectors.len()][column / vectors.len()].absolute(base);
    }
}
