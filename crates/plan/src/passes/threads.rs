//! The number of workers.

use super::Given;

pub use thalweg_machine::threads;

/// The most workers of a run.
pub const MOST_THREADS: usize = 4096;

/// The wish, or else the default, within the limits.
pub(super) fn decide(given: &Given<'_>) -> usize {
    given.wishes.threads.unwrap_or_else(threads).clamp(1, MOST_THREADS)
}
