//! The times for which nodes wait, by cause.
//!
//! A wait lasts from the end of a node's activation to the beginning of the next one. The thread that begins an
//! activation computes the wait before it, from two time stamps that exist anyway: the end of the node's latest
//! activation (`NodeState::since`), and the end of its own latest activation or idle period. The node's wait word says
//! what the node has waited for.
//!
//! Long waits are all counted. Of short ones, which cost little each and are many, a sample is counted, each for
//! [`FREQUENT`] ([`Sampler::is_frequent`](super::sampler::Sampler::is_frequent)), so that the sums stay unbiased.
//!
//! # The part for which a worker was missing
//!
//! A node waits for a worker from the event that ended its wait for the channel. That event has no time stamp. If the
//! node at the other end has ended an activation since, then the event was no later than that end: what follows counts
//! as waiting for a worker. If that node's activation still lasts, the whole time counts for the channel.
//!
//! # Parallel nodes
//!
//! Several workers may be in activations of a parallel node. It waits while none is: `NodeState::enter` says whether the
//! worker that begins is the first, and only that one counts a wait. It began when the last of them left, which notes
//! what the node lacked then: after a claim that was granted the wait word says nothing.
//!
//! All counters are statistics: `Relaxed`, read after the threads were joined, or as estimates.

use super::clock::Ticks;
use super::sampler::FREQUENT;
use crate::net::{Net, NodeCell};
use crate::sync::Ordering;
use std::sync::atomic::AtomicU64;
use thalweg_graph::{Kind, NodeId};
use thalweg_trace::Cause;

/// The ticks from which on a wait is long: half a microsecond to two, as processors go. Counting it costs less than a
/// hundredth of that.
pub(crate) const LONG_WAIT: Ticks = 4096;

/// The times for which a node waited for something other than a channel, in ticks.
#[derive(Debug, Default)]
pub(crate) struct OtherWaits {
    /// For a worker.
    pub(crate) worker: AtomicU64,
    /// For what only nodes of its kind wait for: a parallel node for its own tickets, a merge for any input, a process
    /// for an event outside the graph.
    pub(crate) own: AtomicU64,
}

/// A wait that has ended, and that is to be counted if the activation takes place.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ended {
    /// What the node waited for; `None` if it could fire.
    cause: Option<Cause>,
    /// When it began.
    since: Ticks,
    /// When it ended.
    until: Ticks,
    /// The number of waits for which it counts.
    weight: u64,
}

impl Ended {
    /// The wait as it is known at the end of the activation that follows it, before that end is stored in
    /// `NodeState::since`. Where a policy scans, the worker that had the node before releases its claim first and
    /// stores the end of its activation then: a worker that took the node in between has read the end of an older one.
    pub(crate) fn corrected(self, cell: &NodeCell<'_>) -> Ended {
        match cell.kind {
            // Several workers store their ends; `NodeState::enter` and `NodeState::leave` exclude this race.
            Kind::Parallel => self,
            _ => Ended { since: cell.state.since.load(Ordering::Relaxed), ..self },
        }
    }
}

/// Whether the wait of a node whose activation begins at `now` is to be counted. `frequent` says that a short one is.
/// Never in a loom model: the answer depends on the clock, and an execution must be repeatable.
#[inline]
pub(crate) fn is_counted(cell: &NodeCell<'_>, now: Ticks, frequent: bool) -> bool {
    let waited = now.saturating_sub(cell.state.since.load(Ordering::Relaxed));
    !cfg!(loom) && (waited >= LONG_WAIT || frequent)
}

/// The wait of a node whose activation begins at `now`, if [`is_counted`] is true for it. Called before the activation,
/// which sets the node's wait word anew.
#[cold]
pub(crate) fn ended(cell: &NodeCell<'_>, now: Ticks) -> Ended {
    let wait = ended_always(cell, now);
    let is_short = now.saturating_sub(wait.since) < LONG_WAIT;
    Ended { weight: if is_short { u64::from(FREQUENT) } else { 1 }, ..wait }
}

/// The wait of a node whose activation begins at `now`, however short it was.
pub(crate) fn ended_always(cell: &NodeCell<'_>, now: Ticks) -> Ended {
    let since = cell.state.since.load(Ordering::Relaxed);
    let cause = cell.state.wait.read().cause().or_else(|| cell.state.lacked());
    Ended { cause, since, until: now, weight: 1 }
}

/// Counts a wait of the node.
#[cold]
pub(crate) fn count(net: &Net<'_>, node: NodeId, wait: Ended) {
    let cell = net.node(node);
    let since = wait.since.max(net.began());
    let waited = wait.until.saturating_sub(since);
    let add = |counter: &AtomicU64, time: Ticks| {
        counter.fetch_add(time.saturating_mul(wait.weight), Ordering::Relaxed);
    };
    let (counter, other) = match wait.cause {
        None | Some(Cause::Worker) => return add(&cell.state.waits.worker, waited),
        Some(Cause::Items(channel)) => (net.meter(channel).consumer_waited(), net.ends(channel).0),
        Some(Cause::Room(channel)) => (net.meter(channel).producer_waited(), net.ends(channel).1),
        Some(_) => return add(&cell.state.waits.own, waited),
    };
    let freed = net.node(other).state.since.load(Ordering::Relaxed);
    let blocked = if freed > since { waited.min(freed - since) } else { waited };
    add(counter, blocked);
    if waited > blocked {
        add(&cell.state.waits.worker, waited - blocked);
    }
}
