//! The width of a run: the number of workers that it uses at a time, at most its threads.
//!
//! The run begins with all its threads, and [`Trials`] choose the width. It is below the limit that a run with
//! [roaming sources](crate::sched::roaming) has. Nodes whose firings are long need no trial, since no
//! crossing costs as much.
//!
//! A run that began with one worker had a bad start: its first epoch measured page faults and the start of threads rather than
//! its rate, a run of a millisecond never got its second worker, and a first firing that waited for another node was found by
//! the looker alone.
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
use thalweg_policy::width::{EPOCH_NS, MIN_EPOCHS, Trials};

/// The time of a firing, in nanoseconds, from which on more workers pay without a trial.
pub(crate) const LONG_FIRING_NS: u64 = 1_000;
/// The greatest number of channels whose items are counted.
const MAX_COUNTED: usize = 256;

/// The width of a run, and its trials.
#[derive(Debug)]
pub(crate) struct Width {
    /// Widths are tried. Set once, before the workers start.
    adapts: AtomicBool,
    trials: Mutex<Timed>,
}

/// Trials, and the end of their phase.
#[derive(Debug)]
struct Timed {
    trials: Trials,
    until: Ticks,
}

impl Width {
    /// All `threads` are used, until [`Width::begin`].
    pub(crate) fn new(threads: usize) -> Width {
        let trials = Trials::new(threads, MIN_EPOCHS);
        Width { adapts: AtomicBool::new(false), trials: Mutex::new(Timed { trials, until: 0 }) }
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
        let Ok(mut timed) = self.trials.try_lock() else { return after(EPOCH_NS) };
        let Timed { trials, until } = &mut *timed;
        if now < *until {
            return *until;
        }
        if net.sleep.was_widened() {
            net.sleep.set_width(trials.widest());
            *until = after(trials.widen());
            return *until;
        }
        if net.sched.ready.notifies() {
            (net.sleep.width()..net.threads()).for_each(|worker| share_queue(net, worker));
        }
        let (width, wait) = trials.step(now, items(net));
        *until = after(wait);
        // With the lock, so that a later step is not overwritten.
        net.sleep.set_width(width);
        *until
    }

    /// The width at the end of the run, for the report; `None` if it was not chosen by trials.
    pub(crate) fn remark(&self) -> Option<String> {
        let trials = &crate::sync::lock(&self.trials).trials;
        let (count, tried, ratio) = trials.latest().filter(|_| self.adapts())?;
        let (width, threads) = (trials.width(), trials.widest());
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
