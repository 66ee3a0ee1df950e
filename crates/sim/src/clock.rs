//! Workers in virtual time.

use crate::view::{Notes, View, Worker};
use crate::world::{Claim, World, neighbours};
use crate::{Failure, Model, Report, Settings};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use thalweg_graph::{Kind, NodeId};
use thalweg_policy::record::Entry;
use thalweg_policy::{Decision, Event, Host, Needs, Policy, Shared, WorkerId};

/// Runs a model under a policy until all nodes have ended.
///
/// # Errors
/// The policy broke a law, or the model cannot end.
pub fn run<P: Policy>(policy: &P, model: &Model, settings: &Settings) -> Result<Report, Failure> {
    let mut clock: Clock<'_, P::Shared> = Clock::new(model, *settings);
    let Needs { notifications, affinity } = policy.needs(&model.graph);
    let begins = |node: NodeId| usize::from(clock.world.claimable(node));
    clock.tokens = (notifications || affinity).then(|| model.graph.node_ids().map(begins).collect());
    let mut locals: Vec<P::Local> =
        (0..settings.workers).map(|w| policy.start(w, &mut clock.view(w))).collect();
    for worker in 0..settings.workers {
        clock.schedule(0, worker, Step::Ask);
    }
    for _ in 0..settings.steps {
        let Some((worker, step)) = clock.advance() else {
            if clock.arrive(affinity) {
                continue;
            }
            return clock.close();
        };
        match step {
            Step::Ask => clock.ask(policy, &mut locals[worker], worker)?,
            Step::Claim(node) => clock.begin(worker, node),
            Step::Finish => clock.finish(worker),
        }
    }
    Err(Failure::TooLong)
}

/// What a worker does at its next moment.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Step {
    Ask,
    Claim(NodeId),
    Finish,
}

/// A moment: its time, its number (so that moments of one time keep their order), and what it is.
type Moment = Reverse<(u64, u64, WorkerId, Step)>;

struct Clock<'m, S> {
    world: World<'m>,
    settings: Settings,
    workers: Vec<Worker>,
    heap: BinaryHeap<Moment>,
    moments: u64,
    now: u64,
    /// Who activated a node last.
    owners: Vec<Option<WorkerId>>,
    notes: Notes<S>,
    /// Tokens of each node, where the policy is told.
    tokens: Option<Vec<usize>>,
    /// What starving sources have still to give, the next round last.
    arrivals: Vec<Vec<(NodeId, u64)>>,
    /// Decisions since a node became claimable or was activated.
    waits: Vec<u64>,
    report: Report,
}

impl<'m, S: Shared> Clock<'m, S> {
    fn new(model: &'m Model, settings: Settings) -> Clock<'m, S> {
        let (workers, nodes) = (settings.workers, model.graph.nodes().len());
        let window = if settings.window == 0 { 2 * workers } else { settings.window };
        Clock {
            world: World::new(model, window, settings.foresight),
            settings,
            workers: (0..workers).map(|worker| Worker::new(settings.seed, worker)).collect(),
            heap: BinaryHeap::new(),
            moments: 0,
            now: 0,
            owners: vec![None; nodes],
            notes: Notes::new(nodes),
            tokens: None,
            arrivals: model.arrivals().into_iter().rev().collect(),
            waits: vec![0; nodes],
            report: Report {
                makespan: 0,
                busy: vec![0; workers],
                overhead: vec![0; workers],
                firings: vec![0; nodes],
                activations: vec![0; nodes],
                fruitless: 0,
                decisions: Vec::new(),
                longest_wait: 0,
            },
        }
    }

    fn view(&mut self, worker: WorkerId) -> View<'_, 'm, S> {
        View {
            world: &self.world,
            workers: &mut self.workers,
            owners: &self.owners,
            notes: &mut self.notes,
            now: self.now,
            worker,
        }
    }

    fn schedule(&mut self, after: u64, worker: WorkerId, step: Step) {
        self.moments += 1;
        self.heap.push(Reverse((self.now + after, self.moments, worker, step)));
    }

    fn advance(&mut self) -> Option<(WorkerId, Step)> {
        let Reverse((time, _, worker, step)) = self.heap.pop()?;
        self.now = time;
        Some((worker, step))
    }

    /// All workers sleep: what comes from outside arrives, round by round, until some node is claimable
    /// and its workers are awake. False where nothing is left to come.
    fn arrive(&mut self, affinity: bool) -> bool {
        while let Some(round) = self.arrivals.pop() {
            for (source, firings) in round {
                self.world.arrive(source, firings);
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

    /// Makes tokens of nodes that an arrival has made claimable, for a policy that wants notifications.
    fn notify_outside(&mut self, source: NodeId, affinity: bool) {
        for node in neighbours(self.world.graph(), source) {
            let most = self.most_tokens(node);
            let Some(tokens) = &mut self.tokens else { return };
            if tokens[node.index()] < most && self.world.claimable(node) {
                tokens[node.index()] += 1;
                match self.view(0).affinity(node).filter(|_| affinity) {
                    Some(worker) => self.workers[worker].queue.push_back(node),
                    None => self.notes.outside.push_back(node),
                }
            }
        }
    }

    fn most_tokens(&self, node: NodeId) -> usize {
        if self.world.graph().node(node).kind == Kind::Parallel { self.workers.len() } else { 1 }
    }

    /// Nobody has anything to do: why?
    fn close(self) -> Result<Report, Failure> {
        let claimable: Vec<NodeId> =
            self.world.graph().node_ids().filter(|&n| self.world.claimable(n)).collect();
        match (self.world.has_ended(), claimable.is_empty()) {
            (true, _) => Ok(self.report),
            (false, false) => Err(Failure::Stalled { claimable }),
            (false, true) => Err(Failure::Deadlock { waiting: self.world.alive() }),
        }
    }

    fn ask<P: Policy<Shared = S>>(
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
        self.wake_rung();
        match decision {
            Decision::Activate(node) if node.index() >= self.owners.len() => {
                return Err(Failure::NoSuchNode { node });
            }
            Decision::Activate(node) => {
                let (now, active) = (self.now, &mut self.workers[worker]);
                active.idle = 0;
                active.idle_before += active.idle_since.take().map_or(0, |since| now - since);
                self.schedule(self.settings.decide, worker, Step::Claim(node));
            }
            Decision::Idle => self.rest(worker),
        }
        Ok(())
    }

    /// Notifies a policy that needs it of the nodes that the worker's activation has made claimable.
    fn notify<P: Policy<Shared = S>>(&mut self, policy: &P, local: &mut P::Local, worker: WorkerId) {
        let Some(node) = self.workers[worker].news.take() else { return };
        let Some(tokens) = &mut self.tokens else { return };
        tokens[node.index()] -= 1;
        let graph = self.world.graph();
        for other in neighbours(graph, node).into_iter().chain([node]) {
            let most = self.most_tokens(other);
            let token = &mut self.tokens.as_mut().expect("the policy has notifications")[other.index()];
            if *token < most && self.world.claimable(other) {
                *token += 1;
                policy.ready(local, other, &mut self.view(worker));
            }
        }
    }

    fn count_waits(&mut self, decision: Decision) {
        for node in self.world.graph().node_ids() {
            let wait = &mut self.waits[node.index()];
            let waits = self.world.claimable(node) && decision != Decision::Activate(node);
            *wait = if waits { *wait + 1 } else { 0 };
            self.report.longest_wait = self.report.longest_wait.max(*wait);
        }
    }

    fn rest(&mut self, worker: WorkerId) {
        self.workers[worker].idle += 1;
        self.workers[worker].idle_since.get_or_insert(self.now);
        if self.workers[worker].idle < self.settings.patience {
            self.schedule(self.settings.spin, worker, Step::Ask);
        } else {
            self.workers[worker].asleep = true;
        }
    }

    /// A claim takes effect.
    fn begin(&mut self, worker: WorkerId, node: NodeId) {
        let claim = self.world.hold(node).and_then(|()| self.go_on(worker, node, self.settings.budget));
        match claim {
            Ok((claim, left)) => {
                self.report.activations[node.index()] += 1;
                let moved = self.owners[node.index()].replace(worker).is_some_and(|owner| owner != worker);
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

    /// Starts the firings of a claim, which cost `extra` besides.
    fn fire(&mut self, worker: WorkerId, active: (NodeId, Claim, u64), extra: u64) {
        let claim = active.1;
        let overhead = extra + self.settings.transfer * claim.foreign;
        self.report.overhead[worker] += overhead;
        self.workers[worker].active = Some(active);
        self.schedule(overhead + claim.cost, worker, Step::Finish);
    }

    /// Claims the next firings of a node that is held, of a budget of `left`; hands the node back
    /// where there are none.
    fn go_on(&mut self, worker: WorkerId, node: NodeId, left: u64) -> Result<(Claim, u64), Event> {
        let parallel = self.world.graph().node(node).kind == Kind::Parallel;
        let most = if parallel { self.settings.run } else { self.settings.slice.min(left) };
        match self.world.claim(node, most, worker) {
            Ok(claim) if parallel => Ok((claim, 0)),
            Ok(claim) => Ok((claim, left - claim.firings)),
            Err(event) => {
                self.world.release(node);
                Err(event)
            }
        }
    }

    /// Claimed firings are done.
    fn finish(&mut self, worker: WorkerId) {
        let (node, claim, left) = self.workers[worker].active.take().expect("an activation runs");
        self.world.finish(node, claim.run, worker);
        self.report.busy[worker] += claim.cost;
        self.report.firings[node.index()] += claim.firings;
        self.notes.busy_time[node.index()] += claim.cost;
        self.report.makespan = self.now;
        if left == 0 {
            self.world.announce(node);
            self.world.release(node);
            return self.leave(worker, node, Event::Budget, 0);
        }
        match self.go_on(worker, node, left) {
            Ok((claim, left)) => {
                self.fire(worker, (node, claim, left), 0);
                self.wake();
            }
            Err(event) => self.leave(worker, node, event, 0),
        }
    }

    /// An activation has ended.
    fn leave(&mut self, worker: WorkerId, node: NodeId, event: Event, after: u64) {
        self.workers[worker].last = Some((node, event));
        self.workers[worker].news = Some(node);
        self.schedule(after, worker, Step::Ask);
        self.wake();
    }

    /// Lets sleeping workers ask again, if there is something to ask for.
    fn wake(&mut self) {
        let sleepers: Vec<WorkerId> = (0..self.workers.len()).filter(|&w| self.workers[w].asleep).collect();
        if sleepers.is_empty() || !self.world.graph().node_ids().any(|n| self.world.claimable(n)) {
            return;
        }
        sleepers.into_iter().for_each(|worker| self.rouse(worker));
    }

    /// Lets those ask again who were given something in their sleep.
    fn wake_rung(&mut self) {
        for worker in 0..self.workers.len() {
            if std::mem::take(&mut self.workers[worker].rung) && self.workers[worker].asleep {
                self.rouse(worker);
            }
        }
    }

    fn rouse(&mut self, worker: WorkerId) {
        (self.workers[worker].asleep, self.workers[worker].idle) = (false, 0);
        self.schedule(self.settings.wake, worker, Step::Ask);
    }
}
