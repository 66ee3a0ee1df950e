//! Dedicated threads: nodes that may wait for the outside world in their firings, each run by a thread of its own.
//!
//! # States of the thread
//!
//! | state | counted active | `dozing` | `nap` | left when |
//! |---|---|---|---|---|
//! | active | yes | false | [`NO_NAP`] | an activation ends with a wait (`Empty`, `Full`, `Waiting`) |
//! | spinning, for [`SPIN`] | yes | false | [`NO_NAP`] | the wait is over, or the time |
//! | napping, for [`WaitStrategy::nap`] | yes | false | a counter value | the counter reaches it, the other end leaves, an alert, the time |
//! | dozing | no | true | [`NO_NAP`] | the wait is over (rung), a timeout, the end of the run |
//! | retired | no | false | [`NO_NAP`] | never |
//!
//! The thread alone writes `dozing` and `nap`. A dedicated node has no token and no worker activates it, so its body is
//! refused only while a search holds its claim.
//!
//! # The race, and why no wake-up is lost
//!
//! ```text
//!   dedicated thread                          changer (`make_ready::changed`)
//!   1. `dozing` := true, or `nap` := n        1. changes a counter, or sets the node's alert
//!   2. fence(SeqCst)                          2. fence(SeqCst)
//!   3. reads the counter and the alert        3. reads `nap`, then `dozing`
//!   4. sleeps if its condition is not met     4. rings the thread if its condition is met
//! ```
//!
//! If the changer (3) misses the flag, its fence comes before the thread's, so the thread (3) sees the change. A ring
//! between 3 and 4 is kept under the mutex of [`sleep`](crate::sched::sleep), and the wait returns at once. So is one
//! that comes late, after the thread has left its sleep: the next wait then returns at once, and the caller checks its
//! condition again.

use crate::channel::Meter;
use crate::coroutine::leave_node;
use crate::liveness::search;
use crate::measure::account::DedicatedAccount;
use crate::measure::clock::{Laps, Scale, Ticks, ticks};
use crate::measure::occupancy::Occupancies;
use crate::measure::recorder::Recorder;
use crate::measure::sampler::{FREQUENT, Sampler};
use crate::measure::service::Measured;
use crate::measure::waits;
use crate::net::{ActivationContext, By, NO_NAP, Net, Waiting};
use crate::sched::ending::fail_panic;
use crate::sched::make_ready::{changed_outside, make_all_ready};
use crate::sched::sleep::{ParkOutcome, Sleeper};
use crate::sched::widen;
use crate::sched::worker::WorkerConfig;
use crate::sync::{Ordering, fence};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};
use thalweg_graph::{ChannelId, Kind, NodeId};
use thalweg_policy::Event;
use thalweg_trace::{Service, What};

/// The most operations of a process in one activation.
const OPERATIONS: usize = 1 << 14;

/// The target time after which a kernel that is not blocking publishes, in nanoseconds.
const SLICE_NS: f64 = 10_000.0;
/// The longest time of a blocking node's activation, in nanoseconds, as far as single firings allow.
const BLOCKING_NS: f64 = 20_000_000.0;
/// The time from which on an activation without a firing counts, in nanoseconds.
const LONG_NS: f64 = 10_000.0;
/// The firings of its first activation.
const FIRST_BLOCKING: usize = if cfg!(loom) { usize::MAX } else { 16 };
/// The maximum number of firings of such a slice.
const SLICE: usize = 256;
/// The number of slices of an activation.
const SLICES: usize = 16;

/// Runs a node on the calling thread until the node or the run ends, and returns what was measured. `sleeper` is the
/// thread's number in `net.sleep`.
///
/// A blocking node publishes after every firing: an item from outside must not wait for the next one, which may be
/// late. A node that has a thread only because the run is one-to-one publishes by the time of its firings.
pub(crate) fn run(
    net: &Net<'_>,
    node: NodeId,
    sleeper: Sleeper,
    config: &WorkerConfig,
) -> Option<DedicatedAccount> {
    let cell = &net.cells.nodes[node.index()];
    let body = cell.body.as_ref()?;
    let mut wait_strategy = WaitStrategy::default();
    let slices = !net.topology.graph.node(node).blocking() && cell.kind != Kind::Process;
    let longest = net.topology.plan.claim_lengths()[node.index()].min(SLICE);
    let (mut slice, mut blocking) = (1, FIRST_BLOCKING);
    let mut cx = ActivationContext::new(net, By::Dedicated);
    cx.set_deadline(config.deadline.map(|(at, _)| at));
    let mut measures = Measures {
        service: Box::default(),
        recorder: Recorder::new(config.timeline),
        activations: 0,
        sampler: Sampler::new(),
    };
    while !net.stopped() && !cell.state.is_done() {
        let alerted = cell.state.alert.swap(false, Ordering::AcqRel);
        let budget = match cell.kind {
            // A process whose consumers have all left never waits, so only a budget makes it return and see that.
            Kind::Process => OPERATIONS,
            _ if slices => slice * SLICES,
            _ => blocking,
        };
        let budget = budget.min(net.topology.plan.batch());
        cx.begin(node, &cell.state, (budget, slice), alerted);
        let from = ticks();
        if waits::is_counted(cell, from, true) {
            waits::count(net, node, waits::ended_always(cell, from));
        }
        let weight = measures.next_weight();
        cx.laps = (weight > 0).then(|| Laps::start(from, weight));
        let event = catch_unwind(AssertUnwindSafe(|| body.activate(&mut cx)));
        let laps = cx.laps.take();
        cell.state.firings.fetch_add(cx.fired as u64, Ordering::Relaxed);
        cell.state.activations.fetch_add(1, Ordering::Relaxed);
        let after = ticks();
        cell.state.busy.fetch_add(after.saturating_sub(from), Ordering::Relaxed);
        cell.state.since.store(after, Ordering::Relaxed);
        if cell.state.observed.load(Ordering::Relaxed) {
            Occupancies::end(net, node, after);
        }
        let spent = after.saturating_sub(from);
        Occupancies::begin_after(net, node, after, spent, laps.as_ref().map(|laps| laps.weight));
        widen::note_node(net, node, cell);
        let ns = Scale::now().ns(after.saturating_sub(from));
        measures.note_service(&cx, ns, laps);
        measures.move_parts(net, node);
        if let Ok(event) = &event {
            measures.note_event(node, cx.fired, *event, (from, after));
        }
        if !slices {
            blocking = next_budget(blocking, ns);
        } else if cx.fired > 0 {
            let computed = ns - Scale::now().ns(cx.slept());
            slice = ((SLICE_NS * cx.fired as f64 / computed.max(1.0)) as usize).clamp(1, longest);
        }
        if net.sched.ready.notifies() || cell.kind == Kind::Process {
            changed_outside(net, node);
        }
        match event {
            Ok(Event::Empty(_) | Event::Full(_) | Event::Waiting) => {
                wait_strategy.wait(net, node, sleeper, config.deadline);
                measures.note_wait(after);
            }
            Ok(Event::Refused) => {
                // A search holds the claim for a moment. The alert, which this thread has cleared, must be seen later.
                if alerted {
                    cell.state.alert.store(true, Ordering::Release);
                }
                std::thread::yield_now();
            }
            Ok(_) => {}
            Err(panic) => fail_panic(net, node, panic),
        }
    }
    leave_node(net, node);
    if net.sleep.retire(|| crate::liveness::quiesce::examine(net)) {
        make_all_ready(net);
    }
    Some(DedicatedAccount { node, service: measures.service, recorder: measures.recorder })
}

/// The firings of a blocking node's next activation, after one of at most `budget` that took `ns` nanoseconds. An
/// activation ends about every [`BLOCKING_NS`], because firings count when it ends, and snapshots of the run show them.
/// In a loom model, which has no clock, it ends when the node waits.
fn next_budget(budget: usize, ns: f64) -> usize {
    if cfg!(loom) {
        usize::MAX
    } else if ns > BLOCKING_NS {
        ((budget as f64 * BLOCKING_NS / ns) as usize).max(1)
    } else if ns < BLOCKING_NS / 8.0 {
        budget.saturating_mul(4)
    } else {
        budget
    }
}

/// What the thread measures of its node. All activations are measured: beside the wait after each, that costs little. Single
/// firings are measured in the first [`FIRST_MEASURED`] activations, and then in a sample of them.
struct Measures {
    service: Box<Service>,
    recorder: Option<Recorder>,
    activations: u64,
    sampler: Sampler,
}

/// The activations after which firings are measured in a sample.
const FIRST_MEASURED: u64 = 16;

impl Measures {
    /// Begins an activation. The number of activations for which its firings count; 0 if they are not measured.
    fn next_weight(&mut self) -> u32 {
        self.activations += 1;
        self.sampler.step();
        match self.activations <= FIRST_MEASURED {
            true => 1,
            false => u32::from(self.sampler.is_frequent()) * FREQUENT,
        }
    }

    /// Adds the times of an activation that fired `fired` times in `ns` nanoseconds. Sets the pace, by which a single firing
    /// of the next activation is measured.
    fn note_service(&mut self, cx: &ActivationContext<'_>, ns: f64, laps: Option<Laps>) {
        let (state, fired) = (cx.state(), cx.fired);
        // A process may work for long without a message.
        if fired == 0 && ns <= LONG_NS {
            return;
        }
        let mean = ns / fired.max(1) as f64;
        if fired > 0 {
            let computed = mean - Scale::now().ns(cx.slept()) / fired as f64;
            state.pace.store((computed * 16.0) as u32, Ordering::Relaxed);
        }
        let firing = laps.filter(|_| fired > 0).map(|laps| {
            let each =
                laps.measured.map_or(mean, |(of, spent)| cx.dilated(Scale::now().ns(spent)) / of as f64);
            (each, (fired as u64).saturating_mul(u64::from(laps.weight)))
        });
        Measured { ns, fired, always: true, firing }.record(&mut self.service);
    }

    /// Adds an activation to the timeline, if the run records one.
    fn note_event(&mut self, node: NodeId, fired: usize, event: Event, span: (Ticks, Ticks)) {
        if let Some(recorder) = &mut self.recorder {
            recorder.activation(node, fired, event, span);
        }
    }

    /// Moves the thread's parts in loops and task graphs to the timeline, if the run records one.
    fn move_parts(&mut self, net: &Net<'_>, node: NodeId) {
        #[cfg(not(loom))]
        if let (Some(recorder), Some(tally)) = (&mut self.recorder, &net.team.apart) {
            tally.move_events(0, Some(node), recorder);
        }
        #[cfg(loom)]
        let _ = (net, node);
    }

    /// Adds a wait that began at `from` and ends now.
    fn note_wait(&mut self, from: Ticks) {
        if let Some(recorder) = &mut self.recorder {
            recorder.add(from, What::Park { ns: ticks().saturating_sub(from) });
        }
    }
}

/// How a dedicated thread waits: spins, naps, or dozes.
///
/// If the node at the other end is fast, a wake-up for every item costs both threads more than the item does. So a
/// thread that was woken soon after it fell asleep naps first the next time: it sleeps for a fixed time, or until half
/// of the channel has items (or room), or the other end has left. Then it finds several items (or free slots) at once.
/// If it finds few, or finds the other node waiting for it, as where two nodes answer each other, it does not nap for a
/// number of waits. An item after a pause waits for no nap; one in a stream may wait for [`NAP_MAX`]. The gain shows in
/// the bench's `farm.*` and `small.*`, as `ours(adaptor)`.
///
/// If half of the channel lasts for less than [`MIN_HALF_TIME`], sleeping takes too much of the time. Then the thread
/// that sleeps doubles the channel's capacity, up to its slots, until half of it lasts that long ([`widen`]).
///
/// Invariant: during a nap the wait word says what the node lacks, as at any wait, so a search sees a node that has
/// what it lacks as claimable; and the thread counts as active, so the graph is not at rest.
#[derive(Debug, Default)]
pub(crate) struct WaitStrategy {
    /// The length of the next nap; none if it is shorter than [`NAP_MIN`].
    nap: Duration,
    /// The number of waits without a nap that the latest failed nap has caused. Doubles with each further failure.
    backoff: u32,
    /// The waits of `backoff` that are still to come.
    backoff_left: u32,
    /// The number of waits to come that begin with spinning.
    spins_left: u32,
}

/// The number of an outlet's first waits that begin with spinning.
const SPINS: u32 = 2;
/// The time for which one of them spins.
const SPIN: Duration = Duration::from_micros(30);

/// The longest nap.
const NAP_MAX: Duration = Duration::from_micros(1000);
/// The first nap.
const NAP_FIRST: Duration = Duration::from_micros(100);
/// The shortest nap that is worth its two switches of the thread.
const NAP_MIN: Duration = Duration::from_micros(25);
/// The time for which half of a channel should last: a hundred times the cost of a sleep and a wake-up.
const MIN_HALF_TIME: Duration = Duration::from_micros(800);
/// The number of items, or of free slots, that makes a nap worthwhile.
const MIN_BATCH: usize = 2;

/// The state, after a nap, of the one channel that the kernel waits for.
struct Backlog {
    channel: ChannelId,
    /// Items for a consumer, free slots for a producer.
    count: usize,
    capacity: usize,
    /// The node at the other end rests, and waits for this one: the nap was too long.
    overslept: bool,
}

impl Backlog {
    /// Whether the channel has filled (or drained) to a half, which ended the nap, and the other node still runs.
    fn is_half(&self) -> bool {
        self.count * 2 >= self.capacity && !self.overslept
    }
}

impl WaitStrategy {
    /// The strategy of an [`Outlet`](crate::Outlet), which spins at first: the first items of a run arrive, and a short
    /// run ends, before a sleeping thread would be awake.
    pub(crate) fn spinning() -> WaitStrategy {
        WaitStrategy { spins_left: SPINS, ..WaitStrategy::default() }
    }

    /// Waits until the node's wait seems over, or the run has stopped. Called by the node's thread, which has written
    /// the wait word; afterwards it checks its channels again, since this may return early.
    pub(crate) fn wait(
        &mut self,
        net: &Net<'_>,
        node: NodeId,
        sleeper: Sleeper,
        deadline: Option<(Instant, Duration)>,
    ) {
        if cfg!(loom) {
            return doze(net, node, sleeper, deadline); // a model has no clock
        }
        if self.spins_left > 0 {
            self.spins_left -= 1;
            if spin(net, node) {
                return;
            }
        }
        // An alarm ends no nap.
        let is_timed = matches!(net.node(node).state.wait.read(), Waiting::Timed { .. });
        if self.nap >= NAP_MIN && !is_timed {
            let from = Instant::now();
            nap(net, node, sleeper, self.nap);
            let found = backlog(net, node);
            self.adapt(found.as_ref());
            if let Some(found) = found.filter(|found| found.is_half() && from.elapsed() < MIN_HALF_TIME) {
                widen::double(net, found.channel);
            }
            if net.cells.nodes[node.index()].state.satisfied(net, node) {
                return;
            }
        }
        let from = Instant::now();
        doze(net, node, sleeper, deadline);
        self.backoff_left = self.backoff_left.saturating_sub(1);
        if from.elapsed() < NAP_FIRST && self.backoff_left == 0 && backlog(net, node).is_some() {
            self.nap = if self.nap < NAP_MIN { NAP_FIRST } else { self.nap };
        }
    }

    /// Chooses the next nap by the backlog after this one: longer if the channel is less than 3/8 full (or free),
    /// shorter if more than 7/8. Too small a backlog, or none, starts the backoff.
    fn adapt(&mut self, found: Option<&Backlog>) {
        let useful = found.filter(|found| found.count >= MIN_BATCH && !found.overslept);
        self.nap = match useful {
            // The nap ended at a half, and much has come before the thread was awake.
            Some(found) if found.count * 8 > found.capacity * 7 => self.nap / 2,
            Some(found) if found.count * 8 < found.capacity * 3 => (self.nap * 2).min(NAP_MAX),
            Some(_) => self.nap,
            None => Duration::ZERO,
        };
        self.backoff = if self.nap < NAP_MIN { (self.backoff * 2).clamp(16, 1 << 12) } else { 0 };
        self.backoff_left = self.backoff;
    }
}

/// Spins until the node's wait is over or the run has stopped (true), or for [`SPIN`] (false).
fn spin(net: &Net<'_>, node: NodeId) -> bool {
    let (state, from) = (&net.cells.nodes[node.index()].state, Instant::now());
    while from.elapsed() < SPIN {
        if state.satisfied(net, node) || net.stopped() {
            return true;
        }
        // The thread that ends the wait may need this core.
        std::thread::yield_now();
        (0..32).for_each(|_| std::hint::spin_loop());
    }
    false
}

/// Sleeps for `time`, or until half of the channel has items (for a consumer) or room (for a producer). Returns at once
/// if the node waits for anything else: only a wait on one channel has a counter that can end the nap.
fn nap(net: &Net<'_>, node: NodeId, sleeper: Sleeper, time: Duration) {
    let state = &net.cells.nodes[node.index()].state;
    let until = match state.wait.read() {
        Waiting::Items { channel, .. } => net.meter(channel).head() + half(net.meter(channel)),
        Waiting::Room { channel, .. } => {
            let meter = net.meter(channel);
            (meter.tail() + half(meter)).saturating_sub(meter.capacity())
        }
        _ => return,
    };
    state.nap.store(until, Ordering::Relaxed);
    fence(Ordering::SeqCst); // pairs with the changers' fence in `make_ready::changed`
    if !state.nap_is_over(net, until) {
        net.sleep.nap(sleeper, time);
    }
    state.nap.store(NO_NAP, Ordering::Relaxed);
}

/// The number of items, or of free slots, that ends a nap.
fn half(meter: &Meter) -> usize {
    (meter.capacity() / 2).max(MIN_BATCH)
}

/// The backlog of the channel that the node waits for; `None` if it waits for anything else, or is a process.
fn backlog(net: &Net<'_>, node: NodeId) -> Option<Backlog> {
    let cell = &net.cells.nodes[node.index()];
    let (channel, full) = match cell.state.wait.read() {
        Waiting::Items { channel, .. } => (channel, false),
        Waiting::Room { channel, .. } => (channel, true),
        _ => return None,
    };
    let (meter, (from, to)) = (net.meter(channel), net.ends(channel));
    let (items, capacity) = (meter.items(), meter.capacity());
    let id = if full { to } else { from };
    let other = &net.cells.nodes[id.index()];
    let active = other.body.as_ref().is_none_or(|body| body.is_held())
        || (matches!(other.state.wait.read(), Waiting::Window { .. }) && !other.state.is_stuck());
    let overslept = !active && search::rests(net, id);
    let count = if full { capacity.saturating_sub(items) } else { items };
    (cell.kind != Kind::Process).then_some(Backlog { channel, count, capacity, overslept })
}

/// Sleeps until the node's wait is over, or the run has stopped.
///
/// As the last active thread it examines the graph. If nothing wakes it for [`search::PATIENCE`] it searches once for a
/// deadlock that its node may be part of, and then sleeps without that limit.
fn doze(net: &Net<'_>, node: NodeId, sleeper: Sleeper, deadline: Option<(Instant, Duration)>) {
    let state = &net.cells.nodes[node.index()].state;
    state.dozing.store(true, Ordering::Relaxed);
    fence(Ordering::SeqCst); // pairs with the changers' fence in `make_ready::changed`
    let mut has_searched = !net.liveness.search.is_on();
    while !state.satisfied(net, node) && !net.stopped() {
        let left = deadline.map(|(at, _)| at.saturating_duration_since(Instant::now()));
        let patience = (!has_searched).then_some(search::PATIENCE);
        let timeout = [left, patience].into_iter().flatten().min();
        match net.sleep.wait_dedicated(sleeper, timeout, || crate::liveness::quiesce::examine(net)) {
            ParkOutcome::Resumed => make_all_ready(net),
            ParkOutcome::TimedOut => match deadline {
                Some((at, given)) if Instant::now() >= at => net.fail(crate::Error::Deadline(given)),
                _ => {
                    has_searched = true;
                    search::suspect(net, node);
                    continue;
                }
            },
            ParkOutcome::Rung | ParkOutcome::Over => {}
        }
        break;
    }
    state.dozing.store(false, Ordering::Relaxed);
}
