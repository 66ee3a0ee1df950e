//! How long firings wait for their tickets, in runs with [`Options::wait_for_tickets`](crate::Options::wait_for_tickets).
//!
//! A worker *stalls* from the moment at which it finds that it is not the turn of the firing that it has, to the moment at
//! which it has one whose turn it is ([`turns`](crate::node)). Each stall is measured: a stamp costs less than a wait.
//!
//! # The length of a wait
//!
//! The paper counts waits, and so makes a wait a unit of time: of a worker that stalls alone, each wait is a switch between
//! two threads of its runtime and a look at a ticket. It does not say how long that takes. We take [`WAIT_NS`].
//!
//! | run | between two asks the worker | a firing waits |
//! |---|---|---|
//! | not dilated | spins for about that time; after [`SPINS`] rounds gives its core to other threads | once for each ask |
//! | dilated | sleeps for that time times the scale, or for [`MIN_SLEEP`], or until its turn comes (`node/sleepers.rs`) | as often as the paper's thread would have asked in that time |
//!
//! A worker that has exchanged its firing asks at once for the one that it got. It pauses after a round through the queue.

use super::clock::{Scale, Ticks, ticks};
use super::dilation::MAX_SLEEP;
use std::time::{Duration, Instant};

/// The time of a wait, in nanoseconds.
const WAIT_NS: u64 = 100;
/// The number of rounds through the queue after which a worker gives its core away.
const SPINS: u32 = 64;
/// The steps of a spinning processor that take about [`WAIT_NS`].
const SPIN_STEPS: u32 = 8;
/// The minimum sleep of a dilated pause. Each waking takes a few microseconds of a core, and the system counts them as processor time
/// of the firing that it interrupts, so they are dilated: 30 workers that stall must not wake too often.
const MIN_SLEEP: Duration = Duration::from_millis(2);

/// The waits of the firings that one worker has.
#[derive(Debug)]
pub(crate) struct TicketWaits {
    /// The dilation of time, in a dilated run.
    scale: Option<u32>,
    deadline: Option<Instant>,
    /// The waits of the firing that the current activation has ended.
    ended: u64,
    /// The time for which the current activation has stalled.
    stalled: Ticks,
    /// The stalls of the current activation, each from its beginning to its end, if the run records a timeline.
    spans: Option<Vec<(Ticks, Ticks)>>,
    pub(crate) totals: Totals,
}

/// The waits of a worker in a run.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Totals {
    /// The time of all stalls, and the part of it for which the worker slept.
    pub(crate) stalled: Ticks,
    pub(crate) slept: Ticks,
    /// Waits of firings for their tickets.
    pub(crate) waits: u64,
    /// Firings that were suspended for lack of room.
    pub(crate) suspensions: u64,
    /// The sum and the maximum, over the suspensions, of the workers and the suspended firings.
    pub(crate) under_way: u64,
    pub(crate) max_under_way: u64,
}

impl TicketWaits {
    /// The waits of a worker of a run, which may be dilated.
    pub(crate) fn new(scale: Option<u32>) -> TicketWaits {
        TicketWaits { scale, deadline: None, ended: 0, stalled: 0, spans: None, totals: Totals::default() }
    }

    /// Keeps the stalls of each activation, for a timeline.
    pub(crate) fn keep_spans(&mut self) {
        self.spans = Some(Vec::new());
    }

    /// Begins an activation.
    pub(crate) fn begin_activation(&mut self) {
        (self.ended, self.stalled) = (0, 0);
        self.spans.iter_mut().for_each(Vec::clear);
    }

    /// Sets the deadline of the run.
    pub(crate) fn set_deadline(&mut self, deadline: Option<Instant>) {
        self.deadline = deadline;
    }

    /// Begins a stall.
    pub(crate) fn stall(&self) -> Stall {
        Stall {
            from: ticks(),
            slept: 0,
            waits: 0,
            asks: 0,
            rounds: 0,
            scale: self.scale,
            deadline: self.deadline,
        }
    }

    /// Ends a stall.
    pub(crate) fn end_stall(&mut self, stall: &Stall) -> Ticks {
        let now = ticks();
        let time = now.saturating_sub(stall.from);
        self.stalled += time;
        if let Some(spans) = &mut self.spans {
            spans.push((stall.from, now));
        }
        self.totals.stalled += time;
        self.totals.slept += stall.slept;
        self.totals.waits += stall.waits;
        time
    }

    /// A firing that has waited so often has ended.
    pub(crate) fn end_firing(&mut self, waits: u64) {
        self.ended = waits;
    }

    /// Counts a suspended firing, with which this number of workers and suspended firings is under way.
    pub(crate) fn suspend(&mut self, under_way: u64) {
        let totals = &mut self.totals;
        totals.suspensions += 1;
        totals.under_way += under_way;
        totals.max_under_way = totals.max_under_way.max(under_way);
    }

    /// The waits of the firing that the current activation has ended; 0 if it has ended none.
    pub(crate) fn ended(&self) -> u64 {
        self.ended
    }

    /// The time for which the current activation has stalled.
    pub(crate) fn stalled(&self) -> Ticks {
        self.stalled
    }

    /// Takes the stalls of the current activation. Empty unless the run records a timeline.
    pub(crate) fn take_spans(&mut self) -> impl Iterator<Item = (Ticks, Ticks)> {
        self.spans.iter_mut().flat_map(|spans| spans.drain(..))
    }
}

/// A stall that lasts.
#[derive(Debug)]
pub(crate) struct Stall {
    from: Ticks,
    slept: Ticks,
    waits: u64,
    /// Asks since the latest pause.
    asks: usize,
    /// Pauses so far.
    rounds: u32,
    scale: Option<u32>,
    deadline: Option<Instant>,
}

impl Stall {
    /// Counts an ask in vain. Returns the waits that it counts for.
    pub(crate) fn ask(&mut self) -> u64 {
        self.asks += 1;
        self.waits += 1;
        1
    }

    /// Called after an ask, when `others` firings were queued: pauses once in a round through them, in a dilated run by `sleep`,
    /// which may end earlier. Returns the waits that the pause counts for.
    pub(crate) fn pause(&mut self, others: usize, sleep: impl FnOnce(Duration)) -> u64 {
        if self.asks <= others {
            return 0;
        }
        (self.asks, self.rounds) = (0, self.rounds.saturating_add(1));
        let Some(scale) = self.scale else {
            self.spin();
            return 0;
        };
        let waits = self.sleep(u64::from(scale), sleep);
        self.waits += waits;
        waits
    }

    /// Whether the run's deadline has passed.
    pub(crate) fn is_late(&self) -> bool {
        // A look at the clock takes a part of a wait.
        self.asks == 0 && self.deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }

    fn spin(&self) {
        if cfg!(loom) || self.rounds > SPINS {
            return crate::sync::thread::yield_now();
        }
        (0..SPIN_STEPS).for_each(|_| std::hint::spin_loop());
    }

    fn sleep(&mut self, scale: u64, sleep: impl FnOnce(Duration)) -> u64 {
        let (from, wait) = (ticks(), Duration::from_nanos(WAIT_NS.saturating_mul(scale)));
        sleep(wait.clamp(MIN_SLEEP, MAX_SLEEP));
        let slept = ticks().saturating_sub(from);
        self.slept += slept;
        Scale::now().ns(slept) as u64 / (WAIT_NS * scale)
    }
}

#[cfg(all(test, not(miri), not(loom)))]
mod tests {
    use super::*;

    /// The waits of a stall alone in a run dilated so, and its time in nanoseconds.
    fn stall(scale: u32, pauses: u32) -> (u64, f64) {
        let mut waits = TicketWaits::new(Some(scale));
        let mut stall = waits.stall();
        let asks = (0..pauses).map(|_| stall.ask() + stall.pause(0, std::thread::sleep)).sum();
        waits.end_stall(&stall);
        assert_eq!(waits.totals.waits, asks);
        assert_eq!(waits.stalled(), waits.totals.stalled);
        assert!(waits.totals.slept <= waits.totals.stalled);
        (asks, Scale::now().ns(waits.totals.stalled))
    }

    #[test]
    fn a_dilated_wait_lasts_the_dilated_time_of_a_wait() {
        for (scale, pauses) in [(100, 20), (20_000, 3)] {
            let (waits, ns) = stall(scale, pauses);
            let each = ns / waits as f64;
            let expected = WAIT_NS as f64 * f64::from(scale);
            // Each pause counts one wait for its ask, and rounds the rest down.
            assert!(
                each > expected * 0.5 && each < expected * 1.5,
                "{each} ns for {expected}, {waits} waits"
            );
        }
    }

    #[test]
    fn a_pause_follows_a_round_through_the_queue() {
        let mut stall = TicketWaits::new(Some(1_000)).stall();
        let mut ask = |others| stall.ask() + stall.pause(others, std::thread::sleep) > 1;
        let pauses: Vec<bool> = (0..6).map(|_| ask(2)).collect();
        assert_eq!(pauses, [false, false, true, false, false, true]);
    }

    #[test]
    fn spans_of_stalls_are_kept_for_a_timeline_alone() {
        let mut waits = TicketWaits::new(None);
        let stalls = |waits: &mut TicketWaits| {
            waits.begin_activation();
            for _ in 0..2 {
                let stall = waits.stall();
                waits.end_stall(&stall);
            }
            waits.take_spans().collect::<Vec<_>>()
        };
        assert!(stalls(&mut waits).is_empty());
        waits.keep_spans();
        let spans = stalls(&mut waits);
        assert_eq!(spans.iter().map(|(from, to)| to - from).sum::<Ticks>(), waits.stalled());
        assert!(spans.len() == 2 && spans[0].1 <= spans[1].0, "{spans:?}");
        assert_eq!(waits.take_spans().count(), 0);
    }

    #[test]
    fn suspended_firings_are_counted_with_the_workers() {
        let mut waits = TicketWaits::new(None);
        [5, 9, 7].into_iter().for_each(|under_way| waits.suspend(under_way));
        let Totals { suspensions, under_way, max_under_way, .. } = waits.totals;
        assert_eq!((suspensions, under_way, max_under_way), (3, 21, 9));
    }
}
