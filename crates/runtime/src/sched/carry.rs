//! Whether workers that carry their items on wait for the turn of these items.
//!
//! A move of an item to another worker costs its cache lines, and work of the allocator if the item owns memory. A worker that
//! carries its items on ([`auto`](thalweg_policy::auto)) and waits for their turn saves that, and pays with time: while another
//! worker is in a firing, those whose items come after its own wait. A move takes as long however long firings are; a wait
//! grows with them.
//!
//! So in a graph of kernels workers wait only while all firings are short beside the moves of their items: while no node is
//! *long*. If one is, a worker still prefers its own items, and goes on with others or with new input where those have no
//! turn. The time of a firing from which on its node is long:
//!
//! | items of the node | time |
//! |---|---|
//! | some own memory, or all have at most a cache line | [`AWAITED_NS`] |
//! | others | what the bytes of a firing take at [`BYTES_PER_NS`], and at least [`MIN_AWAITED_NS`] |
//!
//! The engine cannot know what a move of an item that owns memory costs: a block is moved by a pointer, and an object of a
//! hundred strings costs the allocator a hundred times as much.
//!
//! # Measured
//!
//! With 2 workers that waited, the programs of the DANBI paper, with arrays of 256 to 3072 bytes or blocks of memory and firings
//! of 2 to 100 us, took 1.1 to 1.9 times as long; with 40 in dilated time more than half of the workers' time went into waits.
//!
//! A run that did not carry items on at all where a node was long was as fast as one that does not wait, but for documents
//! of 100 bytes to 200 KB that a parallel stage splits into words: these took 1.3 to 2.4 times as long. Trials of both ways chose the
//! wrong one: after a change the heaps of the threads have the blocks of the time before. And a worker that took new input
//! before the items of others filled the channels first: 40 workers in dilated time took twice as long for the images of RG.
//!
//! The decision is a hint: a worker that reads a stale one makes a decision of the other kind. So its accesses are `Relaxed`.

use crate::channel::is_heavy;
use crate::net::Net;
use crate::sync::Ordering;
use std::sync::atomic::AtomicBool;
use thalweg_graph::{Channel, GraphData, NodeId, Rate};

/// The time of a firing, in nanoseconds, from which on no worker waits for it, if it moves items that own memory or light ones.
const AWAITED_NS: u64 = 4_000;
/// The same for any items, at least.
const MIN_AWAITED_NS: u64 = 200;
/// A node is long until its firings take less than that time over this. After a change the caches and the heap have what the
/// time before has left.
const HYSTERESIS: u64 = 2;
/// The bytes of items without memory of their own that move to another worker in a nanosecond, at least.
const BYTES_PER_NS: u64 = 2;
/// Activations before which the pace of a node does not count: the first firings wait for pages and caches. Without this, one
/// of two measurements of lines split into words (`owned.words.t2`) was 1.5 in place of 0.9.
const MIN_ACTIVATIONS: u64 = 16;

/// Whether workers wait for the turn of their items.
#[derive(Debug)]
pub(crate) struct Carrying {
    waits: AtomicBool,
}

impl Carrying {
    /// Workers wait, until a node is long.
    pub(crate) fn new() -> Carrying {
        Carrying { waits: AtomicBool::new(true) }
    }

    /// Whether workers wait now.
    #[inline]
    pub(crate) fn waits(&self) -> bool {
        self.waits.load(Ordering::Relaxed)
    }

    /// Decides anew by the paces of the nodes.
    pub(crate) fn decide(&self, net: &Net<'_>) {
        let graph = &net.topology.graph;
        let part = if self.waits() { 1 } else { HYSTERESIS };
        let is_long = |node: NodeId| {
            let cell = net.node(node);
            // Workers activate no other nodes, and so are in no firings of them.
            let is_activated = cell.dedicated.is_none() && cell.body.is_some() && !cell.state.is_done();
            is_activated
                && cell.state.activations.load(Ordering::Relaxed) >= MIN_ACTIVATIONS
                && u64::from(cell.state.pace.load(Ordering::Relaxed)) / 16 >= long_ns(graph, node) / part
        };
        let waits = !graph.node_ids().any(is_long);
        self.waits.store(waits, Ordering::Relaxed);
    }
}

/// The time of a firing, in nanoseconds, from which on the node is long.
fn long_ns(graph: &GraphData, node: NodeId) -> u64 {
    let ports = graph.node(node);
    let inputs = ports.inputs().iter().filter_map(|port| Some((port.channel()?, port.pop())));
    let outputs = ports.outputs().iter().filter_map(|port| Some((port.channel()?, port.push())));
    let mut moved = inputs.chain(outputs).map(|(channel, rate)| bytes_moved(graph.channel(channel), rate));
    // By the port through which most bytes move. It is not known if those of one port are not.
    let most = moved.try_fold(0, |most: u64, bytes| Some(most.max(bytes?)));
    most.filter(|bytes| *bytes > 0).map_or(AWAITED_NS, |bytes| (bytes / BYTES_PER_NS).max(MIN_AWAITED_NS))
}

/// The bytes that a firing moves through a channel, 0 for items that are not heavy; `None` if the items own memory. A dynamic rate
/// counts as one item.
fn bytes_moved(channel: &Channel, rate: Rate) -> Option<u64> {
    let bytes = channel.item().bytes();
    let moved = if is_heavy(bytes, false) { bytes as u64 } else { 0 };
    (!channel.link().owns()).then(|| moved.saturating_mul(rate.fixed().unwrap_or(1)))
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::{Graph, Options, Prepared};

    /// A run of a source, a stage and a sink of these items, which has not begun.
    fn chain<'env, T: Send + 'env>(item: T) -> Prepared<'env> {
        let graph = Graph::new();
        graph.source([item]).map(|item| item).for_each(drop);
        graph.prepare(&Options::new().threads(2)).unwrap()
    }

    #[test]
    fn a_node_is_long_beside_the_moves_of_its_items() {
        let limit = |run: Prepared<'_>| long_ns(&run.ready.net.topology.graph, NodeId(1));
        assert_eq!(limit(chain([0_u8; 8000])), 4000);
        assert_eq!(limit(chain([0_u8; 80])), MIN_AWAITED_NS);
        assert_eq!(limit(chain(0_u64)), AWAITED_NS, "light items");
        assert_eq!(limit(chain(String::new())), AWAITED_NS, "items that own memory");
        let graph = Graph::new();
        let items = graph.source([[0_u8; 1000]]);
        let (blocks, strings) = (items.map(|block| (block, String::new()))).map(|(block, _)| block).tee();
        strings.batch(4).for_each(drop);
        blocks.map(|block| block[0]).for_each(drop);
        let run = graph.prepare(&Options::new().threads(2)).unwrap();
        let graph = &run.ready.net.topology.graph;
        let limits = graph.node_ids().map(|node| long_ns(graph, node)).collect::<Vec<_>>();
        // Source, to a pair with a string, back, `tee`; `batch` and its sink; to a byte, and its sink.
        assert_eq!(limits, [500, 4000, 4000, 500, 4000, 4000, 500, 4000]);
    }

    #[test]
    fn workers_wait_while_no_node_is_long() {
        let run = chain(String::new());
        let net = &*run.ready.net;
        let state = &net.node(NodeId(2)).state;
        let waits_at = |ns: u64| {
            state.pace.store(16 * ns as u32, Ordering::Relaxed);
            net.sched.carrying.decide(net);
            net.sched.carrying.waits()
        };
        state.activations.store(MIN_ACTIVATIONS - 1, Ordering::Relaxed);
        assert!(waits_at(AWAITED_NS), "too few activations");
        state.activations.store(MIN_ACTIVATIONS, Ordering::Relaxed);
        let half = AWAITED_NS / HYSTERESIS;
        let paces = [0, AWAITED_NS - 1, AWAITED_NS, half, half - 1, half];
        assert_eq!(paces.map(waits_at), [true, true, false, false, true, true]);
        assert!(!waits_at(AWAITED_NS));
        state.done.store(true, Ordering::Relaxed);
        assert!(waits_at(AWAITED_NS), "it has ended");
    }
}
