//! Two stations of one thread each with a buffer between them and phase-type times: the exact Markov chain.
//!
//! Level `n` is the number of items that the upstream station has finished and the downstream station has not, from 0 to
//! `room + 2`; at the highest level the upstream thread is blocked, at level 0 the downstream thread is idle. The states of
//! a level are the phases of the working threads. The chain moves between neighbouring levels alone, so it is solved by
//! block elimination from the highest level down (U. Narayana Bhat, 1984; M. F. Neuts, 1981), in time linear in the room
//! and cubic in the number of pairs of phases.

use super::phase::Phases;

/// Returns the throughput in items per second.
pub fn throughput(up: &Phases, down: &Phases, room: usize) -> f64 {
    let chain = Chain { up, down, top: room + 2 };
    let ratios = chain.ratios();
    let mut level = chain.bottom(&ratios[0]);
    let (mut mass, mut flow) = (level.iter().sum::<f64>(), 0.0);
    for (n, ratio) in ratios.iter().enumerate() {
        level = ratio.after(&level);
        mass += level.iter().sum::<f64>();
        flow += chain.departures(n + 1, &level);
    }
    flow / mass
}

struct Chain<'a> {
    up: &'a Phases,
    down: &'a Phases,
    top: usize,
}

impl Chain<'_> {
    /// The numbers of upstream and downstream phases of a level; an idle or blocked thread has one.
    fn shape(&self, n: usize) -> (usize, usize) {
        (if n == self.top { 1 } else { self.up.count() }, if n == 0 { 1 } else { self.down.count() })
    }

    fn size(&self, n: usize) -> usize {
        let (up, down) = self.shape(n);
        up * down
    }

    /// The rates from the states of level `n` to those of level `to`, with the negative sums on the diagonal.
    fn block(&self, n: usize, to: usize) -> Matrix {
        let (ups, downs) = self.shape(n);
        let mut block = Matrix::new(self.size(n), self.size(to));
        for (i, j) in (0..ups).flat_map(|i| (0..downs).map(move |j| (i, j))) {
            let state = i * downs + j;
            if n < self.top {
                self.end_of_up(&mut block, state, (i, j), (n, to));
            }
            if n > 0 {
                self.end_of_down(&mut block, state, (i, j), (n, to));
            }
        }
        block
    }

    fn end_of_up(&self, block: &mut Matrix, state: usize, (i, j): (usize, usize), (n, to): (usize, usize)) {
        let (rate, downs) = (self.up.rates[i], self.shape(n).1);
        if n == to {
            block.add(state, state, -rate);
        }
        match self.up.after(i) {
            Some(next) if n == to => block.add(state, next * downs + j, rate),
            None if n + 1 == to => {
                let (ups, downs) = self.shape(to);
                for (a, b) in (0..ups).flat_map(|a| (0..downs).map(move |b| (a, b))) {
                    let begins_up = if to == self.top { 1.0 } else { self.up.start[a] };
                    // At level 0 the downstream thread was idle; above, it goes on in its phase.
                    let begins_down = if n == 0 { self.down.start[b] } else { f64::from(b == j) };
                    block.add(state, a * downs + b, rate * begins_up * begins_down);
                }
            }
            _ => {}
        }
    }

    fn end_of_down(&self, block: &mut Matrix, state: usize, (i, j): (usize, usize), (n, to): (usize, usize)) {
        let (rate, downs) = (self.down.rates[j], self.shape(n).1);
        if n == to {
            block.add(state, state, -rate);
        }
        match self.down.after(j) {
            Some(next) if n == to => block.add(state, i * downs + next, rate),
            None if n == to + 1 => {
                let (ups, downs) = self.shape(to);
                for (a, b) in (0..ups).flat_map(|a| (0..downs).map(move |b| (a, b))) {
                    let begins_down = if to == 0 { 1.0 } else { self.down.start[b] };
                    // At the highest level the upstream thread was blocked; below, it goes on in its phase.
                    let begins_up = if n == self.top { self.up.start[a] } else { f64::from(a == i) };
                    block.add(state, a * downs + b, rate * begins_up * begins_down);
                }
            }
            _ => {}
        }
    }

    /// The matrices that lead from the probabilities of a level to those of the next.
    fn ratios(&self) -> Vec<Matrix> {
        let mut ratios = Vec::with_capacity(self.top);
        let mut inside = self.block(self.top, self.top);
        for n in (0..self.top).rev() {
            let ratio = self.block(n, n + 1).times(&inside.negated_inverse());
            inside = self.block(n, n).plus(&ratio.times(&self.block(n + 1, n)));
            ratios.push(ratio);
        }
        ratios.reverse();
        ratios
    }

    /// The probabilities of level 0, but for a factor.
    fn bottom(&self, ratio: &Matrix) -> Vec<f64> {
        let balance = self.block(0, 0).plus(&ratio.times(&self.block(1, 0)));
        balance.null_vector()
    }

    /// The rate of departures from the states of a level.
    fn departures(&self, n: usize, level: &[f64]) -> f64 {
        let downs = self.shape(n).1;
        let rate = |j: usize| if self.down.after(j).is_none() { self.down.rates[j] } else { 0.0 };
        level.iter().enumerate().map(|(state, p)| p * rate(state % downs)).sum()
    }
}

/// A dense matrix, by rows.
#[derive(Clone)]
struct Matrix {
    rows: usize,
    columns: usize,
    values: Vec<f64>,
}

impl Matrix {
    fn new(rows: usize, columns: usize) -> Self {
        Self { rows, columns, values: vec![0.0; rows * columns] }
    }

    fn row(&self, i: usize) -> &[f64] {
        &self.values[i * self.columns..][..self.columns]
    }

    fn row_mut(&mut self, i: usize) -> &mut [f64] {
        &mut self.values[i * self.columns..][..self.columns]
    }

    fn add(&mut self, i: usize, j: usize, value: f64) {
        self.row_mut(i)[j] += value;
    }

    fn plus(mut self, other: &Self) -> Self {
        for (a, b) in self.values.iter_mut().zip(&other.values) {
            *a += b;
        }
        self
    }

    /// The row vector times this matrix.
    fn after(&self, vector: &[f64]) -> Vec<f64> {
        let mut result = vec![0.0; self.columns];
        for (i, factor) in vector.iter().enumerate().filter(|(_, factor)| **factor != 0.0) {
            add_multiple(&mut result, self.row(i), *factor);
        }
        result
    }

    fn times(&self, other: &Self) -> Self {
        let mut product = Self::new(self.rows, other.columns);
        for i in 0..self.rows {
            product.row_mut(i).copy_from_slice(&other.after(self.row(i)));
        }
        product
    }

    /// The inverse of the negated matrix. Off the diagonal the negated matrix has no positive entry and each row sums to
    /// at least 0, so elimination needs no pivoting.
    fn negated_inverse(&self) -> Self {
        let n = self.rows;
        let mut wide = Self::new(n, 2 * n);
        for i in 0..n {
            for (to, from) in wide.row_mut(i).iter_mut().zip(self.row(i)) {
                *to = -from;
            }
            wide.row_mut(i)[n + i] = 1.0;
        }
        for pivot in 0..n {
            wide.eliminate(pivot);
        }
        let mut inverse = Self::new(n, n);
        for i in 0..n {
            inverse.row_mut(i).copy_from_slice(&wide.row(i)[n..]);
        }
        inverse
    }

    /// Makes column `pivot` that of the identity.
    fn eliminate(&mut self, pivot: usize) {
        let divisor = self.row(pivot)[pivot];
        self.row_mut(pivot).iter_mut().for_each(|value| *value /= divisor);
        let row = self.row(pivot).to_vec();
        for i in (0..self.rows).filter(|i| *i != pivot) {
            let factor = self.row(i)[pivot];
            if factor != 0.0 {
                add_multiple(self.row_mut(i), &row, -factor);
            }
        }
    }

    /// A row vector whose product with this generator is 0: the stationary probabilities, by the elimination of W. K.
    /// Grassmann, M. I. Taksar and D. P. Heyman (1985), which subtracts nothing.
    fn null_vector(mut self) -> Vec<f64> {
        let n = self.rows;
        let mut leaves = vec![0.0; n];
        for last in (1..n).rev() {
            leaves[last] = self.row(last)[..last].iter().sum();
            let row = self.row(last)[..last].to_vec();
            for i in 0..last {
                let factor = self.row(i)[last] / leaves[last];
                add_multiple(&mut self.row_mut(i)[..last], &row, factor);
            }
        }
        let mut vector = vec![1.0; n];
        for i in 1..n {
            let inflow: f64 = (0..i).map(|j| vector[j] * self.row(j)[i]).sum();
            vector[i] = inflow / leaves[i];
        }
        vector
    }
}

fn add_multiple(to: &mut [f64], from: &[f64], factor: f64) {
    for (a, b) in to.iter_mut().zip(from) {
        *a += factor * b;
    }
}
