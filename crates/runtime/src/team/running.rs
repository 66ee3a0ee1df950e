//! What a worker does, for other threads.
//!
//! | state | the worker | entered by | left by |
//! |---|---|---|---|
//! | free | sleeps, spins, or asks its policy; or has no thread yet | `end` | `begin`, `begin_help` |
//! | claims | activates a parallel node, and has no ticket of it yet | `begin` | `begin_firing`, `end` |
//! | runs | executes the body of another node, or a ticket | `begin`, `begin_firing` | `end` |
//! | helps | executes a part of another worker's job | `begin_help` | `end` |
//!
//! *Claims* is a state of its own, since several workers may have tokens of a parallel node when there is one firing to
//! claim: those that are refused are about to be free (`sched/pass_on.rs`).

use std::sync::atomic::{AtomicU32, Ordering};
use thalweg_graph::NodeId;

/// The worker is free.
const FREE: u32 = u32::MAX;
/// The worker helps.
const HELPS: u32 = u32::MAX - 1;
/// Beside the number of a node: the worker claims. Memory ends before a graph has 2^31 - 2 nodes.
const CLAIMS: u32 = 1 << 31;

/// The state of a worker. Its own thread alone writes it. For another thread it is a hint, with no data behind it, so all
/// accesses are `Relaxed`.
#[derive(Debug)]
pub(crate) struct Running(AtomicU32);

impl Default for Running {
    fn default() -> Running {
        Running(AtomicU32::new(FREE))
    }
}

impl Running {
    /// The worker is about to execute a node's body. `claims`: the node is parallel.
    #[inline]
    pub(crate) fn begin(&self, node: NodeId, claims: bool) {
        self.0.store(if claims { node.0 | CLAIMS } else { node.0 }, Ordering::Relaxed);
    }

    /// The worker has got a ticket of the parallel node.
    #[inline]
    pub(crate) fn begin_firing(&self, node: NodeId) {
        self.0.store(node.0, Ordering::Relaxed);
    }

    /// The worker is about to execute a part of a job.
    pub(crate) fn begin_help(&self) {
        self.0.store(HELPS, Ordering::Relaxed);
    }

    /// The body, or the part, has returned.
    #[inline]
    pub(crate) fn end(&self) {
        self.0.store(FREE, Ordering::Relaxed);
    }

    /// The node whose body the worker executes, if it executes one.
    #[inline]
    pub(crate) fn node(&self) -> Option<NodeId> {
        match self.0.load(Ordering::Relaxed) {
            FREE | HELPS => None,
            node => Some(NodeId(node & !CLAIMS)),
        }
    }

    /// Whether the worker executes no code of a node or a job.
    pub(crate) fn is_free(&self) -> bool {
        let state = self.0.load(Ordering::Relaxed);
        state != HELPS && state & CLAIMS != 0 // `FREE` has the bit
    }
}
