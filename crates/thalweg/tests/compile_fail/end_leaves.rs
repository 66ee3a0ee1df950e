//! An end of a coroutine stays on its thread.

use thalweg::{Builder, input};

fn main() {
    let mut graph = Builder::new();
    let numbers = graph.source("numbers", 0..10u64);
    graph.coroutine("leak", input("in", numbers), (), |mut rx, ()| {
        std::thread::spawn(move || rx.recv());
    });
}
