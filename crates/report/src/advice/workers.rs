//! What the times and counts of the workers show: imbalance, refused claims, preemption, short firings, remote traffic.

use super::{Evidence, Finding, FindingKind};
use std::time::Duration;
use thalweg_graph::{ChannelId, Kind, NodeId};
use thalweg_trace::{ChannelReport, WorkerReport, units};

/// The busiest worker is in nodes for this much more of its time than the least busy one.
const UNEVEN: f64 = 0.4;

/// Nodes that could fire wait for a worker for this share of the wall time, while workers idle.
const UNSERVED: f64 = 0.25;

/// Refused activations, of all. They cost time only where the queue and the policy have this share.
const REFUSED: (f64, f64) = (0.25, 0.1);

/// Activations below which a share of them says nothing.
const ACTIVATIONS: u64 = 1000;

/// Time in claims, publications and the policy.
const OVERHEAD: f64 = 0.2;

/// A firing that is longer than this is not the cause of much time in queues.
const SHORT: Duration = Duration::from_micros(2);

/// The share of the items that moved between cores, and the number of items below which it says nothing.
const REMOTE: (f64, u64) = (0.5, 10_000);

impl Evidence<'_> {
    /// Findings about the workers, in a run that `bound` bounds.
    pub(super) fn worker_findings(&self, bound: FindingKind) -> Vec<Finding> {
        let all = [
            self.short_firings(),
            self.preempted(),
            self.imbalance(bound),
            self.refused_claims(),
            self.remote_traffic(),
        ];
        all.into_iter().flatten().collect()
    }

    fn overhead(&self) -> f64 {
        // Without the waits of firings for their tickets, which do not depend on the number of items.
        let [_, queue, scheduler, ..] = self.with_kernel();
        queue + scheduler
    }

    fn short_firings(&self) -> Option<Finding> {
        if self.overhead() < OVERHEAD {
            return None;
        }
        // A source has no items that could come in chunks; the node that gets its items is as short.
        let short = |node: &NodeId| {
            let has_inputs = !self.graph().node(*node).inputs().is_empty();
            has_inputs && self.nodes()[node.index()].per_firing().is_some_and(|time| time < SHORT)
        };
        let nodes = self.graph().node_ids().filter(short);
        let node = nodes.max_by_key(|node| self.nodes()[node.index()].firings())?;
        let stats = &self.nodes()[node.index()];
        let name = self.quoted(node);
        let what =
            format!("the firings of {name} are short compared with the cost of passing their items on");
        let evidence = format!(
            "each of {1} firings takes {0}; queues and policy take {2} of the workers' time",
            stats.per_firing().map_or_else(String::new, units::time),
            stats.firings(),
            units::percent(self.overhead())
        );
        let help = match self.graph().node(node).kind() {
            Kind::Process => {
                format!("send larger messages to {name}, or merge it with a neighbour into one process")
            }
            _ => {
                format!(
                    "give {name} more work at a time: put `batch(64)` before it, or set a larger `claim_length`"
                )
            }
        };
        Some(Finding::new(FindingKind::ShortFirings, what, evidence, help).at(&[node]))
    }

    fn preempted(&self) -> Option<Finding> {
        if !self.is_preempted() {
            return None;
        }
        let what = "the workers had work and were off the processor".to_owned();
        let evidence = format!(
            "for {} of their time the operating system ran other threads, or the code of nodes blocked",
            units::percent(self.breakdown()[4])
        );
        let help = "end other programs, run with fewer `threads`, or make nodes that block `blocking`; the times of such \
                    runs vary with the load of other programs, so do not compare them";
        Some(Finding::new(FindingKind::Preempted, what, evidence, help))
    }

    fn imbalance(&self, bound: FindingKind) -> Option<Finding> {
        if bound != FindingKind::Unsaturated || self.workers().len() < 2 {
            return None;
        }
        let part = |worker: &WorkerReport| {
            let all = worker.total();
            if all.is_zero() { 0.0 } else { worker.application().as_secs_f64() / all.as_secs_f64() }
        };
        let parts = || self.workers().iter().map(part);
        let (most, least) = (parts().fold(0.0, f64::max), parts().fold(1.0, f64::min));
        let unserved: Duration = self.nodes().iter().map(|node| node.other_waits().worker()).sum();
        if most - least < UNEVEN || self.share(unserved) < UNSERVED {
            return None;
        }
        let what = "some workers have much more work than others".to_owned();
        let evidence = format!(
            "the least busy worker is in nodes for {} of its time and the busiest for {}, while nodes that could fire waited \
             {} for a worker",
            units::percent(least),
            units::percent(most),
            units::time(unserved)
        );
        let help =
            "run with `policy(\"auto\")`; if the run follows a plan that gives nodes a `worker`, remove that";
        Some(Finding::new(FindingKind::Imbalance, what, evidence, help))
    }

    fn refused_claims(&self) -> Option<Finding> {
        let sum = |of: fn(&WorkerReport) -> u64| self.workers().iter().map(of).fold(0, u64::saturating_add);
        let (refused, all) = (sum(|worker| worker.refused()), sum(|worker| worker.activations()));
        let share = refused as f64 / all.max(1) as f64;
        if all < ACTIVATIONS || share < REFUSED.0 || self.overhead() < REFUSED.1 {
            return None;
        }
        let what = "workers begin to activate nodes that other workers hold".to_owned();
        let evidence = format!("{refused} of {all} activations were refused, {}", units::percent(share));
        let help = "do more work in a firing (`batch`), or run with fewer `threads`: fewer nodes can be claimed than there are \
                    workers";
        Some(Finding::new(FindingKind::RefusedClaims, what, evidence, help))
    }

    fn remote_traffic(&self) -> Option<Finding> {
        let sum = |of: fn(&ChannelReport) -> u64| self.channels().iter().map(of).fold(0, u64::saturating_add);
        let (remote, items) = (sum(|channel| channel.remote()), sum(|channel| channel.items()));
        let share = remote as f64 / items.max(1) as f64;
        if items < REMOTE.1 || share < REMOTE.0 || self.overhead() < REFUSED.1 {
            return None;
        }
        let crossed = |id: &ChannelId| {
            let channel = &self.channels()[id.index()];
            (channel.remote_bytes(), channel.remote())
        };
        let most = self.graph().channel_ids().max_by_key(crossed)?;
        let what = format!("most items move between cores, above all those of {}", self.quoted_channel(most));
        let evidence = match (sum(ChannelReport::remote_bytes), sum(|channel| channel.bytes())) {
            (_, 0) => format!("{} of the items cross: {remote} of {items}", units::percent(share)),
            (crossed, bytes) => format!(
                "{} of the bytes cross: {remote} of {items} items, {}",
                units::percent(crossed as f64 / bytes as f64),
                units::format_bytes(crossed)
            ),
        };
        let policy = if self.policy() == "auto" { "" } else { "use `policy(\"auto\")`; " };
        let help = format!(
            "{policy}make the items larger (`batch`), merge the two nodes, or run with fewer `threads`; if the items own \
             memory, use an allocator that returns blocks to the thread that allocated them, such as mimalloc"
        );
        Some(Finding::new(FindingKind::RemoteTraffic, what, evidence, help).through(&[most]))
    }
}
