//! The recurrences over whole matrices, for any gap cost, without blocks, vectors or borders.

use proptest::prelude::*;
use thalweg_align::{Alphabet, Gap, Scoring};

/// The best score, and the first cell with it by row (target) and column (query).
pub fn best(query: &[u8], target: &[u8], scoring: &Scoring) -> (i64, (usize, usize)) {
    let mut scores = vec![vec![0i64; query.len() + 1]; target.len() + 1];
    let cost = |letters| i64::from(scoring.gap().cost(letters));
    let mut best = (0, (0, 0));
    for i in 1..=target.len() {
        for j in 1..=query.len() {
            let pair = scores[i - 1][j - 1] + i64::from(scoring.score(query[j - 1], target[i - 1]));
            let above = (1..=i).map(|k| scores[i - k][j] - cost(k)).max().unwrap();
            let left = (1..=j).map(|k| scores[i][j - k] - cost(k)).max().unwrap();
            scores[i][j] = pair.max(above).max(left).max(0);
            if scores[i][j] > best.0 {
                best = (scores[i][j], (i - 1, j - 1));
            }
        }
    }
    best
}

/// Letters of an alphabet: few different ones, so that alignments are long.
pub fn letters(alphabet: Alphabet, most: usize) -> impl Strategy<Value = Vec<u8>> {
    let letters: &[u8] = match alphabet {
        Alphabet::Dna => b"ACGTNacgt",
        Alphabet::Protein => b"ARNDWWCKLIV*XB",
    };
    prop::collection::vec(prop::sample::select(letters), 0..=most)
}

/// A pair of sequences: the second has parts of the first.
pub fn pair(alphabet: Alphabet, most: usize) -> impl Strategy<Value = (Vec<u8>, Vec<u8>)> {
    let parts = prop::collection::vec((0..=most, 0..=most / 2, letters(alphabet, 6)), 0..4);
    (letters(alphabet, most), parts).prop_map(move |(query, parts)| {
        let mut target = Vec::new();
        for (start, length, between) in parts {
            let start = start.min(query.len());
            target.extend_from_slice(&query[start..query.len().min(start + length)]);
            target.extend(between);
        }
        (query, target)
    })
}

/// Affine gap costs, some of which are 0 and some of which keep the kernel from 16-bit numbers.
pub fn affine() -> impl Strategy<Value = Gap> {
    let extend = prop_oneof![0..5i32, Just(4_000)];
    (extend, 0..8i32).prop_map(|(extend, more)| Gap::Affine { open: extend + more, extend })
}

/// Scores of both alphabets with a gap cost.
pub fn scoring(gap: impl Strategy<Value = Gap>) -> impl Strategy<Value = Scoring> {
    let dna = prop_oneof![(1..6i32, 0..6i32), Just((9_000, 7_000))];
    (prop::option::of(dna), gap).prop_map(|(dna, gap)| match dna {
        Some((matching, mismatch)) => Scoring::dna(matching, mismatch, gap).unwrap(),
        None => Scoring::protein(gap).unwrap(),
    })
}
