//! The jobs of loops, and the perfect split of each.

use super::executor::{Alone, Executor};
use super::grid::{Grid, Read, Write};
use super::kernels::{heat_row, life_block, loop_work};
use crate::jobs::{equal_shares, split_prepared};
use crate::row::{Row, timed};
use crate::work::{fold, mix};
use std::ffi::c_long;
use std::ops::Range;

/// What a loop computes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Shape {
    /// An independent piece of work for each row.
    Work {
        /// The steps of a piece.
        steps: u64,
    },
    /// A step of heat diffusion over rows of `f64`.
    Heat,
    /// A step of the game of life over blocks of bytes.
    Life {
        /// The rows and columns of a block.
        block: (usize, usize),
    },
}

/// A loop that is executed many times.
#[derive(Clone, Copy, Debug)]
pub struct LoopJob {
    /// What it computes.
    pub shape: Shape,
    /// The rows and columns.
    pub size: (usize, usize),
    /// An imbalance: this many of the first rows are computed this many times. Of heat diffusion none are.
    pub planted: (usize, usize),
    /// The number of loops.
    pub repeats: usize,
}

/// The memory of a job.
pub(super) enum Data {
    Work(Grid<u8>),
    Heat([Grid<f64>; 2]),
    Life([Grid<u8>; 2]),
}

impl LoopJob {
    /// Sets the number of loops so that a perfect split over these threads takes about this time.
    pub fn lasting(self, seconds: f64, threads: usize) -> LoopJob {
        let few = LoopJob { repeats: 4, ..self }.run(&Alone).seconds / 4.0;
        LoopJob { repeats: (seconds * threads as f64 / few).ceil() as usize, ..self }
    }

    /// Executes the loops; the time without making the data.
    pub fn run(&self, executor: &impl Executor) -> Row {
        let mut data = self.data();
        let row = executor.enter(|| {
            executor.each(64, |_| ()); // starts the threads
            timed(|| {
                self.execute(executor, &mut data);
                0
            })
        });
        Row { checksum: data.checksum(self.repeats), ..row }
    }

    /// The same work on plain threads, each with rows and data of its own, without communication. It has no checksum.
    pub fn split(&self, threads: usize) -> Row {
        let shares = equal_shares(self.size.0 as u64, threads, |row| self.times(row as usize) as u64);
        let prepare = |range: Range<u64>| {
            let (start, end) = (range.start as usize, range.end as usize);
            let costly = self.planted.0.saturating_sub(start);
            let part =
                LoopJob { size: (end - start, self.size.1), planted: (costly, self.planted.1), ..*self };
            (part, part.data())
        };
        split_prepared(shares, prepare, |(part, mut data)| {
            part.execute(&Alone, &mut data);
            (0, 0)
        })
    }

    /// The arguments of a program that executes this job.
    pub fn arguments(&self, threads: usize) -> Vec<String> {
        let (name, block, steps) = match self.shape {
            Shape::Work { steps } => ("work", (1, 1), steps as usize),
            Shape::Heat => ("heat", (1, self.size.1), 0),
            Shape::Life { block } => ("life", block, 0),
        };
        let ((rows, columns), (costly, times)) = (self.size, self.planted);
        let numbers = [rows, columns, block.0, block.1, costly, times, steps, self.repeats, threads];
        std::iter::once(name.to_owned()).chain(numbers.map(|number| number.to_string())).collect()
    }

    /// The job of such arguments, and the threads; `None` if they are no job.
    pub fn parse(arguments: &[String]) -> Option<(LoopJob, usize)> {
        let [name, numbers @ ..] = arguments else { return None };
        let numbers: Option<Vec<usize>> = numbers.iter().map(|number| number.parse().ok()).collect();
        let &[rows, columns, down, across, costly, times, steps, repeats, threads] = &numbers?[..] else {
            return None;
        };
        let shape = match &**name {
            "work" => Shape::Work { steps: steps as u64 },
            "heat" => Shape::Heat,
            "life" => Shape::Life { block: (down, across) },
            _ => return None,
        };
        Some((LoopJob { shape, size: (rows, columns), planted: (costly, times), repeats }, threads))
    }

    /// How often a row is computed.
    fn times(&self, row: usize) -> usize {
        if row < self.planted.0 { self.planted.1 } else { 1 }
    }

    pub(super) fn data(&self) -> Data {
        let place = |row, column| (row * self.size.1 + column) as u64;
        let alive = |row, column| {
            let at = place(row, column);
            (mix(at / 64) >> (at % 64) & 1) as u8
        };
        let warm = |row, column| (mix(place(row, column)) & 0xFFFF) as f64;
        match self.shape {
            Shape::Work { .. } => Data::Work(Grid::new((1, self.size.0), |_, _| 0)),
            Shape::Heat => Data::Heat([Grid::new(self.size, warm), Grid::new(self.size, |_, _| 0.0)]),
            Shape::Life { .. } => Data::Life([Grid::new(self.size, alive), Grid::new(self.size, |_, _| 0)]),
        }
    }

    fn execute(&self, executor: &impl Executor, data: &mut Data) {
        match (data, self.shape) {
            (Data::Work(results), Shape::Work { steps }) => {
                for _ in 0..self.repeats {
                    let results = results.write();
                    executor.each(self.size.0, |row| self.work(results, row, steps));
                }
            }
            (Data::Heat(grids), _) => {
                for repeat in 0..self.repeats {
                    let (from, to) = turn(grids, repeat);
                    executor.each(self.size.0, |row| self.heat(from, to, row));
                }
            }
            (Data::Life(grids), Shape::Life { block }) => {
                for repeat in 0..self.repeats {
                    let (from, to) = turn(grids, repeat);
                    executor.blocks(self.size, block, |rows, columns| self.life(from, to, rows, columns));
                }
            }
            _ => unreachable!("the data of another job"),
        }
    }

    #[inline]
    fn work(&self, results: Write<'_, u8>, row: usize, steps: u64) {
        // Repeated, since pieces of work overlap in the pipeline: one of ten times the steps lasts longer than ten.
        for _ in 0..self.times(row) {
            // SAFETY: `results` has a byte for each row, and one iteration writes it.
            unsafe { loop_work(results.at(0, 0), row as u64, steps) };
        }
    }

    #[inline]
    pub(super) fn heat(&self, from: Read<'_, f64>, to: Write<'_, f64>, row: usize) {
        let (at, columns) = (row as isize, self.size.1 as c_long);
        // SAFETY: the rows and their neighbours, which may be the border's, are in the grids. Nothing writes these cells of the
        // first grid meanwhile, and one iteration writes this row of the second.
        unsafe { heat_row(from.at(at - 1, 0), from.at(at, 0), from.at(at + 1, 0), to.at(row, 0), columns) };
    }

    #[inline]
    pub(super) fn life(
        &self,
        from: Read<'_, u8>,
        to: Write<'_, u8>,
        rows: Range<usize>,
        columns: Range<usize>,
    ) {
        let (row, column) = (rows.start, columns.start);
        let (stride, size) = (from.stride() as c_long, (rows.len() as c_long, columns.len() as c_long));
        for _ in 0..self.times(row) {
            // SAFETY: the block and its neighbours are in the grids, as above, and a block's columns are a multiple of 16.
            unsafe {
                life_block(from.at(row as isize, column), to.at(row, column), stride, size.0, size.1);
            }
        }
    }
}

impl Data {
    /// Of the cells after this many loops.
    pub(super) fn checksum(&self, repeats: usize) -> u64 {
        match self {
            Data::Work(results) => results.cells().fold(0, |sum, cell| fold(sum, u64::from(cell))),
            Data::Heat(grids) => grids[repeats % 2].cells().fold(0, |sum, cell| fold(sum, cell.to_bits())),
            Data::Life(grids) => grids[repeats % 2].cells().fold(0, |sum, cell| fold(sum, u64::from(cell))),
        }
    }
}

/// The grid that a loop reads, and the one that it writes.
fn turn<T: Copy + Default>(grids: &mut [Grid<T>; 2], repeat: usize) -> (Read<'_, T>, Write<'_, T>) {
    let [even, odd] = grids;
    if repeat.is_multiple_of(2) { (even.read(), odd.write()) } else { (odd.read(), even.write()) }
}

#[cfg(all(test, not(miri)))]
mod tests {
    use super::super::{Ours, Rayon};
    use super::*;
    use thalweg::loops::Schedule;

    const JOBS: [(Shape, (usize, usize)); 5] = [
        (Shape::Work { steps: 3 }, (1000, 1)),
        (Shape::Heat, (70, 90)),
        (Shape::Life { block: (1, 96) }, (70, 96)),
        (Shape::Life { block: (16, 16) }, (70, 96)),
        (Shape::Life { block: (16, 64) }, (70, 96)),
    ];

    #[test]
    fn every_executor_computes_the_same() {
        for (shape, size) in JOBS {
            let job = LoopJob { shape, size, planted: (size.0 / 10, 3), repeats: 5 };
            let expected = job.run(&Alone).checksum;
            let (parsed, threads) = LoopJob::parse(&job.arguments(7)).expect("a job's own arguments");
            assert_eq!((parsed.run(&Alone).checksum, threads), (expected, 7));
            for schedule in [Schedule::Hybrid, Schedule::Static, Schedule::Dynamic] {
                assert_eq!(
                    job.run(&Ours { schedule, threads: 2 }).checksum,
                    expected,
                    "{schedule:?} {shape:?}"
                );
            }
            assert_eq!(job.run(&Rayon::new(2)).checksum, expected, "{shape:?}");
            assert!(job.split(3).seconds > 0.0);
        }
    }

    #[test]
    fn a_blinker_blinks_and_heat_spreads() {
        let size = (32, 32);
        let step = |cell: fn(usize, usize) -> u8| {
            let mut grids = [Grid::new(size, cell), Grid::new(size, |_, _| 9)];
            let job = LoopJob { shape: Shape::Life { block: (16, 16) }, size, planted: (0, 1), repeats: 1 };
            let (from, to) = turn(&mut grids, 0);
            Alone.blocks(size, (16, 16), |rows, columns| job.life(from, to, rows, columns));
            grids[1].cells().collect::<Vec<_>>()
        };
        // Three cells in a row, over the border of blocks.
        let after = step(|row, column| u8::from(row == 15 && (15..18).contains(&column)));
        let alive: Vec<usize> = (0..after.len()).filter(|&at| after[at] != 0).collect();
        assert_eq!(alive, [14 * 32 + 16, 15 * 32 + 16, 16 * 32 + 16]);
        let mut grids =
            [Grid::new((3, 3), |r, c| f64::from(u8::from((r, c) == (1, 1)))), Grid::new((3, 3), |_, _| 9.0)];
        let job = LoopJob { shape: Shape::Heat, size: (3, 3), planted: (0, 1), repeats: 1 };
        let (from, to) = turn(&mut grids, 0);
        (0..3).for_each(|row| job.heat(from, to, row));
        assert!(grids[1].cells().eq([0.0, 0.1, 0.0, 0.1, 0.6, 0.1, 0.0, 0.1, 0.0]));
    }
}
