//! The event heap, and the run of a model.

use crate::caches::Played;
use crate::sizes::{Claims, Sizes};
use crate::turns::Firing;
use crate::view::{Common, View, Worker};
use crate::waits::Waits;
use crate::world::{Answer, Claim, World, neighbours};
use crate::{Failure, Model, Report, Settings};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use thalweg_graph::{Kind, NodeId};
use thalweg_plan::{Assignment, POOLS, Plan, Wishes};
use thalweg_policy::auto::MAX_WAITS;
use thalweg_policy::auto::batch_limit;
use thalweg_policy::record::Entry;
use thalweg_policy::{Decision, Event, Host, Policy, Shared, WorkerId};

/// Runs a model under a policy until all nodes have ended.
///
/// Where each worker serves one node ([`Needs::Pools`](thalweg_policy::Needs)), the workers of the settings are divided among the
/// parallel nodes, and the run has at least one for each node.
///
/// # Errors
/// The policy violates the liveness law, or the model cannot end.
pub fn run<P: Policy>(policy: &P, model: &Model, settings: &Settings) -> Result<Report, Failure> {
    let wishes = Wishes::default().threads(settings.workers);
    let wishes = if policy.needs(&model.graph).pools() { wishes.policy(POOLS) } else { wishes };
    let sizes = Sizes::of_settings(model, settings);
    play(policy, model, *settings, Plan::new(&model.graph, &wishes), &sizes)
}

/// Runs a model as [`run`] does, with this plan: its capacities, its claims and what the policy sees of it. A channel that could
/// not hold what a firing of the model moves is larger than planned. An activation ends by count, as in an engine that reads no
/// clock. The settings decide the number of workers: a node of a worker that they lack is dealt to another one. Where each worker
/// serves one node, the plan decides it. Where the plan gives each worker its nodes
/// ([`Needs::Assigned`](thalweg_policy::Needs)), claims are as long as its shares say.
///
/// ```
/// use thalweg_plan::{Plan, Wishes};
/// use thalweg_policy::Auto;
/// use thalweg_sim::{Settings, run_planned, shapes};
///
/// let (model, settings) = (shapes::chain(2, 100), Settings { workers: 2, ..Settings::default() });
/// let makespan = |capacity| {
///     let wishes = Wishes::default().capacity(capacity).claim_length(1);
///     run_planned(&Auto, &model, &settings, Plan::new(&model.graph, &wishes)).unwrap().makespan
/// };
/// assert!(makespan(1) > makespan(64));
/// ```
///
/// # Errors
/// As [`run`].
pub fn run_planned<P: Policy>(
    policy: &P,
    model: &Model,
    settings: &Settings,
    plan: Plan,
) -> Result<Report, Failure> {
    let sizes = Sizes::of_plan(model, &plan);
    play(policy, model, *settings, plan, &sizes)
}

fn play<P: Policy>(
    policy: &P,
    model: &Model,
    mut settings: Settings,
    mut plan: Plan,
    sizes: &Sizes,
) -> Result<Report, Failure> {
    let needs = policy.needs(&model.graph);
    if needs.pools() {
        settings.workers = plan.threads();
    }
    *plan.threads_mut() = settings.workers;
    leave_out_workers(&mut plan, settings.workers as u32);
    let assignment = needs.assigned().then(|| plan.assignment(&model.graph));
    let mut clock: Clock<'_, P::Shared> = Clock::new(model, settings, plan, sizes);
    clock.carries = policy.adapts() && model.carries();
    (clock.assignment, clock.shares) = (assignment, needs.assigned() && !needs.pools());
    let (notifications, affinity) = (needs.notifications(), needs.affinity());
    let begins = |node: NodeId| usize::from(clock.world.claimable(node));
    clock.tokens = (notifications || affinity).then(|| model.graph.node_ids().map(begins).collect());
    let mut locals: Vec<P::Local> =
        (0..settings.workers).map(|w| policy.start(w, &mut clock.view(w))).collect();
    for worker in 0..settings.workers {
        clock.schedule(0, worker, Step::Decide);
    }
    for _ in 0..settings.steps {
        let Some((worker, step)) = clock.advance() else {
            if clock.arrive(affinity) {
                continue;
            }
            return clock.close();
        };
        match step {
            Step::Decide => clock.decide(policy, &mut locals[worker], worker)?,
            Step::Claim(node) => clock.begin(worker, node),
            Step::Finish => clock.finish(worker),
            Step::Ask => clock.ask(worker),
        }
    }
    Err(Failure::TooLong)
}

/// Leaves out of the plan the workers from `workers` on.
fn leave_out_workers(plan: &mut Plan, workers: u32) {
    plan.affinity_mut().retain(|_, worker| *worker < workers);
    let lists = std::mem::take(plan.pools_mut());
    for (node, list) in lists {
        if let Some(shares) = plan.shares_mut().get_mut(&node) {
            let mut listed = list.iter();
            shares.retain(|_| listed.next().is_some_and(|worker| *worker < workers));
        }
        let left: Vec<u32> = list.into_iter().filter(|worker| *worker < workers).collect();
        if left.is_empty() {
            plan.shares_mut().remove(&node);
        } else {
            plan.pools_mut().insert(node, left);
        }
    }
}

/// The action of a worker at an event.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Step {
    Decide,
    Claim(NodeId),
    Finish,
    /// Its firing wants to leave.
    Ask,
}

/// An event: its time, its number (so that events of the same time keep their order), the worker and its action.
type Timed = Reverse<(u64, u64, WorkerId, Step)>;

struct Clock<'m, S> {
    world: World<'m>,
    settings: Settings,
    sizes: Sizes,
    /// Present if each worker runs only nodes of its own: a change of a node wakes its workers alone.
    assignment: Option<Assignment>,
    /// The plan's shares decide the lengths of claims.
    shares: bool,
    /// Workers carry their items on: activations end where the items of another worker begin.
    carries: bool,
    /// Present if the settings have caches.
    caches: Option<Played<'m>>,
    workers: Vec<Worker>,
    heap: BinaryHeap<Timed>,
    /// Events so far.
    events: u64,
    now: u64,
    /// By node: the worker that activated it last.
    last_workers: Vec<Option<WorkerId>>,
    common: Common<S>,
    /// By node: the number of its tokens. `None` where the policy has no notifications.
    tokens: Option<Vec<usize>>,
    /// The remaining arrivals of starving sources, the next round last.
    arrivals: Vec<Vec<(NodeId, u64)>>,
    waits: Waits,
    report: Report,
}

impl<'m, S: Shared> Clock<'m, S> {
    fn new(model: &'m Model, settings: Settings, plan: Plan, sizes: &Sizes) -> Clock<'m, S> {
        let (workers, nodes) = (settings.workers, model.graph.nodes().len());
        let window = if settings.window == 0 { 2 * workers } else { settings.window };
        let played = |cache| Played::new(cache, model, &plan, &sizes.capacities, workers);
        Clock {
            caches: settings.cache.map(played),
            world: World::new(
                model,
                &sizes.capacities,
                window,
                (settings.foresight, settings.ticket_wait > 0),
            ),
            settings,
            sizes: sizes.clone(),
            assignment: None,
            shares: false,
            carries: false,
            workers: (0..workers).map(|worker| Worker::new(settings.seed, worker)).collect(),
            heap: BinaryHeap::new(),
            events: 0,
            now: 0,
            last_workers: vec![None; nodes],
            common: Common::new(&model.graph, plan),
            tokens: None,
            arrivals: model.arrivals().into_iter().rev().collect(),
            waits: Waits::new(&model.graph),
            report: Report {
                makespan: 0,
                busy: vec![0; workers],
                misses: Vec::new(),
                overhead: vec![0; workers],
                stall: vec![0; workers],
                firings: vec![0; nodes],
                activations: vec![0; nodes],
                fruitless: 0,
                remote: Vec::new(),
                decisions: Vec::new(),
                longest_wait: 0,
            },
        }
    }

    fn view(&mut self, worker: WorkerId) -> View<'_, 'm, S> {
        View {
            world: &self.world,
            workers: &mut self.workers,
            last_workers: &self.last_workers,
            common: &mut self.common,
            now: self.now,
            worker,
            carries: self.carries,
            waits: self.settings.ticket_wait > 0,
        }
    }

    fn schedule(&mut self, after: u64, worker: WorkerId, step: Step) {
        self.events += 1;
        self.heap.push(Reverse((self.now + after, self.events, worker, step)));
    }

    fn advance(&mut self) -> Option<(WorkerId, Step)> {
        let Reverse((time, _, worker, step)) = self.heap.pop()?;
        self.now = time;
        Some((worker, step))
    }

    /// Called when all workers sleep: lets rounds of starving sources arrive until some node is claimable, and wakes
    /// workers. Returns false if no arrival wakes a worker.
    fn arrive(&mut self, affinity: bool) -> bool {
        while let Some(round) = self.arrivals.pop() {
            for (source, firings) in round {
                let ticket = self.world.next_ticket(source);
                self.world.arrive(source, firings);
                self.waits.change(source);
                if let Some(caches) = &mut self.caches {
                    caches.fire(None, source, ticket..ticket + firings);
                }
                self.report.firings[source.index()] += firings;
                self.notify_outside(source, affinity);
            }
            self.report.makespan = self.now;
            self.wake();
            if !self.heap.is_empty() {
                return true;
            }
        }
        false
    }

    /// Makes tokens of the nodes that an arrival has made claimable, if the policy has notifications.
    fn notify_outside(&mut self, source: NodeId, affinity: bool) {
        for node in neighbours(self.world.graph(), source) {
            let max = self.max_tokens(node);
            let Some(tokens) = &mut self.tokens else { return };
            if tokens[node.index()] < max && self.world.claimable(node) {
                tokens[node.index()] += 1;
                match self.view(0).affinity(node).filter(|_| affinity) {
                    Some(worker) => self.workers[worker].queue.push_back(node),
                    None => self.common.outside.push_back(node),
                }
            }
        }
    }

    fn max_tokens(&self, node: NodeId) -> usize {
        if self.world.graph().node(node).kind() == Kind::Parallel { self.workers.len() } else { 1 }
    }

    /// The result of a run in which no event is left.
    fn close(mut self) -> Result<Report, Failure> {
        self.report.remote = self.world.remote();
        self.report.longest_wait = self.waits.longest();
        self.report.misses = self.caches.as_ref().map_or(Vec::new(), Played::misses);
        let claimable: Vec<NodeId> =
            self.world.graph().node_ids().filter(|&n| self.world.claimable(n)).collect();
        match (self.world.has_ended(), claimable.is_empty()) {
            (true, _) => Ok(self.report),
            (false, false) => Err(Failure::Stalled { claimable }),
            (false, true) => Err(Failure::Deadlock { waiting: self.world.alive() }),
        }
    }

    fn decide<P: Policy<Shared = S>>(
        &mut self,
        policy: &P,
        local: &mut P::Local,
        worker: WorkerId,
    ) -> Result<(), Failure> {
        if self.world.has_ended() {
            return Ok(());
        }
        let last = self.workers[worker].last;
        self.notify(policy, local, worker);
        let decision = policy.next(local, last, &mut self.view(worker));
        self.report.decisions.push(Entry { worker, last, decision });
        self.count_waits(decision);
        self.wake_wanted();
        match decision {
            Decision::Activate(node) if node.index() >= self.last_workers.len() => {
                return Err(Failure::NoSuchNode { node });
            }
            Decision::Activate(node) => {
                let (now, active) = (self.now, &mut self.workers[worker]);
                (active.idle, active.waits) = (0, 0);
                active.idle_before += active.idle_since.take().map_or(0, |since| now - since);
                self.schedule(self.settings.decide, worker, Step::Claim(node));
            }
            Decision::Idle => self.idle(worker),
        }
        Ok(())
    }

    /// Notifies a policy that needs it of the nodes that the worker's activation has made claimable.
    fn notify<P: Policy<Shared = S>>(&mut self, policy: &P, local: &mut P::Local, worker: WorkerId) {
        let Some(node) = self.workers[worker].unreported.take() else { return };
        let Some(tokens) = &mut self.tokens else { return };
        tokens[node.index()] -= 1;
        let graph = self.world.graph();
        for other in neighbours(graph, node).into_iter().chain([node]) {
            let max = self.max_tokens(other);
            let token = &mut self.tokens.as_mut().expect("the policy has notifications")[other.index()];
            if *token < max && self.world.claimable(other) {
                *token += 1;
                policy.ready(local, other, &mut self.view(worker));
            }
        }
    }

    fn count_waits(&mut self, decision: Decision) {
        let activated = match decision {
            Decision::Activate(node) if node.index() < self.last_workers.len() => Some(node),
            _ => None,
        };
        self.waits.count(activated, |node| self.world.claimable(node));
    }

    /// Lets a worker call the policy again after a while, or sleep.
    ///
    /// A worker that carries items on may wait although nodes are claimable. It must not sleep: no publication may be left
    /// to wake it. The policy ends the wait; the bound is for one that does not, whose run then fails.
    fn idle(&mut self, worker: WorkerId) {
        let waits = self.carries && self.world.graph().node_ids().any(|node| self.world.claimable(node));
        let idler = &mut self.workers[worker];
        idler.waits = if waits { idler.waits + 1 } else { 0 };
        idler.idle += 1;
        idler.idle_since.get_or_insert(self.now);
        let may_wait = (1..=MAX_WAITS).contains(&idler.waits);
        if may_wait || idler.idle < self.settings.patience {
            self.schedule(self.settings.spin, worker, Step::Decide);
        } else {
            self.workers[worker].asleep = true;
        }
    }

    /// Claims a node for an activation.
    fn begin(&mut self, worker: WorkerId, node: NodeId) {
        self.workers[worker].ticket_waits = 0;
        self.waits.change(node);
        if let Some(firing) = self.world.take_queued(node) {
            self.report.overhead[worker] += self.settings.overhead;
            self.workers[worker].firing = Some((node, firing));
            return self.schedule(self.settings.overhead, worker, Step::Ask);
        }
        let budget = self.budget(node);
        let claim = self.world.hold(node).and_then(|()| self.claim_next(worker, node, budget));
        match claim {
            Ok((claim, left)) => {
                self.report.activations[node.index()] += 1;
                let moved =
                    self.last_workers[node.index()].replace(worker).is_some_and(|owner| owner != worker);
                let extra = if moved { self.settings.migrate } else { 0 };
                self.fire(worker, (node, claim, left), self.settings.overhead + extra);
            }
            Err(event) => {
                self.report.fruitless += u64::from(event != Event::Done);
                self.report.overhead[worker] += self.settings.overhead;
                self.leave(worker, node, event, self.settings.overhead);
            }
        }
    }

    /// Starts the firings of a claim, at an additional cost of `extra`.
    fn fire(&mut self, worker: WorkerId, active: (NodeId, Claim, u64), extra: u64) {
        let claim = active.1;
        let overhead = extra + self.settings.transfer * claim.foreign;
        self.report.overhead[worker] += overhead;
        self.workers[worker].active = Some(active);
        self.schedule(overhead + claim.cost, worker, Step::Finish);
    }

    /// Maximum number of firings of an activation. A worker that carries items on publishes those of a sequential node
    /// once, and stops where the items of another worker begin.
    fn budget(&self, node: NodeId) -> u64 {
        let Claims { budget, claim } = self.sizes.claims(node);
        if !self.carries {
            return budget;
        }
        budget.min(claim).min(self.claimed_at_once(node)).min(self.world.before_another(node))
    }

    /// The limit of a batch that is carried on: see [`batch_limit`].
    fn claimed_at_once(&self, node: NodeId) -> u64 {
        batch_limit(self.world.graph(), node, |consumer| Some(self.sizes.claims(consumer).claim))
    }

    /// Maximum number of firings of a worker's claim.
    fn claim_length(&self, worker: WorkerId, node: NodeId) -> u64 {
        let claim = self.sizes.claims(node).claim;
        match (self.shares, usize::try_from(claim)) {
            (true, Ok(length)) => self.common.plan.claim_for(node, worker, length) as u64,
            _ => claim,
        }
    }

    /// Claims the next firings of a held node, within a budget of `left`. Releases the node if it cannot fire.
    fn claim_next(&mut self, worker: WorkerId, node: NodeId, left: u64) -> Result<(Claim, u64), Event> {
        let parallel = self.world.graph().node(node).kind() == Kind::Parallel;
        let max = self.claim_length(worker, node).min(left);
        match self.world.claim(node, max, Some(worker)) {
            Ok(mut claim) => {
                let end = self.world.next_ticket(node);
                if let Some(caches) = &mut self.caches {
                    claim.cost += caches.fire(Some(worker), node, end - claim.firings..end);
                }
                Ok((claim, if parallel { 0 } else { left - claim.firings }))
            }
            Err(event) => {
                self.world.release(node);
                Err(event)
            }
        }
    }

    /// Ends the firings of a claim, and claims the next ones if budget is left.
    fn finish(&mut self, worker: WorkerId) {
        let (node, claim, left) = self.workers[worker].active.take().expect("an activation runs");
        self.world.finish(node, claim.run);
        self.waits.change(node);
        self.report.busy[worker] += claim.cost;
        self.report.firings[node.index()] += claim.firings;
        self.common.busy_time[node.index()] += claim.cost;
        self.report.makespan = self.now;
        if self.world.waits(node) {
            self.workers[worker].firing = Some((node, Firing::new(claim.run)));
            return self.ask(worker);
        }
        if left == 0 {
            let event = self.world.end_budget(node);
            self.world.release(node);
            return self.leave(worker, node, event, 0);
        }
        match self.claim_next(worker, node, left) {
            Ok((claim, left)) => {
                self.fire(worker, (node, claim, left), 0);
                self.wake_for(node);
            }
            Err(event) => self.leave(worker, node, event, 0),
        }
    }

    /// Lets the worker's firing leave, or exchanges it and stalls for a while.
    fn ask(&mut self, worker: WorkerId) {
        let (node, firing) = self.workers[worker].firing.take().expect("an activation has one");
        let answer = self.world.ask(node, firing);
        self.waits.change(node);
        self.report.makespan = self.now;
        match answer {
            Answer::Left(firing) => {
                self.workers[worker].ticket_waits = firing.waits;
                self.leave(worker, node, Event::Budget, 0);
            }
            Answer::Full(mut firing, channel) => {
                firing.waits = 0;
                self.world.queue(node, firing);
                self.leave(worker, node, Event::Full(channel), 0);
            }
            Answer::Waits(mut firing) => {
                firing.waits += 1;
                let other = self.world.exchange(node, firing);
                self.workers[worker].firing = Some((node, other));
                self.report.stall[worker] += self.settings.ticket_wait;
                self.schedule(self.settings.ticket_wait, worker, Step::Ask);
                self.wake_for(node);
            }
        }
    }

    /// Ends an activation.
    fn leave(&mut self, worker: WorkerId, node: NodeId, event: Event, after: u64) {
        self.workers[worker].last = Some((node, event));
        self.workers[worker].unreported = Some(node);
        self.schedule(after, worker, Step::Decide);
        self.wake_for(node);
    }

    /// Wakes all sleeping workers if a node is claimable.
    fn wake(&mut self) {
        let sleepers = self.sleepers();
        if !sleepers.is_empty() && self.world.graph().node_ids().any(|node| self.world.claimable(node)) {
            sleepers.into_iter().for_each(|worker| self.wake_one(worker));
        }
    }

    /// Wakes sleeping workers after a change of a node. Where each node has its workers, those of the node and of its neighbours
    /// that are claimable: a worker sleeps only while none of its nodes is, and no others have changed.
    fn wake_for(&mut self, node: NodeId) {
        let Some(assignment) = &self.assignment else { return self.wake() };
        let mut sleepers = self.sleepers();
        sleepers.retain(|worker| {
            let runs = |node: &&NodeId| assignment.workers_of(**node).contains(&(*worker as u32));
            self.waits.near(node).iter().filter(runs).any(|node| self.world.claimable(*node))
        });
        sleepers.into_iter().for_each(|worker| self.wake_one(worker));
    }

    fn sleepers(&self) -> Vec<WorkerId> {
        (0..self.workers.len()).filter(|&w| self.workers[w].asleep).collect()
    }

    /// Wakes each sleeping worker that has received a node in its queue.
    fn wake_wanted(&mut self) {
        for worker in 0..self.workers.len() {
            if std::mem::take(&mut self.workers[worker].wanted) && self.workers[worker].asleep {
                self.wake_one(worker);
            }
        }
    }

    fn wake_one(&mut self, worker: WorkerId) {
        (self.workers[worker].asleep, self.workers[worker].idle) = (false, 0);
        self.schedule(self.settings.wake, worker, Step::Decide);
    }
}
