//! What the code of a node is made from when a run is prepared.

use super::ring_cell::RingCell;
use crate::coroutine::Stacks;
use crate::net::{Body, Owner};
use crate::node::Tally;
use crate::port::PushPort;
use crate::sync::AtomicUsize;
use crossbeam_utils::CachePadded;
use std::sync::Arc;
use thalweg_graph::ChannelId;

/// A tally that will be made with its node: see `Draft::tally`.
pub(crate) struct TallySpec {
    /// The output whose items it counts.
    pub(crate) of: usize,
    pub(crate) cell: Arc<RingCell<u64>>,
}

impl TallySpec {
    pub(crate) fn make(self) -> Tally {
        Tally::new(self.of, PushPort::new(self.cell.ring(), self.cell.id(), Some(1)))
    }
}

/// The arguments with which a node's code is made.
pub(crate) struct MakeNode<'a> {
    /// Tickets of its reorder window.
    pub(crate) tickets: usize,
    pub(crate) retired: Option<Arc<CachePadded<AtomicUsize>>>,
    /// The channel of its first weighed output.
    pub(crate) weighed: Option<ChannelId>,
    /// The most bytes that completed tickets hold.
    pub(crate) held: usize,
    /// The most bytes that a node keeps of its inputs: see [`Kernel::request_budget`](crate::Kernel::request_budget).
    pub(crate) kept: usize,
    /// The settings of a parallel node, as the graph has them.
    pub(crate) unordered: bool,
    pub(crate) workers: Option<u32>,
    pub(crate) tallies: Vec<Tally>,
    /// The stacks of the run's coroutines.
    pub(crate) stacks: &'a Stacks,
    /// The owner of a process's ends of its channels.
    pub(crate) owner: Owner,
}

/// Makes the code of a node, once.
pub(crate) type MakeBody<'env> = Box<dyn FnOnce(MakeNode<'_>) -> Box<dyn Body + 'env> + Send + 'env>;
