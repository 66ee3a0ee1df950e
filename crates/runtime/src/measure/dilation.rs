//! Dilated time: kernels compute, and their claims last a multiple of the processor time that they took.
//!
//! With `Options::dilate` a few cores run as many workers as a large machine has: a thread that sleeps takes no core. The
//! firings of a claim run as always. Before the claim completes, its thread sleeps until the claim has lasted `scale` times the
//! thread's processor time in it. So results, the variance of firings and the branches of the program are real, and the
//! schedule is that of `scale` times slower cores, of which there are as many as workers.
//!
//! | dilated | not dilated |
//! |---|---|
//! | firings of kernels | channels, the reorder window, the scheduler, steals, contention |
//!
//! What is not dilated weighs `scale` times less than on a real machine, so reports of such runs do not show it.
//!
//! *A wait for a core does not count.* The claim lasts from its beginning on the clock, so while a thread waits for a core the
//! time that it will sleep gets shorter. With `scale` at least [`MIN_LOAD`] times the workers of each core, all threads together
//! compute for a quarter of the time of the cores at most.
//!
//! *The system's timer is late.* A sleep of 1 ms lasts some 0.08 ms longer. The thread's next claim is as much shorter.

use super::clock::{Ticks, ticks};
use super::cpu_time::thread_time;
use std::time::{Duration, Instant};

/// The minimum of scale over the workers of each core.
pub(crate) const MIN_LOAD: usize = 4;

/// The length below which a dilated claim is short: the system's timer is not exact enough for it.
const SHORT: Duration = Duration::from_millis(1);

/// The longest sleep. A run that stops ends all of its sleeps within this time.
const SLICE: Duration = Duration::from_millis(5);

/// The dilation of the claims of one thread.
#[derive(Debug)]
pub(crate) struct Dilation {
    scale: u32,
    /// The beginning of the current claim, and the thread's processor time then.
    began: Instant,
    computed: Duration,
    /// The time by which the latest sleep ended too late.
    late: Duration,
    /// The length of the sleeps of the current activation.
    pub(crate) slept: Ticks,
    pub(crate) counts: Counts,
}

/// The claims of a thread.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Counts {
    /// All, and those shorter than [`SHORT`].
    pub(crate) claims: u64,
    pub(crate) short: u64,
    /// The length of all sleeps.
    pub(crate) slept: Ticks,
}

impl Dilation {
    pub(crate) fn new(scale: u32) -> Dilation {
        Dilation {
            scale,
            began: Instant::now(),
            computed: Duration::ZERO,
            late: Duration::ZERO,
            slept: 0,
            counts: Counts::default(),
        }
    }

    /// Begins the firings of a claim.
    pub(crate) fn begin(&mut self) {
        (self.began, self.computed) = (Instant::now(), thread_time());
    }

    /// Ends the firings of a claim: sleeps until it has lasted as long as it must, or the run has `stopped`.
    pub(crate) fn end(&mut self, stopped: impl Fn() -> bool) {
        let length = thread_time().saturating_sub(self.computed) * self.scale;
        self.counts.claims += 1;
        self.counts.short += u64::from(length < SHORT);
        let (until, from) = (self.began + length.saturating_sub(self.late), ticks());
        while let Some(left) = until.checked_duration_since(Instant::now()).filter(|left| !left.is_zero()) {
            if stopped() {
                break;
            }
            std::thread::sleep(left.min(SLICE));
        }
        // A thread that got no core for longer catches up no more than a late timer.
        self.late = until.elapsed().min(SHORT);
        let slept = ticks().saturating_sub(from);
        self.slept += slept;
        self.counts.slept += slept;
    }

    /// The time of firings that were measured without their sleep.
    pub(crate) fn dilated(&self, ns: f64) -> f64 {
        ns * f64::from(self.scale)
    }
}

#[cfg(all(test, unix, not(miri), not(loom)))]
mod tests {
    use super::*;

    /// Computes for this processor time.
    fn compute(time: Duration) {
        let from = thread_time();
        while thread_time().saturating_sub(from) < time {}
    }

    #[test]
    fn claims_last_a_multiple_of_their_processor_time() {
        let mut dilation = Dilation::new(20);
        let (from, computed) = (Instant::now(), thread_time());
        for _ in 0..20 {
            dilation.begin();
            compute(Duration::from_micros(300));
            dilation.end(|| false);
        }
        let (length, expected) = (from.elapsed(), (thread_time() - computed).mul_f64(20.0));
        // The calls of the clocks are computed outside of claims too.
        assert!(
            length >= expected.mul_f64(0.9) && length <= expected.mul_f64(1.5),
            "{length:?} {expected:?}"
        );
        assert_eq!((dilation.counts.claims, dilation.counts.short), (20, 0));
        assert_eq!(dilation.slept, dilation.counts.slept);
    }

    #[test]
    fn a_stopped_run_ends_sleeps() {
        let mut dilation = Dilation::new(100_000);
        let from = Instant::now();
        dilation.begin();
        compute(Duration::from_millis(1));
        dilation.end(|| true);
        assert!(from.elapsed() < Duration::from_secs(10));
    }

    #[test]
    fn short_claims_are_counted() {
        let mut dilation = Dilation::new(2);
        dilation.begin();
        dilation.end(|| false);
        assert_eq!(dilation.counts.short, 1);
    }
}
