//! Local alignment with any gap cost: a cell looks at all cells above it and at its left (Waterman, Smith and Beyer,
//! "Some biological sequence metrics", Adv. Math. 20 (1976)).
//!
//! The score of each cell is kept, twice: by rows for the cells below, and by columns for those at the right, so that
//! both read whole vectors. A block takes first what comes from the blocks above and at the left, and then computes its
//! cells one by one.

use std::array::from_fn;
use std::sync::OnceLock;

use crate::alignment::{Alignment, Path, Step};
use crate::number::Number;
use crate::wavefront::Wavefront;
use crate::{Result, Scoring};

/// Cells of a row that are updated at once.
const WIDTH: usize = 32;

/// The bytes that a pair takes.
pub(crate) fn memory(query: usize, target: usize, block: usize, narrow: bool) -> u64 {
    let rows = |cells: usize| (cells.div_ceil(block) * padded(block.min(cells))) as u64;
    let cells = rows(query) * target as u64 + rows(target) * query as u64;
    cells * if narrow { 2 } else { 4 } + 4 * (query + target) as u64
}

/// Whether the scores of a pair fit into 16 bits.
pub(crate) fn is_narrow(query: usize, target: usize, scoring: &Scoring) -> bool {
    (query.min(target) as u64 + 1) * (scoring.most() as u64) < i16::MAX as u64
}

fn padded(cells: usize) -> usize {
    cells.next_multiple_of(WIDTH)
}

/// Rows of cells, each padded to a multiple of [`WIDTH`].
struct Cells<T> {
    stride: usize,
    cells: Vec<T>,
}

impl<T: Number> Cells<T> {
    fn new(rows: usize, columns: usize) -> Cells<T> {
        let stride = padded(columns);
        Cells { stride, cells: vec![T::LOWEST; rows * stride] }
    }

    fn rows(&self) -> usize {
        self.cells.len() / self.stride
    }

    fn row(&self, row: usize) -> &[T] {
        &self.cells[row * self.stride..(row + 1) * self.stride]
    }

    fn row_mut(&mut self, row: usize) -> &mut [T] {
        &mut self.cells[row * self.stride..(row + 1) * self.stride]
    }

    /// Raises a row to what comes from rows of other cells. `costs` has the cost for each of them.
    fn raise(&mut self, row: usize, from: &Cells<T>, costs: impl Iterator<Item = T> + Clone) {
        for (part, most) in self.row_mut(row).as_chunks_mut::<WIDTH>().0.iter_mut().enumerate() {
            let mut best = *most;
            for (from, cost) in from.cells.chunks_exact(from.stride).zip(costs.clone()) {
                let from = &from.as_chunks::<WIDTH>().0[part];
                best = from_fn(|at| best[at].max(from[at].minus(cost)));
            }
            *most = best;
        }
    }
}

/// The scores of a block.
struct Block<T> {
    by_row: Cells<T>,
    by_column: Cells<T>,
}

/// A pair of sequences as blocks.
pub(crate) struct Cube<'a, T> {
    query: &'a [u8],
    target: &'a [u8],
    scoring: &'a Scoring,
    block: usize,
    /// By letters of the gap.
    costs: Vec<T>,
    /// By rows.
    blocks: Vec<OnceLock<Block<T>>>,
    columns: usize,
}

impl<'a, T: Number> Cube<'a, T> {
    pub fn new(query: &'a [u8], target: &'a [u8], scoring: &'a Scoring, block: usize) -> Cube<'a, T> {
        let cost = |letters| T::relative(scoring.gap().cost(letters), 0);
        let longest = query.len().max(target.len());
        let costs = (0..=longest).map(|letters| cost(letters.max(1))).collect();
        let columns = query.len().div_ceil(block);
        let blocks = (0..columns * target.len().div_ceil(block)).map(|_| OnceLock::new()).collect();
        Cube { query, target, scoring, block, costs, blocks, columns }
    }

    /// The best alignment if its score is at least `least` (at least 1), with the first end as in
    /// [`Grid::align`](crate::affine::Grid::align). Of equal ways to a cell, a pair comes first, and then the shortest
    /// gap in the query.
    pub fn align(&self, least: i32, wavefront: Wavefront<'_>) -> Result<Option<Alignment>> {
        let rows = self.target.len().div_ceil(self.block);
        wavefront.run(rows, self.columns, |row, column| self.compute(row, column))?;
        let mut best = (0, (0, 0));
        for i in 0..self.target.len() {
            for j in 0..self.query.len() {
                let score = self.score(i, j).absolute(0);
                if score > best.0 {
                    best = (score, (i, j));
                }
            }
        }
        Ok((best.0 >= least.max(1)).then(|| self.trace(best.0, best.1)))
    }

    /// Computes a block. The blocks at its left and above must have been computed.
    fn compute(&self, row: usize, column: usize) -> u64 {
        let size = |length: usize, at: usize| (length - at * self.block).min(self.block);
        let (rows, columns) = (size(self.target.len(), row), size(self.query.len(), column));
        let mut above = Cells::new(rows, columns);
        for from in 0..row {
            self.raise(&mut above, self.at(from, column).map(|block| &block.by_row), row - from);
        }
        let mut left = Cells::new(columns, rows);
        for from in 0..column {
            self.raise(&mut left, self.at(row, from).map(|block| &block.by_column), column - from);
        }
        let block = self.cells((row, column), above, &left);
        self.blocks[row * self.columns + column].get_or_init(|| block);
        (rows * columns) as u64
    }

    /// Raises all rows to what comes from a block that is `blocks` blocks before.
    fn raise(&self, to: &mut Cells<T>, from: Option<&Cells<T>>, blocks: usize) {
        let Some(from) = from else { return };
        for row in 0..to.rows() {
            let farthest = blocks * self.block + row;
            to.raise(row, from, self.costs[..=farthest].iter().rev().copied());
        }
    }

    /// The cells of a block, from what comes from the blocks above, by row, and at its left, by column.
    fn cells(&self, (row, column): (usize, usize), mut above: Cells<T>, left: &Cells<T>) -> Block<T> {
        let (rows, columns) = (above.rows(), left.rows());
        let (first_row, first_column) = (row * self.block, column * self.block);
        let zero = T::relative(0, 0);
        let mut by_row = Cells::new(rows, columns);
        let mut by_column = Cells::new(columns, rows);
        for i in 0..rows {
            let mut gaps: Vec<T> =
                (0..columns).map(|j| above.row(i)[j].max(left.row(j)[i]).max(zero)).collect();
            for j in 0..columns {
                let before = match (i, j) {
                    (0, _) | (_, 0) => self.diagonal(first_row + i, first_column + j),
                    _ => by_row.row(i - 1)[j - 1],
                };
                let pair = self.pair(first_row + i, first_column + j);
                let score = gaps[j].max(before.plus(T::relative(pair, 0)));
                by_row.row_mut(i)[j] = score;
                by_column.row_mut(j)[i] = score;
                for (gap, cost) in gaps[j + 1..].iter_mut().zip(&self.costs[1..]) {
                    *gap = (*gap).max(score.minus(*cost));
                }
            }
            for below in i + 1..rows {
                let cost = self.costs[below - i];
                for (gap, score) in above.row_mut(below).iter_mut().zip(by_row.row(i)) {
                    *gap = (*gap).max(score.minus(cost));
                }
            }
        }
        Block { by_row, by_column }
    }

    fn at(&self, row: usize, column: usize) -> Option<&Block<T>> {
        self.blocks[row * self.columns + column].get()
    }

    /// The score of a computed cell.
    fn score(&self, i: usize, j: usize) -> T {
        let block = self.at(i / self.block, j / self.block);
        block.map_or(T::LOWEST, |block| block.by_row.row(i % self.block)[j % self.block])
    }

    /// The score of the cell above and at the left, 0 at the edge.
    fn diagonal(&self, i: usize, j: usize) -> T {
        if i == 0 || j == 0 { T::relative(0, 0) } else { self.score(i - 1, j - 1) }
    }

    fn pair(&self, i: usize, j: usize) -> i32 {
        self.scoring.of_codes(self.query[j], self.target[i])
    }

    /// The alignment that ends with a cell.
    fn trace(&self, score: i32, (i, j): (usize, usize)) -> Alignment {
        let mut path = Path::ending(i + 1, j + 1);
        // One after the current cell.
        let (mut i, mut j) = (i + 1, j + 1);
        while i > 0 && j > 0 && self.score(i - 1, j - 1) > T::relative(0, 0) {
            let here = self.score(i - 1, j - 1);
            let before = self.diagonal(i - 1, j - 1);
            let comes = |from: T, letters: usize| from.minus(self.costs[letters]) == here;
            if before.plus(T::relative(self.pair(i - 1, j - 1), 0)) == here {
                path.push(Step::Pair);
                (i, j) = (i - 1, j - 1);
            } else if let Some(letters) = (1..i).find(|k| comes(self.score(i - 1 - k, j - 1), *k)) {
                path.push_run(Step::Deletion, letters);
                i -= letters;
            } else if let Some(letters) = (1..j).find(|k| comes(self.score(i - 1, j - 1 - k), *k)) {
                path.push_run(Step::Insertion, letters);
                j -= letters;
            } else {
                debug_assert!(false, "the score of a cell comes from another");
                break;
            }
        }
        path.finish(score)
    }
}
