//! The width of a run: the number of workers that it uses at a time, at most its threads.
//!
//! A second worker pays only if what it adds is more than what items cost that cross, in cache lines and in the allocator,
//! and that depends on the items, on the stages and on the machine. So it is measured: the run begins with all its threads, and
//! from time to time tries another width for an *epoch*. It keeps a narrower one if no fewer items moved, and a wider one if
//! more did. Nodes whose firings are long need no trial, since no crossing costs as much.
//!
//! A run that began with one worker had a bad start: its first epoch measured page faults and the start of threads rather than
//! its rate, a run of a millisecond never got its second worker, and a first firing that waited for another node was found by
//! the looker alone.
//!
//! | phase | the run's width | ends | then |
//! |---|---|---|---|
//! | settle | the chosen one, at first all threads | after [`WARM_NS`]: pages and caches fill, threads start | measure |
//! | measure | the chosen one | after [`Trials::epochs`] epochs; their rate is the one to beat | tries the next wider or narrower one, in turn |
//! | warm | that on trial | after [`WARM_NS`]: threads wake, and batches spread | trial |
//! | trial | that on trial | after an epoch | keeps it, or returns to the chosen one; settle |
//!
//! The number of epochs between two trials doubles while trials change nothing, up to [`MAX_EPOCHS`], so that trials take a
//! small part of a long run.
//!
//! The width holds for firings that are short. It is [widened](crate::sched::sleep::Sleep::widen) to all threads at once,
//! and stays so for a while, if
//! - a node's firings take [`LONG_FIRING_NS`] or more, in an activation of ten times that ([`pace`](crate::sched::pace)),
//! - the looker finds the same activations under way as at its latest look ([`look`](crate::sched::look)): what they have
//!   pushed must reach a consumer, although their workers are not free,
//! - a firing opens a job of a [`team`](crate::team), or a member joins or leaves one.
//!
//! [`sleep`](crate::sched::sleep) has the mechanism: how a worker beyond the width goes to sleep though there is work, and
//! why no wake-up is lost by that.
//!
//! Where the policy leaves the width to the host ([`Policy::adapts`](thalweg_policy::Policy::adapts)), nodes are not pinned, and
//! the plan is the engine's. A plan that the caller has given fixes the number of workers.

use crate::measure::clock::Ticks;
use crate::net::Net;
use crate::sched::make_ready::share_queue;
use crate::sync::{Mutex, Ordering};
use std::sync::atomic::AtomicBool;

/// The time of an epoch, in nanoseconds.
const EPOCH_NS: u64 = 1_000_000;
/// The time between a change of the width, or the start of the run, and the measurement at it, in nanoseconds.
pub(crate) const WARM_NS: u64 = 200_000;
/// The number of epochs between trials after a change, and at most.
const MIN_EPOCHS: u32 = 8;
const MAX_EPOCHS: u32 = 256;
/// The number of epochs after the run was widened without a trial.
const WIDENED_EPOCHS: u32 = 64;
/// The gain that a wider run must have: less is within the noise, and costs the machine's other programs a core.
const MIN_GAIN: f64 = 1.04;
/// The part of the rate that a narrower run may lose.
const MAX_LOSS: f64 = 0.01;
/// The part of the rate below which a trial is far from paying, and the next one has time.
const FAR_BELOW: f64 = 0.8;
/// The time of a firing, in nanoseconds, from which on more workers pay without a trial.
pub(crate) const LONG_FIRING_NS: u64 = 1_000;
/// The greatest number of channels whose items are counted.
const MAX_COUNTED: usize = 256;

/// The width of a run, and its trials.
#[derive(Debug)]
pub(crate) struct Width {
    /// Widths are tried. Set once, before the workers start.
    adapts: AtomicBool,
    trials: Mutex<Trials>,
}

/// What is being measured.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Phase {
    Settle,
    Measure,
    Warm,
    Trial,
}

/// The progress of the trials.
#[derive(Clone, Debug)]
pub(crate) struct Trials {
    threads: usize,
    /// The chosen width.
    width: usize,
    /// The width on trial.
    tried: usize,
    phase: Phase,
    /// Items in a tick at the chosen width: a mean in which the latest epochs count most.
    rate: f64,
    /// The beginning of the epoch, and the items that had moved by then.
    since: (Ticks, u64),
    /// The end of the phase.
    until: Ticks,
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
    fn new(threads: usize) -> Trials {
        Trials {
            threads,
            width: threads,
            tried: threads,
            phase: Phase::Settle,
            rate: 0.0,
            since: (0, 0),
            until: 0,
            epochs: MIN_EPOCHS,
            interval: MIN_EPOCHS,
            narrower: false,
            count: 0,
            latest: None,
        }
    }

    /// The next width to try: twice or half the chosen one, in turn. `None` if there is one thread.
    fn candidate(&mut self) -> Option<usize> {
        let (narrower, wider) = (self.width / 2, (self.width * 2).min(self.threads));
        self.narrower = !self.narrower;
        let other = if (!self.narrower || wider == self.width) && narrower > 0 { narrower } else { wider };
        (other != self.width).then_some(other)
    }

    /// Ends the phase at `now`, when `items` have moved. Returns the width from here on, and the time to the next call in
    /// nanoseconds.
    fn step(&mut self, now: Ticks, items: u64) -> (usize, u64) {
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
            Phase::Trial => {
                let ratio = rate / self.rate;
                self.count += 1;
                self.latest = Some((self.tried, ratio));
                let is_kept = match self.tried > self.width {
                    true => ratio >= MIN_GAIN,
                    false => ratio >= 1.0 - MAX_LOSS,
                };
                let factor = if ratio < FAR_BELOW { 4 } else { 2 };
                self.interval = if is_kept { MIN_EPOCHS } else { (self.interval * factor).min(MAX_EPOCHS) };
                if is_kept {
                    (self.width, self.rate) = (self.tried, rate);
                }
                self.choose(self.width, self.interval)
            }
        }
    }

    /// Chooses a width, and measures it for some epochs.
    fn choose(&mut self, width: usize, epochs: u32) -> (usize, u64) {
        (self.width, self.phase, self.epochs) = (width, Phase::Settle, epochs);
        (width, WARM_NS)
    }
}

impl Width {
    /// All `threads` are used, until [`Width::begin`].
    pub(crate) fn new(threads: usize) -> Width {
        Width { adapts: AtomicBool::new(false), trials: Mutex::new(Trials::new(threads)) }
    }

    /// Begins the trials. Before the workers start.
    pub(crate) fn begin(&self) {
        self.adapts.store(true, Ordering::Relaxed);
    }

    /// Whether widths are tried.
    pub(crate) fn adapts(&self) -> bool {
        self.adapts.load(Ordering::Relaxed)
    }

    /// Ends a phase of the trials, if it is over. Returns the time of the next call, in ticks. Another worker may be doing it:
    /// then this one asks again later.
    pub(crate) fn step(&self, net: &Net<'_>, now: Ticks, ticks_per_ns: f64) -> Ticks {
        let after = |ns: u64| now.saturating_add((ns as f64 * ticks_per_ns) as Ticks);
        let Ok(mut trials) = self.trials.try_lock() else { return after(EPOCH_NS) };
        if now < trials.until {
            return trials.until;
        }
        if net.sleep.was_widened() {
            let threads = trials.threads;
            net.sleep.set_width(threads);
            trials.choose(threads, WIDENED_EPOCHS);
            trials.until = after(EPOCH_NS);
            return trials.until;
        }
        if net.sched.ready.notifies() {
            (net.sleep.width()..net.threads()).for_each(|worker| share_queue(net, worker));
        }
        let (width, wait) = trials.step(now, items(net));
        trials.until = after(wait);
        // With the lock, so that a later step is not overwritten.
        net.sleep.set_width(width);
        trials.until
    }

    /// The width at the end of the run, for the report; `None` if it was not chosen by trials.
    pub(crate) fn remark(&self) -> Option<String> {
        let trials = crate::sync::lock(&self.trials);
        let (tried, ratio) = trials.latest.filter(|_| self.adapts())?;
        let Trials { width, threads, count, .. } = *trials;
        let workers = if width == 1 { "worker" } else { "workers" };
        Some(format!(
            "{width} {workers} of {threads} at the end of the run, chosen by {count} trials: with {tried} it was {ratio:.2} times \
             as fast when last tried"
        ))
    }
}

/// Items that have moved so far, on all channels or on some of many.
fn items(net: &Net<'_>) -> u64 {
    let meters = &net.cells.meters;
    let step = meters.len().div_ceil(MAX_COUNTED).max(1);
    meters.iter().step_by(step).map(|meter| meter.tail_here() as u64).sum()
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    /// The widths that trials choose one after the other, where a run of `width` workers moves `rate(width)` items in a tick.
    fn chosen(threads: usize, phases: usize, rate: impl Fn(usize) -> u64) -> Vec<usize> {
        let (mut trials, mut now, mut items, mut width) = (Trials::new(threads), 0, 0, threads);
        let mut chosen = vec![threads];
        for _ in 0..phases {
            let next = trials.step(now, items);
            width = next.0;
            now += next.1;
            items += next.1 * rate(width);
            if trials.phase == Phase::Settle && chosen.last() != Some(&trials.width) {
                chosen.push(trials.width);
            }
        }
        assert!(width <= threads && width > 0);
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

    #[test]
    fn trials_take_a_small_part_of_a_long_run() {
        let (mut trials, mut now, mut items, mut narrow) = (Trials::new(2), 0, 0, 0);
        let mut width = 2;
        while now < 4_000_000_000 {
            let (next, wait) = trials.step(now, items);
            width = next;
            now += wait;
            items += wait * width as u64;
            narrow += if width == 1 { wait } else { 0 };
        }
        assert!(narrow > 0 && narrow < now / 100, "{narrow} of {now}");
        assert_eq!(width, trials.width);
    }

    #[test]
    fn nothing_is_tried_while_nothing_moves() {
        assert_eq!(chosen(4, 500, |_| 0), [4]);
        let mut trials = Trials::new(4);
        (0..100).for_each(|epoch| _ = trials.step(epoch, 7));
        assert_eq!((trials.count, trials.latest), (0, None));
    }

    #[test]
    fn a_run_gets_wider_when_it_pays_again() {
        let (mut trials, mut now, mut items) = (Trials::new(2), 0u64, 0u64);
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
}
