//! Roaming sources: blocking sources that workers fire.
//!
//! A node with a thread of its own hands each item to another thread. That costs the item's cache lines, and its memory is
//! freed on another thread than it was allocated on: a source of lines with three maps behind it took 2.4 times as long as a
//! loop. So where workers carry their items on ([`auto`](thalweg_policy::auto)), a blocking source *roams*: it has no thread,
//! the run has one worker more instead, and any worker fires the source and goes on with what it has pushed.
//!
//! | what the thread of its own gives | what gives it here |
//! |---|---|
//! | a source that waits takes no worker from the others | the additional worker, which sleeps until the looker has found a firing of the source long |
//! | an item does not wait for the next one | the source publishes after each of its first [`AT_ONCE`] firings, and of as many after one that has waited. If a later one waits, the looker publishes what was pushed before it, and the source publishes after each firing until its activation ends |
//! | a run that waits for input uses no processor time | the looker rests ([`sleep`](crate::sched::sleep)) |
//! | the source is read whatever the workers do | at most as many workers as the plan has threads fire other nodes ([`bounds`](crate::sched::sleep::bounds)) |
//!
//! # A long firing
//!
//! ```text
//!   fires the source                          looks
//!   1. firing := FIRING                       1. finds the same activations as before
//!   2. fires, and marks the end               2. firing = FIRING? then firing := LONG, and excuses the worker
//!   3. firing := NONE; was it LONG?           3. publishes up to the mark, at this look and at the next ones
//!      then resumes, and publishes
//! ```
//!
//! The exchange of the right side (2) is done under the mutex of [`sleep`](crate::sched::sleep), and the left side resumes under
//! it, so a worker is excused before it resumes. A mark (2, left) of the firing before may be too new for the right side's (3).
//! It is seen at a later look: the looker rests only after [`QUIET_OUTSIDE`](crate::sched::look) looks that have found nothing.

use crate::channel::{Meter, Origins};
use crate::measure::clock::Ticks;
use crate::net::{Net, NodeCell};
use crate::run::Options;
use crate::sched::sleep::Sleep;
use crate::sched::worker::Worker;
use crate::sync::Ordering;
use std::collections::BTreeSet;
use std::sync::atomic::AtomicU32;
use thalweg_graph::{ChannelId, GraphData, Kind, Node, NodeId};
use thalweg_plan::{MAX_CARRIED, Plan};
use thalweg_policy::Policy;
use thalweg_policy::registry::{Visit, dispatch};

/// The number of firings after one that has waited in which the source publishes after each. A caller that sends requests and
/// waits for the answers sends fewer at a time; a file or a pipe gives more lines for each time that it waits.
pub(crate) const AT_ONCE: u32 = 256;
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
        && dispatch(plan.policy(), Carries(graph)) == Ok(true);
    if !may_roam {
        return BTreeSet::new();
    }
    let pushes_heavy = |node: &Node| {
        let mut channels = node.outputs().iter().filter_map(|port| port.channel());
        channels.any(|channel| meter(channel).origins().is_some_and(Origins::heavy))
    };
    let roams = |node: &&NodeId| {
        let node = graph.node(**node);
        node.kind() == Kind::Sequential && node.is_source() && pushes_heavy(node)
    };
    plan.own_threads().iter().filter(roams).copied().collect()
}

/// Whether a policy carries the items of a graph on.
struct Carries<'a>(&'a GraphData);

impl Visit for Carries<'_> {
    type Out = bool;

    fn visit<P: Policy>(self, policy: &P) -> bool {
        policy.adapts() && !policy.needs(self.0).notifications()
    }
}

/// The state of a roaming source that its firings share with the looker.
///
/// | field | written by | ordering | why |
/// |---|---|---|---|
/// | `firing` | the thread that fires, under the node's claim; the looker, by compare-and-swap | `Relaxed` | the mutex of [`sleep`](crate::sched::sleep): see the module |
/// | `at_once` | the worker that has activated the source | `Relaxed` | an estimate: a lost update is harmless |
#[derive(Debug)]
pub(crate) struct Roaming {
    /// [`NONE`], [`FIRING`] or [`LONG`].
    firing: AtomicU32,
    /// The number of firings to come that publish at once.
    at_once: AtomicU32,
}

/// No firing.
const NONE: u32 = 0;
/// A firing of which nothing is known.
const FIRING: u32 = 1;
/// A firing whose worker is excused.
const LONG: u32 = 2;

impl Default for Roaming {
    fn default() -> Roaming {
        Roaming { firing: AtomicU32::new(NONE), at_once: AtomicU32::new(AT_ONCE) }
    }
}

impl Roaming {
    /// The thread that fires begins a firing.
    #[inline]
    pub(crate) fn begin_firing(&self) {
        self.firing.store(FIRING, Ordering::Relaxed);
    }

    /// The thread that fires ends the firing; whether its worker was excused.
    #[inline]
    pub(crate) fn end_firing(&self, sleep: &Sleep) -> bool {
        let was_long = self.firing.swap(NONE, Ordering::Relaxed) == LONG;
        if was_long {
            sleep.resume();
        }
        was_long
    }

    /// Whether the worker of a firing is excused.
    pub(crate) fn is_long(&self) -> bool {
        self.firing.load(Ordering::Relaxed) == LONG
    }

    /// The looker finds the firing long. False if there is none, or if it was found long before.
    pub(crate) fn is_found_long(&self) -> bool {
        self.firing.compare_exchange(FIRING, LONG, Ordering::Relaxed, Ordering::Relaxed).is_ok()
    }
}

impl Net<'_> {
    /// Gives roaming sources threads of their own, before the run begins. The numbers of these sleepers are those of the
    /// additional workers.
    pub(crate) fn keep_sources(&mut self) {
        let first = self.topology.plan.threads() as u32;
        for (source, sleeper) in std::mem::take(&mut self.sched.roaming).into_iter().zip(first..) {
            let cell = &mut self.cells.nodes[source.index()];
            (cell.dedicated, cell.roaming) = (Some(sleeper), None);
            let peers: Vec<NodeId> = self.peers(source).collect();
            peers.into_iter().for_each(|peer| self.cells.nodes[peer.index()].dedicated_peers = true);
        }
    }

    /// A roaming source that could fire, and that no worker fires.
    pub(crate) fn idle_source(&self) -> Option<NodeId> {
        self.sched.roaming.iter().copied().find(|source| self.claimable(*source))
    }

    /// What the report says of the additional workers.
    pub(crate) fn roaming_remark(&self) -> Option<String> {
        let name = |node: &NodeId| format!("`{}`", self.topology.graph.node(*node).name());
        let names: Vec<String> = self.sched.roaming.iter().map(name).collect();
        let (threads, names) = (self.topology.plan.threads(), names.join(", "));
        (!names.is_empty()).then(|| {
            format!("the workers from number {threads} on are there because of {names}, which may block")
        })
    }
}

impl<P: Policy> Worker<'_, P> {
    /// The limits of an activation, if `batch` are those by the node's pace: a roaming source may publish after each firing.
    #[inline]
    pub(super) fn at_once(&self, cell: &NodeCell<'_>, (budget, slice): (usize, usize)) -> (usize, usize) {
        let publishes_each =
            cell.roaming.as_ref().is_some_and(|roaming| roaming.at_once.load(Ordering::Relaxed) > 0);
        (budget, if publishes_each { slice.min(1) } else { slice })
    }

    /// Notes whether an activation of a roaming source has waited.
    #[inline]
    pub(super) fn note_waiting(&mut self, cell: &NodeCell<'_>, fired: usize, spent: Ticks) {
        let Some(roaming) = &cell.roaming else { return };
        if spent as f64 <= WAITED_NS * self.ticks_per_ns {
            let fired = u32::try_from(fired).unwrap_or(u32::MAX);
            let left = roaming.at_once.load(Ordering::Relaxed).saturating_sub(fired);
            return roaming.at_once.store(left, Ordering::Relaxed);
        }
        roaming.at_once.store(AT_ONCE, Ordering::Relaxed);
        // The worker was not busy, and not off the processor for another thread.
        self.account.busy = self.account.busy.saturating_sub(spent);
        self.account.idle += spent;
        self.account.parked += spent;
    }

    /// What a worker does that may be beyond the limit: it fires a roaming source, or has slept. `None` if it is not beyond.
    #[cold]
    pub(super) fn beyond_limit(&mut self, now: &mut Ticks) -> Option<Beyond> {
        let net = self.host.net;
        if !net.sleep.has_excess() {
            self.is_beyond = false;
            return None;
        }
        if let Some(source) = net.idle_source() {
            return Some(Beyond::Fires(source));
        }
        self.stand_down(now, true).then_some(Beyond::Slept)
    }
}

/// What a worker beyond the limit does.
pub(super) enum Beyond {
    /// It fires this source.
    Fires(NodeId),
    /// It has slept.
    Slept,
}
