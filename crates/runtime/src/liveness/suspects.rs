//! Nodes that a worker has left waiting for room.
//!
//! Every cycle that growth would open contains such a node, so the search starts from these first; a search from all
//! other suspects takes longer in a large graph ([`search`](crate::liveness::search)). A worker notes a node when an
//! activation of it ends for want of room. A flag of the node says that a worker has noted it, so it is noted once
//! between two searches.

use crate::liveness::search;
use crate::measure::clock::{Ticks, ticks};
use crate::net::{Net, NodeState, Waiting};
use crate::sync::{Ordering, fence};
use std::collections::HashSet;
use thalweg_graph::NodeId;

/// What one worker has noted.
#[derive(Debug, Default)]
pub(crate) struct Suspects {
    nodes: Vec<NodeId>,
    /// The node that the next search starts from.
    at: usize,
    /// When the next search is due, in ticks.
    due: Ticks,
}

impl Suspects {
    /// Notes a node that waits for room.
    #[inline]
    pub(crate) fn note(&mut self, node: NodeId, state: &NodeState) {
        if !state.suspected.load(Ordering::Relaxed) {
            state.suspected.store(true, Ordering::Relaxed);
            self.nodes.push(node);
        }
    }

    /// Forgets all nodes: the worker goes to sleep, and other workers may note them.
    pub(crate) fn clear(&mut self, net: &Net<'_>) {
        for node in self.nodes.drain(..) {
            net.cells.nodes[node.index()].state.suspected.store(false, Ordering::Relaxed);
        }
    }

    /// Searches from the noted nodes, if that is due at `now`. Returns when the next search is due. No search starts more
    /// than `period` after `now`, and all together take no more than their share of the time (all in ticks).
    pub(crate) fn look(&mut self, net: &Net<'_>, now: Ticks, period: Ticks) -> Ticks {
        if now < self.due || self.nodes.is_empty() {
            return self.due.max(now + period);
        }
        let mut live = HashSet::new();
        for _ in 0..self.nodes.len() {
            if net.stopped() || ticks() > now + period {
                break;
            }
            self.at = if self.at < self.nodes.len() { self.at } else { 0 };
            let node = self.nodes[self.at];
            match still_waits(net, node) {
                true => {
                    search::suspect_of_worker(net, node, &mut live);
                    self.at += 1;
                }
                false => _ = self.nodes.swap_remove(self.at),
            }
        }
        let after = ticks();
        self.due = after + period.max(after.saturating_sub(now) * search::SHARE);
        self.due
    }
}

/// Whether a node that was noted still waits for room; if not, it may be noted again.
fn still_waits(net: &Net<'_>, node: NodeId) -> bool {
    let state = &net.cells.nodes[node.index()].state;
    // First the flag: a worker that leaves the node waiting after this look finds the flag down and notes the node.
    // (Where the policy scans there is no fence on the other side; a node missed so is found by the other search.)
    state.suspected.store(false, Ordering::Relaxed);
    fence(Ordering::SeqCst); // pairs with the fence of `ready`
    let waits = matches!(state.wait.read(), Waiting::Room { .. } | Waiting::Bytes { .. });
    if waits {
        state.suspected.store(true, Ordering::Relaxed);
    }
    waits
}
