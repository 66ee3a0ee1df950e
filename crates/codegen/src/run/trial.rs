//! Measures whether threads pay.

use std::time::Instant;

/// Consecutive slow windows after which one thread does everything.
const SLOW: u32 = 2;

/// Compares the speed of threads with that of one thread. This includes the costs of copies and thread
/// switches, and other load on the machine.
pub(super) struct Trial {
    /// Seconds for a steady state on one thread.
    alone: f64,
    /// Packets in a window. The first window is ignored, since threads start in it.
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

    /// Records a finished packet of `states` steady states. Returns whether to keep using threads; `None`
    /// once that is decided in their favour.
    pub(super) fn packet(&mut self, states: u64, now: Instant) -> Option<bool> {
        self.packets += 1;
        self.states += states;
        if self.packets < self.window {
            return Some(self.slow < SLOW);
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

    /// The decisions of a trial for windows of two packets, of ten steady states each, that take these
    /// milliseconds. One thread takes a millisecond for a steady state.
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
    fn faster_threads_are_kept() {
        assert_eq!(said(&[100, 12]), [Some(true), None]);
        assert_eq!(said(&[100, 22, 18]), [Some(true), Some(true), None]);
    }

    #[test]
    fn slower_threads_are_given_up() {
        assert_eq!(said(&[1, 24, 22]), [Some(true), Some(true), Some(false)]);
    }

    #[test]
    fn a_decision_stays() {
        let (mut trial, now) = (Trial::new(1e-9, 1), Instant::now());
        let later = |seconds| now + Duration::from_secs(seconds);
        let said: Vec<_> = (0..5).map(|at| trial.packet(1, later(at))).collect();
        assert_eq!(said, [Some(true), Some(true), Some(false), Some(false), Some(false)]);
        trial.window = 2;
        assert_eq!(trial.packet(1, later(5)), Some(false), "in the middle of a window too");
    }
}
