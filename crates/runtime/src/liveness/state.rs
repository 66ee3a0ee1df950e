//! The state of the search that all threads of a run share.

use crate::net::topology::is_end;
use crate::sync::{AtomicUsize, Ordering};
use std::sync::atomic::{AtomicU32, AtomicU64};
use thalweg_graph::{GraphData, NodeId};

/// Nodes that a search from one suspect visits at most, at first: in a graph of a million nodes all that wait may wait
/// for one that runs. Doubles whenever a search exceeds it.
pub(super) const REACH: usize = 1024;

/// The state of the search, shared by all threads of a run.
#[derive(Debug)]
pub(crate) struct SearchState {
    /// Nodes that may lie on a cycle of waiting nodes, and the ends of the graph.
    pub(super) suspects: Box<[NodeId]>,
    /// The suspect that the next search starts from.
    pub(super) next: AtomicUsize,
    /// When the next search is due, in ticks.
    pub(super) due: AtomicU64,
    /// Nodes that a search from one suspect visits at most: see [`REACH`].
    pub(super) reach: AtomicUsize,
    /// By node: the low bits of its number of activations at the latest search.
    seen: Box<[AtomicU32]>,
    /// Candidate sets examined under their claims.
    pub(super) searches: AtomicUsize,
    /// The ends of the graph.
    pub(super) ends: Box<[NodeId]>,
}

impl SearchState {
    pub(crate) fn new(graph: &GraphData) -> SearchState {
        let mut suspects = thalweg_analysis::deadlock_candidates(graph);
        let is_end = |node: &NodeId| is_end(graph.node(*node));
        let is_on = !suspects.is_empty();
        let ends = graph.node_ids().filter(is_end).filter(|_| is_on);
        let ends: Vec<NodeId> = ends.collect();
        suspects.extend(&ends);
        suspects.sort_unstable();
        suspects.dedup();
        SearchState {
            suspects: suspects.into(),
            next: AtomicUsize::new(0),
            due: AtomicU64::new(0),
            reach: AtomicUsize::new(REACH),
            seen: (0..if is_on { graph.nodes().len() } else { 0 }).map(|_| AtomicU32::new(0)).collect(),
            searches: AtomicUsize::new(0),
            ends: ends.into(),
        }
    }

    /// Whether the graph has no ends.
    pub(crate) fn has_no_ends(&self) -> bool {
        self.ends.is_empty()
    }

    /// Whether the graph has suspects.
    pub(crate) fn is_on(&self) -> bool {
        !self.suspects.is_empty()
    }

    /// Whether the node, activated `activations` times by now, was active since the previous call for it.
    pub(super) fn was_active(&self, node: NodeId, activations: u64) -> bool {
        let activations = activations as u32;
        self.seen[node.index()].swap(activations, Ordering::Relaxed) != activations
    }

    /// Candidate sets examined under their claims so far.
    pub(crate) fn searches(&self) -> usize {
        self.searches.load(Ordering::Relaxed)
    }
}
