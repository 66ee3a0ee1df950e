//! A parallel kernel runs many firings at a time, so it has no state to change.

use thalweg::{Builder, input, output};

fn main() {
    let mut graph = Builder::new();
    let numbers = graph.source("numbers", 0..3u64);
    let mut sum = 0;
    let sums = graph.kernel("sum", input("in", numbers), output("out")).parallel(
        move |items, out| {
            sum += items.pop();
            out.push(sum);
        },
    );
    graph.sink("sums", sums, |_| {});
}
