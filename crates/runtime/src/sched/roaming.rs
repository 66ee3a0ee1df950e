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
//! | the source is read whatever the workers do | at most as many workers as the plan has threads fire other nodes ("The limit" in [`sleep`](crate::sched::sleep)) |
//!
//! # A long firing
//!
//! ```text
//!   fires the source                          looks
//!   1. looked := FIRING                       1. finds the same activations as before
//!   2. fires, and marks the end               2. looked = FIRING? then looked := LONG, and excuses the worker
//!   3. looked := NONE; was it LONG?           3. publishes up to the mark, at this look and at the next ones
//!      then resumes, and publishes
//! ```
//!
//! The exchange of the right side (2) is done under the mutex of [`sleep`](crate::sched::sleep), and the left side resumes under
//! it, so a worker is excused before it resumes. A mark (2, left) of the firing before may be too new for the right side's (3).
//! It is seen at a later look: the looker rests only after [`QUIET_OUTSIDE`](crate::sched::look) looks that have found nothing.

use crate::channel::{Meter, Origins};
use crate::measure::clock::Ticks;
use crate::net::{MAX_CARRIED, Net, NodeCell};
use crate::run::Options;
use crate::sched::worker::Worker;
use crate::sync::Ordering;
use std::collections::BTreeSet;
use std::sync::atomic::AtomicU32;
use thalweg_graph::{ChannelId, GraphData, Kind, Node, NodeId};
use thalweg_plan::Plan;
use thalweg_policy::Policy;
use thalweg_policy::registry::{Visit, dispatch};

/// The number of firings after one that has waited in which the source publishes after each. A caller that sends requests and
/// waits for the answers sends fewer at a time; a file or a pipe gives more lines for each time that it waits.
pub(crate) const WARY: u32 = 256;
/// The time of an activation, in nanoseconds, from which on one of its firings has waited: well above the time of a slice.
const WAITED_NS: f64 = 40_000.0;

/// The blocking sources of a run that workers fire: those that push heavy items, where the policy carries items on and leaves
/// the number of workers to the engine.
pub(crate) fn roaming_sources<'a>(
    graph: &GraphData,
    plan: &Plan,
    options: &Options,
    meter: impl Fn(ChannelId) -> &'a Meter,
) -> BTreeSet<NodeId> {
    let may_roam = options.lets_sources_roam()
        && graph.channels().len() <= MAX_CARRIED
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

/// Whether a roaming source is in a firing, and whether that takes long: see the module.
#[derive(Debug, Default)]
pub(crate) struct Looked(AtomicU32);

/// No firing.
const NONE: u32 = 0;
/// A firing of which nothing is known.
const FIRING: u32 = 1;
/// A firing whose worker is excused.
const LONG: u32 = 2;

impl Looked {
    /// The thread that fires begins a firing.
    #[inline]
    pub(crate) fn begin_firing(&self) {
        self.0.store(FIRING, Ordering::Relaxed);
    }

    /// The thread that fires ends the firing; whether its worker was excused.
    #[inline]
    pub(crate) fn end_firing(&self) -> bool {
        self.0.swap(NONE, Ordering::Relaxed) == LONG
    }

    /// Whether the worker of a firing is excused.
    pub(crate) fn is_long(&self) -> bool {
        self.0.load(Ordering::Relaxed) == LONG
    }

    /// The looker finds the firing long. False if there is none, or if it was found long before.
    pub(crate) fn begin(&self) -> bool {
        self.0.compare_exchange(FIRING, LONG, Ordering::Relaxed, Ordering::Relaxed).is_ok()
    }
}

impl Net<'_> {
    /// Gives roaming sources threads of their own, before the run begins. The numbers of these sleepers are those of the
    /// additional workers.
    pub(crate) fn keep_sources(&mut self) {
        let first = self.topology.plan.threads as u32;
        for (source, sleeper) in std::mem::take(&mut self.sched.roaming).into_iter().zip(first..) {
            let cell = &mut self.cells.nodes[source.index()];
            (cell.dedicated, cell.roams) = (Some(sleeper), false);
            let peers: Vec<NodeId> = self.peers(source).collect();
            peers.into_iter().for_each(|peer| self.cells.nodes[peer.index()].dedicated_peers = true);
        }
    }

    /// A roaming source that could fire, and that no worker fires.
    pub(crate) fn unattended(&self) -> Option<NodeId> {
        self.sched.roaming.iter().copied().find(|source| self.claimable(*source))
    }

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
    pub(super) fn note_waiting(&mut self, cell: &NodeCell<'_>, fired: usize, spent: Ticks) {
        if cell.roams {
            let left = cell.state.wary.load(Ordering::Relaxed);
            let has_waited = spent as f64 > WAITED_NS * self.ticks_per_ns;
            let left = if has_waited { WARY } else { left.saturating_sub(fired.min(left as usize) as u32) };
            cell.state.wary.store(left, Ordering::Relaxed);
            if has_waited {
                // The worker was not off the processor for others, nor busy.
                self.account.busy = self.account.busy.saturating_sub(spent);
                self.account.idle += spent;
                self.account.parked += spent;
            }
        }
    }

    /// What a worker does that may be beyond the limit: it fires a roaming source, or sleeps. `None` if it is not beyond.
    #[cold]
    pub(super) fn attend(&mut self, now: &mut Ticks) -> Option<Attending> {
        let net = self.host.net;
        if !net.sleep.has_excess() {
            self.is_beyond = false;
            return None;
        }
        if let Some(source) = net.unattended() {
            return Some(Attending::Fires(source));
        }
        self.stand_down(now, true).then_some(Attending::Slept)
    }
}

/// What a worker beyond the limit does.
pub(super) enum Attending {
    /// It fires this source.
    Fires(NodeId),
    /// It has slept.
    Slept,
}
