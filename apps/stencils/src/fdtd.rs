//! An electromagnetic field in a cavity with conducting walls, by finite differences in the time domain (Yee's method).
//!
//! The field begins as a pulse, which contains all the cavity's resonances. The program observes the lowest one, of which
//! theory says the frequency: `1/2 sqrt(1 / height^2 + 1 / width^2)` with the speed of light 1.

use std::f64::consts::PI;

use crate::heat::{CHUNK, Measured, mode, project};
use thalweg::Loop;

/// The time of a step, where cells have length 1 and the speed of light is 1. Steps are stable up to 0.7.
const STEP: f64 = 0.5;

/// A two-dimensional cavity: the electric field across it, and the magnetic field within it.
///
/// ```
/// let mut cavity = thalweg_stencils::fdtd::Cavity::new(60, 90);
/// cavity.run(300);
/// assert!(cavity.frequency().agrees());
/// ```
#[derive(Clone, Debug)]
pub struct Cavity {
    rows: usize,
    columns: usize,
    /// The electric field with a wall on each side: `rows + 2` rows of `columns + 2` numbers.
    electric: Vec<f64>,
    /// The magnetic field: `rows + 1` rows of twice `columns + 2` numbers. The first half of a row stands between a row of
    /// the electric field and the next; number `i` of the second half, between columns `i` and `i + 1` of the same row.
    magnetic: Vec<f64>,
    /// The shares of the lowest resonance in the last two states.
    shares: [f64; 2],
    /// The numerator and the denominator of the fit of `1 - cos(frequency)`.
    fit: [f64; 2],
    down: Vec<f64>,
    across: Vec<f64>,
    steps: u64,
    loops: Loop,
}

impl Cavity {
    /// A cavity with this number of cells, apart from its walls.
    ///
    /// # Panics
    /// If `rows` or `columns` is zero.
    pub fn new(rows: usize, columns: usize) -> Self {
        Self::with_loops(rows, columns, Loop::new())
    }

    /// As [`Cavity::new`], on this number of threads at most.
    ///
    /// # Panics
    /// If `rows` or `columns` is zero.
    pub fn on(rows: usize, columns: usize, threads: usize) -> Self {
        Self::with_loops(rows, columns, Loop::new().members(threads))
    }

    fn with_loops(rows: usize, columns: usize, loops: Loop) -> Self {
        assert!(rows > 0 && columns > 0, "a cavity has cells");
        let stride = columns + 2;
        let mut cavity = Cavity {
            rows,
            columns,
            electric: vec![0.0; (rows + 2) * stride],
            magnetic: vec![0.0; (rows + 1) * 2 * stride],
            shares: [0.0; 2],
            fit: [0.0; 2],
            down: mode(rows),
            across: mode(columns),
            steps: 0,
            loops,
        };
        let (down, across) = (pulse(rows, 0.3), pulse(columns, 0.4));
        let per_chunk = cavity.rows_per_chunk();
        let inner = &mut cavity.electric[stride..(rows + 1) * stride];
        cavity.loops.for_chunks(inner, per_chunk * stride, |chunk, part| {
            for (row, height) in part.chunks_exact_mut(stride).zip(&down[chunk * per_chunk..]) {
                row[1..=columns].iter_mut().zip(&across).for_each(|(cell, other)| *cell = height * other);
            }
        });
        cavity.shares[1] = cavity.share();
        cavity
    }

    /// The bytes of a cavity. `None` if it is more than the address space.
    pub fn bytes(rows: usize, columns: usize) -> Option<usize> {
        rows.checked_add(2)?.checked_mul(columns.checked_add(2)?)?.checked_mul(24)
    }

    fn stride(&self) -> usize {
        self.columns + 2
    }

    fn rows_per_chunk(&self) -> usize {
        (CHUNK / self.stride()).max(1)
    }

    /// Computes one step.
    pub fn step(&mut self) {
        self.step_magnetic();
        self.step_electric();
        self.steps += 1;
        let share = self.share();
        if self.steps > 1 {
            // A resonance obeys `later - 2 now + earlier = -2 (1 - cos(frequency)) now`, of which this is the least-squares
            // fit over all steps.
            let [earlier, now] = self.shares;
            self.fit[0] -= now * (share - 2.0 * now + earlier);
            self.fit[1] += 2.0 * now * now;
        }
        self.shares = [self.shares[1], share];
    }

    fn step_magnetic(&mut self) {
        let (stride, per_chunk, electric) = (self.stride(), self.rows_per_chunk(), &self.electric);
        self.loops.for_chunks(&mut self.magnetic, per_chunk * 2 * stride, |chunk, part| {
            for (at, row) in part.chunks_exact_mut(2 * stride).enumerate() {
                let from = (chunk * per_chunk + at) * stride;
                let (here, below) = (&electric[from..from + stride], &electric[from + stride..][..stride]);
                next_magnetic(here, below, row);
            }
        });
    }

    fn step_electric(&mut self) {
        let (stride, per_chunk, magnetic) = (self.stride(), self.rows_per_chunk(), &self.magnetic);
        let inner = &mut self.electric[stride..(self.rows + 1) * stride];
        self.loops.for_chunks(inner, per_chunk * stride, |chunk, part| {
            for (at, row) in part.chunks_exact_mut(stride).enumerate() {
                let from = (chunk * per_chunk + at) * 2 * stride;
                next_electric(&magnetic[from..from + 4 * stride], row);
            }
        });
    }

    /// Computes a number of steps.
    pub fn run(&mut self, steps: u64) {
        (0..steps).for_each(|_| self.step());
    }

    /// The electric field in a cell.
    ///
    /// # Panics
    /// If there is no such cell.
    pub fn field(&self, row: usize, column: usize) -> f64 {
        assert!(row < self.rows && column < self.columns, "cell ({row}, {column}) is not in the cavity");
        self.electric[(row + 1) * self.stride() + column + 1]
    }

    /// The share of the lowest resonance in the electric field.
    fn share(&self) -> f64 {
        let cells = &self.electric[self.stride()..];
        project(&self.loops, cells, self.stride(), (&self.down, &self.across))
    }

    /// The frequency of the lowest resonance, of the steps so far.
    ///
    /// # Panics
    /// If there were fewer than two steps.
    pub fn frequency(&self) -> Measured {
        assert!(self.steps > 1, "a frequency needs two steps");
        let [down, across] = [self.rows, self.columns].map(|cells| (1.0 / (cells + 1) as f64).powi(2));
        let theory = 0.5 * (down + across).sqrt();
        // `1 - cos(x) = 2 sin(x / 2)^2` keeps the digits of small angles.
        let half_angle = (self.fit[0] / self.fit[1] / 2.0).max(0.0).sqrt().asin();
        let measured = half_angle / (PI * STEP);
        // The first term of the error of the differences, a tenth more, and rounding.
        let method = PI * PI * down.max(across) / 24.0;
        let rounding = 1e-13 / (PI * STEP * theory).powi(2);
        Measured { measured, theory, tolerance: 1.1 * method + rounding }
    }
}

/// The magnetic field after a step, in a row and below it, from the electric field of the row and of the next one.
fn next_magnetic(here: &[f64], below: &[f64], magnetic: &mut [f64]) {
    let stride = here.len();
    let (vertical, horizontal) = magnetic.split_at_mut(stride);
    let below = &below[..stride];
    for i in 0..stride {
        vertical[i] += STEP * (below[i] - here[i]);
    }
    let (horizontal, here, east) = (&mut horizontal[..stride - 1], &here[..stride - 1], &here[1..]);
    for i in 0..horizontal.len() {
        horizontal[i] += STEP * (east[i] - here[i]);
    }
}

/// The electric field of a row after a step, from the magnetic field of the row above and of the row itself.
fn next_electric(magnetic: &[f64], row: &mut [f64]) {
    let stride = row.len();
    let (above, here) = magnetic.split_at(2 * stride);
    let (below, horizontal) = here.split_at(stride);
    let count = stride - 2;
    let (above, below, row) = (&above[1..=count], &below[1..=count], &mut row[1..=count]);
    let (west, east) = (&horizontal[..count], &horizontal[1..=count]);
    for i in 0..count {
        row[i] += STEP * (below[i] - above[i] + east[i] - west[i]);
    }
}

/// A smooth bump around a place, as a share of the length.
fn pulse(cells: usize, place: f64) -> Vec<f64> {
    let at = |cell: usize| (cell as f64 + 1.0) / (cells + 1) as f64;
    (0..cells).map(|cell| (-((at(cell) - place) / 0.1).powi(2)).exp()).collect()
}
