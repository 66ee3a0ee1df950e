//! What bounded the run: one node, the cores, the world outside, or none of these.

use super::chain::Root;
use super::{Finding, FindingKind};
use crate::{Report, units};
use std::time::Duration;
use thalweg_graph::{Kind, NodeId};

/// Workers that spend at least this share of their time in nodes cannot gain from better scheduling.
const SATURATED: f64 = 0.9;

/// A node that does one firing at a time and is busy for this share of the wall time bounds the run.
const SERIAL: f64 = 0.75;

/// A parallel node that uses this share of the workers that its limit allows is bounded by the limit.
const LIMITED: f64 = 0.85;

/// A node on a thread of its own that is in its code for this share of the run can be what the run waits for.
const DEDICATED: f64 = 0.7;

/// Below this share of idle time the workers had enough to do, whatever a dedicated thread waited for.
const IDLE: f64 = 0.3;

impl Report {
    /// The finding that says what bounded the run. At least one node was busy.
    pub(super) fn bound(&self) -> Finding {
        let saturated = self.breakdown()[0] >= SATURATED;
        // One worker does all nodes, so the busiest of them bounds nothing while the worker is in others too.
        if saturated && self.threads == 1 {
            return self.saturated();
        }
        if let Some(node) = self.busiest_serial().filter(|node| self.load(*node) >= SERIAL) {
            return self.serial_bound(node);
        }
        if let Some(limited) = self.workers_limit() {
            return limited;
        }
        if saturated {
            return self.saturated();
        }
        self.outside().unwrap_or_else(|| self.unsaturated())
    }

    fn serial_bound(&self, node: NodeId) -> Finding {
        let (name, data) = (self.quoted(node), self.graph.node(node));
        let help = match data.kind {
            Kind::Process => {
                format!("divide {name} into two processes, or move the part without state into a `par_map`")
            }
            _ if data.merge => {
                format!("give {name} less to do: do the work of its items before or behind it")
            }
            _ => format!(
                "divide {name} into two stages, or move the part without state into a `par_map` before it"
            ),
        };
        let what = format!("{} {name} bounds the run", kind(data.kind));
        Finding::new(FindingKind::SerialBound, what, self.serial_limit(node), help).at(&[node])
    }

    /// How far more threads could take the run, which is not below the busy time of a serial node.
    fn serial_limit(&self, node: NodeId) -> String {
        let busy = self.nodes[node.index()].busy;
        let (time, share) = (units::time(busy), units::percent(self.load(node)));
        let least =
            format!("busy for {share} of the wall time; more threads cannot take the run below its {time}");
        if self.wall > busy && !busy.is_zero() {
            let gain = self.wall.as_secs_f64() / busy.as_secs_f64();
            return format!("{least}, {gain:.2} times faster than this run");
        }
        format!("{least}, which is the whole time of this run")
    }

    /// The parallel node that its own limit on workers bounds, if there is one.
    fn workers_limit(&self) -> Option<Finding> {
        let used = |node: &NodeId| {
            let limit = self.graph.node(*node).workers.filter(|limit| *limit > 1)?;
            let limited = self.graph.node(*node).kind == Kind::Parallel && (limit as usize) < self.threads;
            limited.then(|| (limit, self.load(*node) / f64::from(limit)))
        };
        let nodes = self.graph.node_ids().filter_map(|node| Some((node, used(&node)?)));
        let (node, (limit, part)) = nodes.max_by(|a, b| a.1.1.total_cmp(&b.1.1))?;
        if part < LIMITED {
            return None;
        }
        let name = self.quoted(node);
        let what = format!("the limit of {limit} workers on parallel {name} bounds the run");
        let evidence = format!("busy on {:.2} of them, of {} threads", part * f64::from(limit), self.threads);
        let help = format!("raise `workers({limit})` of {name}, or remove it");
        Some(Finding::new(FindingKind::WorkersLimit, what, evidence, help).at(&[node]))
    }

    fn saturated(&self) -> Finding {
        let all = units::percent(self.breakdown()[0]);
        let what = match self.threads {
            1 => "the worker is in nodes for nearly all of its time".to_owned(),
            _ => "the workers are in nodes for nearly all of their time".to_owned(),
        };
        let busiest = self.busiest_node();
        let evidence =
            format!("{all} of it, {}", busiest.map_or(String::new(), |node| self.part_of_nodes(node)));
        let least = match self.busiest_serial() {
            Some(node) if self.threads > 1 || Some(node) != busiest => {
                format!("; sequential {}: {}", self.quoted(node), self.serial_limit(node))
            }
            _ => String::new(),
        };
        let help = match busiest {
            Some(node) => format!("more threads on more cores, or less work in {}", self.quoted(node)),
            None => "more threads on more cores".to_owned(),
        };
        Finding::new(FindingKind::Saturated, what, evidence + &least, help).at(busiest.as_slice())
    }

    /// The node outside of whose code the run waited: it has a thread of its own, or waits for a future.
    fn outside(&self) -> Option<Finding> {
        let waited = self.blocked_by().into_iter().find_map(|(root, _)| match root {
            Root::Outside(node) => Some(node),
            _ => None,
        });
        let idle = self.workers.is_empty() || self.breakdown()[3] >= IDLE;
        let dedicated = self
            .busiest(|node| self.graph.node(node).blocking)
            .filter(|node| idle && self.load(*node) >= DEDICATED);
        let node = dedicated.or(waited)?;
        let (name, load) = (self.quoted(node), units::percent(self.load(node)));
        if !self.graph.node(node).blocking {
            let time = units::time(self.nodes[node.index()].other_waits.outside);
            let what = format!("{name} waits for an event outside the graph");
            let help =
                "the world outside bounds the run: ask it for more at a time, or for several things at once";
            let evidence = format!("{time} of {}", units::time(self.wall));
            return Some(Finding::new(FindingKind::Outside, what, evidence, help).at(&[node]));
        }
        let what = format!("the run waits for {name}, which has a thread of its own");
        let evidence = format!(
            "in its code for {load} of the wall time, its {} include the time in which it was blocked; the workers are \
             idle for {}",
            units::time(self.nodes[node.index()].busy),
            units::percent(self.breakdown()[3])
        );
        let help =
            format!("read or write larger blocks in {name}, or divide its work among several such nodes");
        Some(Finding::new(FindingKind::Outside, what, evidence, help).at(&[node]))
    }

    /// What remains: no node and no core bounds the run. Names the node that most others wait for.
    fn unsaturated(&self) -> Finding {
        let node = self.busiest_node().expect("one node was busy");
        let what = "the workers spend part of their time outside nodes".to_owned();
        let names = ["queue", "scheduler", "idle", "preempted"];
        let shares = self.breakdown();
        let most = (1..5).max_by(|a, b| shares[*a].total_cmp(&shares[*b])).expect("four categories");
        let mut evidence = format!("{} of it {}", units::percent(shares[most]), names[most - 1]);
        if self.workers.iter().all(|worker| worker.total() == Duration::ZERO) {
            evidence = "their times were not measured".to_owned();
        }
        evidence += &format!("; {}", self.part_of_nodes(node));
        let mut nodes = vec![node];
        if let Some((Root::Busy(root), time)) = self.blocked_by().into_iter().next() {
            let root_name = self.quoted(root);
            evidence += &format!("; others wait for {root_name} for {} in all", units::time(time));
            nodes.push(root);
        }
        match self.busiest_serial() {
            Some(serial) if serial == node => evidence += &format!(", {}", self.serial_limit(serial)),
            Some(serial) => {
                let kind = kind(self.graph.node(serial).kind);
                evidence += &format!("; {kind} {}: {}", self.quoted(serial), self.serial_limit(serial));
            }
            None => {}
        }
        nodes.dedup();
        Finding::new(FindingKind::Unsaturated, what, evidence, "").at(&nodes)
    }

    /// The node's kind, name and share of the time spent in nodes.
    fn part_of_nodes(&self, node: NodeId) -> String {
        let all: Duration = self.nodes.iter().map(|n| n.busy).sum();
        let part = self.nodes[node.index()].busy.as_secs_f64() / all.as_secs_f64();
        format!(
            "{} {} has {} of the time in nodes",
            kind(self.graph.node(node).kind),
            self.quoted(node),
            units::percent(part)
        )
    }
}

fn kind(kind: Kind) -> &'static str {
    match kind {
        Kind::Sequential => "sequential",
        Kind::Parallel => "parallel",
        Kind::Process => "process",
    }
}
