//! Checksums.

/// A checksum with one more value. It depends on the order of the values.
pub(crate) fn with(sum: u64, value: u32) -> u64 {
    (sum ^ u64::from(value)).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(23)
}
