//! The scores of the cells that a step of [`skewed`](super::skewed) computes: a byte for each row of each lane.
//!
//! There are two ways. If pairs of letters are few enough for a table (DNA), the score of a pair is looked up by the sum of two
//! codes. Otherwise the scores of each letter of the target against successive columns are in memory; these bytes of each
//! lane's letter are transposed.

use pulp::bytemuck::{Zeroable, cast_slice, cast_slice_mut, pod_read_unaligned};

use super::skewed::{MOST_LANES, Shape};
use crate::Scoring;
use crate::number::Number;
use crate::registers::{ENTRIES, Lanes, Registers};

/// Steps whose scores are made at a time.
pub(super) const STEPS: usize = 32;

/// Before the first column in memory, and at least as many after the last one as steps compute.
const BEFORE: usize = MOST_LANES;
const AFTER: usize = MOST_LANES + STEPS;

/// Stands for a letter outside of a block in sums of codes, which saturate: such a sum selects the last entry of the table.
const OUTSIDE: u8 = i8::MAX as u8;

/// The scores of a block's columns.
#[derive(Debug)]
pub(super) enum Scores {
    Pairs(Pairs),
    Rows(Rows),
}

/// The scores of all pairs.
#[derive(Debug)]
pub(super) struct Pairs {
    table: [i8; ENTRIES],
    /// What the code of a row's letter is multiplied by.
    factor: u8,
    /// The codes of the columns from the last to the first, with those outside of the block.
    columns: Vec<u8>,
}

/// The scores of each letter against the columns.
#[derive(Debug)]
pub(super) struct Rows {
    /// The scores of a letter: this many.
    length: usize,
    /// For each letter those before the first column, those of the columns, and those after the last one. The letter after the
    /// last one scores less than 0 with all.
    scores: Vec<i8>,
}

impl Scores {
    /// The scores of columns with these letters.
    pub fn new(query: &[u8], scoring: &Scoring) -> Scores {
        let codes = scoring.codes();
        if codes * codes < ENTRIES {
            let mut table = [i8::MIN; ENTRIES];
            for (at, score) in table.iter_mut().take(codes * codes).enumerate() {
                *score = i8::difference(scoring.of_codes((at % codes) as u8, (at / codes) as u8));
            }
            let mut columns = vec![OUTSIDE; AFTER];
            columns.extend(query.iter().rev());
            columns.extend([OUTSIDE; BEFORE]);
            return Scores::Pairs(Pairs { table, factor: codes as u8, columns });
        }
        let length = BEFORE + query.len() + AFTER;
        let mut scores = vec![i8::MIN; length * (codes + 1)];
        for (code, scores) in scores.chunks_exact_mut(length).take(codes).enumerate() {
            for (score, letter) in scores[BEFORE..].iter_mut().zip(query) {
                *score = i8::difference(scoring.of_codes(*letter, code as u8));
            }
        }
        Scores::Rows(Rows { length, scores })
    }
}

/// Makes the scores of a block.
pub(super) enum Source<'a, S: Registers> {
    Pairs(Sums<'a, S>),
    Rows(Transposition<'a, S>),
}

impl<'a, S: Lanes<i8>> Source<'a, S> {
    /// The scores of rows with these letters, divided among lanes.
    #[inline(always)]
    pub fn new(registers: S, scores: &'a Scores, target: &[u8], shape: Shape) -> Self {
        match scores {
            Scores::Pairs(pairs) => Source::Pairs(Sums::new(registers, pairs, target, shape)),
            Scores::Rows(rows) => Source::Rows(Transposition::new(registers, rows, target, shape)),
        }
    }

    /// Makes the scores of [`STEPS`] steps, from one on.
    #[inline(always)]
    pub fn read(&self, step: usize, scores: &mut [S::Vector]) {
        match self {
            Source::Pairs(sums) => sums.read(step, scores),
            Source::Rows(transposition) => transposition.read(step, scores),
        }
    }
}

/// The letter of the row of a byte, and its lane.
#[inline(always)]
fn letter<'a>(target: &'a [u8], shape: &Shape, byte: usize) -> (Option<&'a u8>, usize) {
    let (row, lane) = (byte / shape.row, byte % shape.row);
    (target.get(lane * shape.rows + row), lane)
}

/// Looks up the sums of two codes.
pub(super) struct Sums<'a, S: Registers> {
    registers: S,
    pairs: &'a Pairs,
    /// The bytes of a row of all lanes.
    row: usize,
    /// The codes of the rows, multiplied.
    codes: Vec<S::Vector>,
}

impl<'a, S: Lanes<i8>> Sums<'a, S> {
    #[inline(always)]
    fn new(registers: S, pairs: &'a Pairs, target: &[u8], shape: Shape) -> Self {
        let mut codes = vec![S::Vector::zeroed(); shape.vectors];
        let bytes: &mut [u8] = cast_slice_mut(&mut codes);
        for (at, byte) in bytes.iter_mut().enumerate() {
            *byte = letter(target, &shape, at).0.map_or(OUTSIDE, |letter| letter * pairs.factor);
        }
        Sums { registers, pairs, row: shape.row, codes }
    }

    #[inline(always)]
    fn read(&self, step: usize, scores: &mut [S::Vector]) {
        let r = self.registers;
        let size = size_of::<S::Vector>();
        // A row of all lanes has this many vectors.
        let ways = self.row / size;
        let table = self.pairs.table;
        for (step, scores) in (step..).zip(scores.chunks_exact_mut(self.codes.len())) {
            // Lane `l` has column `step - l`.
            let first = self.pairs.columns.len() - BEFORE - 1 - step;
            let columns = &self.pairs.columns[first..first + self.row];
            for (way, columns) in columns.chunks_exact(size).enumerate() {
                let columns: S::Vector = pod_read_unaligned(columns);
                for (codes, scores) in self.codes.chunks_exact(ways).zip(scores.chunks_exact_mut(ways)) {
                    scores[way] = r.lookup(&table, r.plus(codes[way], columns));
                }
            }
        }
    }
}

/// Transposes the scores of successive columns.
pub(super) struct Transposition<'a, S> {
    registers: S,
    rows: &'a Rows,
    /// For each vector of a step where the scores of byte `16 * part + at` begin, by `at` and `part`.
    places: Vec<[[u32; 4]; 16]>,
}

impl<'a, S: Registers> Transposition<'a, S> {
    #[inline(always)]
    fn new(registers: S, rows: &'a Rows, target: &[u8], shape: Shape) -> Self {
        let bytes = size_of::<S::Vector>();
        let outside = rows.scores.len() / rows.length - 1;
        let mut places = vec![[[0; 4]; 16]; shape.vectors];
        for (vector, places) in places.iter_mut().enumerate() {
            for byte in 0..bytes {
                let (letter, lane) = letter(target, &shape, vector * bytes + byte);
                let letter = letter.map_or(outside, |letter| usize::from(*letter));
                places[byte % 16][byte / 16] = (letter * rows.length + BEFORE - lane) as u32;
            }
        }
        Transposition { registers, rows, places }
    }

    #[inline(always)]
    fn read(&self, step: usize, scores: &mut [S::Vector]) {
        let r = self.registers;
        let from: &[u8] = cast_slice(&self.rows.scores[step..]);
        let vectors = self.places.len();
        for (vector, places) in self.places.iter().enumerate() {
            // The bytes of the first and the last 16 steps. Two passes over four vectors at a time transpose 16 of them.
            let mut half = [[S::Vector::zeroed(); 16]; 2];
            for at in 0..4 {
                // Not by closures: the compiler does not put the instructions in their place.
                let [a, e] = r.gather(from, &places[at]);
                let [b, f] = r.gather(from, &places[at + 4]);
                let [c, g] = r.gather(from, &places[at + 8]);
                let [d, h] = r.gather(from, &places[at + 12]);
                half[0][4 * at..4 * at + 4].copy_from_slice(&interleave(r, a, b, c, d));
                half[1][4 * at..4 * at + 4].copy_from_slice(&interleave(r, e, f, g, h));
            }
            for (part, half) in half.iter().enumerate() {
                for at in 0..4 {
                    let steps = interleave(r, half[at], half[at + 4], half[at + 8], half[at + 12]);
                    for (step, score) in steps.into_iter().enumerate() {
                        scores[(16 * part + 4 * at + step) * vectors + vector] = score;
                    }
                }
            }
        }
    }
}

/// In each 16 bytes: the bytes of the first quarters of four vectors in turn, those of their second quarters, and so on.
#[inline(always)]
fn interleave<S: Registers>(r: S, a: S::Vector, b: S::Vector, c: S::Vector, d: S::Vector) -> [S::Vector; 4] {
    let ([a, e], [b, f]) = (r.interleave(a, c), r.interleave(b, d));
    let ([a, b], [c, d]) = (r.interleave(a, b), r.interleave(e, f));
    [a, b, c, d]
}
