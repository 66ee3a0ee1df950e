//! A channel has one consumer: its stream is given away with the first.

use thalweg::Builder;

fn main() {
    let mut graph = Builder::new();
    let numbers = graph.source("numbers", 0..3u64);
    graph.sink("first", numbers, |_| {});
    graph.sink("second", numbers, |_| {});
}
