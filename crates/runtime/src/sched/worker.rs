//! A worker: asks the policy for a node, activates it, accounts for it, and sleeps when the policy has none.

use crate::liveness::search;
use crate::liveness::suspects::Suspects;
use crate::measure::account::Account;
use crate::measure::clock::{Laps, SAMPLE, Ticks, ticks};
use crate::net::{By, Cx, NO_WORKER, Net, NodeCell};
use crate::sched::affinity::Affinity;
use crate::sched::ending::fail_panic;
use crate::sched::handoff::CLOSELY;
use crate::sched::injector;
use crate::sched::make_ready::changed_by;
use crate::sched::make_ready::{any_work, deliver_pinned, enqueue_at, has_token, make_all_ready, share};
use crate::sched::ready::Ready;
use crate::sched::sleep::ParkOutcome;
use crate::sync::{Mutex, Ordering};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::AtomicU64;
use std::time::{Duration, Instant};
use thalweg_graph::{ChannelId, GraphData, Kind, NodeId};
use thalweg_policy::random::XorShift;
use thalweg_policy::{Decision, End, Event, Host, Measurements, Occupancy, Policy, WorkerId};

/// Time an activation of a sequential node may take.
const ACTIVATION_NS: u64 = 50_000;
/// Time after which an activation of a sequential node publishes.
const SLICE_NS: u64 = 15_000;
/// Time that a claim of a parallel node is made for.
const CLAIM_NS: u64 = 60_000;
/// Time that a claim of a parallel node is worth, however little there is to be shared.
const LEAST_NS: u64 = 5_000;
/// Firings in an activation at most, however short they are.
const MOST: u64 = 1 << 14;
/// Ticks of an activation so long that noting its pace costs nothing beside it; of shorter ones
/// some are noted.
const LONG: Ticks = 4096;
/// Activations between time stamps where nothing but the search for waiting cycles needs them.
pub(crate) const UNSTAMPED: u32 = 64;
/// How long an idle worker looks for work before it sleeps.
const SPIN_NS: u64 = 20_000;

/// How an activation's length is chosen.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Pace {
    /// By the time firings were seen to take.
    Timed,
    /// By count alone, so that a run of one worker can be repeated exactly.
    Counted,
}

/// The engine as a policy sees it.
pub(crate) struct EngineHost<'a, S> {
    pub(crate) net: &'a Net<'a>,
    /// The state that the policy's workers share.
    pub(crate) shared: &'a Mutex<S>,
    pub(crate) worker: WorkerId,
    pub(crate) random: XorShift,
    pub(crate) steals: u64,
    /// Whether the next pop tries the queue of pinned nodes first; alternates.
    pub(crate) pinned_first: bool,
    /// When the worker's latest activation or rest ended.
    pub(crate) now: Ticks,
    /// The policy is starting: the nodes that have a token count as claimable. What other threads change
    /// meanwhile is reported afterwards ([`begin_notifying`](crate::sched::make_ready::begin_notifying)).
    pub(crate) starting: bool,
}

impl<S> EngineHost<'_, S> {
    /// Pops from the two queues in turn, so that neither waits for the other to be empty.
    fn pop_in_turn(
        &mut self,
        others: impl Fn(&Ready) -> Option<NodeId>,
        pinned: impl Fn(&Ready) -> Option<NodeId>,
    ) -> Option<NodeId> {
        let ready = &self.net.sched.ready;
        if !self.net.sched.pins {
            return others(ready);
        }
        self.pinned_first = !self.pinned_first;
        match self.pinned_first {
            true => pinned(ready).or_else(|| others(ready)),
            false => others(ready).or_else(|| pinned(ready)),
        }
    }
}

impl<S> Measurements for EngineHost<'_, S> {
    fn occupancy(&self, channel: ChannelId) -> Occupancy {
        let meter = self.net.meter(channel);
        Occupancy { items: meter.items(), capacity: meter.capacity() }
    }

    fn last_worker(&self, node: NodeId) -> Option<WorkerId> {
        self.net.node(node).state.last_worker()
    }

    fn now(&self) -> u64 {
        self.net.sched.ready.affinity().map_or(0, |affinity| affinity.time(self.now))
    }

    fn idle_time(&self) -> u64 {
        self.net.sched.ready.affinity().map_or(0, Affinity::idle)
    }

    fn busy_time(&self, node: NodeId) -> u64 {
        let busy = self.net.node(node).state.busy.load(Ordering::Relaxed);
        self.net.sched.ready.affinity().map_or(0, |affinity| affinity.ns(busy))
    }

    fn traffic(&self, channel: ChannelId) -> u64 {
        self.net.meter(channel).tail() as u64
    }
}

impl<S> Host<S> for EngineHost<'_, S> {
    fn graph(&self) -> &GraphData {
        &self.net.topology.graph
    }

    fn workers(&self) -> usize {
        self.net.threads()
    }

    fn random(&mut self) -> u64 {
        self.random.number()
    }

    fn claimable(&self, node: NodeId) -> bool {
        let claimable = match self.starting {
            true => has_token(self.net, node),
            false => self.net.claimable(node),
        };
        claimable && self.net.may_run(node, self.worker)
    }

    fn push(&mut self, to: WorkerId, node: NodeId) {
        if deliver_pinned(self.net, node, Some(self.worker)) {
            return;
        }
        let affine = self.net.sched.ready.affinity().is_some();
        if affine && to != self.worker {
            return enqueue_at(self.net, to, node);
        }
        self.net.sched.ready.push(to, node);
        if !affine && self.net.sched.ready.notifies() && self.net.sleep.wants_waking() {
            self.net.sleep.wake_one();
        }
    }

    fn pop(&mut self, end: End) -> Option<NodeId> {
        let worker = self.worker;
        match end {
            End::Oldest => self.pop_in_turn(|ready| ready.pop(worker), |ready| ready.pop_pinned(worker)),
            End::Newest => {
                self.pop_in_turn(|ready| ready.pop_newest(worker), |ready| ready.pop_newest_pinned(worker))
            }
        }
    }

    fn steal(&mut self, from: WorkerId) -> Option<NodeId> {
        let stolen = self.net.sched.ready.steal(from);
        self.steals += u64::from(stolen.is_some());
        stolen
    }

    fn affinity(&self, node: NodeId) -> Option<WorkerId> {
        self.net.sched.ready.affinity()?.of(node)
    }

    fn set_affinity(&mut self, node: NodeId, worker: WorkerId) {
        if let Some(affinity) = self.net.sched.ready.affinity() {
            affinity.set(node, worker);
        }
    }

    fn try_shared<R>(&mut self, act: impl FnOnce(&mut S, &mut Self) -> R) -> Option<R> {
        let mut shared = self.shared.try_lock().ok()?;
        Some(act(&mut shared, self))
    }
}

/// Ends the run when dropped, and what must end on this worker.
struct Over<'a>(&'a Net<'a>, WorkerId);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        let Over(net, worker) = *self;
        net.finish();
        if net.sched.pins {
            crate::coroutine::leave(net, worker);
        }
    }
}

/// How the workers of a run go about it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Habits {
    pub(crate) pace: Pace,
    /// Look for work a while before going to sleep.
    pub(crate) spin: bool,
    /// Offer the core to others meanwhile: some nodes have threads of their own, which may have been woken and wait
    /// for it.
    pub(crate) yields: bool,
    /// Read the clock after every activation.
    pub(crate) stamped: bool,
    /// When the run is to end, and how long that was from its start.
    pub(crate) deadline: Option<(Instant, Duration)>,
}

/// One worker's private half.
pub(crate) struct Worker<'a, P: Policy> {
    pub(crate) host: EngineHost<'a, P::Shared>,
    pub(crate) policy: &'a P,
    pub(crate) local: P::Local,
    pub(crate) habits: Habits,
    pub(crate) account: Account,
    ticks_per_ns: f64,
    searching: bool,
    pub(crate) count: u32,
    /// The policy is notified of what becomes claimable.
    notified: bool,
    /// When to search for cycles that wait: see [`search`].
    look_at: Ticks,
    /// The graph has suspects, so such cycles may exist.
    looks: bool,
    /// It has looked since it last slept, or there is nothing to look for.
    looked: bool,
    suspects: Suspects,
    /// The deadline, in ticks.
    ends_at: Ticks,
    /// The node that is being activated.
    pub(crate) running: Option<NodeId>,
    /// The process that the latest activation hands off to, if any, and how many activations may follow so: see
    /// [`handoff`](crate::sched::handoff).
    pub(crate) handoff: Option<NodeId>,
    pub(crate) handoffs_left: u32,
}

impl<'a, P: Policy> Worker<'a, P> {
    pub(crate) fn new(
        host: EngineHost<'a, P::Shared>,
        policy: &'a P,
        local: P::Local,
        habits: Habits,
    ) -> Self {
        // Occupancy is seen at samples of the clock.
        let channels = if habits.pace == Pace::Timed { host.net.cells.meters.len() } else { 0 };
        let notified = host.net.sched.ready.notifies();
        let is_on = host.net.liveness.search.is_on();
        Worker {
            notified,
            host,
            policy,
            local,
            habits,
            account: Account::new(channels),
            ticks_per_ns: crate::measure::clock::ticks_per_ns(),
            searching: false,
            count: 0,
            look_at: if is_on { 0 } else { Ticks::MAX },
            looks: is_on,
            looked: !is_on,
            suspects: Suspects::default(),
            ends_at: Ticks::MAX,
            running: None,
            handoff: None,
            handoffs_left: 0,
        }
    }

    /// Works until the run is over. `late`, for a worker that was summoned: when the run began.
    pub(crate) fn run(mut self, late: Option<(Instant, Ticks)>) -> Account {
        let net = self.host.net;
        // However this worker ends, the run must not wait for it.
        let _over = Over(net, self.host.worker);
        match late {
            Some(began) => {
                self.account.start_late(began);
                net.sleep.arrive(self.host.worker);
                self.searching = true;
            }
            None => self.account.start(),
        }
        let by = By::Worker(self.host.worker);
        let mut cx = Cx::new(net, by);
        // Once, and not for each activation: the first panic ends the run.
        if let Err(panic) = catch_unwind(AssertUnwindSafe(|| self.work(&mut cx))) {
            match self.running {
                Some(node) => fail_panic(net, node, panic),
                None => resume_unwind(panic),
            }
        }
        self.account.steals = self.host.steals;
        self.account.finish();
        self.account
    }

    fn work(&mut self, cx: &mut Cx<'a>) {
        let net = self.host.net;
        let mut last = None;
        let mut now = ticks();
        self.ends_at = self.deadline(now);
        while !net.stopped() {
            if now >= self.due() {
                self.on_time(now);
            }
            injector::drain(net);
            self.host.now = now;
            match self.policy.next(&mut self.local, last, &mut self.host) {
                Decision::Activate(node) => {
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
                // `last` stays: the policy is asked again with it.
                Decision::Idle => now = self.idle(now),
            }
        }
    }

    /// When the clock asks for something.
    #[inline]
    pub(crate) fn due(&self) -> Ticks {
        self.look_at.min(self.ends_at)
    }

    /// When to look at the deadline, in ticks: not far from now, for early in a process the rate of ticks is
    /// known to a few per cent only.
    fn deadline(&self, now: Ticks) -> Ticks {
        self.habits.deadline.map_or(Ticks::MAX, |(at, _)| {
            let left = at.saturating_duration_since(Instant::now()).min(search::PATIENCE);
            now.saturating_add((left.as_nanos() as f64 * self.ticks_per_ns) as u64)
        })
    }

    /// What is due by the clock.
    #[cold]
    fn on_time(&mut self, now: Ticks) {
        if now > self.ends_at {
            self.check_deadline();
            self.ends_at = self.deadline(now);
        }
        if now >= self.look_at {
            let net = self.host.net;
            let next = self.suspects.look(net, now, search::period(self.ticks_per_ns));
            // The time that took is not the other's.
            self.look_at = next.min(search::search_if_due(net, ticks(), self.ticks_per_ns));
        }
    }

    /// One activation, from the time stamp of the last to its own.
    #[inline]
    fn activate(&mut self, cx: &mut Cx<'a>, node: NodeId, before: Ticks) -> (Event, Ticks) {
        let net = self.host.net;
        let cell = &net.cells.nodes[node.index()];
        let Some(body) = cell.body.as_ref().filter(|_| cell.dedicated.is_none()) else {
            return (Event::Done, before);
        };
        if !cell.try_pin(self.host.worker) {
            if self.notified {
                deliver_pinned(net, node, Some(self.host.worker));
            }
            return (Event::Refused, before);
        }
        self.looked = !self.looks;
        if self.notified {
            // This worker may have been the searching one: wake another for what is left in the queues.
            if net.sleep.wants_waking() && net.sched.ready.any() {
                net.sleep.wake_one();
            }
            self.note_move(cell);
        } else {
            share(net, node);
        }
        self.count = self.count.wrapping_add(1);
        // Not the first: a worker's first activation finds everything cold.
        let sampled = self.count % SAMPLE == CLOSELY && self.habits.pace == Pace::Timed;
        if sampled {
            cx.laps = Some(self.begin_sample(before));
        }
        cx.begin(node, &cell.state, self.batch(cell, node), cell.state.take_alert());
        self.running = Some(node);
        let event = body.activate(cx);
        self.running = None;
        let stamped = self.habits.stamped || (self.looks && self.count.is_multiple_of(UNSTAMPED));
        let after = if stamped { ticks() } else { before };
        if sampled {
            self.end_sample(cx);
        }
        self.handoffs_left = self.handoffs_allowed();
        self.settle(cx, cell, event, if self.habits.stamped { after.saturating_sub(before) } else { 0 });
        (event, after)
    }

    /// What an activation leaves to be done.
    #[inline(never)]
    pub(crate) fn settle(&mut self, cx: &Cx<'_>, cell: &NodeCell<'_>, event: Event, spent: Ticks) {
        if event == Event::Refused && cx.alerted {
            // The thread that holds the node may have looked before the alert: the alert stays.
            cell.state.alert.store(true, Ordering::Release);
        }
        self.note(cx, cell, event, spent);
        if self.notified {
            self.notify(cx, cell, event);
        } else if cell.kind == Kind::Process && !matches!(event, Event::Refused | Event::Done) {
            changed_by(cx);
        }
        if matches!(event, Event::Full(_)) {
            self.suspect(cx.node, cell);
        }
    }

    /// It waits for room. After the fence in `tell`: see `suspects`.
    #[inline]
    pub(crate) fn suspect(&mut self, node: NodeId, cell: &NodeCell<'_>) {
        if self.looks {
            self.suspects.note(node, &cell.state);
        }
    }

    #[cold]
    fn begin_sample(&mut self, before: Ticks) -> Laps {
        let start = ticks();
        self.account.scheduler_sample(start.saturating_sub(before));
        Laps::start(start)
    }

    #[cold]
    fn end_sample(&mut self, cx: &mut Cx<'_>) {
        if let Some(mut laps) = cx.laps.take() {
            laps.lap(crate::measure::clock::Part::Queue);
            self.account.lap_sample(&laps);
        }
        for channel in cx.net.inputs(cx.node).iter().chain(cx.net.outputs(cx.node)) {
            self.account.occupancy(*channel, cx.net.meter(*channel).items());
        }
    }

    /// Notes that this worker runs the node, and whether another ran it before.
    #[inline]
    fn note_move(&self, cell: &NodeCell<'_>) {
        let (last, me) = (cell.state.last.load(Ordering::Relaxed), self.host.worker as u32);
        if last == me {
            return;
        }
        cell.state.last.store(me, Ordering::Relaxed);
        if last != NO_WORKER && cell.kind != Kind::Parallel {
            // One worker's at a time: the token is this one's.
            let moves = cell.state.moves.load(Ordering::Relaxed);
            cell.state.moves.store(moves + 1, Ordering::Relaxed);
        }
    }

    /// Firings an activation may do, and those after which it publishes.
    #[inline]
    pub(crate) fn batch(&self, cell: &NodeCell<'_>, node: NodeId) -> (usize, usize) {
        match cell.state.batch.load(Ordering::Relaxed) {
            0 => self.first_batch(cell, node),
            batch => {
                let (budget, slice) = ((batch >> 32) as usize, (batch & u64::from(u32::MAX)) as usize);
                (budget, if cell.kind == Kind::Parallel { self.share_of(cell, node, slice) } else { slice })
            }
        }
    }

    /// Firings of a claim of a parallel node: of what there is, a part that leaves the other workers as much,
    /// so that all end at about the same time; but no less than is worth a claim. (Guided self-scheduling:
    /// Polychronopoulos and Kuck, 1987.)
    #[inline(never)] // once for a claim; inlined it would slow the activations of processes
    fn share_of(&self, cell: &NodeCell<'_>, node: NodeId, slice: usize) -> usize {
        let pace = u64::from(cell.state.pace.load(Ordering::Relaxed));
        let least = LEAST_NS * 16 / pace.max(1);
        if self.habits.pace == Pace::Counted || slice as u64 <= least {
            return slice;
        }
        let net = self.host.net;
        let items = net.inputs(node).iter().map(|input| net.meter(*input).items()).min();
        let share = items.map_or(usize::MAX, |items| items / (2 * net.threads()));
        slice.min(share.max(least as usize)).max(1)
    }

    #[cold]
    #[inline(never)]
    fn first_batch(&self, cell: &NodeCell<'_>, node: NodeId) -> (usize, usize) {
        if self.habits.pace == Pace::Timed {
            return (1, 1);
        }
        let run = self.host.net.topology.plan.run[node.index()].clamp(1, 1 << 29);
        cell.state.batch.store((run as u64 * 4) << 32 | run as u64, Ordering::Relaxed);
        (run * 4, run)
    }

    #[inline(always)]
    fn note(&mut self, cx: &Cx<'_>, cell: &NodeCell<'_>, event: Event, spent: Ticks) {
        let account = &mut self.account;
        account.busy += spent;
        account.activations += 1;
        account.refused += u64::from(event == Event::Refused);
        // The token of a node that is one thread's at a time is still this worker's. Else these are
        // read-modify-writes of the node's own line, a few for each activation.
        self.note_firings(cx, cell, spent, self.notified && cell.kind != Kind::Parallel);
    }

    /// Notes what a node has done, which is this worker's alone or not.
    #[inline(always)]
    pub(crate) fn note_firings(&mut self, cx: &Cx<'_>, cell: &NodeCell<'_>, spent: Ticks, mine: bool) {
        if cx.fired == 0 {
            return;
        }
        let add = |counter: &AtomicU64, more: u64| match mine {
            true => counter.store(counter.load(Ordering::Relaxed) + more, Ordering::Relaxed),
            false => _ = counter.fetch_add(more, Ordering::Relaxed),
        };
        add(&cell.state.firings, cx.fired as u64);
        add(&cell.state.activations, 1);
        if spent > 0 {
            add(&cell.state.busy, spent);
        }
        // Without time stamps it is by count.
        if self.habits.stamped
            && self.habits.pace == Pace::Timed
            && (spent > LONG || cx.budget == 1 || (spent > 0 && self.count.is_multiple_of(16)))
        {
            self.set_pace(cell, cx, spent);
        }
    }

    /// Notes how long a firing takes, and how many firings make a batch.
    #[cold]
    fn set_pace(&self, cell: &NodeCell<'_>, cx: &Cx<'_>, spent: Ticks) {
        let state = &cell.state;
        let each = ((spent as f64 / self.ticks_per_ns) * 16.0 / cx.fired as f64) as u64 + 1;
        let old = u64::from(state.pace.load(Ordering::Relaxed));
        let pace = if old == 0 { each } else { (old * 3 + each.min(old * 8)) / 4 }.max(1);
        state.pace.store(pace.min(u64::from(u32::MAX)) as u32, Ordering::Relaxed);
        let run = cx.net.topology.plan.run[cx.node.index()].max(1) as u64;
        let budget = (ACTIVATION_NS * 16 / pace).clamp(1, MOST);
        let time = if cell.kind == Kind::Parallel { CLAIM_NS } else { SLICE_NS };
        let slice = (time * 16 / pace).clamp(1, run.min(u64::from(u32::MAX)));
        state.batch.store(budget << 32 | slice, Ordering::Relaxed);
    }

    /// Nothing to do: looks for a while, then sleeps.
    #[cold]
    fn idle(&mut self, before: Ticks) -> Ticks {
        let net = self.host.net;
        let affinity = net.sched.ready.affinity();
        affinity.inspect(|affinity| affinity.idle_begin(self.host.worker, before));
        self.account.spins += 1;
        if !self.spin_for_work() && !net.stopped() {
            self.suspects.clear(net);
            net.sleep.announce(self.host.worker, self.searching);
            self.searching = false;
            let start = self.host.worker;
            if any_work(net, start) || net.stopped() {
                self.searching = net.sleep.withdraw(self.host.worker);
            } else {
                self.park();
            }
        }
        let now = ticks();
        affinity.inspect(|affinity| affinity.idle_end(self.host.worker, now));
        self.account.stall += now.saturating_sub(before);
        now
    }

    /// True as soon as some node is claimable.
    fn spin_for_work(&self) -> bool {
        let net = self.host.net;
        let until = ticks() + (SPIN_NS as f64 * self.ticks_per_ns) as u64;
        loop {
            if net.stopped() || any_work(net, self.host.worker) {
                return true;
            }
            if !self.habits.spin || ticks() > until {
                return false;
            }
            if self.habits.yields {
                std::thread::yield_now();
            }
            for _ in 0..32 {
                std::hint::spin_loop();
            }
        }
    }

    fn park(&mut self) {
        let net = self.host.net;
        let deadline = self.habits.deadline.map(|(at, _)| at.saturating_duration_since(Instant::now()));
        let patience = (!self.looked).then_some(search::PATIENCE);
        let timeout = [deadline, patience].into_iter().flatten().min();
        self.account.parks += 1;
        let from = ticks();
        let woken = net.sleep.commit(self.host.worker, timeout, || crate::liveness::quiesce::examine(net));
        self.account.parked += ticks().saturating_sub(from);
        match woken {
            ParkOutcome::Rung => self.searching = true,
            ParkOutcome::Over => {}
            ParkOutcome::Resumed => make_all_ready(net),
            ParkOutcome::TimedOut => {
                self.check_deadline();
                if !self.looked {
                    self.looked = true;
                    search::sweep(net);
                }
            }
        }
    }

    fn check_deadline(&self) {
        if let Some((at, given)) = self.habits.deadline
            && Instant::now() >= at
        {
            self.host.net.fail(crate::Error::Deadline(given));
        }
    }
}
