//! What a pair of letters and a gap contribute to the score of an alignment.

use std::fmt;
use std::sync::Arc;

use crate::alphabet::Alphabet;
use crate::blosum::BLOSUM62;
use crate::{Error, Result};

/// The largest score of a pair of letters, and the largest cost of a gap's first or next letter.
pub const MOST: i32 = 10_000;

/// What a gap of `k` letters costs.
#[derive(Clone)]
pub enum Gap {
    /// `open + (k - 1) * extend`. The time is proportional to the product of the lengths.
    Affine {
        /// The cost of a gap's first letter.
        open: i32,
        /// The cost of each further letter, at most `open`.
        extend: i32,
    },
    /// Any function of `k >= 1` that is not negative. Negative costs count as 0, and costs above 2^24 as 2^24. The time
    /// is proportional to the product of the lengths multiplied by their sum.
    Cost(Arc<dyn Fn(usize) -> i32 + Send + Sync>),
}

impl Gap {
    /// The cost `open + factor * log2(k)`, rounded to the nearest integer.
    ///
    /// ```
    /// # use thalweg_align::Gap;
    /// let gap = Gap::log(4, 2);
    /// assert_eq!([1, 2, 3, 8].map(|letters| gap.cost(letters)), [4, 6, 7, 10]);
    /// ```
    pub fn log(open: i32, factor: i32) -> Gap {
        Gap::Cost(Arc::new(move |letters| {
            open + (f64::from(factor) * (letters as f64).log2()).round() as i32
        }))
    }

    /// The cost of a gap of `letters` letters (at least 1).
    pub fn cost(&self, letters: usize) -> i32 {
        match self {
            Gap::Affine { open, extend } => {
                let more = i64::from(*extend) * (letters as i64 - 1);
                i32::try_from(i64::from(*open) + more).unwrap_or(i32::MAX)
            }
            Gap::Cost(cost) => cost(letters).clamp(0, 1 << 24),
        }
    }
}

impl fmt::Debug for Gap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Gap::Affine { open, extend } => write!(f, "Affine({open}, {extend})"),
            Gap::Cost(_) => f.write_str("Cost"),
        }
    }
}

/// The scores of pairs of letters, and the cost of gaps.
#[derive(Clone, Debug)]
pub struct Scoring {
    alphabet: Alphabet,
    gap: Gap,
    /// By the codes of two letters.
    scores: Vec<Vec<i32>>,
    most: i32,
}

impl Scoring {
    /// Nucleotides: equal letters score `matching`, unequal letters score minus `mismatch`, and a pair with `N` 0.
    ///
    /// ```
    /// use thalweg_align::{Gap, Scoring};
    ///
    /// let scoring = Scoring::dna(2, 3, Gap::Affine { open: 5, extend: 2 })?;
    /// assert_eq!([scoring.score(b'A', b'a'), scoring.score(b'A', b'C'), scoring.score(b'A', b'N')], [2, -3, 0]);
    /// # Ok::<(), thalweg_align::Error>(())
    /// ```
    ///
    /// # Errors
    /// `matching` is not from 1 to [`MOST`], `mismatch` not from 0 to [`MOST`], or the gap cost is invalid.
    pub fn dna(matching: i32, mismatch: i32, gap: Gap) -> Result<Scoring> {
        for (name, value, least) in [("match", matching, 1), ("mismatch", mismatch, 0)] {
            if !(least..=MOST).contains(&value) {
                let what = format!("the {name} score is {value}, expected {least} to {MOST}");
                return Err(Error::scoring(
                    what,
                    "a mismatch is given as what it costs, so 3 means a score of -3",
                ));
            }
        }
        let pair = |a, b| match (a, b) {
            (4, _) | (_, 4) => 0,
            (a, b) if a == b => matching,
            _ => -mismatch,
        };
        let scores = (0..5).map(|a| (0..5).map(|b| pair(a, b)).collect()).collect();
        Scoring::new(Alphabet::Dna, gap, scores)
    }

    /// Amino acids, with the scores of BLOSUM62.
    ///
    /// # Errors
    /// The gap cost is invalid.
    pub fn protein(gap: Gap) -> Result<Scoring> {
        let scores = BLOSUM62.iter().map(|row| row.iter().map(|score| i32::from(*score)).collect()).collect();
        Scoring::new(Alphabet::Protein, gap, scores)
    }

    fn new(alphabet: Alphabet, gap: Gap, scores: Vec<Vec<i32>>) -> Result<Scoring> {
        if let Gap::Affine { open, extend } = gap {
            let help = "opening a gap costs as much as extending it, or more; \
                        costs are not negative";
            if !(0..=MOST).contains(&open) || !(0..=open).contains(&extend) {
                let what = format!(
                    "gap costs {open} (open) and {extend} (extend), expected 0 <= extend <= open <= {MOST}"
                );
                return Err(Error::scoring(what, help));
            }
        }
        let most = scores.iter().flatten().copied().max().unwrap_or(0);
        Ok(Scoring { alphabet, gap, scores, most })
    }

    /// The alphabet of the letters.
    pub fn alphabet(&self) -> Alphabet {
        self.alphabet
    }

    /// The cost of gaps.
    pub fn gap(&self) -> &Gap {
        &self.gap
    }

    /// The score of a pair of letters.
    pub fn score(&self, query: u8, target: u8) -> i32 {
        self.of_codes(self.alphabet.code(query), self.alphabet.code(target))
    }

    /// The score of the letters with these codes.
    pub(crate) fn of_codes(&self, query: u8, target: u8) -> i32 {
        self.scores[usize::from(query)][usize::from(target)]
    }

    /// The number of codes.
    pub(crate) fn codes(&self) -> usize {
        self.scores.len()
    }

    /// The highest score of a pair.
    pub(crate) fn most(&self) -> i32 {
        self.most
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blosum62_is_symmetric_and_has_the_published_entries() {
        let scoring = Scoring::protein(Gap::Affine { open: 11, extend: 1 }).unwrap();
        let letters = Alphabet::Protein.letters();
        for a in letters {
            for b in letters {
                assert_eq!(scoring.score(*a, *b), scoring.score(*b, *a), "{a} {b}");
            }
        }
        let diagonal: Vec<i32> = letters.iter().map(|letter| scoring.score(*letter, *letter)).collect();
        let published = [4, 5, 6, 6, 9, 5, 5, 6, 8, 4, 4, 5, 5, 6, 7, 4, 5, 11, 7, 4, 4, 4, -1, 1];
        assert_eq!(diagonal, published);
        for (pair, score) in [
            (b"WY", 2),
            (b"IV", 3),
            (b"DE", 2),
            (b"WC", -2),
            (b"LD", -4),
            (b"FY", 3),
            (b"KR", 2),
            (b"PW", -4),
        ] {
            assert_eq!(scoring.score(pair[0], pair[1]), score, "{pair:?}");
        }
        let sum: i32 = BLOSUM62.iter().flatten().map(|score| i32::from(*score)).sum();
        assert_eq!(scoring.most(), 11);
        assert_eq!(sum, SUM, "a sum over all entries, computed from the table of another program");
    }

    /// The sum of the entries of the table in parasail 1.3.4.
    const SUM: i32 = -726;

    #[test]
    fn letters_outside_of_the_alphabet_score_as_unknown_ones() {
        let dna = Scoring::dna(2, 3, Gap::Affine { open: 5, extend: 2 }).unwrap();
        assert_eq!([dna.score(b'u', b'T'), dna.score(b'R', b'A'), dna.score(b'c', b'C')], [2, 0, 2]);
        let protein = Scoring::protein(Gap::log(5, 2)).unwrap();
        assert_eq!(protein.score(b'U', b'C'), 9);
        assert_eq!(protein.score(b'J', b'L'), protein.score(b'X', b'L'));
    }

    #[test]
    fn invalid_scores_are_refused() {
        let gap = |open, extend| Gap::Affine { open, extend };
        for bad in [
            Scoring::dna(0, 1, gap(2, 1)),
            Scoring::dna(1, -1, gap(2, 1)),
            Scoring::dna(1, 1, gap(1, 2)),
            Scoring::protein(gap(3, -1)),
            Scoring::protein(gap(MOST + 1, 1)),
        ] {
            assert!(bad.unwrap_err().to_string().contains("help: "));
        }
    }
}
