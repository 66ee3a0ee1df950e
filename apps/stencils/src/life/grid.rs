//! The cells of a rectangle as bits, with the cells around it.

/// A rectangle of cells, a bit each. Beside it are the *outer* cells: a row above and below, and a word at both ends of
/// each row. They are dead, or on a torus those of the opposite side.
///
/// Invariant: all cells beyond the outer ones next to the rectangle are dead, so equal rectangles have equal words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Grid {
    pub width: usize,
    pub height: usize,
    words: Vec<u64>,
}

/// What a row holds.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct RowFacts {
    pub population: u64,
    /// Whether the first or the last cell of the row is alive.
    pub touches: bool,
}

impl Grid {
    /// Dead cells.
    ///
    /// # Panics
    /// If `width` or `height` is zero.
    pub fn new(width: usize, height: usize) -> Self {
        assert!(width > 0 && height > 0, "a grid has cells");
        let stride = width.div_ceil(64) + 2;
        Grid { width, height, words: vec![0; stride * (height + 2)] }
    }

    /// A copy. `None` if there is no memory for it.
    pub fn try_clone(&self) -> Option<Grid> {
        let mut words = Vec::new();
        words.try_reserve_exact(self.words.len()).ok()?;
        words.extend_from_slice(&self.words);
        Some(Grid { words, ..*self })
    }

    /// The bytes of a grid of this size. `None` if it is more than the address space.
    pub fn bytes(width: usize, height: usize) -> Option<usize> {
        width.div_ceil(64).checked_add(2)?.checked_mul(8)?.checked_mul(height.checked_add(2)?)
    }

    /// The words of a row with its outer cells.
    pub fn stride(&self) -> usize {
        self.width.div_ceil(64) + 2
    }

    /// `count` rows from row `y` on, the row above them and the row below, with their outer cells.
    pub fn around(&self, y: usize, count: usize) -> &[u64] {
        let stride = self.stride();
        &self.words[y * stride..(y + count + 2) * stride]
    }

    /// The words of row `y`, without outer cells but for those in the last word.
    pub fn row(&self, y: usize) -> &[u64] {
        let stride = self.stride();
        &self.words[(y + 1) * stride + 1..(y + 2) * stride - 1]
    }

    /// All rows with their outer cells, without the rows above and below.
    pub fn rows_mut(&mut self) -> &mut [u64] {
        let (stride, height) = (self.stride(), self.height);
        &mut self.words[stride..(height + 1) * stride]
    }

    pub fn get(&self, x: usize, y: usize) -> bool {
        self.row(y)[x / 64] >> (x % 64) & 1 == 1
    }

    /// Makes `count` cells of row `y` alive, from `x` on. [`Grid::finish`] must follow.
    pub fn fill(&mut self, x: usize, y: usize, count: usize) {
        let at = (y + 1) * self.stride() + 1;
        for x in x..x + count {
            self.words[at + x / 64] |= 1 << (x % 64);
        }
    }

    /// Corrects the outer cells after changes of cells, and counts.
    pub fn finish(&mut self, torus: bool) -> RowFacts {
        let (width, stride) = (self.width, self.stride());
        let mut all = RowFacts::default();
        for row in self.rows_mut().chunks_exact_mut(stride) {
            let facts = finish_row(row, width, torus);
            all.population += facts.population;
            all.touches |= facts.touches;
        }
        self.finish_rows(torus);
        all.touches |= self.touches_rows();
        all
    }

    /// Makes the rows above and below those of the opposite side, or dead.
    pub fn finish_rows(&mut self, torus: bool) {
        let (stride, height) = (self.stride(), self.height);
        if torus {
            self.words.copy_within(height * stride..(height + 1) * stride, 0);
            self.words.copy_within(stride..2 * stride, (height + 1) * stride);
        }
    }

    /// Whether a cell of the first or the last row is alive.
    pub fn touches_rows(&self) -> bool {
        [0, self.height - 1].iter().any(|y| self.row(*y).iter().any(|word| *word != 0))
    }

    /// The first and the last living cell of row `y`.
    pub fn extent(&self, y: usize) -> Option<(usize, usize)> {
        let row = self.row(y);
        let first = next(row, self.width, 0, 0)?;
        // The bits after the last cell are outer cells.
        let beyond = match self.width % 64 {
            0 => 0,
            cells => u64::MAX << cells,
        };
        let inner = |at: usize| row[at] & if at + 1 == row.len() { !beyond } else { u64::MAX };
        let at = (0..row.len()).rev().find(|at| inner(*at) != 0)?;
        Some((first, at * 64 + 63 - inner(at).leading_zeros() as usize))
    }

    /// Runs of living cells of row `y`: the first cell and the number of cells.
    pub fn runs(&self, y: usize) -> impl Iterator<Item = (usize, usize)> {
        let (row, width) = (self.row(y), self.width);
        let mut from = 0;
        std::iter::from_fn(move || {
            let start = next(row, width, from, 0)?;
            let end = next(row, width, start, u64::MAX).unwrap_or(width);
            from = end;
            Some((start, end - start))
        })
    }
}

/// The first cell of a row, from `from` on, of which the bit differs from those of `plain` (0 or all ones).
fn next(row: &[u64], width: usize, from: usize, plain: u64) -> Option<usize> {
    let mut at = from / 64;
    let mut word = (row.get(at)? ^ plain) & u64::MAX << (from % 64);
    while word == 0 {
        at += 1;
        word = row.get(at)? ^ plain;
    }
    let x = at * 64 + word.trailing_zeros() as usize;
    (x < width).then_some(x)
}

/// Clears what is beyond the end of a row, counts its cells, and sets its outer cells.
pub(crate) fn finish_row(row: &mut [u64], width: usize, torus: bool) -> RowFacts {
    let words = row.len() - 2;
    let beyond = width % 64;
    if beyond > 0 {
        row[words] &= !(u64::MAX << beyond);
    }
    let population = row[1..=words].iter().map(|word| u64::from(word.count_ones())).sum();
    let first = row[1] & 1;
    let last = row[words] >> ((width - 1) % 64) & 1;
    (row[0], row[words + 1]) = (0, 0);
    if torus {
        row[0] = last << 63;
        if beyond > 0 {
            row[words] |= first << beyond;
        } else {
            row[words + 1] = first;
        }
    }
    RowFacts { population, touches: (first | last) == 1 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_those_of_the_cells() {
        for width in [1, 63, 64, 65, 128, 200] {
            for torus in [false, true] {
                let mut grid = Grid::new(width, 1);
                let alive = |x: usize| x % 7 < 3 || x.is_multiple_of(64) || x == width - 1;
                (0..width).filter(|x| alive(*x)).for_each(|x| grid.fill(x, 0, 1));
                let facts = grid.finish(torus);
                let cells: Vec<usize> = grid.runs(0).flat_map(|(x, count)| x..x + count).collect();
                let expected: Vec<usize> = (0..width).filter(|x| alive(*x)).collect();
                assert_eq!(cells, expected, "{width} {torus}");
                assert_eq!(facts.population, expected.len() as u64);
                assert!(facts.touches);
                assert!((0..width).all(|x| grid.get(x, 0) == alive(x)));
                assert_eq!(grid.extent(0), Some((0, width - 1)), "{width} {torus}");
                // A cell at the begin is an outer cell at the end of a torus.
                let mut first = Grid::new(width, 1);
                assert_eq!(first.extent(0), None);
                first.fill(0, 0, 1);
                first.finish(torus);
                assert_eq!(first.extent(0), Some((0, 0)), "{width} {torus}");
            }
        }
    }
}
