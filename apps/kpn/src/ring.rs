//! A ring of processes with one token.

use std::collections::BTreeMap;

use thalweg::{Feedback, Graph, Rx, Stream, Tx, Value, output};

use crate::job::Job;

/// Whether neighbours in the ring are neighbours in memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Order {
    /// They are made one after the other.
    Creation,
    /// They are made in an order that this seed decides.
    Shuffled(u64),
}

impl Order {
    /// The places in the ring, in the order in which their processes are made.
    fn places(self, nodes: usize) -> Vec<usize> {
        let mut places: Vec<usize> = (0..nodes).collect();
        if let Order::Shuffled(seed) = self {
            let mut state = seed;
            for i in (1..nodes).rev() {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                places.swap(i, ((state >> 32) as usize) % (i + 1));
            }
        }
        places
    }
}

/// A token goes `rounds` times round a ring of `nodes` processes, each of which adds one to it:
/// `nodes * rounds` hops.
///
/// # Panics
/// With fewer than two processes.
pub fn ring(nodes: usize, rounds: u64, order: Order) -> Job {
    assert!(nodes >= 2, "a ring has at least two processes");
    let mut work = Making { graph: Graph::new(), made: BTreeMap::new(), wanted: BTreeMap::new() };
    let mut result = None;
    for place in order.places(nodes) {
        let before = (place + nodes - 1) % nodes;
        let stream = work.stream(before).capacity(1);
        let out = if place == 0 {
            let first = move |rx, tx| start(rx, tx, rounds);
            let (out, token) = work.graph.process("start", stream, output("out"), first);
            result = Some(token);
            out
        } else {
            work.graph.process("pass", stream, output("out"), pass)
        };
        work.give(place, out);
    }
    Job::new(result.expect("one of the places is the first"), move || nodes as u64 * rounds)
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

/// A ring in the making, in any order.
struct Making {
    graph: Graph<'static>,
    /// Outputs whose reader comes later, by place.
    made: BTreeMap<usize, Stream<'static, u64>>,
    /// Outputs whose writer comes later.
    wanted: BTreeMap<usize, Feedback<'static, u64>>,
}

impl Making {
    fn stream(&mut self, from: usize) -> Stream<'static, u64> {
        self.made.remove(&from).unwrap_or_else(|| {
            let (feedback, stream) = self.graph.feedback([]);
            self.wanted.insert(from, feedback);
            stream
        })
    }

    fn give(&mut self, place: usize, stream: Stream<'static, u64>) {
        match self.wanted.remove(&place) {
            Some(feedback) => stream.feed(feedback),
            None => _ = self.made.insert(place, stream),
        }
    }
}
