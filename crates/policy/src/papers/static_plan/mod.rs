//! Static execution: each worker runs the segments of the plan that belong to it, and nothing else unless it may help.
//!
//! This is the execution of a pipeline that a mapper has divided among caches and workers (J. Maglalang, *Locality-Aware Concurrency
//! Platforms*, 2017, sections 3.2 and 4.2.3). [`Plan::assignment`](thalweg_plan::Plan::assignment) says which segments a worker has. A
//! parallel node with a list of workers is a segment of one node for each of them, a *replica*; the engine's reorder window keeps
//! the order of its items. Work conservation is absent on purpose: a worker without work of its own sleeps, whatever waits for the
//! others. What belongs together stays in one cache, and the plan, not the policy, balances the load.
//!
//! # Decisions
//!
//! A segment is *half ready* if each channel into it holds at least half of its capacity, or its producer has ended, and each
//! channel out of it has at least half of its capacity free, or its consumer has ended. Channels inside a segment do not count.
//!
//! 1. The worker stays in its segment, and activates the node farthest downstream that can fire. It leaves if, from downstream to
//!    upstream, a node that lacks items of a channel into the segment, or room of one out of it, comes before any that can fire.
//! 2. It enters the segment farthest downstream that is half ready and has a node by rule 1.
//! 3. If there is none, it enters the segment farthest downstream with a node that can fire, and stays until none of its nodes can.
//!
//! So a segment that has been loaded into the cache works through half a channel, where the plan's capacities and the rates permit
//! it. Rule 3 is what remains where they do not: at the end of a stream before all producers have ended, in channels that hold
//! less than two firings, on inputs of dynamic rate that stay empty while others flow, and around loops through several segments,
//! whose initial items may never fill half. It also serves a worker that is faster than the others: its segments run before they are
//! half ready, which takes time that the worker would spend asleep. Its switches between segments become fewer as its channels fill.
//!
//! # Help
//!
//! A plan is balanced by what its mapper has predicted. Under `static:spare=help` ([`Spare::Help`]) a worker none of whose nodes can
//! fire by rules 1 to 3 does not sleep: it activates the readiest node of the graph once ([`auto`](crate::auto) says which one that is),
//! and then decides anew, its own segments first. So the plan decides where data stays while the load is as predicted, and what is
//! mispredicted moves. There the plan's shares have no effect: help divides the items of replicas by itself.
//!
//! # Where we differ from the paper
//!
//! - There a worker without a ready segment waits. Here rule 3 lets it go on, since a wait may be for ever.
//! - The paper's kernels fire once, after which the next kernel is looked for (Figure 4.6, whose index falls below the first kernel
//!   if that is not ready, or is the only one; see the tests). Here an activation has several firings, as many as the plan's claims
//!   and the room of the channels allow; a host never pushes more into a channel than it holds.
//! - Segments may have several channels in and out, loops, and processes.
//! - One decision in [`FAIR_EVERY`] goes to the next of the worker's nodes that can fire, in round-robin order. Nodes that keep each
//!   other ready, as those of a work-list, would keep the worker for ever, also where the run ends only if another node does.
//! - The shares of replicas are lengths of claims ([`Plan::claim_for`](thalweg_plan::Plan::claim_for)), each of a run of consecutive
//!   items. So workers that claim equally often take their shares, as they do where their other segments take the time that the plan
//!   expects. A worker that has more spare time than expected claims more often, and takes more than its share; one that is delayed takes
//!   less. The paper's split edge has a queue for each replica, and waits for it. Strict shares would add nothing to a plan that is right,
//!   and time to one that is wrong: a replica whose turn it is would hold up the others while its thread is off its core.
//!
//! # Liveness
//!
//! The law of the [crate] binds the workers that a node belongs to. It holds at once: `Idle` is returned only after rule 3 has
//! examined each of the worker's nodes and found none that can fire, so a call of any of these workers while the node is claimable
//! returns `Activate` of a claimable node. The worker may therefore park, and the host wakes one of the node's workers after a
//! change ([`Needs::Assigned`]). Each node without a thread of its own has a worker, so the run as a whole does not stop while a node
//! is claimable. With help the law binds every worker ([`Needs::Scans`]), and `Idle` is returned only after all nodes of the graph have
//! been examined.
//!
//! Fair: by the round-robin, a node that stays claimable is activated within [`FAIR_EVERY`] decisions of its worker for each of that
//! worker's nodes.
//!
//! A decision takes time in proportion to the worker's nodes, and while the worker stays to those of its segment. One that helps takes
//! time in proportion to the graph.

mod layout;

#[cfg(test)]
mod tests;

pub use layout::Layout;

use crate::readiness::{Ranks, Sources};
use crate::{Decision, Event, Host, Needs, Policy, WorkerId};
use layout::Segment;
use std::sync::Arc;
use thalweg_graph::{GraphData, NodeId};

/// Of this many decisions of a worker, one is round-robin. Prime, so that it does not fall into step with a period of the graph,
/// and large, since the node's segment may not be in the cache.
pub const FAIR_EVERY: u32 = 251;

/// The policy `static`.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Static {
    spare: Spare,
}

/// What a worker does while none of its nodes can fire.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Spare {
    /// It sleeps.
    #[default]
    Sleep,
    /// It runs nodes of other workers.
    Help,
}

impl Static {
    /// The policy whose workers spend spare time like this.
    pub fn new(spare: Spare) -> Static {
        Static { spare }
    }

    /// What a worker does while none of its nodes can fire.
    pub fn spare(&self) -> Spare {
        self.spare
    }
}

/// When a worker leaves its segment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Until {
    /// Where a channel at its border lacks items or room.
    Border,
    /// Where none of its nodes can fire.
    Stuck,
}

/// State of one worker.
#[derive(Clone, Debug)]
pub struct Local {
    /// All segments.
    segments: Arc<[Segment]>,
    /// The worker's own, by index, those farthest upstream first.
    own: Vec<usize>,
    /// The nodes of these.
    nodes: Vec<NodeId>,
    /// The segment in which the worker stays.
    stays: Option<(usize, Until)>,
    /// Decisions until the next round-robin one.
    until_fair: u32,
    /// The index in `nodes` at which the next round-robin decision begins its search.
    cursor: usize,
    /// The order of nodes for a worker that may help.
    help: Option<Ranks>,
}

impl Policy for Static {
    type Local = Local;
    type Shared = Layout;

    fn needs(&self, _graph: &GraphData) -> Needs {
        match self.spare {
            Spare::Sleep => Needs::Assigned,
            Spare::Help => Needs::Scans,
        }
    }

    fn start<H: Host<Layout>>(&self, worker: WorkerId, host: &mut H) -> Local {
        // No other worker has the lock before the run.
        let shared = host.try_shared(|layout, host| layout.segments(host.graph(), host.plan()));
        let segments = shared.unwrap_or_else(|| Layout::default().segments(host.graph(), host.plan()));
        let own = (0..segments.len()).filter(|at| segments[*at].has_worker(worker));
        let own: Vec<usize> = own.collect();
        let nodes = own.iter().flat_map(|at| segments[*at].nodes()).collect();
        let help = (self.spare == Spare::Help).then(|| Ranks::new(host.graph(), Vec::new()));
        Local { own, nodes, segments, stays: None, until_fair: FAIR_EVERY, cursor: 0, help }
    }

    fn next<H: Host<Layout>>(
        &self,
        me: &mut Local,
        _last: Option<(NodeId, Event)>,
        host: &mut H,
    ) -> Decision {
        let chosen = me.round_robin(host).or_else(|| me.stay(host));
        let chosen = chosen.or_else(|| me.enter(host)).or_else(|| me.fall_back(host));
        let chosen = chosen.or_else(|| me.help.as_ref()?.readiest(Sources::Rated, host));
        chosen.map_or(Decision::Idle, Decision::Activate)
    }
}

impl Local {
    /// Once in [`FAIR_EVERY`] calls: the next node that can fire, in round-robin order.
    fn round_robin<H: Host<Layout>>(&mut self, host: &H) -> Option<NodeId> {
        self.until_fair -= 1;
        if self.until_fair > 0 {
            return None;
        }
        self.until_fair = FAIR_EVERY;
        let count = self.nodes.len();
        let mut places = (0..count).map(|i| (self.cursor + i) % count);
        let found = places.find(|at| host.claimable(self.nodes[*at]))?;
        self.cursor = found + 1;
        Some(self.nodes[found])
    }

    /// Rule 1.
    fn stay<H: Host<Layout>>(&mut self, host: &H) -> Option<NodeId> {
        let (at, until) = self.stays?;
        let next = match until {
            Until::Border => self.segments[at].before_border(host),
            Until::Stuck => self.segments[at].farthest(host),
        };
        if next.is_none() {
            self.stays = None;
        }
        next
    }

    /// Rule 2.
    fn enter<H: Host<Layout>>(&mut self, host: &H) -> Option<NodeId> {
        self.choose(Until::Border, |segment| {
            if segment.is_half_ready(host) { segment.before_border(host) } else { None }
        })
    }

    /// Rule 3.
    fn fall_back<H: Host<Layout>>(&mut self, host: &H) -> Option<NodeId> {
        self.choose(Until::Stuck, |segment| segment.farthest(host))
    }

    /// Enters the segment farthest downstream that has a node by `node`.
    fn choose(&mut self, until: Until, node: impl Fn(&Segment) -> Option<NodeId>) -> Option<NodeId> {
        let entry = |at: &usize| Some((*at, node(&self.segments[*at])?));
        let (at, node) = self.own.iter().rev().find_map(entry)?;
        self.stays = Some((at, until));
        Some(node)
    }
}
