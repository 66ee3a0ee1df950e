//! The results of a graph on demand.

use super::hash::hash;
use super::store::Store;
use crate::Counts;
use std::borrow::Borrow;
use std::fmt;
use std::hash::Hash;
use std::ops::Index;

/// All results of a graph, by key.
pub struct TaskResults<K, R> {
    pub(super) store: Store<K, R>,
    pub(super) sink: u32,
    pub(super) counts: Counts,
}

impl<K, R> TaskResults<K, R> {
    /// The result of the sink.
    pub fn sink(&self) -> &R {
        self.store.nodes.get(self.sink).result.get().expect("the sink of a graph that has ended was computed")
    }

    /// The result of the sink, without the others.
    pub fn into_sink(mut self) -> R {
        let sink = self.store.nodes.get_mut(self.sink);
        sink.result.take().expect("the sink of a graph that has ended was computed")
    }

    /// The result of the node with this key; `None` if the graph has none.
    pub fn get<Q>(&self, key: &Q) -> Option<&R>
    where
        K: Borrow<Q>,
        Q: Eq + Hash + ?Sized,
    {
        let node =
            self.store.table.find(hash(key), |node| self.store.nodes.get(node).key().borrow() == key)?;
        self.store.nodes.get(node).result.get()
    }

    /// All nodes, each with its result, in no particular order.
    pub fn iter(&self) -> impl Iterator<Item = (&K, &R)> {
        self.store.nodes.iter().filter_map(|(_, node)| Some((node.key.get()?, node.result.get()?)))
    }

    /// The number of nodes, each of which was computed once.
    pub fn len(&self) -> usize {
        self.counts.total().nodes() as usize
    }

    /// Whether there are no nodes. There is the sink, always.
    pub fn is_empty(&self) -> bool {
        false
    }

    /// What was counted.
    pub fn counts(&self) -> &Counts {
        &self.counts
    }
}

impl<K, R> fmt::Debug for TaskResults<K, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TaskResults").field("counts", &self.counts).finish_non_exhaustive()
    }
}

impl<K, R, Q> Index<&Q> for TaskResults<K, R>
where
    K: Borrow<Q>,
    Q: Eq + Hash + ?Sized,
{
    type Output = R;

    /// # Panics
    /// The graph has no node with this key.
    fn index(&self, key: &Q) -> &R {
        self.get(key).expect("the graph has no node with this key")
    }
}
