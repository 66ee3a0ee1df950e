//! Samples anchors: the positions at which the look-up stage searches for duplicates.
//!
//! A gear hash covers the last 64 bytes. A position is an anchor if the hash has zeros in its highest bits and the last
//! anchor is at least a quarter of the spacing away, or if there was none in 4096 bytes. So the anchors of equal content
//! coincide soon after its begin. This stage is a pure function of one block, and most of the search for duplicates: the
//! look-up stage examines anchors alone, about one position in 80.

use crate::block::{Block, Sampled};
use crate::params::Matching;

/// The bytes that the hash covers: each byte leaves it after as many shifts as it has bits.
const COVERED: usize = 64;
/// A position is an anchor if no other was found in this many bytes. Zeros have no anchors of their own.
const MAX_GAP: usize = 4096;

/// A position at which a duplicate may be found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Anchor {
    /// The offset in the block directly after the bytes of the hash.
    pub at: u32,
    /// The hash of the bytes before.
    pub hash: u32,
}

/// A random number for each value of a byte: the outputs of SplitMix64.
const GEAR: [u64; 256] = {
    let mut gear = [0; 256];
    let mut i = 0;
    while i < 256 {
        let mut z = (i as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        gear[i] = z ^ z >> 31;
        i += 1;
    }
    gear
};

/// Finds the anchors of one block: the second stage.
pub fn sample(block: Block, matching: &Matching) -> Sampled {
    let anchors = anchors(&block.bytes, matching);
    Sampled { block, anchors }
}

/// The anchors of `bytes`: one in about 5/4 of `spacing`.
fn anchors(bytes: &[u8], matching: &Matching) -> Vec<Anchor> {
    let spacing = matching.spacing as usize;
    // The highest bits depend on all covered bytes.
    let selected = 1 << (u64::BITS - spacing.trailing_zeros());
    let mut anchors = Vec::with_capacity(bytes.len() / spacing * 5 / 4);
    // Runs of the same byte select all positions or none.
    let min_gap = spacing / 4;
    // The hash covers the bytes before `at`.
    let (mut hash, mut at, mut earliest, mut latest) = (0, 0, COVERED, MAX_GAP);
    while let Some(skipped) = bytes.get(at..earliest - 1) {
        hash = skipped.iter().fold(hash, roll);
        at = earliest - 1;
        let searched = &bytes[at..latest.min(bytes.len())];
        let found = searched.iter().position(|byte| {
            hash = roll(hash, byte);
            hash < selected
        });
        at += found.map_or(searched.len(), |before| before + 1);
        if found.is_none() && at < latest {
            break;
        }
        let mixed = hash.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        anchors.push(Anchor { at: at as u32, hash: (mixed >> 32) as u32 });
        (earliest, latest) = (at + min_gap, at + MAX_GAP);
    }
    anchors
}

/// The hash after one more byte.
fn roll(hash: u64, byte: &u8) -> u64 {
    (hash << 1).wrapping_add(GEAR[usize::from(*byte)])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn noise(length: usize) -> Vec<u8> {
        (0..length as u32)
            .map(|i| (i.wrapping_mul(i ^ 0x9e37_79b9).wrapping_mul(0x85eb_ca6b) >> 24) as u8)
            .collect()
    }

    fn sampled(bytes: &[u8]) -> Vec<Anchor> {
        anchors(bytes, &Matching { min: 128, spacing: 64 })
    }

    #[test]
    fn anchors_depend_on_the_covered_bytes_only() {
        let bytes = noise(100_000);
        let all = sampled(&bytes);
        assert!((500..2500).contains(&all.len()), "{} anchors", all.len());
        let shifted = sampled(&[&b"inserted"[..], &bytes].concat());
        let moved = |a: &Anchor| Anchor { at: a.at + 8, hash: a.hash };
        // The first anchors may differ, since an anchor excludes others close to it.
        assert!(all.iter().skip(20).all(|anchor| shifted.contains(&moved(anchor))));
    }

    #[test]
    fn gaps_are_bounded_for_any_content() {
        for bytes in [vec![0; 50_000], vec![7; 50_000], b"ab".repeat(25_000), noise(50_000)] {
            let all = sampled(&bytes);
            assert!(all[0].at as usize >= COVERED && all[0].at as usize <= MAX_GAP);
            assert!(all.windows(2).all(|w| (16..=MAX_GAP as u32).contains(&(w[1].at - w[0].at))));
        }
        assert!(sampled(&[0; 63]).is_empty());
    }
}
