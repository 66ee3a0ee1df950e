//! Nodes that a worker has left waiting for room.
//!
//! A circle that growth would open has one of them, so this is where such circles are looked for
//! first; what else may wait in a circle is looked for in turn, which takes longer in a large graph
//! (`search`). A worker notes a node when an activation of its ends for want of room, at most once
//! until it looks: a flag says that somebody has noted it.

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
    /// The one that the next look begins with.
    at: usize,
    /// Ticks of the next look.
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

    /// Forgets all of them: the worker goes to sleep, and others may note them.
    pub(crate) fn clear(&mut self, net: &Net<'_>) {
        for node in self.nodes.drain(..) {
            net.cells.nodes[node.index()].state.suspected.store(false, Ordering::Relaxed);
        }
    }

    /// A look at those noted, if one is due at `now`; when the next one is. Nobody's way is begun after
    /// `period`, and looks take no more than their share of the time (all in ticks).
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
    // First: who waits again after this look finds the flag down, and notes it. (Where the policy is
    // not told there is no fence on the other side; what is missed then is found in turn.)
    state.suspected.store(false, Ordering::Relaxed);
    fence(Ordering::SeqCst); // pairs with the fence of `ready`
    let waits = matches!(state.wait.read(), Waiting::Room { .. } | Waiting::Bytes { .. });
    if waits {
        state.suspected.store(true, Ordering::Relaxed);
    }
    waits
}
