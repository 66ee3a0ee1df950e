//! Time stamps cheap enough for every activation, and what they are made of.

use std::time::{Duration, Instant};

/// Ticks since some moment: the time-stamp counter where there is one, nanoseconds elsewhere.
pub(crate) type Ticks = u64;

/// Reads the counter.
#[inline]
#[cfg(all(target_arch = "x86_64", not(miri)))]
pub(crate) fn ticks() -> Ticks {
    // SAFETY: every x86-64 processor has the instruction.
    unsafe { core::arch::x86_64::_rdtsc() }
}

/// Reads the counter.
#[inline]
#[cfg(not(all(target_arch = "x86_64", not(miri))))]
pub(crate) fn ticks() -> Ticks {
    use std::sync::OnceLock;
    static START: OnceLock<Instant> = OnceLock::new();
    START.get_or_init(Instant::now).elapsed().as_nanos() as u64
}

/// How many ticks a nanosecond has, measured once in a process over two milliseconds.
pub(crate) fn ticks_per_ns() -> f64 {
    use std::sync::OnceLock;
    static RATE: OnceLock<f64> = OnceLock::new();
    *RATE.get_or_init(|| {
        let (start, from) = (Instant::now(), ticks());
        while start.elapsed() < Duration::from_millis(2) {
            std::hint::spin_loop();
        }
        (ticks() - from) as f64 / start.elapsed().as_nanos() as f64
    })
}

/// What a stretch of an activation was spent on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Part {
    Application,
    Queue,
}

/// Time stamps inside one activation, of which one in [`SAMPLE`] is looked at so closely.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Laps {
    last: Ticks,
    current: Part,
    pub(crate) application: Ticks,
    pub(crate) queue: Ticks,
}

/// One activation in this many has time stamps inside.
pub(crate) const SAMPLE: u32 = 64;

impl Laps {
    pub(crate) fn start(now: Ticks) -> Laps {
        Laps { last: now, current: Part::Queue, application: 0, queue: 0 }
    }

    #[inline]
    pub(crate) fn lap(&mut self, into: Part) {
        let now = ticks();
        let spent = now.saturating_sub(self.last);
        match self.current {
            Part::Application => self.application += spent,
            Part::Queue => self.queue += spent,
        }
        (self.last, self.current) = (now, into);
    }
}
