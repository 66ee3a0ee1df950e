//! The blocks of a pair: their order, their borders, and the path through them.

use std::sync::atomic::{AtomicI32, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use super::profile::Block;
use super::trace::{ABOVE, ABOVE_EXTENDS, DIAGONAL, LEFT, LEFT_EXTENDS, STOP, Sources};
use super::{Border, Inflow, Profile};
use crate::alignment::{Alignment, Path, Step};
use crate::wavefront::Wavefront;
use crate::{Gap, Result, Scoring};

/// A block whose borders have no larger scores is tried with 8 bits.
const MOST_OF_BYTES: i32 = 192;

/// The bytes of the borders that [`Grid::align`] keeps, and of a block that it recomputes.
pub(crate) fn memory(query: usize, target: usize, block: usize) -> u64 {
    let [query, target, block] = [query, target, block].map(|size| size as u64);
    let borders = target.div_ceil(block) * query + query.div_ceil(block) * target;
    let blocks = target.div_ceil(block) * query.div_ceil(block);
    8 * borders + 128 * blocks + query.min(block) * target.min(block)
}

/// A pair of sequences as blocks.
pub(crate) struct Grid<'a> {
    query: &'a [u8],
    target: &'a [u8],
    scoring: &'a Scoring,
    profile: &'a Profile,
    block: usize,
    costs: (i32, i32),
    /// What enters the next block of each column of blocks from above.
    above: Vec<Mutex<Border>>,
    /// What enters the next block of each row of blocks from the left, with the corner.
    left: Vec<Mutex<(i32, Border)>>,
    /// The best score of each block, by rows.
    best: Vec<AtomicI32>,
    /// What entered each block, by rows, if it is kept.
    kept: Vec<OnceLock<Inflow>>,
}

impl<'a> Grid<'a> {
    /// The blocks of two sequences of codes, with the profile of the query for the same size of blocks.
    pub fn new(
        query: &'a [u8],
        target: &'a [u8],
        scoring: &'a Scoring,
        profile: &'a Profile,
        block: usize,
    ) -> Grid<'a> {
        let costs = match scoring.gap() {
            Gap::Affine { open, extend } => (*open, *extend),
            Gap::Cost(_) => (0, 0),
        };
        let above: Vec<_> = query.chunks(block).map(|part| Mutex::new(Border::edge(part.len()))).collect();
        let left: Vec<_> =
            target.chunks(block).map(|part| Mutex::new((0, Border::edge(part.len())))).collect();
        let best = (0..above.len() * left.len()).map(|_| AtomicI32::new(0)).collect();
        Grid { query, target, scoring, profile, block, costs, above, left, best, kept: Vec::new() }
    }

    /// The best score.
    pub fn score(&self, wavefront: Wavefront<'_>) -> Result<i32> {
        wavefront.run(self.left.len(), self.above.len(), |row, column| self.compute(row, column))?;
        Ok(self.best.iter().map(|best| best.load(Relaxed)).max().unwrap_or(0))
    }

    /// The best alignment if its score is at least `least` (at least 1): of several, that with the first last letter of
    /// the target, and then of the query.
    pub fn align(&mut self, least: i32, wavefront: Wavefront<'_>) -> Result<Option<Alignment>> {
        self.kept = self.best.iter().map(|_| OnceLock::new()).collect();
        let score = self.score(wavefront)?;
        if score < least.max(1) {
            return Ok(None);
        }
        Ok(self.end(score).map(|end| self.trace(score, end)))
    }

    /// Computes a block. The blocks at its left and above must have been computed, and those after them must not.
    fn compute(&self, row: usize, column: usize) -> u64 {
        let (mut above, mut left) = (lock(&self.above[column]), lock(&self.left[row]));
        let mut inflow = Inflow {
            corner: left.0,
            above: std::mem::replace(&mut above, Border::edge(0)),
            left: std::mem::replace(&mut left.1, Border::edge(0)),
        };
        let at = row * self.above.len() + column;
        if let Some(kept) = self.kept.get(at) {
            kept.get_or_init(|| inflow.clone());
        }
        let target = self.rows(row);
        let best = self.sweep(target, column, &mut inflow);
        self.best[at].store(best, Relaxed);
        let cells = target.len() * inflow.above.score.len();
        *above = inflow.above;
        *left = (inflow.corner, inflow.left);
        cells as u64
    }

    /// Computes a block with as few bits as its values have, and returns its best score.
    fn sweep(&self, target: &[u8], column: usize, inflow: &mut Inflow) -> i32 {
        let block = Block { column, target, costs: self.costs };
        if inflow.is_below(MOST_OF_BYTES) {
            let mut tried = inflow.clone();
            // The largest number stands for all larger values.
            if let Some(best) = self.profile.sweep_bytes(block, &mut tried).filter(|best| *best < 255) {
                *inflow = tried;
                return best;
            }
        }
        self.profile.sweep_any(block, inflow, (self.query, self.scoring, self.block))
    }

    /// The letters of the target in a row of blocks.
    fn rows(&self, row: usize) -> &'a [u8] {
        &self.target[row * self.block..self.target.len().min((row + 1) * self.block)]
    }

    /// The letters of the query in a column of blocks.
    fn columns(&self, column: usize) -> &'a [u8] {
        &self.query[column * self.block..self.query.len().min((column + 1) * self.block)]
    }

    /// Recomputes a block up to `rows` and `columns`.
    fn sources(
        &self,
        (row, column): (usize, usize),
        (rows, columns): (usize, usize),
        visit: impl FnMut(usize, usize, i32) -> bool,
    ) -> Option<Sources> {
        let inflow = self.kept.get(row * self.above.len() + column)?.get()?;
        let (query, target) = (&self.columns(column)[..columns], &self.rows(row)[..rows]);
        Some(Sources::compute(self.scoring, self.costs, query, target, inflow, visit))
    }

    /// The first cell with the best score, by row and then by column.
    fn end(&self, score: i32) -> Option<(usize, usize)> {
        let width = self.above.len();
        let has_best = |at: &usize| self.best[*at].load(Relaxed) == score;
        let row = (0..self.best.len()).find(has_best)? / width;
        let blocks = (row * width..(row + 1) * width).filter(has_best).map(|at| at % width);
        let ends = blocks.filter_map(|column| {
            let mut end = None;
            let size = (self.rows(row).len(), self.columns(column).len());
            self.sources((row, column), size, |i, j, here| {
                end = (here == score).then_some((row * self.block + i, column * self.block + j));
                end.is_none()
            })?;
            end
        });
        ends.min()
    }

    /// The alignment that ends with a cell.
    fn trace(&self, score: i32, (mut i, mut j): (usize, usize)) -> Alignment {
        let mut path = Path::ending(i + 1, j + 1);
        // The bit of the gap that the path is in, if any.
        let mut gap = 0;
        let mut ended = false;
        while !ended {
            let block = (i / self.block, j / self.block);
            let (first, size) =
                ((block.0 * self.block, block.1 * self.block), (i % self.block + 1, j % self.block + 1));
            let Some(sources) = self.sources(block, size, |_, _, _| true) else { break };
            loop {
                let (row, column) = (i - first.0, j - first.1);
                let source = match gap {
                    0 => sources.source(row, column),
                    bit if !sources.has(row, column, bit) => {
                        gap = 0;
                        continue;
                    }
                    ABOVE_EXTENDS => ABOVE,
                    _ => LEFT,
                };
                let step = match source {
                    DIAGONAL => (1, 1, Step::Pair),
                    ABOVE => (1, 0, Step::Deletion),
                    LEFT => (0, 1, Step::Insertion),
                    _ => (0, 0, Step::Pair),
                };
                gap = match source {
                    ABOVE => ABOVE_EXTENDS,
                    LEFT => LEFT_EXTENDS,
                    _ => 0,
                };
                if source == STOP {
                    ended = true;
                    break;
                }
                path.push(step.2);
                if i < step.0 || j < step.1 {
                    ended = true;
                    break;
                }
                (i, j) = (i - step.0, j - step.1);
                if i < first.0 || j < first.1 {
                    break;
                }
            }
        }
        path.finish(score)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
