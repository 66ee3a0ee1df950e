//! A block by itself: bytes, and references to bytes before them in the block.
//!
//! | bits | meaning |
//! |---|---|
//! | 0, then 8 | a byte |
//! | 1, then as many as the numbers below the position need, then gamma | the distance less 1; the length less 2 |
//!
//! The position is the number of bytes before, so a distance takes few bits at the beginning of a block.

use super::bits::{BitReader, BitWriter};
use super::matches::{Match, Matcher, SHORTEST};

/// What is wrong at a byte of a compressed block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Wrong {
    pub(super) at: usize,
    pub(super) what: &'static str,
}

/// The bits of a distance at a position above 0.
fn distance_bits(position: usize) -> u32 {
    usize::BITS - (position - 1).leading_zeros()
}

/// Compresses a block. The result depends on it alone.
pub(super) fn compress(block: &[u8], matcher: &mut Matcher) -> Vec<u8> {
    matcher.reset();
    let mut bits = BitWriter::default();
    let (mut at, mut found) = (0, None);
    while at < block.len() {
        matcher.add(block, at);
        let next = matcher.longest(block, at + 1);
        match found {
            // A longer match one byte later is worth that byte.
            Some(Match { distance, length }) if next.is_none_or(|next| next.length <= length) => {
                bits.put(1, 1);
                bits.put(distance as u32 - 1, distance_bits(at));
                bits.put_gamma((length + 1 - SHORTEST) as u32);
                (at + 1..at + length).for_each(|at| matcher.add(block, at));
                at += length;
                found = matcher.longest(block, at);
            }
            _ => {
                bits.put(u32::from(block[at]), 9);
                at += 1;
                found = next;
            }
        }
    }
    bits.finish()
}

/// The `length` bytes of a compressed block.
pub(super) fn decompress(packed: &[u8], length: usize) -> Result<Vec<u8>, Wrong> {
    let mut bits = BitReader::new(packed);
    let mut block = Vec::with_capacity(length);
    while block.len() < length {
        let at = bits.byte();
        let wrong = |what| Wrong { at, what };
        let early = || wrong("the block ends before its last byte");
        if bits.take(1).ok_or_else(early)? == 0 {
            block.push(bits.take(8).ok_or_else(early)? as u8);
            continue;
        }
        if block.is_empty() {
            return Err(wrong("a reference to bytes before the block"));
        }
        let distance = bits.take(distance_bits(block.len())).ok_or_else(early)? as usize + 1;
        let count = bits.take_gamma().ok_or_else(early)? as usize + SHORTEST - 1;
        if distance > block.len() {
            return Err(wrong("a reference to bytes before the block"));
        }
        if count > length - block.len() {
            return Err(wrong("a reference to more bytes than the block has"));
        }
        let from = block.len() - distance;
        // The bytes that are referred to may be among those that this reference adds.
        (from..from + count).for_each(|at| block.push(block[at]));
    }
    let at = bits.byte();
    if bits.is_at_end() {
        Ok(block)
    } else {
        Err(Wrong { at, what: "bits behind the last byte of the block" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_need_the_bits_of_the_numbers_below_the_position() {
        assert_eq!([1, 2, 3, 4, 5, 8, 9, 16_383].map(distance_bits), [0, 1, 2, 2, 3, 3, 4, 14]);
    }

    #[test]
    fn a_repeated_byte_is_a_byte_and_a_reference() {
        // 0 and the letter; 1, no bits of distance, and 999 - 2 as ten bits behind nine zeros.
        let packed = compress(&[b'a'; 1000], &mut Matcher::new());
        assert_eq!(packed, [0b0011_0000, 0b1100_0000, 0b0001_1111, 0b0010_1000]);
        assert_eq!(decompress(&packed, 1000), Ok(vec![b'a'; 1000]));
    }

    #[test]
    fn wrong_blocks_are_refused_with_the_byte() {
        let wrong = |packed: &[u8], length| decompress(packed, length).expect_err("is refused");
        assert_eq!(wrong(&[], 1), Wrong { at: 0, what: "the block ends before its last byte" });
        assert_eq!(wrong(&[0x80], 5), Wrong { at: 0, what: "a reference to bytes before the block" });
        // An `a`, and then a reference to three bytes.
        assert_eq!(
            wrong(&[0x30, 0xE0], 3),
            Wrong { at: 1, what: "a reference to more bytes than the block has" }
        );
        assert_eq!(wrong(&[0x30, 0x81], 1), Wrong { at: 1, what: "bits behind the last byte of the block" });
        assert_eq!(wrong(&[0x30, 0x80, 0x00], 1).what, "bits behind the last byte of the block");
    }
}
