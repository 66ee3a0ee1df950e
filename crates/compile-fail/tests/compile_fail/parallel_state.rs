//! A parallel kernel runs many firings at a time, so it has no state to change.

use thalweg::{Graph, input, output};

fn main() {
    let graph = Graph::new();
    let numbers = graph.source(0..3u64).named("numbers");
    let mut sum = 0;
    let sums = graph.kernel("sum", input("in", numbers), output("out")).parallel(
        move |items, out| {
            sum += items.pop();
            out.push(sum);
        },
    );
    sums.for_each(|_| {}).named("sums");
}
