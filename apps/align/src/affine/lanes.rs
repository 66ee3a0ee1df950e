//! Scores of one sequence with many at once, each in a lane of its own: Rognes, "Faster Smith-Waterman database searches with
//! inter-sequence SIMD parallelisation", BMC Bioinformatics 12 (2011).
//!
//! ```text
//!                  positions of the many ─▶
//!                  ┌────┬────┬────┐   A vector has the cell of each lane at the same place. Some positions are
//!   letters of     │    │    │    │   computed in one pass over the letters of a strip, of which `H` and the `E` of
//!   the one     │  ├────┼────┼────┤   the next position are kept; between strips, the `H` and `F` of each position.
//!               ▼  │    │    │    │
//!                  └────┴────┴────┘
//! ```
//!
//! No cell depends on another lane. The lowest number stands for 0, so that sums and differences that saturate are the maximum
//! with 0; the highest stands for all scores from it on.

use std::marker::PhantomData;
use std::slice;

use pulp::bytemuck::{Pod, Zeroable, bytes_of_mut, cast, cast_mut, cast_slice};
use pulp::x86::{V3, V4};
use pulp::{Arch, NullaryFnOnce};

use super::profile::fits_bytes;
use crate::number::Number;
use crate::registers::{ENTRIES, Lanes, Registers};
use crate::wavefront::Watch;
use crate::{Error, Gap, Result, Scoring};

/// Positions that are computed in one pass.
const POSITIONS: usize = 4;

/// The lanes of 8 bits of the longest vectors.
const MOST_LANES: usize = 64;

/// The most letters of a strip: its two vectors a letter are to stay in the second-level cache.
const STRIP: usize = 2048;

/// The most letters of a sequence in a lane.
pub(crate) const LONGEST: usize = 1 << 16;

/// The least and the most cells that the kernel for one pair computes in the time of a vector.
const CELLS_OF_A_VECTOR: (usize, usize) = (2, 18);

/// The letters of a sequence for each of these cells. Fewer letters fill fewer lanes of the kernel for one pair.
const LETTERS_OF_A_CELL: usize = 40;

/// A letter that scores less than 0 with all others: what follows the end of a sequence.
const END: u8 = ENTRIES as u8 - 1;

/// The bytes that the kernel takes for sequences of these lengths, if vectors have 64 bytes.
pub(crate) fn memory(one: usize, many: usize) -> u64 {
    2 * MOST_LANES as u64 * (one.min(STRIP) + many.min(LONGEST) + POSITIONS) as u64
}

/// The scores of all pairs of letters, as the kernel reads them.
#[derive(Debug)]
pub(crate) struct Tables {
    arch: Arch,
    /// The lanes of numbers of 8 bits.
    lanes: usize,
    /// The most letters of a strip.
    strip: usize,
    /// By letter of the one sequence, and letter of the many.
    scores: Vec<[i8; ENTRIES]>,
    /// What opening and extending a gap costs.
    costs: [i8; 2],
}

impl Tables {
    /// `None` if gap costs are not affine, numbers have more than 8 bits, or the processor does not have the instructions.
    pub fn new(scoring: &Scoring) -> Option<Tables> {
        Tables::with(scoring, Arch::new(), STRIP)
    }

    fn with(scoring: &Scoring, arch: Arch, strip: usize) -> Option<Tables> {
        let lanes = match arch {
            Arch::V4(_) => MOST_LANES,
            Arch::V3(_) => 32,
            _ => return None,
        };
        let Gap::Affine { open, extend } = *scoring.gap() else { return None };
        if !fits_bytes(scoring) {
            return None;
        }
        let mut scores = vec![[i8::MIN; ENTRIES]; scoring.codes()];
        for (one, scores) in scores.iter_mut().enumerate() {
            for (many, score) in scores.iter_mut().take(scoring.codes()).enumerate() {
                *score = i8::difference(scoring.of_codes(one as u8, many as u8));
            }
        }
        Some(Tables { arch, lanes, strip, scores, costs: [open, extend].map(i8::difference) })
    }

    /// The most sequences that are compared with one at once.
    pub fn lanes(&self) -> usize {
        self.lanes
    }

    /// Whether sequences, the longest and all together of these lengths, take less time in lanes than one by one.
    pub fn pay(longest: usize, all: usize) -> bool {
        longest <= LONGEST && Tables::cost(longest) <= all
    }

    /// What comparing a letter with sequences in lanes costs, in cells of the kernel for one pair.
    pub fn cost(longest: usize) -> usize {
        let (least, most) = CELLS_OF_A_VECTOR;
        longest * (longest / LETTERS_OF_A_CELL).clamp(least, most)
    }

    /// The scores of a sequence with at most as many others as there are lanes. `None` stands for a score that may not fit into
    /// 16 bits, or into 8 where few do not.
    ///
    /// # Errors
    /// The watch stops the computation.
    pub fn scores(&self, one: &[u8], many: &[&[u8]], watch: &dyn Watch) -> Result<Vec<Option<i32>>> {
        let mut scores = self.dispatch::<i8>(one, many, watch)?;
        let large: Vec<usize> = (0..many.len()).filter(|at| scores[*at].is_none()).collect();
        for large in large.chunks(self.lanes / 2) {
            let many: Vec<&[u8]> = large.iter().map(|at| many[*at]).collect();
            let longest = many.iter().map(|many| many.len()).max().unwrap_or(0);
            if Tables::pay(longest, many.iter().map(|many| many.len()).sum()) {
                for (at, score) in large.iter().zip(self.dispatch::<i16>(one, &many, watch)?) {
                    scores[*at] = score;
                }
            }
        }
        Ok(scores)
    }

    fn dispatch<T: Cell>(&self, one: &[u8], many: &[&[u8]], watch: &dyn Watch) -> Result<Vec<Option<i32>>>
    where
        V3: Lanes<T>,
        V4: Lanes<T>,
    {
        match self.arch {
            Arch::V4(registers) => {
                registers.vectorize(Pass::<T, _>::new(registers, self, (one, many), watch))
            }
            Arch::V3(registers) => {
                registers.vectorize(Pass::<T, _>::new(registers, self, (one, many), watch))
            }
            _ => Ok(vec![None; many.len()]),
        }
    }
}

/// A number of a lane.
trait Cell: Number + Pod {
    /// The scores of a letter against those of some positions. `letters` has a byte for each lane and position.
    fn scores<S: Registers>(
        registers: S,
        table: &[i8; ENTRIES],
        letters: &[S::Vector; POSITIONS],
    ) -> [S::Vector; POSITIONS];
}

impl Cell for i8 {
    #[inline(always)]
    fn scores<S: Registers>(
        registers: S,
        table: &[i8; ENTRIES],
        letters: &[S::Vector; POSITIONS],
    ) -> [S::Vector; POSITIONS] {
        let mut scores = *letters;
        for scores in &mut scores {
            *scores = registers.lookup(table, *scores);
        }
        scores
    }
}

impl Cell for i16 {
    #[inline(always)]
    fn scores<S: Registers>(
        registers: S,
        table: &[i8; ENTRIES],
        letters: &[S::Vector; POSITIONS],
    ) -> [S::Vector; POSITIONS] {
        let mut scores = *letters;
        for (two, letters) in scores.chunks_exact_mut(2).zip(letters) {
            let [first, second]: [S::Half; 2] = cast(registers.lookup(table, *letters));
            two.copy_from_slice(&[registers.widen(first), registers.widen(second)]);
        }
        scores
    }
}

/// The computation of all cells, which is compiled for the instructions of the registers.
struct Pass<'a, T, S> {
    registers: S,
    tables: &'a Tables,
    one: &'a [u8],
    many: &'a [&'a [u8]],
    watch: &'a dyn Watch,
    number: PhantomData<T>,
}

impl<'a, T, S> Pass<'a, T, S> {
    fn new(
        registers: S,
        tables: &'a Tables,
        (one, many): (&'a [u8], &'a [&'a [u8]]),
        watch: &'a dyn Watch,
    ) -> Self {
        Pass { registers, tables, one, many, watch, number: PhantomData }
    }
}

impl<T: Cell, S: Lanes<T>> NullaryFnOnce for Pass<'_, T, S> {
    type Output = Result<Vec<Option<i32>>>;

    #[inline(always)]
    fn call(self) -> Self::Output {
        let lowest = self.registers.splat(T::LOWEST);
        let longest = self.many.iter().map(|many| many.len()).max().unwrap_or(0);
        let mut letters = Letters::<S> { vectors: [S::Vector::zeroed(); POSITIONS] };
        let mut profile = Box::new([[S::Vector::zeroed(); POSITIONS]; ENTRIES]);
        // `H` of the last row of the strip above, and the `F` that leaves it.
        let mut border = vec![[lowest; 2]; longest.next_multiple_of(POSITIONS)];
        let mut best = lowest;
        let strips = self.one.len().div_ceil(self.tables.strip).max(1);
        for strip in self.one.chunks(self.one.len().div_ceil(strips).max(1)) {
            let mut rows = vec![[lowest; 2]; strip.len()];
            let mut corner = lowest;
            for (at, border) in border.chunks_exact_mut(POSITIONS).enumerate() {
                if self.watch.stopped() {
                    return Err(Error::Stopped);
                }
                letters.read::<T>(self.many, at * POSITIONS);
                for (scores, table) in profile.iter_mut().zip(&self.tables.scores) {
                    *scores = T::scores(self.registers, table, &letters.vectors);
                }
                self.columns(strip, &profile, &mut rows, (&mut corner, border), &mut best);
            }
        }
        let best: &[T] = cast_slice(slice::from_ref(&best));
        let value = |cell: &T| cell.absolute(0) - T::LOWEST.absolute(0);
        let score = |best: &T| (*best < T::HIGHEST).then(|| value(best));
        Ok(best.iter().map(score).take(self.many.len()).collect())
    }
}

impl<T: Cell, S: Lanes<T>> Pass<'_, T, S> {
    /// Computes some positions of a strip. Replaces the border above them by the one below them, and the corner by the `H` above
    /// the last of them.
    #[inline(always)]
    fn columns(
        &self,
        strip: &[u8],
        profile: &[[S::Vector; POSITIONS]; ENTRIES],
        rows: &mut [[S::Vector; 2]],
        (corner, border): (&mut S::Vector, &mut [[S::Vector; 2]]),
        best: &mut S::Vector,
    ) {
        let r = self.registers;
        let [open, extend] = self.tables.costs.map(|cost| r.splat(T::difference(i32::from(cost))));
        // `H` of the row above, each at the position before; and the `F` of the row to compute next.
        let (mut above, mut gaps) = ([*corner; POSITIONS], [*corner; POSITIONS]);
        for (at, [score, gap]) in border.iter().enumerate() {
            gaps[at] = *gap;
            above[(at + 1) % POSITIONS] = *score;
        }
        *corner = std::mem::replace(&mut above[0], *corner);
        let mut most = *best;
        let mut last = *corner;
        for (letter, row) in strip.iter().zip(rows) {
            let scores = &profile[usize::from(*letter) % ENTRIES];
            let [mut left, mut gap] = *row;
            for at in 0..POSITIONS {
                let here = r.max(r.max(r.plus(above[at], scores[at]), gap), gaps[at]);
                above[at] = left;
                left = here;
                most = r.max(most, here);
                let opened = r.minus(here, open);
                gap = r.max(r.minus(gap, extend), opened);
                gaps[at] = r.max(r.minus(gaps[at], extend), opened);
            }
            *row = [left, gap];
            last = left;
        }
        *best = most;
        for (at, border) in border.iter_mut().enumerate() {
            *border = [if at + 1 < POSITIONS { above[at + 1] } else { last }, gaps[at]];
        }
    }
}

/// The letters of the lanes at some positions.
struct Letters<S: Registers> {
    /// A byte for each position and lane.
    vectors: [S::Vector; POSITIONS],
}

impl<S: Registers> Letters<S> {
    /// Reads the letters from a position on.
    #[inline(always)]
    fn read<T>(&mut self, many: &[&[u8]], first: usize) {
        let mut words = [u32::from_ne_bytes([END; POSITIONS]); MOST_LANES];
        let letters: &mut [[u8; POSITIONS]; MOST_LANES] = cast_mut(&mut words);
        for (word, many) in letters.iter_mut().zip(many) {
            match many.get(first..first + POSITIONS) {
                Some(letters) => word.copy_from_slice(letters),
                None => many.iter().skip(first).zip(word).for_each(|(letter, to)| *to = *letter),
            }
        }
        let lanes = size_of::<S::Vector>() / size_of::<T>();
        for (at, bytes) in bytes_of_mut(&mut self.vectors).chunks_exact_mut(lanes).take(POSITIONS).enumerate()
        {
            // The compiler makes vectors of this loop, not of one that moves bytes.
            bytes.iter_mut().zip(&words).for_each(|(byte, word)| *byte = (word >> (8 * at)) as u8);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::testing::{archs, scorings};
    use super::*;
    use crate::{Aligner, Alphabet, Quiet};

    fn sequences(alphabet: Alphabet, most: usize) -> impl Strategy<Value = (Vec<u8>, Vec<Vec<u8>>)> {
        let letter = 0..alphabet.letters().len() as u8;
        let one = prop::collection::vec(letter.clone(), 0..=most);
        let between = prop::collection::vec(letter, 0..=most / 4);
        let other = (0..=most, 0..=most, between);
        (one, prop::collection::vec(other, 0..=64)).prop_map(|(one, others)| {
            // Each of the many has a part of the one, so that scores are of all sizes.
            let many = others.into_iter().map(|(first, letters, after)| {
                let part = one.iter().skip(first).take(letters);
                part.chain(&after).copied().collect()
            });
            let many = many.collect();
            (one, many)
        })
    }

    fn cases() -> impl Strategy<Value = (Scoring, (Vec<u8>, Vec<Vec<u8>>))> {
        scorings().prop_flat_map(|scoring| {
            let sequences = sequences(scoring.alphabet(), 300);
            (Just(scoring), sequences)
        })
    }

    /// Compares lanes with the kernel for one pair. Returns the scores.
    fn check(scoring: &Scoring, (one, many): (&[u8], &[Vec<u8>]), strip: usize) -> Vec<i32> {
        let letters = |codes: &[u8]| -> Vec<u8> {
            codes.iter().map(|code| scoring.alphabet().letters()[usize::from(*code)]).collect()
        };
        let aligner = Aligner::new(scoring.clone()).threads(1);
        let score = |other: &Vec<u8>| aligner.score(&letters(one), &letters(other)).unwrap();
        let expected: Vec<i32> = many.iter().map(score).collect();
        for tables in archs().into_iter().filter_map(|arch| Tables::with(scoring, arch, strip)) {
            for (many, expected) in many.chunks(tables.lanes).zip(expected.chunks(tables.lanes)) {
                let many: Vec<&[u8]> = many.iter().map(|other| &other[..]).collect();
                let bytes = tables.dispatch::<i8>(one, &many, &Quiet).unwrap();
                let words: Vec<_> = many
                    .chunks(tables.lanes / 2)
                    .flat_map(|many| tables.dispatch::<i16>(one, many, &Quiet).unwrap())
                    .collect();
                for (at, expected) in expected.iter().enumerate() {
                    assert_eq!(bytes[at], Some(*expected).filter(|score| *score < 255), "8 bits, {at}");
                    assert_eq!(words[at], Some(*expected).filter(|score| *score < 65_535), "16 bits, {at}");
                }
                let all = tables.scores(one, &many, &Quiet).unwrap();
                assert!(
                    all.iter()
                        .zip(expected)
                        .all(|(score, expected)| score.is_none_or(|score| score == *expected))
                );
            }
        }
        expected
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(80))]

        #[test]
        fn lanes_equal_the_kernel_for_one_pair(
            (scoring, (one, many)) in cases(),
            strip in prop_oneof![1..40usize, Just(STRIP)],
        ) {
            check(&scoring, (&one, &many), strip);
        }
    }

    #[test]
    fn the_largest_scores_of_8_and_16_bits() {
        // Each letter scores 5, so that the scores are all multiples of 5: 250, 255 and 260 among them.
        let scoring = Scoring::dna(5, 4, Gap::Affine { open: 5, extend: 2 }).unwrap();
        let many: Vec<_> = (0..64).map(|letters| vec![0; letters]).collect();
        let scores = check(&scoring, (&[0; 60], &many), STRIP);
        assert!(scores.contains(&250) && scores.contains(&255));
        let scoring = Scoring::dna(51, 4, Gap::Affine { open: 5, extend: 2 }).unwrap();
        let many: Vec<_> = (1283..1288).map(|letters| vec![0; letters]).collect();
        let scores = check(&scoring, (&[0; 1300], &many), STRIP);
        assert!(scores.contains(&65_484) && scores.contains(&65_535));
    }
}
