//! How a run goes: what its caller may set.

use crate::error::Error;
use crate::threads::cores::parallelism;
use std::time::Duration;
use thalweg_plan::Wishes;
use thalweg_policy::Policy;
use thalweg_policy::registry::{Visit, dispatch};

/// Worker threads at most.
const THREADS: usize = 4096;

/// How to run a network. What is not said is chosen.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Options {
    pub(super) threads: Option<usize>,
    pub(super) policy: Option<String>,
    pub(super) budget: Option<usize>,
    pub(super) capacity: Option<usize>,
    pub(super) run: Option<usize>,
    pub(super) seed: u64,
    pub(super) deadline: Option<Duration>,
    pub(super) counted: bool,
    pub(super) unaccounted: bool,
    pub(super) pinned: bool,
    pub(super) one_to_one: bool,
    pub(super) closes_loops: bool,
}

impl Options {
    /// Nothing said.
    pub fn new() -> Options {
        Options::default()
    }

    /// Worker threads; the default is the number of cores this process may use.
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = Some(threads);
        self
    }

    /// Scheduling policy: a name with settings (`"prs:C=1000"`, see [`thalweg_policy::registry::names`]), or
    /// a policy of this crate (`Prs::new(1000)`), which prints as its name. For a policy of your own
    /// see [`Graph::run_under`](crate::Graph::run_under).
    pub fn policy(mut self, policy: impl std::fmt::Display) -> Self {
        self.policy = Some(policy.to_string());
        self
    }

    /// Bytes that channels may take: their slots, what weighed items stand for, and growth. A
    /// parallel node may exceed it by one firing of each worker. Where nothing is said, weights
    /// limit nothing, and channels grow while all of them take at most 256 MiB (into a loop that
    /// starves, 16 MiB).
    pub fn budget(mut self, bytes: usize) -> Self {
        self.budget = Some(bytes);
        self
    }

    /// Items every channel can hold that has no capacity of its own. By default the plan chooses the capacity. A channel
    /// next to a [blocking](crate::Stream::blocking) node or an [`Outlet`](crate::Outlet) then widens while half of it
    /// lasts less than about a millisecond, up to 16 times its capacity and 1 MiB.
    pub fn capacity(mut self, items: usize) -> Self {
        self.capacity = Some(items);
        self
    }

    /// Firings that a claim takes at most.
    pub fn run_length(mut self, firings: usize) -> Self {
        self.run = Some(firings);
        self
    }

    /// Seed of the policies' random choices. The result does not depend on it.
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// The run fails when it takes longer. Firings are not interrupted.
    pub fn deadline(mut self, time: Duration) -> Self {
        self.deadline = Some(time);
        self
    }

    /// Makes activations end by count alone, never by the clock, so that what one worker does can
    /// be repeated exactly.
    pub fn counted(mut self) -> Self {
        self.counted = true;
        self
    }

    /// Reads no clock while the run goes: the report's times are zero, and activations end by
    /// count alone ([`Options::counted`]). For measuring what accounting costs. (A deadline needs the
    /// clock, and so does the policy `partition`: they undo this.)
    pub fn unaccounted(mut self) -> Self {
        self.unaccounted = true;
        self.counted = true;
        self
    }

    /// A thread of its own for each process and sequential kernel, scheduled by the operating
    /// system: Nornir's 1:1 model (section 4.1), to compare with. Parallel kernels share the
    /// workers.
    pub fn one_to_one(mut self) -> Self {
        self.one_to_one = true;
        self
    }

    /// Ends a loop that starves, and discards what its outside inputs hold and still get, where the
    /// run would fail with [`Error::Deadlock`] otherwise: for loops whose nodes drop items on purpose.
    /// The loop ends when nothing else in the graph can go on, so beside an endless source that does
    /// not feed it, it waits.
    pub fn close_starved_loops(mut self) -> Self {
        self.closes_loops = true;
        self
    }

    /// Keeps each worker on one core, of those that the calling thread may use, where the system
    /// lets it. Good for a machine that does nothing else: a worker whose core is wanted by another
    /// program then waits for it. With more workers than cores nobody is pinned.
    pub fn pinned(mut self) -> Self {
        self.pinned = true;
        self
    }

    /// Whether a run can go by these options, as far as they say it without a graph.
    ///
    /// # Errors
    /// [`Error::Options`] for an unknown policy, for more threads than anybody has, and for none of
    /// what there must be one of.
    pub fn check(&self) -> Result<(), Error> {
        if let Some(policy) = &self.policy {
            dispatch(policy, Known).map_err(|unknown| Error::Options(unknown.to_string()))?;
        }
        let least = [("threads", self.threads), ("capacity", self.capacity), ("run length", self.run)];
        if let Some((what, _)) = least.iter().find(|(_, said)| *said == Some(0)) {
            return Err(Error::Options(format!("{what} 0: at least 1 is needed")));
        }
        match self.threads {
            Some(threads) if threads > THREADS => {
                Err(Error::Options(format!("{threads} threads: at most {THREADS}")))
            }
            _ => Ok(()),
        }
    }

    /// Worker threads that a run by these options has.
    pub fn workers(&self) -> usize {
        self.threads.unwrap_or_else(parallelism)
    }

    pub(super) fn wishes(&self) -> Wishes {
        Wishes {
            threads: Some(self.workers()),
            policy: self.policy.clone(),
            budget: self.budget,
            capacity: self.capacity,
            run: self.run,
        }
    }
}

/// Whether a policy's name is known.
struct Known;

impl Visit for Known {
    type Out = ();

    fn visit<P: Policy>(self, _policy: &P) {}
}
