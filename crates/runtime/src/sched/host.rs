//! The engine's side of a policy: its decisions on queues and nodes, and its measurements.

use crate::channel::Origins;
use crate::measure::clock::{Ticks, stamp_cost, ticks};
use crate::measure::recorder::Recorder;
use crate::net::Net;
use crate::sched::affinity::Affinity;
use crate::sched::make_ready::{deliver_pinned, enqueue_at, has_token};
use crate::sched::ready::Ready;
use crate::sync::{Mutex, Ordering};
use thalweg_graph::{ChannelId, GraphData, NodeId};
use thalweg_plan::Plan;
use thalweg_policy::random::XorShift;
use thalweg_policy::{End, Event, Host, Measurements, Occupancy, WorkerId};
use thalweg_trace::What;

/// The engine as the policy of one worker sees it.
pub(crate) struct EngineHost<'a, S> {
    pub(crate) net: &'a Net<'a>,
    /// The state that the policy's workers share. `try_shared` never waits for the lock.
    pub(crate) shared: &'a Mutex<S>,
    pub(crate) worker: WorkerId,
    pub(crate) random: XorShift,
    /// This worker's tries to steal a token, for its account.
    pub(crate) steal_attempts: u64,
    /// Tokens that this worker has stolen, for its account.
    pub(crate) steals: u64,
    /// The time of tries to steal since the decision before a sampled activation began; `None` in another decision.
    pub(crate) stealing: Option<Ticks>,
    /// The worker's timeline, if the run records one.
    pub(crate) recorder: Option<Recorder>,
    /// Whether the next pop tries the queue of pinned nodes first. Alternates.
    pub(crate) pinned_first: bool,
    /// The time at which the worker's latest activation or idle period ended, as far as it was stamped.
    pub(crate) now: Ticks,
    /// The waits of the firing that the worker's latest activation has ended, 0 if it has ended none; `None` where firings do
    /// not wait for their tickets.
    pub(crate) ticket_waits: Option<u64>,
    /// Workers carry items on: the policy adapts, and some items are heavy.
    pub(crate) carries: bool,
    /// The policy is starting: exactly the nodes that have a token count as claimable, so that the calls of
    /// `Policy::start` find each token once. What other threads change meanwhile is reported afterwards
    /// ([`begin_notifying`](crate::sched::make_ready::begin_notifying)).
    pub(crate) starting: bool,
}

impl<S> EngineHost<'_, S> {
    /// Pops from the worker's queue of pinned nodes and from the `others`, alternating which one comes first: a queue
    /// that always came second would starve while the first one is not empty.
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

impl<S> EngineHost<'_, S> {
    /// Tries to steal from a worker by `take`, and counts the attempt and what it has taken.
    fn try_steal(&mut self, from: WorkerId, take: impl FnOnce(&Net<'_>) -> Option<NodeId>) -> Option<NodeId> {
        let stolen = match &mut self.stealing {
            None => take(self.net),
            Some(spent) => {
                let (begin, stolen) = (ticks(), take(self.net));
                *spent += ticks().saturating_sub(begin).saturating_sub(stamp_cost());
                stolen
            }
        };
        self.steal_attempts += 1;
        if let Some(node) = stolen {
            self.steals += 1;
            if let Some(recorder) = &mut self.recorder {
                recorder.add(ticks(), What::Steal { node, from: from as u32 });
            }
        }
        stolen
    }
}

impl<S> Measurements for EngineHost<'_, S> {
    // The loads are `Relaxed` or unrelated to each other, so the numbers are estimates: a policy's choice may be worse
    // for a stale one, and is never wrong.

    fn occupancy(&self, channel: ChannelId) -> Occupancy {
        let meter = self.net.meter(channel);
        Occupancy::new(meter.items(), meter.capacity())
    }

    fn has_producer(&self, channel: ChannelId) -> bool {
        !self.net.meter(channel).ended()
    }

    fn has_consumer(&self, channel: ChannelId) -> bool {
        !self.net.meter(channel).gone()
    }

    fn last_worker(&self, node: NodeId) -> Option<WorkerId> {
        self.net.node(node).state.last_worker()
    }

    fn origin(&self, channel: ChannelId) -> Option<WorkerId> {
        self.net.origin(channel)
    }

    fn any_waiting(&self, channel: ChannelId) -> bool {
        let meter = self.net.meter(channel);
        let consumer = self.net.node(self.net.ends(channel).1);
        // Workers do not activate a node with a thread of its own, or one outside of the run; and one that has left takes none.
        let is_taken = consumer.dedicated.is_none() && consumer.body.is_some() && !meter.gone();
        let waits = |origins: &Origins| origins.any_waiting(meter.head(), meter.tail(), self.worker);
        is_taken && meter.origins().is_some_and(waits)
    }

    fn carries(&self) -> bool {
        self.carries
    }

    fn waits(&self) -> bool {
        self.net.sched.carrying.waits()
    }

    fn ticket_waits(&self) -> Option<u64> {
        self.ticket_waits
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

    fn plan(&self) -> &Plan {
        &self.net.topology.plan
    }

    fn workers(&self) -> usize {
        self.net.threads()
    }

    fn random(&mut self) -> u64 {
        self.random.number()
    }

    /// A hint: another thread may claim the node at the same time, or change its channels.
    fn claimable(&self, node: NodeId) -> bool {
        let claimable = match self.starting {
            true => has_token(self.net, node),
            false => self.net.claimable(node),
        };
        claimable && self.net.may_run(node, self.worker)
    }

    /// A hint, as [`EngineHost::claimable`] is.
    fn lack(&self, node: NodeId) -> Option<Event> {
        self.net.lack(node)
    }

    /// Queues the node where a worker that may run it takes it, and wakes a worker if this one's being awake is not
    /// enough.
    fn push(&mut self, to: WorkerId, node: NodeId) {
        if deliver_pinned(self.net, node, Some(self.worker)) {
            return;
        }
        // A worker beyond the run's width sleeps. If that changes now, `Width::step` moves the token.
        let to = if to < self.net.sleep.width() { to } else { self.worker };
        let affine = self.net.sched.ready.affinity().is_some();
        if affine && to != self.worker {
            // No other worker takes from that queue, so its worker must be awake.
            return enqueue_at(self.net, to, node);
        }
        self.net.sched.ready.push(to, node); // fences, before this thread reads which workers sleep
        // With affinity the queue is this worker's own, and this worker is awake.
        if !affine && self.net.sched.ready.notifies() && self.net.sleep.wants_waking() {
            self.net.sleep.wake_one();
        }
    }

    /// Takes from the worker's queue, the shared queue, or the worker's queue of pinned nodes.
    fn pop(&mut self, end: End) -> Option<NodeId> {
        let worker = self.worker;
        match end {
            End::Oldest => self.pop_in_turn(|ready| ready.pop(worker), |ready| ready.pop_pinned(worker)),
            End::Newest => {
                self.pop_in_turn(|ready| ready.pop_newest(worker), |ready| ready.pop_newest_pinned(worker))
            }
        }
    }

    /// As [`Host::steal`], without a count or an event in the timeline.
    fn reclaim(&mut self, from: WorkerId) -> Option<NodeId> {
        self.net.sched.ready.steal(from)
    }

    /// Takes from another worker's queue, and never from its queue of pinned nodes.
    fn steal(&mut self, from: WorkerId) -> Option<NodeId> {
        self.try_steal(from, |net| net.sched.ready.steal(from))
    }

    fn steal_new(&mut self, from: WorkerId) -> Option<NodeId> {
        self.try_steal(from, |net| {
            let pusher = |node: NodeId| net.inputs(node).first().and_then(|channel| net.origin(*channel));
            net.sched.ready.take_accepted(from, |node| pusher(node) != Some(from))
        })
    }

    /// From the worker's own queue or its queue of pinned nodes, or from another worker's queue, never from that one's
    /// queue of pinned nodes.
    fn take_claimable(&mut self, from: WorkerId) -> Option<NodeId> {
        let (net, worker) = (self.net, self.worker);
        let test = |node| net.claimable(node) && net.may_run(node, worker);
        if from == worker {
            return self.pop_in_turn(
                |ready| ready.take_accepted(worker, test),
                |ready| ready.take_accepted_pinned(worker, test),
            );
        }
        self.try_steal(from, |net| net.sched.ready.take_accepted(from, test))
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
