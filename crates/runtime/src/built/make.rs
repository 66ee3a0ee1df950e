//! The arguments from which the code of a node is made when a run is prepared.
//!
//! A run makes the stacks and the rings of all channels first, then the code of each node, whose ports are made on the
//! rings.

use super::ring_cell::{RingCell, Side};
use crate::coroutine::Stacks;
use crate::net::{Body, NodeWaker, Owner};
use crate::node::Tally;
use crate::port::PushPort;
use crate::sync::{AtomicUsize, CachePadded};
use std::sync::Arc;
use thalweg_graph::ChannelId;

/// A tally that will be made with its node: see `Draft::tally`.
pub(crate) struct TallySpec {
    /// The index of the output whose items it counts.
    pub(crate) output: usize,
    /// The ring of the tally's channel.
    pub(crate) cell: Arc<RingCell<u64>>,
}

impl TallySpec {
    /// Makes the tally. Its ring is made.
    pub(crate) fn make(self) -> Tally {
        let (ring, id) = (self.cell.ring(Side::Producer), self.cell.id(Side::Producer));
        Tally::new(self.output, PushPort::new(ring, id, Some(1)))
    }
}

/// The arguments with which a node's code is made.
pub(crate) struct MakeNode<'a> {
    /// Tickets of a parallel node's reorder window, a power of two.
    pub(crate) tickets: usize,
    /// The number of retired tickets, which a parallel node shares with its state.
    pub(crate) retired: Option<Arc<CachePadded<AtomicUsize>>>,
    /// The channel of its first weighed output.
    pub(crate) weighed: Option<ChannelId>,
    /// The greatest number of bytes that completed tickets may hold.
    pub(crate) held: usize,
    /// The channel of its first output with items that own memory, and the size of an item.
    pub(crate) owned: Option<(ChannelId, usize)>,
    /// The greatest number of bytes that the node may keep of its inputs: see
    /// [`Kernel::request_budget`](crate::Kernel::request_budget).
    pub(crate) kept: usize,
    /// A parallel node publishes in any order.
    pub(crate) unordered: bool,
    /// The firings of a parallel node wait for their tickets.
    pub(crate) waits: bool,
    /// The greatest number of workers that may fire a parallel node at the same time.
    pub(crate) workers: Option<u32>,
    /// The tallies of a parallel node, in the order of their outputs.
    pub(crate) tallies: Vec<Tally>,
    /// The stacks of the run's coroutines.
    #[cfg_attr(not(feature = "coroutines"), expect(dead_code))]
    pub(crate) stacks: &'a Stacks,
    /// The owner of a process's ends of its channels.
    pub(crate) owner: Owner,
    /// Makes a waker that wakes the node from outside of the run.
    pub(crate) waker: &'a dyn Fn() -> NodeWaker,
}

/// Makes the code of a node, once.
pub(crate) type MakeBody<'env> = Box<dyn FnOnce(MakeNode<'_>) -> Box<dyn Body + 'env> + Send + 'env>;
