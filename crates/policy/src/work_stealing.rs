//! Work stealing among processes: Nornir's WS-CUR and WS-LAST (section 4.2), and ours between them.
//!
//! A worker runs what became ready last, for its messages are warm, and steals what is oldest from
//! a random victim. The policies differ in whom a node joins that becomes ready:
//!
//! - `ws-cur`: the worker that made it so,
//! - `ws-last`: the worker that ran it last, so that what one process wakes by the dozen is spread
//!   without being stolen one by one,
//! - and [`Place::Near`], which `auto` uses: the first [`FEW`] that an activation makes ready stay, and
//!   the others join who ran them last. Neighbours that talk to each other stay on one worker, where
//!   passing them on costs nobody anything, and a scatter is spread.
//!
//! The latest is kept in hand and not in the queue: nobody can steal it, nobody is woken for it,
//! and it costs no queue operation. It is run next, so it does not wait.
//!
//! Fair: one decision in [`FAIR_EVERY`], and each after a spent budget, goes to the oldest node of
//! the worker's queue.

use crate::pick::below;
use crate::{Decision, End, Event, Host, Needs, Policy, WorkerId};
use thalweg_graph::{GraphData, NodeId};

/// Decisions of a worker from one that goes to the oldest of its queue to the next.
pub const FAIR_EVERY: u32 = 61;

/// How many that an activation makes ready stay with [`Place::Near`]. More than the neighbours that most
/// processes have, and little beside what is worth spreading.
pub const FEW: u32 = 4;

/// Whose queue a node joins that has become ready.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Place {
    /// Of the worker that made it ready.
    Current,
    /// Of the worker that ran it last.
    Last,
    /// The first few of an activation, of the worker that made them ready; others, of the one that ran
    /// them last.
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
    /// What became ready last, and joins this worker.
    latest: Option<NodeId>,
    /// How many have become ready since this worker decided last.
    made: u32,
    /// Decisions until one goes to the oldest.
    until_fair: u32,
}

impl WorkStealing {
    /// Its name in the registry, where it has one.
    pub(crate) fn name(&self) -> &'static str {
        match self.place {
            Place::Current => "ws-cur",
            Place::Last => "ws-last",
            Place::Near => "ws-near",
        }
    }

    /// Work stealing where ready nodes join the queue that `place` says.
    pub const fn new(place: Place) -> WorkStealing {
        WorkStealing { place }
    }

    fn is_mine<H: Host>(&self, me: &Local, node: NodeId, host: &H) -> bool {
        let last = || host.last_worker(node).is_none_or(|last| last == me.worker);
        match self.place {
            Place::Current => true,
            Place::Last => last(),
            Place::Near => me.made < FEW || last(),
        }
    }
}

/// Of a worker's run of neighbours, pushes those that can begin to whose they are.
pub(crate) fn begin_with<S, H: Host<S>>(
    worker: WorkerId,
    host: &mut H,
    whose: impl Fn(&H, NodeId) -> WorkerId,
) {
    let (nodes, workers) = (host.graph().nodes().len(), host.workers());
    for node in worker * nodes / workers..(worker + 1) * nodes / workers {
        let node = NodeId(node as u32);
        if host.claimable(node) {
            host.push(whose(host, node), node);
        }
    }
}

impl Policy for WorkStealing {
    type Local = Local;
    type Shared = ();

    /// The nodes that can begin are dealt, in runs of neighbours.
    fn start<H: Host>(&self, worker: WorkerId, host: &mut H) -> Local {
        begin_with(worker, host, |_, _| worker);
        Local::new(worker)
    }

    fn needs(&self, _graph: &GraphData) -> Needs {
        Needs::NOTIFICATIONS
    }

    #[inline(always)]
    fn ready<H: Host>(&self, me: &mut Local, node: NodeId, host: &mut H) {
        if !self.is_mine(me, node, host) {
            let last = host.last_worker(node).unwrap_or(me.worker);
            return host.push(last, node);
        }
        me.made += 1;
        me.keep(node, host);
    }

    /// Whoever was run here last is kept in an empty hand, whatever the place, and taken from it until
    /// it is the oldest's turn.
    #[inline(always)]
    fn handoffs(&self, me: &mut Local, followed: u32) -> u32 {
        me.until_fair -= followed;
        if me.latest.is_none() { me.until_fair.saturating_sub(1) } else { 0 }
    }

    #[inline(always)]
    fn next<H: Host>(&self, me: &mut Local, last: Option<(NodeId, Event)>, host: &mut H) -> Decision {
        let chosen = me.own(last, host).or_else(|| me.steal(host));
        chosen.map_or(Decision::Idle, Decision::Activate)
    }
}

impl Local {
    pub(crate) fn new(worker: WorkerId) -> Local {
        Local { worker, latest: None, made: 0, until_fair: FAIR_EVERY }
    }

    /// Takes a ready node in hand, to be run next; what was there joins the worker's own queue.
    #[inline]
    pub(crate) fn keep<S, H: Host<S>>(&mut self, node: NodeId, host: &mut H) {
        if let Some(before) = self.latest.replace(node) {
            host.push(self.worker, before);
        }
    }

    /// What comes next of what this worker has.
    #[inline(always)]
    pub(crate) fn own<S, H: Host<S>>(
        &mut self,
        last: Option<(NodeId, Event)>,
        host: &mut H,
    ) -> Option<NodeId> {
        self.until_fair -= 1;
        self.made = 0;
        let spent = last.filter(|(_, event)| matches!(event, Event::Budget)).map(|(node, _)| node);
        if self.until_fair > 0
            && spent.is_none()
            && let Some(latest) = self.latest.take()
        {
            return Some(latest);
        }
        self.look(spent, host)
    }

    /// Looks beyond what is in hand; `spent` has just had its time.
    fn look<S, H: Host<S>>(&mut self, spent: Option<NodeId>, host: &mut H) -> Option<NodeId> {
        // Who has had its time is told of last, being ready still: it stands back.
        let kept = if spent.is_some() && self.latest == spent { self.latest.take() } else { None };
        let fair = self.until_fair == 0;
        if fair {
            self.until_fair = FAIR_EVERY;
        }
        let oldest = if fair || kept.is_some() { host.pop(End::Oldest) } else { None };
        let chosen = oldest.or_else(|| self.latest.take()).or_else(|| host.pop(End::Newest));
        if let (Some(kept), Some(_)) = (kept, chosen) {
            host.push(self.worker, kept);
        }
        chosen.or(kept)
    }

    /// The oldest of another worker's queue, victims in rotation from a random one.
    fn steal<S, H: Host<S>>(&self, host: &mut H) -> Option<NodeId> {
        let workers = host.workers();
        if workers == 1 {
            return None;
        }
        let first = below(host, workers);
        let mut victims = (0..workers).map(|i| (first + i) % workers).filter(|&v| v != self.worker);
        victims.find_map(|victim| host.steal(victim))
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
    fn a_spent_budget_gives_way_to_the_oldest() {
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
                assert_eq!(policy.handoffs(me, 0), 0, "its hand is full");
                if activate(policy.next(me, Some((NodeId(5), Event::Empty(ChannelId(0)))), &mut host)) != 5 {
                    return decision;
                }
            }
            0
        };
        assert_eq!(fair_at(false), FAIR_EVERY);
        // Six before, three that were left over, and the fair one.
        assert_eq!(fair_at(true), 6 + 3 + 1);
    }

    #[test]
    fn who_is_ready_joins_whom_the_place_says() {
        for (place, here) in [(Place::Current, 6), (Place::Last, 0), (Place::Near, FEW)] {
            let (policy, mut host, mut locals) = started(place, 2);
            host.last = vec![Some(1); 6];
            // Of each activation anew.
            for _ in 0..2 {
                host.queues.iter_mut().for_each(|queue| queue.clear());
                for node in 0..6 {
                    let before = host.queues[1].len();
                    policy.ready(&mut locals[0], NodeId(node), &mut host);
                    assert_eq!(host.queues[1].len() == before, node < here, "{place:?}");
                }
                policy.next(&mut locals[0], None, &mut host);
                locals[0].latest = None;
            }
        }
    }
}
