//! The computation of a block in lanes of 8 or 16 bits, each of which has some rows.
//!
//! ```text
//!            columns ─▶
//!   lane 0   ┌─────────────┐   In a step, each lane computes its rows in one column: lane `l` in column `step - l`,
//!   lane 1   │ ┌───────────┴─┐   so that the lane above has computed the column one step before. What leaves the last
//!   lane 2   │ │ ┌───────────┴─┐   row of a lane enters the first row of the next lane in the next step.
//!            └─┴─┴─────────────┘
//! ```
//!
//! No value depends on a later one, so unlike a row in vectors (`kernel.rs`) no cell needs a correction. The vectors of a row of
//! the lanes are independent, which hides latencies.
//!
//! The cost is that each lane has another column and another row, so that no memory has a vector of their scores: `scores.rs` makes
//! them. A lane also computes columns before the first and after the last one, and rows after the last one, whose letters score -128
//! with all. Before the first column its `H` is 0, until the values of the left border replace it. After the last column and row
//! no value exceeds all of the block: it comes from one by a gap, or from any that entered by -128, and opening a gap costs less.

use std::marker::PhantomData;
use std::ops::Range;

use pulp::bytemuck::{Pod, Zeroable, cast_slice, cast_slice_mut};
use pulp::x86::{V3, V4};
use pulp::{Arch, NullaryFnOnce};

use super::scores::{STEPS, Scores, Source};
use super::{Border, Inflow};
use crate::Scoring;
use crate::number::Number;
use crate::registers::{Lanes, Registers};

/// The vectors of a row of all lanes.
const WAYS: usize = 2;

/// The lanes of 8 bits of the longest vectors.
pub(super) const MOST_LANES: usize = 64 * WAYS;

/// The scores of a block's columns.
#[derive(Debug)]
pub(crate) struct Strips {
    /// The number of columns.
    count: usize,
    scores: Scores,
}

impl Strips {
    /// The scores of columns with these letters, all of which have 8 bits. `None` if the processor does not have the instructions.
    pub fn new(query: &[u8], scoring: &Scoring) -> Option<Strips> {
        let can_run = matches!(Arch::new(), Arch::V3(_) | Arch::V4(_));
        can_run.then(|| Strips { count: query.len(), scores: Scores::new(query, scoring) })
    }

    /// Computes a block: see [`kernel::sweep`](super::kernel::sweep). Numbers of 16 bits must have all values of the block,
    /// relative to its corner; the best score with 8 bits is 255 if one may not fit.
    pub fn sweep<T: Cell>(&self, target: &[u8], gaps: (i32, i32), inflow: &mut Inflow) -> i32
    where
        V3: Lanes<T>,
        V4: Lanes<T>,
    {
        self.sweep_with::<T>(Arch::new(), target, gaps, inflow)
    }

    fn sweep_with<T: Cell>(&self, arch: Arch, target: &[u8], gaps: (i32, i32), inflow: &mut Inflow) -> i32
    where
        V3: Lanes<T>,
        V4: Lanes<T>,
    {
        match arch {
            Arch::V4(registers) => {
                registers.vectorize(Sweep::<T, _>::new(registers, self, target, gaps, inflow))
            }
            Arch::V3(registers) => {
                registers.vectorize(Sweep::<T, _>::new(registers, self, target, gaps, inflow))
            }
            _ => unreachable!("strips are made where the processor has the instructions"),
        }
    }
}

/// A number of a lane.
pub(crate) trait Cell: Number + Pod {
    /// Whether no number is below that of 0.
    const BEGINS_WITH_ZERO: bool;

    /// The numbers of a row of all lanes, of whose bytes there are those of all rows.
    fn row<S: Lanes<Self>>(registers: S, bytes: &[S::Vector], row: usize) -> [S::Vector; WAYS];
}

impl Cell for i8 {
    const BEGINS_WITH_ZERO: bool = true;

    #[inline(always)]
    fn row<S: Lanes<i8>>(_: S, bytes: &[S::Vector], row: usize) -> [S::Vector; WAYS] {
        let rows: &[[S::Vector; WAYS]] = cast_slice(bytes);
        rows[row]
    }
}

impl Cell for i16 {
    const BEGINS_WITH_ZERO: bool = false;

    #[inline(always)]
    fn row<S: Lanes<i16>>(registers: S, bytes: &[S::Vector], row: usize) -> [S::Vector; WAYS] {
        let rows: &[[S::Half; WAYS]] = cast_slice(bytes);
        let [first, second] = rows[row];
        [registers.widen(first), registers.widen(second)]
    }
}

/// What enters the first rows of lanes, or leaves their last ones.
#[derive(Clone, Copy)]
struct Pair<V> {
    score: [V; WAYS],
    gap: [V; WAYS],
}

/// The computation of a block, which is compiled for the instructions of the registers.
struct Sweep<'a, T, S> {
    registers: S,
    strips: &'a Strips,
    target: &'a [u8],
    gaps: (i32, i32),
    inflow: &'a mut Inflow,
    number: PhantomData<T>,
}

impl<'a, T, S> Sweep<'a, T, S> {
    fn new(
        registers: S,
        strips: &'a Strips,
        target: &'a [u8],
        gaps: (i32, i32),
        inflow: &'a mut Inflow,
    ) -> Self {
        Sweep { registers, strips, target, gaps, inflow, number: PhantomData }
    }
}

impl<T: Cell, S: Lanes<T> + Lanes<i8>> NullaryFnOnce for Sweep<'_, T, S> {
    type Output = i32;

    #[inline(always)]
    fn call(self) -> i32 {
        let Sweep { registers, strips, target, gaps, inflow, .. } = self;
        let splat = |number: T| Lanes::<T>::splat(registers, number);
        let base = T::base(inflow.corner);
        let shape = Shape::new::<T, S>(target.len());
        let lowest = [splat(T::LOWEST); WAYS];
        let mut block = Block::<T, S> {
            registers,
            zero: splat(T::relative(0, base)),
            open: splat(T::difference(gaps.0)),
            extend: splat(T::difference(gaps.1)),
            rows: vec![[lowest; 2]; shape.rows],
            best: lowest,
            shape,
            number: PhantomData,
        };
        let corner = inflow.above.score[strips.count - 1];
        let mut above = Numbers::<T>::new(&inflow.above, base, shape.lanes);
        let left = Numbers::<T>::new(&inflow.left, base, 0);
        let source = Source::new(registers, &strips.scores, target, shape);
        let mut scores = vec![S::Vector::zeroed(); STEPS * shape.vectors];
        // What leaves the last rows of the lanes, and the `H` that entered their first ones.
        let mut leaves = Pair { score: lowest, gap: lowest };
        let mut diagonal = lowest;
        for step in 0..strips.count + shape.lanes - 1 {
            if step % STEPS == 0 {
                source.read(step, &mut scores);
            }
            if step < shape.lanes {
                block.enter(step, &left);
                let before = (step * shape.rows).checked_sub(1);
                let before = before.map_or(T::relative(inflow.corner, base), |row| left.score[row]);
                lanes_mut(&mut diagonal)[step] = before;
            }
            let enters = Pair {
                score: block.moved(leaves.score, above.score[step]),
                gap: block.moved(leaves.gap, above.gap[step]),
            };
            let scores = &scores[step % STEPS * shape.vectors..][..shape.vectors];
            let last;
            (last, leaves) = block.step(scores, diagonal, enters);
            diagonal = enters.score;
            if let Some(column) = (step + 1).checked_sub(shape.lanes) {
                above.score[column] = lanes(&last.score)[shape.lanes - 1];
                above.gap[column] = lanes(&last.gap)[shape.lanes - 1];
            }
            if let Some(lane) = (step + 1).checked_sub(strips.count) {
                block.leave(lane, &mut inflow.left, base);
            }
        }
        above.write(&mut inflow.above, base);
        inflow.corner = corner;
        let best = lanes::<T, _>(&block.best).iter().copied().max().unwrap_or(T::LOWEST);
        best.max(T::relative(0, base)).absolute(base).max(0)
    }
}

/// The numbers of the lanes.
#[inline(always)]
fn lanes<T: Pod, V: Pod>(vectors: &[V; WAYS]) -> &[T] {
    cast_slice(vectors)
}

/// The numbers of the lanes.
#[inline(always)]
fn lanes_mut<T: Pod, V: Pod>(vectors: &mut [V; WAYS]) -> &mut [T] {
    cast_slice_mut(vectors)
}

/// The numbers of a border, and the lowest one for some columns after it.
struct Numbers<T> {
    score: Vec<T>,
    gap: Vec<T>,
}

impl<T: Number> Numbers<T> {
    #[inline(always)]
    fn new(border: &Border, base: i32, more: usize) -> Numbers<T> {
        let numbers = |values: &[i32]| {
            let mut numbers = vec![T::LOWEST; values.len() + more];
            numbers.iter_mut().zip(values).for_each(|(number, value)| *number = T::relative(*value, base));
            numbers
        };
        Numbers { score: numbers(&border.score), gap: numbers(&border.gap) }
    }

    #[inline(always)]
    fn write(&self, border: &mut Border, base: i32) {
        let write = |values: &mut [i32], numbers: &[T]| {
            values.iter_mut().zip(numbers).for_each(|(value, number)| *value = number.absolute(base));
        };
        write(&mut border.score, &self.score);
        write(&mut border.gap, &self.gap);
    }
}

/// How the rows are divided among the lanes.
#[derive(Clone, Copy)]
pub(super) struct Shape {
    /// The rows of a lane. Those after the last row of the block have no letters.
    pub rows: usize,
    /// The rows of the last lane that has any.
    last: usize,
    /// The lanes that have rows.
    lanes: usize,
    /// The lanes of a row: those that have none too.
    pub row: usize,
    /// The vectors of the bytes of a step.
    pub vectors: usize,
}

impl Shape {
    #[inline(always)]
    fn new<T, S: Registers>(count: usize) -> Shape {
        let bytes = size_of::<S::Vector>();
        let row = WAYS * bytes / size_of::<T>();
        let rows = count.div_ceil(row);
        let lanes = count.div_ceil(rows);
        Shape { rows, last: count - (lanes - 1) * rows, lanes, row, vectors: rows * row / bytes }
    }
}

/// A block that is being computed.
struct Block<T, S: Registers> {
    registers: S,
    shape: Shape,
    zero: S::Vector,
    open: S::Vector,
    extend: S::Vector,
    /// `H` of the column before, and the `F` of the column to compute next, by row of each lane.
    rows: Vec<[[S::Vector; WAYS]; 2]>,
    best: [S::Vector; WAYS],
    number: PhantomData<T>,
}

impl<T: Cell, S: Lanes<T>> Block<T, S> {
    /// Begins a lane with the left border of its rows.
    #[inline(always)]
    fn enter(&mut self, lane: usize, left: &Numbers<T>) {
        let first = lane * self.shape.rows;
        let border = left.score[first..].iter().zip(&left.gap[first..]);
        for ([scores, gaps], (score, gap)) in self.rows.iter_mut().zip(border) {
            lanes_mut(scores)[lane] = *score;
            lanes_mut(gaps)[lane] = *gap;
        }
    }

    /// Replaces the left border of a lane's rows by what leaves them at the right.
    #[inline(always)]
    fn leave(&self, lane: usize, left: &mut Border, base: i32) {
        let first = lane * self.shape.rows;
        let border = left.score[first..].iter_mut().zip(&mut left.gap[first..]);
        for ([scores, gaps], (score, gap)) in self.rows.iter().zip(border) {
            *score = lanes::<T, _>(scores)[lane].absolute(base);
            *gap = lanes::<T, _>(gaps)[lane].absolute(base);
        }
    }

    /// What leaves the lanes, each in the next one, and `first` in the first.
    #[inline(always)]
    fn moved(&self, vectors: [S::Vector; WAYS], first: T) -> [S::Vector; WAYS] {
        let mut moved = vectors;
        let mut before = self.registers.splat(first);
        for moved in &mut moved {
            before = std::mem::replace(moved, self.registers.moved(*moved, before));
        }
        moved
    }

    /// Computes a column of each lane. Returns what leaves the last row of the block in the last lane, and the last row of
    /// each lane.
    #[inline(always)]
    fn step(
        &mut self,
        scores: &[S::Vector],
        diagonal: [S::Vector; WAYS],
        enters: Pair<S::Vector>,
    ) -> (Pair<S::Vector>, Pair<S::Vector>) {
        let (diagonal, last) = self.rows(0..self.shape.last, scores, diagonal, enters);
        let (_, leaves) = self.rows(self.shape.last..self.shape.rows, scores, diagonal, last);
        (last, leaves)
    }

    /// Computes some rows of each lane. Returns the `H` at the left of the last one, and what leaves it.
    #[inline(always)]
    fn rows(
        &mut self,
        range: Range<usize>,
        scores: &[S::Vector],
        mut diagonal: [S::Vector; WAYS],
        enters: Pair<S::Vector>,
    ) -> ([S::Vector; WAYS], Pair<S::Vector>) {
        let r = self.registers;
        let Pair { mut score, mut gap } = enters;
        let mut best = self.best;
        for (row, [left, right]) in range.clone().zip(&mut self.rows[range]) {
            let pair = T::row(r, scores, row);
            for way in 0..WAYS {
                let paired = r.max(r.plus(diagonal[way], pair[way]), right[way]);
                let paired = if T::BEGINS_WITH_ZERO { paired } else { r.max(paired, self.zero) };
                score[way] = r.max(paired, gap[way]);
                diagonal[way] = left[way];
                left[way] = score[way];
                best[way] = r.max(best[way], score[way]);
                right[way] = r.max(r.minus(right[way], self.extend), r.minus(score[way], self.open));
                // Not from `score`, which would take longer: a gap that opens after another one costs no less than a longer one.
                gap[way] = r.max(r.minus(gap[way], self.extend), r.minus(paired, self.open));
            }
        }
        self.best = best;
        (diagonal, Pair { score, gap })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::kernel;
    use super::super::profile::{Columns, is_narrow};
    use super::super::testing::{archs, scorings};
    use super::*;
    use crate::{Alphabet, Gap};

    /// Two sequences, of which the second has parts of the first.
    fn pair(alphabet: Alphabet, most: usize) -> impl Strategy<Value = (Vec<u8>, Vec<u8>)> {
        let letter = 0..alphabet.letters().len() as u8;
        let part = (0..most, 0..most, prop::collection::vec(letter.clone(), 0..8));
        (prop::collection::vec(letter, 2..most), prop::collection::vec(part, 1..4)).prop_map(
            |(query, parts)| {
                let mut target = vec![0, 1];
                for (first, count, between) in parts {
                    target.extend(query.iter().skip(first).take(count).chain(&between));
                }
                (query, target)
            },
        )
    }

    fn cases() -> impl Strategy<Value = (Scoring, (Vec<u8>, Vec<u8>))> {
        scorings().prop_flat_map(|scoring| {
            let pair = pair(scoring.alphabet(), 330);
            (Just(scoring), pair)
        })
    }

    /// What leaves a block. A gap that is not above 0 may be left out.
    fn leaving(inflow: &Inflow) -> [Vec<i32>; 5] {
        let gaps = |border: &Border| border.gap.iter().map(|gap| *gap.max(&0)).collect();
        let Inflow { corner, above, left } = inflow;
        [vec![*corner], above.score.clone(), left.score.clone(), gaps(above), gaps(left)]
    }

    /// Computes a block cell by cell, and returns the best score.
    fn plain(scoring: &Scoring, query: &[u8], target: &[u8], inflow: &mut Inflow) -> i32 {
        let (open, extend) = costs(scoring);
        let mut best = 0;
        let corner = inflow.above.score[query.len() - 1];
        let mut corner = std::mem::replace(&mut inflow.corner, corner);
        for (letter, (left, right)) in
            target.iter().zip(inflow.left.score.iter_mut().zip(&mut inflow.left.gap))
        {
            let mut diagonal = std::mem::replace(&mut corner, *left);
            let above = inflow.above.score.iter_mut().zip(&mut inflow.above.gap);
            for (other, (above, below)) in query.iter().zip(above) {
                let paired = diagonal + scoring.of_codes(*other, *letter);
                let here = paired.max(*below).max(*right).max(0);
                diagonal = std::mem::replace(above, here);
                *below = (*below - extend).max(here - open);
                *right = (*right - extend).max(here - open);
                *left = here;
                best = best.max(here);
            }
        }
        best
    }

    fn costs(scoring: &Scoring) -> (i32, i32) {
        let Gap::Affine { open, extend } = *scoring.gap() else { panic!("affine costs") };
        (open, extend)
    }

    /// Computes a block cell by cell, and compares what the kernels compute. Returns the best score.
    fn check(scoring: &Scoring, query: &[u8], target: &[u8], inflow: &mut Inflow) -> i32 {
        let costs = costs(scoring);
        let entered = inflow.clone();
        let best = plain(scoring, query, target, inflow);
        let mut striped = entered.clone();
        let found = kernel::sweep(&Columns::<i32>::new(query, scoring), target, costs, &mut striped);
        assert_eq!(found, best);
        assert_eq!(leaving(&striped), leaving(inflow), "32 bits, striped");
        let Some(strips) = Strips::new(query, scoring) else { return best };
        for arch in archs() {
            let mut bytes = entered.clone();
            if bytes.is_below(192) {
                let found = strips.sweep_with::<i8>(arch, target, costs, &mut bytes);
                assert_eq!(found, best.min(255));
                if best < 255 {
                    assert_eq!(leaving(&bytes), leaving(inflow), "8 bits, {arch:?}");
                }
            }
            let mut words = entered.clone();
            if is_narrow(scoring, query.len().max(target.len())) {
                let found = strips.sweep_with::<i16>(arch, target, costs, &mut words);
                assert_eq!(found, best);
                assert_eq!(leaving(&words), leaving(inflow), "16 bits, {arch:?}");
            }
        }
        best
    }

    /// Checks the four blocks of a pair, whose first scores are all `first`. Returns the best score.
    fn check_pair(
        scoring: &Scoring,
        (query, target): (&[u8], &[u8]),
        size: (usize, usize),
        first: i32,
    ) -> i32 {
        let (query, target) = (query.split_at(size.0), target.split_at(size.1));
        let edge = |count| Border { score: vec![first; count], ..Border::edge(count) };
        let mut above = [edge(query.0.len()), edge(query.1.len())];
        let mut best = 0;
        for target in [target.0, target.1] {
            let mut inflow = Inflow { corner: first, above: edge(0), left: edge(target.len()) };
            for (query, above) in [query.0, query.1].into_iter().zip(&mut above) {
                inflow.above = std::mem::replace(above, edge(0));
                best = check(scoring, query, target, &mut inflow).max(best);
                *above = std::mem::replace(&mut inflow.above, edge(0));
            }
        }
        best
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(100))]

        #[test]
        fn blocks_equal_those_computed_cell_by_cell(
            (scoring, (query, target)) in cases(),
            (columns, rows) in (0.0..1.0, 0.0..1.0),
            first in prop_oneof![Just(0), Just(0), 1..180, Just(100_000)],
        ) {
            // Each block has a row and a column at least.
            let part = |part: f64, count: usize| (1 + (part * (count - 1) as f64) as usize).min(count - 1);
            let size = (part(columns, query.len()), part(rows, target.len()));
            check_pair(&scoring, (&query, &target), size, first);
        }
    }

    #[test]
    fn a_gap_of_no_cost_leaves_a_block_whose_columns_end_with_a_lane() {
        // The second row of a block scores no more than what its first row left.
        let scoring = Scoring::dna(7, 25, Gap::Affine { open: 0, extend: 0 }).unwrap();
        let best = check_pair(&scoring, (&[0; 70], &[0, 1, 0, 1]), (38, 2), 0);
        assert_eq!(best, 14);
    }

    #[test]
    fn the_largest_scores_of_8_bits_and_those_above() {
        // Each letter scores 5, so that the scores are all multiples of 5: 250, 255 and 260 among them.
        let scoring = Scoring::dna(5, 4, Gap::Affine { open: 5, extend: 2 }).unwrap();
        for letters in [50, 51, 52, 300] {
            let letters = vec![2; letters];
            let best = check_pair(&scoring, (&letters, &letters), (20, 30), 0);
            assert_eq!(best, 5 * letters.len() as i32);
        }
    }
}
