//! The transfer of a cache line between two cores: two pinned threads exchange a number in one line.
//!
//! The value of the line counts turns. The first thread waits for even values and the second for odd ones; each answers
//! with the next value. [`END`] ends both. Either thread also ends at the deadline by itself, so neither waits for ever
//! if the other could not start, or overwrote [`END`] by its answer.

use crate::system;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::thread::{Builder, scope};
use std::time::Instant;

/// A line of its own: two neighbouring lines may be fetched together.
#[repr(align(256))]
struct Line(AtomicU64);

const END: u64 = u64::MAX;

/// Turns of the first thread between two looks at the clock.
const BATCH: u64 = 256;

/// The nanoseconds of a transfer between two CPUs: the least of many batches. `None` if the threads cannot be started or
/// pinned.
pub(super) fn transfer((first, second): (u32, u32), deadline: Instant) -> Option<f64> {
    let line = Line(AtomicU64::new(0));
    scope(|threads| {
        let answering = || {
            if !system::pin(second) {
                line.0.store(END, Relaxed);
                return;
            }
            let mut turn = 1;
            while line.wait(turn, deadline) {
                line.0.store(turn + 1, Relaxed);
                turn += 2;
            }
        };
        Builder::new().spawn_scoped(threads, answering).ok()?;
        // A thread of its own, since the pin lasts as long as the thread.
        let asking =
            Builder::new().spawn_scoped(threads, || system::pin(first).then(|| line.ask(deadline)).flatten());
        asking.ok()?.join().ok()?
    })
}

impl Line {
    /// Waits for a value. `false` at the end.
    fn wait(&self, value: u64, deadline: Instant) -> bool {
        for looks in 1_u64.. {
            // No hint to the processor that the loop spins: it may cost more than a transfer.
            match self.0.load(Relaxed) {
                found if found == value => return true,
                END => return false,
                _ if looks.is_multiple_of(4096) && Instant::now() >= deadline => {
                    self.0.store(END, Relaxed);
                    return false;
                }
                _ => {}
            }
        }
        false
    }

    /// The part of the first thread. A turn has two transfers.
    fn ask(&self, deadline: Instant) -> Option<f64> {
        let (mut turn, mut least) = (0, None);
        loop {
            let start = Instant::now();
            for _ in 0..BATCH {
                if !self.wait(turn, deadline) {
                    return least;
                }
                self.0.store(turn + 1, Relaxed);
                turn += 2;
            }
            let ns = start.elapsed().as_nanos() as f64 / (2 * BATCH) as f64;
            least = Some(least.map_or(ns, |least: f64| least.min(ns)));
            if Instant::now() >= deadline {
                self.0.store(END, Relaxed);
                return least;
            }
        }
    }
}
