//! Whose an end of a channel is: known to the end wherever it goes, and by which its run is found from
//! there.
//!
//! Ends are values, and safe code may take them anywhere. So an owner is a number that no other process
//! of this program has, of this run or another, and what is dropped elsewhere than in its owner's poll
//! finds the run in a table and leaves word there. The table is asked on that way alone.

use crate::net::Signals;
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

/// The runs that there are, by their first owner.
static RUNS: Mutex<BTreeMap<u64, Weak<Signals>>> = Mutex::new(BTreeMap::new());

fn runs() -> MutexGuard<'static, BTreeMap<u64, Weak<Signals>>> {
    RUNS.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Owners {
    /// Numbers for so many nodes. (2^64 of them are beyond any program's life.)
    pub(crate) fn new(nodes: usize) -> Owners {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let count = nodes as u64;
        Owners { first: NEXT.fetch_add(count, Ordering::Relaxed), count }
    }

    /// Enters the run into the table.
    pub(crate) fn enter(self, run: &Arc<Signals>) {
        runs().insert(self.first, Arc::downgrade(run));
    }

    /// Takes it off again.
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

/// An owner's run, and its node there, if there still is one.
pub(super) fn find(owner: Owner) -> Option<(Arc<Signals>, NodeId)> {
    let run = runs().range(..=owner.0).next_back().and_then(|(_, run)| run.upgrade())?;
    let node = run.owners.node(owner)?;
    Some((run, node))
}
