//! A channel has one consumer: the first takes the stream by value.

use thalweg::Graph;

fn main() {
    let graph = Graph::new();
    let numbers = graph.source(0..3u64).named("numbers");
    numbers.for_each(|_| {}).named("first");
    numbers.for_each(|_| {}).named("second");
}
