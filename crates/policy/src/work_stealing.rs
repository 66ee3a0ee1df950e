//! Work stealing among processes: Nornir's WS-CUR and WS-LAST (section 4.2), and a combination of ours.
//!
//! A worker runs the node that became ready last, because its messages are in cache, and steals the oldest node of a
//! random victim. The policies differ in the worker that a ready node is assigned to:
//!
//! - `ws-cur`: the worker that made it ready,
//! - `ws-last`: the worker that ran it last, so that the dozens of nodes that one process may make ready spread
//!   over the workers without being stolen one by one,
//! - [`Place::Near`], which `auto` uses: the worker that made it ready for the first [`NEAR_LIMIT`] nodes of an
//!   activation, the worker that ran it last for the others. Neighbours that communicate stay on one worker, where a
//!   message costs no transfer between caches, and a scatter is spread.
//!
//! A node that a worker keeps goes to the worker's *LIFO slot* and not to its queue; the previous node of the slot
//! goes to the queue. No other worker can steal the node in the slot, no worker is woken for it, and it costs no
//! queue operation. It runs next, so it does not wait.
//!
//! While an activation runs the slot is empty: a node in it could not be stolen, however long the activation lasts.
//!
//! # Carrying items on
//!
//! Under `auto`, where items own memory ([`auto`](crate::auto) says why), a worker goes on with the items that it has pushed:
//!
//! - a ready node goes to the worker that has pushed its next item, whatever the [`Place`]; an activation ends where the
//!   items of another worker begin, so a process moves from worker to worker in the order of the batches,
//! - a worker that would take new input (a source) though items of its own wait for their turn takes the oldest node of its
//!   queue instead, and waits for a moment if there is none but sources: the node that its items wait for is another worker's
//!   then. A node that has spent its budget has yielded to the source, so it would wait for itself;
//! - a worker without a node of its own steals one whose next item the victim has not pushed, before any other.
//!
//! Fair: one decision in [`FAIR_EVERY`], and every decision after a spent budget, takes the oldest node of the
//! worker's queue. While items of its own wait, a worker may pass over a source, up to [`MAX_WAITS`](crate::auto::MAX_WAITS) times
//! in a row.

use crate::auto::{origin, waiting};
use crate::patience::Patience;
use crate::pick::below;
use crate::{Decision, End, Event, Host, Needs, Policy, WorkerId};
use thalweg_graph::{GraphData, NodeId};

/// Of this many decisions of a worker, one takes the oldest node of its queue.
pub const FAIR_EVERY: u32 = 61;

/// Nodes made ready by one activation that stay on the worker under [`Place::Near`]. More than the neighbours of most
/// processes, and few compared with a scatter that is worth spreading.
pub const NEAR_LIMIT: u32 = 4;

/// The worker that a ready node is assigned to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Place {
    /// The worker that made it ready.
    Current,
    /// The worker that ran it last.
    Last,
    /// The worker that made it ready for the first [`NEAR_LIMIT`] nodes of an activation, the worker that ran it
    /// last for the others.
    Near,
}

/// The policies `ws-cur` and `ws-last`.
#[derive(Clone, Copy, Debug)]
pub struct WorkStealing {
    place: Place,
}

/// State of one worker.
#[derive(Clone, Debug)]
pub struct Local {
    worker: WorkerId,
    /// The node that became ready last, of those that this worker keeps.
    lifo_slot: Option<NodeId>,
    /// Ready nodes that this worker has kept since its latest decision.
    kept: u32,
    /// Decisions until the next one that takes the oldest node.
    until_fair: u32,
    /// The worker carries its items on.
    carries: bool,
    patience: Patience,
}

impl WorkStealing {
    /// The name in the registry; `Place::Near` has none there.
    #[cfg(feature = "papers")]
    pub(crate) fn name(&self) -> &'static str {
        match self.place {
            Place::Current => "ws-cur",
            Place::Last => "ws-last",
            Place::Near => "ws-near",
        }
    }

    /// Work stealing that assigns ready nodes by `place`.
    pub const fn new(place: Place) -> WorkStealing {
        WorkStealing { place }
    }

    fn keeps<H: Host>(&self, me: &Local, node: NodeId, host: &H) -> bool {
        let last = || host.last_worker(node).is_none_or(|last| last == me.worker);
        match self.place {
            Place::Current => true,
            Place::Last => last(),
            Place::Near => me.kept < NEAR_LIMIT || last(),
        }
    }
}

/// Pushes the claimable nodes among the run of consecutive nodes dealt to `worker`, each to the worker of `assign`.
/// The runs of all workers cover the graph, so together they push every claimable node once.
pub(crate) fn push_claimable<S, H: Host<S>>(
    worker: WorkerId,
    host: &mut H,
    assign: impl Fn(&H, NodeId) -> WorkerId,
) {
    let (nodes, workers) = (host.graph().nodes().len(), host.workers());
    for node in worker * nodes / workers..(worker + 1) * nodes / workers {
        let node = NodeId(node as u32);
        if host.claimable(node) {
            host.push(assign(host, node), node);
        }
    }
}

impl Policy for WorkStealing {
    type Local = Local;
    type Shared = ();

    /// Deals the claimable nodes: to the workers that the plan says, the others in runs of consecutive nodes.
    fn start<H: Host>(&self, worker: WorkerId, host: &mut H) -> Local {
        let planned = host.plan().workers(host.graph());
        push_claimable(worker, host, |host, node| {
            planned.of(node).filter(|to| *to < host.workers()).unwrap_or(worker)
        });
        Local { carries: self.place == Place::Near && host.carries(), ..Local::new(worker) }
    }

    fn stand_down<H: Host>(&self, me: &mut Local, host: &mut H) {
        if let Some(node) = me.lifo_slot.take() {
            host.push(me.worker, node);
        }
    }

    fn needs(&self, _graph: &GraphData) -> Needs {
        Needs::Notifications
    }

    #[inline(always)]
    fn ready<H: Host>(&self, me: &mut Local, node: NodeId, host: &mut H) {
        if me.carries
            && let Some(pusher) = origin(node, host)
            && pusher != me.worker
        {
            return host.push(pusher, node);
        }
        if !self.keeps(me, node, host) {
            let last = host.last_worker(node).unwrap_or(me.worker);
            return host.push(last, node);
        }
        me.kept += 1;
        me.keep(node, host);
    }

    /// While the LIFO slot is empty, a process that this worker ran last would enter the slot under every
    /// [`Place`], and `next` would take it out again, until the next decision that takes the oldest node.
    #[inline(always)]
    fn handoffs(&self, me: &mut Local, followed: u32) -> u32 {
        me.until_fair -= followed;
        if me.lifo_slot.is_none() { me.until_fair.saturating_sub(1) } else { 0 }
    }

    #[inline(always)]
    fn next<H: Host>(&self, me: &mut Local, last: Option<(NodeId, Event)>, host: &mut H) -> Decision {
        if me.carries {
            return me.carry(last, host);
        }
        let chosen = me.own(last, host).or_else(|| me.steal(host, H::steal));
        chosen.map_or(Decision::Idle, Decision::Activate)
    }
}

impl Local {
    pub(crate) fn new(worker: WorkerId) -> Local {
        Local {
            worker,
            lifo_slot: None,
            kept: 0,
            until_fair: FAIR_EVERY,
            carries: false,
            patience: Patience::default(),
        }
    }

    /// Puts a ready node into the LIFO slot, and the previous node of the slot into the worker's own queue.
    #[inline]
    pub(crate) fn keep<S, H: Host<S>>(&mut self, node: NodeId, host: &mut H) {
        if let Some(before) = self.lifo_slot.replace(node) {
            host.push(self.worker, before);
        }
    }

    /// The next node from the slot or the worker's own queue.
    #[inline(always)]
    pub(crate) fn own<S, H: Host<S>>(
        &mut self,
        last: Option<(NodeId, Event)>,
        host: &mut H,
    ) -> Option<NodeId> {
        self.until_fair -= 1;
        self.kept = 0;
        let spent = last.filter(|(_, event)| matches!(event, Event::Budget)).map(|(node, _)| node);
        if self.until_fair > 0
            && spent.is_none()
            && let Some(latest) = self.lifo_slot.take()
        {
            return Some(latest);
        }
        self.choose(spent, host)
    }

    /// The general case of [`Local::own`]; `spent` is the node of the latest activation if that spent its budget.
    fn choose<S, H: Host<S>>(&mut self, spent: Option<NodeId>, host: &mut H) -> Option<NodeId> {
        // The host notifies of the activated node last, so a spent node that is still ready is in the slot. It
        // yields to the others.
        let yielded = if spent.is_some() && self.lifo_slot == spent { self.lifo_slot.take() } else { None };
        let fair = self.until_fair == 0;
        if fair {
            self.until_fair = FAIR_EVERY;
        }
        let oldest = if fair || yielded.is_some() { host.pop(End::Oldest) } else { None };
        let chosen = oldest.or_else(|| self.lifo_slot.take()).or_else(|| host.pop(End::Newest));
        if let (Some(yielded), Some(_)) = (yielded, chosen) {
            host.push(self.worker, yielded);
        }
        // The oldest node goes first. If its firing is long, another worker must be able to take the one in the slot.
        if let Some(passed_over) = self.lifo_slot.take() {
            host.push(self.worker, passed_over);
        }
        chosen.or(yielded)
    }

    /// The decision of a worker that carries its items on: see the module.
    #[inline(never)]
    fn carry<H: Host>(&mut self, last: Option<(NodeId, Event)>, host: &mut H) -> Decision {
        // A worker that waits asks often, and these questions are no fair decisions.
        let is_fair = self.until_fair == 1 && !self.patience.is_waiting();
        let own = self.own(last, host);
        let takes_new = !is_fair && own.is_none_or(|node| host.graph().node(node).is_source());
        let behind = if takes_new { waiting(host) } else { None };
        if self.patience.waits_for(behind) {
            // Counted as a wait, so that nodes that keep each other ready do not hold a source up for ever.
            if let Some(other) = own.and_then(|source| self.swap_for_oldest(source, host)) {
                self.patience.works_meanwhile();
                return Decision::Activate(other);
            }
            // In the queue, since a worker that has a node in its slot must not sleep.
            own.inspect(|source| host.push(self.worker, *source));
            return Decision::Idle;
        }
        let stolen = own.or_else(|| self.steal(host, H::steal_new)).or_else(|| self.steal(host, H::steal));
        stolen.map_or(Decision::Idle, Decision::Activate)
    }

    /// The oldest node of the worker's queue, if it is no source; `source` goes to the back of the queue. If the oldest node is a
    /// source too, that moves to the back, and the next call finds another node.
    fn swap_for_oldest<H: Host>(&self, source: NodeId, host: &mut H) -> Option<NodeId> {
        let oldest = host.pop(End::Oldest)?;
        let (stays, taken) =
            if host.graph().node(oldest).is_source() { (oldest, None) } else { (source, Some(oldest)) };
        host.push(self.worker, stays);
        taken
    }

    /// A node of another worker's queue, by `take`, in rotation from a random victim on.
    fn steal<S, H: Host<S>>(
        &self,
        host: &mut H,
        take: impl Fn(&mut H, WorkerId) -> Option<NodeId>,
    ) -> Option<NodeId> {
        let workers = host.workers();
        if workers == 1 {
            return None;
        }
        let first = below(host, workers);
        let mut victims = (0..workers).map(|i| (first + i) % workers).filter(|&v| v != self.worker);
        victims.find_map(|victim| take(host, victim))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graphs;
    use crate::mock::Mock;
    use thalweg_graph::ChannelId;

    fn started(place: Place, workers: usize) -> (WorkStealing, Mock, Vec<Local>) {
        let mut host = Mock::with_workers(graphs::chain(6), workers);
        let policy = WorkStealing::new(place);
        let locals = (0..workers).map(|w| policy.start(w, &mut host)).collect();
        (policy, host, locals)
    }

    fn activate(decision: Decision) -> u32 {
        let Decision::Activate(node) = decision else { panic!("idle") };
        node.0
    }

    #[test]
    fn nodes_are_dealt_in_runs() {
        let (_, host, _) = started(Place::Current, 2);
        let queue = |w: usize| host.queues[w].iter().map(|n| n.0).collect::<Vec<_>>();
        assert_eq!((queue(0), queue(1)), (vec![0, 1, 2], vec![3, 4, 5]));
    }

    #[test]
    fn nodes_are_dealt_to_the_workers_of_the_plan() {
        let mut host = Mock::with_workers(graphs::chain(6), 2);
        *host.plan.segments_mut() = vec![vec![NodeId(4)], vec![NodeId(1), NodeId(2)]];
        let policy = WorkStealing::new(Place::Current);
        (0..2).for_each(|w| _ = policy.start(w, &mut host));
        let queue = |w: usize| host.queues[w].iter().map(|n| n.0).collect::<Vec<_>>();
        assert_eq!((queue(0), queue(1)), (vec![0, 4], vec![1, 2, 3, 5]));
    }

    #[test]
    fn the_newest_is_run_and_the_oldest_is_stolen() {
        let (policy, mut host, mut locals) = started(Place::Current, 2);
        policy.ready(&mut locals[0], NodeId(5), &mut host);
        policy.ready(&mut locals[0], NodeId(4), &mut host);
        assert_eq!(activate(policy.next(&mut locals[0], None, &mut host)), 4);
        assert_eq!(activate(policy.next(&mut locals[0], None, &mut host)), 5);
        host.queues[1].clear();
        host.me = 1;
        assert_eq!(activate(policy.next(&mut locals[1], None, &mut host)), 0);
    }

    #[test]
    fn a_node_with_a_spent_budget_yields_to_the_oldest() {
        let (policy, mut host, mut locals) = started(Place::Current, 1);
        let me = &mut locals[0];
        let order: Vec<u32> = (0..8)
            .scan(None, |last, _| {
                let node = NodeId(activate(policy.next(me, *last, &mut host)));
                policy.ready(me, node, &mut host);
                *last = Some((node, Event::Budget));
                Some(node.0)
            })
            .collect();
        assert_eq!(order, [5, 0, 1, 2, 3, 4, 5, 0]);
    }

    /// An activation may last for seconds.
    #[test]
    fn no_node_waits_in_the_slot_while_another_one_runs() {
        let (policy, mut host, mut locals) = started(Place::Current, 1);
        let me = &mut locals[0];
        let runs_oldest = (0..FAIR_EVERY).any(|_| {
            policy.ready(me, NodeId(5), &mut host);
            let empty = Some((NodeId(5), Event::Empty(ChannelId(0))));
            let node = activate(policy.next(me, empty, &mut host));
            assert_eq!(me.lifo_slot, None);
            assert!(node == 5 || host.queues[0].contains(&NodeId(5)), "another worker can steal it");
            node != 5
        });
        assert!(runs_oldest);
    }

    #[test]
    fn a_worker_that_stands_down_leaves_its_nodes_in_its_queue() {
        let (policy, mut host, mut locals) = started(Place::Near, 1);
        let before = host.queues[0].len();
        policy.ready(&mut locals[0], NodeId(5), &mut host);
        assert_eq!(host.queues[0].len(), before);
        policy.stand_down(&mut locals[0], &mut host);
        assert_eq!((host.queues[0].len(), locals[0].lifo_slot), (before + 1, None));
    }

    #[test]
    fn handoffs_count_as_the_decisions_that_they_replace() {
        let fair_at = |handoffs: bool| {
            let (policy, mut host, mut locals) = started(Place::Near, 1);
            let me = &mut locals[0];
            host.last = vec![Some(0); 6];
            for decision in 1.. {
                if handoffs && decision == 7 {
                    let bound = policy.handoffs(me, 0);
                    policy.handoffs(me, bound - 3);
                }
                policy.ready(me, NodeId(5), &mut host);
                assert_eq!(policy.handoffs(me, 0), 0, "the slot is full");
                if activate(policy.next(me, Some((NodeId(5), Event::Empty(ChannelId(0)))), &mut host)) != 5 {
                    return decision;
                }
            }
            0
        };
        assert_eq!(fair_at(false), FAIR_EVERY);
        // Six before the series, three that the series left, and the fair one.
        assert_eq!(fair_at(true), 6 + 3 + 1);
    }

    #[test]
    fn a_ready_node_is_assigned_by_the_place() {
        for (place, here) in [(Place::Current, 6), (Place::Last, 0), (Place::Near, NEAR_LIMIT)] {
            let (policy, mut host, mut locals) = started(place, 2);
            host.last = vec![Some(1); 6];
            // The count begins again with each activation.
            for _ in 0..2 {
                host.queues.iter_mut().for_each(|queue| queue.clear());
                for node in 0..6 {
                    let before = host.queues[1].len();
                    policy.ready(&mut locals[0], NodeId(node), &mut host);
                    assert_eq!(host.queues[1].len() == before, node < here, "{place:?}");
                }
                policy.next(&mut locals[0], None, &mut host);
                locals[0].lifo_slot = None;
            }
        }
    }

    /// Two workers that carry items on, with empty queues. Channel `n` leads to node `n + 1`.
    fn carrying() -> (WorkStealing, Mock, Vec<Local>) {
        let mut host = Mock::with_workers(graphs::chain(6), 2);
        host.carries = true;
        let policy = WorkStealing::new(Place::Near);
        let locals = (0..2).map(|worker| policy.start(worker, &mut host)).collect();
        host.queues.iter_mut().for_each(|queue| queue.clear());
        (policy, host, locals)
    }

    #[test]
    fn a_ready_node_goes_to_the_worker_that_has_pushed_its_next_item() {
        let (policy, mut host, mut locals) = carrying();
        host.origins[2] = Some(1);
        host.origins[3] = Some(0);
        for node in [3, 4, 0] {
            policy.ready(&mut locals[0], NodeId(node), &mut host);
        }
        assert_eq!(host.queues[1], [NodeId(3)]);
        assert_eq!(locals[0].lifo_slot, Some(NodeId(0)), "a source has no items");
        assert_eq!(host.queues[0], [NodeId(4)]);
    }

    #[test]
    fn a_source_waits_for_the_turn_of_the_items_before_it() {
        let (policy, mut host, mut locals) = carrying();
        let (me, spent) = (&mut locals[0], Some((NodeId(0), Event::Budget)));
        policy.ready(me, NodeId(0), &mut host);
        host.waiting[0] = true;
        for _ in 0..crate::auto::MAX_WAITS {
            assert_eq!(policy.next(me, spent, &mut host), Decision::Idle);
            assert_eq!((me.lifo_slot, host.queues[0].len()), (None, 1), "another worker can take it");
        }
        assert_eq!(activate(policy.next(me, spent, &mut host)), 0, "it has waited in vain");
        policy.ready(me, NodeId(0), &mut host);
        assert_eq!(activate(policy.next(me, spent, &mut host)), 0, "and does not again");
        // Nodes that are no sources do not wait.
        host.traffic[0] = 1;
        policy.ready(me, NodeId(4), &mut host);
        assert_eq!(activate(policy.next(me, spent, &mut host)), 4);
    }

    /// A node that has spent its budget yields to the source. Its worker has it in the queue and waits for no other worker.
    #[test]
    fn a_worker_does_not_wait_for_a_node_of_its_own_queue() {
        let (policy, mut host, mut locals) = carrying();
        let me = &mut locals[0];
        host.waiting[0] = true;
        host.queues[0].push_back(NodeId(0));
        for _ in 1..FAIR_EVERY {
            policy.ready(me, NodeId(1), &mut host);
            let spent = Some((NodeId(1), Event::Budget));
            assert_eq!(activate(policy.next(me, spent, &mut host)), 1);
            assert_eq!(host.queues[0], [NodeId(0)], "the source stays in the queue");
        }
        policy.ready(me, NodeId(1), &mut host);
        assert_eq!(activate(policy.next(me, None, &mut host)), 0, "the fair decision");
    }

    #[test]
    fn a_node_between_two_sources_is_found() {
        let mut host = Mock::with_workers(graphs::two_sources(), 2);
        (host.carries, host.waiting[0]) = (true, true);
        let policy = WorkStealing::new(Place::Near);
        let me = &mut policy.start(0, &mut host);
        host.queues[0] = [NodeId(0), graphs::HUB, NodeId(1)].into();
        assert_eq!(policy.next(me, None, &mut host), Decision::Idle);
        assert_eq!(policy.next(me, None, &mut host), Decision::Activate(graphs::HUB));
        assert!(!me.patience.is_waiting() && host.queues[0].len() == 2);
        assert_eq!(policy.next(me, None, &mut host), Decision::Idle, "both sources wait");
    }

    #[test]
    fn what_the_victim_carries_on_is_stolen_last() {
        let (policy, mut host, mut locals) = carrying();
        host.origins[2] = Some(1);
        host.queues[1].extend([NodeId(3), NodeId(0)]);
        let mut stolen = || activate(policy.next(&mut locals[0], None, &mut host));
        assert_eq!([stolen(), stolen()], [0, 3]);
    }
}
