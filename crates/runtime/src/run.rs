//! From a network to its report: plan, rings, nodes, threads.

use crate::account::{Account, duration};
use crate::affinity::{Cores, Pinned, cores, parallelism, parallelism_at_hand};
use crate::build::{Finished, MadeRing, MakeNode, MakeRing, Network, TallySpec};
use crate::channel::{Layout, Sizes};
use crate::clock::{calibrate, ticks};
use crate::coroutine::Stacks;
use crate::error::Error;
use crate::homes::Homes;
use crate::net::{Need, Net, NodeCell, Signals};
use crate::node::NodeState;
use crate::process::{Cause, apart, drop_all};
use crate::sync::{Mutex, Ordering, lock};
use crate::team::{Team, name_thread};
use crate::worker::{EngineHost, Habits, Pace, Worker};
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};
use thalweg_graph::{ChannelId, GraphData, Kind, NodeId};
use thalweg_plan::{Plan, Wishes};
use thalweg_policy::Policy;
use thalweg_policy::random::XorShift;
use thalweg_policy::registry::{Visit, dispatch};
use thalweg_trace::Report;

/// How to run a network. What is not said is chosen.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Options {
    threads: Option<usize>,
    policy: Option<String>,
    budget: Option<usize>,
    capacity: Option<usize>,
    run: Option<usize>,
    seed: u64,
    deadline: Option<Duration>,
    counted: bool,
    unaccounted: bool,
    pinned: bool,
    one_to_one: bool,
    closes_loops: bool,
}

impl Options {
    /// Nothing said.
    pub fn new() -> Options {
        Options::default()
    }

    /// Worker threads; the default is the number of cores this process may use.
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = Some(threads);
        self
    }

    /// Scheduling policy: a name with settings (`"prs:C=1000"`, see [`thalweg_policy::registry::names`]), or
    /// a policy of this crate (`Prs::new(1000)`), which prints as its name. For a policy of your own
    /// see [`Graph::run_under`](crate::Graph::run_under).
    pub fn policy(mut self, policy: impl std::fmt::Display) -> Self {
        self.policy = Some(policy.to_string());
        self
    }

    /// Bytes that channels may take: their slots, what weighed items stand for, and growth. A
    /// parallel node may exceed it by one firing of each worker. Where nothing is said, weights
    /// limit nothing, and channels grow while all of them take at most 256 MiB (into a loop that
    /// starves, 16 MiB).
    pub fn budget(mut self, bytes: usize) -> Self {
        self.budget = Some(bytes);
        self
    }

    /// Items every channel can hold that has no capacity of its own. By default the plan chooses the capacity. A channel
    /// next to a [blocking](crate::Stream::blocking) node or an [`Outlet`](crate::Outlet) then widens while half of it
    /// lasts less than about a millisecond, up to 16 times its capacity and 1 MiB.
    pub fn capacity(mut self, items: usize) -> Self {
        self.capacity = Some(items);
        self
    }

    /// Firings that a claim takes at most.
    pub fn run_length(mut self, firings: usize) -> Self {
        self.run = Some(firings);
        self
    }

    /// Seed of the policies' random choices. The result does not depend on it.
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// The run fails when it takes longer. Firings are not interrupted.
    pub fn deadline(mut self, time: Duration) -> Self {
        self.deadline = Some(time);
        self
    }

    /// Makes activations end by count alone, never by the clock, so that what one worker does can
    /// be repeated exactly.
    pub fn counted(mut self) -> Self {
        self.counted = true;
        self
    }

    /// Reads no clock while the run goes: the report's times are zero, and activations end by
    /// count alone ([`Options::counted`]). For measuring what accounting costs. (A deadline needs the
    /// clock, and so does the policy `partition`: they undo this.)
    pub fn unaccounted(mut self) -> Self {
        self.unaccounted = true;
        self.counted = true;
        self
    }

    /// A thread of its own for each process and sequential kernel, scheduled by the operating
    /// system: Nornir's 1:1 model (section 4.1), to compare with. Parallel kernels share the
    /// workers.
    pub fn one_to_one(mut self) -> Self {
        self.one_to_one = true;
        self
    }

    /// Ends a loop that starves, and discards what its outside inputs hold and still get, where the
    /// run would fail with [`Error::Deadlock`] otherwise: for loops whose nodes drop items on purpose.
    /// The loop ends when nothing else in the graph can go on, so beside an endless source that does
    /// not feed it, it waits.
    pub fn close_starved_loops(mut self) -> Self {
        self.closes_loops = true;
        self
    }

    /// Keeps each worker on one core, of those that the calling thread may use, where the system
    /// lets it. Good for a machine that does nothing else: a worker whose core is wanted by another
    /// program then waits for it. With more workers than cores nobody is pinned.
    pub fn pinned(mut self) -> Self {
        self.pinned = true;
        self
    }

    /// Whether a run can go by these options, as far as they say it without a graph.
    ///
    /// # Errors
    /// [`Error::Options`] for an unknown policy, for more threads than anybody has, and for none of
    /// what there must be one of.
    pub fn check(&self) -> Result<(), Error> {
        if let Some(policy) = &self.policy {
            dispatch(policy, Known).map_err(|unknown| Error::Options(unknown.to_string()))?;
        }
        let least = [("threads", self.threads), ("capacity", self.capacity), ("run length", self.run)];
        if let Some((what, _)) = least.iter().find(|(_, said)| *said == Some(0)) {
            return Err(Error::Options(format!("{what} 0: at least 1 is needed")));
        }
        match self.threads {
            Some(threads) if threads > THREADS => {
                Err(Error::Options(format!("{threads} threads: at most {THREADS}")))
            }
            _ => Ok(()),
        }
    }

    /// Worker threads that a run by these options has.
    pub fn workers(&self) -> usize {
        self.threads.unwrap_or_else(parallelism)
    }

    fn wishes(&self) -> Wishes {
        Wishes {
            threads: Some(self.workers()),
            policy: self.policy.clone(),
            budget: self.budget,
            capacity: self.capacity,
            run: self.run,
        }
    }
}

/// Stops a run from outside.
#[derive(Clone, Debug)]
pub struct Handle {
    signals: Arc<Signals>,
}

impl Handle {
    /// Starts no further firing; the run fails with [`Error::Cancelled`].
    pub fn cancel(&self) {
        self.signals.fail(Error::Cancelled);
    }

    /// Ends the sources; what is under way is finished and the run succeeds. A loop that no source
    /// feeds has no end to be brought to: cancel it.
    pub fn drain(&self) {
        self.signals.drain();
    }

    /// Whether no further firing is started: the run has failed, was cancelled, or is at its end. Threads of its own
    /// may still be in their last firing.
    pub fn is_over(&self) -> bool {
        self.signals.stopped()
    }
}

/// A network with its plan, rings and nodes, ready to go.
pub struct Prepared<'env> {
    /// The number of its graph.
    number: usize,
    pub(crate) net: Arc<Net<'env>>,
    options: Options,
}

impl std::fmt::Debug for Prepared<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Prepared").field("plan", &self.net.plan).finish_non_exhaustive()
    }
}

impl<'env> Network<'env> {
    /// Plans, runs to the end, and reports.
    ///
    /// # Errors
    /// [`Error`] says why the run ended before its time.
    pub fn run(self, options: &Options) -> Result<Finished, Error> {
        self.prepare(options)?.run()
    }

    /// Plans, and makes everything but the threads.
    ///
    /// # Errors
    /// As [`Options::check`], channels larger than can be made, and a panic in a process's function.
    pub fn prepare(self, options: &Options) -> Result<Prepared<'env>, Error> {
        options.check()?;
        calibrate();
        let wishes = options.wishes();
        let plan = Plan::new(&self.graph, &wishes);
        let Network { number, graph, rings, nodes: makers, stacks, keepers, mut tallies } = self;
        let stacks = Stacks::new(&stacks)?;
        check_sizes(&graph, &plan)?;
        let mut wide = Vec::new();
        let make = |(id, socket): (ChannelId, Arc<dyn MakeRing<'env> + 'env>)| {
            let consumer = &graph.node(graph.channel(id).to.0).name;
            let capacity = plan.capacities[id.index()];
            let slots = thalweg_plan::max_capacity(&graph, id, &wishes, capacity);
            if slots > capacity {
                wide.push((id, slots));
            }
            caught(consumer, || socket.make(id, Sizes { capacity, slots }, layout(&graph, id)))
        };
        let rings: Vec<_> = graph.channel_ids().zip(rings).map(make).collect::<Result<_, Error>>()?;
        share_budget(&graph, &plan, &rings);
        let own = options.one_to_one;
        let dedicated = |id: NodeId| {
            let node = graph.node(id);
            node.blocking || (own && node.kind != Kind::Parallel)
        };
        let held_bytes = share_held(&graph, &plan);
        let kept = plan.budget.unwrap_or(HELD_UNASKED) / 2 / keepers.max(1);
        let mut sleepers = plan.threads..;
        let own = graph.node_ids().filter(|id| dedicated(*id)).count();
        // Before there are ends, which may be dropped as soon as they are made.
        let signals = Arc::new(Signals::new(plan.threads + own, graph.nodes().len()));
        signals.owners.enter(&signals);
        let mut nodes = Vec::with_capacity(graph.nodes().len());
        for (id, maker) in graph.node_ids().zip(makers) {
            let data = graph.node(id);
            let state = match data.kind {
                Kind::Parallel => NodeState::parallel(data.outputs.len(), plan.threads),
                _ => NodeState::single(),
            };
            let inputs = data.inputs.iter().filter_map(|port| port.channel);
            let mut outputs = data.outputs.iter().filter_map(|port| port.channel);
            let mut peers = inputs
                .map(|channel| graph.channel(channel).from.0)
                .chain(outputs.clone().map(|channel| graph.channel(channel).to.0));
            let dedicated_peers = peers.any(dedicated);
            let weighed = outputs.find(|channel| graph.channel(*channel).link.weighed);
            let (retired, owner) = (state.retired().cloned(), signals.owners.of(id));
            let tickets = tickets(plan.threads);
            let (unordered, workers) = (data.unordered, data.workers);
            let held = held_bytes;
            let tallies = tallies.remove(&id).unwrap_or_default();
            let tallies = tallies.into_iter().map(TallySpec::make).collect();
            let make = MakeNode {
                tickets,
                retired,
                weighed,
                held,
                kept,
                unordered,
                workers,
                tallies,
                stacks: &stacks,
                owner,
            };
            let body = maker.map(|maker| caught(&data.name, || maker(make))).transpose()?;
            let needs = match &body {
                Some(body) if !body.is_framed() && !data.unordered => needs(data),
                _ => Vec::new(),
            };
            let stays = body.as_ref().is_some_and(|body| body.stays()) && !dedicated(id);
            nodes.push(NodeCell {
                state,
                kind: data.kind,
                is_plain: data.kind == Kind::Process && body.is_some() && !dedicated(id) && !stays,
                stays,
                body,
                needs: needs.into(),
                dedicated: dedicated(id).then(|| sleepers.next().expect("endless") as u32),
                dedicated_peers,
            });
        }
        let mut net = Net::new(graph, plan, nodes, rings, signals);
        net.closes_loops = options.closes_loops;
        net.wide = wide;
        Ok(Prepared { number, net: Arc::new(net), options: options.clone() })
    }
}

/// Calls a user's code (a process's function, a weight) for a node that is being made.
fn caught<T>(node: &str, make: impl FnOnce() -> T) -> Result<T, Error> {
    catch_unwind(AssertUnwindSafe(make)).map_err(|panic| {
        let message = crate::panic_message(&*panic);
        Error::Panic { node: node.to_owned(), message }
    })
}

/// Messages between processes are moved one by one, mostly by one worker.
fn layout(graph: &GraphData, id: ChannelId) -> Layout {
    let channel = graph.channel(id);
    let process = |node: NodeId| graph.node(node).kind == Kind::Process;
    if process(channel.from.0) && process(channel.to.0) { Layout::Together } else { Layout::Apart }
}

/// Tickets of a reorder window: enough that one claim ten times as long as the others leaves the
/// other workers busy, few enough to stay in a cache.
fn tickets(threads: usize) -> usize {
    (threads * 16).next_power_of_two().max(32)
}

/// Bytes of one channel's slots at most, and worker threads at most: beyond any use, and within what
/// can be asked of a machine.
const CHANNEL_BYTES: usize = 1 << 34;
const THREADS: usize = 4096;

/// Refuses what could not be made.
fn check_sizes(graph: &GraphData, plan: &Plan) -> Result<(), Error> {
    for (id, items) in graph.channel_ids().zip(&plan.capacities) {
        let bytes = graph.channel(id).item.bytes.max(1);
        let slots = items.checked_next_power_of_two();
        if slots.and_then(|slots| slots.checked_mul(bytes)).is_none_or(|bytes| bytes > CHANNEL_BYTES) {
            let name = graph.channel_name(id);
            let what = format!("channel `{name}` would hold {items} items of {bytes} bytes");
            return Err(Error::Options(format!("{what}: more than {CHANNEL_BYTES} bytes")));
        }
    }
    Ok(())
}

/// What every firing needs; empty where that depends on more than the counters.
fn needs(node: &thalweg_graph::Node) -> Vec<Need> {
    let items = node.inputs.iter().map(|port| {
        let pop = port.pop.fixed()?;
        Some(Need::Items(port.channel?, pop.max(port.peek) as usize))
    });
    let room = node.outputs.iter().map(|port| Some(Need::Room(port.channel?, port.push.fixed()? as usize)));
    items.chain(room).collect::<Option<Vec<_>>>().unwrap_or_default()
}

/// Bytes that completed tickets of one parallel node may hold in its reorder window, beyond which it
/// makes no claim: a share of the budget, or of [`HELD_UNASKED`].
fn share_held(graph: &GraphData, plan: &Plan) -> usize {
    let nodes = graph.nodes().iter().filter(|node| node.kind == Kind::Parallel).count().max(1);
    plan.budget.map_or(HELD_UNASKED, |budget| budget / 2) / nodes
}

/// Bytes that reorder windows may hold where no budget was given.
const HELD_UNASKED: usize = 256 << 20;

/// Deals the byte budget, less the rings' own slots and a quarter kept for growth, to the
/// channels whose items are weighed.
fn share_budget(graph: &GraphData, plan: &Plan, rings: &[MadeRing<'_>]) {
    let Some(budget) = plan.budget else { return };
    let slots: usize =
        graph.channels().iter().zip(&plan.capacities).map(|(c, size)| c.item.bytes * size).sum();
    let weighed = graph.channels().iter().filter(|c| c.link.weighed).count().max(1);
    let share = budget.saturating_sub(slots) / 4 * 3 / weighed;
    for (channel, (meter, _)) in graph.channels().iter().zip(rings) {
        if channel.link.weighed {
            meter.set_byte_limit(share.max(1));
        }
    }
}

/// Whether a policy's name is known.
struct Known;

impl Visit for Known {
    type Out = ();

    fn visit<P: Policy>(self, _policy: &P) {}
}

/// Runs with the policy that a name was resolved to.
struct Go<'a, 'env> {
    net: &'a Net<'env>,
    options: &'a Options,
    caller: Caller,
}

impl Visit for Go<'_, '_> {
    type Out = ();

    fn visit<P: Policy>(self, policy: &P) {
        run_with(self.net, self.options, policy, self.caller);
    }
}

/// A worker's view of the engine, and what its policy begins with.
fn begin<'a, P: Policy>(
    net: &'a Net<'a>,
    options: &Options,
    policy: &P,
    worker: usize,
    told: bool,
) -> (EngineHost<'a>, P::Local) {
    let random = XorShift::new(options.seed, worker);
    let mut host =
        EngineHost { net, worker, random, steals: 0, staying_first: false, now: 0, starting: told };
    let local = policy.start(worker, &mut host);
    host.starting = false;
    (host, local)
}

/// What the thread that runs a network does itself.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Caller {
    /// It is worker 0.
    Worker,
    /// It runs the first node that has a thread of its own, if there is one. Then it is a worker that was
    /// summoned and has not come yet, or waits for the end. So a graph that begins with such a node needs one thread
    /// less. Without such a node it is worker 0.
    Dedicated,
}

/// Runs the network to its end, on this thread and as many more as are needed.
///
/// Nodes with a thread of their own have it from the start. Workers other than the caller get theirs when the
/// first wake-up asks for them: see `sleep`.
pub(crate) fn run_with<P: Policy>(net: &Net<'_>, options: &Options, policy: &P, caller: Caller) {
    let began = (Instant::now(), ticks());
    let threads = net.plan.threads;
    let deadline = options.deadline.and_then(|time| began.0.checked_add(time).map(|at| (at, time)));
    let told = policy.is_told(&net.graph);
    if told {
        if policy.has_homes(&net.graph) {
            net.ready.settle(Homes::new(&net.graph, threads));
        }
        for node in net.graph.node_ids() {
            net.take_token(node);
        }
    }
    let pace = if options.counted { Pace::Counted } else { Pace::Timed };
    // Spinning takes a core from the thread that would end the wait if there is none to spare.
    let spin = threads > 1 && threads <= parallelism_at_hand();
    let begun: Vec<_> =
        (0..threads).map(|worker| Mutex::new(Some(begin(net, options, policy, worker, told)))).collect();
    if told {
        net.tell_from_now_on();
    }
    let stamped = !options.unaccounted || deadline.is_some() || net.ready.homes().is_some();
    let yields = net.nodes.iter().any(|node| node.dedicated.is_some());
    let habits = Habits { pace, spin, yields, stamped, deadline };
    let cores = if options.pinned { cores() } else { Vec::new() };
    let core = |worker: usize| cores.get(worker).copied().filter(|_| threads <= cores.len());
    let work = |index: usize, late: bool| {
        let Some((host, local)) = lock(&begun[index]).take() else { return };
        let _pinned = core(index).map(Pinned::to);
        let account = Worker::new(host, policy, local, habits).run(late.then_some(began));
        lock(&net.accounts).push((index, account));
    };
    let has_thread = |id: &NodeId| net.nodes[id.index()].body.is_some();
    let own: Vec<(usize, NodeId)> = net
        .graph
        .node_ids()
        .filter(has_thread)
        .filter_map(|id| Some((net.nodes[id.index()].dedicated? as usize, id)))
        .collect();
    let here = Cores::here();
    let run_own = |node: NodeId, sleeper: usize| {
        name_thread(net.graph.node(node).name.as_ref());
        crate::dedicated::run(net, node, sleeper, deadline);
    };
    let job = |sleeper: usize| {
        here.take_over();
        if sleeper < threads {
            name_thread(&format!("thalweg-{sleeper}"));
            return work(sleeper, true);
        }
        if let Some((_, node)) = own.iter().find(|(at, _)| *at == sleeper) {
            run_own(*node, sleeper);
        }
    };
    let refused = |error| net.fail(Error::Thread(error));
    let mine = own.first().filter(|_| caller == Caller::Dedicated);
    let run = || {
        for (sleeper, _) in own.iter().skip(usize::from(mine.is_some())) {
            if !net.stopped() {
                net.sleep.roster.summon(*sleeper);
            }
        }
        let first = usize::from(mine.is_none());
        net.sleep.begin_unseated(first..threads);
        wake_first(net, first..threads, deadline.is_some());
        match mine {
            Some((sleeper, node)) => {
                run_own(*node, *sleeper);
                // A short stream ends before the thread of the worker that it woke has started: this thread takes
                // that worker's place.
                match net.sleep.roster.take_over(|number| number < threads) {
                    Some(worker) => job(worker),
                    None => net.sleep.wait_for_end(*sleeper),
                }
            }
            None => {
                if caller == Caller::Dedicated {
                    name_thread("thalweg-0");
                }
                work(0, false);
            }
        }
    };
    net.sleep.roster.with(Team::process(), &job, &refused, run, None::<fn()>);
    let absent = |worker: &usize| lock(&begun[*worker]).is_some();
    let accounts = (0..threads).filter(absent).map(|worker| (worker, Account::absent(began.1)));
    lock(&net.accounts).extend(accounts);
}

/// Wakes those of the workers without a thread that cannot wait for a change: the ones with something in a queue
/// that is theirs alone; where the caller is none, one for what is claimable; and one where a clock must be
/// looked at though the caller be in a long firing.
fn wake_first(net: &Net<'_>, unseated: Range<usize>, has_deadline: bool) {
    if net.ready.homes().is_some() {
        unseated.clone().filter(|worker| net.ready.any_for(*worker)).for_each(|w| net.sleep.wake_worker(w));
    }
    let by_clock = has_deadline || net.search.is_on();
    if by_clock || (unseated.start == 0 && net.any_work(0)) {
        net.sleep.wake_one();
    }
}

impl Prepared<'_> {
    /// Stops the run from elsewhere.
    pub fn handle(&self) -> Handle {
        Handle { signals: self.net.signals.clone() }
    }

    /// The plan it will follow.
    pub fn plan(&self) -> &Plan {
        &self.net.plan
    }

    /// Runs to the end on this thread and as many more as the plan says.
    ///
    /// # Errors
    /// [`Error`] says why the run ended before its time.
    pub fn run(self) -> Result<Finished, Error> {
        self.run_as(Caller::Worker)
    }

    pub(crate) fn run_as(self, caller: Caller) -> Result<Finished, Error> {
        let started = Instant::now();
        if self.net.live.load(Ordering::Relaxed) > 0 {
            let go = Go { net: &self.net, options: &self.options, caller };
            apart(|| dispatch(&self.net.plan.policy, go))
                .map_err(|unknown| Error::Options(unknown.to_string()))?;
        }
        let policy = self.net.plan.policy.clone();
        outcome(self.number, self.net, policy, started.elapsed())
    }

    /// The same under a policy of the caller's own. The report names it by its type.
    ///
    /// # Errors
    /// As [`Prepared::run`].
    pub fn run_under<P: Policy>(self, policy: &P) -> Result<Finished, Error> {
        let started = Instant::now();
        if self.net.live.load(Ordering::Relaxed) > 0 {
            apart(|| run_with(&self.net, &self.options, policy, Caller::Worker));
        }
        let path = std::any::type_name::<P>().split('<').next().unwrap_or_default();
        let policy = path.rsplit("::").next().unwrap_or_default().to_owned();
        outcome(self.number, self.net, policy, started.elapsed())
    }
}

/// What came of a run whose threads have ended.
fn outcome(number: usize, net: Arc<Net<'_>>, policy: String, wall: Duration) -> Result<Finished, Error> {
    let report = report(&net, policy, wall);
    let failure = net.take_failure();
    let dropped = dismantle(net);
    failure.or(dropped).map_or(Ok(Finished { number, report }), Err)
}

/// Drops the nodes and what their channels hold, unless somebody else still has the network: an
/// item's `drop` may panic, and that is its node's failure.
pub(crate) fn dismantle(net: Arc<Net<'_>>) -> Option<Error> {
    let mut net = Arc::into_inner(net)?;
    // So that a channel goes with the second of its ends.
    net.rings.clear();
    // Whoever drops the network may be in a poll of another.
    apart(|| drop_bodies(&mut net));
    net.take_failure()
}

fn drop_bodies(net: &mut Net<'_>) {
    for node in net.graph.node_ids() {
        let body = net.nodes[node.index()].body.take();
        if let Err(panic) =
            catch_unwind(AssertUnwindSafe(|| drop_all(net.owners.of(node), Cause::Failed, || drop(body))))
        {
            net.fail_panic(node, panic);
        }
    }
}

/// What the run's counters say.
fn report(net: &Net<'_>, policy: String, wall: Duration) -> Report {
    let mut report = Report::new(net.graph.clone(), policy, net.plan.threads);
    report.wall = wall;
    let mut accounts = std::mem::take(&mut *lock(&net.accounts));
    accounts.sort_by_key(|(worker, _)| *worker);
    report.workers = accounts.iter().map(|(_, account)| account.report()).collect();
    for (to, cell) in report.nodes.iter_mut().zip(&net.nodes) {
        to.firings = cell.state.firings.load(Ordering::Relaxed);
        to.activations = cell.state.activations.load(Ordering::Relaxed);
        to.busy = duration(cell.state.busy.load(Ordering::Relaxed));
        to.moves = cell.state.moves.load(Ordering::Relaxed);
    }
    for id in net.graph.channel_ids() {
        let (meter, data) = (net.meter(id), net.graph.channel(id));
        let to = &mut report.channels[id.index()];
        let items = meter.tail() - data.link.initial;
        let weighed = if data.link.weighed { meter.bytes_published() } else { items * data.item.bytes };
        to.items = items as u64;
        to.bytes = weighed as u64;
        to.capacity = meter.capacity();
        to.leftover = meter.unread() as u64;
        to.remote = meter.remote() as u64;
        let seen = accounts.iter().filter_map(|(_, account)| account.seen.get(id.index()));
        let (sum, count, peak) =
            seen.fold((0, 0, 0), |(s, c, p), seen| (s + seen.sum, c + seen.count, p.max(seen.peak)));
        to.peak = peak as f64;
        to.mean = if count == 0 { 0.0 } else { sum as f64 / count as f64 };
    }
    report.growths = lock(&net.growths).clone();
    report.searches = net.search.searches() as u64;
    report.partitions = net.ready.homes().map_or(0, Homes::partitions);
    report
}
