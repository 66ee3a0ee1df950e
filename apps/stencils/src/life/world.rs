//! A world of cells and its generations.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use super::grid::{Grid, finish_row};
use super::kernel::next_rows;
use super::{Error, Pattern, Rule};
use thalweg::Loop;

/// About the number of words that one step of a loop computes: some microseconds of work.
const CHUNK_WORDS: usize = 2048;

/// The rows that one step of a loop computes, at least: the kernel is slower with fewer.
const LEAST_ROWS: usize = 16;

/// The dead cells that a plane gets on each side where it grows, at least.
const MARGIN: usize = 64;

/// A world of cells: a plane that grows where cells come to its border, or a torus.
///
/// The generations are the same at any number of threads. See [`Pattern`] for an example.
#[derive(Clone, Debug)]
pub struct Life {
    grid: Grid,
    /// The memory for the next generation.
    next: Grid,
    rule: Rule,
    edge: Edge,
    /// The coordinates of the grid's first cell.
    origin: (i64, i64),
    generation: u64,
    population: u64,
    /// Whether a cell at the border of the grid is alive.
    touches: bool,
    loops: Loop,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Edge {
    Torus,
    /// The grid grows up to this number of bytes of both generations.
    Plane {
        limit: usize,
    },
}

impl Life {
    /// An unbounded plane with a pattern, whose corner has the pattern's position, or (0, 0). It has memory for the smallest
    /// rectangle that has ever held all living cells, about; at most `limit` bytes.
    ///
    /// # Errors
    /// [`Error::Memory`] if the pattern does not fit; [`Error::FillsThePlane`] for rules with `B0`.
    pub fn plane(pattern: &Pattern, limit: usize) -> Result<Self, Error> {
        if pattern.rule.fills_the_plane() {
            return Err(Error::FillsThePlane(pattern.rule));
        }
        let (width, height) = (pattern.width + 2 * MARGIN, pattern.height + 2 * MARGIN);
        let mut life = Self::empty(width, height, pattern, Edge::Plane { limit }, limit)?;
        let (x, y) = pattern.position.unwrap_or((0, 0));
        life.origin = (x - MARGIN as i64, y - MARGIN as i64);
        life.place(pattern, MARGIN, MARGIN);
        Ok(life)
    }

    /// A torus of `size.0` columns and `size.1` rows with a pattern at its position, or in the centre: opposite sides are
    /// neighbours.
    ///
    /// # Errors
    /// [`Error::Size`] if the pattern does not fit, [`Error::Memory`] if the torus takes more than `limit` bytes.
    pub fn torus(pattern: &Pattern, size: (usize, usize), limit: usize) -> Result<Self, Error> {
        let extent = (pattern.width, pattern.height);
        if extent.0 > size.0 || extent.1 > size.1 || size.0 == 0 || size.1 == 0 {
            return Err(Error::Size { pattern: extent, torus: size });
        }
        let mut life = Self::empty(size.0, size.1, pattern, Edge::Torus, limit)?;
        let (x, y) = match pattern.position {
            Some((x, y)) => (x.rem_euclid(size.0 as i64) as usize, y.rem_euclid(size.1 as i64) as usize),
            None => ((size.0 - extent.0) / 2, (size.1 - extent.1) / 2),
        };
        life.place(pattern, x, y);
        Ok(life)
    }

    /// A plane, or a torus, with random cells in a rectangle of this size, half of them alive. Equal seeds have equal cells.
    ///
    /// # Errors
    /// As [`Life::plane`] and [`Life::torus`].
    pub fn random(
        seed: u64,
        size: (usize, usize),
        rule: Rule,
        torus: bool,
        limit: usize,
    ) -> Result<Self, Error> {
        let nothing = Pattern::empty(size, rule);
        let mut life =
            if torus { Self::torus(&nothing, size, limit)? } else { Self::plane(&nothing, limit)? };
        let margin = if torus { 0 } else { MARGIN };
        let stride = life.grid.stride();
        let rows = margin * stride..(margin + size.1) * stride;
        let inner = &mut life.grid.rows_mut()[rows];
        life.loops.for_chunks(inner, stride, |y, row| {
            let words = &mut row[1 + margin / 64..][..size.0.div_ceil(64)];
            for (at, word) in words.iter_mut().enumerate() {
                *word = mix(mix(mix(seed) ^ y as u64) ^ at as u64);
            }
            if !size.0.is_multiple_of(64) {
                words[size.0 / 64] &= !(u64::MAX << (size.0 % 64));
            }
        });
        life.finish();
        Ok(life)
    }

    /// A world of this size without living cells, with the rule and the generation of a pattern.
    fn empty(
        width: usize,
        height: usize,
        pattern: &Pattern,
        edge: Edge,
        limit: usize,
    ) -> Result<Self, Error> {
        let Pattern { rule, generation, .. } = *pattern;
        check_size((width, height), limit, generation, true)?;
        let (grid, next) = (Grid::new(width, height), Grid::new(width, height));
        let (origin, loops) = ((0, 0), Loop::new());
        Ok(Life { grid, next, rule, edge, origin, generation, population: 0, touches: false, loops })
    }

    /// Makes the cells of a pattern alive, with its corner at a cell of the grid. What is beyond the last column or row of a
    /// torus continues on the opposite side.
    fn place(&mut self, pattern: &Pattern, x: usize, y: usize) {
        let (width, height) = (self.grid.width, self.grid.height);
        for run in &pattern.runs {
            let (x, y) = ((x + run.x) % width, (y + run.y) % height);
            let here = run.count.min(width - x);
            self.grid.fill(x, y, here);
            self.grid.fill(0, y, run.count - here);
        }
        self.finish();
    }

    fn finish(&mut self) {
        let facts = self.grid.finish(self.is_torus());
        (self.population, self.touches) = (facts.population, facts.touches);
    }

    /// Sets the number of threads that compute a generation. Without it all that the process may run at once do.
    pub fn threads(mut self, threads: usize) -> Self {
        self.loops = self.loops.members(threads);
        self
    }

    /// Computes the next generation.
    ///
    /// # Errors
    /// [`Error::Memory`] if the plane would have to grow beyond its limit. The world is as before.
    pub fn step(&mut self) -> Result<(), Error> {
        if let (Edge::Plane { limit }, true) = (self.edge, self.touches) {
            self.grow(limit)?;
        }
        let (rule, torus, old) = (self.rule, self.is_torus(), &self.grid);
        let (width, stride) = (old.width, old.stride());
        let rows = (CHUNK_WORDS / stride).max(LEAST_ROWS);
        let (population, touches) = (AtomicU64::new(0), AtomicBool::new(false));
        self.loops.for_chunks(self.next.rows_mut(), rows * stride, |chunk, new| {
            let mut count = 0;
            let mut finish = |row: &mut [u64]| {
                let facts = finish_row(row, width, torus);
                count += facts.population;
                if facts.touches {
                    touches.store(true, Ordering::Relaxed);
                }
            };
            next_rows(rule, stride, old.around(chunk * rows, new.len() / stride), new, &mut finish);
            // Relaxed: the end of the loop orders these with the reads below.
            population.fetch_add(count, Ordering::Relaxed);
        });
        self.next.finish_rows(torus);
        std::mem::swap(&mut self.grid, &mut self.next);
        self.population = population.into_inner();
        self.touches = touches.into_inner() || self.grid.touches_rows();
        self.generation += 1;
        Ok(())
    }

    /// Computes the next `generations`.
    ///
    /// # Errors
    /// As [`Life::step`].
    pub fn run(&mut self, generations: u64) -> Result<(), Error> {
        (0..generations).try_for_each(|_| self.step())
    }

    /// Adds dead cells on the sides where cells are alive.
    fn grow(&mut self, limit: usize) -> Result<(), Error> {
        let Grid { width, height, .. } = self.grid;
        let column = |x: usize| (0..height).any(|y| self.grid.get(x, y));
        let row = |y: usize| self.grid.row(y).iter().any(|word| *word != 0);
        // A share of the size, so that the cells that are copied while a pattern grows stay in proportion to its final
        // size. Whole words on the left keep the cells of a row in line.
        let (more_x, more_y) = ((width / 4).next_multiple_of(64).max(MARGIN), (height / 4).max(MARGIN));
        let side = |alive: bool, more: usize| if alive { more } else { 0 };
        let (left, right) = (side(column(0), more_x), side(column(width - 1), more_x));
        let (top, bottom) = (side(row(0), more_y), side(row(height - 1), more_y));
        let (width, height) = (left + width + right, top + height + bottom);
        check_size((width, height), limit, self.generation, false)?;
        // Freed before the new ones are allocated: together they may exceed the limit.
        self.next = Grid::new(1, 1);
        let mut grid = Grid::new(width, height);
        let stride = grid.stride();
        let old = &self.grid;
        self.loops.for_chunks(
            &mut grid.rows_mut()[top * stride..][..old.height * stride],
            stride,
            |y, row| {
                let words = old.row(y);
                row[1 + left / 64..][..words.len()].copy_from_slice(words);
            },
        );
        self.grid = grid;
        self.next = Grid::new(width, height);
        self.origin = (self.origin.0 - left as i64, self.origin.1 - top as i64);
        Ok(())
    }

    /// The generations since the beginning.
    pub fn generation(&self) -> u64 {
        self.generation
    }

    /// The number of living cells.
    pub fn population(&self) -> u64 {
        self.population
    }

    /// The rule.
    pub fn rule(&self) -> Rule {
        self.rule
    }

    /// Whether opposite sides are neighbours.
    pub fn is_torus(&self) -> bool {
        self.edge == Edge::Torus
    }

    /// The columns and rows that have memory: of a torus its size.
    pub fn size(&self) -> (usize, usize) {
        (self.grid.width, self.grid.height)
    }

    /// Whether a cell lives. Cells beyond the memory of a plane, or beyond a torus, do not.
    pub fn is_alive(&self, x: i64, y: i64) -> bool {
        let at = usize::try_from(x - self.origin.0).ok().zip(usize::try_from(y - self.origin.1).ok());
        at.is_some_and(|(x, y)| x < self.grid.width && y < self.grid.height && self.grid.get(x, y))
    }

    /// The smallest rectangle around all living cells: left, top, right and bottom, each inclusive.
    pub fn bounds(&self) -> Option<(i64, i64, i64, i64)> {
        let mut all: Option<(i64, i64, i64, i64)> = None;
        for (row, y) in self.rows().enumerate() {
            let Some((left, right)) = self.grid.extent(row) else { continue };
            let (left, right) = (self.origin.0 + left as i64, self.origin.0 + right as i64);
            all = Some(match all {
                None => (left, y, right, y),
                Some((l, top, r, _)) => (l.min(left), top, r.max(right), y),
            });
        }
        all
    }

    /// The world's living cells in the RLE format, with lines of at most 70 characters.
    pub fn to_rle(&self) -> String {
        super::rle::write(self)
    }

    /// The rows that have memory.
    fn rows(&self) -> std::ops::Range<i64> {
        self.origin.1..self.origin.1 + self.grid.height as i64
    }

    /// Runs of living cells of row `y`: the first cell and the number of cells.
    pub(super) fn runs(&self, y: i64) -> impl Iterator<Item = (i64, i64)> {
        let row = usize::try_from(y - self.origin.1).ok().filter(|y| *y < self.grid.height);
        let left = self.origin.0;
        let runs = row.into_iter().flat_map(|y| self.grid.runs(y));
        runs.map(move |(x, count)| (left + x as i64, count as i64))
    }

    /// All living cells, row by row.
    pub(super) fn cells(&self) -> Vec<(i64, i64)> {
        let row = |y| self.runs(y).flat_map(move |(x, count)| (x..x + count).map(move |x| (x, y)));
        self.rows().flat_map(row).collect()
    }

    /// A copy of the cells. `None` if there is no memory for it.
    pub(super) fn copy_of_cells(&self) -> Option<Grid> {
        self.grid.try_clone()
    }

    /// Whether the cells are these of a torus of the same size.
    pub(super) fn has_cells(&self, other: &Grid) -> bool {
        self.grid == *other
    }
}

fn check_size(
    (width, height): (usize, usize),
    limit: usize,
    generation: u64,
    begins: bool,
) -> Result<(), Error> {
    let bytes = Grid::bytes(width, height).and_then(|bytes| bytes.checked_mul(2)).unwrap_or(usize::MAX);
    if bytes > limit {
        Err(Error::Memory { width, height, bytes, limit, generation, begins })
    } else {
        Ok(())
    }
}

/// The generator SplitMix64, as a function of its state.
fn mix(state: u64) -> u64 {
    let state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let state = (state ^ state >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let state = (state ^ state >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
    state ^ state >> 31
}
