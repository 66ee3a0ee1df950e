//! A round as the kernels compute it: S-boxes and the permutation behind them are one table.

use super::tables::{BOXES, PERMUTATION, choose};

/// For each S-box and each input, the permuted output: 2 KiB that all rounds share.
static COMBINED: [[u32; 64]; 8] = combined();

/// The bytes of state of a round: the shared table, and its key.
pub const STATE_BYTES: usize = size_of_val(&COMBINED) + size_of::<u64>();

const fn combined() -> [[u32; 64]; 8] {
    let mut tables = [[0; 64]; 8];
    let mut at = 0;
    while at < 8 * 64 {
        let (number, input) = (at / 64, at % 64);
        // The outer bits are the row.
        let row = input >> 4 & 2 | input & 1;
        let output = BOXES[number][16 * row + (input >> 1 & 15)] as u64;
        tables[number][input] = choose(output << (28 - 4 * number), 32, &PERMUTATION) as u32;
        at += 1;
    }
    tables
}

/// The cipher function: half a block and a round's key.
fn cipher(half: u32, key: u64) -> u32 {
    let mut sum = 0;
    for (number, table) in COMBINED.iter().enumerate() {
        // The expansion gives each S-box four bits and their neighbours, cyclically.
        let bits = half.rotate_left(4 * number as u32 + 5) as u64 ^ key >> (42 - 6 * number);
        sum ^= table[(bits & 63) as usize];
    }
    sum
}

/// A block after a round, with its halves exchanged.
pub(super) fn round(block: u64, key: u64) -> u64 {
    let (left, right) = ((block >> 32) as u32, block as u32);
    u64::from(right) << 32 | u64::from(left ^ cipher(right, key))
}
