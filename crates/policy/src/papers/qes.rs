//! Queue event-based scheduling (DANBI, section III-A2, Algorithm 1).
//!
//! An empty input sends the worker to the producer, a full output to the consumer. Where a thread waits for its
//! ticket, or has finished its run, the worker stays at the kernel. If the kernel chosen so cannot fire either, the
//! worker follows what that one lacks, and so on. A random kernel replaces one that another worker holds, and one to
//! which this walk returns.
//!
//! Where we differ: the paper schedules user-level threads, and learns that a thread is blocked by running it; here
//! [`Host::claimable`] and [`Host::lack`] tell in advance. In the paper the end of a run is followed by a run of the
//! same kernel, whose first queue operation may block and so raise the event; here the activation ends without that
//! event, and [`Host::lack`] stands for it. A wait for a ticket ends no activation: where firings wait the worker exchanges
//! them within it (lines 1 to 5), and elsewhere no worker waits. [`Event::Waiting`] means that tickets in flight must retire
//! first, and the kernel is not claimable until they have.
//!
//! The workers that a plan gives to nodes are not read, here and in `pss` and `prs`, which are built on this: a thread of DANBI goes
//! wherever a queue sends it.
//!
//! Two nodes that feed each other can keep a worker without end, also when the consumer of their results has left and
//! other nodes have to end for the run to end. So one change of the kernel in 1024 is to a random claimable
//! node, which is not in the paper: there a program ends at its starting kernels.

use super::walk::{Walk, by_event, initial, reselect};
use crate::{Decision, Event, Host, Policy, WorkerId};
use thalweg_graph::NodeId;

/// Of this many changes of a worker's kernel, one is to a random claimable node: seldom enough to leave the paper's
/// decisions as they are, and about every millisecond where decisions are most frequent.
const FAIR_EVERY: u32 = 1024;

/// The policy `qes`.
#[derive(Clone, Copy, Default, Debug)]
pub struct Qes;

/// State of one worker.
#[derive(Clone, Debug)]
pub struct Local {
    /// The worker's node in the initial schedule.
    first: NodeId,
    walk: Walk,
    /// The node of the latest decision.
    latest: Option<NodeId>,
    /// Changes of the node until the next one to a random node.
    until_fair: u32,
}

impl Local {
    /// The last step of Algorithm 1: a claimable node on the walk from `pick` on, else a random claimable node.
    pub(crate) fn claim<H: Host>(&mut self, pick: Option<NodeId>, host: &mut H) -> Decision {
        let mut found = pick.and_then(|node| self.walk.claimable_from(node, host));
        if found != self.latest {
            self.until_fair -= 1;
            if self.until_fair == 0 {
                self.until_fair = FAIR_EVERY;
                found = None;
            }
        }
        self.latest = found.or_else(|| reselect(host));
        self.latest.map_or(Decision::Idle, Decision::Activate)
    }
}

impl Policy for Qes {
    type Local = Local;
    type Shared = ();

    fn start<H: Host>(&self, worker: WorkerId, host: &mut H) -> Local {
        Local {
            first: initial(worker, host),
            walk: Walk::new(host.graph()),
            latest: None,
            until_fair: FAIR_EVERY,
        }
    }

    fn next<H: Host>(&self, me: &mut Local, last: Option<(NodeId, Event)>, host: &mut H) -> Decision {
        let pick = match last {
            None => Some(me.first),
            Some((node, event)) => by_event(host.graph(), node, event),
        };
        me.claim(pick, host)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graphs;
    use crate::mock::Mock;
    use std::collections::BTreeSet;
    use thalweg_graph::ChannelId;

    /// The decision of QES on a chain of five after `event` at node 2; channel `i` leaves node `i`.
    fn after(event: Event, claimable: &[u32]) -> Decision {
        let mut host = Mock::new(graphs::chain(5));
        let mut me = Qes.start(0, &mut host);
        host.only(claimable);
        Qes.next(&mut me, Some((NodeId(2), event)), &mut host)
    }

    const ALL: &[u32] = &[0, 1, 2, 3, 4];

    #[test]
    fn events_choose_a_neighbour_along_the_channel() {
        assert_eq!(after(Event::Empty(ChannelId(1)), ALL), Decision::Activate(NodeId(1)));
        assert_eq!(after(Event::Full(ChannelId(2)), ALL), Decision::Activate(NodeId(3)));
        assert_eq!(after(Event::Waiting, ALL), Decision::Activate(NodeId(2)));
        assert_eq!(after(Event::Budget, ALL), Decision::Activate(NodeId(2)));
    }

    #[test]
    fn a_node_that_is_not_claimable_is_replaced_by_a_random_one() {
        assert_eq!(after(Event::Empty(ChannelId(1)), &[4]), Decision::Activate(NodeId(4)));
        assert_eq!(after(Event::Waiting, &[0]), Decision::Activate(NodeId(0)));
        assert_eq!(after(Event::Budget, &[]), Decision::Idle);
    }

    #[test]
    fn a_refused_parallel_kernel_is_kept() {
        let mut host = Mock::new(graphs::farm());
        let mut me = Qes.start(0, &mut host);
        for _ in 0..100 {
            let pick = Qes.next(&mut me, Some((NodeId(1), Event::Refused)), &mut host);
            assert_eq!(pick, Decision::Activate(NodeId(1)));
        }
    }

    /// Nodes 1 and 2 feed each other for ever.
    #[test]
    fn a_loop_does_not_keep_a_worker_for_ever() {
        let mut host = Mock::new(graphs::chain(5));
        let mut me = Qes.start(0, &mut host);
        let event = Event::Empty(ChannelId(0));
        let mut leaves = |_| {
            let one = Qes.next(&mut me, Some((NodeId(1), event)), &mut host);
            let other = Qes.next(&mut me, Some((NodeId(0), Event::Full(ChannelId(0)))), &mut host);
            one != Decision::Activate(NodeId(0)) || other != Decision::Activate(NodeId(1))
        };
        assert!((0..FAIR_EVERY * 20).any(&mut leaves));
    }

    #[test]
    fn refused_and_done_choose_among_all_nodes() {
        let mut host = Mock::new(graphs::chain(5));
        let mut me = Qes.start(0, &mut host);
        for event in [Event::Refused, Event::Done] {
            let picks: BTreeSet<NodeId> = (0..200)
                .map(|_| match Qes.next(&mut me, Some((NodeId(2), event)), &mut host) {
                    Decision::Activate(node) => node,
                    Decision::Idle => panic!("all nodes are claimable"),
                })
                .collect();
            assert_eq!(picks.len(), 5);
        }
    }

    #[test]
    fn the_first_decision_is_the_initial_schedule() {
        let mut host = Mock::new(graphs::two_sources());
        let mut me = Qes.start(1, &mut host);
        assert_eq!(Qes.next(&mut me, None, &mut host), Decision::Activate(NodeId(1)));
    }
}
