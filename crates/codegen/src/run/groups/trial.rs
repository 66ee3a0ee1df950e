//! Whether threads are worth it, which using them tells.

use std::time::Instant;

/// Slow windows in a row after which one thread does everything.
const SLOW: u32 = 2;

/// Compares how fast threads are with how fast one was. What copies and changes of threads cost is in it, and what
/// else the machine does.
pub(super) struct Trial {
    /// Seconds that a steady state of the sources took on one thread.
    alone: f64,
    /// Packets in a window. The first is not looked at: threads begin then.
    window: usize,
    begun: Option<Instant>,
    packets: usize,
    states: u64,
    slow: u32,
}

impl Trial {
    pub(super) fn new(alone: f64, window: usize) -> Trial {
        Trial { alone, window, begun: None, packets: 0, states: 0, slow: 0 }
    }

    /// A packet of so many steady states is done: whether to go on; none where it is no question any more.
    pub(super) fn packet(&mut self, states: u64, now: Instant) -> Option<bool> {
        self.packets += 1;
        self.states += states;
        if self.packets < self.window {
            return Some(true);
        }
        self.packets = 0;
        let states = std::mem::take(&mut self.states);
        let Some(begun) = self.begun.replace(now) else { return Some(true) };
        if (now - begun).as_secs_f64() < self.alone * states as f64 {
            return None;
        }
        self.slow += 1;
        Some(self.slow < SLOW)
    }
}

#[cfg(test)]
mod tests {
    use super::Trial;
    use std::time::{Duration, Instant};

    /// What a trial says of windows of two packets, of ten steady states each, that take so many milliseconds. One
    /// thread takes a millisecond for a steady state.
    fn said(windows: &[u64]) -> Vec<Option<bool>> {
        let (mut trial, mut now) = (Trial::new(1e-3, 2), Instant::now());
        let of = |window: &u64| {
            let half = Duration::from_millis(*window) / 2;
            assert_eq!(trial.packet(10, now + half), Some(true));
            now += 2 * half;
            trial.packet(10, now)
        };
        windows.iter().map(of).collect()
    }

    #[test]
    fn threads_that_are_faster_stay() {
        assert_eq!(said(&[100, 12]), [Some(true), None]);
        assert_eq!(said(&[100, 22, 18]), [Some(true), Some(true), None]);
    }

    #[test]
    fn threads_that_are_slower_go() {
        assert_eq!(said(&[1, 24, 22]), [Some(true), Some(true), Some(false)]);
    }
}
