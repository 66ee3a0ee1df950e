//! The node whose body a worker executes.

use std::sync::atomic::{AtomicU32, Ordering};
use thalweg_graph::NodeId;

/// No node.
const NONE: u32 = u32::MAX;

/// The node whose body a worker executes, if it executes one. Its own thread alone writes it. For another thread it is a
/// hint, with no data behind it, so all accesses are `Relaxed`.
#[derive(Debug)]
pub(crate) struct Running(AtomicU32);

impl Default for Running {
    fn default() -> Running {
        Running(AtomicU32::new(NONE))
    }
}

impl Running {
    /// The worker is about to execute a node's body.
    #[inline]
    pub(crate) fn begin(&self, node: NodeId) {
        self.0.store(node.0, Ordering::Relaxed);
    }

    /// The body has returned.
    #[inline]
    pub(crate) fn end(&self) {
        self.0.store(NONE, Ordering::Relaxed);
    }

    #[inline]
    pub(crate) fn node(&self) -> Option<NodeId> {
        Some(NodeId(self.0.load(Ordering::Relaxed))).filter(|node| node.0 != NONE)
    }
}
