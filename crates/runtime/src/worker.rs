//! A worker: asks the policy, activates, accounts, and sleeps when there is nothing to do.

use crate::account::Account;
use crate::clock::{Laps, SAMPLE, Ticks, ticks};
use crate::homes::Homes;
use crate::net::{Net, NodeCell};
use crate::node::{By, Cx};
use crate::process::{Touched, channel, peer, sends};
use crate::search;
use crate::sleep::Woken;
use crate::sync::Ordering;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::AtomicU64;
use std::time::{Duration, Instant};
use thalweg_graph::{ChannelId, Graph, Kind, NodeId};
use thalweg_policy::partition::Ledger;
use thalweg_policy::random::XorShift;
use thalweg_policy::{Decision, Event, Host, Occupancy, Policy, WorkerId};

/// Time an activation of a sequential node may take.
const ACTIVATION_NS: u64 = 50_000;
/// Time after which an activation of a sequential node publishes.
const SLICE_NS: u64 = 15_000;
/// Time that a claim of a parallel node is made for.
const CLAIM_NS: u64 = 60_000;
/// Firings in an activation at most, however short they are.
const MOST: u64 = 1 << 14;
/// Ticks of an activation so long that noting its pace costs nothing beside it; of shorter ones
/// some are noted.
const LONG: Ticks = 4096;
/// Activations between time stamps where nothing but the search for circles needs them.
const UNSTAMPED: u32 = 64;
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
pub(crate) struct EngineHost<'a> {
    pub(crate) net: &'a Net<'a>,
    pub(crate) worker: WorkerId,
    pub(crate) random: XorShift,
    pub(crate) steals: u64,
    /// When the worker's latest activation or rest ended.
    pub(crate) now: Ticks,
}

impl Host for EngineHost<'_> {
    fn graph(&self) -> &Graph {
        &self.net.graph
    }

    fn workers(&self) -> usize {
        self.net.threads()
    }

    fn random(&mut self) -> u64 {
        self.random.number()
    }

    fn occupancy(&self, channel: ChannelId) -> Occupancy {
        let meter = self.net.meter(channel);
        Occupancy { items: meter.items(), capacity: meter.capacity() }
    }

    fn claimable(&self, node: NodeId) -> bool {
        self.net.claimable(node)
    }

    fn push(&mut self, to: WorkerId, node: NodeId) {
        let homes = self.net.ready.homes().is_some();
        if homes && to != self.worker {
            return self.net.push_home(to, node);
        }
        self.net.ready.push(to, node);
        if !homes && self.net.ready.is_told() && self.net.sleep.wants_waking() {
            self.net.sleep.wake_one();
        }
    }

    fn pop(&mut self) -> Option<NodeId> {
        self.net.ready.pop(self.worker)
    }

    fn pop_newest(&mut self) -> Option<NodeId> {
        self.net.ready.pop_newest(self.worker)
    }

    fn last_worker(&self, node: NodeId) -> Option<WorkerId> {
        let last = self.net.nodes[node.index()].state.last.load(Ordering::Relaxed);
        (last != usize::MAX).then_some(last)
    }

    fn steal(&mut self, from: WorkerId) -> Option<NodeId> {
        let stolen = self.net.ready.steal(from);
        self.steals += u64::from(stolen.is_some());
        stolen
    }

    fn home(&self, node: NodeId) -> Option<WorkerId> {
        self.net.ready.homes()?.of(node)
    }

    fn set_home(&mut self, node: NodeId, worker: WorkerId) {
        if let Some(homes) = self.net.ready.homes() {
            homes.set(node, worker);
        }
    }

    fn now(&self) -> u64 {
        self.net.ready.homes().map_or(0, |homes| homes.time(self.now))
    }

    fn idle(&self) -> u64 {
        self.net.ready.homes().map_or(0, Homes::idle)
    }

    fn used(&self, node: NodeId) -> u64 {
        let busy = self.net.nodes[node.index()].state.busy.load(Ordering::Relaxed);
        self.net.ready.homes().map_or(0, |homes| homes.ns(busy))
    }

    fn traffic(&self, channel: ChannelId) -> u64 {
        self.net.meter(channel).tail() as u64
    }

    fn take_ledger(&mut self) -> Option<Ledger> {
        self.net.ready.homes()?.take_ledger()
    }

    fn put_ledger(&mut self, ledger: Ledger) {
        if let Some(homes) = self.net.ready.homes() {
            homes.put_ledger(ledger);
        }
    }
}

/// Ends the run when dropped.
struct Over<'a>(&'a Net<'a>);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.finish();
    }
}

/// How the workers of a run go about it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Habits {
    pub(crate) pace: Pace,
    /// Look for work a while before going to sleep.
    pub(crate) spin: bool,
    /// Read the clock after every activation.
    pub(crate) stamped: bool,
    /// When the run is to end, and how long that was from its start.
    pub(crate) deadline: Option<(Instant, Duration)>,
}

/// One worker's private half.
pub(crate) struct Worker<'a, P: Policy> {
    pub(crate) host: EngineHost<'a>,
    pub(crate) policy: &'a P,
    pub(crate) local: P::Local,
    pub(crate) habits: Habits,
    pub(crate) account: Account,
    ticks_per_ns: f64,
    searching: bool,
    count: u32,
    /// The policy is told of what becomes claimable.
    told: bool,
    /// When to look for circles that wait: see [`search`].
    look_at: Ticks,
    /// It has done so since it last slept, or there is nothing to look for.
    looked: bool,
}

impl<'a, P: Policy> Worker<'a, P> {
    pub(crate) fn new(host: EngineHost<'a>, policy: &'a P, local: P::Local, habits: Habits) -> Self {
        // Occupancy is seen at samples of the clock.
        let channels = if habits.pace == Pace::Timed { host.net.meters.len() } else { 0 };
        let told = host.net.ready.is_told();
        let is_on = host.net.search.is_on();
        Worker {
            told,
            host,
            policy,
            local,
            habits,
            account: Account::new(channels),
            ticks_per_ns: crate::clock::ticks_per_ns(),
            searching: false,
            count: 0,
            look_at: if is_on { 0 } else { Ticks::MAX },
            looked: !is_on,
        }
    }

    /// Works until the run is over.
    pub(crate) fn run(mut self) -> Account {
        // However this worker ends, the run must not wait for it.
        let _over = Over(self.host.net);
        self.account.start();
        let mut last = None;
        let mut now = ticks();
        let deadline = self.habits.deadline.map(|(at, _)| {
            let left = at.saturating_duration_since(Instant::now()).as_nanos() as f64;
            now.saturating_add((left * self.ticks_per_ns) as u64)
        });
        while !self.host.net.stopped() {
            if deadline.is_some_and(|deadline| now > deadline) {
                self.check_deadline();
            }
            if now >= self.look_at {
                self.look_at = search::look(self.host.net, now, self.ticks_per_ns);
            }
            self.host.net.take_woken();
            self.host.now = now;
            match self.policy.next(&mut self.local, last, &mut self.host) {
                Decision::Activate(node) => {
                    self.looked = self.look_at == Ticks::MAX;
                    if self.searching {
                        self.searching = false;
                        self.host.net.sleep.found();
                    }
                    let event;
                    (event, now) = self.activate(node, now);
                    last = Some((node, event));
                }
                Decision::Idle => {
                    now = self.idle(now);
                    last = None;
                }
            }
        }
        self.account.steals = self.host.steals;
        self.account.finish();
        self.account
    }

    /// One activation, from the time stamp of the last to its own.
    fn activate(&mut self, node: NodeId, before: Ticks) -> (Event, Ticks) {
        let net = self.host.net;
        let cell = &net.nodes[node.index()];
        let Some(body) = cell.body.as_ref().filter(|_| cell.dedicated.is_none()) else {
            return (Event::Done, before);
        };
        if self.told {
            // Work that nobody is awake for, left by a search that ended here.
            if net.sleep.wants_waking() && net.ready.any() {
                net.sleep.wake_one();
            }
            self.note_move(cell);
        } else {
            net.share(node);
        }
        self.count = self.count.wrapping_add(1);
        // Not the first: a worker's first activation finds everything cold.
        let sampled = self.count % SAMPLE == 2 && self.habits.pace == Pace::Timed;
        let laps = sampled.then(|| {
            let start = ticks();
            self.account.scheduler_sample(start.saturating_sub(before));
            Laps::start(start)
        });
        let (budget, slice) = self.batch(cell, node);
        let by = if self.told { By::Teller(self.host.worker) } else { By::Worker };
        let touched = Touched::default();
        let alerted =
            cell.state.alert.load(Ordering::Relaxed) && cell.state.alert.swap(false, Ordering::AcqRel);
        let mut cx =
            Cx { net, node, budget, slice, fired: 0, laps, by, alerted, touched, touched_all: false };
        let event = match catch_unwind(AssertUnwindSafe(|| body.activate(&mut cx))) {
            Ok(Event::Refused) => {
                // Nobody has looked: the holder may have done so before the alert.
                if alerted {
                    cell.state.alert.store(true, Ordering::Release);
                }
                Event::Refused
            }
            Ok(event) => event,
            Err(panic) => {
                net.fail_panic(node, panic);
                Event::Done
            }
        };
        let stamped =
            self.habits.stamped || (self.look_at != Ticks::MAX && self.count.is_multiple_of(UNSTAMPED));
        let after = if stamped { ticks() } else { before };
        self.note(&cx, event, if self.habits.stamped { after.saturating_sub(before) } else { 0 });
        if self.told {
            self.tell(event, &cx);
        }
        (event, after)
    }

    /// Notes who runs the node, and whether it was another before.
    #[inline]
    fn note_move(&self, cell: &NodeCell<'_>) {
        let last = cell.state.last.load(Ordering::Relaxed);
        if last == self.host.worker {
            return;
        }
        cell.state.last.store(self.host.worker, Ordering::Relaxed);
        if last != usize::MAX && cell.kind != Kind::Parallel {
            // One worker's at a time: the token is this one's.
            let moves = cell.state.moves.load(Ordering::Relaxed);
            cell.state.moves.store(moves + 1, Ordering::Relaxed);
        }
    }

    /// Counts what a process has sent on a channel, by where the other end was last.
    #[inline]
    fn count_sent(&self, channel: ChannelId, to: NodeId) {
        let net = self.host.net;
        let last = net.nodes[to.index()].state.last.load(Ordering::Relaxed);
        net.meter(channel).count(last != usize::MAX && last != self.host.worker);
    }

    /// Tells the policy of what has become claimable by an activation: see `ready`.
    fn tell(&mut self, event: Event, cx: &Cx<'_>) {
        let (net, node) = (cx.net, cx.node);
        let cell = &net.nodes[node.index()];
        cell.state.tokens.drop_one(net.ready.is_alone());
        net.ready.fence();
        let process = cell.kind == Kind::Process;
        if process && !cx.touched_all && event != Event::Done {
            for at in 0..cx.touched.len() {
                let operation = cx.touched.get(at);
                let peer = peer(net, operation);
                if self.habits.stamped && sends(operation) {
                    self.count_sent(channel(operation), peer);
                }
                self.tell_of(peer);
            }
        } else {
            if process && self.habits.stamped {
                cell.outputs.iter().for_each(|channel| self.count_sent(*channel, net.ends(*channel).1));
            }
            cell.peers.iter().for_each(|peer| self.tell_of(*peer));
        }
        self.tell_of(node);
    }

    #[inline]
    fn tell_of(&mut self, node: NodeId) {
        let net = self.host.net;
        if net.nodes[node.index()].dedicated.is_some() {
            net.ring_dedicated(node);
        } else if net.take_token(node) {
            self.policy.ready(&mut self.local, node, &mut self.host);
        }
    }

    /// Firings an activation may do, and those after which it publishes.
    fn batch(&self, cell: &NodeCell<'_>, node: NodeId) -> (usize, usize) {
        if self.habits.pace == Pace::Counted {
            let run = self.host.net.plan.run[node.index()].max(1);
            return (run * 4, run);
        }
        match cell.state.batch.load(Ordering::Relaxed) {
            0 => (1, 1),
            batch => ((batch >> 32) as usize, (batch & u64::from(u32::MAX)) as usize),
        }
    }

    fn note(&mut self, cx: &Cx<'_>, event: Event, spent: Ticks) {
        let account = &mut self.account;
        account.busy += spent;
        account.activations += 1;
        account.refused += u64::from(event == Event::Refused);
        let cell = &cx.net.nodes[cx.node.index()];
        if let Some(mut laps) = cx.laps {
            laps.lap(crate::clock::Part::Queue);
            account.lap_sample(&laps);
            for channel in cell.inputs.iter().chain(&cell.outputs) {
                account.occupancy(*channel, cx.net.meter(*channel).items());
            }
        }
        if cx.fired == 0 {
            return;
        }
        // The token of a node that is one thread's at a time is still this worker's. Else these are
        // read-modify-writes of the node's own line, a few for each activation.
        let mine = self.told && cell.kind != Kind::Parallel;
        let add = |counter: &AtomicU64, more: u64| match mine {
            true => counter.store(counter.load(Ordering::Relaxed) + more, Ordering::Relaxed),
            false => _ = counter.fetch_add(more, Ordering::Relaxed),
        };
        add(&cell.state.firings, cx.fired as u64);
        add(&cell.state.activations, 1);
        add(&cell.state.busy, spent);
        if self.habits.pace == Pace::Timed
            && (spent > LONG || self.count.is_multiple_of(16) || cx.budget == 1)
        {
            self.set_pace(cell, cx, spent);
        }
    }

    /// Notes what a firing takes, and what so many of them make a batch.
    fn set_pace(&self, cell: &NodeCell<'_>, cx: &Cx<'_>, spent: Ticks) {
        let state = &cell.state;
        let each = ((spent as f64 / self.ticks_per_ns) * 16.0 / cx.fired as f64) as u64 + 1;
        let old = state.pace.load(Ordering::Relaxed);
        let pace = if old == 0 { each } else { (old * 3 + each.min(old * 8)) / 4 }.max(1);
        state.pace.store(pace, Ordering::Relaxed);
        let run = cx.net.plan.run[cx.node.index()].max(1) as u64;
        let budget = (ACTIVATION_NS * 16 / pace).clamp(1, MOST);
        let time = if cell.kind == Kind::Parallel { CLAIM_NS } else { SLICE_NS };
        let slice = (time * 16 / pace).clamp(1, run.min(u64::from(u32::MAX)));
        state.batch.store(budget << 32 | slice, Ordering::Relaxed);
    }

    /// Nothing to do: looks for a while, then sleeps.
    #[cold]
    fn idle(&mut self, before: Ticks) -> Ticks {
        let net = self.host.net;
        let homes = net.ready.homes();
        homes.inspect(|homes| homes.rests(self.host.worker, before));
        self.account.spins += 1;
        if !self.spin_for_work() && !net.stopped() {
            net.sleep.announce(self.host.worker, self.searching);
            self.searching = false;
            let start = self.host.worker;
            if net.any_work(start) || net.stopped() {
                self.searching = net.sleep.withdraw(self.host.worker);
            } else {
                self.park();
            }
        }
        let now = ticks();
        homes.inspect(|homes| homes.rises(self.host.worker, now));
        self.account.stall += now.saturating_sub(before);
        now
    }

    /// True as soon as some node is claimable.
    fn spin_for_work(&self) -> bool {
        let net = self.host.net;
        let until = ticks() + (SPIN_NS as f64 * self.ticks_per_ns) as u64;
        loop {
            if net.stopped() || net.any_work(self.host.worker) {
                return true;
            }
            if !self.habits.spin || ticks() > until {
                return false;
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
        let woken = net.sleep.commit(self.host.worker, timeout, || crate::quiesce::examine(net));
        self.account.parked += ticks().saturating_sub(from);
        match woken {
            Woken::Rung => self.searching = true,
            Woken::Over => {}
            Woken::Resumed => net.resume(),
            Woken::TimedOut => {
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
