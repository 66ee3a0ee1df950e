//! The keys of the rounds.

use super::tables::{CHOICE_1, CHOICE_2, SHIFTS, choose};

/// The bits of half a key.
const HALF: u32 = 28;

/// The keys of the 16 rounds, of 48 bits each, in the order of encryption.
pub(super) fn schedule(key: u64) -> [u64; 16] {
    let chosen = choose(key, 64, &CHOICE_1);
    let (mut left, mut right) = (chosen >> HALF, chosen & half(!0));
    SHIFTS.map(|shift| {
        (left, right) = (rotate(left, shift), rotate(right, shift));
        choose(left << HALF | right, 2 * HALF, &CHOICE_2)
    })
}

fn half(bits: u64) -> u64 {
    bits & ((1 << HALF) - 1)
}

fn rotate(bits: u64, places: u32) -> u64 {
    half(bits << places | bits >> (HALF - places))
}
