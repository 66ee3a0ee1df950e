//! How long a member without work searches before it leaves.

use std::time::{Duration, Instant};

/// The time that a member searches before it leaves.
const SPIN: Duration = Duration::from_micros(30);

/// The time that a member may still search.
#[derive(Debug, Default)]
pub struct SpinBudget {
    rounds: u32,
    since: Option<Instant>,
}

impl SpinBudget {
    /// Waits for a moment; true if the member has searched for 30 us. A model has no clock, so there no member spins.
    pub fn is_spent(&mut self) -> bool {
        if cfg!(loom) {
            return true;
        }
        self.rounds += 1;
        (0..16).for_each(|_| std::hint::spin_loop());
        if !self.rounds.is_multiple_of(16) {
            return false;
        }
        let now = Instant::now();
        now.duration_since(*self.since.get_or_insert(now)) >= SPIN
    }
}
