//! Time stamps cheap enough for every activation, and what they are made of.

#[cfg(all(target_arch = "x86_64", not(miri)))]
use std::time::Duration;
use std::time::Instant;

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

/// How many ticks a nanosecond has.
///
/// It is measured over the time since the first run of the process was prepared, so no thread waits for it. An
/// early answer is a little less exact: two readings of both clocks are some 50 ns uncertain, 1 % of the shortest
/// time that counts. The answer stays the same once the time is [`EXACT`].
#[cfg(all(target_arch = "x86_64", not(miri)))]
pub(crate) fn ticks_per_ns() -> f64 {
    use std::sync::OnceLock;
    static RATE: OnceLock<f64> = OnceLock::new();
    if let Some(rate) = RATE.get() {
        return *rate;
    }
    let (first, from) = calibrate();
    loop {
        let (now, to) = Pair::read();
        let passed = now.duration_since(first);
        let rate = to.saturating_sub(from) as f64 / passed.as_nanos().max(1) as f64;
        if passed >= EXACT {
            return *RATE.get_or_init(|| rate);
        }
        if passed >= SHORTEST {
            return rate;
        }
        std::hint::spin_loop();
    }
}

/// A tick is a nanosecond.
#[cfg(not(all(target_arch = "x86_64", not(miri))))]
pub(crate) fn ticks_per_ns() -> f64 {
    1.0
}

/// The two clocks at the time of the first call.
#[cfg(all(target_arch = "x86_64", not(miri)))]
pub(crate) fn calibrate() -> (Instant, Ticks) {
    static FIRST: std::sync::OnceLock<(Instant, Ticks)> = std::sync::OnceLock::new();
    *FIRST.get_or_init(Pair::read)
}

/// Nothing to do.
#[cfg(not(all(target_arch = "x86_64", not(miri))))]
pub(crate) fn calibrate() {}

/// Time over which the rate is measured for good, and the shortest that gives one.
#[cfg(all(target_arch = "x86_64", not(miri)))]
const EXACT: Duration = Duration::from_millis(2);
#[cfg(all(target_arch = "x86_64", not(miri)))]
const SHORTEST: Duration = Duration::from_micros(5);

/// Readings of both clocks at one time.
#[cfg(all(target_arch = "x86_64", not(miri)))]
struct Pair;

#[cfg(all(target_arch = "x86_64", not(miri)))]
impl Pair {
    /// The best of a few: one that the thread was kept from its core in the middle of is none.
    fn read() -> (Instant, Ticks) {
        let one = || {
            let (before, now, after) = (ticks(), Instant::now(), ticks());
            (after.saturating_sub(before), now, before + after.saturating_sub(before) / 2)
        };
        let best = [one(), one(), one()].into_iter().min_by_key(|(width, ..)| *width);
        best.map_or_else(|| (Instant::now(), ticks()), |(_, now, at)| (now, at))
    }
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
