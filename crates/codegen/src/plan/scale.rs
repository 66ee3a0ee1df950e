//! How many steady states a call does.

use super::Buffer;

/// Bytes of all buffers together: in the first-level cache, and in the second-level cache where a call would
/// otherwise be too short.
const NEAR: u64 = 20 << 10;
pub(super) const FAR: u64 = 256 << 10;

/// Steady states in a call for which the second-level cache is used.
const ENOUGH: u64 = 64;

/// The most steady states in a call.
pub(super) const MOST: u64 = 1 << 14;

/// Bytes that move through buffers in a steady state.
pub(super) fn bytes_of<'a>(buffers: impl Iterator<Item = &'a Buffer>) -> u64 {
    buffers.map(|buffer| buffer.advance as u64 * buffer.bytes as u64).sum::<u64>().max(1)
}

/// The number of steady states, at this many bytes each, that fit the caches.
pub(super) fn scale(each: u64) -> u64 {
    rounded((NEAR / each).max((FAR / each).min(ENOUGH)).clamp(1, MOST))
}

/// Rounds down a little to a multiple of a power of two, so that vectors leave no remainder.
fn rounded(scale: u64) -> u64 {
    let step = (scale / 4).max(1);
    let step = 1 << step.ilog2();
    scale / step * step
}
