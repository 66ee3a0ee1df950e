//! Owners: the process that an end of a channel belongs to, known to the end wherever it is moved.
//!
//! Ends are values, and safe code may move them anywhere. So an owner is a number that no other process of this program
//! has, in this run or another. An end dropped outside of its owner's poll finds the run by a table and injects an event
//! there. Nothing else reads the table.

use super::Signals;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use thalweg_graph::NodeId;

/// A process of some run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Owner(pub(crate) u64);

/// The owners of a run: a number for each of its nodes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Owners {
    first: u64,
    count: u64,
}

/// All runs, by their first owner.
static RUNS: Mutex<BTreeMap<u64, Weak<Signals>>> = Mutex::new(BTreeMap::new());

fn runs() -> MutexGuard<'static, BTreeMap<u64, Weak<Signals>>> {
    RUNS.lock().unwrap_or_else(PoisonError::into_inner)
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

    #[inline]
    pub(crate) fn of(self, node: NodeId) -> Owner {
        Owner(self.first + u64::from(node.0))
    }

    /// The node of an owner, if it is of this run.
    pub(crate) fn node(self, owner: Owner) -> Option<NodeId> {
        let place = owner.0.wrapping_sub(self.first);
        (place < self.count).then_some(NodeId(place as u32))
    }
}

/// An owner's run and node, while the run exists.
pub(crate) fn find(owner: Owner) -> Option<(Arc<Signals>, NodeId)> {
    let run = runs().range(..=owner.0).next_back().and_then(|(_, run)| run.upgrade())?;
    let node = run.owners.node(owner)?;
    Some((run, node))
}
