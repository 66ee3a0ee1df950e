//! What bounded the run: one node, the cores, the world outside, or none of these.

use super::chain::Root;
use super::{Evidence, Finding, FindingKind};
use std::time::Duration;
use thalweg_graph::{Kind, NodeId};
use thalweg_trace::units;

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

impl Evidence<'_> {
    /// The finding that says what bounded the run. At least one node was busy.
    pub(super) fn bound(&self) -> Finding {
        let saturated = self.breakdown()[0] >= SATURATED;
        let serial = self.busiest_serial().filter(|node| self.load(*node) >= SERIAL);
        let has_own_thread = serial.is_some_and(|node| self.has_own_thread(node));
        // One worker does all other nodes, so the busiest of them bounds nothing while the worker is in others too.
        if saturated && self.threads() == 1 && !has_own_thread {
            return self.saturated();
        }
        if let Some(node) = serial {
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
        let (name, data) = (self.quoted(node), self.graph().node(node));
        let help = match data.kind() {
            Kind::Parallel => self.limit_help(node, 1),
            Kind::Process => {
                format!("divide {name} into two processes, or move the part without state into a `par_map`")
            }
            _ if data.merge() => {
                format!("give {name} less to do: move work on its items to the nodes before it or after it")
            }
            _ => format!(
                "divide {name} into two stages, or move the part without state into a `par_map` before it"
            ),
        };
        let what = format!("{} {name} bounds the run", data.kind());
        let evidence = format!("it is {}", self.serial_limit(node));
        Finding::new(FindingKind::SerialBound, what, evidence, help).at(&[node])
    }

    /// How busy a serial node is, in words that follow "is", and so how short more threads could make the run: not
    /// shorter than the busy time.
    fn serial_limit(&self, node: NodeId) -> String {
        let busy = self.nodes()[node.index()].busy();
        let (time, share) = (units::time(busy), units::percent(self.load(node)));
        if self.is_preempted() {
            return format!(
                "busy for {share} of the wall time; this includes time off the processor, which is {} of the workers' \
                 time, so the report does not know how short more threads could make the run",
                units::percent(self.breakdown()[4])
            );
        }
        if self.wall() > busy && !busy.is_zero() {
            let gain = self.wall().as_secs_f64() / busy.as_secs_f64();
            return format!(
                "busy for {share} of the wall time, so more threads cannot make the run shorter than {time} ({gain:.2} \
                 times faster)"
            );
        }
        format!("busy for {share} of the wall time, so more threads cannot make the run shorter")
    }

    /// The kind and name of a serial node, and [`Report::serial_limit`].
    fn serial_words(&self, node: NodeId) -> String {
        format!("{} {} is {}", self.graph().node(node).kind(), self.quoted(node), self.serial_limit(node))
    }

    /// The parallel node that its own limit on workers bounds, if there is one.
    fn workers_limit(&self) -> Option<Finding> {
        let used = |node: &NodeId| {
            let limit = self.worker_limit(*node).filter(|limit| *limit > 1)?;
            let limited =
                self.graph().node(*node).kind() == Kind::Parallel && (limit as usize) < self.threads();
            limited.then(|| (limit, self.load(*node) / f64::from(limit)))
        };
        let nodes = self.graph().node_ids().filter_map(|node| Some((node, used(&node)?)));
        let (node, (limit, part)) = nodes.max_by(|a, b| a.1.1.total_cmp(&b.1.1))?;
        if part < LIMITED {
            return None;
        }
        let name = self.quoted(node);
        let what = format!("the limit of {limit} workers on parallel {name} bounds the run");
        let evidence = format!(
            "{:.2} workers were in it on average, and the run had {}",
            part * f64::from(limit),
            self.threads()
        );
        let help = self.limit_help(node, limit);
        Some(Finding::new(FindingKind::WorkersLimit, what, evidence, help).at(&[node]))
    }

    /// How to raise the limit on the workers of a node, which is in the plan or in the graph.
    fn limit_help(&self, node: NodeId, limit: u32) -> String {
        let name = self.quoted(node);
        match self.replicas(node) {
            Some(replicas) if replicas == limit => {
                format!("raise `replicas {limit}` of {name} in the plan, or remove it")
            }
            _ => format!("raise `workers({limit})` of {name}, or remove it"),
        }
    }

    fn saturated(&self) -> Finding {
        let all = units::percent(self.breakdown()[0]);
        let what = match self.threads() {
            1 => "the worker is in nodes for nearly all of its time".to_owned(),
            _ => "the workers are in nodes for nearly all of their time".to_owned(),
        };
        let busiest = self.busiest_node();
        let evidence =
            format!("{all} of it; {}", busiest.map_or(String::new(), |node| self.part_of_nodes(node)));
        let least = match self.busiest_serial() {
            Some(node) if self.threads() > 1 || Some(node) != busiest => {
                format!("; {}", self.serial_words(node))
            }
            _ => String::new(),
        };
        let help = match busiest {
            Some(node) => {
                format!("run with more `threads` on more cores, or reduce the work in {}", self.quoted(node))
            }
            None => "run with more `threads` on more cores".to_owned(),
        };
        Finding::new(FindingKind::Saturated, what, evidence + &least, help).at(busiest.as_slice())
    }

    /// The node outside of whose code the run waited: it has a thread of its own, or waits for a future.
    fn outside(&self) -> Option<Finding> {
        let waited = self.blocked_by().into_iter().find_map(|(root, _)| match root {
            Root::Outside(node) => Some(node),
            _ => None,
        });
        let idle = self.workers().is_empty() || self.breakdown()[3] >= IDLE;
        let dedicated = self
            .busiest(|node| self.graph().node(node).blocking())
            .filter(|node| idle && self.load(*node) >= DEDICATED);
        let node = dedicated.or(waited)?;
        let (name, load) = (self.quoted(node), units::percent(self.load(node)));
        if !self.graph().node(node).blocking() {
            let time = units::time(self.nodes()[node.index()].other_waits().outside());
            let what = format!("{name} waits for an event outside the graph");
            let help =
                format!("request more data at a time in {name}, or keep several requests under way at once");
            let evidence = format!("it waited for {time} of the {} of the run", units::time(self.wall()));
            return Some(Finding::new(FindingKind::Outside, what, evidence, help).at(&[node]));
        }
        let what = format!("the run waits for {name}, which is blocking");
        let evidence = format!(
            "it is in its code for {load} of the wall time, which includes the time in which calls block it; the workers \
             are idle for {} of their time",
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
        let states = ["in queues", "in the policy", "idle", "preempted"];
        let shares = self.breakdown();
        let most = (1..5).max_by(|a, b| shares[*a].total_cmp(&shares[*b])).expect("four categories");
        let mut evidence =
            format!("they are {} for {} of it", states[most - 1], units::percent(shares[most]));
        if self.workers().iter().all(|worker| worker.total() == Duration::ZERO) {
            evidence = "their times were not measured".to_owned();
        }
        evidence += &format!("; {}", self.part_of_nodes(node));
        let mut nodes = vec![node];
        if let Some((Root::Busy(root), time)) = self.blocked_by().into_iter().next() {
            let root_name = self.quoted(root);
            evidence += &format!("; other nodes wait for {root_name} for {} in all", units::time(time));
            nodes.push(root);
        }
        if let Some(serial) = self.busiest_serial() {
            evidence += &format!("; {}", self.serial_words(serial));
        }
        nodes.dedup();
        Finding::new(FindingKind::Unsaturated, what, evidence, "").at(&nodes)
    }

    /// The node's kind, name and share of the time spent in nodes.
    fn part_of_nodes(&self, node: NodeId) -> String {
        let all: Duration = self.nodes().iter().map(|n| n.busy()).sum();
        let part = self.nodes()[node.index()].busy().as_secs_f64() / all.as_secs_f64();
        format!(
            "{} {} takes {} of the time in nodes",
            self.graph().node(node).kind(),
            self.quoted(node),
            units::percent(part)
        )
    }
}
