//! Roaming sources: blocking sources that workers fire.
//!
//! A node with a thread of its own hands each item to another thread. That costs the item's cache lines, and its memory is
//! freed on another thread than it was allocated on: a source of lines with three maps behind it took 2.4 times as long as a
//! loop. So where workers carry their items on ([`auto`](thalweg_policy::auto)), a blocking source *roams*: it has no thread,
//! the run has one worker more instead, and any worker fires the source and goes on with what it has pushed.
//!
//! | what the thread of its own gives | what gives it here |
//! |---|---|
//! | a source that waits takes no worker from the others | the additional worker. It sleeps while firings are short; the looker widens the run once a firing is long ([`width`](crate::sched::width)) |
//! | an item does not wait for the next one | the source publishes after each of its first [`WARY`] firings, and of as many after one that has waited. If a later one waits, the looker publishes what was pushed before it, and the source publishes after each firing until its activation ends |
//! | a run that waits for input uses no processor time | the looker rests ([`sleep`](crate::sched::sleep)) |
//! | the source is read whatever the workers do | of more workers than the plan's threads, one that would begin a long firing takes a source first ([`Worker::attend`]) |
//!
//! # A long firing
//!
//! ```text
//!   fires the source                          looks
//!   1. marks the end of a firing              1. finds the same activations as before
//!   2. `looked`? then publishes               2. looked := true
//!   3. begins the next firing                 3. publishes up to the mark, at this look and at the next ones
//! ```
//!
//! If the left side reads (2) a `looked` from before (2), its mark (1) may be too new for the right side's (3). It is seen at a
//! later look: the looker rests only after [`QUIET`](crate::sched::look) looks that have found nothing.

use crate::channel::{Meter, Origins};
use crate::measure::clock::Ticks;
use crate::net::{MAX_CARRIED, Net, NodeCell};
use crate::run::Options;
use crate::sched::worker::Worker;
use crate::sync::Ordering;
use std::collections::BTreeSet;
use thalweg_graph::{ChannelId, GraphData, Kind, Node, NodeId};
use thalweg_plan::Plan;
use thalweg_policy::Policy;
use thalweg_policy::registry::{Visit, dispatch};

/// The number of firings after one that has waited in which the source publishes after each. A caller that sends requests and
/// waits for the answers sends fewer at a time; a file or a pipe gives more lines for each time that it waits.
pub(crate) const WARY: u32 = 256;
/// The time of an activation, in nanoseconds, from which on one of its firings has waited: well above the time of a slice.
const WAITED_NS: f64 = 40_000.0;

/// The smallest budget of a node whose firings are short, in the upper half of `NodeState::batch`.
const TWO_FIRINGS: u64 = 2 << 32;

/// The blocking sources of a run that workers fire: those that push heavy items, where the policy carries items on and leaves
/// the number of workers to the engine.
pub(crate) fn roaming_sources<'a>(
    graph: &GraphData,
    plan: &Plan,
    options: &Options,
    meter: impl Fn(ChannelId) -> &'a Meter,
) -> BTreeSet<NodeId> {
    let may_roam = options.adapts_width()
        && graph.channels().len() <= MAX_CARRIED
        && plan.own_threads.iter().all(|node| graph.node(*node).blocking)
        && dispatch(&plan.policy, Carries(graph)) == Ok(true);
    if !may_roam {
        return BTreeSet::new();
    }
    let pushes_heavy = |node: &Node| {
        let mut channels = node.outputs.iter().filter_map(|port| port.channel);
        channels.any(|channel| meter(channel).origins().is_some_and(Origins::heavy))
    };
    let roams = |node: &&NodeId| {
        let node = graph.node(**node);
        node.kind == Kind::Sequential && node.is_source() && pushes_heavy(node)
    };
    plan.own_threads.iter().filter(roams).copied().collect()
}

/// Whether a policy carries the items of a graph on.
struct Carries<'a>(&'a GraphData);

impl Visit for Carries<'_> {
    type Out = bool;

    fn visit<P: Policy>(self, policy: &P) -> bool {
        policy.adapts() && !policy.needs(self.0).notifications()
    }
}

impl Net<'_> {
    /// What the report says of the additional workers.
    pub(crate) fn roaming_remark(&self) -> Option<String> {
        let names: Vec<String> = self
            .sched
            .roaming
            .iter()
            .map(|node| format!("`{}`", self.topology.graph.node(*node).name))
            .collect();
        let (threads, names) = (self.topology.plan.threads, names.join(", "));
        (!names.is_empty()).then(|| {
            format!("the workers from number {threads} on are there because of {names}, which may block")
        })
    }

    /// Whether every other worker may be in a firing: more workers are awake than the plan has threads.
    fn is_crowded(&self) -> bool {
        !self.sched.roaming.is_empty() && self.sleep.asleep() < self.sched.roaming.len()
    }
}

impl<P: Policy> Worker<'_, P> {
    /// The limits of a roaming source's activation, if `batch` are those by its pace.
    #[inline]
    pub(super) fn wary(&self, cell: &NodeCell<'_>, (budget, slice): (usize, usize)) -> (usize, usize) {
        let is_wary = cell.roams && cell.state.wary.load(Ordering::Relaxed) > 0;
        (budget, if is_wary { slice.min(1) } else { slice })
    }

    /// Notes whether an activation of a roaming source has waited.
    #[inline]
    pub(super) fn note_waiting(&self, cell: &NodeCell<'_>, fired: usize, spent: Ticks) {
        if cell.roams {
            let left = cell.state.wary.load(Ordering::Relaxed);
            let has_waited = spent as f64 > WAITED_NS * self.ticks_per_ns;
            let left = if has_waited { WARY } else { left.saturating_sub(fired.min(left as usize) as u32) };
            cell.state.wary.store(left, Ordering::Relaxed);
        }
    }

    /// The node to activate if the policy has chosen `node`: a roaming source that no worker fires, if `node` may keep this worker
    /// for long and no worker is left for the source.
    #[inline]
    pub(super) fn attend(&self, node: NodeId) -> NodeId {
        let net = self.host.net;
        if !net.is_crowded() || net.node(node).state.batch.load(Ordering::Relaxed) >= TWO_FIRINGS {
            return node;
        }
        net.sched.roaming.iter().copied().find(|source| net.claimable(*source)).unwrap_or(node)
    }
}
