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
//! *The clock of processor time costs some.* That is subtracted, since a claim of one short firing would be mostly that. What else
//! a claim costs between the two times, some ten nanoseconds, is dilated with it.
//!
//! *The system's timer is late.* A sleep of 1 ms lasts some 0.08 ms longer. The thread's next claim is as much shorter.
//!
//! *A thread sleeps beyond the deadline.* A sleep ends at the deadline, which the thread then finds passed, as after any
//! activation.

use super::clock::{Scale, Ticks, ticks};
use super::cpu_time::thread_time;
use std::time::{Duration, Instant};

/// The minimum of scale over the workers of each core.
pub(crate) const MIN_LOAD: usize = 4;

/// The length of a dilated claim below which the system's timer is not exact enough.
const MIN_EXACT: Duration = Duration::from_millis(1);

/// The maximum time between two checks of the stop flag.
pub(super) const MAX_SLEEP: Duration = Duration::from_millis(5);

/// The dilation of the claims of one thread.
#[derive(Debug)]
pub(crate) struct Dilation {
    scale: u32,
    /// The processor time that a call of `thread_time` costs.
    clock: Duration,
    /// The beginning of the current claim, and the thread's processor time then.
    began: Instant,
    computed: Duration,
    /// The time by which the latest sleep ended too late.
    late: Duration,
    /// The deadline of the run.
    deadline: Option<Instant>,
    /// The time of the claims of the current activation before they slept, and their sleeps.
    fired: Ticks,
    pub(crate) slept: Ticks,
    pub(crate) totals: Totals,
}

/// The times of the claims of a thread in a run.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Totals {
    /// All claims, and those shorter than [`MIN_EXACT`], by their dilated lengths.
    pub(crate) claims: Duration,
    pub(crate) inexact: Duration,
    /// All sleeps.
    pub(crate) slept: Ticks,
}

/// The processor time that a call of `thread_time` costs: the least of some calls, since others were interrupted.
fn clock_cost() -> Duration {
    let between = |_| {
        let from = thread_time();
        thread_time().saturating_sub(from)
    };
    (0..32).map(between).min().unwrap_or_default()
}

/// The end of a claim of this length, if the sleep of the previous claim has ended too late by `late`.
fn end_of(began: Instant, length: Duration, late: Duration, deadline: Option<Instant>) -> Instant {
    let end = began + length.saturating_sub(late);
    deadline.map_or(end, |deadline| end.min(deadline))
}

impl Dilation {
    pub(crate) fn new(scale: u32) -> Dilation {
        Dilation {
            scale,
            clock: clock_cost(),
            began: Instant::now(),
            computed: Duration::ZERO,
            late: Duration::ZERO,
            deadline: None,
            fired: 0,
            slept: 0,
            totals: Totals::default(),
        }
    }

    /// Sets the deadline of the run.
    pub(crate) fn set_deadline(&mut self, deadline: Option<Instant>) {
        self.deadline = deadline;
    }

    /// Begins an activation.
    pub(crate) fn begin_activation(&mut self) {
        (self.fired, self.slept) = (0, 0);
    }

    /// Begins the firings of a claim.
    pub(crate) fn begin(&mut self) {
        (self.began, self.computed) = (Instant::now(), thread_time());
    }

    /// Ends the firings of a claim: sleeps until it has lasted as long as it must, the run has `stopped`, or its deadline has
    /// passed. Returns the time slept.
    pub(crate) fn end(&mut self, stopped: impl Fn() -> bool) -> Ticks {
        let (from, scale) = (ticks(), Scale::now());
        let length = thread_time().saturating_sub(self.computed + self.clock) * self.scale;
        self.totals.claims += length;
        self.totals.inexact += if length < MIN_EXACT { length } else { Duration::ZERO };
        self.fired += scale.ticks(self.began.elapsed().as_nanos() as f64);
        let until = end_of(self.began, length, self.late, self.deadline);
        self.late = Duration::ZERO;
        while let Some(left) = until.checked_duration_since(Instant::now()).filter(|left| !left.is_zero()) {
            if stopped() {
                break;
            }
            std::thread::sleep(left.min(MAX_SLEEP));
            // A thread that got no core for longer catches up no more than a late timer.
            self.late = until.elapsed().min(MIN_EXACT);
        }
        let slept = ticks().saturating_sub(from);
        self.slept += slept;
        self.totals.slept += slept;
        slept
    }

    /// The dilated time of a firing that took `ns` nanoseconds before its claim slept. Firings of a claim share its sleep: one
    /// that waited for a file or for a core sleeps less.
    pub(crate) fn dilated(&self, ns: f64) -> f64 {
        ns * (1.0 + self.slept as f64 / self.fired.max(1) as f64)
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

    /// No bound depends on how long the thread waits for a core: the upper ones are of processor time.
    #[test]
    fn claims_last_a_multiple_of_their_processor_time() {
        let (scale, count, time) = (20, 20, Duration::from_micros(300));
        let mut dilation = Dilation::new(scale);
        let (from, computed) = (Instant::now(), thread_time());
        for _ in 0..count {
            dilation.begin();
            compute(time);
            dilation.end(|| false);
        }
        let (passed, most) = (from.elapsed(), (thread_time() - computed) * scale);
        let claims = dilation.totals.claims;
        assert!(claims >= (time - dilation.clock) * scale * count && claims <= most, "{claims:?} {most:?}");
        // A sleep that ends too late shortens the next claim by no more than that.
        assert!(passed >= claims, "{passed:?} {claims:?}");
        assert_eq!(dilation.totals.inexact, Duration::ZERO);
        assert_eq!(dilation.slept, dilation.totals.slept);
        // Firings and sleeps together are the claims. The rate of ticks is not exact at the start of a process.
        let all = Duration::from_nanos(dilation.dilated(Scale::now().ns(dilation.fired)) as u64);
        assert!(all >= claims.mul_f64(0.9) && all <= passed.mul_f64(1.1), "{all:?} {claims:?} {passed:?}");
    }

    #[test]
    fn a_claim_ends_after_its_length_or_at_the_deadline() {
        let (began, length, late) = (Instant::now(), Duration::from_millis(6), Duration::from_millis(1));
        assert_eq!(end_of(began, length, Duration::ZERO, None), began + length);
        assert_eq!(end_of(began, length, late, None), began + length - late);
        assert_eq!(end_of(began, late / 2, late, None), began, "a claim shorter than the delay");
        let deadline = |after| end_of(began, length, late, Some(began + after));
        assert_eq!(deadline(late), began + late);
        assert_eq!(deadline(2 * length), began + length - late);
    }

    #[test]
    fn the_time_of_the_clock_is_no_time_of_the_claim() {
        let (scale, clock) = (20, Duration::from_millis(10));
        let mut dilation = Dilation::new(scale);
        // Long beside what the test computes beyond the claims.
        dilation.clock = clock;
        let mut claim = |time: Duration| {
            let (before, from) = (dilation.totals.claims, thread_time());
            dilation.begin();
            compute(time);
            dilation.end(|| true);
            (dilation.totals.claims - before, thread_time() - from)
        };
        assert_eq!(claim(Duration::ZERO).0, Duration::ZERO, "shorter than the clock's own time");
        let time = Duration::from_millis(30);
        let (length, most) = claim(time);
        assert!(length >= (time - clock) * scale && length <= (most - clock) * scale, "{length:?} {most:?}");
    }

    /// Other systems may count microseconds, in which a call takes no time.
    #[test]
    #[cfg(target_os = "linux")]
    fn the_time_of_the_clock_is_that_of_a_call() {
        let from = thread_time();
        (0..1000).for_each(|_| _ = thread_time());
        let each = (thread_time() - from) / 1000;
        // A call that no interrupt lengthens takes less than the mean of many.
        let clock = Dilation::new(20).clock;
        assert!(clock > each / 10 && clock < each * 3, "{clock:?}, a call takes {each:?}");
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
    fn a_sleep_ends_at_the_deadline() {
        let mut dilation = Dilation::new(100_000);
        dilation.set_deadline(Some(Instant::now() + Duration::from_millis(20)));
        dilation.begin();
        compute(Duration::from_millis(1));
        let from = Instant::now();
        dilation.end(|| false);
        assert!(from.elapsed() < Duration::from_secs(10));
    }

    #[test]
    fn a_claim_that_waits_is_not_longer_than_its_wait() {
        let mut dilation = Dilation::new(2);
        dilation.begin();
        std::thread::sleep(Duration::from_millis(20));
        dilation.end(|| false);
        assert!(dilation.dilated(1000.0) < 1100.0, "{}", dilation.dilated(1000.0));
        assert_eq!(dilation.totals.inexact, dilation.totals.claims);
    }
}
