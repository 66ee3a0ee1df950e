//! The sparse matrix of the benchmark: a sum of outer products of random sparse vectors with themselves, of which the weights
//! fall geometrically from 1 to 0.1, and a multiple of the identity.

use super::{MATRIX_ROWS, Problem};
use crate::nas::Random;
use thalweg::Loop;

/// The ratio of the last weight to the first one, and what is added to the diagonal before the shift.
const CONDITION: f64 = 0.1;

/// A sparse matrix, row by row.
#[derive(Clone, Debug)]
pub(super) struct Matrix {
    /// The first number of each row, and the end of the last one.
    starts: Vec<usize>,
    columns: Vec<u32>,
    values: Vec<f64>,
}

/// A number of a sparse vector: its index and its value.
type Entry = (u32, f64);

impl Matrix {
    pub fn new(problem: &Problem, loops: &Loop) -> Self {
        let vectors = vectors(problem);
        let memberships = memberships(&vectors, problem.rows);
        let ratio = CONDITION.powf(1.0 / problem.rows as f64);
        let weights: Vec<f64> =
            std::iter::successors(Some(1.0), |weight| Some(weight * ratio)).take(problem.rows).collect();
        let mut rows: Vec<Vec<Entry>> = vec![Vec::new(); problem.rows];
        loops.for_chunks(&mut rows, MATRIX_ROWS, |chunk, part| {
            for (at, row) in part.iter_mut().enumerate() {
                let index = chunk * MATRIX_ROWS + at;
                let mut sum = Vec::new();
                for (vector, value) in &memberships[index] {
                    let scale = weights[*vector as usize] * value;
                    sum.extend(
                        vectors[*vector as usize].iter().map(|(column, other)| (*column, other * scale)),
                    );
                }
                sum.push((index as u32, CONDITION - problem.shift));
                *row = add_equal_columns(sum);
            }
        });
        Self::of_rows(rows)
    }

    fn of_rows(rows: Vec<Vec<Entry>>) -> Self {
        let count = rows.iter().map(Vec::len).sum();
        let mut matrix = Matrix {
            starts: Vec::with_capacity(rows.len() + 1),
            columns: Vec::with_capacity(count),
            values: Vec::with_capacity(count),
        };
        for row in rows {
            matrix.starts.push(matrix.columns.len());
            for (column, value) in row {
                matrix.columns.push(column);
                matrix.values.push(value);
            }
        }
        matrix.starts.push(count);
        matrix
    }

    pub fn nonzeros(&self) -> usize {
        self.values.len()
    }

    /// Multiplies the matrix with a vector.
    pub fn multiply(&self, loops: &Loop, vector: &[f64], product: &mut [f64]) {
        loops.for_chunks(product, MATRIX_ROWS, |chunk, part| {
            let starts = &self.starts[chunk * MATRIX_ROWS..];
            for (sum, ends) in part.iter_mut().zip(starts.windows(2)) {
                let range = ends[0]..ends[1];
                let entries = self.columns[range.clone()].iter().zip(&self.values[range]);
                *sum = entries.fold(0.0, |sum, (column, value)| sum + value * vector[*column as usize]);
            }
        });
    }
}

/// The random vectors. Vector `i` has random values at random places, and 1/2 at place `i`.
fn vectors(problem: &Problem) -> Vec<Vec<Entry>> {
    let (rows, nonzeros) = (problem.rows, problem.nonzeros);
    assert!(rows > 2 * nonzeros && u32::try_from(rows).is_ok(), "{rows} rows of {nonzeros} nonzeros");
    let range = rows.next_power_of_two() as f64;
    let mut random = Random::new();
    // The benchmark draws, and does not use, the first number.
    random.next();
    let mut vector = |index: usize| {
        let mut entries: Vec<Entry> = Vec::with_capacity(nonzeros + 1);
        while entries.len() < nonzeros {
            let (value, place) = (random.next(), (random.next() * range) as u32);
            if (place as usize) < rows && entries.iter().all(|(other, _)| *other != place) {
                entries.push((place, value));
            }
        }
        match entries.iter_mut().find(|(place, _)| *place as usize == index) {
            Some((_, value)) => *value = 0.5,
            None => entries.push((index as u32, 0.5)),
        }
        entries
    };
    (0..rows).map(&mut vector).collect()
}

/// For each place, the vectors with a value there, and the value.
fn memberships(vectors: &[Vec<Entry>], rows: usize) -> Vec<Vec<Entry>> {
    let mut memberships = vec![Vec::new(); rows];
    for (index, vector) in vectors.iter().enumerate() {
        for (place, value) in vector {
            memberships[*place as usize].push((index as u32, *value));
        }
    }
    memberships
}

/// Sorts entries by column and adds those of one column, in their order.
fn add_equal_columns(mut entries: Vec<Entry>) -> Vec<Entry> {
    entries.sort_by_key(|(column, _)| *column);
    let mut sums: Vec<Entry> = Vec::with_capacity(entries.len());
    for (column, value) in entries {
        match sums.last_mut() {
            Some((last, sum)) if *last == column => *sum += value,
            _ => sums.push((column, value)),
        }
    }
    sums.shrink_to_fit();
    sums
}
