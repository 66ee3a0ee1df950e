//! Graph partitioning: Nornir's third policy (sections 4.2 and 5.2.2).
//!
//! Every node belongs to one worker, which runs it; no worker steals. The graph is partitioned into one part for
//! each worker, such that the parts have about the same load and little traffic between them: vertices are weighted
//! with the time that their nodes took, edges with the messages that went through their channels, both since the
//! latest partition ([`Ledger`]). The graph is partitioned again when the workers were idle for more than a share
//! `tau` of their time since then.
//!
//! # What the paper leaves open
//!
//! - *tau* is a constant amount of idle time in the paper, of all runners together. Here it is a share of their
//!   time, so that one value serves any number of workers and any length of a run, with a minimum time between
//!   partitions that grows while they do not help (see [`Ledger`]): the paper itself finds hundreds of partitions in
//!   a second where the graph has little parallelism.
//! - *Which worker partitions the graph.* Any worker, when it decides what is next. Busy workers check the idle
//!   time of all at intervals, since a sleeping worker checks nothing while its idle time counts on. The ledger is
//!   shared state of the policy, and the worker that holds its lock may partition the graph; the others skip the
//!   check.
//! - *How affinity changes.* One node after the other, while the other workers run. A node in a queue moves at
//!   once: the worker that has partitioned the graph empties all queues and distributes their nodes again. A node
//!   that runs, or is in the hand of a worker, moves when it next becomes ready.
//! - *Parallel kernels* (the paper has processes only) have no affinity: any worker runs them.
//!
//! # Why no token is lost without stealing
//!
//! A token is pushed to the worker that the node belonged to when the affinity was read, and that worker takes it
//! from its queue, even if the affinity has changed in the meantime: which worker runs a node never matters for
//! correctness. A worker is idle only if its own queue, and that of nodes without affinity, are empty, and the host
//! wakes exactly the worker to which it pushes ([`Needs::Affinity`]). The redistribution takes tokens out of the
//! queues into the hand of a worker that is awake, and pushes every one of them again.
//!
//! Fair between two partitions, like [`work_stealing`]; a partition moves a waiting node at
//! worst to the end of another queue.

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

use crate::work_stealing::{self, push_claimable};
use crate::{Decision, End, Event, Host, Needs, Policy, WorkerId};
use ledger::Verdict;
use thalweg_graph::{GraphData, NodeId};

/// The default of `tau`: the share of idle time beyond which the graph is partitioned again.
pub const DEFAULT_TAU: f64 = 0.1;

/// Nanoseconds between two checks of the ledger by one worker, at most.
const CHECK_INTERVAL: u64 = 250_000;

/// The policy `partition`.
#[derive(Clone, Copy, Debug)]
pub struct Partition {
    tau: f64,
    min_interval: Option<u64>,
}

/// State of one worker.
#[derive(Clone, Debug)]
pub struct Local {
    worker: WorkerId,
    /// The worker's ready nodes, in the order of work stealing.
    ready: work_stealing::Local,
    /// The time of the next check of the ledger.
    check_at: u64,
}

impl Partition {
    /// Partitions the graph again when the workers were idle for more than a share `tau` of their time.
    pub const fn new(tau: f64) -> Partition {
        Partition { tau, min_interval: None }
    }

    /// The same policy, with at least `ns` nanoseconds between partitions instead of a time that grows with the
    /// graph.
    pub const fn with_min_interval(self, ns: u64) -> Partition {
        Partition { min_interval: Some(ns), ..self }
    }

    pub(crate) fn tau(&self) -> f64 {
        self.tau
    }

    pub(crate) fn min_interval(&self) -> Option<u64> {
        self.min_interval
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

    /// Pushes each claimable node to the worker that it belongs to; the host has dealt runs of consecutive nodes.
    fn start<H: Host<Ledger>>(&self, worker: WorkerId, host: &mut H) -> Local {
        push_claimable(worker, host, |host, node| host.affinity(node).unwrap_or(worker));
        Local { worker, ready: work_stealing::Local::new(worker), check_at: 0 }
    }

    fn needs(&self, _graph: &GraphData) -> Needs {
        Needs::Affinity
    }

    fn ready<H: Host<Ledger>>(&self, me: &mut Local, node: NodeId, host: &mut H) {
        match host.affinity(node).filter(|owner| *owner != me.worker) {
            Some(owner) => host.push(owner, node),
            None => me.ready.keep(node, host),
        }
    }

    fn next<H: Host<Ledger>>(&self, me: &mut Local, last: Option<(NodeId, Event)>, host: &mut H) -> Decision {
        if host.now() >= me.check_at && host.workers() > 1 {
            me.check_at = host.now() + self.min_interval.map_or(CHECK_INTERVAL, |ns| ns.min(CHECK_INTERVAL));
            self.check(me.worker, host);
        }
        me.ready.own(last, host).map_or(Decision::Idle, Decision::Activate)
    }
}

impl Partition {
    /// Partitions the graph if that is due and no other worker holds the ledger.
    fn check<H: Host<Ledger>>(&self, me: WorkerId, host: &mut H) {
        host.try_shared(|ledger, host| match ledger.examine(self.tau, self.min_interval, host) {
            Verdict::Early => {}
            Verdict::Busy => ledger.end_window(host),
            Verdict::Idle(share) => {
                ledger.sample(host);
                let moved = repartition(ledger, host);
                ledger.record_partition(share, moved);
                if moved > 0 {
                    redistribute(me, host);
                }
            }
        });
    }
}

/// Partitions the graph again. Returns the number of nodes that changed workers.
fn repartition<H: Host<Ledger>>(ledger: &Ledger, host: &mut H) -> usize {
    let graph = ledger.weighted(host.graph());
    let nodes: Vec<NodeId> = host.graph().node_ids().collect();
    if graph.total() == 0 {
        return 0;
    }
    let part = |node: &NodeId| host.affinity(*node).unwrap_or(0) as u32;
    let before: Vec<u32> = nodes.iter().map(part).collect();
    let after = split(&graph, host.workers(), &before);
    let moved = nodes.into_iter().filter(|node| before[node.index()] != after[node.index()]);
    let moved: Vec<NodeId> = moved.filter(|node| host.affinity(*node).is_some()).collect();
    for node in &moved {
        host.set_affinity(*node, after[node.index()] as WorkerId);
    }
    moved.len()
}

/// Empties all queues, and pushes each node to the worker that it belongs to now.
fn redistribute<H: Host<Ledger>>(me: WorkerId, host: &mut H) {
    for worker in 0..host.workers() {
        let take = |host: &mut H| if worker == me { host.pop(End::Oldest) } else { host.reclaim(worker) };
        // The queue is emptied before the first push, since some nodes come back to it. It ends, as there are
        // finitely many tokens.
        let nodes: Vec<NodeId> = std::iter::from_fn(|| take(host)).collect();
        for node in nodes {
            let owner = host.affinity(node).unwrap_or(worker);
            host.push(owner, node);
        }
    }
}
