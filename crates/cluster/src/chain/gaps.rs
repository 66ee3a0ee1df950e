//! The encoding of numbers that increase: the numbers of items in a batch. A process has one in a few, so most gaps are
//! small, and take half a byte. As single numbers they would be as long as many items.
//!
//! A gap is a row of half bytes, each with three bits, the lowest first, and a bit that says whether more follow. A half byte that is
//! left over says that more follow, and none does.

use std::fmt;

use serde::de::{Error, Visitor};
use serde::{Deserializer, Serializer};

const MORE: u8 = 8;

pub(super) fn serialize<S: Serializer>(numbers: &[u32], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_bytes(&encode(numbers))
}

pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u32>, D::Error> {
    struct Gaps;
    impl Visitor<'_> for Gaps {
        type Value = Vec<u32>;
        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("gaps between numbers")
        }
        fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<Vec<u32>, E> {
            decode(bytes).ok_or_else(|| E::custom("a gap is too large"))
        }
    }
    deserializer.deserialize_bytes(Gaps)
}

fn encode(numbers: &[u32]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(numbers.len() / 2 + 8);
    let (mut before, mut half) = (0u32, None);
    for number in numbers {
        let mut gap = number.wrapping_sub(before);
        before = *number;
        loop {
            let more = if gap > 7 { MORE } else { 0 };
            let digit = (gap & 7) as u8 | more;
            match half.take() {
                None => half = Some(digit),
                Some(low) => bytes.push(low | digit << 4),
            }
            gap >>= 3;
            if more == 0 {
                break;
            }
        }
    }
    bytes.extend(half.map(|low| low | MORE << 4));
    bytes
}

/// `None`: a gap has more than 32 bits.
fn decode(bytes: &[u8]) -> Option<Vec<u32>> {
    let mut numbers = Vec::with_capacity(2 * bytes.len());
    let (mut before, mut gap, mut shift) = (0u32, 0u32, 0);
    for digit in bytes.iter().flat_map(|byte| [byte & 15, byte >> 4]) {
        gap |= u32::from(digit & 7).checked_shl(shift)?;
        if digit & MORE != 0 {
            shift += 3;
            continue;
        }
        before = before.wrapping_add(gap);
        numbers.push(before);
        (gap, shift) = (0, 0);
    }
    Some(numbers)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn numbers_are_read_back(numbers in proptest::collection::vec(prop_oneof![0..20u32, any::<u32>()], 0..50)) {
            prop_assert_eq!(decode(&encode(&numbers)), Some(numbers));
        }

        #[test]
        fn any_bytes_are_numbers_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..50)) {
            let numbers = decode(&bytes).unwrap_or_default();
            prop_assert!(numbers.len() <= 2 * bytes.len());
        }
    }

    #[test]
    fn small_gaps_take_half_a_byte() {
        let numbers: Vec<u32> = (0..1000).map(|n| 3 * n).collect();
        assert_eq!(encode(&numbers).len(), 500);
    }
}
