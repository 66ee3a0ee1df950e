//! Nodes that wait for room, as each worker has noted them.
//!
//! Every cycle that growth would open contains such a node, so a worker searches from its noted nodes first; a search
//! from all suspects takes longer in a large graph ([`search`]). A worker notes a node when an activation of it ends
//! for lack of room.
//!
//! # Protocol
//!
//! | `NodeState::suspected` | meaning | entered by | left by |
//! |---|---|---|---|
//! | false | no worker has noted the node | `still_waits`, `clear` | a worker whose activation of the node ended for lack of room |
//! | true | a worker has noted the node | that worker, `still_waits` | the worker that has noted it |
//!
//! *The race.* The worker that has noted a node finds that it no longer waits and forgets it, just as another worker's
//! activation leaves it waiting again, reads that it is noted, and does not note it.
//!
//! ```text
//!   worker that searches (`still_waits`)      worker that activates the node
//!   1. suspected := false                     1. sets the wait word, or queues a firing
//!   2. fence(SeqCst)                          2. fence(SeqCst) of `ready`, at the end of the activation
//!   3. reads these; if the node waits:        3. reads suspected; if false: notes the node
//!      suspected := true, keeps the node
//! ```
//!
//! *Why it cannot happen.* If read 3 of the left side misses the write, its fence comes first in the order of
//! fences, so read 3 of the right side sees the flag down. Both may note the node, which costs a search. If the policy
//! scans, the right side does not fence; the search from all suspects finds a node that is missed so.

use crate::liveness::search;
use crate::measure::clock::{Ticks, ticks};
use crate::net::{Net, NodeState, Waiting};
use crate::sync::{Ordering, fence};
use std::collections::HashSet;
use thalweg_graph::NodeId;

/// The nodes that one worker has noted.
#[derive(Debug, Default)]
pub(crate) struct Suspects {
    nodes: Vec<NodeId>,
    /// The index of the node that the next search starts from.
    at: usize,
    /// When the next search is due, in ticks.
    due: Ticks,
}

impl Suspects {
    /// Notes a node that waits for room, unless a worker has noted it. The caller has set the wait word and fenced: see
    /// the protocol.
    #[inline]
    pub(crate) fn note(&mut self, node: NodeId, state: &NodeState) {
        if !state.suspected.load(Ordering::Relaxed) {
            state.suspected.store(true, Ordering::Relaxed);
            self.nodes.push(node);
        }
    }

    /// Forgets all nodes, since the worker goes to sleep. Other workers may note them then.
    pub(crate) fn clear(&mut self, net: &Net<'_>) {
        for node in self.nodes.drain(..) {
            net.cells.nodes[node.index()].state.suspected.store(false, Ordering::Relaxed);
        }
    }

    /// Searches from the noted nodes, if a search is due at `now`. Returns the time at which to call again. No search
    /// starts more than `period` after `now`, and searches take at most one part in [`search::SHARE`] of the time. All
    /// times are in ticks.
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

/// Whether a node that was noted still waits for room. If not, its flag is down, and any worker may note it again.
fn still_waits(net: &Net<'_>, node: NodeId) -> bool {
    let state = &net.cells.nodes[node.index()].state;
    // Before the wait word is read, since otherwise a worker that sets the word in between finds the flag up.
    state.suspected.store(false, Ordering::Relaxed);
    fence(Ordering::SeqCst); // pairs with the fence of `ready`: see the module
    let waits =
        state.has_waiting() || matches!(state.wait.read(), Waiting::Room { .. } | Waiting::Bytes { .. });
    if waits {
        state.suspected.store(true, Ordering::Relaxed);
    }
    waits
}
