//! A decorator that records the decisions of a policy, to compare them between hosts.
//!
//! ```
//! use thalweg_policy::record::{Entry, Log};
//! use thalweg_policy::{Qes, Recorded};
//!
//! let log = Log::new();
//! let policy = Recorded::new(Qes, &log);
//! // A host runs `policy`; afterwards:
//! let entries: Vec<Entry> = log.take();
//! # drop(policy);
//! # assert!(entries.is_empty());
//! ```

use crate::{Decision, Event, Host, Needs, Policy, WorkerId};
use std::sync::{Mutex, PoisonError};
use thalweg_graph::{GraphData, NodeId};

/// One call of [`Policy::next`] and its result.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Entry {
    /// The worker that called.
    pub worker: WorkerId,
    /// The worker's latest activation and the event that ended it.
    pub last: Option<(NodeId, Event)>,
    /// The decision.
    pub decision: Decision,
}

/// The entries of all workers of a [`Recorded`] policy. It grows with every decision, so it is for tests.
#[derive(Default, Debug)]
pub struct Log {
    /// Locked once per worker, at the end of its run.
    entries: Mutex<Vec<Entry>>,
}

impl Log {
    /// An empty log.
    pub fn new() -> Log {
        Log::default()
    }

    /// Removes and returns the entries of every worker that has ended: sorted by worker, and in order of time for
    /// each.
    pub fn take(&self) -> Vec<Entry> {
        let mut entries = std::mem::take(&mut *self.entries.lock().unwrap_or_else(PoisonError::into_inner));
        entries.sort_by_key(|entry| entry.worker);
        entries
    }

    fn append(&self, worker: &mut Vec<Entry>) {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner).append(worker);
    }
}

/// A policy that decides as `P` does and records each decision. It permits no direct handoffs ([`Policy::handoffs`]),
/// so every activation follows a decision.
#[derive(Debug)]
pub struct Recorded<'a, P> {
    policy: P,
    log: &'a Log,
}

impl<'a, P> Recorded<'a, P> {
    /// Records the decisions of `policy` in `log`.
    pub fn new(policy: P, log: &'a Log) -> Recorded<'a, P> {
        Recorded { policy, log }
    }
}

/// State of one worker: the state of the policy, and entries that move to the log when it is dropped.
#[derive(Debug)]
pub struct Local<'a, L> {
    policy: L,
    worker: WorkerId,
    entries: Vec<Entry>,
    log: &'a Log,
}

impl<L> Drop for Local<'_, L> {
    fn drop(&mut self) {
        self.log.append(&mut self.entries);
    }
}

impl<'a, P: Policy> Policy for Recorded<'a, P> {
    type Local = Local<'a, P::Local>;
    type Shared = P::Shared;

    fn needs(&self, graph: &GraphData) -> Needs {
        self.policy.needs(graph)
    }

    fn adapts(&self) -> bool {
        self.policy.adapts()
    }

    fn start<H: Host<P::Shared>>(&self, worker: WorkerId, host: &mut H) -> Self::Local {
        let policy = self.policy.start(worker, host);
        Local { policy, worker, entries: Vec::new(), log: self.log }
    }

    fn ready<H: Host<P::Shared>>(&self, me: &mut Self::Local, node: NodeId, host: &mut H) {
        self.policy.ready(&mut me.policy, node, host);
    }

    fn next<H: Host<P::Shared>>(
        &self,
        me: &mut Self::Local,
        last: Option<(NodeId, Event)>,
        host: &mut H,
    ) -> Decision {
        let decision = self.policy.next(&mut me.policy, last, host);
        me.entries.push(Entry { worker: me.worker, last, decision });
        decision
    }
}
