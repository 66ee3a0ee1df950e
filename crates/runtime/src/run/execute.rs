//! The threads of a run: the caller, the workers, and one for each dedicated node. All but the caller come from the
//! thread pool, through the roster of `sched::sleep`.
//!
//! | thread | entered by | left by |
//! |---|---|---|
//! | the caller | `run_with` | the end of the run, after the roster has joined the others |
//! | the thread of a dedicated node | `summon`, before the first firing | the end of the node or of the run |
//! | the thread of a worker | the first wake-up of the worker (`sched::sleep`), or the caller | the end of the run |
//!
//! Invariant: the caller makes the host and the policy state of every worker before any thread runs, and one thread
//! takes them under a lock. So each worker is run by one thread for the whole run, or by none.
//!
//! # Order of steps at the start
//!
//! 1. A token of each claimable node is acquired, if the policy is notified. Before step 2, since `Policy::start` finds
//!    the tokens by `Host::claimable`.
//! 2. `Policy::start` for each worker, in order of their numbers.
//! 3. `begin_notifying`: nodes that became claimable since step 1 are reported.
//! 4. The roster opens, and threads of dedicated nodes are summoned.
//! 5. The other workers begin unseated, and those that must run before a change wakes them are woken ([`wake_first`]).
//! 6. The caller does its own part ([`Caller`]).
//!
//! A change before step 5 finds no announced worker and wakes none. That loses nothing: the caller, as a worker, checks
//! for work before it sleeps; if it is no worker, or if other workers' queues hold tokens that it does not take, step 5
//! checks.

use super::Options;
use super::options::Pins;
use crate::error::Error;
use crate::measure::account::Account;
use crate::measure::clock::{Ticks, ticks};
use crate::measure::recorder::Recorder;
use crate::net::Net;
use crate::process::apart;
use crate::sched::affinity::Affinity;
use crate::sched::host::EngineHost;
use crate::sched::make_ready::{acquire_token, any_work, begin_notifying, make_ready};
use crate::sched::pace::Pace;
use crate::sched::sleep::pools::Pools;
use crate::sched::worker::{Worker, WorkerConfig};
use crate::sync::{Mutex, Ordering, lock};
use crate::threads::cores::{Cores, Pinned, cached_parallelism, cores};
use crate::threads::{StackSize, ThreadPool, name_thread};
use std::ops::Range;
use std::time::Instant;
use thalweg_graph::NodeId;
use thalweg_policy::random::XorShift;
use thalweg_policy::registry::Visit;
use thalweg_policy::{Needs, Policy, Shared};

/// Runs a network with the policy that its name is resolved to: `dispatch` calls it with the policy's type.
pub(super) struct RunUnder<'a, 'env> {
    pub(super) net: &'a Net<'env>,
    pub(super) options: &'a Options,
    pub(super) caller: Caller,
}

impl Visit for RunUnder<'_, '_> {
    type Out = ();

    fn visit<P: Policy>(self, policy: &P) {
        run_with(self.net, self.options, policy, self.caller);
    }
}

/// The part of a run that the calling thread takes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Caller {
    /// It is worker 0.
    Worker,
    /// It runs the first node that has a thread of its own, if there is one, so that a graph that begins with such a
    /// node needs one thread less. After that it becomes a worker that was summoned and whose thread has not started
    /// yet, or waits for the end. Without such a node it is worker 0.
    Dedicated,
}

/// Runs the network to its end, on this thread and as many more as are needed.
///
/// Nodes with a thread of their own have it from the start. A worker other than the caller gets a thread when it is
/// first woken: see [`sleep`](crate::sched::sleep).
pub(crate) fn run_with<P: Policy>(net: &Net<'_>, options: &Options, policy: &P, caller: Caller) {
    let began = (Instant::now(), ticks());
    net.sched.began.store(began.1, Ordering::Relaxed);
    let needs = policy.needs(&net.topology.graph);
    if needs.assigned() {
        net.sleep.set_pools(pools(net));
    }
    if needs.notifications() {
        if needs.affinity() {
            net.sched.ready.set_affinity(Affinity::new(&net.topology.graph, &net.topology.plan));
        }
        net.topology.graph.node_ids().for_each(|node| _ = acquire_token(net, node));
    }
    let shared = Mutex::new(P::Shared::default());
    let begin = |worker| Mutex::new(Some(begin(net, options, policy, &shared, worker, needs)));
    let begun: Vec<_> = (0..net.threads()).map(begin).collect();
    if needs.notifications() {
        begin_notifying(net);
    }
    let may_move = !needs.affinity() && !net.sched.pins;
    if policy.adapts() && may_move && options.adapts_width() && net.topology.plan.threads() > 1 {
        net.sched.width.begin();
    }
    let pinned = match &options.pins {
        None => Vec::new(),
        Some(Pins::AnyCore) => cores(),
        Some(Pins::At(cpus)) => cpus.to_vec(),
    };
    let execution = Execution {
        net,
        policy,
        began,
        config: worker_config(net, options, needs, began.0),
        begun,
        pinned: if net.topology.plan.threads() <= pinned.len() { pinned } else { Vec::new() },
        dedicated: dedicated(net),
        cores: Cores::here(),
        stack: options.stack_size(),
    };
    execution.run(caller);
    execution.account_for_absent();
    net.sched.partitions.store(lock(&shared).partitions(), Ordering::Relaxed);
}

/// The nodes that each worker runs, as the plan says.
fn pools(net: &Net<'_>) -> Pools {
    let graph = &net.topology.graph;
    let assignment = net.topology.plan.assignment(graph);
    Pools::new(net.threads(), graph.node_ids().map(|node| assignment.workers_of(node)))
}

/// A worker's view of the engine, and its initial state under the policy.
type Begun<'a, P> = (EngineHost<'a, <P as Policy>::Shared>, <P as Policy>::Local);

/// Makes a worker's host and starts the policy for this worker.
fn begin<'a, P: Policy>(
    net: &'a Net<'a>,
    options: &Options,
    policy: &P,
    shared: &'a Mutex<P::Shared>,
    worker: usize,
    needs: Needs,
) -> Begun<'a, P> {
    let random = XorShift::new(options.seed, worker);
    let mut host = EngineHost {
        net,
        shared,
        worker,
        random,
        steal_attempts: 0,
        steals: 0,
        stealing: None,
        recorder: Recorder::new(options.timeline),
        pinned_first: false,
        now: 0,
        ticket_waits: net.sched.suspended.as_ref().map(|_| 0),
        // A pinned node does not move to the worker that has pushed its items.
        carries: policy.adapts() && net.carries() && !net.sched.pins,
        starting: needs.notifications(),
    };
    let local = policy.start(worker, &mut host);
    host.starting = false;
    (host, local)
}

/// The settings of the run's workers.
fn worker_config(net: &Net<'_>, options: &Options, needs: Needs, began: Instant) -> WorkerConfig {
    let deadline = options.deadline.and_then(|time| began.checked_add(time).map(|at| (at, time)));
    WorkerConfig {
        pace: if options.counted { Pace::Counted } else { Pace::Timed },
        adapts: net.sched.width.adapts(),
        shares: needs.assigned() && !needs.pools() && !net.topology.plan.shares().is_empty(),
        // Without a spare core, spinning would delay the thread that is to end the wait.
        spin: net.threads() > 1 && net.topology.plan.threads() <= cached_parallelism(),
        yields: net.cells.nodes.iter().any(|node| node.dedicated.is_some() || node.roaming.is_some()),
        stamped: !options.unaccounted
            || options.timeline > 0
            || deadline.is_some()
            || net.sched.ready.affinity().is_some(),
        timeline: options.timeline,
        deadline,
    }
}

/// The nodes with a thread of their own, each with its number as a sleeper.
fn dedicated(net: &Net<'_>) -> Vec<(usize, NodeId)> {
    let nodes = net.topology.graph.node_ids().map(|id| (net.node(id), id));
    let with_thread = nodes.filter(|(node, _)| node.body.is_some());
    with_thread.filter_map(|(node, id)| Some((node.dedicated? as usize, id))).collect()
}

/// The shared state of a run's threads.
struct Execution<'a, P: Policy> {
    net: &'a Net<'a>,
    policy: &'a P,
    began: (Instant, Ticks),
    config: WorkerConfig,
    /// By worker: its view and state, until a thread takes them.
    begun: Vec<Mutex<Option<Begun<'a, P>>>>,
    /// By worker: the core that it is pinned to; empty if workers are not pinned.
    pinned: Vec<u32>,
    /// The nodes with a thread of their own, each with its number as a sleeper.
    dedicated: Vec<(usize, NodeId)>,
    /// The cores that the caller may use. All threads of the run adopt this set.
    cores: Cores,
    /// The minimum stack size of the other threads, in bytes.
    stack: StackSize,
}

impl<P: Policy> Execution<'_, P> {
    /// Runs to the end. The roster returns when all threads that were summoned have left the run, so what they borrow
    /// from this frame outlives them.
    fn run(&self, caller: Caller) {
        let own = self.dedicated.first().filter(|_| caller == Caller::Dedicated);
        let job = |sleeper: usize| apart(|| self.take_part(sleeper));
        let refused = |cause| self.net.fail(Error::Thread { cause, stack: self.stack.bytes() });
        let run = || {
            self.summon(usize::from(own.is_some()), usize::from(own.is_none()));
            match own {
                Some((sleeper, node)) => self.run_dedicated_first(*sleeper, *node),
                None => {
                    if caller == Caller::Dedicated {
                        name_thread("thalweg-0");
                    }
                    self.work(0, false);
                }
            }
        };
        self.net.sleep.roster.with((ThreadPool::process(), self.stack), &job, &refused, run);
    }

    /// Summons threads for dedicated nodes except the first `skipped`, and for those workers from `first_worker` on
    /// that must run before a change wakes them.
    fn summon(&self, skipped: usize, first_worker: usize) {
        for (sleeper, _) in self.dedicated.iter().skip(skipped) {
            if !self.net.stopped() {
                self.net.sleep.roster.summon(*sleeper);
            }
        }
        let unseated = first_worker..self.net.threads();
        if !self.net.sched.roaming.is_empty() {
            self.net.sleep.set_limit(self.net.topology.plan.threads());
        }
        self.net.sleep.begin_unseated(unseated.clone());
        wake_first(self.net, unseated, self.config.deadline.is_some());
    }

    /// The part of a pool thread: a worker, or a dedicated node.
    fn take_part(&self, sleeper: usize) {
        self.cores.adopt();
        if sleeper < self.net.threads() {
            name_thread(&format!("thalweg-{sleeper}"));
            self.work(sleeper, true);
        } else if let Some((_, node)) = self.dedicated.iter().find(|(at, _)| *at == sleeper) {
            self.run_dedicated(sleeper, *node);
        }
    }

    /// Runs a worker until the end of the run. No effect if another thread has taken it.
    fn work(&self, worker: usize, late: bool) {
        let Some((host, local)) = lock(&self.begun[worker]).take() else { return };
        let _pinned = self.pinned.get(worker).copied().map(Pinned::to);
        let account = Worker::new(host, self.policy, local, self.config).run(late.then_some(self.began));
        lock(&self.net.sched.accounts).push((worker, account));
    }

    /// Runs a dedicated node to its end, or to that of the run.
    fn run_dedicated(&self, sleeper: usize, node: NodeId) {
        name_thread(self.net.topology.graph.node(node).name());
        let run = || crate::sched::dedicated::run(self.net, node, sleeper, &self.config);
        let account = crate::team::as_node(&self.net.signals, node, run);
        lock(&self.net.sched.dedicated).extend(account);
    }

    /// The caller runs a dedicated node, and then becomes a worker or waits: see [`Caller::Dedicated`].
    fn run_dedicated_first(&self, sleeper: usize, node: NodeId) {
        self.run_dedicated(sleeper, node);
        // A short stream ends before the thread of the worker that it woke has started. This thread becomes that
        // worker, and the call is revoked.
        match self.net.sleep.roster.take_over(|number| number < self.net.threads()) {
            Some(worker) => self.take_part(worker),
            None => self.net.sleep.wait_for_end(sleeper),
        }
    }

    /// Accounts for the workers that no thread has taken.
    fn account_for_absent(&self) {
        let absent = |worker: &usize| lock(&self.begun[*worker]).is_some();
        let accounts = (0..self.net.threads()).filter(absent);
        let accounts = accounts.map(|worker| (worker, Account::absent(self.began.1)));
        lock(&self.net.sched.accounts).extend(accounts);
    }
}

/// Wakes the workers without a thread that must run before a change wakes them:
///
/// - with affinity, each worker whose own queue holds a node, since no other worker takes it;
/// - with pools, a worker of each claimable node, since no worker of another pool runs it;
/// - one worker if the caller is not a worker and a node is claimable;
/// - one worker if a deadline or the deadlock search needs the clock while the caller is in a long firing.
fn wake_first(net: &Net<'_>, unseated: Range<usize>, has_deadline: bool) {
    if net.sched.ready.affinity().is_some() {
        unseated
            .clone()
            .filter(|worker| net.sched.ready.any_for(*worker))
            .for_each(|w| net.sleep.wake_worker(w));
    }
    if net.sleep.pools().is_some() {
        net.topology.graph.node_ids().for_each(|node| make_ready(net, node));
    }
    // A worker that is woken now reads the clock; an unseated one does not.
    let by_clock = has_deadline || net.liveness.search.is_on();
    if by_clock || (unseated.start == 0 && any_work(net, 0)) {
        net.sleep.wake_one();
    }
}
