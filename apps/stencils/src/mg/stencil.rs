//! The operations on grids. Each goes over the planes of the grid that it changes, in parallel, and over the rows of a plane.
//! Grids are periodic: the neighbour of the last point is the first one.

use thalweg::Loop;

/// A row and sums of its neighbours, with a number on each side that continues it around the grid.
struct Around {
    here: Vec<f64>,
    /// The sums of the four rows across faces.
    faces: Vec<f64>,
    /// The sums of the four rows across edges.
    edges: Vec<f64>,
}

impl Around {
    fn new(side: usize) -> Self {
        let [here, faces, edges] = std::array::from_fn(|_| vec![0.0; side + 2]);
        Around { here, faces, edges }
    }

    /// Reads the rows around row `y` of plane `z`.
    fn read(&mut self, grid: &[f64], side: usize, (z, y): (usize, usize)) {
        let row = |z: usize, y: usize| &grid[(z % side * side + y % side) * side..][..side];
        let (up, down, left, right) = (z + side - 1, z + 1, y + side - 1, y + 1);
        let add = |to: &mut Vec<f64>, rows: [&[f64]; 4]| {
            let to = &mut to[1..=side];
            for i in 0..side {
                to[i] = rows[0][i] + rows[1][i] + rows[2][i] + rows[3][i];
            }
        };
        self.here[1..=side].copy_from_slice(row(z, y));
        add(&mut self.faces, [row(up, y), row(down, y), row(z, left), row(z, right)]);
        add(&mut self.edges, [row(up, left), row(up, right), row(down, left), row(down, right)]);
        for numbers in [&mut self.here, &mut self.faces, &mut self.edges] {
            (numbers[0], numbers[side + 1]) = (numbers[side], numbers[1]);
        }
    }

    /// The row and the sums, as slices of equal length: so the compiler drops bounds checks and vectorises.
    fn rows(&self, side: usize) -> [&[f64]; 3] {
        [&self.here[..side + 2], &self.faces[..side + 2], &self.edges[..side + 2]]
    }
}

/// The weighted sum at point `i` of rows that have one number more on each side.
#[inline(always)]
fn weighted([here, faces, edges]: [&[f64]; 3], weights: [f64; 4], i: usize) -> f64 {
    weights[0] * here[i + 1]
        + weights[1] * (here[i] + here[i + 2] + faces[i + 1])
        + weights[2] * (faces[i] + faces[i + 2] + edges[i + 1])
        + weights[3] * (edges[i] + edges[i + 2])
}

/// Adds to `target` the product of an operator, given by its weights, and `source`.
pub(super) fn add_product(loops: &Loop, weights: [f64; 4], source: &[f64], target: &mut [f64], side: usize) {
    loops.for_chunks(target, side * side, |z, plane| {
        let mut around = Around::new(side);
        for (y, row) in plane.chunks_exact_mut(side).enumerate() {
            around.read(source, side, (z, y));
            let rows = around.rows(side);
            for (i, point) in row.iter_mut().enumerate() {
                *point += weighted(rows, weights, i);
            }
        }
    });
}

/// Makes `coarse`, of `side` points along an edge, of the weighted means around every second point of `fine`.
pub(super) fn restrict(loops: &Loop, fine: &[f64], coarse: &mut [f64], side: usize) {
    const WEIGHTS: [f64; 4] = [0.5, 0.25, 0.125, 0.0625];
    loops.for_chunks(coarse, side * side, |z, plane| {
        let mut around = Around::new(2 * side);
        for (y, row) in plane.chunks_exact_mut(side).enumerate() {
            around.read(fine, 2 * side, (2 * z + 1, 2 * y + 1));
            let rows = around.rows(2 * side);
            for (x, point) in row.iter_mut().enumerate() {
                *point = weighted(rows, WEIGHTS, 2 * x + 1);
            }
        }
    });
}

/// Adds to `fine`, of `side` points along an edge, the linear interpolation of `coarse`.
pub(super) fn add_interpolated(loops: &Loop, coarse: &[f64], fine: &mut [f64], side: usize) {
    let half = side / 2;
    loops.for_chunks(fine, side * side, |z, plane| {
        let mut mean = vec![0.0; half + 1];
        for (y, row) in plane.chunks_exact_mut(side).enumerate() {
            let rows = near(z, half).map(|z| near(y, half).map(|y| &coarse[(z * half + y) * half..][..half]));
            for x in 0..half {
                mean[x + 1] = 0.25 * (rows[0][0][x] + rows[0][1][x] + rows[1][0][x] + rows[1][1][x]);
            }
            mean[0] = mean[half];
            for (pair, means) in row.chunks_exact_mut(2).zip(mean.windows(2)) {
                pair[0] += 0.5 * (means[0] + means[1]);
                pair[1] += means[1];
            }
        }
    });
}

/// The coarse points on both sides of a fine point. Where it coincides with one, that is both.
fn near(at: usize, half: usize) -> [usize; 2] {
    let after = at / 2;
    if at % 2 == 1 { [after, after] } else { [(after + half - 1) % half, after] }
}
