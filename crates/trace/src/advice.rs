//! What bounded a run, in one line.

use crate::{Report, units};
use std::time::Duration;
use thalweg_graph::{Kind, NodeId};

/// Workers this busy have no time to gain from better scheduling.
const SATURATED: f64 = 0.9;

impl Report {
    /// What bounded the run and what would help, in one line, from the busy times alone.
    ///
    /// A sequential node fires one at a time, so no number of threads makes the run shorter than
    /// its busy time. A parallel node is bounded by the threads. The line says no more than that:
    /// it does not know memory bandwidth, or what a change of the plan would do.
    pub fn advice(&self) -> String {
        let Some(node) = self.busiest_node() else {
            return "no time was measured in any node".to_owned();
        };
        let what = self.described(node);
        if self.graph.node(node).kind == Kind::Sequential {
            return format!("{what}; {}", self.serial_bound(node));
        }
        let serial = self.busiest(|id| self.graph.node(id).kind == Kind::Sequential);
        match serial {
            Some(serial) => {
                let serial_what = format!("sequential `{}`", self.graph.node(serial).name.escape_debug());
                format!("{what}; {}; {serial_what}: {}", self.parallel_bound(), self.serial_bound(serial))
            }
            None => format!("{what}; {}", self.parallel_bound()),
        }
    }

    /// Kind, name and share of the time in all nodes.
    fn described(&self, id: NodeId) -> String {
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
            return format!("{} of it in or waiting for the outside world", units::time(busy));
        }
        let least = format!("no number of threads takes the run below its {}", units::time(busy));
        if self.wall > busy {
            let gain = self.wall.as_secs_f64() / busy.as_secs_f64();
            return format!("{least}, {gain:.2} times faster than now");
        }
        format!("{least}, which is all of this run")
    }

    fn parallel_bound(&self) -> &'static str {
        if self.breakdown()[0] >= SATURATED {
            "the workers are busy in nodes: more cores would help"
        } else {
            "the workers are not always busy in nodes: see their other columns"
        }
    }
}
