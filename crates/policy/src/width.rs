//! Trials of the number of workers, or of threads, that move the most items.
//!
//! A second worker pays only if what it adds is more than what items cost that cross, in cache lines and in the allocator,
//! and that depends on the items, on the stages and on the machine. So it is measured: the host begins at the full *width*, and
//! from time to time tries another one for an *epoch*. It keeps a narrower width if no fewer items moved, and a wider one if
//! more did.
//!
//! | phase | width | ends | then |
//! |---|---|---|---|
//! | settle | the chosen one, at first the full one | after [`WARM_NS`]: pages and caches fill, threads start | measure |
//! | measure | the chosen one | after a number of epochs; their rate is the one to beat | tries the next wider or narrower one, in turn |
//! | warm | that on trial | after [`WARM_NS`]: threads wake, and batches spread | trial |
//! | trial | that on trial | after an epoch | keeps it, or returns to the chosen one; settle |
//!
//! The number of epochs between two trials doubles while trials change nothing, up to 256, so that trials take a small part
//! of a long run.
//!
//! The runtime chooses the workers of a run so, and the iterator adaptors whether the caller's thread works alone.

/// The time of an epoch, in nanoseconds.
pub const EPOCH_NS: u64 = 1_000_000;
/// The time between a change of the width, or the start, and the measurement at it, in nanoseconds.
pub const WARM_NS: u64 = 200_000;
/// The number of epochs from a change of the width to the next trial.
pub const MIN_EPOCHS: u32 = 8;
/// Maximum number of epochs between two trials.
const MAX_EPOCHS: u32 = 256;
/// The number of epochs after a width was chosen without a trial.
const HELD_EPOCHS: u32 = 64;
/// The gain that a wider run must have: less is within the noise, and costs the machine's other programs a core.
const MIN_GAIN: f64 = 1.04;
/// The part of the rate that a narrower run may lose.
const MAX_LOSS: f64 = 0.01;
/// The part of the rate below which a trial is far from paying, and the next one has time.
const FAR_BELOW: f64 = 0.8;

/// What is being measured.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Phase {
    Settle,
    Measure,
    Warm,
    Trial,
}

/// The progress of the trials. The module describes them.
///
/// ```
/// use thalweg_policy::width::Trials;
///
/// // One worker moves as many items as four.
/// let (mut trials, mut now) = (Trials::new(4, 1), 0);
/// for _ in 0..100 {
///     let (_width, wait) = trials.step(now, now * 3);
///     now += wait;
/// }
/// assert_eq!(trials.width(), 1);
/// ```
#[derive(Clone, Debug)]
pub struct Trials {
    widest: usize,
    /// The chosen width.
    width: usize,
    /// The width on trial.
    tried: usize,
    phase: Phase,
    /// Items in a unit of time at the chosen width: a mean in which the latest epochs count most.
    rate: f64,
    /// The beginning of the epoch, and the items that had moved by then.
    since: (u64, u64),
    /// Epochs until the next trial.
    epochs: u32,
    /// Epochs between the latest two trials.
    interval: u32,
    /// The next trial is of a narrower run.
    narrower: bool,
    count: u64,
    /// The latest trial: its width, and its rate as a multiple of the rate before.
    latest: Option<(usize, f64)>,
}

impl Trials {
    /// Trials of the widths 1 to `widest`, which is chosen at first. The first trial is after `epochs` epochs, at least 1.
    pub fn new(widest: usize, epochs: u32) -> Trials {
        Trials {
            widest,
            width: widest,
            tried: widest,
            phase: Phase::Settle,
            rate: 0.0,
            since: (0, 0),
            epochs: epochs.max(1),
            interval: MIN_EPOCHS,
            narrower: false,
            count: 0,
            latest: None,
        }
    }

    /// The chosen width.
    pub fn width(&self) -> usize {
        self.width
    }

    /// The greatest width.
    pub fn widest(&self) -> usize {
        self.widest
    }

    /// The number of trials so far, and the latest one: its width, and its rate as a multiple of the rate before.
    pub fn latest(&self) -> Option<(u64, usize, f64)> {
        self.latest.map(|(tried, ratio)| (self.count, tried, ratio))
    }

    /// The next width to try: twice or half the chosen one, in turn. `None` if there is one thread.
    fn candidate(&mut self) -> Option<usize> {
        let (narrower, wider) = (self.width / 2, (self.width * 2).min(self.widest));
        self.narrower = !self.narrower;
        let other = if (!self.narrower || wider == self.width) && narrower > 0 { narrower } else { wider };
        (other != self.width).then_some(other)
    }

    /// Ends the phase at `now`, in any unit of time, when `items` have moved. Returns the width from here on, and the time to
    /// the next call in nanoseconds.
    pub fn step(&mut self, now: u64, items: u64) -> (usize, u64) {
        let (since, before) = std::mem::replace(&mut self.since, (now, items));
        let rate = items.saturating_sub(before) as f64 / now.saturating_sub(since).max(1) as f64;
        match self.phase {
            Phase::Settle => {
                self.phase = Phase::Measure;
                (self.width, EPOCH_NS)
            }
            Phase::Measure => {
                self.epochs -= 1;
                self.rate = if self.rate == 0.0 { rate } else { self.rate + (rate - self.rate) / 4.0 };
                // Nothing has moved: nothing to compare with.
                let is_due = self.epochs == 0 && rate > 0.0;
                self.epochs = self.epochs.max(1);
                match is_due.then(|| self.candidate()).flatten() {
                    Some(tried) => {
                        (self.tried, self.phase) = (tried, Phase::Warm);
                        (tried, WARM_NS)
                    }
                    None => (self.width, EPOCH_NS),
                }
            }
            Phase::Warm => {
                self.phase = Phase::Trial;
                (self.tried, EPOCH_NS)
            }
            Phase::Trial => self.end_trial(rate),
        }
    }

    /// Keeps the width on trial, at which items moved at this rate, or returns to the chosen one.
    fn end_trial(&mut self, rate: f64) -> (usize, u64) {
        let ratio = rate / self.rate;
        self.count += 1;
        self.latest = Some((self.tried, ratio));
        let is_kept = match self.tried > self.width {
            true => ratio >= MIN_GAIN,
            false => ratio >= 1.0 - MAX_LOSS,
        };
        // After a clear result the way back has time as well.
        let factor = if !(FAR_BELOW..1.0 / FAR_BELOW).contains(&ratio) { 4 } else { 2 };
        let before = if is_kept { MIN_EPOCHS / 2 } else { self.interval };
        self.interval = (before * factor).min(MAX_EPOCHS);
        if is_kept {
            (self.width, self.rate) = (self.tried, rate);
        }
        self.choose(self.width, self.interval)
    }

    /// Chooses the full width without a trial, and keeps it for a while. Returns the time to the next call in nanoseconds.
    pub fn widen(&mut self) -> u64 {
        self.choose(self.widest, HELD_EPOCHS);
        EPOCH_NS
    }

    /// Begins the phase again: for some time the width was not the one that it measures. The next call of [`Trials::step`] is
    /// after [`WARM_NS`] at that width.
    pub fn restart(&mut self) {
        self.phase = match self.phase {
            Phase::Settle | Phase::Measure => Phase::Settle,
            Phase::Warm | Phase::Trial => Phase::Warm,
        };
    }

    /// Chooses a width, and measures it for some epochs.
    fn choose(&mut self, width: usize, epochs: u32) -> (usize, u64) {
        (self.width, self.phase, self.epochs) = (width, Phase::Settle, epochs);
        (width, WARM_NS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The widths that trials choose one after the other, where a run of `width` workers moves `rate(width)` items in a tick.
    fn chosen(widest: usize, phases: usize, rate: impl Fn(usize) -> u64) -> Vec<usize> {
        let (mut trials, mut now, mut items, mut width) = (Trials::new(widest, MIN_EPOCHS), 0, 0, widest);
        let mut chosen = vec![widest];
        for _ in 0..phases {
            let next = trials.step(now, items);
            width = next.0;
            now += next.1;
            items += next.1 * rate(width);
            if trials.phase == Phase::Settle && chosen.last() != Some(&trials.width) {
                chosen.push(trials.width);
            }
        }
        assert!(width <= widest && width > 0);
        chosen
    }

    #[test]
    fn a_run_becomes_as_narrow_as_costs_nothing() {
        assert_eq!(chosen(8, 2000, |_| 100), [8, 4, 2, 1]);
        assert_eq!(chosen(8, 2000, |width| 100 * width.min(3) as u64), [8, 4]);
    }

    #[test]
    fn a_run_stays_wide_if_that_pays() {
        assert_eq!(chosen(8, 2000, |width| 100 * width as u64), [8]);
        assert_eq!(chosen(1, 2000, |_| 100), [1]);
    }

    /// The time that a run of two workers takes part in at width 1, of four seconds, if width 1 moves `narrow` items while
    /// width 2 moves 2.
    fn time_alone(narrow: u64) -> f64 {
        let (mut trials, mut now, mut items, mut alone) = (Trials::new(2, 1), 0, 0, 0);
        while now < 4_000_000_000 {
            let (width, wait) = trials.step(now, items);
            now += wait;
            items += wait * if width == 1 { narrow } else { 2 };
            alone += if width == 1 { wait } else { 0 };
        }
        alone as f64 / now as f64
    }

    #[test]
    fn trials_take_a_small_part_of_a_long_run() {
        assert!((0.0..0.01).contains(&time_alone(1)), "{}", time_alone(1));
        assert!((0.99..1.0).contains(&time_alone(6)), "{}", time_alone(6));
    }

    #[test]
    fn nothing_is_tried_while_nothing_moves() {
        assert_eq!(chosen(4, 500, |_| 0), [4]);
        let mut trials = Trials::new(4, 1);
        (0..100).for_each(|epoch| _ = trials.step(epoch, 7));
        assert_eq!(trials.latest(), None);
    }

    #[test]
    fn a_run_gets_wider_when_it_pays_again() {
        let (mut trials, mut now, mut items) = (Trials::new(2, MIN_EPOCHS), 0u64, 0u64);
        let mut widths = Vec::new();
        for _ in 0..3000 {
            let (width, wait) = trials.step(now, items);
            now += wait;
            // After a second the items are heavier, so that two workers move twice as many.
            items += wait * if now > 1_000_000_000 { 10 * width as u64 } else { 100 };
            widths.push(trials.width);
        }
        widths.dedup();
        assert_eq!(widths, [2, 1, 2]);
    }

    #[test]
    fn a_widened_run_is_tried_after_a_while() {
        let mut trials = Trials::new(2, 1);
        let (mut now, mut epochs) = (0, 0);
        while trials.width() == 2 {
            now += trials.step(now, now).1;
        }
        assert_eq!(trials.widen(), EPOCH_NS);
        while trials.width() == 2 {
            now += trials.step(now, now).1;
            epochs += 1;
        }
        assert!(epochs >= HELD_EPOCHS, "{epochs}");
    }
}
