//! What a node sees while it is computed.

use super::store::{Node, Store};

/// The results of a node's predecessors, for [`TaskGraph::compute`](crate::TaskGraph::compute); and the way to add nodes
/// to the graph while it runs.
pub struct Context<'r, K, R> {
    pub(super) store: &'r Store<K, R>,
    pub(super) node: &'r Node<K, R>,
    pub(super) member: usize,
    pub(super) more: &'r mut Vec<K>,
}

impl<K, R> std::fmt::Debug for Context<'_, K, R> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Context").field("inputs", &self.len()).finish_non_exhaustive()
    }
}

impl<K, R> Context<'_, K, R> {
    /// The number of predecessors, with those that are listed twice counted twice.
    pub fn len(&self) -> usize {
        self.node.count()
    }

    /// Whether the node has no predecessors.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The result of the predecessor at this place of the list.
    ///
    /// # Panics
    /// The list is not as long.
    #[inline]
    pub fn input(&self, index: usize) -> &R {
        let len = self.len();
        assert!(index < len, "input {index} of a node with {len} predecessors");
        self.result(index)
    }

    /// The results of the predecessors, in the order of the list.
    pub fn inputs(&self) -> impl ExactSizeIterator<Item = &R> {
        (0..self.len()).map(|index| self.result(index))
    }

    /// The result of the predecessor with this key; `None` if the list does not have it. Compares with each key.
    pub fn get(&self, key: &K) -> Option<&R>
    where
        K: Eq,
    {
        let at =
            self.store.predecessors(self.node).position(|node| self.store.nodes.get(node).key() == key)?;
        Some(self.result(at))
    }

    /// Adds a node to the graph, unless it has one with this key. The run computes it, and what it needs, before it
    /// ends; nothing waits for it. Without effect if this node fails.
    ///
    /// ```
    /// use thalweg_tasks::{OnDemand, TaskGraph};
    ///
    /// // Each number finds others while it is computed.
    /// let graph = OnDemand::new(
    ///     |_: &u32, _: &mut Vec<u32>| {},
    ///     |&number, context| (1..=number / 2).for_each(|smaller| context.also(smaller)),
    /// );
    /// let finished = graph.run(20)?;
    /// assert_eq!(finished.len(), 11);
    /// # Ok::<(), thalweg_tasks::TaskError<u32>>(())
    /// ```
    pub fn also(&mut self, key: K) {
        self.more.push(key);
    }

    /// The member that computes the node: below the number of members.
    pub fn member(&self) -> usize {
        self.member
    }

    #[inline]
    fn result(&self, index: usize) -> &R {
        let node = self.store.nodes.get(self.store.predecessor(self.node, index));
        node.result.get().expect("a node is computed after its predecessors")
    }
}
