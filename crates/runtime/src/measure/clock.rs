//! Time stamps that are cheap enough for every activation, and their conversion to time.
//!
//! On x86-64 a stamp is the time-stamp counter, one instruction without a system call. Its rate is measured against the
//! system's clock ([`ticks_per_ns`]). Differences of stamps are computed with `saturating_sub`, since two cores'
//! counters may differ a little.

use std::time::{Duration, Instant};

/// Ticks since an arbitrary moment: the time-stamp counter on x86-64, nanoseconds elsewhere.
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

/// The number of ticks in a nanosecond.
///
/// It is measured over the time since the first run of the process was prepared ([`calibrate`]), so a thread waits for
/// it for [`SHORTEST`] at most. An early result is less exact: two readings of both clocks are uncertain by some 50 ns,
/// 1 % of [`SHORTEST`]. The result is final once the time is [`EXACT`].
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

/// The conversion of ticks to time. What belongs together is converted by one scale, since the measured rate changes
/// during the first milliseconds of a process.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scale {
    ticks_per_ns: f64,
}

impl Scale {
    /// The scale by what is known now.
    pub(crate) fn now() -> Scale {
        Scale { ticks_per_ns: ticks_per_ns() }
    }

    /// Ticks as nanoseconds.
    pub(crate) fn ns(self, ticks: Ticks) -> f64 {
        ticks as f64 / self.ticks_per_ns
    }

    /// A time in nanoseconds as ticks.
    pub(crate) fn ticks(self, ns: f64) -> Ticks {
        (ns * self.ticks_per_ns) as Ticks
    }

    /// Ticks as time.
    pub(crate) fn duration(self, ticks: Ticks) -> Duration {
        Duration::from_nanos(self.ns(ticks) as u64)
    }
}

/// The two clocks at the time of the first call.
#[cfg(all(target_arch = "x86_64", not(miri)))]
pub(crate) fn calibrate() -> (Instant, Ticks) {
    static FIRST: std::sync::OnceLock<(Instant, Ticks)> = std::sync::OnceLock::new();
    *FIRST.get_or_init(Pair::read)
}

/// No effect: a tick is a nanosecond.
#[cfg(not(all(target_arch = "x86_64", not(miri))))]
pub(crate) fn calibrate() {}

/// The time after which the measured rate is final.
#[cfg(all(target_arch = "x86_64", not(miri)))]
const EXACT: Duration = Duration::from_millis(2);
/// The shortest time over which a rate is measured.
#[cfg(all(target_arch = "x86_64", not(miri)))]
const SHORTEST: Duration = Duration::from_micros(5);

/// Readings of both clocks at one time.
#[cfg(all(target_arch = "x86_64", not(miri)))]
struct Pair;

#[cfg(all(target_arch = "x86_64", not(miri)))]
impl Pair {
    /// The reading with the least uncertainty of three, since the thread may be preempted in the middle of one. The
    /// counter is read before and after the clock; their distance is the uncertainty, and their middle the result.
    fn read() -> (Instant, Ticks) {
        let one = || {
            let (before, now, after) = (ticks(), Instant::now(), ticks());
            (after.saturating_sub(before), now, before + after.saturating_sub(before) / 2)
        };
        let best = [one(), one(), one()].into_iter().min_by_key(|(width, ..)| *width);
        best.map_or_else(|| (Instant::now(), ticks()), |(_, now, at)| (now, at))
    }
}

/// The ticks between two stamps with nothing between them: what each measured time has too much.
#[cfg(all(target_arch = "x86_64", not(miri)))]
pub(crate) fn stamp_cost() -> Ticks {
    use std::sync::OnceLock;
    static COST: OnceLock<Ticks> = OnceLock::new();
    let between = |_| {
        let from = ticks();
        ticks().saturating_sub(from)
    };
    // The minimum of several: the thread may be preempted in any of them.
    *COST.get_or_init(|| (0..16).map(between).min().unwrap_or_default())
}

/// The clock of the system costs more than its resolution shows.
#[cfg(not(all(target_arch = "x86_64", not(miri))))]
pub(crate) fn stamp_cost() -> Ticks {
    0
}

/// The category of a lap.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Part {
    /// The node's own code.
    Application,
    /// Operations on channels, wait words and claims.
    Queue,
}

/// Time stamps inside a sampled activation: the time from each stamp to the next is a lap, of one category.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Laps {
    /// The latest stamp.
    last: Ticks,
    /// The category of the lap that began with it.
    current: Part,
    pub(crate) application: Ticks,
    pub(crate) queue: Ticks,
    /// The number of activations for which this one counts.
    pub(crate) weight: u32,
    /// The runs of firings that the node has begun: see [`Laps::next_run`].
    runs: u32,
    /// A run of firings that was measured for itself: its firings and their time, without that of the clock.
    pub(crate) measured: Option<(usize, Ticks)>,
}

impl Laps {
    /// Begins the first lap at `now`, in the category `Queue`, of an activation that counts for `weight`.
    pub(crate) fn start(now: Ticks, weight: u32) -> Laps {
        Laps { last: now, current: Part::Queue, application: 0, queue: 0, weight, runs: 0, measured: None }
    }

    /// Leaves a measurement out of the laps. It gets the time of its beginning.
    pub(crate) fn leave_out(&mut self, measure: impl FnOnce(Ticks)) {
        self.lap(self.current);
        measure(self.last);
        self.last = ticks();
    }

    /// Ends the current lap and begins one of category `into`. Returns the time of the lap that ends.
    #[inline]
    pub(crate) fn lap(&mut self, into: Part) -> Ticks {
        let now = ticks();
        let spent = now.saturating_sub(self.last);
        match self.current {
            Part::Application => self.application += spent,
            Part::Queue => self.queue += spent,
        }
        (self.last, self.current) = (now, into);
        spent
    }

    /// Counts a sleep that has just ended as the application's.
    pub(crate) fn sleep(&mut self, slept: Ticks) {
        self.application += slept;
        self.last += slept;
    }

    /// Leaves a stall that has just ended out of the laps: it is measured for itself.
    pub(crate) fn leave_out_stall(&mut self, stalled: Ticks) {
        self.last += stalled;
    }

    /// The maximum number of firings of the next run, which would be `limit` in an activation without laps. The second run
    /// is measured: caches are warm by then. It has one firing, if that takes so long (`single`) that
    /// its stamps do not disturb it.
    pub(crate) fn next_run(&mut self, limit: usize, single: bool) -> usize {
        self.runs += 1;
        match self.runs {
            1 if single => limit.div_ceil(2),
            2 if single => 1,
            _ => limit,
        }
    }

    /// Ends a run of `fired` firings, and the lap of the application.
    pub(crate) fn end_run(&mut self, fired: usize) {
        let spent = self.lap(Part::Queue);
        if fired > 0 && self.runs <= 2 {
            self.measured = Some((fired, spent.saturating_sub(stamp_cost())));
        }
    }
}
