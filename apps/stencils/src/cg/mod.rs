//! The NAS benchmark CG: the smallest eigenvalue of a sparse matrix by inverse iteration, in which the conjugate gradient
//! method solves the systems of equations.
//!
//! ```
//! use thalweg_stencils::{Class, cg::{Cg, Problem}};
//! let mut cg = Cg::new(Problem::class(Class::S));
//! let zeta = cg.run();
//! assert_eq!(zeta.agrees(), Some(true));
//! ```

mod matrix;

use crate::sum::dot;
use crate::{Class, Verified};
use matrix::Matrix;
use thalweg::Loop;

/// The iterations of the conjugate gradient method for each system.
const SOLVER_STEPS: usize = 25;

/// The numbers of a sum. They are constant, so that sums are the same at any number of threads.
const SUM: usize = 1024;

/// The numbers that one step of a loop computes.
const CHUNK: usize = 4096;

/// The rows of the matrix that one step of a loop multiplies: some tens of thousands of numbers.
const MATRIX_ROWS: usize = 128;

/// A problem's parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Problem {
    /// Rows of the matrix.
    pub rows: usize,
    /// The nonzero numbers of each vector of which the matrix is made; a row of the matrix has about the square of it.
    pub nonzeros: usize,
    /// Systems to solve.
    pub iterations: usize,
    /// The number that is subtracted from the diagonal.
    pub shift: f64,
    /// The eigenvalue that the report states.
    pub expected: Option<f64>,
}

impl Problem {
    /// The problem of a class.
    pub fn class(class: Class) -> Self {
        let (rows, nonzeros, iterations, shift, expected) = match class {
            Class::S => (1400, 7, 15, 10.0, 8.597_177_507_864_8),
            Class::W => (7000, 8, 15, 12.0, 10.362_595_087_124),
            Class::A => (14_000, 11, 15, 20.0, 17.130_235_054_029),
            Class::B => (75_000, 13, 75, 60.0, 22.712_745_482_631),
            Class::C => (150_000, 15, 75, 110.0, 28.973_605_592_845),
        };
        Problem { rows, nonzeros, iterations, shift, expected: Some(expected) }
    }

    /// A matrix of this size, and one system, as in the measurements of *Locality-Aware Concurrency Platforms*.
    pub fn one_system(rows: usize, nonzeros: usize) -> Self {
        Problem { rows, nonzeros, iterations: 1, shift: 1500.0, expected: None }
    }

    /// About the bytes that the problem takes at most: while the matrix is made, 28 for each of its numbers.
    pub fn bytes(&self) -> Option<usize> {
        let row = self.nonzeros.checked_add(1)?.checked_pow(2)?;
        self.rows.checked_mul(row)?.checked_mul(28)?.checked_add(self.rows.checked_mul(100)?)
    }
}

/// A problem and its vectors.
#[derive(Clone, Debug)]
pub struct Cg {
    problem: Problem,
    matrix: Matrix,
    /// The eigenvector so far.
    x: Vec<f64>,
    /// The solution of `A z = x`.
    z: Vec<f64>,
    residual: Vec<f64>,
    direction: Vec<f64>,
    /// `A` times a vector.
    product: Vec<f64>,
    loops: Loop,
}

impl Cg {
    /// Makes the matrix of a problem.
    ///
    /// # Panics
    /// If the matrix has no rows, more than 2^32, or fewer than twice the nonzeros of a vector.
    pub fn new(problem: Problem) -> Self {
        Self::with_loops(problem, Loop::new())
    }

    /// As [`Cg::new`], on this number of threads at most.
    ///
    /// # Panics
    /// As [`Cg::new`].
    pub fn on(problem: Problem, threads: usize) -> Self {
        Self::with_loops(problem, Loop::new().members(threads))
    }

    fn with_loops(problem: Problem, loops: Loop) -> Self {
        let matrix = Matrix::new(&problem, &loops);
        let [x, z, residual, direction, product] = std::array::from_fn(|_| vec![0.0; problem.rows]);
        Cg { problem, matrix, x, z, residual, direction, product, loops }
    }

    /// The numbers of the matrix that are not zero.
    pub fn nonzeros(&self) -> usize {
        self.matrix.nonzeros()
    }

    /// Solves all systems of the problem. Returns the eigenvalue.
    pub fn run(&mut self) -> Verified {
        self.x.fill(1.0);
        let mut zeta = 0.0;
        for _ in 0..self.problem.iterations {
            zeta = self.iterate();
        }
        Verified { value: zeta, expected: self.problem.expected, tolerance: 1e-10 }
    }

    /// One step of the inverse iteration: solves a system, estimates the eigenvalue, and normalises its vector.
    fn iterate(&mut self) -> f64 {
        self.solve();
        let zeta = self.problem.shift + 1.0 / self.dot(&self.x, &self.z);
        let length = self.dot(&self.z, &self.z).sqrt();
        update(&self.loops, &mut self.x, &self.z, |_, z| z / length);
        zeta
    }

    /// Solves `A z = x` by the conjugate gradient method, beginning with zero.
    fn solve(&mut self) {
        self.z.fill(0.0);
        self.residual.copy_from_slice(&self.x);
        self.direction.copy_from_slice(&self.x);
        let mut square = self.dot(&self.residual, &self.residual);
        for _ in 0..SOLVER_STEPS {
            self.matrix.multiply(&self.loops, &self.direction, &mut self.product);
            let alpha = square / self.dot(&self.direction, &self.product);
            update(&self.loops, &mut self.z, &self.direction, |z, direction| z + alpha * direction);
            update(&self.loops, &mut self.residual, &self.product, |residual, product| {
                residual - alpha * product
            });
            let before = square;
            square = self.dot(&self.residual, &self.residual);
            let beta = square / before;
            update(&self.loops, &mut self.direction, &self.residual, |direction, residual| {
                residual + beta * direction
            });
        }
    }

    fn dot(&self, a: &[f64], b: &[f64]) -> f64 {
        let part = |range: std::ops::Range<usize>, sum: f64| sum + dot(&a[range.clone()], &b[range]);
        self.loops.grain(SUM).reduce(0..a.len(), 0.0, part, |a, b| a + b)
    }
}

/// Replaces each number of a vector by `new` of it and of the other vector's number.
fn update(loops: &Loop, vector: &mut [f64], other: &[f64], new: impl Fn(f64, f64) -> f64 + Sync) {
    loops.for_chunks(vector, CHUNK, |chunk, part| {
        let other = &other[chunk * CHUNK..];
        part.iter_mut().zip(other).for_each(|(number, other)| *number = new(*number, *other));
    });
}
