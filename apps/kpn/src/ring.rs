//! A ring of processes with one token.

use std::collections::BTreeMap;

use thalweg::{Feedback, Graph, Rx, Stream, Tx, Value, output};

use crate::job::Job;

/// The order in which the processes of a ring are created, and so their order in memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Order {
    /// The order of the ring.
    Creation,
    /// A random order with this seed.
    Shuffled(u64),
}

impl Order {
    /// The positions in the ring, in the order in which their processes are created.
    fn positions(self, nodes: usize) -> Vec<usize> {
        let mut positions: Vec<usize> = (0..nodes).collect();
        if let Order::Shuffled(seed) = self {
            let mut state = seed;
            for i in (1..nodes).rev() {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                positions.swap(i, ((state >> 32) as usize) % (i + 1));
            }
        }
        positions
    }
}

/// A token goes `rounds` times round a ring of `nodes` processes. Each process adds one to it: `nodes * rounds` hops.
///
/// # Panics
/// If `nodes` is less than 2.
pub fn ring(nodes: usize, rounds: u64, order: Order) -> Job {
    assert!(nodes >= 2, "a ring has at least two processes");
    let mut ring = RingBuilder { graph: Graph::new(), streams: BTreeMap::new(), feedbacks: BTreeMap::new() };
    let mut result = None;
    for position in order.positions(nodes) {
        let previous = (position + nodes - 1) % nodes;
        let stream = ring.output_of(previous).capacity(1);
        let out = if position == 0 {
            let first = move |rx, tx| start(rx, tx, rounds);
            let (out, token) = ring.graph.process("start", stream, output("out"), first);
            result = Some(token);
            out
        } else {
            ring.graph.process("pass", stream, output("out"), pass)
        };
        ring.set_output(position, out);
    }
    Job::new(result.expect("the ring has position 0"), move || nodes as u64 * rounds)
}

async fn start(mut rx: Rx<u64>, mut tx: Tx<u64>, rounds: u64) -> Value<u64> {
    let mut token = 0;
    for _ in 0..rounds {
        tx.send(token + 1).await;
        let Some(back) = rx.recv().await else { break };
        token = back;
    }
    Value(token)
}

async fn pass(mut rx: Rx<u64>, mut tx: Tx<u64>) {
    while let Some(token) = rx.recv().await {
        tx.send(token + 1).await;
    }
}

/// Builds a ring in any order of its processes.
struct RingBuilder {
    graph: Graph<'static>,
    /// By position: outputs of processes with a successor that is not created yet.
    streams: BTreeMap<usize, Stream<'static, u64>>,
    /// By position: feedback channels for outputs of processes that are not created yet.
    feedbacks: BTreeMap<usize, Feedback<'static, u64>>,
}

impl RingBuilder {
    /// The output of the process at `position`, which need not exist yet.
    fn output_of(&mut self, position: usize) -> Stream<'static, u64> {
        self.streams.remove(&position).unwrap_or_else(|| {
            let (feedback, stream) = self.graph.feedback([]);
            self.feedbacks.insert(position, feedback);
            stream
        })
    }

    fn set_output(&mut self, position: usize, stream: Stream<'static, u64>) {
        match self.feedbacks.remove(&position) {
            Some(feedback) => stream.feed(feedback),
            None => _ = self.streams.insert(position, stream),
        }
    }
}
