//! The NAS benchmark MG: Poisson's equation in a periodic cube by the V-cycle of a multigrid method.
//!
//! ```
//! use thalweg_stencils::{Class, mg::{Mg, Problem}};
//! let mut mg = Mg::new(Problem::class(Class::S));
//! let norm = mg.run();
//! assert_eq!(norm.agrees(), Some(true));
//! ```

mod charges;
mod stencil;

use crate::sum::dot;
use crate::{Class, Verified};
use stencil::{add_interpolated, add_product, restrict};
use thalweg::Loop;

/// The equation's operator: weights of a point and of its neighbours across faces, edges and corners.
const OPERATOR: [f64; 4] = [-8.0 / 3.0, 0.0, 1.0 / 6.0, 1.0 / 12.0];

/// The smoother of the classes S, W and A.
const SMOOTHER: [f64; 4] = [-3.0 / 8.0, 1.0 / 32.0, -1.0 / 64.0, 0.0];

/// The smoother of the larger classes.
const LARGE_SMOOTHER: [f64; 4] = [-3.0 / 17.0, 1.0 / 33.0, -1.0 / 61.0, 0.0];

/// The numbers of a sum. They are constant, so that sums are the same at any number of threads.
const SUM: usize = 4096;

/// A problem's parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Problem {
    /// Points along an edge of the cube: a power of two, at least 4.
    pub side: usize,
    /// V-cycles.
    pub iterations: usize,
    /// The norm of the residual that the report states.
    pub expected: Option<f64>,
    smoother: [f64; 4],
}

impl Problem {
    /// The problem of a class.
    pub fn class(class: Class) -> Self {
        let (side, iterations, smoother, expected) = match class {
            Class::S => (32, 4, SMOOTHER, 0.530_770_700_573_4e-4),
            Class::W => (128, 4, SMOOTHER, 0.646_732_937_533_9e-5),
            Class::A => (256, 4, SMOOTHER, 0.243_336_530_906_9e-5),
            Class::B => (256, 20, LARGE_SMOOTHER, 0.180_056_440_135_5e-5),
            Class::C => (512, 20, LARGE_SMOOTHER, 0.570_673_228_574_0e-6),
        };
        Problem { side, iterations, expected: Some(expected), smoother }
    }

    /// A cube of this size, and one V-cycle, as in the measurements of *Locality-Aware Concurrency Platforms*.
    pub fn one_cycle(side: usize) -> Self {
        Problem { side, iterations: 1, expected: None, smoother: LARGE_SMOOTHER }
    }

    /// The bytes that the problem takes, about. `None` if they are more than the address space.
    pub fn bytes(&self) -> Option<usize> {
        self.side.checked_pow(3)?.checked_mul(8 * 23)?.checked_div(7)
    }
}

/// A grid of the multigrid method: a cube of points, those along the last axis next to each other.
#[derive(Clone, Debug)]
struct Grid {
    side: usize,
    solution: Vec<f64>,
    residual: Vec<f64>,
}

/// A problem and its grids.
#[derive(Clone, Debug)]
pub struct Mg {
    problem: Problem,
    /// The right side of the equation.
    charges: Vec<f64>,
    /// From 2 points along an edge to those of the problem.
    grids: Vec<Grid>,
    loops: Loop,
}

impl Mg {
    /// Makes the right side of a problem.
    ///
    /// # Panics
    /// If the side is no power of two, or less than 4.
    pub fn new(problem: Problem) -> Self {
        Self::with_loops(problem, Loop::new())
    }

    /// As [`Mg::new`], on this number of threads at most.
    ///
    /// # Panics
    /// As [`Mg::new`].
    pub fn on(problem: Problem, threads: usize) -> Self {
        Self::with_loops(problem, Loop::new().members(threads))
    }

    fn with_loops(problem: Problem, loops: Loop) -> Self {
        let side = problem.side;
        assert!(side >= 4 && side.is_power_of_two(), "a side of {side} points is no power of two from 4 on");
        let sides = (1..=side.ilog2()).map(|level| 1usize << level);
        let zero = |side: usize| vec![0.0; side.pow(3)];
        let grids = sides.map(|side| Grid { side, solution: zero(side), residual: zero(side) });
        Mg { problem, charges: charges::charges(side), grids: grids.collect(), loops }
    }

    /// Solves the problem from a solution of zero. Returns the norm of the residual.
    pub fn run(&mut self) -> Verified {
        let top = self.grids.len() - 1;
        self.grids[top].solution.fill(0.0);
        self.compute_residual();
        for _ in 0..self.problem.iterations {
            self.cycle();
            self.compute_residual();
        }
        Verified { value: self.norm(), expected: self.problem.expected, tolerance: 1e-8 }
    }

    /// A V-cycle: corrects the solution by those of the coarser grids.
    fn cycle(&mut self) {
        let top = self.grids.len() - 1;
        for level in (1..=top).rev() {
            let (coarse, fine) = self.grids.split_at_mut(level);
            let coarse = &mut coarse[level - 1];
            restrict(&self.loops, &fine[0].residual, &mut coarse.residual, coarse.side);
        }
        self.grids[0].solution.fill(0.0);
        self.smooth(0);
        for level in 1..=top {
            let (coarse, fine) = self.grids.split_at_mut(level);
            let (coarse, fine) = (&coarse[level - 1], &mut fine[0]);
            if level < top {
                fine.solution.fill(0.0);
            }
            add_interpolated(&self.loops, &coarse.solution, &mut fine.solution, fine.side);
            if level < top {
                let negative = OPERATOR.map(|weight| -weight);
                add_product(&self.loops, negative, &fine.solution, &mut fine.residual, fine.side);
            } else {
                self.compute_residual();
            }
            self.smooth(level);
        }
    }

    fn smooth(&mut self, level: usize) {
        let Grid { side, solution, residual } = &mut self.grids[level];
        add_product(&self.loops, self.problem.smoother, residual, solution, *side);
    }

    /// Computes the residual of the finest grid.
    fn compute_residual(&mut self) {
        let Some(Grid { side, solution, residual }) = self.grids.last_mut() else { return };
        let (charges, plane) = (&self.charges, side.pow(2));
        self.loops
            .for_chunks(residual, plane, |at, part| part.copy_from_slice(&charges[at * plane..][..plane]));
        add_product(&self.loops, OPERATOR.map(|weight| -weight), solution, residual, *side);
    }

    /// The root of the mean square of the finest grid's residual.
    fn norm(&self) -> f64 {
        let Some(Grid { residual, .. }) = self.grids.last() else { return 0.0 };
        let part =
            |range: std::ops::Range<usize>, sum: f64| sum + dot(&residual[range.clone()], &residual[range]);
        let sum = self.loops.grain(SUM).reduce(0..residual.len(), 0.0, part, |a, b| a + b);
        (sum / residual.len() as f64).sqrt()
    }
}
