//! Nodes with a thread of their own.

use super::Given;
use std::collections::BTreeSet;
use thalweg_graph::{Kind, Node, NodeId};

/// The nodes that block, among them the ends that code outside of the run holds; with one-to-one threads, every node
/// that is not parallel. In a compiled graph bodies have threads, and not nodes.
pub(super) fn decide(given: &Given<'_>) -> BTreeSet<NodeId> {
    let thread_per_node = given.wishes.thread_per_node && given.units.is_none();
    let is_own = |node: &Node| node.blocking() || (thread_per_node && node.kind() != Kind::Parallel);
    given.graph.node_ids().filter(|id| is_own(given.graph.node(*id))).collect()
}
