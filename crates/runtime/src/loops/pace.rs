//! How many iterations a member takes at once: as many as last for some microseconds, so that taking them costs little, and
//! as few as that, so that others can steal the rest.

use crate::measure::clock::{Ticks, ticks, ticks_per_ns};

/// The least and the most nanoseconds that a range should last.
const LEAST: f64 = 4_000.0;
const MOST: f64 = 16_000.0;

/// The length of a member's next range.
pub(super) struct Pace {
    grain: usize,
    length: usize,
    /// Since when the range lasts, and how long it should; `None` if all ranges are one grain.
    clock: Option<Clock>,
}

struct Clock {
    since: Ticks,
    least: Ticks,
    most: Ticks,
}

impl Pace {
    /// The first range is one grain: how long it lasts is not known.
    pub(super) fn new(grain: usize) -> Pace {
        let rate = ticks_per_ns();
        let [least, most] = [LEAST, MOST].map(|ns| (ns * rate) as Ticks);
        Pace { grain, length: grain, clock: Some(Clock { since: ticks(), least, most }) }
    }

    /// All ranges are one grain. The clock is not read, which takes a good part of the time of a loop without work.
    pub(super) fn fixed(grain: usize) -> Pace {
        Pace { grain, length: grain, clock: None }
    }

    pub(super) fn length(&self) -> usize {
        self.length
    }

    /// Notes that a range of this length has ended, and that the next one begins. Returns the time, if it was read.
    pub(super) fn done(&mut self, length: usize) -> Option<Ticks> {
        let clock = self.clock.as_mut()?;
        let now = ticks();
        let lasted = now.saturating_sub(std::mem::replace(&mut clock.since, now));
        if lasted < clock.least && length >= self.length {
            self.length = self.length.saturating_mul(4);
        } else if lasted > clock.most {
            self.length = (self.length / 2).max(self.grain);
        }
        Some(now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_ranges_grow_and_long_ones_shrink() {
        let mut pace = Pace::new(3);
        assert_eq!(pace.length(), 3);
        pace.done(3);
        let grown = pace.length();
        assert!(grown == 3 || grown == 12, "unless this thread was interrupted");
        pace.length = 100;
        let after = |pace: &mut Pace, ago: f64| {
            pace.clock.as_mut().unwrap().since = ticks() - (ago * ticks_per_ns()) as Ticks;
            pace.done(100);
            pace.length()
        };
        assert_eq!(after(&mut pace, 1e6), 50);
        assert_eq!((0..9).map(|_| after(&mut pace, 1e6)).last(), Some(3), "no less than the grain");
    }

    #[test]
    fn ranges_that_are_one_grain_are_not_timed() {
        let mut pace = Pace::fixed(3);
        assert_eq!((pace.done(3), pace.length()), (None, 3));
    }
}
