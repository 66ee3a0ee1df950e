//! Owners: the identity of the process that an end of a channel belongs to. The end has it wherever it is moved.
//!
//! Ends are values, and safe code may move them anywhere. So an owner is a number that no other process of this program
//! has, in this run or another. An end that is dropped outside of its owner's poll finds the run in a table and injects
//! an event there. No other code reads the table.
//!
//! Invariant: a run enters the table before any of its ends exists, and leaves it when its [`Signals`] are dropped. The
//! table holds `Weak` references, so it keeps no run alive, and a look-up after the run finds nothing.

use super::Signals;
use crate::threads::per_process::PerProcess;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use thalweg_graph::NodeId;

/// A process of a run of this program, as a number that is never reused.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Owner(pub(crate) u64);

/// The owners of a run: consecutive numbers, one for each of its nodes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Owners {
    first: u64,
    count: u64,
}

type Runs = Mutex<BTreeMap<u64, Weak<Signals>>>;

/// All runs, by their first owner.
static RUNS: PerProcess<Runs> = PerProcess::new(Runs::default);

/// The table, locked. Poison is ignored, since no user code runs under the lock.
fn runs() -> MutexGuard<'static, BTreeMap<u64, Weak<Signals>>> {
    RUNS.get().lock().unwrap_or_else(PoisonError::into_inner)
}

impl Owners {
    /// Takes a number for each of `nodes` nodes. (A program never runs out of 2^64.)
    pub(crate) fn new(nodes: usize) -> Owners {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let count = nodes as u64;
        Owners { first: NEXT.fetch_add(count, Ordering::Relaxed), count }
    }

    /// Enters the run into the table.
    pub(crate) fn enter(self, run: &Arc<Signals>) {
        runs().insert(self.first, Arc::downgrade(run));
    }

    /// Removes the run from the table.
    pub(crate) fn leave(self) {
        runs().remove(&self.first);
    }

    /// The owner of a node's ends.
    #[inline]
    pub(crate) fn of(self, node: NodeId) -> Owner {
        Owner(self.first + u64::from(node.0))
    }

    /// The node of an owner; `None` if the owner belongs to another run.
    pub(crate) fn node(self, owner: Owner) -> Option<NodeId> {
        let place = owner.0.wrapping_sub(self.first);
        (place < self.count).then_some(NodeId(place as u32))
    }
}

/// An owner's run and node; `None` if the run no longer exists. The run's number is the greatest in the table that is
/// not above the owner's.
pub(crate) fn find(owner: Owner) -> Option<(Arc<Signals>, NodeId)> {
    let run = runs().range(..=owner.0).next_back().and_then(|(_, run)| run.upgrade())?;
    let node = run.owners.node(owner)?;
    Some((run, node))
}
