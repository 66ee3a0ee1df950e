//! A worker: it asks the policy for a node, activates the node, accounts for the time, and sleeps when the policy has
//! no node.
//!
//! # States
//!
//! | worker is | `searching` | entered by | left by |
//! |---|---|---|---|
//! | searching | true | a wake-up (`ParkOutcome::Rung`), or the arrival of a summoned thread | its first activation, which calls `Sleep::found`; or `announce` |
//! | working | false | an activation | `Decision::Idle` |
//! | spinning | either | `Decision::Idle` | work that it may do; or the end of [`SPIN_NS`] |
//! | announced | false | `Sleep::announce` | `withdraw`, if work was found after the announcement; or `commit` |
//! | parked | false | `Sleep::commit` | a wake-up, the timeout, or the end of the run |
//!
//! [`sleep`](crate::sched::sleep) argues why no wake-up is lost between these states.
//!
//! # One activation, in order
//!
//! 1. `NodeCell::try_pin`. If the node is pinned to another worker, that worker gets the token.
//! 2. Wake another worker, if there is more work. Before the activation, since the woken worker shares the work only if
//!    it starts while this worker is busy.
//! 3. `take_alert` clears the node's alert before the body reads its channels. An alert that is set afterwards stays
//!    for the next activation; one that a refused activation has taken is set again ([`Worker::settle`]).
//! 4. `Body::activate`, under the node's claim.
//! 5. Statistics of the node. Before step 6: until then this worker has the node's token, so that of a node with one
//!    token it is the only writer.
//! 6. Release the token, fence, notify the policy of neighbours and of the node itself
//!    ([`notify`](crate::sched::notify)). Where the policy scans: [`changed_by`], for a process; a kernel calls it
//!    during the activation.
//! 7. Note the node as a suspect, if it waits for room. Where the policy is notified, the fence of step 6 pairs with
//!    the one in [`suspects`](crate::liveness::suspects).
//!
//! Direct handoffs ([`handoff`](crate::sched::handoff)) repeat steps 3 to 7 without a decision between.
//!
//! # Length of an activation
//!
//! A node's `pace` is the smoothed time of a firing; its `batch` follows from the pace and holds the two limits of an
//! activation: the *budget*, in firings, and the *slice*, the firings after which it publishes. Workers write both
//! `Relaxed` and may overwrite each other: any value is a valid limit. `batch` packs the limits into one word, so that
//! a reader gets two that belong together.

use crate::liveness::search;
use crate::liveness::suspects::Suspects;
use crate::measure::account::Account;
use crate::measure::clock::{Laps, Part, Ticks, ticks};
use crate::measure::sampler::{SAMPLE, Sampler};
use crate::measure::service::{ALWAYS_MEASURED, Measured};
use crate::measure::waits;
use crate::net::{ActivationContext, By, NO_WORKER, Net, NodeCell};
use crate::sched::ending::fail_panic;
use crate::sched::host::EngineHost;
use crate::sched::injector;
use crate::sched::make_ready::{any_work, changed_by, deliver_pinned, make_all_ready, share};
use crate::sched::sleep::ParkOutcome;
use crate::sync::Ordering;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::AtomicU64;
use std::time::{Duration, Instant};
use thalweg_graph::{Kind, NodeId};
use thalweg_policy::{Decision, Event, Policy, WorkerId};
use thalweg_trace::What;

/// The target time of an activation of a sequential node, in nanoseconds.
const ACTIVATION_NS: u64 = 50_000;
/// The target time after which an activation of a sequential node publishes, in nanoseconds.
const SLICE_NS: u64 = 15_000;
/// The target time of a claim of a parallel node, in nanoseconds.
const CLAIM_NS: u64 = 60_000;
/// The least target time of a claim of a parallel node, in nanoseconds. A shorter one costs more than it gains, however
/// few items there are to share.
const MIN_CLAIM_NS: u64 = 5_000;
/// The ticks from which on every activation updates its node's pace: the update costs little beside it. Of shorter
/// activations one in 16 does.
const LONG_ACTIVATION: Ticks = 4096;
/// The time for which an idle worker spins before it announces sleep, in nanoseconds.
const SPIN_NS: u64 = 20_000;

/// How an activation's length is chosen.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Pace {
    /// By the measured time of a firing.
    Timed,
    /// By count, without a clock, so that a run of one worker can be repeated exactly.
    Counted,
}

/// Ends the run when dropped, and drops the nodes that are pinned to this worker. In this order: the pinned nodes are
/// dropped only when the run is over ([`coroutine`](crate::coroutine)).
struct EndOnDrop<'a>(&'a Net<'a>, WorkerId);

impl Drop for EndOnDrop<'_> {
    fn drop(&mut self) {
        let EndOnDrop(net, worker) = *self;
        net.finish();
        if net.sched.pins {
            crate::coroutine::leave(net, worker);
        }
    }
}

/// The settings that all workers of a run have.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WorkerConfig {
    pub(crate) pace: Pace,
    /// An idle worker spins before it announces sleep.
    pub(crate) spin: bool,
    /// A spinning worker yields its core: a dedicated thread that was woken may be waiting for one.
    pub(crate) yields: bool,
    /// The worker reads the clock after every activation.
    pub(crate) stamped: bool,
    /// The most events of a worker's timeline; 0 for none.
    pub(crate) timeline: usize,
    /// The time at which the run fails, and its distance from the start of the run, for the error.
    pub(crate) deadline: Option<(Instant, Duration)>,
}

/// The private half of a worker, which its thread owns. What other threads may access is in [`Net`].
pub(crate) struct Worker<'a, P: Policy> {
    pub(crate) host: EngineHost<'a, P::Shared>,
    pub(crate) policy: &'a P,
    /// The policy's state of this worker.
    pub(crate) local: P::Local,
    pub(crate) config: WorkerConfig,
    pub(crate) account: Account,
    /// The rate of the clock, as measured when the worker started.
    ticks_per_ns: f64,
    /// The worker was woken and has found no work since: see the table of states.
    searching: bool,
    /// Chooses the activations, handoffs included, that are measured more closely.
    pub(crate) sampler: Sampler,
    /// The ticks above which an activation is measured for itself: 0 if the run records a timeline.
    measured_above: Ticks,
    /// The wait that the current activation ends, if it is to be counted.
    waited: Option<waits::Ended>,
    /// The policy is notified of nodes that become claimable; otherwise it scans.
    notified: bool,
    /// The time of the next deadlock search, in ticks; never, if there are no suspects. See [`search`].
    search_at: Ticks,
    /// The graph has suspects: nodes that may be part of a deadlock while other nodes run.
    searches_deadlocks: bool,
    /// No activation since the worker's latest search while it slept; true also if the graph has no suspects. While
    /// false the worker sleeps for [`search::PATIENCE`] at most, and then searches once.
    has_searched: bool,
    suspects: Suspects,
    /// The time of the next check of the deadline, in ticks; never, if there is none.
    deadline_at: Ticks,
    /// The node whose body runs. A panic is attributed to it.
    pub(crate) running: Option<NodeId>,
    /// The process that the latest activation hands off to. This worker holds its token. See
    /// [`handoff`](crate::sched::handoff).
    pub(crate) handoff: Option<NodeId>,
    /// The number of activations that may still follow by handoff.
    pub(crate) handoffs_left: u32,
}

impl<'a, P: Policy> Worker<'a, P> {
    /// A worker that has not started. `host` and `local` are those that `Policy::start` was called with and returned.
    pub(crate) fn new(
        host: EngineHost<'a, P::Shared>,
        policy: &'a P,
        local: P::Local,
        config: WorkerConfig,
    ) -> Self {
        // Occupancy is seen at samples of the clock.
        let channels = if config.stamped { host.net.cells.meters.len() } else { 0 };
        let notified = host.net.sched.ready.notifies();
        let is_on = host.net.liveness.search.is_on();
        Worker {
            notified,
            host,
            policy,
            local,
            config,
            account: Account::new(channels),
            ticks_per_ns: crate::measure::clock::ticks_per_ns(),
            searching: false,
            sampler: Sampler::new(),
            measured_above: if config.timeline > 0 { 0 } else { ALWAYS_MEASURED },
            waited: None,
            search_at: if is_on { 0 } else { Ticks::MAX },
            searches_deadlocks: is_on,
            has_searched: !is_on,
            suspects: Suspects::default(),
            deadline_at: Ticks::MAX,
            running: None,
            handoff: None,
            handoffs_left: 0,
        }
    }

    /// Works until the run is over, on the calling thread. `late` is for a worker that was summoned: the start of the
    /// run, from which on it counts as parked.
    pub(crate) fn run(mut self, late: Option<(Instant, Ticks)>) -> Account {
        let net = self.host.net;
        // A worker leaves only at the end of the run, or by a panic, which must end it: the others wait for the end.
        let _over = EndOnDrop(net, self.host.worker);
        match late {
            Some(began) => {
                self.account.start_late(began);
                net.sleep.arrive(self.host.worker);
                self.searching = true;
            }
            None => self.account.start(),
        }
        let by = By::Worker(self.host.worker);
        let mut cx = ActivationContext::new(net, by);
        // One guard for all activations suffices, since the first panic ends the run. `running` says whose panic it is:
        // a node's fails the run, a policy's continues in the caller.
        if let Err(panic) = catch_unwind(AssertUnwindSafe(|| self.work(&mut cx))) {
            match self.running {
                Some(node) => fail_panic(net, node, panic),
                None => resume_unwind(panic),
            }
        }
        (self.account.steal_attempts, self.account.steals) = (self.host.steal_attempts, self.host.steals);
        self.account.recorder = self.host.recorder.take();
        self.account.finish();
        self.account
    }

    /// The worker's loop. Every iteration reads the stop flag, the clock's value and the injector, so none of them
    /// waits for longer than one decision: an activation, or a series of handoffs.
    fn work(&mut self, cx: &mut ActivationContext<'a>) {
        let net = self.host.net;
        let mut last = None;
        let mut now = ticks();
        self.deadline_at = self.deadline(now);
        while !net.stopped() {
            if now >= self.due() {
                self.run_timers(now);
            }
            injector::drain(net);
            self.host.now = now;
            match self.policy.next(&mut self.local, last, &mut self.host) {
                Decision::Activate(node) => {
                    // Before the activation: while the mark is set no other worker is woken.
                    if self.searching {
                        self.searching = false;
                        net.sleep.found();
                    }
                    let event;
                    (event, now) = self.activate(cx, node, now);
                    last = Some((node, event));
                    if let Some(next) = self.handoff.take() {
                        (last, now) = self.run_handoffs(cx, next, now);
                    }
                }
                // `last` is kept: `Policy::next` gets the same one again after `Idle`.
                Decision::Idle => now = self.idle(now),
            }
        }
    }

    /// The time, in ticks, from which on [`Worker::run_timers`] has something to do.
    #[inline]
    pub(crate) fn due(&self) -> Ticks {
        self.search_at.min(self.deadline_at)
    }

    /// The time of the next check of the deadline, in ticks. At most [`search::PATIENCE`] from `now`, since early in a
    /// process the rate of ticks is known to a few per cent only, and the error grows with the distance.
    fn deadline(&self, now: Ticks) -> Ticks {
        self.config.deadline.map_or(Ticks::MAX, |(at, _)| {
            let left = at.saturating_duration_since(Instant::now()).min(search::PATIENCE);
            now.saturating_add((left.as_nanos() as f64 * self.ticks_per_ns) as u64)
        })
    }

    /// Checks the deadline and searches for deadlocks, each if it is due at `now`.
    #[cold]
    fn run_timers(&mut self, now: Ticks) {
        if now > self.deadline_at {
            self.check_deadline();
            self.deadline_at = self.deadline(now);
        }
        if now >= self.search_at {
            let net = self.host.net;
            let next = self.suspects.look(net, now, search::period(self.ticks_per_ns));
            // A new time stamp: the time of the first search must not count towards the share of the second.
            self.search_at = next.min(search::search_if_due(net, ticks(), self.ticks_per_ns));
        }
    }

    /// Activates a node that the policy chose. `before` is the latest time stamp; returns the event and the stamp after
    /// the activation, which is `before` again where this activation is not stamped.
    #[inline]
    fn activate(&mut self, cx: &mut ActivationContext<'a>, node: NodeId, before: Ticks) -> (Event, Ticks) {
        let net = self.host.net;
        let cell = &net.cells.nodes[node.index()];
        // A policy may name any node. One without a body, or with a thread of its own, is no worker's to activate.
        let Some(body) = cell.body.as_ref().filter(|_| cell.dedicated.is_none()) else {
            return (Event::Done, before);
        };
        if !cell.try_pin(self.host.worker) {
            if self.notified {
                deliver_pinned(net, node, Some(self.host.worker));
            }
            return (Event::Refused, before);
        }
        self.has_searched = !self.searches_deadlocks;
        if self.notified {
            // While this worker searched, threads that pushed relied on it. So it owes a wake-up for what is left in
            // the queues.
            if net.sleep.wants_waking() && net.sched.ready.any() {
                net.sleep.wake_one();
            }
            self.note_move(cell);
        } else {
            share(net, node);
        }
        let is_sample = self.sampler.step();
        let sampled = self.config.stamped && is_sample;
        if sampled {
            cx.laps = Some(self.begin_sample(before));
        }
        if self.config.stamped
            && cell.state.enter()
            && waits::is_counted(cell, before, self.sampler.is_frequent())
        {
            self.waited = Some(waits::ended(cell, before));
        }
        cx.begin(node, &cell.state, self.batch(cell, node), cell.state.take_alert());
        self.running = Some(node);
        let event = body.activate(cx);
        self.running = None;
        let stamped = self.config.stamped || (self.searches_deadlocks && is_sample);
        let after = if stamped { ticks() } else { before };
        if sampled {
            self.end_sample(cx, after);
        }
        self.handoffs_left = self.handoffs_allowed();
        self.settle(cx, cell, event, if self.config.stamped { (before, after) } else { (0, 0) });
        (event, after)
    }

    /// Steps 5 to 7 of an activation that has ended with `event`. `span` is its beginning and its end in ticks, both 0
    /// where it was not stamped.
    #[inline(never)]
    pub(crate) fn settle(
        &mut self,
        cx: &mut ActivationContext<'_>,
        cell: &NodeCell<'_>,
        event: Event,
        span: (Ticks, Ticks),
    ) {
        if event == Event::Refused && cx.alerted {
            // This activation has cleared the alert, and the thread that holds the claim may have read the channels
            // before the alert was set. So the alert is set again, for the activation after the holder's.
            cell.state.alert.store(true, Ordering::Release);
        }
        self.note(cx, cell, event, span);
        if cx.laps.is_some() {
            self.measure(cx, event, span);
        }
        if let Some(waited) = self.waited.take()
            && event != Event::Refused
        {
            waits::count(cx.net, cx.node, waited);
        }
        if self.notified {
            self.notify(cx, cell, event);
        } else if cell.kind == Kind::Process && !matches!(event, Event::Refused | Event::Done) {
            changed_by(cx);
        }
        if matches!(event, Event::Full(_)) {
            self.suspect(cx.node, cell);
        }
    }

    /// Notes that the node waits for room. Where the policy is notified, the caller has fenced (in `notify`) since the
    /// wait word was written; where it scans, [`suspects`](crate::liveness::suspects) says how a missed node is found.
    #[inline]
    pub(crate) fn suspect(&mut self, node: NodeId, cell: &NodeCell<'_>) {
        if self.searches_deadlocks {
            self.suspects.note(node, &cell.state);
        }
    }

    /// Begins the laps of a sampled activation. The time since `before` counts as the scheduler's.
    #[cold]
    fn begin_sample(&mut self, before: Ticks) -> Laps {
        let start = ticks();
        self.account.scheduler_sample(start.saturating_sub(before));
        Laps::start(start)
    }

    /// Adds the laps of a sampled activation, and the occupancy of the node's channels, to the account. It ended at
    /// `after`.
    #[cold]
    fn end_sample(&mut self, cx: &mut ActivationContext<'_>, after: Ticks) {
        if let Some(laps) = &mut cx.laps {
            laps.lap(Part::Queue);
            self.account.lap_sample(laps);
        }
        for channel in cx.net.inputs(cx.node).iter().chain(cx.net.outputs(cx.node)) {
            let items = cx.net.meter(*channel).items();
            self.account.occupancy(*channel, items);
            if let Some(recorder) = &mut self.host.recorder {
                recorder.fill(after, *channel, items);
            }
        }
    }

    /// Notes this worker as the one that activated the node last, and counts a move if it was another. Only where the
    /// policy is notified; where it scans, only pinned nodes have a latest worker (`NodeCell::try_pin`).
    #[inline]
    fn note_move(&self, cell: &NodeCell<'_>) {
        let (last, me) = (cell.state.last.load(Ordering::Relaxed), self.host.worker as u32);
        if last == me {
            return;
        }
        cell.state.last.store(me, Ordering::Relaxed);
        if last != NO_WORKER && cell.kind != Kind::Parallel {
            // A load and a store suffice: this worker holds the node's only token, so it is the only writer.
            let moves = cell.state.moves.load(Ordering::Relaxed);
            cell.state.moves.store(moves + 1, Ordering::Relaxed);
        }
    }

    /// The budget of the node's next activation, and its slice: see the documentation of the module. In firings.
    #[inline]
    pub(crate) fn batch(&self, cell: &NodeCell<'_>, node: NodeId) -> (usize, usize) {
        match cell.state.batch.load(Ordering::Relaxed) {
            0 => self.first_batch(cell, node),
            batch => {
                let (budget, slice) = ((batch >> 32) as usize, (batch & u64::from(u32::MAX)) as usize);
                (budget, if cell.kind == Kind::Parallel { self.claim_size(cell, node, slice) } else { slice })
            }
        }
    }

    /// The most firings of a claim of a parallel node: half of a worker's equal share of the items that have arrived,
    /// so that all workers end at about the same time, but no less than [`MIN_CLAIM_NS`] of work. This is guided
    /// self-scheduling (Polychronopoulos and Kuck, 1987) with half of its share.
    #[inline(never)] // once for a claim; inlined it would slow the activations of processes
    fn claim_size(&self, cell: &NodeCell<'_>, node: NodeId, slice: usize) -> usize {
        let pace = u64::from(cell.state.pace.load(Ordering::Relaxed));
        let least = MIN_CLAIM_NS * 16 / pace.max(1);
        if self.config.pace == Pace::Counted || slice as u64 <= least {
            return slice;
        }
        let net = self.host.net;
        let items = net.inputs(node).iter().map(|input| net.meter(*input).items()).min();
        let share = items.map_or(usize::MAX, |items| items / (2 * net.threads()));
        slice.min(share.max(least as usize)).max(1)
    }

    /// The limits of a node that has no `batch` yet: one firing, to measure its pace; or by the plan, without a clock.
    #[cold]
    #[inline(never)]
    fn first_batch(&self, cell: &NodeCell<'_>, node: NodeId) -> (usize, usize) {
        if self.config.pace == Pace::Timed {
            return (1, 1);
        }
        let plan = &self.host.net.topology.plan;
        let claim = plan.claim_lengths[node.index()].clamp(1, 1 << 29);
        let budget = (claim * 4).min(plan.batch.max(1));
        let slice = claim.min(budget);
        cell.state.batch.store((budget as u64) << 32 | slice as u64, Ordering::Relaxed);
        (budget, slice)
    }

    /// Adds an activation to the worker's account and to the node's statistics. Before the token is released.
    #[inline(always)]
    fn note(
        &mut self,
        cx: &mut ActivationContext<'_>,
        cell: &NodeCell<'_>,
        event: Event,
        span: (Ticks, Ticks),
    ) {
        let account = &mut self.account;
        account.busy += span.1.saturating_sub(span.0);
        account.activations += 1;
        account.refused += u64::from(event == Event::Refused);
        // A parallel node has a token for each worker, and a policy that scans has no tokens: then other workers may
        // write too.
        self.note_firings(cx, cell, event, span, self.notified && cell.kind != Kind::Parallel);
    }

    /// Adds an activation to the node's statistics, and updates its pace. `exclusive` says that this worker is the only
    /// writer, because it holds the node's only token; otherwise each addition is a read-modify-write.
    #[inline(always)]
    pub(crate) fn note_firings(
        &mut self,
        cx: &mut ActivationContext<'_>,
        cell: &NodeCell<'_>,
        event: Event,
        (before, after): (Ticks, Ticks),
        exclusive: bool,
    ) {
        if self.config.stamped {
            if event != Event::Refused {
                cell.state.since.store(after, Ordering::Relaxed);
            }
            // A node with one token is not parallel.
            if !exclusive {
                cell.state.leave(|| cx.net.missing(cx.node));
            }
        }
        if after.saturating_sub(before) > self.measured_above {
            self.measure(cx, event, (before, after));
        }
        if cx.fired == 0 {
            return;
        }
        let spent = after.saturating_sub(before);
        let add = |counter: &AtomicU64, more: u64| match exclusive {
            true => counter.store(counter.load(Ordering::Relaxed) + more, Ordering::Relaxed),
            false => _ = counter.fetch_add(more, Ordering::Relaxed),
        };
        add(&cell.state.firings, cx.fired as u64);
        add(&cell.state.activations, 1);
        if spent > 0 {
            add(&cell.state.busy, spent);
        }
        // A budget of 1 is that of a node without a pace. Without time stamps the pace is never known, and the limits
        // are those of the plan (`Options::unaccounted` implies `counted`).
        if self.config.stamped
            && self.config.pace == Pace::Timed
            && (spent > LONG_ACTIVATION || cx.budget == 1 || (spent > 0 && self.sampler.is_frequent()))
        {
            self.set_pace(cell, cx, spent);
        }
    }

    /// Adds a stamped activation to the timeline, and to the service times of its node if it is long or a sample.
    #[cold]
    #[inline(never)]
    fn measure(&mut self, cx: &mut ActivationContext<'_>, event: Event, (before, after): (Ticks, Ticks)) {
        if let Some(recorder) = &mut self.host.recorder {
            recorder.activation(cx.node, cx.fired, event, (before, after));
        }
        let (laps, fired, spent) = (cx.laps.take(), cx.fired, after.saturating_sub(before));
        let always = spent > ALWAYS_MEASURED;
        if fired == 0 || !(always || laps.is_some()) {
            return;
        }
        let ns = |ticks: Ticks| ticks as f64 / self.ticks_per_ns;
        let firing = laps.map(|laps| {
            let (of, spent) = laps.measured.unwrap_or((fired, laps.application));
            (ns(spent) / of as f64, (fired as u64).saturating_mul(u64::from(SAMPLE)))
        });
        let measured = Measured { ns: ns(spent), fired, always, firing };
        self.account.services.add(cx.net.cells.nodes.len(), cx.node, measured);
    }

    /// Updates the node's pace, in sixteenths of a nanosecond for each firing, and the limits that follow from it.
    ///
    /// The new pace is three parts old and one part measured. A measurement counts for at most eight times the old
    /// pace, so an outlier raises the pace by less than a factor of 3.
    #[cold]
    fn set_pace(&self, cell: &NodeCell<'_>, cx: &ActivationContext<'_>, spent: Ticks) {
        let state = &cell.state;
        let each = ((spent as f64 / self.ticks_per_ns) * 16.0 / cx.fired as f64) as u64 + 1;
        let old = u64::from(state.pace.load(Ordering::Relaxed));
        let pace = if old == 0 { each } else { (old * 3 + each.min(old * 8)) / 4 }.max(1);
        state.pace.store(pace.min(u64::from(u32::MAX)) as u32, Ordering::Relaxed);
        let plan = &cx.net.topology.plan;
        let claim = (plan.claim_lengths[cx.node.index()] as u64).clamp(1, u64::from(u32::MAX));
        let batch = (plan.batch as u64).clamp(1, u64::from(u32::MAX));
        let budget = (ACTIVATION_NS * 16 / pace).clamp(1, batch);
        let time = if cell.kind == Kind::Parallel { CLAIM_NS } else { SLICE_NS };
        let slice = (time * 16 / pace).clamp(1, claim.min(batch));
        state.batch.store(budget << 32 | slice, Ordering::Relaxed);
    }

    /// Spins, and then sleeps, until there may be work. Returns the time, in ticks; the time since `before` counts as
    /// idle.
    ///
    /// The order matters: announce, fence (in `announce`), check for work, commit. See [`sleep`](crate::sched::sleep).
    #[cold]
    fn idle(&mut self, before: Ticks) -> Ticks {
        let net = self.host.net;
        let affinity = net.sched.ready.affinity();
        affinity.inspect(|affinity| affinity.idle_begin(self.host.worker, before));
        self.account.spins += 1;
        let mut parked = false;
        if !self.spin_for_work() && !net.stopped() {
            // A sleeping worker searches from all suspects (`park`), so others may note these from now on.
            self.suspects.clear(net);
            net.sleep.announce(self.host.worker, self.searching);
            self.searching = false;
            let start = self.host.worker;
            if any_work(net, start) || net.stopped() {
                self.searching = net.sleep.withdraw(self.host.worker);
            } else {
                self.park(before);
                parked = true;
            }
        }
        let now = ticks();
        affinity.inspect(|affinity| affinity.idle_end(self.host.worker, now));
        self.account.idle += now.saturating_sub(before);
        if !parked {
            self.record(before, What::Spin { ns: now.saturating_sub(before) });
        }
        now
    }

    /// Checks for work until there is some (true), the run stops (true), or the time for spinning is over (false). At
    /// least one check.
    fn spin_for_work(&self) -> bool {
        let net = self.host.net;
        let until = ticks() + (SPIN_NS as f64 * self.ticks_per_ns) as u64;
        loop {
            if net.stopped() || any_work(net, self.host.worker) {
                return true;
            }
            if !self.config.spin || ticks() > until {
                return false;
            }
            if self.config.yields {
                std::thread::yield_now();
            }
            for _ in 0..32 {
                std::hint::spin_loop();
            }
        }
    }

    /// Commits to sleep, after `announce` and a check that found no work; the worker has spun since `before`. If this thread is the last one active, it
    /// examines the graph, and makes ready what the examination has made claimable.
    fn park(&mut self, before: Ticks) {
        let net = self.host.net;
        let deadline = self.config.deadline.map(|(at, _)| at.saturating_duration_since(Instant::now()));
        let patience = (!self.has_searched).then_some(search::PATIENCE);
        let timeout = [deadline, patience].into_iter().flatten().min();
        self.account.parks += 1;
        let from = ticks();
        let woken = net.sleep.commit(self.host.worker, timeout, || crate::liveness::quiesce::examine(net));
        let parked = ticks().saturating_sub(from);
        self.account.parked += parked;
        self.record(before, What::Spin { ns: from.saturating_sub(before) });
        self.record(from, What::Park { ns: parked });
        match woken {
            ParkOutcome::Rung => self.searching = true,
            ParkOutcome::Over => {}
            ParkOutcome::Resumed => make_all_ready(net),
            ParkOutcome::TimedOut => {
                self.check_deadline();
                if !self.has_searched {
                    self.has_searched = true;
                    search::sweep(net);
                }
            }
        }
    }

    /// Adds an event to the timeline, if the run records one. Lengths are in ticks.
    fn record(&mut self, at: Ticks, what: What) {
        if let Some(recorder) = &mut self.host.recorder {
            recorder.add(at, what);
        }
    }

    /// Fails the run if its deadline has passed.
    fn check_deadline(&self) {
        if let Some((at, given)) = self.config.deadline
            && Instant::now() >= at
        {
            self.host.net.fail(crate::Error::Deadline(given));
        }
    }
}
