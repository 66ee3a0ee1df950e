//! Sequences of the lengths of the paper.

use thalweg_align::Sequence;

use super::Kind;

/// The letters of a sequence in table 5.1 of *Locality-Aware Concurrency Platforms*, for affine gaps (`swn2`) and for
/// others (`sw`).
const LETTERS: (usize, usize) = (131_072, 5120);

/// Two random sequences, whose lengths are those of the paper divided by `scale`. The same in each call.
pub(super) fn pair(gap: Kind, scale: u32) -> [Sequence; 2] {
    let letters = if gap == Kind::Affine { LETTERS.0 } else { LETTERS.1 } / scale as usize;
    [("first", 1), ("second", 2)].map(|(name, seed)| Sequence {
        name: name.into(),
        description: format!("{letters} random letters"),
        letters: random(seed, letters),
    })
}

/// Random letters of DNA.
fn random(seed: u64, count: usize) -> Vec<u8> {
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        b"ACGT"[(state >> 33) as usize % 4]
    };
    (0..count).map(|_| next()).collect()
}
