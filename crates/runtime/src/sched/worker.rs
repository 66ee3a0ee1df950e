//! A worker: it asks the policy for a node, activates the node, accounts for the time, and sleeps when the policy has
//! no node.
//!
//! # States
//!
//! | worker is | `searching` | entered by | left by |
//! |---|---|---|---|
//! | searching | true | a wake-up (`ParkOutcome::Rung`), or the arrival of a summoned thread | its first activation, which calls `Sleep::found`; or `announce` |
//! | working | false | an activation | `Decision::Idle` |
//! | spinning | either | `Decision::Idle` | work that it may do; or the end of [`SPIN_NS`](crate::sched::idle::SPIN_NS) |
//! | announced | false | `Sleep::announce` | `withdraw`, if work was found after the announcement; or `commit` |
//! | parked | false | `Sleep::commit`, also right after `Sleep::stand_down` | a wake-up, the timeout, or the end of the run |
//!
//! [`sleep`](crate::sched::sleep) argues why no wake-up is lost between these states.
//!
//! # One activation, in order
//!
//! 1. `NodeCell::try_pin`. If the node is pinned to another worker, that worker gets the token. If a pinned node waits
//!    for this worker and another worker is free, the node may be left to that one ([`pass_on`](crate::sched::pass_on)).
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
//! | file | the worker's |
//! |---|---|
//! | [`pace`](crate::sched::pace) | lengths of activations |
//! | [`statistics`](crate::sched::statistics) | measurements of activations |
//! | [`idle`](crate::sched::idle) | spinning and sleep |

use crate::liveness::search;
use crate::liveness::suspects::Suspects;
use crate::measure::account::Account;
use crate::measure::clock::{Ticks, ticks};
use crate::measure::sampler::Sampler;
use crate::measure::service::ALWAYS_MEASURED;
use crate::measure::waits;
use crate::net::{ActivationContext, By, Net, NodeCell};
use crate::sched::ending::fail_panic;
use crate::sched::host::EngineHost;
use crate::sched::injector;
use crate::sched::make_ready::{changed_by, deliver_pinned, found, share};
use crate::sched::pace::Pace;
use crate::sched::roaming::Beyond;
use crate::sched::widen;
use crate::sync::Ordering;
use crate::team::Running;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::time::{Duration, Instant};
use thalweg_graph::{ChannelId, Kind, NodeId};
use thalweg_policy::width::{EPOCH_NS, WARM_NS};
use thalweg_policy::{Decision, Event, Measurements, Policy, WorkerId};

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
    /// The run tries widths.
    pub(crate) adapts: bool,
    /// The plan's shares decide the lengths of claims.
    pub(crate) shares: bool,
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
    pub(super) ticks_per_ns: f64,
    /// The worker was woken and has found no work since: see the table of states.
    pub(super) searching: bool,
    /// Chooses the activations, handoffs included, that are measured more closely.
    pub(crate) sampler: Sampler,
    /// The ticks above which an activation is measured for itself: 0 if the run records a timeline.
    pub(super) measured_above: Ticks,
    /// The wait that the current activation ends, if it is to be counted.
    pub(super) waited: Option<waits::Ended>,
    /// The policy is notified of nodes that become claimable; otherwise it scans.
    pub(super) notified: bool,
    /// The worker may be beyond the limit: see [`bounds`](crate::sched::sleep::bounds).
    pub(super) is_beyond: bool,
    /// Whether this worker may pass nodes on: see [`pass_on`](crate::sched::pass_on).
    passes_on: bool,
    /// The time of the next deadlock search, in ticks; never, if there are no suspects. See [`search`].
    search_at: Ticks,
    /// The graph has suspects: nodes that may be part of a deadlock while other nodes run.
    pub(super) searches_deadlocks: bool,
    /// No activation since the worker's latest search while it slept; true also if the graph has no suspects. While
    /// false the worker sleeps for [`search::PATIENCE`] at most, and then searches once.
    pub(super) has_searched: bool,
    pub(super) suspects: Suspects,
    /// The time of the next check of the deadline, in ticks; never, if there is none.
    deadline_at: Ticks,
    /// The time of the next step of the trials of the run's width, in ticks; never, if it is fixed.
    width_at: Ticks,
    /// The time of the next decision whether workers wait for the turn of their items, in ticks; never, if they carry none on.
    carrying_at: Ticks,
    /// The node whose body runs. A panic is attributed to it, and so are loops and task graphs.
    pub(crate) running: &'a Running,
    /// The process that the latest activation hands off to. This worker holds its token. See
    /// [`handoff`](crate::sched::handoff).
    pub(crate) handoff: Option<NodeId>,
    /// The number of activations that may still follow by handoff.
    pub(crate) handoffs_left: u32,
    /// Slices cut to one firing since this worker has last appointed a looker: see [`look`](crate::sched::look).
    pub(super) slices_cut: u32,
}

impl<'a, P: Policy> Worker<'a, P> {
    /// A worker that has not started. `host` and `local` are those that `Policy::start` was called with and returned.
    pub(crate) fn new(
        host: EngineHost<'a, P::Shared>,
        policy: &'a P,
        local: P::Local,
        config: WorkerConfig,
    ) -> Self {
        let notified = host.net.sched.ready.notifies();
        let is_on = host.net.liveness.search.is_on();
        let running = &host.net.team.running[host.worker];
        Worker {
            notified,
            passes_on: notified
                && host.net.sched.pins
                && host.net.threads() > 1
                && host.net.sched.ready.affinity().is_none(),
            host,
            policy,
            local,
            config,
            account: Account::new(),
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
            width_at: Ticks::MAX,
            carrying_at: Ticks::MAX,
            running,
            handoff: None,
            handoffs_left: 0,
            slices_cut: 0,
            is_beyond: false,
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
                (self.searching, self.is_beyond) = (true, !net.sched.roaming.is_empty());
            }
            None => self.account.start(),
        }
        let by = By::Worker(self.host.worker);
        let mut cx = ActivationContext::new(net, by);
        cx.timed &= self.config.pace == Pace::Timed;
        cx.set_deadline(self.config.deadline.map(|(at, _)| at));
        if let (Some(waits), Some(_)) = (&mut cx.tickets, &self.host.recorder) {
            waits.keep_spans();
        }
        cx.turn.carrier = self.host.carries.then_some(self.host.worker);
        // One guard for all activations suffices, since the first panic ends the run. `running` says whose panic it is:
        // a node's fails the run, a policy's continues in the caller.
        let worker = self.host.worker;
        let work = || crate::team::as_worker(&net.signals, worker, || self.work(&mut cx));
        if let Err(panic) = catch_unwind(AssertUnwindSafe(work)) {
            match self.running.node() {
                Some(node) => fail_panic(net, node, panic),
                None => resume_unwind(panic),
            }
        }
        (self.account.steal_attempts, self.account.steals) = (self.host.steal_attempts, self.host.steals);
        self.account.recorder = self.host.recorder.take();
        self.account.dilation =
            cx.dilation.as_ref().map_or_else(Default::default, |dilation| dilation.totals);
        self.account.tickets = cx.tickets.as_ref().map_or_else(Default::default, |waits| waits.totals);
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
        if self.config.adapts {
            self.width_at = self.after(now, WARM_NS);
        }
        // Without a clock no node has a pace. Where the policy is notified, it always waits.
        if self.host.carries && self.config.pace == Pace::Timed && !self.notified {
            self.carrying_at = self.after(now, WARM_NS);
        }
        while !net.stopped() {
            if now >= self.due() {
                self.run_timers(now);
            }
            injector::drain(net);
            let beyond = if self.is_beyond { self.beyond_limit(&mut now) } else { None };
            let exceeds_width =
                self.config.adapts && net.sleep.has_excess() && self.host.worker >= net.sleep.width();
            let decision = match beyond {
                Some(Beyond::Slept) => continue,
                Some(Beyond::Fires(source)) => Decision::Activate(source),
                None if exceeds_width && self.has_carried() && self.stand_down(&mut now, false) => continue,
                None => {
                    self.host.now = now;
                    // The decision before a sampled activation: of others the time of steals is not known.
                    let is_sampled = self.config.stamped && self.sampler.plain() == 0;
                    self.host.stealing = is_sampled.then_some(0);
                    self.policy.next(&mut self.local, last, &mut self.host)
                }
            };
            match decision {
                Decision::Activate(node) => {
                    // Before the activation: while the mark is set no other worker is woken.
                    if self.searching {
                        self.searching = false;
                        found(net, self.host.worker, Some(node));
                    }
                    let event;
                    (event, now) = self.activate(cx, node, now);
                    last = Some((node, event));
                    if let Some(next) = self.handoff.take() {
                        (last, now) = self.run_handoffs(cx, next, now);
                    }
                }
                // `last` is kept: `Policy::next` gets the same one again after `Idle`.
                Decision::Idle if net.team.arena.any() => now = self.help(now),
                Decision::Idle => now = self.idle(now),
            }
        }
    }

    /// The time, in ticks, from which on [`Worker::run_timers`] has something to do.
    #[inline]
    pub(crate) fn due(&self) -> Ticks {
        self.search_at.min(self.deadline_at).min(self.width_at).min(self.carrying_at)
    }

    /// The time `ns` after `now`, in ticks.
    fn after(&self, now: Ticks, ns: u64) -> Ticks {
        now.saturating_add((ns as f64 * self.ticks_per_ns) as Ticks)
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
        if now >= self.width_at {
            self.width_at = self.host.net.sched.width.step(self.host.net, now, self.ticks_per_ns);
        }
        if now >= self.carrying_at {
            self.host.net.sched.carrying.decide(self.host.net);
            self.carrying_at = self.after(now, EPOCH_NS);
        }
        if now >= self.search_at {
            let net = self.host.net;
            let next = self.suspects.look(net, now, search::period(self.ticks_per_ns));
            // A new time stamp: the time of the first search must not count towards the share of the second.
            self.search_at = next.min(search::search_if_due(net, ticks(), self.ticks_per_ns));
        }
    }

    /// Whether this worker may stand down: no other one waits for it to take items that it would carry on.
    fn has_carried(&self) -> bool {
        !self.host.carries || !self.host.waits() || !thalweg_policy::auto::any_waiting(&self.host)
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
        if self.passes_on && self.pass_on(cell, node) {
            return (Event::Refused, before);
        }
        self.has_searched = !self.searches_deadlocks;
        if self.notified {
            // While this worker searched, threads that pushed relied on it. So it owes a wake-up for what is left in
            // the queues, and for a job that is open.
            if net.sleep.wants_waking() && (net.sched.ready.any() || net.team.arena.any()) {
                net.sleep.wake_one();
            }
            self.note_move(cell, node);
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
        let batch = self.watched(cell.kind, self.batch(cell, node));
        let batch = self.at_once(cell, batch);
        let next = self.next_items(node);
        let batch = self.up_to_another(cell.kind, next, batch);
        cx.begin(node, &cell.state, batch, cell.state.take_alert());
        self.running.begin(node, cell.kind == Kind::Parallel);
        let event = body.activate(cx);
        self.running.end();
        let before = self.note_tickets(cx, before);
        self.is_beyond |= cx.was_long;
        if let Some(next) = next {
            self.count_crossed(next, cx.fired);
        }
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
        let waited =
            self.waited.take().filter(|_| event != Event::Refused).map(|waited| waited.corrected(cell));
        self.note(cx, cell, event, span);
        if cx.laps.is_some() {
            self.measure(cx, event, span);
        }
        if let Some(waited) = waited {
            waits::count(cx.net, cx.node, waited);
        }
        if self.notified {
            self.notify(cx, cell, event);
        } else if cell.kind == Kind::Process && !matches!(event, Event::Refused | Event::Done) {
            changed_by(cx);
        }
        if let Event::Full(channel) = event {
            self.suspect(cx.node, cell, channel);
        }
    }

    /// Notes that the node waits for room, and widens the channel if it may. Where the policy is notified, the caller has fenced
    /// (in `notify`) since the wait word was written; where it scans, [`suspects`](crate::liveness::suspects) says how a missed node is found.
    #[inline]
    pub(crate) fn suspect(&mut self, node: NodeId, cell: &NodeCell<'_>, full: ChannelId) {
        widen::note_full(self.host.net, full, cell);
        if self.searches_deadlocks {
            self.suspects.note(node, &cell.state);
        }
    }

    /// Fails the run if its deadline has passed.
    pub(super) fn check_deadline(&self) {
        if let Some((at, given)) = self.config.deadline
            && Instant::now() >= at
        {
            self.host.net.fail(crate::Error::Deadline(given));
        }
    }
}
