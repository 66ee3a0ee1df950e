//! An end of a coroutine stays on its thread.

use thalweg::{Graph, input};

fn main() {
    let graph = Graph::new();
    let numbers = graph.source(0..10u64).named("numbers");
    graph.coroutine("leak", input("in", numbers), (), |mut rx, ()| {
        std::thread::spawn(move || rx.recv());
    });
}
