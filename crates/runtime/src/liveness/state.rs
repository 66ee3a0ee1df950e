//! The state of the search that all threads of a run share.
//!
//! All accesses are `Relaxed`: no field guards data, and a stale value makes a search earlier, later or longer, but
//! never wrong. A verdict rests on the claims of the nodes alone ([`search`](crate::liveness::search)).
//!
//! | field | written by | a race |
//! |---|---|---|
//! | `next` | a searching thread, by `fetch_add` | each suspect is still the start of one search per round |
//! | `due` | the thread that searches: `u64::MAX` by compare-and-swap, the next time when it ends | one thread searches at a time |
//! | `reach` | the thread that searches, when it has exceeded it | none, by `due` |
//! | `seen` | any searching thread, by `swap` | of two threads, one reads that the node was active; the other finds it idle too early and then refutes the set under the claims |
//! | `searches` | any searching thread, by `fetch_add` | none: a statistic |

use crate::net::topology::is_end;
use crate::sync::{AtomicUsize, Ordering};
use std::sync::atomic::{AtomicU32, AtomicU64};
use thalweg_graph::{GraphData, NodeId};

/// The greatest number of nodes that a search from one suspect visits, at first. In a graph of a million nodes all
/// waiting nodes may wait for one that runs, and each search would visit them all. Doubles whenever a search exceeds
/// it.
pub(super) const REACH: usize = 1024;

/// The state of the search, shared by all threads of a run.
#[derive(Debug)]
pub(crate) struct SearchState {
    /// Nodes that may lie on a cycle of waiting nodes, and the ends of the graph.
    pub(super) suspects: Box<[NodeId]>,
    /// The suspect that the next search starts from.
    pub(super) next: AtomicUsize,
    /// When the next search is due, in ticks; `u64::MAX` while a thread searches.
    pub(super) due: AtomicU64,
    /// The greatest number of nodes that a search from one suspect visits: see [`REACH`].
    pub(super) reach: AtomicUsize,
    /// By node: the low bits of its number of activations at the latest search.
    seen: Box<[AtomicU32]>,
    /// Candidate sets examined under their claims.
    pub(super) searches: AtomicUsize,
    /// The ends of the graph.
    pub(super) ends: Box<[NodeId]>,
}

impl SearchState {
    /// The state for a graph. If no set of its nodes can wait for each other it has no suspects, and nothing searches.
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

    /// Whether the graph has suspects, so that threads must search.
    pub(crate) fn is_on(&self) -> bool {
        !self.suspects.is_empty()
    }

    /// Whether the node, activated `activations` times by now, was active since the previous call for it.
    pub(super) fn was_active(&self, node: NodeId, activations: u64) -> bool {
        // After a multiple of 2^32 activations an active node counts as idle. Its claim then refutes the candidate set.
        let activations = activations as u32;
        self.seen[node.index()].swap(activations, Ordering::Relaxed) != activations
    }

    /// Candidate sets examined under their claims so far.
    pub(crate) fn searches(&self) -> usize {
        self.searches.load(Ordering::Relaxed)
    }
}
