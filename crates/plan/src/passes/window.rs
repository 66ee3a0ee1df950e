//! The number of tickets of a reorder window.

use super::threads::MOST_THREADS;
use crate::Plan;

/// The most tickets of a reorder window: those of the most workers.
pub(crate) const MOST_TICKETS: usize = 16 * MOST_THREADS;

/// Enough that the other workers stay busy during a claim ten times as long as theirs, and few enough to stay in a
/// cache. No more than that, since a short run spends much of its time on making them.
pub(super) fn decide(so_far: &Plan) -> usize {
    (so_far.threads * 16).next_power_of_two()
}
