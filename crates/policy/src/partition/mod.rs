//! Graph partitioning: Nornir's third policy (sections 4.2 and 5.2.2).
//!
//! Every node has a home, the worker that runs it; nobody steals. Homes are the parts of a partition of
//! the graph with about the same load each and little traffic between them: vertices weigh what time
//! their nodes took, edges how many messages went through their channels, both since the graph was last
//! parted ([`Ledger`]). It is parted again when the workers were idle for more than a share `tau` of
//! their time since then.
//!
//! # What the paper leaves open
//!
//! - *tau* is a constant amount of idle time there, of all runners together. Here it is a share of
//!   their time, so that one value serves any number of workers and any length of a run, with a least
//!   time between partitions that grows where they do not help (see [`Ledger`]): the paper's own
//!   finding is hundreds of them in a second where the graph has little parallelism.
//! - *Who parts the graph.* Any worker that comes to decide what is next: busy ones look at the shared
//!   idle time now and then, since one that sleeps looks at nothing while its idle time counts on. The
//!   ledger is with one worker at a time, and with it the right to part the graph; to others it is as
//!   if nothing were due.
//! - *How homes change.* One by one, while the others go on. A node that is ready moves at once: whoever
//!   has parted the graph empties all queues and deals their nodes anew. One that runs, or is in a
//!   worker's hand, moves when it is next made ready.
//! - *Parallel kernels* (there are only processes in the paper) have no home: any worker runs them.
//!
//! # Why nothing is forgotten though nobody steals
//!
//! A token is pushed to a home as it was read at that moment, whoever it is now, and that worker takes
//! it from its queue: where a node runs is never a matter of correctness. A worker is idle when its
//! own queue and that of nodes without a home are empty, and the host wakes the very worker it
//! pushes to ([`Needs::affinity`]). Emptying the queues takes tokens into an awake worker's hand and
//! pushes every one of them again.
//!
//! Fair, as [`work_stealing`](crate::work_stealing) is, between two partitions; a partition puts a
//! waiting node at most at the end of one other queue.

mod coarsen;
mod ledger;
mod refine;
mod split;
mod weighted;

#[cfg(test)]
mod policy_tests;
#[cfg(test)]
mod split_tests;

pub use ledger::Ledger;
pub use split::{SLACK, split};
pub use weighted::Weighted;

use crate::work_stealing::{Local as Line, begin_with};
use crate::{Decision, End, Event, Host, Needs, Policy, WorkerId};
use ledger::Verdict;
use thalweg_graph::{GraphData, NodeId};

/// The share of idleness beyond which the graph is parted anew, where none is said.
pub const DEFAULT_TAU: f64 = 0.1;

/// Nanoseconds from one look at the ledger to a worker's next.
const LOOK: u64 = 250_000;

/// The policy `partition`.
#[derive(Clone, Copy, Debug)]
pub struct Partition {
    tau: f64,
    least: Option<u64>,
}

/// State of one worker.
#[derive(Clone, Debug)]
pub struct Local {
    worker: WorkerId,
    /// What it has to do, in the order of work stealing.
    line: Line,
    /// When to look at the ledger.
    look_at: u64,
}

impl Partition {
    /// Parts the graph anew when workers were idle for more than a share `tau` of their time.
    pub const fn new(tau: f64) -> Partition {
        Partition { tau, least: None }
    }

    /// The same, at most once in so many nanoseconds, however large the graph.
    pub const fn at_least(self, apart: u64) -> Partition {
        Partition { least: Some(apart), ..self }
    }
}

impl Partition {
    pub(crate) fn tau(&self) -> f64 {
        self.tau
    }

    /// Nanoseconds between partitions at least, where that is set.
    pub(crate) fn apart(&self) -> Option<u64> {
        self.least
    }
}

impl Default for Partition {
    fn default() -> Partition {
        Partition::new(DEFAULT_TAU)
    }
}

impl Policy for Partition {
    type Local = Local;
    type Shared = Ledger;

    /// The nodes that can begin are at home; homes are dealt in runs of neighbours.
    fn start<H: Host<Ledger>>(&self, worker: WorkerId, host: &mut H) -> Local {
        begin_with(worker, host, |host, node| host.affinity(node).unwrap_or(worker));
        Local { worker, line: Line::new(worker), look_at: 0 }
    }

    fn needs(&self, _graph: &GraphData) -> Needs {
        Needs::AFFINITY
    }

    fn ready<H: Host<Ledger>>(&self, me: &mut Local, node: NodeId, host: &mut H) {
        match host.affinity(node).filter(|home| *home != me.worker) {
            Some(home) => host.push(home, node),
            None => me.line.keep(node, host),
        }
    }

    fn next<H: Host<Ledger>>(&self, me: &mut Local, last: Option<(NodeId, Event)>, host: &mut H) -> Decision {
        if host.now() >= me.look_at && host.workers() > 1 {
            me.look_at = host.now() + self.least.map_or(LOOK, |least| least.min(LOOK));
            self.look(me.worker, host);
        }
        me.line.own(last, host).map_or(Decision::Idle, Decision::Activate)
    }
}

impl Partition {
    /// Parts the graph, if that is due and nobody else is about to.
    fn look<H: Host<Ledger>>(&self, me: WorkerId, host: &mut H) {
        host.try_shared(|ledger, host| match ledger.look(self.tau, self.least, host) {
            Verdict::Early => {}
            Verdict::Fine => ledger.renew(host),
            Verdict::Idle(share) => {
                ledger.read(host);
                let moved = part(ledger, host);
                ledger.settle(share, moved);
                if moved > 0 {
                    deal(me, host);
                }
            }
        });
    }
}

/// Parts the graph anew: how many nodes have another home now.
fn part<H: Host<Ledger>>(ledger: &Ledger, host: &mut H) -> usize {
    let graph = ledger.weigh(host.graph());
    let nodes: Vec<NodeId> = host.graph().node_ids().collect();
    if graph.total() == 0 {
        return 0;
    }
    let home = |node: &NodeId| host.affinity(*node).unwrap_or(0) as u32;
    let before: Vec<u32> = nodes.iter().map(home).collect();
    let after = split(&graph, host.workers(), &before);
    let moved = nodes.into_iter().filter(|node| before[node.index()] != after[node.index()]);
    let moved: Vec<NodeId> = moved.filter(|node| host.affinity(*node).is_some()).collect();
    for node in &moved {
        host.set_affinity(*node, after[node.index()] as WorkerId);
    }
    moved.len()
}

/// Empties all queues, and deals their nodes to where they are at home now.
fn deal<H: Host<Ledger>>(me: WorkerId, host: &mut H) {
    for worker in 0..host.workers() {
        let take = |host: &mut H| if worker == me { host.pop(End::Oldest) } else { host.steal(worker) };
        // All of them first: some come back to this queue. No more than there are tokens.
        let nodes: Vec<NodeId> = std::iter::from_fn(|| take(host)).collect();
        for node in nodes {
            let home = host.affinity(node).unwrap_or(worker);
            host.push(home, node);
        }
    }
}
