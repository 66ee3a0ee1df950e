//! The computation of a block.
//!
//! A row is computed in one pass over vectors whose lanes are far apart, after Farrar, "Striped Smith-Waterman speeds database
//! searches six times over other SIMD implementations", Bioinformatics 23 (2007): `H` and the `E` of the next row, with the
//! `F` that begins in the same lane. What enters a lane at its left is known after the pass, and seldom changes a cell: it
//! does not if it is at most 0, or at most what a gap that opens in the lane's first cell has. If it does in any lane, a scan
//! over the lanes finds the `F` that enters each of them, and a second pass corrects the cells from the first on, until no
//! `F` matters.
//!
//! An `F` or `E` that is not above 0 may be left out: no `H` is below 0.

use std::array::from_fn;
use std::ops::Range;

use pulp::{Arch, NullaryFnOnce};

use super::Inflow;
use super::profile::Columns;
use crate::number::{LANES, Number};

type Vector<T> = [T; LANES];

/// The numbers that a block has in common.
#[derive(Clone, Copy)]
struct Costs<T> {
    zero: T,
    open: T,
    extend: T,
    /// `extend`, with all its bits.
    whole_extend: i32,
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
    let base = T::base(inflow.corner);
    let costs = Costs {
        zero: T::relative(0, base),
        open: T::difference(open),
        extend: T::difference(extend),
        whole_extend: extend,
    };
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
    let (lane, step) = (columns.count / columns.steps, columns.count % columns.steps);
    let scores = columns.of(letter);
    let mut above = T::moved(row.score[columns.steps - 1], diagonal);
    let mut gap = [T::LOWEST; LANES];
    gap[0] = enters;
    pass(row, scores, 0..step, (&mut above, &mut gap), costs, best);
    let inside = gap[lane.min(LANES - 1)];
    pass(row, scores, step..columns.steps, (&mut above, &mut gap), costs, best);
    // If the last column ends its lane, the `F` that leaves it counts even if it changes no cell of the next lane: with costs
    // of 0, an `E` there may be as high.
    let leaves = if step == 0 { gap[lane - 1] } else { inside };
    let entering = T::moved(gap, T::LOWEST);
    match matters(&entering, &row.score[0], costs) {
        true => correct(row, columns, &gap, leaves, costs, best),
        false => leaves,
    }
}

/// Computes some vectors of a row. `gap` has the `F` of the first one, and then that of the one after the last; `above` the
/// `H` of the row above, one column at the left.
#[inline(always)]
fn pass<T: Number>(
    row: &mut Row<T>,
    scores: &[Vector<T>],
    range: Range<usize>,
    (above, gap): (&mut Vector<T>, &mut Vector<T>),
    costs: Costs<T>,
    best: &mut Vector<T>,
) {
    let (mut diagonal, mut left, mut most) = (*above, *gap, *best);
    let cells = row.score[range.clone()].iter_mut().zip(&mut row.gap[range.clone()]);
    for ((score, below), scores) in cells.zip(&scores[range]) {
        let here: Vector<T> = from_fn(|lane| {
            diagonal[lane].plus(scores[lane]).max(below[lane]).max(left[lane]).at_least(costs.zero)
        });
        diagonal = *score;
        *score = here;
        most = from_fn(|lane| most[lane].max(here[lane]));
        let opened: Vector<T> = from_fn(|lane| here[lane].minus(costs.open));
        *below = from_fn(|lane| below[lane].minus(costs.extend).max(opened[lane]));
        left = from_fn(|lane| left[lane].minus(costs.extend).max(opened[lane]));
    }
    (*above, *gap, *best) = (diagonal, left, most);
}

/// Whether an `F` changes a cell of these scores or one at their right.
#[inline(always)]
fn matters<T: Number>(gap: &Vector<T>, score: &Vector<T>, costs: Costs<T>) -> bool {
    let over: Vector<bool> = from_fn(|lane| gap[lane] > score[lane].minus(costs.open).max(costs.zero));
    over.iter().fold(false, |any, over| any | over)
}

/// Corrects a row by the `F` that cross lanes. `leaving` has those that leave each lane, and `leaves` the one that leaves the
/// last column, all without what enters the lane. Returns the `F` that leaves the block.
///
/// Most of them soon end. Only where one crosses a whole lane, the `F` that enter the lanes are those of a scan.
#[inline(always)]
fn correct<T: Number>(
    row: &mut Row<T>,
    columns: &Columns<T>,
    leaving: &Vector<T>,
    mut leaves: T,
    costs: Costs<T>,
    best: &mut Vector<T>,
) -> T {
    if enter(row, columns, T::moved(*leaving, T::LOWEST), &mut leaves, costs, best) {
        // What crosses a lane from its left to its right loses `extend` at each step.
        let across = costs.whole_extend.saturating_mul(columns.steps as i32);
        let mut gap = [T::LOWEST; LANES];
        let mut carry = T::LOWEST;
        for (gap, leaving) in gap.iter_mut().zip(leaving) {
            *gap = carry;
            carry = T::relative(carry.absolute(0).saturating_sub(across), 0).max(*leaving);
        }
        enter(row, columns, gap, &mut leaves, costs, best);
        if columns.count == columns.steps * LANES {
            leaves = leaves.max(carry);
        }
    }
    leaves
}

/// Corrects a row by the `F` that enter each lane, from the first vector on until none matters. Returns whether one has crossed
/// a lane.
#[inline(always)]
fn enter<T: Number>(
    row: &mut Row<T>,
    columns: &Columns<T>,
    mut gap: Vector<T>,
    leaves: &mut T,
    costs: Costs<T>,
    best: &mut Vector<T>,
) -> bool {
    let last = (columns.count / columns.steps, columns.count % columns.steps);
    for at in 0..columns.steps {
        if at == last.1 && last.0 < LANES {
            *leaves = gap[last.0].max(*leaves);
        }
        if !matters(&gap, &row.score[at], costs) {
            return false;
        }
        let here: Vector<T> = from_fn(|lane| row.score[at][lane].max(gap[lane]));
        row.score[at] = here;
        *best = from_fn(|lane| best[lane].max(here[lane]));
        row.gap[at] = from_fn(|lane| row.gap[at][lane].max(here[lane].minus(costs.open)));
        gap = from_fn(|lane| gap[lane].minus(costs.extend));
    }
    true
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
