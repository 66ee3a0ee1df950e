//! The search for earlier occurrences in a block.

use super::BLOCK;

/// The fewest bytes of a match: fewer take more bits as a match than by themselves.
pub(super) const SHORTEST: usize = 3;

/// The bits of a hash of as many bytes.
const HASH: u32 = 13;

/// The earlier occurrences that are tried at a position, the nearest first.
const TRIES: usize = 64;

/// An earlier occurrence of the bytes at a position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Match {
    /// How many bytes earlier.
    pub(super) distance: usize,
    pub(super) length: usize,
}

/// The positions of a block by the hash of the bytes there.
#[derive(Debug)]
pub(super) struct Matcher {
    /// For each hash, one more than the last position.
    last: Vec<u16>,
    /// For each position, one more than the position before with the same hash.
    before: Vec<u16>,
}

impl Matcher {
    pub(super) fn new() -> Matcher {
        Matcher { last: vec![0; 1 << HASH], before: vec![0; BLOCK] }
    }

    /// Forgets all positions: a block refers to none before it.
    pub(super) fn reset(&mut self) {
        self.last.fill(0);
    }

    /// Adds a position, above all that were added before.
    pub(super) fn add(&mut self, block: &[u8], at: usize) {
        if let Some(hash) = hash(block, at) {
            self.before[at] = std::mem::replace(&mut self.last[hash], at as u16 + 1);
        }
    }

    /// The longest of the nearest occurrences among the positions added, and of equals the nearest.
    pub(super) fn longest(&self, block: &[u8], at: usize) -> Option<Match> {
        let mut next = self.last[hash(block, at)?];
        let mut longest = None;
        let mut length = SHORTEST - 1;
        for _ in 0..TRIES {
            let Some(position) = usize::from(next).checked_sub(1) else { break };
            let (earlier, here) = (&block[position..], &block[at..]);
            // A longer match agrees in the byte behind the longest so far.
            if earlier[length] == here[length] {
                let same = earlier.iter().zip(here).take_while(|(a, b)| a == b).count();
                if same > length {
                    length = same;
                    longest = Some(Match { distance: at - position, length });
                }
            }
            if length == here.len() {
                break;
            }
            next = self.before[position];
        }
        longest
    }
}

/// The hash of the bytes at a position, unless the block ends before.
fn hash(block: &[u8], at: usize) -> Option<usize> {
    let bytes = block.get(at..at + SHORTEST)?;
    let number = u32::from_le_bytes([bytes[0], bytes[1], bytes[2], 0]);
    Some((number.wrapping_mul(0x9E37_79B1) >> (32 - HASH)) as usize)
}
