//! What the loops and task graphs of a run, or of a scope, count: by member, and by the node whose firing called them.
//!
//! A member adds its counts once, when its part in a loop or a graph ends, to a slot that only threads with its number
//! access. The slots are summed when the run is over. So members share no cache line while they work, and no iteration
//! and no node of a graph costs more than an addition in memory of its own thread.
//!
//! The slots have locks, since a number of the pool's team is that of one thread after another, and of callers in
//! several runs.

use crate::measure::clock::{Ticks, ticks};
use crate::measure::recorder::Recorder;
use crate::sync::{CachePadded, Mutex, lock};
use std::collections::HashMap;
use thalweg_graph::NodeId;
use thalweg_trace::{MemberCounts, What};

/// What a team's members execute together.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Job {
    /// A parallel loop.
    Loop,
    /// A task graph.
    TaskGraph,
}

impl Job {
    /// The counts of a member that begins its part; `calls` if it is the one that has called the job, for the first time.
    pub(super) fn begin(self, calls: bool) -> MemberCounts {
        let mut counts = MemberCounts::default();
        *counts.joins_mut() = 1;
        match self {
            Job::Loop => *counts.loops_mut() = u64::from(calls),
            Job::TaskGraph => *counts.graphs_mut() = u64::from(calls),
        }
        counts
    }

    /// A member's part, for the timeline. Its length is in ticks.
    fn part(self, node: NodeId, counts: &MemberCounts, ns: Ticks) -> What {
        let steals = u32::try_from(counts.steals()).unwrap_or(u32::MAX);
        match self {
            Job::Loop => What::Loop { node, steals, ns },
            Job::TaskGraph => What::TaskGraph { node, steals, ns },
        }
    }
}

/// The counts of a team.
#[derive(Debug)]
pub(crate) struct Tally {
    /// By member.
    slots: Box<[CachePadded<Mutex<Slot>>]>,
    /// The members' parts are events of a timeline.
    is_timed: bool,
}

/// The counts of one member.
#[derive(Debug, Default)]
struct Slot {
    /// The node of `counts`, whose loops the member has executed last: often the next ones are of the same.
    node: Option<NodeId>,
    counts: MemberCounts,
    /// The counts of nodes before that one.
    others: HashMap<Option<NodeId>, MemberCounts>,
    events: Option<Recorder>,
}

impl Tally {
    /// The counts of a team of this size, with the latest `events` of each member; none for 0.
    pub(crate) fn new(size: usize, events: usize) -> Tally {
        let slot =
            |_| CachePadded::new(Mutex::new(Slot { events: Recorder::new(events), ..Slot::default() }));
        Tally { slots: (0..size).map(slot).collect(), is_timed: events > 0 }
    }

    /// Whether the members' parts are events of a timeline.
    pub(super) fn is_timed(&self) -> bool {
        self.is_timed
    }

    /// Adds the counts of a member's part in a job of a node.
    pub(super) fn add(&self, member: usize, node: Option<NodeId>, counts: &MemberCounts) {
        let Some(slot) = self.slots.get(member) else { return };
        let mut slot = lock(slot);
        if slot.node != node {
            slot.change(node);
        }
        slot.counts = slot.counts + *counts;
    }

    /// Adds a member's part in a job of a node, which began at `from`, to the timeline.
    #[cold]
    pub(super) fn note(&self, member: usize, from: Ticks, (job, node): (Job, NodeId), counts: &MemberCounts) {
        let Some(slot) = self.slots.get(member) else { return };
        if let Some(events) = &mut lock(slot).events {
            events.add(from, job.part(node, counts, ticks().saturating_sub(from)));
        }
    }

    /// Moves a member's events, or those of a node, to its thread's timeline.
    pub(crate) fn move_events(&self, member: usize, of: Option<NodeId>, to: &mut Recorder) {
        if let Some(events) = &mut lock(&self.slots[member]).events {
            events.move_to(to, |what| match what {
                What::Loop { node, .. } | What::TaskGraph { node, .. } => of.is_none_or(|of| of == *node),
                _ => true,
            });
        }
    }

    /// A member's events, if there are any.
    pub(crate) fn recorder(&self, member: usize) -> Option<Recorder> {
        let mut slot = lock(&self.slots[member]);
        slot.events.take().filter(|events| !events.is_empty())
    }

    /// All counts, by node and member, in no particular order. The tally begins anew.
    pub(crate) fn take(&self) -> Vec<(Option<NodeId>, usize, MemberCounts)> {
        let mut all = Vec::new();
        for (member, slot) in self.slots.iter().enumerate() {
            let mut slot = lock(slot);
            slot.change(None);
            let counts = std::mem::take(&mut slot.counts);
            let others = slot.others.drain().map(|(node, counts)| (node, member, counts));
            all.extend(others.chain([(None, member, counts)]).filter(|(.., counts)| counts.joins() > 0));
        }
        all
    }

    /// The number of members.
    pub(crate) fn members(&self) -> usize {
        self.slots.len()
    }
}

impl Slot {
    /// Lets `counts` be those of another node.
    #[cold]
    fn change(&mut self, node: Option<NodeId>) {
        if self.counts.joins() > 0 {
            let before = self.others.entry(self.node).or_default();
            *before = *before + self.counts;
        }
        (self.node, self.counts) = (node, self.others.remove(&node).unwrap_or_default());
    }
}
