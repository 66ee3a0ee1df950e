//! One line of advice: what bounded a run.

use crate::{Report, units};
use std::time::Duration;
use thalweg_graph::{Kind, NodeId};

/// Workers that spend at least this fraction of their time in nodes cannot gain from better scheduling.
const SATURATED: f64 = 0.9;

impl Report {
    /// What bounded the run and what would help, in one line, derived from the busy times alone.
    ///
    /// A sequential node does one firing at a time, so no number of threads makes the run shorter than its busy
    /// time. A parallel node is bounded by the number of threads. The advice takes neither memory bandwidth nor
    /// changes of the plan into account.
    pub fn advice(&self) -> String {
        let Some(node) = self.busiest_node() else {
            return "no time was measured in any node".to_owned();
        };
        let share = self.share_of(node);
        if self.graph.node(node).kind == Kind::Sequential {
            return format!("{share}; {}", self.serial_bound(node));
        }
        let serial = self.busiest(|id| self.graph.node(id).kind == Kind::Sequential);
        match serial {
            Some(serial) => {
                let name = self.graph.node(serial).name.escape_debug();
                let (parallel, serial) = (self.parallel_bound(), self.serial_bound(serial));
                format!("{share}; {parallel}; sequential `{name}`: {serial}")
            }
            None => format!("{share}; {}", self.parallel_bound()),
        }
    }

    /// The node's kind, name and share of the time spent in nodes.
    fn share_of(&self, id: NodeId) -> String {
        let node = self.graph.node(id);
        let kind = match node.kind {
            Kind::Sequential => "sequential",
            Kind::Parallel => "parallel",
            Kind::Process => "process",
        };
        let all: Duration = self.nodes.iter().map(|n| n.busy).sum();
        let share = self.nodes[id.index()].busy.as_secs_f64() / all.as_secs_f64();
        format!("{kind} `{}` has {} of the time in nodes", node.name.escape_debug(), units::percent(share))
    }

    fn serial_bound(&self, id: NodeId) -> String {
        let busy = self.nodes[id.index()].busy;
        if self.graph.node(id).blocking {
            return format!("its {} include the time in which it was blocked", units::time(busy));
        }
        let least = format!("more threads cannot take the run below its {}", units::time(busy));
        if self.wall > busy {
            let gain = self.wall.as_secs_f64() / busy.as_secs_f64();
            return format!("{least}, {gain:.2} times faster than this run");
        }
        format!("{least}, which is the whole time of this run")
    }

    fn parallel_bound(&self) -> &'static str {
        if self.breakdown()[0] >= SATURATED {
            "the workers spend nearly all of their time in nodes: more cores would help"
        } else {
            "the workers spend part of their time outside nodes: see the other columns of their table"
        }
    }
}
