//! The number of workers.

use super::Given;

pub use thalweg_machine::threads;

/// The most workers of a run.
pub const MOST_THREADS: usize = 4096;

/// The wish, or else the threads of the machine, within the limits.
pub(super) fn decide(given: &Given<'_>) -> usize {
    let of_machine = || given.wishes.machine.as_ref().map_or_else(threads, |machine| machine.threads());
    given.wishes.threads.unwrap_or_else(of_machine).clamp(1, MOST_THREADS)
}
