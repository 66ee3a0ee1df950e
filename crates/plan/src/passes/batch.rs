//! The most firings of an activation.

use super::Given;

/// The most firings of an activation, however short they are: with firings of a nanosecond the clock is read after tens
/// of microseconds.
const FIRINGS: usize = 1 << 14;

/// The most firings of an activation that the plan allows: the engine keeps both limits of an activation in one word.
pub(crate) const MOST_FIRINGS: usize = u32::MAX as usize;

/// [`FIRINGS`], and at least four claims of the length that the user wishes: an activation that ends by count has four.
pub(super) fn decide(given: &Given<'_>) -> usize {
    given.wishes.claim_length.unwrap_or(0).saturating_mul(4).clamp(FIRINGS, MOST_FIRINGS)
}
