//! Random work stealing: DANBI's baseline (section IV-B), which ignores the graph.
//!
//! This policy scans, and makes its tokens itself: one for a sequential node, one for each worker for a parallel
//! node, for the whole run. Tokens are dealt at the start: to the workers that the plan says, the others round-robin. A
//! worker takes the first token of its own queue that has a claimable node, and pushes it to the back of its own queue
//! when the activation has ended. If it finds none there, it steals one from the other workers, in rotation from a
//! random victim on. The paper says no more than "random work stealing"; the rest is ours:
//!
//! - A token of a node that is not claimable stays in its queue ([`Host::take_claimable`]), so only a token that is used
//!   changes queues. A worker that searches keeps no token from the others, however long it is interrupted.
//! - Before it steals, a worker checks that some node is claimable at all. So idle workers do not disturb the queues
//!   of busy ones.
//!
//! A starting kernel of the user is of no interest here: the tokens are dealt over all nodes.
//!
//! Invariant: a token is in exactly one queue or in the hand of exactly one worker, which activates its node or has
//! just done so. It is dropped only when its node has ended.
//!
//! Fair: queues are first in, first out, so at most all other tokens are taken before a given one.

use crate::{Decision, Event, Host, Policy, WorkerId, pick};
use thalweg_graph::{GraphData, Kind, NodeId};

/// The policy `random`.
#[derive(Clone, Copy, Default, Debug)]
pub struct RandomStealing;

/// State of one worker.
#[derive(Clone, Debug)]
pub struct Local {
    worker: WorkerId,
    /// The token of the running activation.
    hand: Option<NodeId>,
}

impl Policy for RandomStealing {
    type Local = Local;
    type Shared = ();

    fn start<H: Host>(&self, worker: WorkerId, host: &mut H) -> Local {
        let workers = host.workers();
        let planned = host.plan().workers(host.graph());
        let dealt = tokens(host.graph(), workers).enumerate();
        let mine = dealt.filter(|(i, node)| planned.of(*node).unwrap_or(*i) % workers == worker);
        let mine: Vec<NodeId> = mine.map(|(_, node)| node).collect();
        for token in mine {
            host.push(worker, token);
        }
        Local { worker, hand: None }
    }

    fn next<H: Host>(&self, me: &mut Local, last: Option<(NodeId, Event)>, host: &mut H) -> Decision {
        me.put_back(last, host);
        me.hand = host.take_claimable(me.worker).or_else(|| me.steal(host));
        me.hand.map_or(Decision::Idle, Decision::Activate)
    }
}

/// All tokens of a run. Those of a parallel node are consecutive, so round-robin dealing gives one to each worker.
fn tokens(graph: &GraphData, workers: usize) -> impl Iterator<Item = NodeId> {
    let copies = move |n: NodeId| if graph.node(n).kind() == Kind::Parallel { workers } else { 1 };
    let for_workers = graph.node_ids().filter(|&n| !graph.node(n).blocking());
    for_workers.flat_map(move |n| std::iter::repeat_n(n, copies(n)))
}

impl Local {
    /// Pushes the token of the activation that has ended, unless the node has ended.
    fn put_back<H: Host>(&mut self, last: Option<(NodeId, Event)>, host: &mut H) {
        if let Some(token) = self.hand.take()
            && last != Some((token, Event::Done))
        {
            host.push(self.worker, token);
        }
    }

    /// One pass over the queues of the other workers.
    fn steal<H: Host>(&self, host: &mut H) -> Option<NodeId> {
        if !host.graph().node_ids().any(|n| host.claimable(n)) {
            return None;
        }
        let workers = host.workers();
        let first = pick::below(host, workers);
        let mut victims = (0..workers).map(|i| (first + i) % workers).filter(|&v| v != self.worker);
        victims.find_map(|victim| host.take_claimable(victim))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graphs;
    use crate::mock::Mock;
    use crate::random::XorShift;

    fn started(workers: usize) -> (Mock, Vec<Local>) {
        let mut host = Mock::with_workers(graphs::two_sources(), workers);
        let locals = (0..workers).map(|w| RandomStealing.start(w, &mut host)).collect();
        (host, locals)
    }

    fn census(host: &Mock, locals: &[Local]) -> Vec<usize> {
        let mut counts = vec![0; host.graph.nodes().len()];
        let held = locals.iter().filter_map(|me| me.hand);
        for token in host.queues.iter().flatten().copied().chain(held) {
            counts[token.index()] += 1;
        }
        counts
    }

    #[test]
    fn tokens_are_dealt_round_robin() {
        let (host, locals) = started(3);
        let kinds = host.graph.nodes().iter().map(|n| n.kind());
        let expected: Vec<usize> = kinds.map(|k| if k == Kind::Parallel { 3 } else { 1 }).collect();
        assert_eq!(census(&host, &locals), expected);
        let sizes: Vec<usize> = host.queues.iter().map(|q| q.len()).collect();
        assert!(sizes.iter().max().unwrap() - sizes.iter().min().unwrap() <= 1, "{sizes:?}");
    }

    #[test]
    fn tokens_are_dealt_to_the_workers_of_the_plan() {
        let mut host = Mock::with_workers(graphs::chain(5), 3);
        *host.plan.segments_mut() = vec![vec![NodeId(0), NodeId(1)], vec![NodeId(2), NodeId(3)]];
        host.plan.affinity_mut().insert(NodeId(1), 2);
        for worker in 0..3 {
            RandomStealing.start(worker, &mut host);
        }
        // Node 4 has no worker, and is the fifth token of three workers.
        let queues: Vec<Vec<u32>> = host.queues.iter().map(|q| q.iter().map(|n| n.0).collect()).collect();
        assert_eq!(queues, [vec![], vec![2, 3, 4], vec![0, 1]]);
    }

    #[test]
    fn the_oldest_token_is_used_and_pushed_to_the_back() {
        let mut host = Mock::new(graphs::chain(3));
        let mut me = RandomStealing.start(0, &mut host);
        let mut last = None;
        let mut seen = Vec::new();
        for _ in 0..6 {
            let Decision::Activate(node) = RandomStealing.next(&mut me, last, &mut host) else { panic!() };
            seen.push(node.0);
            last = Some((node, Event::Budget));
        }
        assert_eq!(seen, [0, 1, 2, 0, 1, 2]);
    }

    #[test]
    fn the_only_claimable_token_is_found_in_any_queue() {
        let (mut host, mut locals) = started(4);
        for node in 0..host.graph.nodes().len() as u32 {
            host.only(&[node]);
            for (worker, me) in locals.iter_mut().enumerate() {
                host.me = worker;
                let pick = RandomStealing.next(me, None, &mut host);
                assert_eq!(pick, Decision::Activate(NodeId(node)));
                host.only(&[]);
                assert_eq!(RandomStealing.next(me, None, &mut host), Decision::Idle);
                host.only(&[node]);
            }
        }
    }

    /// Another worker may be asked at any moment of a search, and must find each token that this one does not use.
    #[test]
    fn a_search_takes_one_token_at_most() {
        for claimable in [&[][..], &[5], &[2, 4]] {
            let (mut host, mut locals) = started(3);
            let all: usize = census(&host, &locals).iter().sum();
            host.only(claimable);
            for (worker, me) in locals.iter_mut().enumerate() {
                (host.me, host.fewest_queued) = (worker, all);
                let idle = RandomStealing.next(me, None, &mut host) == Decision::Idle;
                assert_eq!(host.fewest_queued, all - usize::from(!idle), "worker {worker}, {claimable:?}");
                // The token goes back to a queue.
                host.only(&[]);
                assert_eq!(RandomStealing.next(me, None, &mut host), Decision::Idle);
                host.only(claimable);
            }
        }
    }

    #[test]
    fn no_token_is_lost_or_duplicated() {
        let (mut host, mut locals) = started(5);
        let expected = census(&host, &locals);
        let mut random = XorShift::new(3, 0);
        let mut last = [None; 5];
        for _ in 0..5_000 {
            for claimable in &mut host.claimable {
                *claimable = random.number() >> 62 == 0;
            }
            host.me = (random.number() >> 32) as usize % 5;
            let decision = RandomStealing.next(&mut locals[host.me], last[host.me], &mut host);
            if let Decision::Activate(node) = decision {
                assert!(host.claimable[node.index()]);
                last[host.me] = Some((node, Event::Budget));
            }
            assert_eq!(census(&host, &locals), expected);
        }
    }

    #[test]
    fn the_token_of_an_ended_node_is_dropped() {
        let mut host = Mock::new(graphs::chain(3));
        let mut me = RandomStealing.start(0, &mut host);
        RandomStealing.next(&mut me, None, &mut host);
        RandomStealing.next(&mut me, Some((NodeId(0), Event::Done)), &mut host);
        assert_eq!(census(&host, &[me]), [0, 1, 1]);
    }
}
