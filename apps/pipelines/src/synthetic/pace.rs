//! Computation that lasts a given time.

use std::hint::black_box;
use std::time::{Duration, Instant};

/// How fast this machine does rounds of arithmetic. The time that modules compute for depends on it; what they compute does not.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pace {
    rounds_per_nanosecond: f64,
}

/// Rounds of a trial: some tens of microseconds.
const ROUNDS: u64 = 20_000;

/// Trials, of which the fastest counts: the others were interrupted, or ran before the core had its speed.
const TRIALS: u32 = 100;

impl Pace {
    /// Measures the pace on the calling thread, for some milliseconds.
    pub fn measured() -> Pace {
        let trial = |_| {
            let started = Instant::now();
            spin(ROUNDS);
            started.elapsed()
        };
        let fastest = (0..TRIALS).map(trial).min().unwrap_or_default().max(Duration::from_nanos(1));
        Pace { rounds_per_nanosecond: ROUNDS as f64 / fastest.as_nanos() as f64 }
    }

    /// The pace of a machine that needs no time: modules compute nothing beside their results.
    pub const OFF: Pace = Pace { rounds_per_nanosecond: 0.0 };

    /// Computes for a time.
    pub(super) fn spend(self, nanoseconds: u64) {
        spin((nanoseconds as f64 * self.rounds_per_nanosecond) as u64);
    }
}

/// Does rounds of arithmetic, each of which waits for the one before and uses no memory.
fn spin(rounds: u64) {
    let start = black_box(rounds | 1);
    black_box((0..rounds).fold(start, |x, _| (x ^ x >> 7).wrapping_mul(0x9E37_79B9_7F4A_7C15)));
}
