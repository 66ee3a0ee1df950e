//! The number of tickets of a reorder window.

use super::threads::MOST_THREADS;
use crate::Plan;

/// The most tickets of a reorder window: those of the most workers.
pub(crate) const MOST_TICKETS: usize = 16 * MOST_THREADS;

/// Enough that the other workers stay busy during a claim ten times as long as theirs, and few enough to stay in a
/// cache. To make 32 tickets in place of one worker's 16 takes a run of 100 items 5 % longer.
pub(super) fn decide(so_far: &Plan) -> usize {
    (so_far.threads * 16).next_power_of_two()
}
