//! How long a member without work searches before it leaves.

use std::time::{Duration, Instant};

/// The time that a member searches before it leaves.
const SPIN: Duration = Duration::from_micros(30);

/// How long a member has searched.
#[derive(Debug, Default)]
pub struct Patience {
    rounds: u32,
    since: Option<Instant>,
}

impl Patience {
    /// Waits for a moment; true if the member has searched for 30 us. A model has no clock, so there no member spins.
    pub fn is_over(&mut self) -> bool {
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
