//! Heat that spreads in a plate with cold edges.
//!
//! The plate begins with half a sine wave in each direction. Theory says how fast this *mode* decays: the temperature at
//! time `t` is that at the beginning times `exp(-rate t)`, with `rate = pi^2 (1 / height^2 + 1 / width^2)`. The program
//! measures the rate, and so checks itself.

use std::f64::consts::PI;

use crate::sum::dot;
use thalweg::Loop;

/// The time of a step, where cells have length 1 and heat spreads with diffusivity 1. Steps are stable up to 0.25.
const STEP: f64 = 0.2;

/// The rows of a sum. They are constant, so that sums are the same at any number of threads.
pub(crate) const SUM_ROWS: usize = 16;

/// About the numbers that one step of a loop computes: some microseconds of work.
pub(crate) const CHUNK: usize = 8192;

/// A plate. Five-point differences in space, and the explicit Euler method in time.
///
/// ```
/// let mut heat = thalweg_stencils::heat::Heat::new(100, 80);
/// heat.run(500);
/// let rate = heat.decay();
/// assert!((rate.measured / rate.theory - 1.0).abs() < rate.tolerance);
/// ```
#[derive(Clone, Debug)]
pub struct Heat {
    rows: usize,
    columns: usize,
    /// The temperatures with a cold cell on each side: rows of `columns + 2` numbers.
    now: Vec<f64>,
    next: Vec<f64>,
    steps: u64,
    /// The amplitude of the mode at the beginning.
    start: f64,
    loops: Loop,
}

/// A measured quantity beside its value in theory.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Measured {
    /// What the program has measured.
    pub measured: f64,
    /// What theory says of the equation.
    pub theory: f64,
    /// The relative error that the method has by theory, and rounding: a larger one is a defect.
    pub tolerance: f64,
}

impl Measured {
    /// The difference of the two, divided by theory.
    pub fn error(&self) -> f64 {
        self.measured / self.theory - 1.0
    }

    /// Whether the error is within the tolerance.
    pub fn agrees(&self) -> bool {
        self.error().abs() <= self.tolerance
    }
}

impl Heat {
    /// A plate with this number of cells, apart from its edges.
    ///
    /// # Panics
    /// If `rows` or `columns` is zero.
    pub fn new(rows: usize, columns: usize) -> Self {
        Self::with_loops(rows, columns, Loop::new())
    }

    /// As [`Heat::new`], on this number of threads at most.
    ///
    /// # Panics
    /// If `rows` or `columns` is zero.
    pub fn on(rows: usize, columns: usize, threads: usize) -> Self {
        Self::with_loops(rows, columns, Loop::new().members(threads))
    }

    fn with_loops(rows: usize, columns: usize, loops: Loop) -> Self {
        assert!(rows > 0 && columns > 0, "a plate has cells");
        // Not a clone: memory of zeros is not touched until the loops do.
        let [now, next] = std::array::from_fn(|_| vec![0.0; (rows + 2) * (columns + 2)]);
        let mut heat = Heat { rows, columns, now, next, steps: 0, start: 0.0, loops };
        let (down, across) = (mode(rows), mode(columns));
        let (stride, per_chunk) = (heat.stride(), heat.rows_per_chunk());
        let inner = &mut heat.now[stride..(rows + 1) * stride];
        heat.loops.for_chunks(inner, per_chunk * stride, |chunk, part| {
            for (row, sine) in part.chunks_exact_mut(stride).zip(&down[chunk * per_chunk..]) {
                row[1..=columns].iter_mut().zip(&across).for_each(|(cell, other)| *cell = sine * other);
            }
        });
        heat.start = heat.amplitude();
        heat
    }

    /// The bytes of a plate. `None` if it is more than the address space.
    pub fn bytes(rows: usize, columns: usize) -> Option<usize> {
        rows.checked_add(2)?.checked_mul(columns.checked_add(2)?)?.checked_mul(16)
    }

    fn stride(&self) -> usize {
        self.columns + 2
    }

    fn rows_per_chunk(&self) -> usize {
        (CHUNK / self.stride()).max(1)
    }

    /// Computes one step.
    pub fn step(&mut self) {
        let (stride, per_chunk, old) = (self.stride(), self.rows_per_chunk(), &self.now);
        let inner = &mut self.next[stride..(self.rows + 1) * stride];
        self.loops.for_chunks(inner, per_chunk * stride, |chunk, part| {
            for (at, row) in part.chunks_exact_mut(stride).enumerate() {
                let above = &old[(chunk * per_chunk + at) * stride..];
                next_row(&above[..stride], &above[stride..2 * stride], &above[2 * stride..3 * stride], row);
            }
        });
        std::mem::swap(&mut self.now, &mut self.next);
        self.steps += 1;
    }

    /// Computes a number of steps.
    pub fn run(&mut self, steps: u64) {
        (0..steps).for_each(|_| self.step());
    }

    /// The temperature of a cell.
    ///
    /// # Panics
    /// If there is no such cell.
    pub fn temperature(&self, row: usize, column: usize) -> f64 {
        assert!(row < self.rows && column < self.columns, "cell ({row}, {column}) is not on the plate");
        self.now[(row + 1) * self.stride() + column + 1]
    }

    /// The share of the mode in the temperatures: the cell in the middle has about this temperature.
    fn amplitude(&self) -> f64 {
        let (down, across) = (mode(self.rows), mode(self.columns));
        let cells = &self.now[self.stride()..];
        let sum = project(&self.loops, cells, self.stride(), (&down, &across));
        4.0 * sum / ((self.rows + 1) as f64 * (self.columns + 1) as f64)
    }

    /// The rate at which the mode decays, of the steps so far.
    ///
    /// # Panics
    /// If there were no steps.
    pub fn decay(&self) -> Measured {
        assert!(self.steps > 0, "a rate needs a step");
        let time = self.steps as f64 * STEP;
        let [down, across] = [self.rows, self.columns].map(|cells| (PI / (cells + 1) as f64).powi(2));
        let theory = down + across;
        let measured = -(self.amplitude() / self.start).ln() / time;
        // The first terms of the errors of the differences in space and in time, which have opposite signs; a tenth more
        // for the other terms; and rounding.
        let method = (down.max(across) / 12.0).max(theory * STEP / 2.0);
        Measured { measured, theory, tolerance: 1.1 * method + 1e-13 / (theory * time) }
    }
}

/// The temperatures of a row after a step, from those of three rows. The first and the last cell of a row stay cold.
fn next_row(above: &[f64], here: &[f64], below: &[f64], new: &mut [f64]) {
    let count = new.len() - 2;
    let (above, below, new) = (&above[1..=count], &below[1..=count], &mut new[1..=count]);
    let (west, east, here) = (&here[..count], &here[2..], &here[1..=count]);
    for i in 0..count {
        new[i] = here[i] + STEP * (above[i] + below[i] + west[i] + east[i] - 4.0 * here[i]);
    }
}

/// Half a sine wave over a number of cells between two edges.
pub(crate) fn mode(cells: usize) -> Vec<f64> {
    (1..=cells).map(|cell| (PI * cell as f64 / (cells + 1) as f64).sin()).collect()
}

/// The sum of all cells times the mode. Rows have `stride` numbers, of which the first is no cell.
pub(crate) fn project(loops: &Loop, cells: &[f64], stride: usize, (down, across): (&[f64], &[f64])) -> f64 {
    let row = |at: usize| dot(&cells[at * stride + 1..][..across.len()], across);
    let rows = |rows: std::ops::Range<usize>, sum: f64| rows.fold(sum, |sum, at| sum + down[at] * row(at));
    loops.grain(SUM_ROWS).reduce(0..down.len(), 0.0, rows, |a, b| a + b)
}
